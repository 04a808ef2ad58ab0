"""COMMENT ON, synonyms and directories."""

from __future__ import annotations

from pathlib import PurePath

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


def create_synonym(reader: Reader, host: Host, *, replace: bool, public: bool) -> Action:
    """Read CREATE SYNONYM behind the keyword.

    A private synonym of a table or view is a view over it, so that every statement can use it.
    """
    if public:
        raise unsupported("public synonyms", reader.position)
    guard = reader.accept("IF", "NOT", "EXISTS")
    owner, name = reader.name(995, "missing or invalid synonym identifier")
    reader.expect("FOR", number=905, message="missing keyword")
    table_owner, table = reader.name()
    reader.expect_end()
    schema = owner or host.schema
    target_schema = table_owner or host.schema

    def run() -> None:
        questions.require_schema(host, schema)
        known = bool(host.ask("SELECT 1 FROM ora.synonyms WHERE owner = $1 AND name = $2", schema, name))
        if questions.object_kind(host, schema, name) is not None and not (known and replace):
            if guard:
                return
            raise OraError(955, "name is already used by an existing object")
        if questions.object_kind(host, target_schema, table) not in {"TABLE", "VIEW"}:
            raise unsupported("synonyms of what is no table or view")
        values = ", ".join(map(literal, (schema, name, target_schema, table)))
        view = qualified(schema, name)
        before = [f"DROP VIEW {view}"] if known else []
        host.change(
            [
                *before,
                f"CREATE VIEW {view} AS SELECT * FROM {qualified(target_schema, table)}",
                (
                    f"INSERT INTO ora.synonyms (owner, name, table_owner, table_name) VALUES ({values})"
                    " ON CONFLICT (owner, name) DO UPDATE SET table_owner = excluded.table_owner,"
                    " table_name = excluded.table_name"
                ),
            ]
        )

    return run


def drop_synonym(reader: Reader, host: Host, *, public: bool) -> Action:
    """Read DROP SYNONYM behind the keyword."""
    if public:
        raise OraError(1432, "public synonym to be dropped does not exist")
    guard = reader.accept("IF", "EXISTS")
    owner, name = reader.name(995, "missing or invalid synonym identifier")
    reader.accept("FORCE")
    reader.expect_end()
    schema = owner or host.schema

    def run() -> None:
        if not host.ask("SELECT 1 FROM ora.synonyms WHERE owner = $1 AND name = $2", schema, name):
            if guard:
                return
            raise OraError(1434, "private synonym to be dropped does not exist")
        host.change(
            [
                f"DELETE FROM ora.synonyms WHERE owner = {literal(schema)} AND name = {literal(name)}",
                f"DROP VIEW {qualified(schema, name)}",
            ]
        )

    return run


def create_directory(reader: Reader, host: Host, *, replace: bool) -> Action:
    """Read CREATE DIRECTORY behind the keyword."""
    guard = reader.accept("IF", "NOT", "EXISTS")
    name = reader.identifier(1735, "missing directory name")
    reader.expect("AS")
    path = reader.string()
    reader.expect_end()
    if not PurePath(path).is_absolute():
        raise OraError(29532, f"directory path '{path}' must be absolute")

    def run() -> None:
        if host.ask("SELECT 1 FROM ora.directories WHERE name = $1", name) and not replace:
            if guard:
                return
            raise OraError(955, "name is already used by an existing object")
        host.change(
            [
                (
                    f"INSERT INTO ora.directories (name, path) VALUES ({literal(name)}, {literal(path)})"
                    " ON CONFLICT (name) DO UPDATE SET path = excluded.path"
                )
            ]
        )

    return run


def drop_directory(reader: Reader, host: Host) -> Action:
    """Read DROP DIRECTORY behind the keyword."""
    guard = reader.accept("IF", "EXISTS")
    name = reader.identifier(1735, "missing directory name")
    reader.expect_end()

    def run() -> None:
        if not host.ask("SELECT 1 FROM ora.directories WHERE name = $1", name):
            if guard:
                return
            raise OraError(4043, f"Object {name} does not exist.")
        host.change([f"DELETE FROM ora.directories WHERE name = {literal(name)}"])

    return run
