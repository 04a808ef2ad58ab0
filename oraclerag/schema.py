"""The tables of the toolkit: migrate, what revision is there, and the script for a DBA.

Alembic is called from code; its revisions run the frozen DDL in ``sql/schema``, one file per revision. Oracle commits
every DDL statement by itself, so a revision can stop half-way: each statement is skipped when its object is there
already, with the columns that it must have, and the version row is written last. The same call then ends the work.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import oracledb

from oraclerag import __version__
from oraclerag.database import NO_SUCH_TABLE, Database, code_of, driver_connection, driver_types, translated
from oraclerag.errors import (
    Contention,
    InputError,
    OracleRagError,
    SchemaError,
    SchemaMissing,
    SchemaOutdated,
    SchemaTooNew,
)
from oraclerag.statements import Statements, fill, identifier, quoted, root

if TYPE_CHECKING:
    import alembic.config
    import sqlalchemy

__all__ = ["MigrationReport", "current", "migrate", "require", "revisions", "script"]

VERSION_TABLE = "RAG_ALEMBIC_VERSION"

_REVISION_FILE = re.compile(r"(\d{4})_[a-z0-9_]+\.py")
_CREATE = re.compile(
    r"CREATE (?P<kind>TABLE|VIEW|(?:UNIQUE |MULTIVALUE )?INDEX) /\*schema\*/(?P<name>[A-Z0-9_]+)"
    r"(?: ON /\*schema\*/(?P<table>[A-Z0-9_]+))?"
)
_COLUMN = re.compile(r"^ +(?!CONSTRAINT )([A-Z][A-Z0-9_]*) ", re.MULTILINE)
_SELECT_LIST = re.compile(r"^SELECT ([A-Z0-9_, ]+) FROM ", re.MULTILINE)

# What can go wrong in a migration, and what to do about it.
_REMEDIES = {
    "ORA-00054": "Stop the workers, then run it again.",
    "ORA-00955": "Rename the other object, or set a schema of its own for oraclerag (ORACLERAG_SCHEMA).",
    "ORA-01031": "sql/setup/create_user.sql holds the privileges of the owner; DDL in another user's schema needs a DBA.",
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


@cache
def revisions() -> tuple[str, ...]:
    """Give all revisions, oldest first; a revision is the number its file begins with."""
    names = sorted(path.name for path in (root("alembic") / "versions").glob("*.py"))
    return tuple(match[1] for match in map(_REVISION_FILE.fullmatch, names) if match)


def current(connection: oracledb.Connection, schema: str) -> str | None:
    """Give the revision of the tables in ``schema``; None where there are none, or the first revision did not end."""
    return _version(connection, schema)[1]


def require(connection: oracledb.Connection, schema: str) -> None:
    """Make sure that the tables in ``schema`` are those of this version; one cheap statement.

    Raises :class:`SchemaMissing`, :class:`SchemaOutdated` or :class:`SchemaTooNew`.
    """
    there, revision = _version(connection, schema)
    schema = identifier(schema, "schema")
    if not there:
        raise SchemaMissing(f"There are no tables of oraclerag in the schema {schema}, or this user may not read them.")
    if revision is None:
        raise SchemaMissing(f"The tables of oraclerag in the schema {schema} are not complete: a migration did not end.")
    _refuse_newer(revision, schema)
    if revision != revisions()[-1]:
        raise SchemaOutdated(
            f"The tables in the schema {schema} are at revision {revision}; this version needs {revisions()[-1]}."
        )


def migrate(database: Database, to: str = "head") -> MigrationReport:
    """Bring the tables to revision ``to``: ``"head"``, ``"base"`` (none: everything of ours goes) or a revision.

    Runs on a connection of its own and commits. A second run does nothing; one that was interrupted goes on.
    """
    target = _position(to)
    engine = database.sqlalchemy_engine()
    schema = identifier(database.schema, "schema")
    with _remedies(schema), translated():
        with engine.connect() as connection:
            driver = driver_connection(connection)
            there, before = _version(driver, schema)
            if before is not None:
                _refuse_newer(before, schema)
                if target > 0:
                    _refuse_incomplete(driver, schema, before)
            elif target > 0:
                _refuse_character_set(driver)
            position = 0 if before is None else revisions().index(before) + 1
            connection.rollback()
            applied = revisions()[position:target] or tuple(reversed(revisions()[target:position]))
            if target > position:
                _alembic("upgrade", revisions()[target - 1], schema, connection)
            elif target == 0 and there:
                _remove(connection, schema, before)
            elif target < position:
                _alembic("downgrade", revisions()[target - 1], schema, connection)
            after = _version(driver, schema)[1]
    return MigrationReport(schema, before, after, applied)


def script(schema: str, *, from_revision: str | None = None, to: str = "head") -> str:
    """Give the statements of a migration as a script for SQL*Plus or SQLcl; needs no database.

    ``from_revision`` is the revision that the tables have (None: there are none). The script can be run again after it
    stopped half-way.
    """
    schema = identifier(schema, "schema")
    start, target = _position(from_revision or "base"), _position(to)
    names = ("base", *revisions())
    statements: list[str] = []
    if start != target:
        verb = "upgrade" if target > start else "downgrade"
        statements = _offline(verb, f"{names[start]}:{names[target]}", schema)
    if target == 0 < start:
        statements = [_DROP_MODELS.format(schema=quoted(schema), owner=schema), *statements]
        statements.append(Statements("schema", schema)["drop_versions"])
    head = _HEAD.format(version=__version__, schema=schema, start=names[start], target=names[target])
    return head + "".join(f"\n{_repeatable(statement)}\n/\n" for statement in statements) + "\nCOMMIT;\n"


_HEAD = """\
-- oraclerag {version}: tables in the schema {schema}, revision {start} to {target}
-- For SQL*Plus or SQLcl, as the owner of the schema or as a DBA. Can be run again after an error.
WHENEVER OSERROR EXIT FAILURE ROLLBACK
WHENEVER SQLERROR EXIT FAILURE ROLLBACK
SET DEFINE OFF
SET SQLBLANKLINES ON
"""

# The models are listed in RAG_MODEL, which is read when the script runs; in a second run it may be gone already.
_DROP_MODELS = """\
DECLARE
  found NUMBER;
