"""CREATE and DROP SYNONYM: a private synonym is a view."""

from __future__ import annotations

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.interface import OraError


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
