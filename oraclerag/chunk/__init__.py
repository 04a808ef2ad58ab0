"""Documents become chunks: what is embedded, within what the model reads and what the column holds.

Pure text work; nothing here knows a database. What counts the tokens is handed in with the limits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oraclerag import error_codes
from oraclerag.cutting import Cutting
from oraclerag.errors import ConfigurationError
from oraclerag.records import Chunk, Piece

if TYPE_CHECKING:
    from oraclerag.model.window import Reads

__all__ = ["CONTENT_BYTES", "Limits", "chunks", "storable"]

CONTENT_BYTES = 4000
"""What a chunk may take in UTF-8: RAG_CHUNK.CONTENT holds as much whatever MAX_STRING_SIZE is."""

_NO_LIMIT = 1_000_000  # tokens; more than 4,000 bytes can be

# Tokens, or bytes, that a text needs at least: a shortened head and one character that takes several.
_ROOM = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a chunk may be.

    ``tokens`` is what the model reads, special tokens included, and ``count`` counts them so; ``size`` is in bytes of
    UTF-8. ``prefix`` is what is put before every passage when it is embedded: it takes its part of both. Raises
    ConfigurationError where a model and its prefix leave no room for a text.
    """

    tokens: int
    count: Callable[[str], int] = field(repr=False)
    prefix: str = ""
    size: int = CONTENT_BYTES
    _room: int = field(default=_ROOM, repr=False)

    def __post_init__(self) -> None:
        if self.tokens < self.count(self.prefix) + self._room or self.size < len(self.prefix.encode()) + self._room:
            raise ConfigurationError(
                f"The model reads {self.tokens} tokens and its passage prefix takes {self.count(self.prefix)} of them: "
                f"no room is left for a text.",
                hint="Load a model with a longer limit, or with a shorter prefix.",
            )

    @classmethod
    def of(cls, model: Reads) -> Limits:
        """Give the limits that a model sets."""
        return cls(model.max_tokens, model.counter.count, model.passage_prefix)

    def for_cutting(self, cutting: Cutting) -> Limits:
        """Give the limits of chunks that are to be cut so.

        Raises ConfigurationError where the size asked for is more than the model reads, and nobody insists.
        """
        wanted = cutting.tokens
        if wanted is None:
            return dataclasses.replace(self, tokens=_NO_LIMIT) if cutting.allow_truncation else self
        if wanted > self.tokens and not cutting.allow_truncation:
            raise ConfigurationError(
                f"chunk_size_tokens is {wanted}, but the model reads {self.tokens} tokens: what is behind them would "
                f"not be found.",
                hint='Take a smaller size, preset = "fit", or a model that reads more; allow_truncation insists.',
            )
        least = self.count(self.prefix) + _ROOM
        if wanted < least:
            raise ConfigurationError(
                f"chunk_size_tokens is {wanted}, but must be at least {least}: the model's special tokens and passage "
                f"prefix take {least - _ROOM} of them."
            )
        return dataclasses.replace(self, tokens=wanted)

    def part(self, divisor: int) -> Limits:
        """Give the limits of a part of a chunk, never less than any text needs."""
        tokens = max(self.tokens // divisor, self.count(self.prefix) + _ROOM // 2)
        size = max(self.size // divisor, len(self.prefix.encode()) + _ROOM // 2)
        return Limits(tokens, self.count, self.prefix, size, _room=_ROOM // 2)

    def fits(self, text: str) -> bool:
        """Whether a chunk may have this text."""
        text = self.prefix + text
        return len(text.encode()) <= self.size and self.count(text) <= self.tokens


def storable(text: str) -> str:
    """Replace what no database column holds, lone surrogates and NUL, by U+FFFD; lengths stay as they are."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


_Chunker = Callable[[str, Limits, Cutting, str | None], Iterator[Chunk]]


def chunks(
    text: str,
    limits: Limits,
    cutting: Cutting | None = None,
    *,
    title: str | None = None,
    pieces: Sequence[Piece] | None = None,
) -> Iterator[Chunk]:
    """Cut the text of a document; nothing where it has nothing but blanks.

    ``limits`` are those of the model, ``cutting`` says how (default: whole), ``title`` is the document's,
    ``pieces`` what VECTOR_CHUNKS gave where the database cuts. The chunks are numbered from 0, their spans follow each
    other and cover the text; only blanks may lie between them. Error codes that a chunk names are its metadata. Raises
    ConfigurationError where the model cannot read chunks so long, EntityError for pieces that are not the text's.
    """
    cutting = cutting if cutting is not None else Cutting()
    text, limits = storable(text), limits.for_cutting(cutting)
    if cutting.chunker == "database":
        if pieces is None:
            raise ConfigurationError("VECTOR_CHUNKS cuts texts where they are read, in the database.")
        from oraclerag.chunk import database

        return database.chunks(text, limits, cutting, pieces)  # a piece may begin in the middle of a code
    found = _chunker(cutting.chunker)(text, limits, cutting, title)
    if cutting.chunker == "diagnostics":  # knows better which part of a report speaks of errors
        return found
    return (_with_codes(chunk) for chunk in found)


def _chunker(name: str) -> _Chunker:
    if name == "passages":
        from oraclerag.chunk import passages

        return passages.chunks
    if name == "diagnostics":
        from oraclerag.chunk import diagnostics

        return diagnostics.chunks
    from oraclerag.chunk import whole

    return whole.chunks


def _with_codes(chunk: Chunk) -> Chunk:
    metadata = error_codes.metadata(chunk.text)
    return dataclasses.replace(chunk, metadata={**metadata, **chunk.metadata}) if metadata else chunk
