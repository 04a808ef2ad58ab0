"""The parameters of a statement made of its binds, column by column; how is chosen once for many executions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oraclerag.local.engine.binds import BINARY_FORMAT, Converter, Reading, Value, converter, json_value
from oraclerag.local.engine.plan import BindParameter, Parameter
from oraclerag.local.interface import BindType


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameter values of ``count`` executions: ``columns[n][k]`` is ``$(n+1)`` of execution k."""

    oids: tuple[int, ...]
    formats: tuple[int, ...]
    columns: Sequence[Sequence[Value]]
    count: int = 1

    def row(self, place: int) -> list[Value]:
        """Give the values of one execution."""
        return [column[place] for column in self.columns]

    def first(self, count: int) -> Parameters:
        """Give those of the first ``count`` executions."""
        return Parameters(self.oids, self.formats, [column[:count] for column in self.columns], count)


@dataclass(frozen=True, slots=True)
class Converters:
    """How the values of a statement's binds become its parameters.

    ``steps``: the place of each parameter's bind and what converts its values, None for an embedding. ``reading`` is
    what they were chosen by.
    """

    oids: tuple[int, ...]
    formats: tuple[int, ...]
    steps: Sequence[tuple[int, Converter] | None]
    reading: Reading

    def encode(
        self, rows: Sequence[Sequence[Any]], embeddings: Sequence[Sequence[Value] | None] | None = None
    ) -> Parameters:
        """Convert bind rows; ``embeddings`` as in :func:`encode`, None where no parameter is one."""
        columns: list[Sequence[Value]] = []
        for number, step in enumerate(self.steps):
            if step is None:
                columns.append((embeddings[number] if embeddings is not None else None) or ())
                continue
            place, convert = step
            if convert is json_value:
                columns.append(_json_texts([row[place] for row in rows]))
            else:
                columns.append([None if (value := row[place]) is None else convert(value) for row in rows])
        return Parameters(self.oids, self.formats, columns, len(rows))


def converters(
    parameters: Sequence[Parameter],
    places: dict[str, int],
    types: Sequence[BindType],
    oids: tuple[int, ...],
    reading: Reading,
) -> Converters:
    """Choose the converters of a statement."""
    formats: list[int] = []
    steps: list[tuple[int, Converter] | None] = []
    for parameter, oid in zip(parameters, oids, strict=True):
        if not isinstance(parameter, BindParameter):
            formats.append(BINARY_FORMAT)
            steps.append(None)
            continue
        place = places[parameter.name]
        convert, form = converter(types[place].type, oid, reading)
        formats.append(form)
        steps.append((place, convert))
    return Converters(oids, tuple(formats), steps, reading)


def _json_texts(values: Sequence[Any]) -> list[Value]:
    """Serialize the JSON values of an array; one that is there several times, once."""
    known: dict[int, Value] = {}
    found: list[Value] = []
    for value in values:
        if value is None:
            found.append(None)
            continue
        text = known.get(id(value))
        if text is None:
            text = known[id(value)] = json_value(value)
        found.append(text)
    return found


def encode(
    parameters: Sequence[Parameter],
    places: dict[str, int],
    types: Sequence[BindType],
    oids: tuple[int, ...],
    rows: Sequence[Sequence[Any]],
    embeddings: Sequence[Sequence[Value] | None],
    reading: Reading,
) -> Parameters:
    """Convert bind rows for parameters whose types (``oids``) are known.

    ``embeddings`` has, for each parameter that is an embedding, its vectors by row, else None.
    """
    return converters(parameters, places, types, oids, reading).encode(rows, embeddings)
