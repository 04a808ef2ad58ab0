"""What is searched: equality on columns and metadata fields → a predicate with binds.

Pure: nothing here talks to a database. A filter narrows what a scope allows and can never widen it: the search puts
both in brackets and joins them with AND.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from oraclerag.errors import InputError

__all__ = ["predicate"]

COLUMNS = {
    "collection": "COLLECTION",
    "project": "PROJECT_ID",
    "source_type": "SOURCE_TYPE",
    "sprint": "SPRINT_ID",
}
_METADATA = re.compile(r"metadata\.([A-Za-z_][A-Za-z0-9_]{0,63})")
_MAX_CONDITIONS = 32


def predicate(
    filter: Mapping[str, Any],  # noqa: A002 - the field's word
    alias: str = "c",
    *,
    name: str = "filter",
) -> tuple[str, dict[str, Any]]:
    """Give the predicate over RAG_CHUNK under ``alias`` and its binds; ``("", {})`` for an empty filter.

    ``name`` is the argument that it comes from, and begins the names of its binds.

    Keys: ``collection``, ``project``, ``source_type``, ``sprint``, and ``metadata.NAME`` for a top-level field of the
    metadata. Values: texts; for metadata also numbers, True and False. All conditions must hold. Raises
    :class:`InputError` for anything else.
    """
    if not isinstance(filter, Mapping):
        raise InputError('filter must be a mapping, such as {"project": "7"}.')
    if len(filter) > _MAX_CONDITIONS:
        raise InputError(f"filter has {len(filter)} conditions; {_MAX_CONDITIONS} are the most.")
    conditions: list[str] = []
    binds: dict[str, Any] = {}
    for number, (key, value) in enumerate(filter.items()):
        left, bound = _condition(key, value, alias)
        conditions.append(f"({left} = :{name}{number})")
        binds[f"{name}{number}"] = bound
    return " AND ".join(conditions), binds


def _condition(key: object, value: object, alias: str) -> tuple[str, Any]:
    if not isinstance(key, str):
        raise InputError("Every key of a filter must be a text.")
    if key in COLUMNS:
        if not isinstance(value, str):
            raise InputError(f"filter: {key} takes one text, not {type(value).__name__}.")
        return f"{alias}.{COLUMNS[key]}", _text(value, key)
    match = _METADATA.fullmatch(key)
    if match is None:
        raise InputError(
            f"filter: there is no field {key!r}; {', '.join(COLUMNS)} and metadata.NAME "
            "(a letter or '_', then letters, digits, '_') can be filtered, by equality."
        )
    # The path is a literal in Oracle (ORA-40597 otherwise); the name was checked above. Quoted: one that is not has
    # letters and digits only.
    path = f"{alias}.METADATA, '$.\"{match[1]}\"'"
    if isinstance(value, bool):
        return f"JSON_VALUE({path} RETURNING BOOLEAN)", value
    if isinstance(value, (int, float)):
        if value != value or value in (float("inf"), float("-inf")):
            raise InputError(f"filter: {key} is not a finite number.")
        return f"JSON_VALUE({path} RETURNING NUMBER)", value
    if isinstance(value, str):
        return f"JSON_VALUE({path})", _text(value, key)
    raise InputError(f"filter: {key} takes a text, a number, True or False, not {type(value).__name__}.")


def _text(value: str, key: str) -> str:
    if not value:
        raise InputError(f"filter: {key} must not be empty; an empty text is NULL in Oracle and equals nothing.")
    # the driver would declare a longer one longer than 4,000 bytes: a LONG, which cannot be compared (ORA-00997)
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value) or len(value.encode()) > 1000:
        raise InputError(f"filter: {key} must be at most 1,000 bytes of valid text without NUL characters.")
    return value
