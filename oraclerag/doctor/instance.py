"""Checks of the database itself: version, character set, the longest text of a column."""

from __future__ import annotations

from oraclerag.doctor.finding import Verdict, fail, ok
from oraclerag.doctor.look import Check, Look

__all__ = ["CHECKS"]

_OLDEST = (23, 4)
_CHARACTER_SET = "AL32UTF8"


def version(look: Look) -> Verdict:
    """Look which release and edition it is."""
    with look.database.connect() as connection:
        release = connection.version
    row = look.row(look.sql["banner"])
    detail = str(row[0]) if row is not None and row[0] else f"Oracle Database {release}"
    if tuple(map(int, release.split(".")[:2])) < _OLDEST:
        return fail(
            f"{detail}: the type VECTOR and models in the database are there from {_OLDEST[0]}.{_OLDEST[1]} on.",
            "Use Oracle AI Database 26ai (or 23ai from 23.4 on): Autonomous Database, Free or Enterprise Edition.",
        )
    return ok(detail)


def character_set(look: Look) -> Verdict:
    """Look at the character set, in whose bytes texts are measured."""
    row = look.row(look.sql["character_set"])
    found = str(row[0]) if row is not None else "unknown"
    if found != _CHARACTER_SET:
        return fail(
            f"The database's character set is {found}; oraclerag measures texts in {_CHARACTER_SET}.",
            f"Use a (pluggable) database with the character set {_CHARACTER_SET}.",
        )
    return ok(found)


def string_size(look: Look) -> Verdict:
    """Measure MAX_STRING_SIZE: RPAD gives as much as a VARCHAR2 holds, and asks for no privilege."""
    row = look.row(look.sql["string_size"])
    longest = int(row[0]) if row is not None else 0
    if longest > 4000:
        return ok("EXTENDED: a VARCHAR2 holds 32,767 bytes; chunks have 4,000 at most, in either")
    return ok("STANDARD: a VARCHAR2 holds 4,000 bytes, which is what chunks have at most")


CHECKS = (
    Check("version", "Is the release new enough, and which edition is it?", version, after=("connection",)),
    Check(
        "character_set", "Are texts stored in the character set that they are measured in?", character_set,
        after=("connection",),
    ),
    Check("string_size", "How long may a VARCHAR2 be (MAX_STRING_SIZE)?", string_size, after=("connection",)),
)  # fmt: skip
