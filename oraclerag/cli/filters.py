"""``--filter`` and ``--prefer``: FIELD=VALUE, or a JSON object for the whole language."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import typer

__all__ = ["conditions"]


def conditions(texts: list[str], option: str) -> dict[str, Any]:
    """Read what was given for a filter; all of it must hold. ``option`` is named where it cannot be read.

    A VALUE is a text, also where it looks like a number. Numbers of JSON are taken as they are written.
    """
    fields: dict[str, Any] = {}
    objects: list[dict[str, Any]] = []
    for text in texts:
        if text.lstrip().startswith("{"):
            objects.append(_object(text, option))
            continue
        field, equals, value = text.partition("=")
        if not equals or not field:
            raise typer.BadParameter(f"{option} takes FIELD=VALUE or a JSON object, not {text!r}.")
        if field in fields:
            raise typer.BadParameter(f"{option} names {field!r} twice.")
        fields[field] = value
    if not objects:
        return fields
    given = ([fields] if fields else []) + [one for one in objects if one]
    return given[0] if len(given) == 1 else {"$and": given} if given else {}


def _object(text: str, option: str) -> dict[str, Any]:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            raise typer.BadParameter(f"{option}: an object has a key twice; put each into an object of $and.")
        return found

    def constant(name: str) -> Any:
        raise typer.BadParameter(f"{option}: {name} is no number.")

    try:
        found = json.loads(text, object_pairs_hook=pairs, parse_float=Decimal, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        where = f" (at character {error.pos + 1})" if isinstance(error, json.JSONDecodeError) else ""
        raise typer.BadParameter(
            f"{option} takes FIELD=VALUE or a JSON object; this begins as one and is none{where}."
        ) from None
    assert isinstance(found, dict)  # noqa: S101 - it begins with a brace
    return found