BEGIN
  SELECT COUNT(*) INTO found FROM ALL_TABLES WHERE OWNER = '{owner}' AND TABLE_NAME = 'RAG_MODEL';
  IF found = 1 THEN
    EXECUTE IMMEDIATE q'[
      BEGIN
        FOR model IN (
          SELECT m.PHYSICAL_NAME FROM {schema}.RAG_MODEL m
          JOIN ALL_MINING_MODELS a ON a.OWNER = '{owner}' AND a.MODEL_NAME = m.PHYSICAL_NAME
        ) LOOP
          DBMS_VECTOR.DROP_ONNX_MODEL(model_name => '{owner}.' || model.PHYSICAL_NAME, force => TRUE);
        END LOOP;
      END;]';
  END IF;
END;"""


def _repeatable(statement: str) -> str:
    """Make a statement pass over what is done already; Oracle 23ai has IF [NOT] EXISTS for it."""
    statement = re.sub(r"^CREATE (TABLE|VIEW|(?:UNIQUE |MULTIVALUE )?INDEX) ", r"CREATE \1 IF NOT EXISTS ", statement)
    statement = re.sub(r"^DROP (TABLE|VIEW) ", r"DROP \1 IF EXISTS ", statement)
    # SQLAlchemy's RETURNING … INTO :bind is for a driver; a script has no binds
    return re.sub(
        r"^INSERT INTO (\S+) \(version_num\) VALUES \(('\w+')\).*",
        r"INSERT INTO \1 (VERSION_NUM) SELECT \2 FROM dual WHERE NOT EXISTS (SELECT 1 FROM \1)",
        statement,
    )


# -- called by the revisions ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Object:
    """One CREATE statement of a DDL file: what it makes, and how an existing one is told from another's."""

    kind: str
    name: str
    table: str | None
    columns: frozenset[str]
    statement: str


