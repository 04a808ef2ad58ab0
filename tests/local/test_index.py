"""The vector index on a database: built when it is worth it, rebuilt, described; and what is counted."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import oracledb
import pytest

from oraclerag import Scope, counts, index
from oraclerag.errors import Contention, InputError, ModelNotActive, PrivilegeMissing, SpaceExhausted
from oraclerag.index import building, running, state
from oraclerag.index.design import INCLUDED
from oraclerag.rag import Rag
from tests.local.conftest import Account
from tests.local.library import Entry, install, settings_of, shelve

pytestmark = pytest.mark.one_size


@pytest.fixture
def rag(account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(account, tiny_file) as opened:
        yield opened


def fill(rag: Rag, entries: list[Entry]) -> None:
    with rag.database.transaction() as connection:
        shelve(connection, rag.database.schema, entries)


def test_none_below_a_thousand_chunks_unless_forced(rag: Rag) -> None:
    fill(rag, [Entry(str(n), f"text {n}") for n in range(3)])
    found = rag.index_status()
    assert (found.exists, found.recommendation) == (False, None)
    assert "no need of one" in found.notes[0]
    with pytest.raises(InputError, match="3 chunks") as raised:
        rag.build_index()
    assert "--force" in str(raised.value.hint)
    assert not index.build_when_worthwhile(rag.database).exists
    said: list[str] = []
    built = rag.build_index(force=True, said=said.append)
    assert (built.name, built.state, built.organization, built.column, built.chunks) == (
        "RAG_CHUNK_EMB_IDX", "VALID", "IVF", "EMBEDDING", 3,
    )  # fmt: skip
    assert "RAG_CHUNK is locked" in said[0]
    assert "fewer than 50,000 chunks is searched exactly" in built.notes[0]
    assert rag.index_status() == built


def test_built_by_itself_once_it_is_worth_it(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "MIN_CHUNKS", 5)
    fill(rag, [Entry(str(n), f"text {n}") for n in range(4)])
    assert not rag.finish().exists
    fill(rag, [Entry("5", "text 5")])
    assert rag.finish().usable


def test_building_again_changes_nothing_and_rebuilding_makes_it_anew(rag: Rag) -> None:
    fill(rag, [Entry(str(n), f"text {n}") for n in range(20)])
    rag.build_index(force=True, accuracy=80)
    first = _object(rag)
    said: list[str] = []
    rag.build_index(force=True, accuracy=95, said=said.append)
    assert _object(rag) == first
    assert "index rebuild" in said[0]
    built = rag.rebuild_index(force=True, accuracy=95, partitions=2).built
    assert built is not None
    assert (built.rows, built.accuracy, built.partitions, built.included) == (20, 95, 2, INCLUDED)
    assert _object(rag) != first


def test_rebuilt_in_every_form(rag: Rag) -> None:
    fill(rag, [Entry(str(n), f"text {n}") for n in range(20)])
    said: list[str] = []
    assert rag.build_index(force=True, kind="hnsw", said=said.append).organization == "HNSW"
    assert "journal" in said[1]
    again = rag.rebuild_index(force=True, parallel=2)  # of its kind
    assert again.organization == "HNSW"
    with pytest.raises(InputError, match="HNSW index has no partitions"):
        rag.rebuild_index(force=True, partitions=4)
    assert rag.index_status() == again
    assert rag.rebuild_index(force=True, kind="ivf").organization == "IVF"
    with pytest.raises(InputError, match="covers further columns") as raised:
        rag.rebuild_index(force=True, online=True)
    assert "--no-include" in str(raised.value.hint)
    plain = rag.rebuild_index(force=True, include=False, partitions=3, accuracy=85)
    assert plain.built is not None
    assert (plain.built.partitions, plain.built.included) == (3, ())
    number = _object(rag)
    with pytest.raises(InputError, match="keeps its accuracy"):
        rag.rebuild_index(force=True, online=True, partitions=4)
    fill(rag, [Entry("20", "one more")])
    online = rag.rebuild_index(force=True, online=True, parallel=2, said=said.append)
    assert online.built is not None
    assert (online.built.rows, online.built.accuracy, online.built.partitions) == (21, 85, None)
    assert "changes and searches go on" in said[-1]
    assert _object(rag) == number


def test_a_rebuild_is_recommended_when_there_are_four_times_as_many(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MIN_CHUNKS", 12)
    fill(rag, [Entry(str(n), f"text {n}") for n in range(4)])
    assert rag.build_index(force=True).recommendation is None
    fill(rag, [Entry(str(n), f"text {n}") for n in range(4, 15)])
    assert rag.index_status().recommendation is None
    fill(rag, [Entry("15", "text 15")])
    advice = rag.index_status().recommendation
    assert advice is not None
    assert "learnt from 4 chunks and there are 16: `oraclerag index rebuild`" in advice
    assert rag.rebuild_index(force=True).recommendation is None
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("DROP INDEX RAG_CHUNK_EMB_IDX")
        assert rag.index_status().recommendation == "build it: `oraclerag index build`"
        cursor.execute(
            "CREATE VECTOR INDEX RAG_CHUNK_EMB_IDX ON RAG_CHUNK (EMBEDDING) ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE"
        )
        another = rag.index_status()
        assert (another.usable, another.built, another.recommendation) == (True, None, None)
        assert "not built by this version" in another.notes[1]
        cursor.execute("TRUNCATE TABLE RAG_CHUNK")
    assert rag.index_status().recommendation == "rebuild it, it is UNUSABLE: `oraclerag index rebuild`"


def test_changes_that_are_under_way_are_waited_for(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    """ORA-00054."""
    fill(rag, [Entry(str(n), f"text {n}") for n in range(3)])
    rag.build_index(force=True)
    with rag.database.connect() as other, other.cursor() as cursor:
        cursor.execute("UPDATE RAG_CHUNK SET SECTION = 'x'")
        monkeypatch.setattr(running, "SECONDS", 0.0)
        with pytest.raises(Contention, match=r"RAG_CHUNK was in use .*ORA-00054") as raised:
            rag.rebuild_index(force=True)
        assert "Stop the workers" in str(raised.value.hint)
        assert rag.index_status().usable  # the old one
        monkeypatch.setattr(running, "SECONDS", 60.0)
        monkeypatch.setattr("time.sleep", lambda _: other.commit())
        assert rag.rebuild_index(force=True).usable


@pytest.mark.parametrize(
    ("code", "options", "error", "says", "hint"),
    [
        (51962, {"kind": "hnsw"}, SpaceExhausted, "vector memory pool has no room.*about 1 MB.*The old index is gone",
         "vector_memory_size = 3M SCOPE=SPFILE, then restart.*take the type ivf"),
        (51987, {"include": True}, InputError, "VPD policy stands on RAG_CHUNK", "--no-include"),
        (1031, {}, PrivilegeMissing, r"ORA-01031.*\. The old index is gone: searches are exact\.", "sql/setup"),
    ],
)  # fmt: skip
def test_what_oracle_has_against_an_index(
    rag: Rag,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    options: dict[str, Any],
    error: type[Exception],
    says: str,
    hint: str,
) -> None:
    """What the local database has no pool and no policies to refuse by."""
    fill(rag, [Entry(str(n), f"text {n}") for n in range(3)])
    rag.build_index(force=True)
    _refuse_create(monkeypatch, code)
    with pytest.raises(error, match=says) as raised:
        rag.rebuild_index(force=True, **options)
    assert re.search(hint, str(getattr(raised.value, "hint", None)))
    assert not rag.index_status().exists


def test_a_policy_that_is_not_seen_keeps_columns_out(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(rag, [Entry(str(n), f"text {n}") for n in range(3)])
    _refuse_create(monkeypatch, 51987, "INCLUDE")
    built = rag.build_index(force=True).built
    assert built is not None
    assert built.included == ()


def _refuse_create(monkeypatch: pytest.MonkeyPatch, code: int, words: str = "CREATE") -> None:
    """Let Oracle's error come where a statement with these words is run."""
    run = running.run

    def refused(connection: oracledb.Connection, statement: str) -> None:
        if words in statement:
            raise oracledb.DatabaseError(SimpleNamespace(full_code=f"ORA-{code:05}", code=code))
        run(connection, statement)

    monkeypatch.setattr(building, "run", refused)


