"""Search on a database: what is found, in which order, in how many round trips, and when it refuses."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import oracledb
import pytest
import sqlalchemy
from sqlalchemy.orm import Session

from oraclerag import Scope
from oraclerag.errors import (
    ConfigurationError,
    Contention,
    InputError,
    LoginFailed,
    MissingTenant,
    ModelNotActive,
    SchemaMissing,
    UnknownSource,
)
from oraclerag.local import LocalDatabase
from oraclerag.model import drop_model, list_models, load_model, use_model
from oraclerag.rag import Rag
from oraclerag.search import searcher
from oraclerag.search.long_metadata import long_metadata
from oraclerag.testing import tiny_model
from tests.local.conftest import Account
from tests.local.library import Entry, ids, install, settings_of, shelve

pytestmark = pytest.mark.one_size
MANAGER = Scope(manager=True)
ENTRIES = [
    Entry("1", "late payment of supplier invoices", title="Late payments", url="https://tracker.example/1", project="AP",
          sprint="S1", collection="work", metadata={"module": "AP", "points": 5, "open": True},
          occurred_at=dt.datetime(2026, 4, 1, 8, 30)),  # noqa: DTZ001 - UTC, as the table keeps it
    Entry("2", "supplier invoices are matched with orders", project="AP", sprint="S2",
          metadata={"conversationId": "c1", "n": 1.50, "ok": True, "x": None, "é": "ñ", "in": {"list": [1, "1", [None]]}}),
    Entry("3", "la aplicación móvil se cierra al pagar", project="APP"),
    Entry("4", "restore test of the nightly backup", source="runbook", project="DB"),
    Entry("5", "late payment of supplier invoices", project="AP"),
    Entry("6", "late payment of supplier invoices, not embedded yet", embedded=False),
]  # fmt: skip


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file) as opened:
        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, ENTRIES)
        yield opened


def test_the_nearest_come_first_and_equal_distances_by_chunk(rag: Rag) -> None:
    result = rag.search("late payment of supplier invoices", scope=MANAGER)
    assert ids(result)[:3] == ["1", "5", "2"]
    assert [hit.rank for hit in result] == [1, 2, 3, 4, 5]
    assert result[0].distance == pytest.approx(0, abs=1e-6)
    assert result[0].score == pytest.approx(1, abs=1e-6)
    assert [hit.distance for hit in result] == sorted(hit.distance for hit in result)
    assert not result.approximate
    assert not result.truncated


@pytest.mark.parametrize("options", [{}, {"hybrid": True}, {"prefer": {"collection": "none"}}], ids=str)
def test_of_equal_distances_the_lowest_chunks_are_among_the_first(
    rag: Rag, module_account: Account, options: dict[str, Any]
) -> None:
    """Also where the table gives them in another order, as after an update."""
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM RAG_ENTITY WHERE TENANT_ID = 'ties'")
        shelve(connection, module_account.user, [Entry(f"tie{at}", "one text", tenant="ties") for at in range(9)])
        cursor.execute("UPDATE RAG_CHUNK SET COLLECTION = 'moved' WHERE SOURCE_ID IN ('tie0', 'tie1')")
    found = rag.search("late", scope=Scope(tenant="ties", manager=True), k=3, candidates=3, **options)
    assert ids(found) == ["tie0", "tie1", "tie2"]


def test_a_hit_says_where_it_comes_from(rag: Rag) -> None:
    hit = rag.search("late payment of supplier invoices", scope=MANAGER, k=1)[0]
    assert (str(hit.source), hit.source.tenant, hit.chunk_number) == ("task:1", "main", 0)
    assert hit.content == "late payment of supplier invoices"
    assert (hit.title, hit.url) == ("Late payments", "https://tracker.example/1")
    assert (hit.project, hit.sprint, hit.collection) == ("AP", "S1", "work")
    assert hit.metadata == {"module": "AP", "points": 5, "open": True}
    assert hit.occurred_at == dt.datetime(2026, 4, 1, 8, 30, tzinfo=dt.UTC)


def test_metadata_arrive_as_they_were_given(rag: Rag) -> None:
    wanted = {"conversationId": "c1", "n": {"$eq": 1.5}, "ok": True, "x": None, "é": "ñ", "in.list": "1"}
    (hit,) = rag.search("orders", scope=MANAGER, filter=wanted)
    assert hit.metadata == ENTRIES[1].metadata
    assert [type(hit.metadata[name]) for name in ("n", "ok", "x")] == [float, bool, type(None)]


def test_a_chunk_without_a_vector_is_not_found(rag: Rag) -> None:
    assert "6" not in ids(rag.search("not embedded yet", scope=MANAGER, k=100))


@pytest.mark.parametrize(
    ("narrow", "expected"),
    [
        ({"source": "runbook"}, ["4"]),
        ({"source": ["runbook", "task"]}, ["1", "2", "3", "4", "5"]),
        ({"filter": {"project": "AP"}}, ["1", "2", "5"]),
        ({"filter": {"project": "AP", "sprint": "S1"}}, ["1"]),
        ({"filter": {"collection": "work"}}, ["1"]),
        ({"filter": {"source_type": "runbook"}}, ["4"]),
        ({"filter": {"metadata.module": "AP"}}, ["1"]),
        ({"filter": {"metadata.points": 5}}, ["1"]),
        ({"filter": {"metadata.points": 6}}, []),
        ({"filter": {"metadata.open": True}}, ["1"]),
        ({"filter": {"metadata.open": False}}, []),
        ({"filter": {"project": "' OR 1=1 --"}}, []),
        ({"filter": {"points": {"$gte": 5}, "open": True, "metadata.module": {"$like": "A%"}}}, ["1"]),
        ({"filter": {"module": {"$ne": "AP"}, "project": {"$in": ["AP", *map(str, range(2000))]}}}, ["2", "5"]),
        ({"filter": {"occurred_at": {"$lte": dt.date(2026, 4, 1)}}, "prefer": {"sprint": {"$exists": True}}}, ["1"]),
        ({"filter": {"$or": [{"project": "DB"}, {"$not": {"project": {"$in": ["AP", "DB"]}}}]}}, ["3", "4"]),
    ],
    ids=str,
)
def test_narrowing(rag: Rag, narrow: dict[str, object], expected: list[str]) -> None:
    assert sorted(ids(rag.search("anything at all", scope=MANAGER, k=100, **narrow))) == expected  # type: ignore[arg-type]


def test_k_limits_and_defaults_to_the_setting(rag: Rag) -> None:
    assert len(rag.search("invoices", scope=MANAGER, k=2)) == 2
    assert len(rag.search("invoices", scope=MANAGER)) == 5


def test_a_text_question_is_one_round_trip(rag: Rag, local_database: LocalDatabase) -> None:
    rag.search("invoices", scope=MANAGER)  # opens the connection and reads the state of the installation
    before = local_database.round_trips
    result = rag.search("payments", scope=MANAGER, filter={"project": {"$nin": [f"none {n}" for n in range(3000)]}})
    assert local_database.round_trips - before == 1
    assert result.statements == 1
    assert len(result) == 5


def test_a_separate_embedding_finds_the_same(rag: Rag, module_account: Account) -> None:
    with Rag(settings_of(module_account, query_embedding="separate")) as other:
        result = other.search("supplier invoices", scope=MANAGER)
    assert ids(result) == ids(rag.search("supplier invoices", scope=MANAGER))
    assert result.statements == 2


def test_a_long_question_is_cut_and_said(rag: Rag) -> None:
    long = rag.search("late payment of supplier invoices " * 100, scope=MANAGER)
    assert long.truncated
    assert len(long) == 5
    assert ids(long)[0] == "1"


@pytest.mark.parametrize("question", ["x" * 1001, "ñ" * 1001, "漢" * 1300, "🙂" * 1000], ids=["1001", "ñ", "漢", "🙂"])
def test_questions_over_the_length_of_one_bind(rag: Rag, question: str) -> None:
    assert len(rag.search(question, scope=MANAGER)) == 5


def test_metadata_longer_than_a_varchar2_arrives_whole(account: Account, tiny_file: Path) -> None:
    metadata = {"notes": ["ñandú " * 20] * 100, "conversationId": "c1", "n": 1.5, "m": 3, "ok": True, "x": None}
    with install(account, tiny_file) as rag:
        with rag.database.transaction() as connection:
            shelve(connection, account.user, [Entry("1", "long"), Entry("2", "longer", metadata=metadata)])
            shelve(connection, account.user, [Entry("3", "longest", metadata=metadata)])
        result = rag.search("long", scope=MANAGER)
    assert {hit.source.id: hit.metadata for hit in result} == {"1": {}, "2": metadata, "3": metadata}
    assert [type(result[0].metadata.get(name, result[1].metadata.get(name))) for name in ("n", "m")] == [float, int]
    assert result.statements == 2


def test_metadata_that_are_fetched_later_are_within_the_scope_too(
    account: Account, tiny_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moved(*arguments: Any) -> Iterator[dict[int, Mapping[str, Any]]]:
        with account.connect() as other, other.cursor() as cursor:
            cursor.execute("UPDATE RAG_CHUNK SET TENANT_ID = 'another'")
            other.commit()
        return long_metadata(*arguments)

    with install(account, tiny_file) as rag:
        with rag.database.transaction() as connection:
            shelve(connection, account.user, [Entry("1", "long", metadata={"notes": ["ñandú " * 20] * 100})])
        monkeypatch.setattr(searcher, "long_metadata", moved)
        assert [hit.metadata for hit in rag.search("long", scope=MANAGER)] == [{}]


@pytest.mark.parametrize("how", ["exact", "approximate"])
def test_with_a_vector_index(account: Account, tiny_file: Path, how: str) -> None:
    entries = [Entry(str(n), f"invoice number {n} of supplier {n % 7}", project=str(n % 5)) for n in range(60)]
    with install(account, tiny_file, exact_below=0 if how == "approximate" else 1000) as rag:
        with rag.database.transaction() as connection:
            shelve(connection, account.user, entries)
        built = rag.build_index(force=True)
        assert built.usable
        result = rag.search("invoice number 7 of supplier 0", scope=MANAGER, k=5)
        assert result.approximate == (how == "approximate")
        assert ("FETCH APPROX FIRST" in result.statement) == (how == "approximate")
        assert ids(result)[0] == "7"
        assert len(result) == 5
        # more than there are: an approximate search runs short and is made again
        everything = rag.search("invoice", scope=MANAGER, k=50, filter={"project": "3"})
        assert not everything.approximate
        assert set(ids(everything)) == {str(n) for n in range(3, 60, 5)}
        assert everything.statements == (2 if how == "approximate" else 1)


def test_what_was_counted_decides_between_exact_and_approximate(account: Account, tiny_file: Path) -> None:
    entries = [Entry(str(n), f"invoice number {n}", visibility="OWNER", owner=str(n % 6)) for n in range(60)]
    entries += [Entry(str(n), f"invoice number {n}", tenant="small") for n in range(100, 110)]
    with install(account, tiny_file, exact_below=50) as rag:
        with rag.database.transaction() as connection:
            shelve(connection, account.user, entries)
        rag.build_index(force=True)
        assert not rag.search("invoice", scope=MANAGER, k=3).approximate  # nothing was counted yet
        rag.finish()
        assert rag.search("invoice", scope=MANAGER, k=3).approximate
        for scope, narrow in (
            (Scope(owner="3"), {}),
            (Scope(tenant="small", manager=True), {}),
            (MANAGER, {"filter": {"project": "AP"}}),
            (MANAGER, {"source": "kb"}),
        ):
            assert not rag.search("invoice", scope=scope, k=3, **narrow).approximate


def test_a_borrowed_connection_is_read_on_and_never_committed(rag: Rag, module_account: Account) -> None:
    entry = Entry("99", "an uncommitted zebra", owner="7", visibility="OWNER")
    with module_account.connect() as connection:
        shelve(connection, module_account.user, [entry])
        inside = rag.search("an uncommitted zebra", scope=MANAGER, connection=connection)
        connection.rollback()
    assert ids(inside)[0] == "99"
    assert "99" not in ids(rag.search("an uncommitted zebra", scope=MANAGER))


def test_sqlalchemy_connections_and_sessions(module_account: Account, rag: Rag) -> None:
    engine = sqlalchemy.create_engine(module_account.url)
    expected = [(hit.chunk_id, hit.distance, hit.metadata) for hit in rag.search("supplier invoices", scope=MANAGER)]
    with engine.connect() as connection:
        found = rag.search("supplier invoices", scope=MANAGER, connection=connection)
        assert [(hit.chunk_id, hit.distance, hit.metadata) for hit in found] == expected
    with Session(engine) as session:
        found = rag.search("supplier invoices", scope=MANAGER, connection=session)
        assert [(hit.chunk_id, hit.distance, hit.metadata) for hit in found] == expected
    with Rag(replace(rag.settings, dsn=None), engine=engine) as on_engine:
        assert [hit.chunk_id for hit in on_engine.search("supplier invoices", scope=MANAGER)] == [
            e[0] for e in expected
        ]
    engine.dispose()
    pool = oracledb.create_pool(
        user=module_account.user, password=module_account.password, dsn=module_account.dsn, min=1, max=1
    )
    with Rag(replace(rag.settings, dsn=None), pool=pool) as on_pool:
        assert [hit.chunk_id for hit in on_pool.search("supplier invoices", scope=MANAGER)] == [e[0] for e in expected]
    pool.close()


def test_threads_share_a_rag_and_each_has_its_own_scope(rag: Rag) -> None:
    scopes = [MANAGER, Scope(tenant="acme", manager=True), Scope(tenant="nobody")] * 4
    with rag.database.transaction() as connection:
        shelve(connection, rag.settings.user or "", [Entry("acme's", "late payment", tenant="acme")])
    expected = [ids(rag.search("late payment", scope=scope, hybrid=True)) for scope in scopes]
    assert len({tuple(found) for found in expected}) == 3  # else nothing was shown
    for _ in range(2):
        rag._searcher.forget()  # all of them read the state at once
        with ThreadPoolExecutor(4) as threads:
            found = threads.map(lambda scope: ids(rag.search("late payment", scope=scope, hybrid=True)), scopes)
            assert list(found) == expected


def test_asynchronous_search_finds_the_same(rag: Rag) -> None:
    found = asyncio.run(rag.asearch("supplier invoices", scope=MANAGER, k=3))
    assert ids(found) == ids(rag.search("supplier invoices", scope=MANAGER, k=3))


def test_a_session_that_ignores_case_finds_nothing_and_is_told_why(
    rag: Rag, module_account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NLS_COMP=LINGUISTIC with a sort that ignores case: 'ACME' = 'acme'. The local database has no such session."""
    with module_account.connect() as connection:
        with connection.cursor() as cursor, pytest.raises(oracledb.DatabaseError, match="ORA-03001"):
            cursor.execute("ALTER SESSION SET NLS_COMP = LINGUISTIC")
        assert len(rag.search("late payment", scope=MANAGER, connection=connection)) == 5
        assert len(rag.search("late payment", scope=Scope(tenant="nobody"), connection=connection)) == 0
        execute = oracledb.Cursor.execute

        def without_case(self: oracledb.Cursor, statement: Any, *arguments: Any, **more: Any) -> Any:
            return execute(self, statement and statement.replace("'A'", "'a'"), *arguments, **more)

        monkeypatch.setattr(oracledb.Cursor, "execute", without_case)
        with pytest.raises(InputError, match=r"NLS_COMP=LINGUISTIC.*NLS_SORT") as caught:
            rag.search("late payment", scope=MANAGER, connection=connection)
        assert "NLS_COMP = BINARY" in (caught.value.hint or "")


