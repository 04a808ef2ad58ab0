"""Keys: the id of an entity is text in the queue and in the index, and has its own type in the user's tables.

When rows are read, the text is turned into the column's type, so that an index on it is used; when a source is
enumerated, the column is turned into text by the database. Both directions must agree: an id that is not the text of
any row (``042`` for the number 42) names nothing.
"""

from __future__ import annotations

import datetime as dt
import decimal
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.database import padded
from oraclerag.errors import SourceError
from oraclerag.statements import quoted

__all__ = ["PADDED", "TEXT_KINDS", "Key", "KeyColumn", "tenant_expression"]

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,39}|[0-9]{0,40}\.[0-9]*[1-9])")
_HEX = re.compile(r"(?:[0-9A-F]{2})+")


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """One column of a key, as the dictionary has its name, with the driver's type of it."""

    name: str
    kind: oracledb.DbType

    def expression(self, alias: str) -> str:
        """Give the SQL that turns the column into text; ``alias`` may be ``:NEW`` in a trigger."""
        column = f'{alias}."{self.name}"'
        if self.kind is oracledb.DB_TYPE_NUMBER:
            # a session with ',' for decimals, a user's own under a trigger, would make another id of 1.5
            return f"TO_CHAR({column}, 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')"
        if self.kind is oracledb.DB_TYPE_RAW:
            return f"RAWTOHEX({column})"
        if self.kind is oracledb.DB_TYPE_DATE:
            return f"TO_CHAR({column}, 'YYYY-MM-DD\"T\"HH24:MI:SS')"
        if self.kind is oracledb.DB_TYPE_TIMESTAMP:
            return f"TO_CHAR({column}, 'YYYY-MM-DD\"T\"HH24:MI:SS.FF6')"
        if self.kind in (oracledb.DB_TYPE_CHAR, oracledb.DB_TYPE_NCHAR):
            return f"RTRIM({column})"
        return column

    def text(self, value: Any) -> str:
        """Give the text of a fetched value, the same as :meth:`expression` makes in the database."""
        if self.kind is oracledb.DB_TYPE_NUMBER:
            if type(value) is int:
                return str(value)
            number = format(decimal.Decimal(value), "f")
            if "." in number:
                number = number.rstrip("0").rstrip(".")
            return re.sub(r"^(-?)0\.", r"\1.", number)
        if self.kind is oracledb.DB_TYPE_RAW:
            return bytes(value).hex().upper()
        if isinstance(value, dt.datetime):
            return value.isoformat(timespec="seconds" if self.kind is oracledb.DB_TYPE_DATE else "microseconds")
        if self.kind in (oracledb.DB_TYPE_CHAR, oracledb.DB_TYPE_NCHAR):
            return str(value).rstrip(" ")
        return str(value)

    def value(self, text: str) -> Any:
        """Give the value to bind for a text, None where no row can have this text."""
        if self.kind is oracledb.DB_TYPE_NUMBER:
            return decimal.Decimal(text) if _NUMBER.fullmatch(text) else None
        if self.kind is oracledb.DB_TYPE_RAW:
            return bytes.fromhex(text) if _HEX.fullmatch(text) else None
        if self.kind in (oracledb.DB_TYPE_DATE, oracledb.DB_TYPE_TIMESTAMP):
            try:
                moment = dt.datetime.fromisoformat(text)
            except ValueError:
                return None
            return moment if moment.tzinfo is None else None
        return text


PADDED = (oracledb.DB_TYPE_CHAR, oracledb.DB_TYPE_NCHAR)
"""Kinds whose values have blanks at the end, as many as the column is long."""

TEXT_KINDS = (
    oracledb.DB_TYPE_VARCHAR, oracledb.DB_TYPE_NVARCHAR, oracledb.DB_TYPE_CHAR, oracledb.DB_TYPE_NCHAR,
)  # fmt: skip
_KINDS = (
    *TEXT_KINDS, oracledb.DB_TYPE_NUMBER, oracledb.DB_TYPE_RAW, oracledb.DB_TYPE_DATE, oracledb.DB_TYPE_TIMESTAMP,
)  # fmt: skip

