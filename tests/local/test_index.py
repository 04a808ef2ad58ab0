"""The vector index on a database: built when it is worth it, rebuilt, described; and what is counted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import oracledb
import pytest

from oraclerag import Scope, counts, index
from oraclerag.errors import InputError, ModelNotActive
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
    assert not rag.index_status().exists
    with pytest.raises(InputError, match="3 chunks") as raised:
        rag.build_index()
    assert "--force" in str(raised.value.hint)
    assert not index.build_when_worthwhile(rag.database).exists
    built = rag.build_index(force=True)
    assert (built.name, built.state, built.organization, built.column, built.chunks) == (
        "RAG_CHUNK_EMB_IDX", "VALID", "IVF", "EMBEDDING", 3,
    )  # fmt: skip
    assert rag.index_status() == built


def test_built_by_itself_once_it_is_worth_it(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "MIN_CHUNKS", 5)
    fill(rag, [Entry(str(n), f"text {n}") for n in range(4)])
    assert not rag.finish().exists
    fill(rag, [Entry("5", "text 5")])
    assert rag.finish().usable


def test_building_again_changes_nothing_and_rebuilding_makes_it_anew(rag: Rag) -> None:
    fill(rag, [Entry(str(n), f"text {n}") for n in range(20)])
    rag.build_index(force=True, accuracy=80)
    first = _object(rag)
    rag.build_index(force=True, accuracy=95)
    assert _object(rag) == first
    assert rag.build_index(force=True, replace=True, accuracy=95, partitions=2).usable
    assert _object(rag) != first


def test_where_another_process_builds_it_first_its_index_is_given(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    """ORA-00955; the dictionary decides whether that was the index."""
    fill(rag, [Entry(str(n), f"text {n}") for n in range(20)])
    look = index._status

    def unseen(connection: oracledb.Connection, schema: str) -> index.IndexStatus:
        monkeypatch.setattr(index, "_status", look)
        return dataclasses.replace(look(connection, schema), state=None)

    built = rag.build_index(force=True)
    first = _object(rag)
    monkeypatch.setattr(index, "_status", unseen)
    assert rag.build_index(force=True) == built
    assert _object(rag) == first


def _object(rag: Rag) -> object:
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT OBJECT_ID FROM USER_OBJECTS WHERE OBJECT_NAME = :1", [index.NAME])
        return cursor.fetchone()


def test_searches_go_on_while_there_is_no_index(rag: Rag) -> None:
    fill(rag, [Entry(str(n), f"text {n}") for n in range(20)])
    rag.build_index(force=True)
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX {index.NAME}")
    with Rag(dataclasses.replace(rag.settings, exact_below=0)) as other:
        result = other.search("text 7", scope=Scope(manager=True), k=1)
    assert not result.approximate
    assert result[0].source.id == "7"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"accuracy": 0}, "accuracy must be a whole number between 1 and 100"),
        ({"accuracy": 101}, "accuracy"),
        ({"accuracy": True}, "accuracy"),
        ({"partitions": 0}, "partitions must be a whole number between 1 and 10,000,000"),
        ({"partitions": "8; DROP TABLE RAG_CHUNK"}, "partitions"),
    ],
    ids=str,
)
def test_arguments_refused(rag: Rag, arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        rag.build_index(force=True, **arguments)  # type: ignore[arg-type]


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
