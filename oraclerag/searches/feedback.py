"""Say of a logged search whether it was good."""

from __future__ import annotations

from oraclerag.database import Database, own_tables
from oraclerag.errors import InputError
from oraclerag.scope import Scope
from oraclerag.searches.read import checked_number, missing
from oraclerag.searches.visible import visible
from oraclerag.security import writing
from oraclerag.statements import Statements

__all__ = ["MAX_NOTE_BYTES", "give"]

MAX_NOTE_BYTES = 4000


def give(database: Database, scope: Scope, search_id: int, good: bool, note: str | None = None) -> None:
    """Note whether a search that a resolved scope sees was good, and why; what was said before is replaced. Commits.

    Raises InputError.
    """
    number = checked_number(search_id)
    if not isinstance(good, bool):
        raise InputError(f"good must be True or False, not {good!r}.")  # "no" is true
    seen, binds = visible(scope)
    binds |= {"search_id": number, "feedback": int(good), "note": _checked(note)}
    statement = Statements("searches", database.schema).with_names("feedback", seen=seen)
    with writing(database, scope.tenant) as connection, connection.cursor() as cursor, own_tables():
        cursor.execute(statement, binds)
        if not cursor.rowcount:
            raise missing(number, scope.tenant)


def _checked(note: object) -> str | None:
    if note is None:
        return None
    if not isinstance(note, str):
        raise InputError(f"note must be a text, not {type(note).__name__}.")
    if "\0" in note or any("\ud800" <= char <= "\udfff" for char in note):
        raise InputError("note holds NUL or half of a surrogate pair, which no database text can.")
    if (size := len(note.encode())) > MAX_NOTE_BYTES:
        raise InputError(f"note has {size:,} bytes; {MAX_NOTE_BYTES:,} are the most.")
    return note.strip() or None
