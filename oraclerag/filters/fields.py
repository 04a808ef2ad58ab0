"""What a condition is about: the key of a filter → a column, or a path into METADATA."""

from __future__ import annotations

import re

from oraclerag.errors import InputError
from oraclerag.filters.tree import Column, Field, Path

__all__ = ["field", "shown"]

COLUMNS = {
    "collection": Column("COLLECTION"),
    "occurred_at": Column("OCCURRED_AT", times=True),
    "project": Column("PROJECT_ID"),
    "source_id": Column("SOURCE_ID"),
    "source_type": Column("SOURCE_TYPE"),
    "sprint": Column("SPRINT_ID"),
}
"""Keys that are columns; a field of METADATA with the same name is written ``metadata.NAME``."""

# What a hit has and no filter takes: a field of METADATA so called is asked for as metadata.NAME, so that nobody takes
# one for the other. Who may see a text is the scope's to say, and a text that everybody sees may not tell whose it is.
_NOT_COLUMNS = {
    "chunk_number": "", "content": "", "distance": "use min_score", "metadata": "name a field of it, metadata.NAME",
    "owner": "the scope says who asks", "score": "use min_score", "section": "", "source": "use source_type",
    "tenant": "the scope says who asks", "title": "", "url": "", "visibility": "the scope says who asks",
}  # fmt: skip

_MAX_STEPS = 16
_MAX_BYTES = 255  # of one key
# A step: letters (of any language), digits, '_' and '-', or anything in double quotes but these, backslashes and what
# cannot be shown. Written, every step is quoted: so none of its characters means anything.
_STEP = re.compile(r'([^\W\d][\w-]*|\d+)|"([^"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+)"')


def field(key: object, name: str) -> Field:
    """Read a key. Raises InputError; ``name`` begins its message."""
    if not isinstance(key, str):
        raise InputError(f"{name}: every key must be a text, not {type(key).__name__}.")
    if key in COLUMNS:
        return COLUMNS[key]
    if key in _NOT_COLUMNS:
        hint = _NOT_COLUMNS[key] or f"a field of the metadata with this name is metadata.{key}"
        raise InputError(f"{name}: {key} cannot be filtered: {hint}.")
    steps: list[str] = []
    at = 0
    while True:
        found = _STEP.match(key, at)
        if found is None:
            raise InputError(
                f"{name}: {shown(key)} is no field: {', '.join(COLUMNS)}, or names of the metadata's fields with dots "
                'between them (user.age); a name with other characters than letters, digits, "_" and "-" is put in '
                "double quotes and holds no quote, backslash or control character."
            )
        steps.append(found[1] or found[2])
        at = found.end()
        if at == len(key):
            break
        if key[at] != ".":
            raise InputError(f"{name}: {shown(key)} is no field: after {shown(key[:at])} a dot or the end must follow.")
        at += 1
    if len(steps) > 1 and steps[0] == "metadata" and not key.startswith('"'):
        del steps[0]
    if len(steps) > _MAX_STEPS:
        raise InputError(f"{name}: {shown(key)} has {len(steps)} names; {_MAX_STEPS} are the most.")
    if any(len(step.encode()) > _MAX_BYTES for step in steps):
        raise InputError(f"{name}: a name of {shown(key)} is longer than {_MAX_BYTES} bytes.")
    return Path(tuple(steps))


def shown(key: str) -> str:
    """Give a key for a message: quoted, and not longer than a line."""
    return ascii(key if len(key) <= 60 else f"{key[:60]}…") if not key.isprintable() else repr(key[:60])
