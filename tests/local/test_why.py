"""Why something was not found: the rank, what hides it, what waits, and nothing of others."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import oracledb
import pytest
from typer.testing import CliRunner

from oraclerag import Document, Scope, SourceKey
from oraclerag.cli import app
from oraclerag.errors import InputError
from oraclerag.local import LocalDatabase
from oraclerag.rag import Rag
from oraclerag.why import Why
from tests.local.conftest import Account, as_administrator
from tests.local.library import Entry, install, settings_of, shelve

pytestmark = pytest.mark.one_size

QUESTION = "late payment of supplier invoices"
ANYONE = Scope(tenant="main")
MANAGER = Scope(tenant="main", manager=True)
ENTRIES = [
    *(Entry(f"a{number}", QUESTION, project="AP", metadata={"module": "AP"}) for number in range(3)),
    Entry("b", "late payment of invoices", project="AP"),
    Entry("far", "restore test of the nightly backup", project="DB", collection="work"),
    Entry("mine", "late payment of supplier invoices, mine", visibility="OWNER", owner="7"),
    Entry("hidden", QUESTION, visibility="HIDDEN"),
    Entry("bare", QUESTION, embedded=False),
    Entry("theirs", QUESTION, tenant="globex"),
]
present = {"1": Document("a live one")}


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file) as opened:

        @opened.source("live", visibility="shared")
        def read(_: oracledb.Connection, wanted: Sequence[str]) -> dict[str, Document]:
            return {one: present[one] for one in wanted if one in present}

        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, ENTRIES)
        yield opened


def why(rag: Rag, entity: str, scope: Scope = ANYONE, kind: str = "task", **options: Any) -> Why:
    return rag.why(QUESTION, SourceKey(kind, entity), scope=scope, **options)


def test_what_is_found_says_where(rag: Rag) -> None:
    told = why(rag, "a1")
    assert (told.known, told.rank, told.chunk_count) == (True, 2, 1)
    (chunk,) = told.chunks
    assert (chunk.key, chunk.place, chunk.hidden_by) == ("task:a1:0", 2, ())
    assert chunk.distance == pytest.approx(0, abs=1e-6)
    assert told.reason == "It is found: hit 2 of at most 8."
    assert told.queue == ()


@pytest.mark.parametrize("entity", ["a0", "a1", "a2", "b", "far"])
def test_the_place_is_that_of_the_search(rag: Rag, entity: str) -> None:
    every = [hit.source.id for hit in rag.search(QUESTION, scope=ANYONE, k=100)]
    told = why(rag, entity, k=1)
    assert told.chunks[0].place == every.index(entity) + 1
    if every.index(entity):
        assert told.rank is None
        assert f"place {every.index(entity) + 1}, and k is 1" in told.reason


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"filter": {"project": "AP"}}, "filter"),
        ({"filter": {"metadata.module": "AP"}}, "filter"),
        ({"source": "resolution"}, "source"),
        ({"collections": "other"}, "collections"),
        ({"months": 3}, "months"),
        ({"codes": ["ORA-01652"]}, "codes"),
        ({"min_score": 0.99}, "min_score"),
        ({"filter": {"project": "AP"}, "collections": "other"}, "collections and filter"),
    ],
    ids=str,
)
def test_what_keeps_it_out_is_named(rag: Rag, options: dict[str, Any], named: str) -> None:
    told = why(rag, "far", **options)
    assert told.rank is None
    assert told.chunks[0].place is None
    assert told.chunks[0].hidden_by == tuple(named.split(" and "))
    assert f"kept out by {named}:" in told.reason


def test_without_a_vector_it_cannot_be_found(rag: Rag) -> None:
    told = why(rag, "bare")
    assert told.chunks[0].distance is None
    assert "no vector" in told.reason


NOTHING = [
    ("mine", ANYONE),
    ("mine", Scope(tenant="main", owner="8")),
    ("hidden", ANYONE),
    ("hidden", Scope(tenant="main", owner="7")),
    ("theirs", MANAGER),
    ("a0", Scope(tenant="globex", manager=True)),
    ("hidden", Scope(tenant="globex", manager=True)),
    ("waiting", ANYONE),
    ("waiting", Scope(tenant="globex", manager=True)),
]


@pytest.mark.parametrize(("entity", "scope"), NOTHING, ids=str)
def test_what_may_not_be_seen_is_as_what_is_not_there(rag: Rag, entity: str, scope: Scope) -> None:
    rag_enqueue(rag, SourceKey("task", "waiting"))
    told, never = why(rag, entity, scope, look=True), why(rag, "never", scope, look=True)
    assert dataclasses.replace(told, key=never.key, reason=told.reason.replace(entity, "never")) == never
    assert not told.known


def rag_enqueue(rag: Rag, key: SourceKey) -> None:
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM RAG_DIRTY WHERE SOURCE_ID = :1", [key.id])
        cursor.execute("INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID) VALUES (:1, :2)", [key.type, key.id])


def test_a_manager_is_told_what_is_hidden_and_what_waits(rag: Rag) -> None:
    hidden = why(rag, "hidden", MANAGER)
    assert hidden.known
    assert hidden.chunks == ()
    assert "hidden from everybody" in hidden.reason
    rag_enqueue(rag, SourceKey("task", "waiting"))
    waiting = why(rag, "waiting", MANAGER)
    assert "a change of it waits" in waiting.reason
    assert waiting.queue is not None
    assert [(change.state, change.attempts, change.claimed) for change in waiting.queue] == [("READY", 0, False)]
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE RAG_DIRTY SET STATE = 'DEAD', ERROR_CODE = 'ORA-01722' WHERE SOURCE_ID = 'waiting'")
    assert "given up (ORA-01722)" in why(rag, "waiting", MANAGER).reason


def test_what_two_tenants_have_announced_is_told_to_neither(rag: Rag) -> None:
    key = SourceKey("task", "disputed")
    for tenants in (("main",), ("main", "globex")):
        with rag.database.transaction() as connection, connection.cursor() as cursor:
            cursor.execute("DELETE FROM RAG_DIRTY WHERE SOURCE_ID = :1", [key.id])
            for tenant in tenants:
                cursor.execute(
                    "INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID, TENANT_ID) VALUES (:1, :2, :3)",
                    [key.type, key.id, tenant],
                )
        assert why(rag, key.id, MANAGER).known == (tenants == ("main",))
        assert not why(rag, key.id, Scope(tenant="globex", manager=True)).known


def test_a_manager_asks_for_somebody_else_of_the_tenant_alone(rag: Rag) -> None:
    told = why(rag, "mine", MANAGER, seen_by=Scope(tenant="main", owner="8"))
    assert told.chunks[0].hidden_by == ("scope",)
    assert "kept out by scope" in told.reason
    assert why(rag, "mine", MANAGER, seen_by=Scope(tenant="main", owner="7")).rank == 4
    for asker, other in [
        (Scope(tenant="main", owner="7"), Scope(tenant="main", owner="8")),
        (Scope(tenant="main", owner="7"), MANAGER),
        (MANAGER, Scope(tenant="globex", owner="7")),
    ]:
        with pytest.raises(InputError, match="Only a manager of the same tenant"):
            why(rag, "mine", asker, seen_by=other)


def test_the_last_render_is_told_and_whether_its_settings_are_in_force(rag: Rag) -> None:
    rag.index_now(SourceKey("live", "1"))
    told = why(rag, "1", kind="live", k=50, look=True)
    assert told.settings_in_force is True
    assert told.indexed_at is not None
    assert told.in_source == "visible"
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE RAG_ENTITY SET FINGERPRINT = RPAD('0', 64, '0') WHERE SOURCE_TYPE = 'live'")
        cursor.execute(
            "INSERT INTO RAG_SETTING (SCOPE_NAME, SETTING, SETTING_VALUE) VALUES ('live', 'paused', 'a template fails')"
        )
    try:
        present.clear()
        told = why(rag, "1", kind="live", k=50, look=True)
        assert told.settings_in_force is False
        assert told.paused == "a template fails"
        assert told.in_source == "gone"
    finally:
        with rag.database.transaction() as connection, connection.cursor() as cursor:
            cursor.execute("DELETE FROM RAG_SETTING WHERE SETTING = 'paused'")


def test_an_index_that_misses_it_is_named(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    assert why(rag, "a0").approximate_misses is None
    rag.build_index(force=True)
    told = why(rag, "a0")
    assert told.approximate_misses is False
    search = rag._searcher.search

    def blind(question: str, **arguments: Any) -> Any:
        """As an index would that does not come by the partition of the nearest."""
        result = search(question, **arguments)
        if (arguments["options"] or {}).get("mode") != "approx":
            return result
        return dataclasses.replace(result, hits=tuple(hit for hit in result if hit.source.id != "a0"))

    monkeypatch.setattr(rag._searcher, "search", blind)
    assert why(rag, "a0").approximate_misses is True
    missed = why(rag, "a0", mode="approx")
    assert missed.rank is None
    assert "The vector index misses it" in missed.reason


def test_a_user_who_only_searches_is_told_what_the_index_says(
    rag: Rag, module_account: Account, local_database: LocalDatabase
) -> None:
    password = local_database.create_user("WHY_SEARCHER")
    owner = module_account.user
    model = rag.model().physical_name
    as_administrator(
        local_database,
        *(
            f"GRANT READ ON {owner}.{table} TO WHY_SEARCHER"
            for table in ("RAG_ALEMBIC_VERSION", "RAG_CHUNK", "RAG_DOCUMENT", "RAG_SETTING", "RAG_MODEL", "RAG_WAITING")
        ),
        f"GRANT SELECT ON MINING MODEL {owner}.{model} TO WHY_SEARCHER",
    )
    settings = dataclasses.replace(settings_of(module_account), user="WHY_SEARCHER", password=password, schema=owner)
    with Rag(settings) as other:
        told = why(other, "far", k=1)
    assert told.queue is None
    assert told.indexed_at is None
    assert told.chunks[0].place is not None


def test_the_command_says_it(rag: Rag, module_account: Account) -> None:
    environment = {
        "ORACLE_DSN": module_account.dsn, "ORACLE_USER": module_account.user, "ORACLE_PASSWORD": module_account.password,
        "ORACLERAG_EMBEDDING_MODEL": rag.settings.embedding_model,
    }  # fmt: skip
    call = ["why", QUESTION, "--source", "task:far", "--filter", "project=AP", "--tenant", "main"]
    shown = CliRunner().invoke(app, call, env=environment)
    assert shown.exit_code == 0, shown.output
    assert "kept out by filter" in shown.stdout
    data = CliRunner().invoke(app, [*call, "--manager", "--as-owner", "7", "--json"], env=environment)
    assert json.loads(data.stdout)["chunks"][0]["hidden_by"] == ["filter"]
    assert CliRunner().invoke(app, ["why", QUESTION, "--source", "far"], env=environment).exit_code == 2


def test_what_is_asked_is_checked(rag: Rag) -> None:
    with pytest.raises(InputError):
        why(rag, "a0", k=0)
    with pytest.raises(InputError, match="SourceKey"):
        rag.why(QUESTION, "task:a0", scope=ANYONE)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="scope must be a Scope"):
        why(rag, "a0", None)  # type: ignore[arg-type]