def test_a_policy_of_the_dictionary_keeps_columns_out(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_policies", lambda *_: ["TENANTS"])
    fill(rag, [Entry(str(n), f"text {n}") for n in range(3)])
    with pytest.raises(InputError, match="TENANTS"):
        rag.build_index(force=True, include=True)
    built = rag.build_index(force=True).built
    assert built is not None
    assert built.included == ()


def test_where_another_process_builds_it_first_its_index_is_given(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    """ORA-00955; the dictionary decides whether that was the index."""
    fill(rag, [Entry(str(n), f"text {n}") for n in range(20)])
    look = state.look

    def unseen(connection: oracledb.Connection, schema: str, column: str | None = None) -> index.IndexStatus:
        monkeypatch.setattr(building, "look", look)
        return dataclasses.replace(look(connection, schema, column), state=None)

    built = rag.build_index(force=True)
    first = _object(rag)
    monkeypatch.setattr(building, "look", unseen)
    assert rag.build_index(force=True) == built
    assert _object(rag) == first


def _object(rag: Rag) -> object:
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT OBJECT_ID FROM USER_OBJECTS WHERE OBJECT_NAME = :1", ["RAG_CHUNK_EMB_IDX"])
        return cursor.fetchone()


def test_searches_go_on_while_there_is_no_index(rag: Rag) -> None:
    fill(rag, [Entry(str(n), f"text {n}") for n in range(20)])
    rag.build_index(force=True)
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("DROP INDEX RAG_CHUNK_EMB_IDX")
    with Rag(dataclasses.replace(rag.settings, exact_below=0)) as other:
        result = other.search("text 7", scope=Scope(manager=True), k=1)
    assert not result.approximate
    assert result[0].source.id == "7"


def test_refuses_without_a_model(account: Account) -> None:
    with Rag(settings_of(account)) as rag:
        rag.migrate()
        with pytest.raises(ModelNotActive):
            rag.index_status()


def test_counts_are_kept_per_tenant_and_source(rag: Rag) -> None:
    fill(
        rag,
        [
            Entry("1", "a", visibility="OWNER", owner="7"),
            Entry("2", "b", visibility="OWNER", owner="8"),
            Entry("3", "c", tenant="acme"),
            Entry("4", "d", source="kb"),
        ],
    )
    expected = {
        "task": {"main": counts.Population(2, 2, 2), "acme": counts.Population(1, 0, 0)},
        "kb": {"main": counts.Population(1, 0, 0)},
    }
    assert counts.refresh(rag.database) == expected
    with rag.database.connect() as connection:
        assert counts.read(connection, rag.database.schema) == expected
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM RAG_CHUNK WHERE SOURCE_TYPE = 'kb'")
    del expected["kb"]
    counts.refresh(rag.database)
    with rag.database.connect() as connection:
        assert counts.read(connection, rag.database.schema) == expected
