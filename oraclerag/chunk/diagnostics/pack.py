"""Units become chunks: as many as the window holds, never parted where they fit, each chunk with what it belongs to.

The arithmetic: WordPiece takes every dash for a token, so rules are shortened to three characters; a head of section
path and statement costs 20 to 60 tokens, so it takes a third of the window at most; and a section that is itself
smaller than that third would be more head than text, so it shares a chunk with its neighbours of the same parent.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from oraclerag import error_codes
from oraclerag.chunk.diagnostics.pieces import Key, Piece, Window
from oraclerag.chunk.diagnostics.shorten import shortened
from oraclerag.chunk.diagnostics.unit import Unit
from oraclerag.errors import ConfigurationError
from oraclerag.records import Chunk

if TYPE_CHECKING:
    from oraclerag.chunk import Limits
    from oraclerag.cutting import Cutting

__all__ = ["SIZE", "chunks", "shortened"]

SIZE = 500
"""Tokens of a chunk where nothing else is asked for and the model reads more."""

_VALUES = 16  # different values of one name in the metadata of a chunk
_VALUE = 256  # characters of one
_SECTION_BYTES = 1000  # of RAG_CHUNK.SECTION
_SECTIONS = 4096  # whose first chunks are remembered: a cursor comes back after its recursive statements


def chunks(
    units: Iterable[Unit],
    limits: Limits,
    cutting: Cutting,
    title: str | None = None,  # noqa: ARG001 - as all chunkers; the name of a file says nothing that is searched for
    *,
    metadata: Mapping[str, Any] | None = None,
) -> Iterator[Chunk]:
    """Pack the units of a report, which are contiguous, into chunks as they come.

    ``metadata`` is what every chunk has. Held are the units of one chunk, the one that comes next, and what is
    repeated of the last. Raises ConfigurationError where the overlap asked for is no less than the size.
    """
    if cutting.tokens is None:
        limits = dataclasses.replace(limits, tokens=min(SIZE, limits.tokens))
    overlap = cutting.overlapping(limits.tokens)
    if overlap >= limits.tokens:
        raise ConfigurationError(
            f"chunk_overlap_tokens is {overlap} and a chunk has {limits.tokens} tokens: "
            f"the overlap must be smaller than the size."
        )
    packer = _Packer(Window(limits), overlap, metadata or {})
    for unit in units:
        if unit.text:
            yield from packer.add(packer.window.piece(unit))
    yield from packer.end()


class _Run:
    """The pieces of one chunk to be, and what they take together with their head."""

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
        """Take a piece."""
        if self._changes_head(piece):
            self._head = self._measured({**self._keys, piece.key: None}, self._said | self._says(piece))
            self._keys[piece.key] = None
            self._said |= self._says(piece)
        self.pieces.append(piece)
        self._tokens += piece.tokens
        self._size += piece.size

    def takes(self, piece: Piece) -> bool:
        """Whether a piece fits in."""
        _, tokens, size = self._head
        if self._changes_head(piece):
            _, tokens, size = self._measured({**self._keys, piece.key: None}, self._said | self._says(piece))
            if self._keys and tokens > self._window.head_tokens and tokens > self._head[1]:
                return False
        tokens += self._tokens + piece.tokens
        size += self._size + piece.size
        return tokens <= self._window.tokens and size <= self._window.size

    @property
    def head(self) -> str:
        """What is repeated before the pieces."""
        return self._head[0]

    @property
    def tokens(self) -> int:
        """What the pieces take without their head."""
        return self._tokens

    @property
    def sections(self) -> list[tuple[str, ...]]:
        """The sections of the pieces, in order, each once."""
        return list(dict.fromkeys(section for section, _ in self._keys))

    def _changes_head(self, piece: Piece) -> bool:
        return piece.key not in self._keys or not self._says(piece) <= self._said

    def _says(self, piece: Piece) -> set[str]:
        """Give what of its head a piece has in its own text."""
        lines = {line for line in (piece.unit.head, *piece.unit.section) if line and line in piece.text}
        return lines | {piece.unit.head} if piece.unit.says_head and not piece.continued else lines

    def _measured(self, keys: dict[Key, None], said: set[str]) -> tuple[str, int, int]:
        lines = list(_head_lines(self._window, keys, said))
        tokens = size = 0
        for line in lines:
            line_tokens, line_size = self._window.line_cost(f"{line}\n")
            tokens, size = tokens + line_tokens, size + line_size
        return "".join(f"{line}\n" for line in lines), tokens, size


def _head_lines(window: Window, keys: Iterable[Key], said: set[str]) -> Iterator[str]:
    """Give the lines of a head: the path of the section, what it is about; not what the text itself says."""
    keys = list(keys)
    sections = list(dict.fromkeys(section for section, _ in keys))
    common = _common(sections)
    if not (common and len(common) == 1 and common[0] in said):
        path = window.head_line(" > ".join(common), 2)
        if path:
            yield path
    given: set[str] = set()
    for section, head in keys:
        tail = " > ".join(section[len(common) :])
        for line, own in ((tail, section[-1] if section else ""), (head, head)):
            if line and own not in said and line not in given:
                given.add(line)
                yield window.head_line(line, 2)


def _common(sections: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Give the path that sections have in common."""
    if not sections:
        return ()
    first, last = min(sections), max(sections)
    at = 0
    while at < min(len(first), len(last)) and first[at] == last[at]:
        at += 1
    return first[:at]


