"""How the texts of a source are to be cut: which chunker, how long a chunk may be, how much of it the next one repeats.

What a model can read is not known here: :meth:`oraclerag.chunk.Limits.for_cutting` holds a cutting against it. What
stands behind a text in VECTOR_CHUNKS is checked by :mod:`clause`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from oraclerag.cutting.clause import ChunkClause, chunk_clause
from oraclerag.errors import ConfigurationError

__all__ = ["CHUNKER_NAMES", "PRESETS", "Cutting"]

CHUNKER_NAMES = ("whole", "passages", "diagnostics", "database")
"""The chunkers by the names that settings and ``--as`` give."""

PRESETS = MappingProxyType({"article": (500, 50), "note": (300, 30), "faq": (800, 80), "fit": (None, None)})
"""Size and overlap in tokens by name; ``fit`` is what the model reads."""

# The least that a chunk may be made to hold: a shortened head and a word.
_SMALLEST = 16


@dataclass(frozen=True, slots=True)
class Cutting:
    """One way to cut texts.

    ``size`` and ``overlap`` are in tokens of the model, special tokens and repeated heads included; None leaves them to
    the preset and that to the model's limit and the chunker. ``whole`` repeats its head and overlaps nothing. With
    ``allow_truncation`` a chunk may be longer than the model reads: its end is stored and shown, but not searched for.
    The chunker ``database`` is VECTOR_CHUNKS: ``vector_chunks`` is its clause
    (:func:`~oraclerag.cutting.clause.chunk_clause`), in which sizes are in characters or words. Raises
    ConfigurationError for values that cannot be.
    """

    chunker: str = "whole"
    preset: str | None = None
    size: int | None = None
    overlap: int | None = None
    allow_truncation: bool = False
    vector_chunks: str | None = None

    def __post_init__(self) -> None:
        if self.chunker not in CHUNKER_NAMES:
            known = ", ".join(f'"{name}"' for name in CHUNKER_NAMES)
            raise ConfigurationError(f"chunker must be one of {known}, not {self.chunker!r}.")
        if self.preset is not None and self.preset not in PRESETS:
            known = ", ".join(f'"{name}"' for name in PRESETS)
            raise ConfigurationError(f"preset must be one of {known}, not {self.preset!r}.")
        if self.preset is not None and self.chunker != "passages":
            raise ConfigurationError(f'preset belongs to chunker = "passages"; "{self.chunker}" has none.')
        if self.chunker == "database":
            if self.size is not None or self.overlap is not None:
                raise ConfigurationError(
                    'chunker = "database" has its sizes in vector_chunks: MAX and OVERLAP, in characters or words.'
                )
            object.__setattr__(self, "vector_chunks", chunk_clause(self.vector_chunks or "").sql)
        elif self.vector_chunks is not None:
            raise ConfigurationError(f'vector_chunks belongs to chunker = "database"; "{self.chunker}" has none.')
        if self.chunker == "whole" and self.overlap:
            raise ConfigurationError('chunker = "whole" repeats its head and has no overlap.')
        if self.size is not None and self.size < _SMALLEST:
            raise ConfigurationError(f"chunk_size_tokens is {self.size}, but must be at least {_SMALLEST}.")
        if self.overlap is not None and self.overlap < 0:
            raise ConfigurationError(f"chunk_overlap_tokens is {self.overlap}, but must not be negative.")
        size = self.tokens
        if size is not None and self.overlapping(size) >= size:
            raise ConfigurationError(
                f"chunk_overlap_tokens is {self.overlapping(size)} and chunk_size_tokens is {size}: "
                f"the overlap must be smaller than the size."
            )

    @property
    def clause(self) -> ChunkClause | None:
        """How the database is to cut; None where it is not to."""
        return None if self.vector_chunks is None else chunk_clause(self.vector_chunks)

    @property
    def tokens(self) -> int | None:
        """The size asked for; None: what the model reads."""
        return self.size if self.size is not None else PRESETS[self.preset or "fit"][0]

    def overlapping(self, size: int) -> int:
        """Give the overlap in tokens of chunks of ``size``: as set, else the preset's, else a tenth (whole: none)."""
        if self.chunker in ("whole", "database"):
            return 0
        if self.overlap is not None:
            return self.overlap
        by_preset = PRESETS[self.preset or "fit"][1]
        if by_preset is not None and self.size is None:
            return by_preset
        return size * 15 // 100 if self.chunker == "diagnostics" else size // 10