# A datetime is bound as DATE and a text as VARCHAR2. A VARCHAR2 never equals a CHAR with trailing blanks.
_BOUND_AS = (oracledb.DB_TYPE_TIMESTAMP, oracledb.DB_TYPE_CHAR, oracledb.DB_TYPE_NCHAR)


def tenant_expression(column: str, kind: oracledb.DbType | None) -> str:
    """Give the SQL of a tenant as text, from a column of a kind: without the blanks at the end, as a scope names it."""
    return f"RTRIM({column})" if kind in PADDED else f"TO_CHAR({column})"


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a source: one or several columns, joined with ``/`` in the text."""

    columns: tuple[KeyColumn, ...]

    @classmethod
    def of(cls, names: Sequence[str], columns: Mapping[str, oracledb.DbType], place: str) -> Key:
        """Find the key's columns among those of a SELECT (upper case → type).

        Raises SourceError where one is missing or has a type that has no text, such as CLOB.
        """
        for name in names:
            if name.upper() not in columns:
                raise SourceError(f"{place} does not give the key's column {name.lower()!r}.")
        return cls.exactly([name.upper() for name in names], columns, place)

    @classmethod
    def exactly(cls, names: Sequence[str], columns: Mapping[str, oracledb.DbType], place: str) -> Key:
        """Like :meth:`of`, for names that are there, written as the dictionary has them."""
        for name in names:
            if columns[name] not in _KINDS:
                kind = columns[name].name.removeprefix("DB_TYPE_")
                raise SourceError(f"{place} gives {name.lower()!r} as {kind}, which cannot be a key.")
        return cls(tuple(KeyColumn(name, columns[name]) for name in names))

    def expression(self, alias: str) -> str:
        """Give the SQL of the id as text."""
        return " || '/' || ".join(column.expression(alias) for column in self.columns)

    def whole_expression(self, alias: str) -> str:
        """Give the SQL of the id as text, NULL where a part of it has no value: such a row has no id."""
        if len(self.columns) == 1:
            return self.expression(alias)
        there = " AND ".join(f"{column.expression(alias)} IS NOT NULL" for column in self.columns)
        return f"CASE WHEN {there} THEN {self.expression(alias)} END"

    def text(self, row: Mapping[str, Any]) -> str | None:
        """Give the id of a row (lower-case name → value), None where a part of it has no value."""
        values = [row[column.name.lower()] for column in self.columns]
        if any(value is None for value in values):
            return None
        return "/".join(column.text(value) for column, value in zip(self.columns, values, strict=True))

    def values(self, text: str) -> tuple[Any, ...] | None:
        """Give the values to bind for an id, None where no row can have it."""
        if len(self.columns) == 1:
            value = self.columns[0].value(text)
            return None if value is None or value == "" else (value,)
        parts = text.split("/", len(self.columns) - 1)
        if len(parts) != len(self.columns):
            return None
        values = tuple(column.value(part) for column, part in zip(self.columns, parts, strict=True))
        return None if any(value is None or value == "" for value in values) else values

    def condition(
        self, alias: str, keys: Sequence[tuple[Any, ...]]
    ) -> tuple[str, dict[str, Any], dict[str, oracledb.DbType]]:
        """Give ``column IN (…)``, its binds, and the types of those that the driver would bind as another one.

        The list is padded to a power of two.
        """
        columns = [f"{alias}.{quoted(column.name)}" for column in self.columns]
        if len(columns) == 1 and self.columns[0].kind not in _BOUND_AS:  # the usual key
            binds = {f"k{row}_0": values[0] for row, values in enumerate(padded(keys))}
            return f"{columns[0]} IN ({', '.join(f':{name}' for name in binds)})", binds, {}
        items: list[str] = []
        binds = {}
        kinds: dict[str, oracledb.DbType] = {}
        for row, values in enumerate(padded(keys)):
            names = [f"k{row}_{part}" for part in range(len(values))]
            binds.update(zip(names, values, strict=True))
            pairs = zip(names, self.columns, strict=True)
            kinds.update({name: column.kind for name, column in pairs if column.kind in _BOUND_AS})
            marks = ", ".join(f":{name}" for name in names)
            items.append(marks if len(columns) == 1 else f"({marks})")
        left = columns[0] if len(columns) == 1 else f"({', '.join(columns)})"
        return f"{left} IN ({', '.join(items)})", binds, kinds
