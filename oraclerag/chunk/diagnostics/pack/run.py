"""The pieces of one chunk to be, and the head that is repeated before them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics.pack.pieces import Key, Piece, Window

__all__ = ["Run", "path"]

_MOST_SECTIONS = 64  # of one chunk


class Run:
    """Consecutive pieces, measured together with their head.

    The head is the path of the section and the head of its units, without what the pieces themselves say; of several
    sections the path that they have in common, and the rest of each.
    """

    def __init__(self, window: Window, pieces: Iterable[Piece] = ()) -> None:
        self._window = window
        self.pieces: list[Piece] = []
        self._tokens = self._size = 0
        self._keys: dict[Key, None] = {}
        self._said: set[str] = set()
        self._head: tuple[str, int, int] = ("", 0, 0)
        for piece in pieces:
            self.add(piece)

    def add(self, piece: Piece) -> None:
        """Take a piece, whether it fits or not."""
        if self._changes_head(piece):
            self._head = self._measured({**self._keys, piece.key: None}, self._said | _says(piece))
            self._keys[piece.key] = None
            self._said |= _says(piece)
        self.pieces.append(piece)
        self._tokens += piece.tokens
        self._size += piece.size

    def takes(self, piece: Piece) -> bool:
        """Whether a piece fits in."""
        _, tokens, size = self._head
        if self._changes_head(piece):
            _, tokens, size = self._measured({**self._keys, piece.key: None}, self._said | _says(piece))
            grows = tokens > self._head[1] or size > self._head[2]
            if self._keys and grows and (tokens > self._window.head_tokens or size > self._window.head_size):
                return False
            if piece.key not in self._keys and len(self._keys) >= _MOST_SECTIONS:
                return False
        tokens += self._tokens + piece.tokens
        size += self._size + piece.size
        return tokens <= self._window.tokens and size <= self._window.size

    @property
    def head(self) -> str:
        """What is repeated before the pieces; ends with a line end where there is any."""
        return self._head[0]

    @property
    def room(self) -> int:
        """The tokens that are still free."""
        return self._window.tokens - self._tokens - self._head[1]

    @property
    def sections(self) -> list[tuple[str, ...]]:
        """The sections of the pieces, in order, each once."""
        return list(dict.fromkeys(section for section, _ in self._keys))

    def _changes_head(self, piece: Piece) -> bool:
        return piece.key not in self._keys or not _says(piece) <= self._said

    def _measured(self, keys: dict[Key, None], said: set[str]) -> tuple[str, int, int]:
        """Give a head, its tokens and its bytes."""
        lines = []
        tokens = size = 0
        for text, share in _head_lines(list(keys), said):
            room, size_room = self._window.head_tokens, self._window.head_size
            if len(keys) == 1:  # what the path leaves is for the head
                room, size_room = room - tokens, size_room - size
            line = self._window.head_line(text, room // share, size_room // share)
            if line:
                lines.append(f"{line}\n")
                line_tokens, line_size = self._window.line_cost(lines[-1])
                tokens, size = tokens + line_tokens, size + line_size
        return "".join(lines), tokens, size


def _says(piece: Piece) -> set[str]:
    """Give what of its head a piece has in its own text."""
    unit = piece.unit
    lines = {line for line in (unit.head, *unit.section) if line and line in piece.text}
    return lines | {unit.head} if unit.says_head and piece.whole else lines


def _head_lines(keys: list[Key], said: set[str]) -> Iterator[tuple[str, int]]:
    """Give the lines of a head, each with the part of the room that it may have: a half or all of it."""
    sections = list(dict.fromkeys(section for section, _ in keys))
    common = _common(sections)
    if common and not (len(common) == 1 and common[0] in said):
        heads = len(keys) > 1 or (keys[0][1] and keys[0][1] not in said)
        yield " > ".join(common), 2 if heads else 1
    given: set[str] = set()
    for section, head in keys:
        rest = " > ".join(section[len(common) :])
        for line, own in ((rest, section[-1] if section else ""), (head, head)):
            if line and own not in said and line not in given:
                given.add(line)
                yield line, 1 if len(keys) == 1 else 2


def _common(sections: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Give the path that sections have in common."""
    if not sections:
        return ()
    first, last = min(sections), max(sections)
    at = 0
    while at < min(len(first), len(last)) and first[at] == last[at]:
        at += 1
    return first[:at]


def path(sections: list[tuple[str, ...]]) -> str:
    """Give the path of one section, or of the first to the last of several, as one text."""
    common = _common(sections)
    found = " > ".join(common)
    if len(sections) > 1:
        ends = (" > ".join(section[len(common) :]) for section in (sections[0], sections[-1]))
        rest = " … ".join(filter(None, dict.fromkeys(ends)))
        found = f"{found} > {rest}" if found and rest else found or rest
    return " ".join(found.split())
