"""Documents become chunks: what is embedded, within what the model reads and what the column holds.

Pure text work; nothing here knows a database. What counts the tokens is handed in with the limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oraclerag.errors import ConfigurationError
from oraclerag.records import Chunk

if TYPE_CHECKING:
    from oraclerag.model.active import ActiveModel

__all__ = ["CHUNKERS", "CONTENT_BYTES", "Limits", "storable"]

CONTENT_BYTES = 4000
"""What a chunk may take in UTF-8: RAG_CHUNK.CONTENT holds as much whatever MAX_STRING_SIZE is."""

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
    def of(cls, model: ActiveModel) -> Limits:
        """Give the limits that a model sets."""
        return cls(model.max_tokens, model.counter.count, model.passage_prefix)

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


def _whole(text: str, limits: Limits) -> list[Chunk]:
    from oraclerag.chunk.whole import chunks

    return chunks(text, limits)


CHUNKERS: dict[str, Callable[[str, Limits], list[Chunk]]] = {"whole": _whole}
"""The chunkers by the name that a source's settings give."""
