"""``source check``: what in a SELECT source fails, or will fail, before it does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import oracledb

from oraclerag.database import translated
from oraclerag.errors import OracleRagError
from oraclerag.source.base import SourceProblem
from oraclerag.source.keys import TEXT_KINDS, Key
from oraclerag.statements import quoted

if TYPE_CHECKING:
    from oraclerag.source.select import SelectSource

__all__ = ["check_select", "tables_read"]

_TIMES = (
    oracledb.DB_TYPE_DATE, oracledb.DB_TYPE_TIMESTAMP, oracledb.DB_TYPE_TIMESTAMP_TZ, oracledb.DB_TYPE_TIMESTAMP_LTZ,
)  # fmt: skip
_COLUMN_SETTINGS = ("body", "title", "url", "tenant", "owner", "project", "sprint", "occurred_at")
# Strings, quoted names and comments first, so that a FROM inside one is none.
_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"[^"]*"|[A-Za-z][A-Za-z0-9_$#]*(?:\.[A-Za-z][A-Za-z0-9_$#]*)*|[(),]""",
    re.DOTALL,
)
_AFTER_TABLES = {
    "WHERE", "GROUP", "ORDER", "HAVING", "UNION", "INTERSECT", "MINUS", "EXCEPT", "FETCH", "OFFSET", "CONNECT", "START",
    "ON", "USING", "MODEL", "WINDOW", "FOR",
}  # fmt: skip


def check_select(source: SelectSource, connection: oracledb.Connection) -> list[SourceProblem]:
    """Give the problems of a SELECT source: what does not parse, what is named and not there, what may go stale.

    The select, its children and its key are run over all rows once, to count what must be unique; one row is rendered.
    """
    try:
        columns = source.described(connection).columns
    except OracleRagError as error:
        return [_problem(source, error)]
    problems = list(_names(source, {name.lower() for name in columns}))
    moment = source.settings.occurred_at
    if moment and columns.get(moment.upper(), _TIMES[0]) not in _TIMES:
        problems.append(
            SourceProblem(
                source.name, "NOT_A_TIME", f"occurred_at names {moment!r}, which is neither DATE nor TIMESTAMP."
            )
        )
    for name in source.settings.children:
        problems += _child(source, connection, name)
    if not problems:
        problems += _rows(source, connection)
    return problems + list(_tables(source, connection))


def _problem(source: SelectSource, error: OracleRagError) -> SourceProblem:
    return SourceProblem(source.name, error.code, error.message, error.hint)


def _names(source: SelectSource, columns: set[str]) -> Iterator[SourceProblem]:
    settings = source.settings
    named = [(setting, getattr(settings, setting)) for setting in _COLUMN_SETTINGS]
    named += [("metadata", name) for name in settings.metadata]
    for setting, name in named:
        if name is not None and name.lower() not in columns:
            yield SourceProblem(
                source.name,
                "COLUMN_MISSING",
                f"{setting} names the column {name!r}, which the select does not give.",
                "Add it to the select, or correct the name.",
            )
    for name in settings.children:
        if name in columns:
            yield SourceProblem(
                source.name, "NAME_TWICE", f"{name!r} is a column of the select and the name of children."
            )
    if source.template is not None:
        for name in sorted(source.template.names - columns - set(settings.children)):
            yield SourceProblem(
                source.name,
                "COLUMN_MISSING",
                f"The template uses {name!r}, which is neither a column of the select nor the name of children.",
                "Add it to the select, or correct the template; names are in lower case.",
            )


def _child(source: SelectSource, connection: oracledb.Connection, name: str) -> list[SourceProblem]:
    child = source.settings.children[name]
    try:
        described = source.described_child(connection, name)
    except OracleRagError as error:
        return [_problem(source, error)]
    order = [part.strip() for part in child.order_by.split(",")]
    missing = [part for part in order if part.upper() not in described.columns]
    if missing:
        return [
            SourceProblem(
                source.name,
                "COLUMN_MISSING",
                f"order_by of children.{name} names {missing[0].lower()!r}, which its select does not give.",
            )
        ]
    columns = [*(column.name for column in described.key.columns), *order]
    try:
        if not _counted_twice(connection, child.select, columns):
            return []
    except OracleRagError as error:
        return [_problem(source, error)]
    return [
        SourceProblem(
            source.name,
            "ORDER_NOT_UNIQUE",
            f"order_by of children.{name} leaves rows in no certain order: the text would change without a cause.",
            "Add the primary key of the children as the last column of order_by.",
        )
    ]