def create_objects(file: str) -> None:
    """Create the objects of a DDL file, in a revision's ``upgrade``; what is there already is left alone."""
    from alembic import op

    context = op.get_context()
    schema = context.version_table_schema
    assert schema is not None  # noqa: S101 - our env.py always sets it
    if context.as_sql:
        for item in ddl(file):
            _write(context, fill(item.statement, schema))
        return
    connection = op.get_bind()
    present = _Dictionary(driver_connection(connection), schema)
    for item in ddl(file):
        if not present.has(item):
            _execute(connection, fill(item.statement, schema), item)


def drop_objects(file: str) -> None:
    """Drop the objects of a DDL file in reverse order, in a revision's ``downgrade``; what is gone already is skipped."""
    from alembic import op

    context = op.get_context()
    schema = context.version_table_schema
    assert schema is not None  # noqa: S101 - our env.py always sets it
    present = None if context.as_sql else _Dictionary(driver_connection(op.get_bind()), schema)
    for item in reversed(ddl(file)):
        if item.table is not None:
            continue  # indexes go with their table
        options = " CASCADE CONSTRAINTS PURGE" if item.kind == "TABLE" else ""  # PURGE takes identity sequences too
        statement = f"DROP {item.kind} {quoted(schema)}.{item.name}{options}"
        if present is None:
            _write(context, statement)
        elif present.has(item):
            _execute(op.get_bind(), statement, item)


@cache
def ddl(file: str) -> Sequence[_Object]:
    """Read a file of ``sql/schema``: statements end with a line that holds only a slash."""
    objects = []
    for part in re.split(r"^/$", (root("sql") / "schema" / file).read_text("utf-8"), flags=re.MULTILINE):
        statement = _without_comments(part)
        if not statement:
            continue
        match = _CREATE.match(statement)
        if match is None:
            raise SchemaError(f"sql/schema/{file} holds a statement that is not understood: {statement[:60]!r}.")
        columns = _COLUMN.findall(statement)
        if match["kind"] == "VIEW":
            columns = [name for names in _SELECT_LIST.findall(statement) for name in names.split(", ")]
        objects.append(_Object(match["kind"], match["name"], match["table"], frozenset(columns), statement))
    return tuple(objects)


def _without_comments(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith("--")).strip()


class _Dictionary:
    """What is in the schema at present under our prefix; read once per revision."""

    def __init__(self, connection: oracledb.Connection, schema: str) -> None:
        self._schema = schema
        statements = Statements("schema", schema)
        self._columns: dict[str, set[str]] = {}
        with driver_types(connection), connection.cursor() as cursor:
            cursor.execute(statements["columns"], owner=schema)
            for table, column in cursor:
                self._columns.setdefault(table, set()).add(column)
            cursor.execute(statements["indexes"], owner=schema)
            self._indexes: Mapping[str, str] = dict(cursor.fetchall())

    def has(self, item: _Object) -> bool:
        """Tell whether an object is there; one of that name that is not ours is an error."""
        if item.table is not None:
            found = self._indexes.get(item.name)
            if found is None:
                return False
            if found != item.table:
                raise SchemaError(
                    f"The schema {self._schema} has an index {item.name} on {found} that is not of oraclerag.",
                    hint=_REMEDIES["ORA-00955"],
                )
            return True
        columns = self._columns.get(item.name)
        if columns is None:
            return False
        if missing := sorted(item.columns - columns):
            raise SchemaError(
                f"The schema {self._schema} has a {item.kind.lower()} {item.name} that is not of oraclerag: "
                f"it has no column {missing[0]}.",
                hint=_REMEDIES["ORA-00955"],
            )
        return True


