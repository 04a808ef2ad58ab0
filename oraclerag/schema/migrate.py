"""Bring the tables to a revision, on a connection of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import oracledb

from oraclerag.database import NO_SUCH_TABLE, Database, code_of, driver_connection, translated
from oraclerag.errors import OracleRagError, SchemaError
from oraclerag.schema.environment import alembic_config
from oraclerag.schema.objects import RENAME, Dictionary, ddl
from oraclerag.schema.revision import refuse_newer, revisions, steps, version
from oraclerag.statements import Statements, identifier, root

if TYPE_CHECKING:
    import sqlalchemy

__all__ = ["MigrationReport", "migrate"]

# What can go wrong in a migration, and what to do about it.
_REMEDIES = {
    "ORA-00054": "Stop the workers, then run it again.",
    "ORA-00955": RENAME,
    "ORA-01031": "sql/setup/create_user.sql holds the owner's privileges; another user's schema needs a DBA.",
    "ORA-01918": "ORACLERAG_SCHEMA names the owner of the tables; sql/setup/create_user.sql makes one.",
    "ORA-01950": "Give the owner a quota on its tablespace: ALTER USER … QUOTA 10G ON USERS.",
    "ORA-43853": "Give the owner a default tablespace with automatic segment space management; SYSTEM has none.",
}


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """What a migration did: the revision before and after (None: no tables) and the revisions run, in their order."""

    schema: str
    from_revision: str | None
    to_revision: str | None
    applied: tuple[str, ...]


def migrate(database: Database, to: str = "head") -> MigrationReport:
    """Bring the tables to revision ``to``: ``"head"``, ``"base"`` (none: everything of ours goes) or a revision.

    Runs on a connection of its own and commits. A second run does nothing; one that was interrupted goes on.
    """
    target = steps(to)
    engine = database.sqlalchemy_engine()
    schema = identifier(database.schema, "schema")
    with _remedies(), translated(), engine.connect() as connection:
        driver = driver_connection(connection)
        there, before = version(driver, schema)
        if before is not None:
            refuse_newer(before, schema)
            if target > 0:
                _refuse_incomplete(driver, schema, before)
        elif target > 0:
            _refuse_character_set(driver)
        start = steps(before or "base")
        applied = revisions()[start:target] or tuple(reversed(revisions()[target:start]))
        if target > start:
            _alembic("upgrade", revisions()[target - 1], schema, connection)
        elif target == 0 and there:
            _remove(connection, schema, before)
        elif target < start:
            _alembic("downgrade", revisions()[target - 1], schema, connection)
        after = version(driver, schema)[1]
    return MigrationReport(schema, before, after, applied)


def _alembic(verb: str, revision: str, schema: str, connection: sqlalchemy.Connection) -> None:
    from alembic import command

    getattr(command, verb)(alembic_config(schema, connection), revision)


def _remove(connection: sqlalchemy.Connection, schema: str, before: str | None) -> None:
    """Take away everything of ours, also where a migration stopped half-way."""
    from alembic import command

    if before is None:  # the version table is there and empty: the first revision was not finished
        command.stamp(alembic_config(schema, connection), revisions()[0])
    _drop_models(driver_connection(connection), schema)
    _alembic("downgrade", "base", schema, connection)
    connection.exec_driver_sql(Statements("schema", schema)["drop_versions"])


def _drop_models(connection: oracledb.Connection, schema: str) -> None:
    statements = Statements("schema", schema)
    with connection.cursor() as cursor:
        try:
            cursor.execute(statements["models"], owner=schema)
        except oracledb.Error as error:
            if code_of(error) == NO_SUCH_TABLE:
                return  # RAG_MODEL went already
            raise
        for (name,) in cursor.fetchall():
            cursor.execute(statements["drop_model"], name=f"{schema}.{name}")


def _refuse_incomplete(connection: oracledb.Connection, schema: str, revision: str) -> None:
    """The version row says ``revision``, so its objects must be there: a downgrade may have stopped half-way."""
    present = Dictionary(connection, schema)
    for file in sorted(path.name for path in (root("sql") / "schema").glob("*.sql")):
        if file[:4] > revision:
            break
        for item in ddl(file):
            if not present.has(item):
                raise SchemaError(
                    f"The schema {schema} is at revision {revision}, but {item.name} is missing: "
                    f"a removal did not end, or somebody dropped it.",
                    hint="`oraclerag migrate --to base` ends the removal (all data of oraclerag goes); then migrate.",
                )


def _refuse_character_set(connection: oracledb.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.execute(Statements("schema", "NONE")["character_set"])
        row = cursor.fetchone()
    if row is None or row[0] != "AL32UTF8":
        raise SchemaError(
            f"The database's character set is {row[0] if row else 'unknown'}; oraclerag needs AL32UTF8.",
            hint="Use a (pluggable) database with that character set: texts are measured in its bytes.",
        )


@contextlib.contextmanager
def _remedies() -> Iterator[None]:
    """Add to an error of a migration what to do about it."""
    try:
        yield
    except OracleRagError as error:
        remedy = _REMEDIES.get(code_of(error.__cause__) or "") if error.__cause__ is not None else None
        if remedy is not None:
            error.hint = remedy
        raise
