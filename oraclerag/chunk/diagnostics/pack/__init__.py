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
from oraclerag.chunk.diagnostics.pack.facts import facts
from oraclerag.chunk.diagnostics.pack.pieces import Piece, Window
from oraclerag.chunk.diagnostics.pack.run import Run, path
from oraclerag.chunk.diagnostics.pack.shorten import shortened
from oraclerag.chunk.diagnostics.unit import Unit
from oraclerag.errors import ConfigurationError
from oraclerag.records import Chunk

if TYPE_CHECKING:
    from oraclerag.chunk import Limits
    from oraclerag.cutting import Cutting

__all__ = ["SIZE", "chunks", "shortened"]

SIZE = 500
"""Tokens of a chunk where nothing else is asked for and the model reads more."""

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


class _Packer:
    """Holds what has come and gives chunks when they are full, or their sections end."""

    def __init__(self, window: Window, overlap: int, metadata: Mapping[str, Any]) -> None:
        self.window = window
        self._overlap = overlap
        self._metadata = metadata
        self._number = 0
        self._first: OrderedDict[tuple[str, ...], int] = OrderedDict()
        self._run = Run(window)
        self._open = 0  # where in the run its last section begins; what is before it are small sections, whole
        self._begun = False  # the last section has given chunks already
        self._given: list[Piece] = []  # what the last chunk was made of

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
            self._run, self._open = Run(self.window, self._run.pieces[self._open :]), 0
            if self._run.takes(piece):
                self._run.add(piece)
                return
        if self._run.pieces:
            yield from self._give(self._run.pieces)
            self._begun = True
        if Run(self.window).takes(piece):
            self._run = self._repeated(piece)
            self._run.add(piece)
        else:
            yield from self._cut(piece)

    def _cut(self, piece: Piece) -> Iterator[Chunk]:
        """Give a piece that is larger than the window in parts; the last one is held, others may fit in behind it."""
        free = min(self._overlap, self.window.tokens // 4)
        self._run = Run(self.window)
        for part in self.window.parts(piece, Run(self.window, [piece]).head, free):
            if self._run.pieces:
                yield from self._give(self._run.pieces)
                self._begun = True
            self._run = self._repeated(part)
            self._run.add(part)

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
            self._run = Run(self.window)
        self._open, self._begun = len(pieces), False

    def _repeated(self, piece: Piece) -> Run:
        """Give the run that begins with the last lines of the last chunk, as far as the next piece fits behind them.

        Units are repeated whole; where not even the last one has room its last lines are, unless it has error codes:
        half a stack is worth less than none.
        """
        given = self._given if self._begun else []
        room = min(self._overlap, Run(self.window, [piece]).room)
        taken: list[Piece] = []
        for last in reversed(given[1:]):
            if last.tokens > room or last.within or not last.raw.endswith("\n"):
                break
            taken.insert(0, last)
            room -= last.tokens
        if given and not taken:
            last = given[-1]
            stack = not last.continued and last.unit.codes and error_codes.find(last.text)
            if not stack and (tail := self.window.tail(last, room)) is not None:
                taken = [tail]
        while taken and not "".join(part.text for part in taken).strip():
            taken = []
        run = Run(self.window, taken)
        while taken and not run.takes(piece):
            taken = taken[1:]
            run = Run(self.window, taken)
        return run

    def _give(self, pieces: list[Piece]) -> Iterator[Chunk]:
        """Make a chunk of pieces; several where the sum of their tokens was less than the whole has."""
        run = self._run if pieces is self._run.pieces else Run(self.window, pieces)
        while not self._fits(run):
            count = self._fitting(run.pieces)
            if self._given and run.pieces[0].end <= self._given[-1].end:
                pieces = run.pieces[1:]  # was only repeated
            elif count:
                yield from self._chunk(Run(self.window, run.pieces[:count]))
                pieces = run.pieces[count:]
            else:
                pieces = [*self.window.parts(run.pieces[0], Run(self.window, run.pieces[:1]).head), *run.pieces[1:]]
            run = Run(self.window, pieces)
        yield from self._chunk(run)

    def _fitting(self, pieces: list[Piece]) -> int:
        """Give how many of the pieces, which are too many, fit into one chunk."""
        low, high = 0, len(pieces)
        while low + 1 < high:
            middle = (low + high) // 2
            if self._fits(Run(self.window, pieces[:middle])):
                low = middle
            else:
                high = middle
        return low

    def _fits(self, run: Run) -> bool:
        return self.window.limits.fits(run.head + _text(run.pieces))

    def _chunk(self, run: Run) -> Iterator[Chunk]:
        self._given = run.pieces
        text = _text(run.pieces)
        if not text.strip():
            return
        sections = run.sections
        parent = self._first.get(sections[0]) if len(sections) == 1 else None
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
            section=path(sections).encode()[:_SECTION_BYTES].decode(errors="ignore") or None,
            head=run.head,
            parent=parent,
            metadata={**facts(run.pieces), **self._metadata},
        )
        self._number += 1


def _text(pieces: list[Piece]) -> str:
    return shortened("".join(piece.raw for piece in pieces))
