"""What a chunk of a report says as metadata: what its units say, and the error codes of its text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from oraclerag import error_codes
from oraclerag.chunk.diagnostics import erp
from oraclerag.chunk.diagnostics.pack.pieces import Piece
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["facts"]

_VALUES = 16  # different values of one name
_VALUE = 256  # characters of one


def facts(pieces: Iterable[Piece]) -> dict[str, Any]:
    """Give the metadata of pieces: a value where all agree, else a list of at most 16, in their order.

    ``oracle_error_code`` of a unit is what its family reads out of other spellings (``err=942``); those that stand in
    the text are found here. ``erp_module`` is that of an APP- code where no unit names one. ``continued``: a unit was
    too large for one chunk, and this has a part of it.
    """
    found: dict[str, list[Any]] = {}
    codes: list[str] = []
    last: Unit | None = None
    continued = False
    for piece in pieces:
        continued = continued or piece.continued
        if piece.unit is not last:
            last = piece.unit
            for name, value in last.metadata.items():
                said = value if isinstance(value, list | tuple) else (value,)
                if name == "oracle_error_code":
                    codes += said
                else:
                    _gather(found.setdefault(name, []), said)
        if piece.unit.codes:
            codes += [code.code for code in error_codes.find(piece.text)]
    given: dict[str, Any] = {name: values if len(values) > 1 else values[0] for name, values in found.items() if values}
    if "erp_module" not in given and (module := _module(codes)) is not None:
        given["erp_module"] = module
    if continued:
        given["continued"] = True
    return {**error_codes.marked(codes), **given}


def _gather(values: list[Any], said: Iterable[Any]) -> None:
    for value in said:
        short = value[:_VALUE] if isinstance(value, str) else value
        if short is not None and short not in values and len(values) < _VALUES:
            values.append(short)


def _module(codes: list[str]) -> str | None:
    """Give the module of the first message of E-Business Suite that is not of its own foundation."""
    modules = (erp.by_code(code) for code in codes if code.startswith("APP-"))
    return next((module for module in modules if module not in (None, "FND")), None)
