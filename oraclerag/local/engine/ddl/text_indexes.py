"""CREATE INDEX … INDEXTYPE IS CTXSYS.CONTEXT: a GIN index over the tokens of a column.

Taken is what needs no preference of its own: the default lexer, no stop words, synchronised at each commit or by
CTX_DDL.SYNC_INDEX. The automatic maintenance that is the default since 23ai works at moments of its own choice, and the
default stop list is of the database's language: both must be named away.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.long_names import stored
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

_INDEXTYPES = frozenset({"CTXCAT", "CTXRULE", "CTXXPATH", "CONTEXT_V2", "SEARCH_INDEX"})
_PARAMETER = re.compile(
    r"\s*(?:(?P<sync>SYNC)\s*\(\s*(?P<how>ON\s+COMMIT|MANUAL)\s*\)"
    r"|(?P<lexer>LEXER)\s+(?:CTXSYS\.)?DEFAULT_LEXER\b"
    r"|(?P<stoplist>STOPLIST)\s+(?:CTXSYS\.)?EMPTY_STOPLIST\b"
    r"|(?P<maintenance>MAINTENANCE)\s+MANUAL\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TextParameters:
    """What PARAMETERS says: ``sync`` is COMMIT or MANUAL; ``text`` as it was written."""

    sync: str
    text: str


def create_text_index(
    reader: Reader, host: Host, name: tuple[str, str], table: tuple[str, str], column: str | None, *, guard: bool
) -> Action:
    """Read what follows the columns of CREATE INDEX, from INDEXTYPE on; ``column`` is None for an expression."""
    reader.expect("INDEXTYPE")
    reader.expect("IS")
    owner, kind = reader.name(29833, "indextype does not exist")
    if owner in {None, "CTXSYS"} and kind in _INDEXTYPES:
        raise unsupported(f"indexes of the type {kind}", reader.position)
    if (owner, kind) not in {(None, "CONTEXT"), ("CTXSYS", "CONTEXT")}:
        raise OraError(29833, "indextype does not exist")
    given = ""
    if reader.accept("PARAMETERS"):
        reader.expect("(")
        given = reader.string(29855, "error occurred in the execution of ODCIINDEXCREATE routine")
        reader.expect(")")
    if not reader.at_end:
        raise unsupported(f"CONTEXT indexes with {reader.word()}", reader.position)
    parameters = _read(given)
    if column is None:
        raise unsupported("CONTEXT indexes over expressions or several columns")
    schema, index = name

    def run() -> None:
        from oraclerag.local.engine.ddl.indexes import index_is_free

        if not index_is_free(host, schema, index, guard=guard):
            return
        if schema != table[0]:
            raise unsupported("an index in another schema than its table's")
        questions.require_table(host, *table)
        stored = questions.columns(host, *table).get(column)
        if stored is None:
            raise OraError(904, f'"{column}": invalid identifier')
        if stored.storage.split("(", 1)[0] not in {"varchar2", "clob", "char"}:
            raise unsupported("CONTEXT indexes over a column that is no text")
        host.change(_statements(host, schema, index, table, column, parameters))

    return run


def _read(given: str) -> TextParameters:
    named: dict[str, str] = {}
    place = 0
    while given[place:].strip():
        match = _PARAMETER.match(given, place)
        if match is None:
            raise unsupported(f"{given[place:].split(maxsplit=1)[0].upper()} as it is in PARAMETERS of a CONTEXT index")
        for what in ("sync", "lexer", "stoplist", "maintenance"):
            if match[what]:
                named[what] = " ".join((match["how"] or "").upper().split())
        place = match.end()
    if "sync" not in named:
        raise unsupported("CONTEXT indexes with automatic maintenance; write SYNC (ON COMMIT) or SYNC (MANUAL)")
    if "stoplist" not in named:
        raise unsupported("CONTEXT indexes with the default stop list; write STOPLIST CTXSYS.EMPTY_STOPLIST")
    return TextParameters("COMMIT" if named["sync"] == "ON COMMIT" else "MANUAL", given)


def _statements(
    host: Host, schema: str, index: str, table: tuple[str, str], column: str, parameters: TextParameters
) -> list[str]:
    target = qualified(*table)
    if host.ask("SELECT 1 FROM ora.text_indexes WHERE rel = $1::regclass AND column_name = $2", target, column):
        raise OraError(29879, "cannot create multiple domain indexes on a column list using same indextype")
    return [
        f"CREATE INDEX {quote(index)} ON {target} USING gin (ora.text_tokens(({quote(column)})::text))",
        (
            "INSERT INTO ora.text_indexes (idx, rel, column_name, sync, synced, parameters)"
            f" VALUES ({literal(qualified(schema, index))}::regclass, {literal(target)}::regclass, {literal(column)},"
            f" {literal(parameters.sync)}, pg_current_snapshot(), {literal(parameters.text)})"
        ),
    ]


def is_text_index(host: Host, schema: str, name: str) -> bool:
    """Whether an index is a CONTEXT index."""
    return bool(
        host.ask(
            "SELECT 1 FROM ora.text_indexes t JOIN pg_class i ON i.oid = t.idx JOIN pg_namespace n"
            " ON n.oid = i.relnamespace WHERE n.nspname = $1 AND i.relname = $2",
            stored(schema),
            stored(name),
        )
    )


def sync_index(host: Host, arguments: Mapping[str, Any]) -> None:
    """CTX_DDL.SYNC_INDEX: the index knows all that is committed now. It commits."""
    owner, name = Reader(str(arguments.get("IDX_NAME") or "")).name(20000, "Oracle Text error:\nDRG-10502: no index")
    schema = owner or host.schema
    if not is_text_index(host, schema, name):
        raise OraError(20000, f"Oracle Text error:\nDRG-10502: index {name} does not exist")
    index = literal(qualified(schema, name))
    host.change([f"UPDATE ora.text_indexes SET synced = pg_current_snapshot() WHERE idx = {index}::regclass"])
