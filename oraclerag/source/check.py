"""``source check``: what in a SELECT source fails, or will fail, before it does."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

import oracledb

from oraclerag.config import table_entries
from oraclerag.database import translated
from oraclerag.errors import OracleRagError
from oraclerag.source.base import SourceProblem
from oraclerag.source.dictionary import Dictionary, Named
from oraclerag.source.keys import TEXT_KINDS, Key
from oraclerag.source.reads import TableName, is_query, reads
from oraclerag.statements import qualified, quoted

if TYPE_CHECKING:
    from oraclerag.source.select import SelectSource

__all__ = ["check_select"]

_TIMES = (
    oracledb.DB_TYPE_DATE, oracledb.DB_TYPE_TIMESTAMP, oracledb.DB_TYPE_TIMESTAMP_TZ, oracledb.DB_TYPE_TIMESTAMP_LTZ,
)  # fmt: skip
_COLUMN_SETTINGS = ("body", "title", "url", "tenant", "owner", "project", "sprint", "occurred_at")


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
    """Name the tables that the texts depend on and whose changes nobody announces, and what was not understood."""
    settings = source.settings
    entries = table_entries(settings)
    dictionary = Dictionary(connection)
    selects = [("the select", settings.select)]
    selects += [(f"the select of children.{name}", child.select) for name, child in settings.children.items()]
    selects += [
        (f"the query of the entry {name}", text) for name, texts in entries.items() for text in texts if is_query(text)
    ]
    if not entries:
        named = sorted({table.name for select in selects for table in dictionary.read_by(reads(select[1]))})
        yield SourceProblem(
            source.name,
            "NO_TABLES",
            f"No entry under tables says which entities a change of {', '.join(named)} concerns: only a program that "
            f"announces its changes (rag.enqueue, rag.track) does.",
            f'[source.{source.name}.tables] with table = "a column with the id, or a query with :id", then '
            f"`oraclerag source triggers --apply`.",
            "warning",
        )
        return
    entered = {dictionary.find(TableName(*qualified(name))) for name in entries}
    seen: set[Named] = set()
    for place, select in selects:
        found = reads(select)
        for words in found.unclear:
            yield SourceProblem(
                source.name,
                "NOT_UNDERSTOOD",
                f"Which tables {place} reads is not wholly known: {words}.",
                "A change there is announced by nobody unless the program does it; reindex from time to time.",
                "warning",
            )
        for name in found.tables:
            yield from _unannounced(source.name, place, name, dictionary, entered, seen)


def _unannounced(
    source: str, place: str, name: TableName, dictionary: Dictionary, entered: Container[Named | None], seen: set[Named]
) -> Iterator[SourceProblem]:
    named = dictionary.find(name)
    tables = dictionary.tables(name)
    if named is None:
        yield SourceProblem(
            source,
            "NOT_UNDERSTOOD",
            f"Which table {name} is in {place} is not known: it is in another database, or the dictionary hides it.",
            "A change there is announced by nobody unless the program does it; reindex from time to time.",
            "warning",
        )
    elif named.kind == "VIEW" and not tables:
        yield SourceProblem(
            source,
            "NOT_UNDERSTOOD",
            f"Which tables the view {name} in {place} reads is not known: the dictionary does not show them.",
            "Write an entry under tables for each of them.",
            "warning",
        )
    for table in tables:
        if table in entered or table in seen:
            continue
        seen.add(table)
        through = f", through the view {name}" if named is not None and named.kind == "VIEW" else ""
        yield SourceProblem(
            source,
            "TABLE_WITHOUT_ENTRY",
            f"The texts depend on {table.name}{through} ({place}), and no entry under tables says which entities a "
            f"change of it concerns.",
            f'Add it: {table.name.lower()} = "a column with the id, or a query with :id".',
            "warning",
        )
