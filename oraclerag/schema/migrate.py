"""Bring the tables to a revision, on a connection of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import oracledb

from oraclerag.database import (
    NO_SUCH_TABLE,
    UNIQUE_VIOLATED,
    Database,
    code_of,
    driver_connection,
    session_user,
    translated,
)
from oraclerag.errors import Contention, OracleRagError, PrivilegeMissing, SchemaError
from oraclerag.schema.environment import ONE_AT_A_TIME, alembic_config
from oraclerag.schema.objects import NAME_TAKEN, RENAME, Dictionary, ddl, ddl_files, drop
from oraclerag.schema.revision import VERSION_TABLE, refuse_newer, revisions, steps, version
from oraclerag.statements import Statements, identifier, quoted

if TYPE_CHECKING:
    import sqlalchemy

__all__ = ["MigrationReport", "migrate"]

_ATTEMPTS = 5

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

    Runs on a connection of its own and commits. A second run does nothing; one that was interrupted goes on. Of several
    at the same time all do no harm; one that cannot go on raises Contention.
    """
    target = steps(to)
    engine = database.sqlalchemy_engine()
    schema = identifier(database.schema, "schema")
    reason: _Overtaken | None = None
    for _ in range(_ATTEMPTS):
        try:
            with _remedies(), translated(), _overtaken(), ONE_AT_A_TIME, engine.connect() as connection:
                return _migrate(connection, schema, target)
        except _Overtaken as error:
            reason = error
    raise Contention(f"Other migrations of the schema {schema} run at the same time.", hint="Run it again.") from reason


def _migrate(connection: sqlalchemy.Connection, schema: str, target: int) -> MigrationReport:
    from alembic import command

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
    config = alembic_config(schema, connection)
    if target > start:
        command.upgrade(config, revisions()[target - 1])
    elif target == 0 and there:
        _remove(connection, schema, before)
    elif target < start:
        command.downgrade(config, revisions()[target - 1])
    return MigrationReport(schema, before, version(driver, schema)[1], applied)


class _Overtaken(Exception):
    """Another migration did the same a moment earlier: begin again and see what is left to do."""


@contextlib.contextmanager
def _overtaken() -> Iterator[None]:
    """Tell from an error that the version table or its row is not as it was when it was looked at."""
    import alembic.util
    import sqlalchemy.exc

    try:
        yield
    except sqlalchemy.exc.DBAPIError as error:
        code = code_of(error.orig) if error.orig is not None else None
        if code in (*NAME_TAKEN, NO_SUCH_TABLE, UNIQUE_VIOLATED) and VERSION_TABLE in (error.statement or "").upper():
            raise _Overtaken from error
        raise
    except alembic.util.CommandError as error:  # its row was deleted or changed meanwhile
        raise _Overtaken from error


def _remove(connection: sqlalchemy.Connection, schema: str, before: str | None) -> None:
    """Take away everything of ours, also where a migration stopped half-way."""
    from alembic import command

    _drop_triggers(driver_connection(connection), schema)
    _drop_models(driver_connection(connection), schema)
    if before is not None:
        command.downgrade(alembic_config(schema, connection), "base")
    else:  # the first revision did not end, or only the version table is left of a removal
        for file in reversed(ddl_files()):
            drop(connection, schema, file)
    connection.exec_driver_sql(Statements("schema", schema)["drop_versions"])


def _drop_triggers(connection: oracledb.Connection, schema: str) -> None:
    """Drop the triggers that ``source triggers`` wrote: without the view they name, their tables could not change."""
    statements = Statements("schema", schema)
    with connection.cursor() as cursor:
        cursor.execute(statements["triggers"])
        for owner, name, body in cursor.fetchall():
            if f"INTO {quoted(schema)}.RAG_ENQUEUE " in body:
                cursor.execute(f"DROP TRIGGER {quoted(owner)}.{quoted(name)}")


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
    for file in ddl_files():
        if file[:4] > revision:
            break
        for item in ddl(file):
            if not present.has(item):
                if (user := session_user(connection)) != schema:  # who sees nothing of it cannot know
                    raise PrivilegeMissing(
                        f"{user} sees no {item.name} in {schema}, so it cannot tell whether the tables are complete.",
                        hint=f"Run it as the owner of the tables, {schema}.",
                    )
                raise SchemaError(
                    f"The schema {schema} is at revision {revision}, but {item.name} is missing: "
                    f"a removal did not end, or somebody dropped it.",
                    hint="`oraclerag migrate --to base` ends the removal (all data of oraclerag goes); then migrate. "
                    "Where it was dropped, docs/recovery.md says how it alone is made anew.",
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