class _Packer:
    """Holds what has come and gives chunks when they are full, or their sections end."""

    def __init__(self, window: Window, overlap: int, metadata: Mapping[str, Any]) -> None:
        self.window = window
        self._overlap = overlap
        self._metadata = metadata
        self._number = 0
        self._first: OrderedDict[tuple[str, ...], int] = OrderedDict()
        self._run = _Run(window)
        self._open = 0  # where in the run its last section begins; what is before it are small sections, whole
        self._begun = False  # the last section has given chunks already

    def add(self, piece: Piece) -> Iterator[Chunk]:
        """Take a piece; give the chunks that are full by it."""
        held = self._run.pieces
        if held and held[-1].unit.section != piece.unit.section:
            yield from self._section_ended(piece.unit.section)
        if self._run.takes(piece):
            self._run.add(piece)
            return
        if self._open:
            yield from self._give(self._run.pieces[: self._open])
            self._run, self._open = _Run(self.window, self._run.pieces[self._open :]), 0
            if self._run.takes(piece):
                self._run.add(piece)
                return
        if self._run.pieces:
            given = self._run.pieces
            yield from self._give(given)
            self._begun = True
            self._run = self._repeated(given, piece)
            if self._run.takes(piece):
                self._run.add(piece)
                return
            self._run = _Run(self.window)
        if self._run.takes(piece):
            self._run.add(piece)
            return
        *parts, last = self.window.parts(piece, _Run(self.window, [piece]).head)
        for part in parts:
            yield from self._give([part])
        self._begun = True
        self._run = _Run(self.window, [last])

    def end(self) -> Iterator[Chunk]:
        """Give what is left."""
        if self._run.pieces:
            yield from self._section_ended(None)

    def _section_ended(self, following: tuple[str, ...] | None) -> Iterator[Chunk]:
        """Give what is held, unless the section is small and the one that follows has the same parent."""
        pieces = self._run.pieces
        section = pieces[-1].unit.section
        mine = pieces[self._open :]
        small = not self._begun and sum(piece.tokens for piece in mine) < self.window.head_tokens
        if self._open and not small:
            yield from self._give(pieces[: self._open])
            yield from self._give(mine)
            pieces = []
        elif not (small and following is not None and following[:-1] in (section[:-1], section)):
            yield from self._give(pieces)
            pieces = []
        if not pieces:
            self._run = _Run(self.window)
        self._open, self._begun = len(pieces), False

    def _repeated(self, given: list[Piece], piece: Piece) -> _Run:
        """Give the run that begins with the last lines of the chunk before, as far as the next piece fits behind."""
        room = self._overlap
        taken: list[Piece] = []
        for last in reversed(given[1:]):
            if last.tokens > room or last.within or not last.raw.endswith("\n"):
                break
            taken.insert(0, last)
            room -= last.tokens
        if not taken and given[-1].unit.section == piece.unit.section:
            last = given[-1]
            whole = not last.continued and last.unit.codes and error_codes.metadata(last.text)
            if not whole and (tail := self.window.tail(last, room)) is not None:
                taken = [tail]
        while taken and not "".join(part.text for part in taken).strip():
            taken = []
        run = _Run(self.window, taken)
        while taken and not run.takes(piece):
            taken = taken[1:]
            run = _Run(self.window, taken)
        return run

    def _give(self, pieces: list[Piece]) -> Iterator[Chunk]:
        """Make a chunk of pieces; several where the sum of their tokens was less than the whole has."""
        while pieces:
            count = self._fitting(pieces)
            if count:
                yield from self._chunk(_Run(self.window, pieces[:count]))
                pieces = pieces[count:]
            else:
                head = _Run(self.window, pieces[:1]).head
                pieces = [*self.window.parts(pieces[0], head), *pieces[1:]]

    def _fitting(self, pieces: list[Piece]) -> int:
        """Give how many of the pieces fit into one chunk: nearly always all."""
        if self._fits(pieces):
            return len(pieces)
        low, high = 0, len(pieces)
        while low + 1 < high:
            middle = (low + high) // 2
            if self._fits(pieces[:middle]):
                low = middle
            else:
                high = middle
        return low

    def _fits(self, pieces: list[Piece]) -> bool:
        return self.window.limits.fits(_Run(self.window, pieces).head + _text(pieces))

    def _chunk(self, run: _Run) -> Iterator[Chunk]:
        text = _text(run.pieces)
        if not text.strip():
            return
        sections = run.sections
        path, parent = _path(sections), None
        if len(sections) == 1 and sections[0] in self._first:
            parent = self._first[sections[0]]
        for section in sections:
            self._first.setdefault(section, self._number)
            self._first.move_to_end(section)
        while len(self._first) > _SECTIONS:
            self._first.popitem(last=False)
        yield Chunk(
            self._number,
            text,
            run.pieces[0].start,
            run.pieces[-1].end,
            section=path,
            head=run.head,
            parent=parent,
            metadata={**_metadata(run.pieces), **self._metadata},
        )
        self._number += 1


