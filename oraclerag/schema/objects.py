"""The objects of a revision: read from its DDL file, created and dropped by Alembic's operations.

What is there already is left alone if it is ours, which its columns (of an index: its table) show.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from oraclerag.database import NO_SUCH_TABLE, code_of, driver_connection, driver_types
from oraclerag.errors import SchemaError
from oraclerag.statements import Statements, fill, quoted, root

if TYPE_CHECKING:
    import oracledb
    import sqlalchemy

__all__ = [
    "NAME_TAKEN",
    "RENAME",
    "Dictionary",
    "SchemaObject",
    "create_objects",
    "ddl",
    "ddl_files",
    "drop",
    "drop_objects",
    "without_comments",
]

NAME_TAKEN = ("ORA-00955", "ORA-02264", "ORA-01408")
"""Of an object, of a constraint; a list of columns that has an index."""

RENAME = "Rename or drop the other object, or set a schema of its own for oraclerag (ORACLERAG_SCHEMA)."

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


def ddl_files() -> list[str]:
    """Give the files of ``sql/schema``, one per revision, oldest first; they begin with its number."""
    return sorted(path.name for path in (root("sql") / "schema").glob("*.sql"))


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
    schema = _owner(context)
    if context.as_sql:
        for item in ddl(file):
            _write(context, fill(item.statement, schema))
        return
    connection = op.get_bind()
    present = Dictionary(driver_connection(connection), schema)
    for item in ddl(file):
        if not present.has(item):
            _create(connection, item, schema)


def drop_objects(file: str) -> None:
    """Drop the objects of a DDL file in reverse order, in a revision's ``downgrade``; what is gone is skipped."""
    from alembic import op

    context = op.get_context()
    schema = _owner(context)
    if context.as_sql:
        for item in _roots(file):
            _write(context, _drop_statement(item, schema))
        return
    drop(op.get_bind(), schema, file)


def drop(connection: sqlalchemy.Connection, schema: str, file: str) -> None:
    """Drop the objects of a DDL file that are there, last ones first."""
    present = Dictionary(driver_connection(connection), schema)
    for item in _roots(file):
        if present.has(item):
            _drop(connection, item, schema)


def _roots(file: str) -> list[SchemaObject]:
    return [item for item in reversed(ddl(file)) if item.table is None]  # indexes go with their table


def _owner(context: Any) -> str:
    schema = context.version_table_schema
    assert isinstance(schema, str)  # noqa: S101 - our env.py always sets it
    return schema


def _create(connection: sqlalchemy.Connection, item: SchemaObject, schema: str) -> None:
    import sqlalchemy.exc

    try:
        connection.exec_driver_sql(fill(item.statement, schema))
    except sqlalchemy.exc.DBAPIError as error:
        if error.orig is None or code_of(error.orig) not in NAME_TAKEN:
            raise
        # the dictionary was read before: another migration may have been faster
        if not Dictionary(driver_connection(connection), schema).has(item):
            raise SchemaError(
                f"The {item.kind.lower()} {item.name} cannot be made in the schema {schema}: its name, or its list of "
                f"columns, is taken by an object that is not of oraclerag ({code_of(error.orig)}).",
                hint=RENAME,
            ) from error.orig


def _drop(connection: sqlalchemy.Connection, item: SchemaObject, schema: str) -> None:
    import sqlalchemy.exc

    try:
        connection.exec_driver_sql(_drop_statement(item, schema))
    except sqlalchemy.exc.DBAPIError as error:
        if error.orig is None or code_of(error.orig) != NO_SUCH_TABLE:
            raise
        if Dictionary(driver_connection(connection), schema).has(item):
            raise


def _drop_statement(item: SchemaObject, schema: str) -> str:
    options = " CASCADE CONSTRAINTS PURGE" if item.kind == "TABLE" else ""  # PURGE takes identity sequences too
    return f"DROP {item.kind} {quoted(schema)}.{item.name}{options}"


def _write(context: Any, statement: str) -> None:
    context.impl.static_output(statement)
    context.impl.static_output(context.impl.batch_separator)
