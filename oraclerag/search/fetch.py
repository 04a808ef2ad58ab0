"""Chunks by their names, within a scope: what a program kept of a hit is asked for again, and may no longer be seen."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from oraclerag.database import in_list, own_tables, parts
from oraclerag.errors import InputError
from oraclerag.records import Passage, SourceKey, StoredChunk
from oraclerag.search import expand
from oraclerag.search.compose import HAS_METADATA, METADATA_TEXT, Statement, stale
from oraclerag.search.long_metadata import long_metadata
from oraclerag.statements import quoted

if TYPE_CHECKING:
    import oracledb

    from oraclerag.scope import Scope

__all__ = ["Name", "chunks", "compose_fetch", "names", "surroundings"]

Name = str | int | SourceKey
"""A hit's ``key`` ("task:42:0"), a chunk id, or a SourceKey: every chunk of that entity."""

_MOST_NAMES = 1000
_MOST_CHUNKS = 10_000
_LARGEST_ID = 10**19 - 1

_COLUMNS = (
    "CHUNK_ID", "SOURCE_TYPE", "SOURCE_ID", "TENANT_ID", "CHUNK_NO", "CONTENT", "TEXT_START", "TEXT_END", "PARENT_NO",
    "SECTION", "COLLECTION", "PROJECT_ID", "SPRINT_ID", "OCCURRED_AT",
)  # fmt: skip
_MORE = ("METADATA_TEXT", "HAS_METADATA", "TITLE", "URL", "STALE")


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of each kind; ``order`` has all of them as they were given."""

    ids: tuple[int, ...] = ()
    chunks: tuple[tuple[SourceKey, int], ...] = ()
    entities: tuple[SourceKey, ...] = ()
    order: tuple[int | tuple[SourceKey, int] | SourceKey, ...] = ()


def names(given: Name | Iterable[Name]) -> _Names:
    """Check what is to be fetched. Raises InputError."""
    several = isinstance(given, Iterable) and not isinstance(given, (str, bytes))
    listed = list(cast("Iterable[Name]", given)) if several else [cast("Name", given)]
    if len(listed) > _MOST_NAMES:
        raise InputError(f"keys are {len(listed):,}; {_MOST_NAMES:,} are the most.")
    return _sorted(tuple(dict.fromkeys(_name(name) for name in listed)))


def _sorted(order: tuple[int | tuple[SourceKey, int] | SourceKey, ...]) -> _Names:
    return _Names(
        ids=tuple(name for name in order if isinstance(name, int)),
        chunks=tuple(name for name in order if isinstance(name, tuple)),
        entities=tuple(name for name in order if isinstance(name, SourceKey)),
        order=order,
    )


def _name(name: object) -> int | tuple[SourceKey, int] | SourceKey:
    if isinstance(name, SourceKey):
        return name
    if isinstance(name, int) and not isinstance(name, bool):
        if not 0 <= name <= _LARGEST_ID:
            raise InputError(f"{name} is no chunk id.")
        return name
    if isinstance(name, str):
        kind, _, rest = name.partition(":")
        identity, _, number = rest.rpartition(":")
        if kind and identity and number.isascii() and number.isdigit() and len(number) <= 9:
            return SourceKey(kind, identity), int(number)
        raise InputError(
            "A key must be that of a hit, such as 'task:42:0'.",
            hint='All chunks of an entity: SourceKey("task", "42").',
        )
    raise InputError(f"A key must be a text, a chunk id or a SourceKey, not {type(name).__name__}.")


def compose_fetch(schema: str, scope: Scope, wanted: _Names) -> Statement:
    """Build the statement that fetches chunks by name, within a scope."""
    owner = quoted(schema, "schema")
    allowed, scope_binds = scope.predicate("c")
    binds: dict[str, Any] = dict(scope_binds)
    named: list[str] = []
    if wanted.ids:
        listed, values = in_list(wanted.ids)
        named.append(f"c.CHUNK_ID IN ({listed})")
        binds |= values
    for place, (key, number) in enumerate(wanted.chunks):
        named.append(f"(c.SOURCE_TYPE = :t{place} AND c.SOURCE_ID = :i{place} AND c.CHUNK_NO = :n{place})")
        binds |= {f"t{place}": key.type, f"i{place}": key.id, f"n{place}": number}
    for place, key in enumerate(wanted.entities):
        named.append(f"(c.SOURCE_TYPE = :u{place} AND c.SOURCE_ID = :j{place})")
        binds |= {f"u{place}": key.type, f"j{place}": key.id}
    either = "\n       OR ".join(named)
    return Statement(
        f"""\
