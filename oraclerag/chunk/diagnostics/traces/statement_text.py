"""The text of a statement in a trace, which is as long as its record says: it may look like records itself."""

from __future__ import annotations

from dataclasses import dataclass

from oraclerag.chunk.diagnostics.lines import Line

__all__ = ["AHEAD", "StatementText"]

AHEAD = 256_000
"""Characters of a statement that are read before its end mark is believed, whatever its length."""

_LINES = 20_000  # of a statement that are held, however short they are


@dataclass(slots=True)
class StatementText:
    """A statement whose text is being read: the lines so far, and how long they are, counted in four ways.

    ``length`` is in bytes of the database's character set, which the file's need not be, and a copy may have other line
    ends. ``gap`` and ``record`` are what stands before the text.
    """

    gap: list[Line]
    record: Line
    length: int
    lines: list[Line]
    characters: int = -1
    octets: int = -1
    returns: int = 0

    def add(self, line: Line) -> None:
        """Take the next line."""
        text = line.text
        self.lines.append(line)
        self.characters += len(text) + 1
        # A byte that was no character stands as U+FFFD: one byte, not three.
        self.octets += len(text.encode("utf-8", "replace")) - 2 * text.count("\ufffd") + 1
        self.returns += line.raw.endswith("\r\n")

    @property
    def exact(self) -> bool:
        """Whether the lines so far are the whole statement."""
        octets, characters = self.octets, self.characters
        return self.length in (octets, characters, octets + self.returns, characters + self.returns)

    @property
    def beyond(self) -> bool:
        """Whether the lines so far are more than the statement has, or than may be held."""
        held = self.characters > AHEAD or len(self.lines) > _LINES
        return held or min(self.octets, self.characters) > self.length
