"""The text of a trigger: a row trigger that asks what changed and announces whom it concerns.

An INSERT announces the new row's entities, a DELETE the old row's, an UPDATE the new row's where a column changed that
matters, and the old row's too where it concerned others. It is part of the statement that makes the change: a rollback
takes it back, and an error in it is an error of that statement.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from oraclerag.source.dictionary import Named
from oraclerag.triggers.entry import LANE, Entry
from oraclerag.triggers.table import Column, Table
from oraclerag.triggers.watch import Watched

__all__ = ["MARK", "trigger_name", "trigger_text"]

MARK = "-- oraclerag source triggers "
"""The comment in a trigger's body, followed by a digest of all else: what was written by us, and from what."""

_LONGEST_NAME = 60
# True in a session that compares without case or accents (NLS_COMP = LINGUISTIC with a sort of _CI or _AI): PL/SQL does
# so too, and would see no change from 'ab' to 'AB'.
_FOLDS = "NLSSORT('a') = NLSSORT('A')"
_MUTATING = "rag_mutating"
# A trigger has 32 KB at the most. Of more columns than these, every UPDATE that names one counts as a change.
_MOST_COMPARED = 60


def trigger_name(source: str, table: str) -> str:
    """Give the name of the trigger of a source on a table; a source's name has no ``$``, so no two share one.

    At most 60 bytes (Oracle takes 128, the local database 63), and a digest where it would be longer.
    """
    name = f"RAG_{source.upper()}${table}"
    if len(name.encode()) <= _LONGEST_NAME:
        return name
    return f"{name.encode()[: _LONGEST_NAME - 9].decode(errors='ignore')}_{_digest(name)[:8].upper()}"


def trigger_text(name: str, table: Table, watched: Watched, entries: Sequence[Entry]) -> str:
    """Give the statement that creates a trigger, without a final slash."""
    columns = [table.columns[column] for column in watched.columns]
    events = "INSERT OR UPDATE OR DELETE"
    if all(column.compared for column in columns) and not table.changing:  # ORA-25006 for a LOB in UPDATE OF
        events = f"INSERT OR DELETE OR UPDATE OF {', '.join(column.sql for column in columns)}"
    declared, body = [], []
    queries = [entry for entry in entries if entry.reads is not None]
    scope = [column for column in columns if column.name in watched.scope]
    if queries:
        declared.append(f"{LANE} NUMBER(1) := {0 if scope and len(scope) == len(columns) else 1};")
        if 0 < len(scope) < len(columns):  # who may see it, or whether anybody: before the bulk of other changes
            body += [f"IF {_changed(scope)} THEN", f"  {LANE} := 0;", "END IF;"]
    reached = [_mutating_when_deleted(table, entry) for entry in queries]
    if any(reached):
        declared += [f"{_MUTATING} EXCEPTION;", f"PRAGMA EXCEPTION_INIT({_MUTATING}, -4091);"]
    body += [f"IF {_changed(columns)} THEN"]
    for entry in entries:
        body += [f"  {line}" for line in _entry(table, entry)]
    body += ["END IF;"]
    lines = [
        f'CREATE OR REPLACE TRIGGER "{table.named.owner}"."{name}"',
        f"AFTER {events} ON {table.sql}",
        "FOR EACH ROW",
        *(["DECLARE", *(f"  {line}" for line in declared)] if declared else []),
        "BEGIN",
    ]
    whole = "\n".join(_printable(text) for text in ("\n".join(lines), "\n".join(f"  {line}" for line in body), "END;"))
    return whole.replace("\nBEGIN\n", f"\nBEGIN\n  {MARK}{_digest(whole)[:16]}\n", 1)


def _entry(table: Table, entry: Entry) -> list[str]:
    """Give the statements for one entry."""
    differs = _any(_differs(table.columns[name]) for name in entry.columns)
    if any(table.columns[name].text for name in entry.columns):
        differs = f"{_FOLDS}\n    OR {differs}"
    new, old = _insert(table, entry, ":NEW"), _insert(table, entry, ":OLD")
    if entry.reads is None:
        return [
            *_if(entry.there[":NEW"], new),
            *_if(f"{entry.there[':OLD']} AND (DELETING\n    OR {differs})", old),
        ]
    # What its own DELETE deletes or sets to NULL cannot be read then (ORA-04091), and announces itself.
    along = any((read.owner, read.name) in table.changed_along for read in entry.reads)
    return [
        *_if("NOT DELETING", new),
        *_if(f"UPDATING AND (\n    {differs})" if along else f"DELETING OR UPDATING AND (\n    {differs})", old),
    ]


def _insert(table: Table, entry: Entry, row: str) -> list[str]:
    lines = entry.inserts[row].split("\n")
    reached = _mutating_when_deleted(table, entry)
    if not reached:
        return lines
    names = ", ".join(sorted(str(named) for named in reached))
    return [
        "BEGIN",
        *(f"  {line}" for line in lines),
        "EXCEPTION",
        f"  WHEN {_MUTATING} THEN  -- a row goes along with one of {names}, which announces itself",
        f"    IF {'INSERTING' if table.set_null else 'NOT DELETING'} THEN",
        "      RAISE;",
        "    END IF;",
        "END;",
    ]


def _mutating_when_deleted(table: Table, entry: Entry) -> list[Named]:
    """Give the tables that an entry reads and whose DELETE deletes rows of this one: they cannot be read then."""
    return [named for named in entry.reads or () if (named.owner, named.name) in table.changed_by]


def _if(condition: str, lines: Sequence[str]) -> list[str]:
    return [f"IF {condition} THEN", *(f"  {line}" for line in lines), "END IF;"]


def _changed(columns: Sequence[Column]) -> str:
    """Give the condition that one of the columns changed, or that the row is new or gone."""
    if len(columns) > _MOST_COMPARED:
        return "1 = 1"
    compared = [column for column in columns if column.compared]
    parts = ["NOT UPDATING", *(f"UPDATING({column.literal})" for column in columns if not column.compared)]
    if any(column.text for column in compared):
        parts.append(_FOLDS)
    return _any([*parts, *map(_differs, compared)])


def _differs(column: Column) -> str:
    new, old = f":NEW.{column.sql}", f":OLD.{column.sql}"
    return f"{new} <> {old} OR {new} IS NULL AND {old} IS NOT NULL OR {new} IS NOT NULL AND {old} IS NULL"


def _any(conditions: Iterable[str]) -> str:
    return "\n    OR ".join(conditions)


def _printable(text: str) -> str:
    """Join what SQL*Plus would take for the end of the block: a line that holds only a slash or a full stop."""
    return re.sub(r"\n[ \t]*([/.])[ \t]*(?=\n|$)", r" \1", text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
