"""Binds of one name with several values: a client that binds by position gives one for each place of the name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oraclerag.local.engine.lexer import tokenize


def differ(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
    """Whether a name that is there more than once has different values in one row."""
    if len(set(names)) == len(names):
        return False
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        other = first.setdefault(name, place)
        if other != place and any(row[other] is not row[place] and row[other] != row[place] for row in rows):
            return True
    return False


def apart(sql: str) -> str:
    """Give a statement with a name of its own for each bind."""
    binds = [token for token in tokenize(sql) if token.kind == "bind"]
    for number, token in reversed(list(enumerate(binds))):
        sql = f"{sql[: token.position]}:bind{number}{sql[token.end :]}"
    return sql
