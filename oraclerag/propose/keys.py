"""What names a row: its primary key, else a unique key, else what somebody says."""

from __future__ import annotations

from collections.abc import Sequence

from oraclerag.errors import InputError
from oraclerag.propose.columns import can_be_key
from oraclerag.propose.described import Table
from oraclerag.propose.guess import Guess

__all__ = ["found_key"]


def found_key(table: Table, named: Sequence[str]) -> tuple[tuple[str, ...], list[Guess]]:
    """Give the columns whose values name a row, and why; ``named`` are those that somebody says.

    Raises InputError where nothing names a row, or what does cannot be an id.
    """
    guesses: list[Guess] = []
    if named:
        for name in named:
            if table.column(name) is None:
                raise InputError(f"{table.name} has no column {name}, which --key names.")
        key = tuple(named)
        if key != table.primary_key and key not in table.unique:
            guesses.append(
                Guess("key", ", ".join(key), "you said so; nothing in the dictionary says that it is unique")
            )
    elif table.primary_key:
        key = table.primary_key
        guesses.append(Guess("key", ", ".join(key), "it is the primary key"))
    elif table.unique:
        key = table.unique[0]
        guesses.append(Guess("key", ", ".join(key), "there is no primary key; this is unique and always has a value"))
        guesses += [Guess("key", ", ".join(other), "unique too", taken=False) for other in table.unique[1:]]
    elif table.kind == "VIEW":
        raise InputError(
            f"{table.name} is a view, and the dictionary does not say what identifies one of its rows.",
            hint="Name the columns: --key ID, or --key ORDER_ID,LINE_NO.",
        )
    else:
        raise InputError(
            f"{table.name} has no primary key, and no unique key whose columns always have a value: nothing names "
            f"one of its rows.",
            hint="Name columns that are unique (--key ID), or give the table a key: ALTER TABLE … ADD PRIMARY KEY.",
        )
    for name in key:
        column = table.column(name)
        if column is None or not can_be_key(column):
            kind = column.kind if column is not None else "unknown"
            raise InputError(f"The key of {table.name} has the column {name}, a {kind}: that cannot be an id.")
    return key, guesses
