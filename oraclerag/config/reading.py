"""Values as a file or a variable gives them → values of the type that a setting has."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oraclerag.errors import ConfigurationError

__all__ = ["KINDS", "convert", "find", "is_of", "kind", "read", "table", "template_text"]

KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false"}
"""What a type is called in a message; every other one is a text."""


def read(file: Path) -> dict[str, Any]:
    """Read a file of TOML. Raises ConfigurationError."""
    try:
        return tomllib.loads(_text_of(file))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{file} is not valid TOML: {error}.") from error


def _text_of(file: Path) -> str:
    """Read a text that is UTF-8. Raises ConfigurationError, which says where it is not."""
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file} is not UTF-8: byte {error.start} does not belong there.") from error
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from error


def template_text(template: str, folder: Path, place: str) -> str:
    """Give the text of a template, or of the file of one: a single line that ends with ``.j2`` or ``.jinja``.

    Raises ConfigurationError.
    """
    if not template.endswith((".j2", ".jinja")) or "\n" in template:
        return template
    path = folder / template
    if not path.is_file():
        raise ConfigurationError(f"{place}: there is no template file {str(path)!r}.")
    return _text_of(path)


def table(tree: Mapping[str, Any], name: str, file: Path) -> Mapping[str, Any]:
    """Give a table of a file; an empty one where it is not there. Raises ConfigurationError."""
    table = tree.get(name, {})
    if not isinstance(table, dict):
        raise ConfigurationError(f"{name} in {file} must be a table.")
    return table


def find(tree: Mapping[str, Any], path: str) -> Any:
    """Give what stands at a dotted place; None where nothing does."""
    node: Any = tree
    for part in path.split("."):
        if not isinstance(node, dict):
            return None
        node = node.get(part)
    return node


def convert(item: dataclasses.Field[Any], raw: Any, place: str) -> Any:
    """Bring a raw value (text from the environment, or TOML) to the type of its setting."""
    wanted = str(item.type)
    if wanted.startswith("int"):
        if isinstance(raw, int) and not isinstance(raw, bool):
            return raw
        if isinstance(raw, str) and re.fullmatch(r"\s*[+-]?\d+\s*", raw):
            return int(raw)
        raise ConfigurationError(f"{place} must be a whole number, not {raw!r}.")
    if wanted.startswith("float"):
        with contextlib.suppress(TypeError, ValueError):
            if not isinstance(raw, bool):
                return float(raw)
        raise ConfigurationError(f"{place} must be a number, not {raw!r}.")
    if wanted.startswith("bool"):
        if isinstance(raw, bool):
            return raw
        if isinstance(raw, str) and raw.strip().lower() in ("true", "1", "yes", "on"):
            return True
        if isinstance(raw, str) and raw.strip().lower() in ("false", "0", "no", "off"):
            return False
        raise ConfigurationError(f"{place} must be true or false, not {raw!r}.")
    if not isinstance(raw, str):
        raise ConfigurationError(f"{place} must be a text.")
    return raw


def kind(annotation: str) -> str:
    """Say in words what the type of a setting is."""
    return KINDS.get(annotation.removesuffix(" | None"), "a text")


def is_of(value: object, annotation: str) -> bool:
    """Whether a value has the type of its setting; a keyword may be anything."""
    if annotation == "bool" or isinstance(value, bool):
        return annotation == "bool" and isinstance(value, bool)
    if value is None:
        return annotation.endswith("None")
    kind = annotation.removesuffix(" | None")
    if kind in KINDS:
        return isinstance(value, int if kind == "int" else (int, float))
    return isinstance(value, str)