def test_arguments_refused(rag: Rag) -> None:
    with pytest.raises(TypeError, match="scope"):
        rag.search("x")  # type: ignore[call-arg]
    for scope in (None, {"tenant": "main"}, "main"):
        with pytest.raises(InputError, match="must be a Scope"):
            rag.search("x", scope=scope)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="question is empty"):
        rag.search(" ", scope=MANAGER)
    with pytest.raises(InputError, match="between 1 and 10,000"):
        rag.search("x", scope=MANAGER, k=0)
    for source in (7, [[]], object()):
        with pytest.raises(InputError, match="source must be a name or a list"):
            rag.search("x", scope=MANAGER, source=source)  # type: ignore[arg-type]
    for questions in (None, 7, "x", (one for one in "x")):
        with pytest.raises(InputError, match="questions must be a list"):
            rag.search_each(questions, scope=MANAGER)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="tenant cannot be filtered"):
        rag.search("x", scope=MANAGER, filter={"tenant": "other"})
    with pytest.raises(InputError, match="SQLAlchemy Connection"):
        rag.search("x", scope=MANAGER, connection=object())


def test_the_tenant_is_required_once_a_source_maps_one(module_account: Account, rag: Rag) -> None:
    with Rag(rag.settings) as other:
        other.source("kb", visibility="shared", tenants=True)(lambda connection, ids: {})
        with pytest.raises(MissingTenant):
            other.search("x", scope=MANAGER)
        assert ids(other.search("invoices", scope=Scope(tenant="main", manager=True)))
        with pytest.raises(UnknownSource):
            other.search("x", scope=Scope(tenant="main"), source="tasks")


