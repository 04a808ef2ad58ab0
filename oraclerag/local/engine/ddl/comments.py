"""COMMENT ON tables, views and their columns."""

from __future__ import annotations

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError


def comment(reader: Reader, host: Host) -> Action:
    """Read COMMENT behind the keyword; the empty text takes the comment away."""
    reader.expect("ON", number=969, message="missing ON keyword")
    if reader.accept("TABLE"):
        owner, name = reader.name()
        column: str | None = None
    elif reader.accept("COLUMN"):
        parts = [reader.identifier(904, "invalid identifier")]
        while reader.accept("."):
            parts.append(reader.identifier(904, "invalid identifier"))
        if not 2 <= len(parts) <= 3:
            reader.fail(1748, "only simple column names allowed here")
        owner = parts[0] if len(parts) == 3 else None
        name, column = parts[-2], parts[-1]
    else:
        word = reader.word()
        if word in {"MINING", "INDEXTYPE", "OPERATOR", "MATERIALIZED", "EDITION", "AUDIT"}:
            raise unsupported(f"COMMENT ON {word}", reader.position)
        reader.fail(32594, "invalid object category for COMMENT command")
    reader.expect("IS")
    text = reader.string()
    reader.expect_end()
    schema = owner or host.schema
    value = literal(text) if text else "NULL"

    def run() -> None:
        kind = questions.object_kind(host, schema, name)
        if kind not in {"TABLE", "VIEW"}:
            raise questions.missing(schema, name)
        target = qualified(schema, name)
        if column is None:
            host.change([f"COMMENT ON {kind} {target} IS {value}"])
            return
        if column not in questions.columns(host, schema, name):
            raise OraError(904, f'"{column}": invalid identifier')
        host.change([f"COMMENT ON COLUMN {target}.{quote(column)} IS {value}"])

    return run