SELECT {", ".join(f"c.{name}" for name in _COLUMNS)},
  {METADATA_TEXT},
  {HAS_METADATA}, d.TITLE, d.URL,
  {stale(owner, "c")}
FROM {owner}.RAG_CHUNK c
LEFT JOIN {owner}.RAG_DOCUMENT d ON d.ENTITY_ID = c.ENTITY_ID
WHERE {allowed} AND (c.CHUNK_NO >= 0)
  AND ({either})
ORDER BY c.SOURCE_TYPE, c.SOURCE_ID, c.CHUNK_NO
FETCH FIRST {_MOST_CHUNKS} ROWS ONLY""",
        binds,
        (*_COLUMNS, *_MORE),
    )


def chunks(connection: oracledb.Connection, schema: str, scope: Scope, wanted: _Names) -> list[StoredChunk]:
    """Fetch chunks, each once, in the order of their names; what the scope may not see is not among them."""
    found: dict[int, StoredChunk] = {}
    cut_off: list[int] = []
    with own_tables():
        for part in _parts(wanted):
            for row in _fetched(connection, compose_fetch(schema, scope, part)):
                chunk, complete = _chunk(row)
                found[chunk.chunk_id] = chunk
                if not complete:
                    cut_off.append(chunk.chunk_id)
        for some in long_metadata(connection, schema, scope, cut_off):
            for chunk_id, metadata in some.items():
                found[chunk_id] = dataclasses.replace(found[chunk_id], metadata=metadata)
    return _in_order(wanted, list(found.values()))


def surroundings(connection: oracledb.Connection, schema: str, scope: Scope, asked: expand.Expansion) -> list[Passage]:
    """Read what stands around hits; see :mod:`oraclerag.search.expand`."""
    if not asked.hits:
        return []
    build = expand.documents if asked.how == "parent" else expand.rows
    with own_tables():
        return expand.passages(_fetched(connection, build(schema, scope, asked)), asked)


def _parts(wanted: _Names) -> Iterable[_Names]:
    """Part names so that a statement has hundreds of them at most, not thousands of binds."""
    for part in parts(wanted.order, 256):
        yield _sorted(tuple(part))


def _fetched(connection: oracledb.Connection, statement: Statement) -> list[tuple[Any, ...]]:
    import oracledb

    def as_text(cursor: oracledb.Cursor, column: oracledb.FetchInfo) -> Any:
        if column.type_code is oracledb.DB_TYPE_CLOB:  # else every text is a round trip of its own
            return cursor.var(oracledb.DB_TYPE_LONG, arraysize=cursor.arraysize)
        return None

    with connection.cursor() as cursor:
        cursor.outputtypehandler = as_text
        cursor.prefetchrows = cursor.arraysize = 1000
        cursor.execute(statement.text, dict(statement.binds))
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def _chunk(row: Sequence[Any]) -> tuple[StoredChunk, bool]:
    """Make the record of a row; with False where its metadata were too long for it."""
    values = dict(zip((*_COLUMNS, *_MORE), row, strict=True))
    moment, metadata = values["OCCURRED_AT"], values["METADATA_TEXT"]
    return StoredChunk(
        chunk_id=values["CHUNK_ID"],
        source=SourceKey(values["SOURCE_TYPE"], values["SOURCE_ID"], values["TENANT_ID"]),
        chunk_number=values["CHUNK_NO"],
        content=values["CONTENT"],
        start=values["TEXT_START"],
        end=values["TEXT_END"],
        parent=values["PARENT_NO"],
        stale=bool(values["STALE"]),
        title=values["TITLE"],
        url=values["URL"],
        section=values["SECTION"],
        collection=values["COLLECTION"],
        project=values["PROJECT_ID"],
        sprint=values["SPRINT_ID"],
        occurred_at=None if moment is None else moment.replace(tzinfo=dt.UTC),
        metadata=json.loads(metadata) if metadata else {},
    ), bool(metadata) or not values["HAS_METADATA"]


def _in_order(wanted: _Names, found: Sequence[StoredChunk]) -> list[StoredChunk]:
    by_id = {chunk.chunk_id: chunk for chunk in found}
    by_name = {(chunk.source, chunk.chunk_number): chunk for chunk in found}
    by_entity: dict[SourceKey, list[StoredChunk]] = {}
    for chunk in found:
        by_entity.setdefault(chunk.source, []).append(chunk)
    ordered: dict[int, StoredChunk] = {}
    for name in wanted.order:
        if isinstance(name, SourceKey):
            some = by_entity.get(name, [])
        else:
            one = by_id.get(name) if isinstance(name, int) else by_name.get(name)
            some = [] if one is None else [one]
        ordered.update((chunk.chunk_id, chunk) for chunk in some)
    return list(ordered.values())
