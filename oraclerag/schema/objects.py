"""The objects of a revision: read from its DDL file, created and dropped by Alembic's operations.

What is there already is left alone if it is ours, which its columns (of an index: its table) show.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from oraclerag.database import NO_SUCH_TABLE, code_of, driver_connection, driver_types
from oraclerag.errors import Contention, SchemaError
from oraclerag.statements import Statements, fill, quoted, root

if TYPE_CHECKING:
    import oracledb
    import sqlalchemy

__all__ = ["Dictionary", "SchemaObject", "create_objects", "ddl", "drop_objects", "without_comments"]

RENAME = "Rename the other object, or set a schema of its own for oraclerag (ORACLERAG_SCHEMA)."

_CREATE = re.compile(
    r"CREATE (?P<kind>TABLE|VIEW|(?:UNIQUE |MULTIVALUE )?INDEX) /\*schema\*/(?P<name>[A-Z0-9_]+)"
    r"(?: ON /\*schema\*/(?P<table>[A-Z0-9_]+))?"
)
_COLUMN = re.compile(r"^ +(?!CONSTRAINT )([A-Z][A-Z0-9_]*) ", re.MULTILINE)
_SELECT_LIST = re.compile(r"^SELECT ([A-Z0-9_, ]+) FROM ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SchemaObject:
    """One CREATE statement of a DDL file: what it makes, and how an existing one is told from another's."""

    kind: str
    name: str
    table: str | None
    columns: frozenset[str]
    statement: str


@cache
def ddl(file: str) -> Sequence[SchemaObject]:
    """Read a file of ``sql/schema``: statements end with a line that holds only a slash."""
    objects = []
    for part in re.split(r"^/$", (root("sql") / "schema" / file).read_text("utf-8"), flags=re.MULTILINE):
        statement = without_comments(part)
        if not statement:
            continue
        match = _CREATE.match(statement)
        if match is None:
            raise SchemaError(f"sql/schema/{file} holds a statement that is not understood: {statement[:60]!r}.")
        columns = _COLUMN.findall(statement)
        if match["kind"] == "VIEW":
            columns = [name for names in _SELECT_LIST.findall(statement) for name in names.split(", ")]
        objects.append(SchemaObject(match["kind"], match["name"], match["table"], frozenset(columns), statement))
    return tuple(objects)


def without_comments(text: str) -> str:
    """Take out the lines that are comments, and blanks at the ends of the others."""
    return "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith("--")).strip()


class Dictionary:
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

    def has(self, item: SchemaObject) -> bool:
        """Tell whether an object is there; one of that name that is not ours is an error."""
        if item.table is not None:
            found = self._indexes.get(item.name)
            if found is None:
                return False
            if found != item.table:
                raise SchemaError(
                    f"The schema {self._schema} has an index {item.name} on {found} that is not of oraclerag.",
                    hint=RENAME,
                )
            return True
        columns = self._columns.get(item.name)
        if columns is None:
            return False
        if missing := sorted(item.columns - columns):
            raise SchemaError(
                f"The schema {self._schema} has a {item.kind.lower()} {item.name} that is not of oraclerag: "
                f"it has no column {missing[0]}.",
                hint=RENAME,
            )
        return True


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
    present = Dictionary(driver_connection(connection), schema)
    for item in ddl(file):
        if not present.has(item):
            _execute(connection, fill(item.statement, schema), item)


def drop_objects(file: str) -> None:
    """Drop the objects of a DDL file in reverse order, in a revision's ``downgrade``; what is gone is skipped."""
    from alembic import op

    context = op.get_context()
    schema = context.version_table_schema
    assert schema is not None  # noqa: S101 - our env.py always sets it
    present = None if context.as_sql else Dictionary(driver_connection(op.get_bind()), schema)
    for item in reversed(ddl(file)):
        if item.table is not None:
            continue  # indexes go with their table
        options = " CASCADE CONSTRAINTS PURGE" if item.kind == "TABLE" else ""  # PURGE takes identity sequences too
        statement = f"DROP {item.kind} {quoted(schema)}.{item.name}{options}"
        if present is None:
            _write(context, statement)
        elif present.has(item):
            _execute(op.get_bind(), statement, item)


def _execute(connection: sqlalchemy.Connection, statement: str, item: SchemaObject) -> None:
    with _concurrent(item):
        connection.exec_driver_sql(statement)


@contextlib.contextmanager
def _concurrent(item: SchemaObject) -> Iterator[None]:
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
                hint=f"Run it again. {RENAME}",
            ) from error.orig
        raise


def _write(context: Any, statement: str) -> None:
    context.impl.static_output(statement)
    context.impl.static_output(context.impl.batch_separator)