def _text(pieces: list[Piece]) -> str:
    return shortened("".join(piece.raw for piece in pieces))


def _path(sections: list[tuple[str, ...]]) -> str | None:
    """Give the path of one section, or of the first to the last of several."""
    common = _common(sections)
    path = " > ".join(common)
    if len(sections) > 1:
        first, last = (" > ".join(section[len(common) :]) for section in (sections[0], sections[-1]))
        ends = " … ".join(filter(None, dict.fromkeys((first, last))))
        path = f"{path} > {ends}" if path else ends
    path = " ".join(path.split())
    return path.encode()[:_SECTION_BYTES].decode(errors="ignore") or None


def _metadata(pieces: list[Piece]) -> dict[str, Any]:
    """Give what the units of a chunk say, values that differ as a list, and the error codes of its text."""
    found: dict[str, list[Any]] = {}
    codes: list[str] = []
    last: Unit | None = None
    for piece in pieces:
        if piece.unit is not last:
            last = piece.unit
            for name, value in last.metadata.items():
                said = value if isinstance(value, list | tuple) else (value,)
                if name == "oracle_error_code":  # what a family reads out of `err=942`
                    codes += said
                else:
                    _gather(found.setdefault(name, []), said)
        if piece.unit.codes:
            codes += [code.code for code in error_codes.find(piece.text)]
    given: dict[str, Any] = {name: values if len(values) > 1 else values[0] for name, values in found.items() if values}
    if any(piece.continued for piece in pieces):
        given["continued"] = True
    return {**error_codes.marked(codes), **given}


def _gather(values: list[Any], said: Iterable[Any]) -> None:
    for value in said:
        short = value[:_VALUE] if isinstance(value, str) else value
        if short is not None and short not in values and len(values) < _VALUES:
            values.append(short)
