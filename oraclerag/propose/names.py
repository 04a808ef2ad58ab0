"""Names of the dictionary in SQL, in a template and in words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from oraclerag.propose.described import Column, TableId

__all__ = ["Aliases", "label", "plain_text", "slug", "sql_name", "table_name", "word_set", "words"]


def word_set(text: str) -> frozenset[str]:
    """Give the words of a text."""
    return frozenset(text.split())


# What V$RESERVED_WORDS marks RESERVED: no name without quotes.
_RESERVED = word_set(
    """
    ACCESS ADD ALL ALTER AND ANY AS ASC AUDIT BETWEEN BY CHAR CHECK CLUSTER COLUMN COLUMN_VALUE COMMENT COMPRESS
    CONNECT CREATE CURRENT DATE DECIMAL DEFAULT DELETE DESC DISTINCT DROP ELSE EXCLUSIVE EXISTS FILE FLOAT FOR FROM
    GRANT GROUP HAVING IDENTIFIED IMMEDIATE IN INCREMENT INDEX INITIAL INSERT INTEGER INTERSECT INTO IS LEVEL LIKE
    LOCK LONG MAXEXTENTS MINUS MLSLABEL MODE MODIFY NESTED_TABLE_ID NOAUDIT NOCOMPRESS NOT NOWAIT NULL NUMBER OF
    OFFLINE ON ONLINE OPTION OR ORDER PCTFREE PRIOR PUBLIC RAW RENAME RESOURCE REVOKE ROW ROWID ROWNUM ROWS SELECT
    SESSION SET SHARE SIZE SMALLINT START SUCCESSFUL SYNONYM SYSDATE TABLE THEN TO TRIGGER UID UNION UNIQUE UPDATE
    USER VALIDATE VALUES VARCHAR VARCHAR2 VIEW WHENEVER WHERE WITH
    """
)
# Words that Jinja2 keeps for itself in an expression or a loop.
_OF_TEMPLATES = word_set("true false none and or not if elif else for in is import include loop recursive self set")
_PLAIN = re.compile(r"[A-Z][A-Z0-9_$#]*")
_LONGEST = 128
_LABEL = 40


def sql_name(name: str) -> str:
    """Give a name as a statement has it: in lower case where it is an ordinary one, else in quotes."""
    return name.lower() if _PLAIN.fullmatch(name) and name not in _RESERVED else f'"{name}"'


def table_name(table: TableId, schema: str) -> str:
    """Give a table as a statement has it; without its owner where plain names are looked up in that schema."""
    owner, name = table
    return sql_name(name) if owner == schema else f"{_upper(owner)}.{_upper(name)}"


def _upper(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name not in _RESERVED else f'"{name}"'


def words(name: str) -> list[str]:
    """Give the words of a name in lower case: ``DUE_DATE`` and ``dueDate`` are "due", "date"."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return [word for word in re.split(r"[^0-9a-z]+", _ascii(parted)) if word]


def slug(name: str, *, longest: int = _LONGEST) -> str:
    """Make a name that SQL and templates take without quotes: a letter, then letters, digits and ``_``."""
    found = re.sub(r"[^0-9a-z_]+", "_", _ascii(name)).strip("_") or "column"
    found = found if found[0].isalpha() else f"c_{found}"
    return found[:longest].rstrip("_")


def _ascii(text: str) -> str:
    taken_apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in taken_apart if not unicodedata.combining(char))


class Aliases:
    """Gives the columns of one SELECT names that nothing else has there."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def of(self, name: str) -> str:
        """Give a free alias that reads like ``name``, and keep it."""
        wanted = slug(name)
        if wanted in _OF_TEMPLATES or wanted.upper() in _RESERVED:
            wanted += "_"
        found, number = wanted, 1
        while found in self._taken:
            number += 1
            end = f"_{number}"
            found = wanted[: _LONGEST - len(end)] + end
        self._taken.add(found)
        return found


def plain_text(text: str | None) -> str:
    """Give a text on one line without what a terminal, a comment of TOML or a template would take for its own."""
    shown = "".join(char if char.isprintable() else " " for char in text or "")
    return " ".join(shown.replace("{", "(").replace("}", ")").split())


def label(column: Column) -> str:
    """Give what a column is called in a text: the first words of its comment, else its name."""
    comment = plain_text(column.comment)
    first = re.split(r"[.:;,(\[–—]| - ", comment, maxsplit=1)[0].strip()
    if first and len(first) <= _LABEL:
        return first[0].upper() + first[1:]
    named = words(column.name)
    if len(named) > 1 and named[-1] in ("id", "dt", "txt"):
        named = named[:-1]
    return " ".join(named).capitalize() or "Value"
