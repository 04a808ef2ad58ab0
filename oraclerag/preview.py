"""What a text would become: its chunks, each with its exact size, without storing anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from oraclerag.chunk import Limits, chunks, storable
from oraclerag.cutting import Cutting
from oraclerag.model.window import Reads
from oraclerag.records import Chunk, Piece

__all__ = ["Measured", "Preview", "guessed", "preview"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A chunk and how long what is embedded of it is: in tokens with prefix and special ones, and in bytes of UTF-8."""

    chunk: Chunk
    tokens: int
    size: int


@dataclass(frozen=True, slots=True)
class Preview:
    """A text as it would be cut.

    ``family`` is the kind of diagnostic report that was recognised, None for other chunkers; ``experimental``: no real
    sample of it was at hand when its chunker was written. ``model`` counted, reads ``max_tokens``, and ``exact`` says
    whether its vocabulary is known; without it the counts are upper bounds.
    """

    text: str = field(repr=False)
    chunks: tuple[Measured, ...]
    cutting: Cutting
    model: str
    max_tokens: int
    exact: bool
    family: str | None = None
    experimental: bool = False


def guessed(text: str) -> str:
    """Give the chunker that a text asks for: diagnostics where a family of reports is recognised, else passages."""
    from oraclerag.chunk.diagnostics.families import GENERIC, recognised

    return "passages" if recognised(text)[0] is GENERIC else "diagnostics"


def preview(
    text: str, model: Reads, cutting: Cutting, *, title: str | None = None, pieces: Sequence[Piece] | None = None
) -> Preview:
    """Cut a text for a model and measure every chunk; ``pieces`` are given where VECTOR_CHUNKS has cut it.

    Raises ConfigurationError for a size that the model cannot read.
    """
    text = storable(text)
    limits = Limits.of(model)
    measured = tuple(
        Measured(chunk, limits.count(limits.prefix + chunk.content), len((limits.prefix + chunk.content).encode()))
        for chunk in chunks(text, limits, cutting, title=title, pieces=pieces)
    )
    family, experimental = None, False
    if cutting.chunker == "diagnostics":
        from oraclerag.chunk.diagnostics.families import recognised

        found = recognised(text)[0]
        family, experimental = found.name, found.experimental
    return Preview(text, measured, cutting, model.name, model.max_tokens, model.counter.exact, family, experimental)
