"""DROP TABLE, TRUNCATE TABLE and RENAME."""

from __future__ import annotations

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.ddl.alter_table import rename_relation
from oraclerag.local.engine.ddl.view_states import drop_trigger_functions, invalidate
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError


def drop_table(reader: Reader, host: Host) -> Action:
    """Read DROP TABLE behind the keyword."""
    if reader.sees("IF", "NOT", "EXISTS"):
        reader.fail(11544, "incorrect IF NOT EXISTS clause for ALTER or DROP statement")
    guard = reader.accept("IF", "EXISTS")
    owner, name = reader.name()
    schema = owner or host.schema
    cascade = reader.accept("CASCADE", "CONSTRAINTS") or reader.accept("CASCADE", "CONSTRAINT")
    reader.accept("PURGE")
    if reader.sees("CASCADE"):
        reader.fail(905, "missing keyword")
    if reader.sees(","):
        reader.fail(3048, f"SQL reserved word '{reader.word()}' is not syntactically valid here")
    reader.expect_nothing()

    def run() -> None:
        if questions.object_kind(host, schema, name) != "TABLE":
            if guard:
                return
            raise questions.missing(schema, name)
        references = questions.foreign_keys(host, schema, name, incoming=True)
        if references and not cascade:
            raise OraError(2449, "unique/primary keys in table referenced by foreign keys")
        statements = [
            f"ALTER TABLE {qualified(key.schema, key.table)} DROP CONSTRAINT {quote(key.name)}" for key in references
        ]
        functions = drop_trigger_functions(host, schema, name)
        views = invalidate(host, schema, name)
        host.change([*views, *statements, f"DROP TABLE {qualified(schema, name)}", *functions])

    return run


def truncate_table(reader: Reader, host: Host) -> Action:
    """Read TRUNCATE behind the keyword.

    Vector indexes become UNUSABLE, as in Oracle: REBUILD brings them back.
    """
    if reader.accept("CLUSTER"):
        raise unsupported("TRUNCATE CLUSTER", reader.position)
    reader.expect("TABLE", number=3290, message="invalid truncate command - missing CLUSTER or TABLE keyword")
    owner, name = reader.name()
    schema = owner or host.schema
    reader.accept("PRESERVE", "MATERIALIZED", "VIEW", "LOG") or reader.accept("PURGE", "MATERIALIZED", "VIEW", "LOG")
    if reader.accept("REUSE") or reader.accept("DROP"):
        reader.accept("ALL")
        reader.expect("STORAGE", number=3291, message="invalid truncate option - missing STORAGE keyword")
    cascade = reader.accept("CASCADE")
    reader.expect_end(3291, "invalid truncate option - missing STORAGE keyword")

    def run() -> None:
        questions.require_table(host, schema, name)
        references = questions.foreign_keys(host, schema, name, incoming=True)
        if references and not cascade:
            raise OraError(2266, "unique/primary keys in table referenced by enabled foreign keys")
        if any(key.on_delete != "c" for key in references):
            raise OraError(14705, "unique or primary keys referenced by enabled foreign keys in table")
        target = qualified(schema, name)
        unusable = (
            "UPDATE ora.vector_indexes SET status = 'UNUSABLE' WHERE idx IN"
            f" (SELECT indexrelid FROM pg_index WHERE indrelid = {literal(target)}::regclass)"
        )
        host.change([f"TRUNCATE TABLE {target}{' CASCADE' if cascade else ''}", unusable])

    return run


def rename(reader: Reader, host: Host) -> Action:
    """Read RENAME old TO new behind the keyword."""
    old = reader.identifier()
    reader.expect("TO")
    new = reader.identifier()
    reader.expect_end()

    def run() -> None:
        kind = questions.object_kind(host, host.schema, old)
        if kind not in {"TABLE", "VIEW", "SEQUENCE"}:
            raise OraError(4043, f'Object "{host.schema}"."{old}" does not exist.')
        rename_relation(host, host.schema, old, new, kind)

    return run
