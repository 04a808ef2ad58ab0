"""One side of a comparison: a configuration file, or what is searched otherwise: ``"hybrid=true weights=1,0.5"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from oraclerag.errors import InputError
from oraclerag.search import SearchOptions

__all__ = ["Variant", "variant"]

AS_IS = "-"


@dataclass(frozen=True, slots=True)
class Variant:
    """A side: its ``name``, the ``file`` of its configuration if it has one of its own, and options of its searches."""

    name: str
    file: Path | None = None
    options: SearchOptions = field(default_factory=SearchOptions)


def variant(text: str) -> Variant:
    """Read a side: ``-`` (as it is), the path of a configuration (``.toml``), or ``key=value`` with blanks between.

    Raises InputError.
    """
    if text.strip() == AS_IS:
        return Variant(AS_IS)
    if text.endswith(".toml"):
        if not Path(text).is_file():
            raise InputError(f"There is no configuration file {text!r}.")
        return Variant(text, Path(text))
    options: dict[str, Any] = {}
    for part in text.split():
        key, equals, value = part.partition("=")
        if not equals or key not in _KINDS:
            raise InputError(
                f"{part!r} is nothing that can be compared.",
                hint=f"A side is -, a configuration (.toml), or key=value of {', '.join(_KINDS)}.",
            )
        if key in options:
            raise InputError(f"{key} stands twice in {text!r}.")
        options[key] = _KINDS[key](key, value)
    if not options:
        raise InputError("A side of a comparison is empty; what is searched as it is, is written -.")
    return Variant(" ".join(text.split()), options=cast("SearchOptions", options))


def _whole(key: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or len(value) > 9:
        raise InputError(f"{key} must be a whole number, not {value!r}.")
    return int(value)


def _number(key: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{key} must be a number, not {value!r}.") from None


def _flag(key: str, value: str) -> bool:
    if value not in ("true", "false"):
        raise InputError(f"{key} must be true or false, not {value!r}.")
    return value == "true"


def _pair(key: str, value: str) -> tuple[float, float]:
    first, comma, second = value.partition(",")
    if not comma:
        raise InputError(f"{key} must be two numbers with a comma between, such as 1,0.5, not {value!r}.")
    return _number(key, first), _number(key, second)


def _text(_: str, value: str) -> str:
    return value


_KINDS: Mapping[str, Callable[[str, str], Any]] = MappingProxyType(
    {
        "k": _whole,
        "mode": _text,
        "accuracy": _whole,
        "hybrid": _flag,
        "weights": _pair,
        "candidates": _whole,
        "min_score": _number,
        "diversity": _number,
        "rerank": _whole,
        "order": _text,
        "codes": _flag,
        "fallback": _flag,
    }
)