def _execute(connection: sqlalchemy.Connection, statement: str, item: _Object) -> None:
    with _concurrent(item):
        connection.exec_driver_sql(statement)


@contextlib.contextmanager
def _concurrent(item: _Object) -> Iterator[None]:
    """The dictionary was read before: who finds an object now that was not there, or the reverse, is not alone."""
    import sqlalchemy.exc

    try:
        yield
    except sqlalchemy.exc.DBAPIError as error:
        code = code_of(error.orig) if error.orig is not None else None
        if code in ("ORA-00955", NO_SUCH_TABLE):
            raise Contention(
                f"{item.name} could not be created or dropped ({code}): another migration may run at the same time, "
                f"or another object has this name.",
                hint=f"Run it again. {_REMEDIES['ORA-00955']}",
            ) from error.orig
        raise


def _write(context: Any, statement: str) -> None:
    context.impl.static_output(statement)
    context.impl.static_output(context.impl.batch_separator)


# -- calling Alembic --------------------------------------------------------------------------------------------------


def _config(schema: str, connection: sqlalchemy.Connection | None = None) -> alembic.config.Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(root("alembic")).replace("%", "%%"))
    config.attributes["schema"] = schema
    config.attributes["connection"] = connection
    return config


def _alembic(verb: str, revision: str, schema: str, connection: sqlalchemy.Connection) -> None:
    from alembic import command

    getattr(command, verb)(_config(schema, connection), revision)


def _offline(verb: str, span: str, schema: str) -> list[str]:
    """Let Alembic write its statements instead of running them; they come back one by one, without separators."""
    from alembic import command

    config = _config(schema)
    config.output_buffer = io.StringIO()
    getattr(command, verb)(config, span, sql=True)
    pieces = re.split(r"^/$", config.output_buffer.getvalue(), flags=re.MULTILINE)
    return [text for text in map(_without_comments, pieces) if text]


def _remove(connection: sqlalchemy.Connection, schema: str, before: str | None) -> None:
    """Take away everything of ours, also where a migration stopped half-way."""
    from alembic import command

    if before is None:  # the version table is there and empty: the first revision was not finished
        command.stamp(_config(schema, connection), revisions()[0])
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


# -- checks -----------------------------------------------------------------------------------------------------------


def _version(connection: oracledb.Connection, schema: str) -> tuple[bool, str | None]:
    """Tell whether the version table is there, and the revision in it."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(Statements("schema", schema)["version"])
            row = cursor.fetchone()
        except oracledb.Error as error:
            if code_of(error) == NO_SUCH_TABLE:
                return False, None
            with translated():
                raise
    return True, row[0] if row else None


def _position(revision: str) -> int:
    """Give how many revisions are in force at ``revision``: 0 for ``base``, all for ``head``."""
    if revision == "base":
        return 0
    if revision == "head":
        return len(revisions())
    if revision not in revisions():
        raise InputError(f"There is no revision {revision!r}: it must be head, base or one of {', '.join(revisions())}.")
    return revisions().index(revision) + 1


def _refuse_newer(revision: str, schema: str) -> None:
    if revision not in revisions():
        raise SchemaTooNew(
            f"The tables in the schema {schema} are at revision {revision!r}, which this version of oraclerag "
            f"({__version__}) does not know."
        )


def _refuse_incomplete(connection: oracledb.Connection, schema: str, revision: str) -> None:
    """The version row says ``revision``, so its objects must be there: a downgrade may have stopped half-way."""
    present = _Dictionary(connection, schema)
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
            hint="Texts are measured in bytes of AL32UTF8; use a database, or a pluggable database, with that character set.",
        )


@contextlib.contextmanager
def _remedies(schema: str) -> Iterator[None]:
    """Add to an error of a migration what to do about it."""
    try:
        yield
    except OracleRagError as error:
        remedy = _REMEDIES.get(code_of(error.__cause__) or "") if error.__cause__ is not None else None
        if remedy is not None:
            error.hint = remedy
        raise