def _rows(source: SelectSource, connection: oracledb.Connection) -> list[SourceProblem]:
    try:
        key = source.described(connection).key
        if problems := source.without_key(connection):
            return problems
        if _counted_twice(connection, source.settings.select, [column.name for column in key.columns]):
            return [
                SourceProblem(
                    source.name,
                    "KEY_NOT_UNIQUE",
                    "The select gives several rows for one key.",
                    "A join multiplies rows: make them children, or aggregate them.",
                )
            ]
        if _holds_separator(connection, source.settings.select, key):
            return [
                SourceProblem(
                    source.name,
                    "KEY_AMBIGUOUS",
                    "'/' joins the columns of the key, and stands in one before the last: such an id names nothing.",
                    "Put that column last in key, or replace the '/' in the select.",
                )
            ]
        source.render_first(connection)
    except OracleRagError as error:
        return [_problem(source, error)]
    return []


def _holds_separator(connection: oracledb.Connection, select: str, key: Key) -> bool:
    """Whether an id would be taken apart at another place than where it was joined."""
    texts = [column for column in key.columns[:-1] if column.kind in TEXT_KINDS]
    if not texts:
        return False
    found = " OR ".join(f"INSTR({column.expression('q')}, '/') > 0" for column in texts)
    with connection.cursor() as cursor, translated():
        cursor.execute(f"SELECT COUNT(*) FROM (\n{select}\n) q WHERE {found}")
        row = cursor.fetchone()
    return row is not None and row[0] > 0


def _counted_twice(connection: oracledb.Connection, select: str, columns: list[str]) -> bool:
    names = ", ".join(f"q.{quoted(name)}" for name in columns)
    statement = (
        f"SELECT COUNT(*) FROM (SELECT COUNT(*) AS HOW_MANY FROM (\n{select}\n) q\n"
        f"GROUP BY {names} HAVING COUNT(*) > 1) t"
    )
    with connection.cursor() as cursor, translated():
        cursor.execute(statement)
        row = cursor.fetchone()
    return row is not None and row[0] > 0


def _tables(source: SelectSource, connection: oracledb.Connection) -> Iterator[SourceProblem]:
    """Name the tables that the texts depend on and whose changes nobody announces."""
    settings = source.settings
    if not settings.tables:
        return
    known = {name.upper().rpartition(".")[2] for name in settings.tables}
    read = dict.fromkeys(tables_read(settings.select))
    for child in settings.children.values():
        read |= dict.fromkeys(tables_read(child.select))
    for name in read:
        table = name.rpartition(".")[2]
        if table in known:
            continue
        with connection.cursor() as cursor, translated():
            cursor.execute("SELECT COUNT(*) FROM ALL_TABLES WHERE TABLE_NAME = :table_name", table_name=table)
            row = cursor.fetchone()
        if row is not None and row[0]:
            yield SourceProblem(
                source.name,
                "TABLE_WITHOUT_ENTRY",
                f"The texts depend on {table}, and no entry under tables says which entities a change of it concerns.",
                f'Add it: {table.lower()} = "a column with the id, or a query with :id".',
                "warning",
            )


def tables_read(select: str) -> list[str]:
    """Give the names that stand where tables stand in a SELECT, upper case; names of WITH queries may be among them."""
    found: list[str] = []
    expecting = [False]  # one entry per open parenthesis: is the next word a table?
    listing = [False]  # and: are we in a FROM clause, where a comma brings another table?
    for match in _TOKEN.finditer(select):
        word = match.group()
        if word[0] in "-/'":
            continue
        if word == "(":
            expecting.append(False)
            listing.append(False)
        elif word == ")":
            if len(expecting) > 1:
                expecting.pop()
                listing.pop()
            expecting[-1] = False
        elif word == ",":
            expecting[-1] = listing[-1]
        elif word.upper() in ("FROM", "JOIN"):
            expecting[-1] = listing[-1] = True
        elif word.upper() in _AFTER_TABLES:
            expecting[-1] = listing[-1] = False
        elif expecting[-1]:
            found.append(word.strip('"').upper())
            expecting[-1] = False
    return found