def test_refuses_when_another_model_is_in_force(rag: Rag, module_account: Account) -> None:
    with (
        Rag(settings_of(module_account, embedding_model="OTHER")) as other,
        pytest.raises(ModelNotActive, match="OTHER"),
    ):
        other.search("x", scope=MANAGER)


def test_refuses_without_a_model_and_without_tables(account: Account) -> None:
    with Rag(settings_of(account)) as rag:
        with pytest.raises(SchemaMissing):
            rag.search("x", scope=MANAGER)
        rag.migrate()
        with pytest.raises(ModelNotActive, match="No embedding model is active"):
            rag.search("x", scope=MANAGER)


def test_refuses_without_a_database_and_with_a_wrong_password(account: Account) -> None:
    with Rag(settings_of(account, dsn=None)) as rag, pytest.raises(ConfigurationError, match="ORACLE_DSN is not set"):
        rag.search("x", scope=MANAGER)
    with Rag(settings_of(account, password="wrong")) as rag, pytest.raises(LoginFailed) as raised:
        rag.search("x", scope=MANAGER)
    assert "wrong" not in str(raised.value).lower()


def test_nothing_that_was_found_under_no_model_in_force_is_believed(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often another one comes in between: that is said, and not that there is nothing."""
    absent = {"project": "NONE"}
    assert not rag.search("late", scope=MANAGER, filter=absent)
    monkeypatch.setattr(searcher, "still_in_force", lambda *_: False)
    with pytest.raises(Contention, match="again and again"):
        rag.search("late", scope=MANAGER, filter=absent)


@pytest.mark.parametrize("dimensions", [16, 384])
def test_a_switch_of_the_model_reaches_a_process_that_searches(
    account: Account, tiny_file: Path, tmp_path: Path, dimensions: int
) -> None:
    other = tmp_path / "other.onnx"
    other.write_bytes(tiny_model(dimensions, seed=1))
    with install(account, tiny_file) as rag:
        with rag.database.transaction() as connection:
            shelve(connection, account.user, [Entry("1", "late payments")])
        assert ids(rag.search("late payments", scope=MANAGER)) == ["1"]
        with rag.database.connect() as connection:
            newer = load_model(connection, other, name="TINY", schema=account.user)
            use_model(connection, newer.physical_name, schema=account.user, rebuild=True)
        with rag.database.transaction() as connection:
            shelve(connection, account.user, [Entry("2", "late payments")])
        # this process remembers the old model, whose vectors have another dimension, or worse, the same
        found = rag.search("late payments", scope=MANAGER)
        assert ids(found) == ["2"]
        assert found[0].distance == pytest.approx(0, abs=1e-6)
        assert newer.physical_name in found.statement
        with rag.database.connect() as connection:
            names = {model.physical_name for model in list_models(connection, schema=account.user)}
            drop_model(connection, (names - {newer.physical_name}).pop(), schema=account.user)
        assert ids(rag.search("late payments", scope=MANAGER)) == ["2"]
