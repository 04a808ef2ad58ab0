"""Blocks are put together into chunks of one section until they are full.

A block that is too long for what is left begins the next chunk, unless that would leave this one nearly empty. One that
is too long for a chunk is parted: at items or rows, then sentences, lines, words, characters. A chunk repeats the last
whole sentences of the one before it as far as the overlap goes; no rows, no code, no heading, nothing of another
section, and nothing where that would part a block.

Every block is counted once, and parts of it only where it has to be parted; what is given is counted as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oraclerag.chunk import Limits
from oraclerag.chunk.boundaries import line_ends, longest, sentence_ends, whole_character, word_ends
from oraclerag.chunk.markdown_blocks import Block, Kind, stanzas
from oraclerag.records import Chunk

__all__ = ["Packer", "Section"]

_SMALL = frozenset([Kind.SENTENCE, Kind.LINE])
_REPEATABLE = frozenset([Kind.PROSE, Kind.SENTENCE])
_TOKEN = 8  # characters; in a text of longer tokens the overlap is smaller than it could be
_RULE = re.compile(r"-{4,}")
_PADDING = re.compile(r"[ \t]{2,}")


@dataclass(frozen=True, slots=True)
class Section:
    """Where chunks stand: the path of headings, and what is repeated before a chunk of the section.

    ``first`` is what is repeated before the chunk that begins with the heading itself.
    """

    path: str | None
    head: str
    first: str


@dataclass(frozen=True, slots=True)
class _Head:
    """What is repeated before a chunk, and what it takes of the limits together with the model's prefix."""

    text: str
    tokens: int
    size: int


class Packer:
    """Takes the blocks of a text in their order and gives chunks.

    Blocks of another section follow after :meth:`close` and :meth:`begin`. ``overlap`` is in tokens.
    """

    def __init__(self, text: str, limits: Limits, overlap: int, section: Section) -> None:
        self._text = text
        self._limits = limits
        self._overlap = overlap
        self._nothing = limits.count("")
        self._single_bytes = text.isascii()
        self._half = limits.part(2)
        self._heads: dict[str, _Head] = {}
        self._number = 0
        self.begin(section)

    def begin(self, section: Section) -> None:
        """Begin a section; the chunk before it must have been closed."""
        self._section = section
        self._parent: int | None = None
        self._heads.clear()
        self._head = self._weighed(section.first)
        self._opened = False
        self._has_text = False  # more than headings
        self._start = self._end = self._new = self._repeatable = -1
        self._tokens = self._size = 0
        self._blocks: list[int] = []  # where the blocks of this chunk begin: sentences end there too

    def add(self, block: Block) -> Iterator[Chunk]:
        """Take a block; gives the chunks that became full by it."""
        weight = self._weight(block.start, block.end)
        return iter(()) if self._take(block, weight) else self._part(block, weight)

    def end_with(self, headings: Sequence[Block]) -> Iterator[Chunk]:
        """Take headings behind which the text ends: a sentence before them goes with them if need be."""
        block = Block(Kind.PROSE, headings[0].start, headings[-1].end)
        weight = self._weight(block.start, block.end)
        if self._take(block, weight):
            return
        at = self._last_boundary() if self._opened else None
        if at is not None:
            block.start = self._end = at
            yield from self.close()
            weight = self._weight(at, block.end)
            if self._take(block, weight):
                return
        yield from self._part(block, weight)

    def close(self) -> Iterator[Chunk]:
        """Give the chunk that is open."""
        if not self._opened:
            return
        self._opened = self._has_text = False
        start, end = self._trimmed(self._start, self._end)
        head = self._head.text
        while start < end:
            stop = end
            if not self._limits.fits(head + self._text[start:end]):  # what was counted apart takes more together
                stop = longest(self._text, start, head, self._limits, end)
                stop = max(word_ends(self._text, start, stop), default=whole_character(self._text, start, stop))
            _, stop = self._trimmed(start, stop)
            yield Chunk(
                self._number, self._text[start:stop], start, stop, self._section.path, head, parent=self._parent
            )
            if self._parent is None:
                self._parent = self._number
            self._number += 1
            start, _ = self._trimmed(stop, end)

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        """Leave out blank lines before and blanks behind a span; the first line keeps its indentation."""
        part = self._text[start:end]
        words = part.lstrip()
        if not words:
            return end, end
        before = len(part) - len(words)
        if before:
            before = max(part.rfind("\n", 0, before), part.rfind("\r", 0, before)) + 1
        return start + before, start + len(part.rstrip())

    def _weight(self, start: int, end: int) -> tuple[int, int]:
        """Give the tokens and bytes of a span; what is too long for any chunk is not counted."""
        if end - start > self._limits.size:
            return self._limits.tokens + 1, self._limits.size + 1
        part = self._text[start:end]
        return self._limits.count(part) - self._nothing, len(part) if self._single_bytes else len(part.encode())

    def _weighed(self, head: str) -> _Head:
        found = self._heads.get(head)
        if found is None:
            whole = self._limits.prefix + head
            found = self._heads[head] = _Head(head, self._limits.count(whole), len(whole.encode()))
        return found

    def _head_at(self, table: Block | None) -> _Head:
        """Give what is repeated before a chunk that begins here, ``table`` if that is within its rows."""
        if self._new < 0:
            return self._weighed(self._section.first)
        if table is None:
            return self._weighed(self._section.head)
        names = self._text[table.start : table.head_end].strip("\r\n") + "\n"
        names = _PADDING.sub(" ", _RULE.sub("---", names))
        for head in (self._section.head + names, names):
            if self._half.fits(head):
                return self._weighed(head)
        return self._weighed(self._section.head)

    def _take(self, block: Block, weight: tuple[int, int], table: Block | None = None) -> bool:
        """Put a block into the chunk that is open, or into a new one; whether it fits."""
        tokens, size = weight
        if not self._opened:
            head = self._head_at(table)
            if not self._fits(head.tokens + tokens, head.size + size):
                return False
            self._open(block.start, head, tokens, size)
        elif not self._fits(self._tokens + tokens, self._size + size):
            return False
        self._end = block.end
        self._tokens += tokens
        self._size += size
        kind = block.kind
        if kind is Kind.GROUP:
            block = _last_leaf(block)
            self._repeatable = block.start
            kind = block.kind
        if kind in _REPEATABLE and table is None:
            self._blocks.append(block.start)
        else:
            self._repeatable = self._end
        self._has_text = self._has_text or kind is not Kind.HEADING
        return True

    def _fits(self, tokens: int, size: int) -> bool:
        return tokens <= self._limits.tokens and size <= self._limits.size

    def _open(self, start: int, head: _Head, tokens: int, size: int) -> None:
        """Open a chunk for a block of this weight; what room is left may repeat the end of the chunk before."""
        room = self._limits.tokens - head.tokens - tokens, self._limits.size - head.size - size
        at, more_tokens, more_size = self._repeated(start, *room) if self._end == start else (start, 0, 0)
        self._opened = True
        self._head = head
        self._start = at
        self._end = self._new = self._repeatable = start
        self._tokens = head.tokens + more_tokens
        self._size = head.size + more_size
        self._blocks.clear()

    def _repeated(self, start: int, tokens: int, size: int) -> tuple[int, int, int]:
        """Give where the sentences begin that may be repeated, the last ones of the chunk before, and their weight."""
        tokens = min(tokens, self._overlap)
        found = start, 0, 0
        if tokens <= 0:
            return found
        for at in self._sentences(start, start - tokens * _TOKEN):
            end, taken_tokens, taken_size = found
            more_tokens, more_size = self._weight(at, end)
            taken_tokens += more_tokens
            taken_size += more_size
            if taken_tokens > tokens or taken_size > size:
                break
            found = at, taken_tokens, taken_size
        return found

    def _sentences(self, end: int, low: int) -> list[int]:
        """Give where the sentences before ``end`` begin, the last one first; of the chunk's own new text only."""
        low = max(self._repeatable, self._new, self._start + 1, low)
        found = {at for at in self._blocks if low <= at < end}
        found.update(sentence_ends(self._text, low, end))
        return sorted(found, reverse=True)

    def _last_boundary(self) -> int | None:
        """Give where the last sentence, line or word of the open chunk begins; None where there is only one."""
        low = max(self._new, self._start + 1)
        if sentences := self._sentences(self._end, low):
            return sentences[0]
        end = self._trimmed(low, self._end)[1]
        for ends in (line_ends, word_ends):
            if found := max(ends(self._text, low, end), default=0):
                return found
        return None

    def _part(self, block: Block, weight: tuple[int, int], table: Block | None = None) -> Iterator[Chunk]:
        """Begin the next chunk with a block that did not fit, or part it."""
        while len(block.inner) == 1:
            block = block.inner[0]
        if self._opened and self._has_text:
            nearly_empty = self._tokens * 3 < self._limits.tokens and self._size * 3 < self._limits.size
            if (block.kind in _SMALL or not nearly_empty) and self._would_fit(weight, table):
                yield from self.close()
                if self._take(block, weight, table):
                    return
        pieces = self._pieces(block)
        if len(pieces) < 2:
            yield from self._fill(block, table)
            return
        for number, piece in enumerate(pieces):
            of = block if block.kind is Kind.TABLE and number else table
            weight = self._weight(piece.start, piece.end)
            if not self._take(piece, weight, of):
                yield from self._part(piece, weight, of)

    def _would_fit(self, weight: tuple[int, int], table: Block | None) -> bool:
        """Whether a block fits into a chunk of its own."""
        head = self._head_at(table)
        return self._fits(head.tokens + weight[0], head.size + weight[1])

    def _pieces(self, block: Block) -> Sequence[Block]:
        """Give the next smaller parts of a block, or itself where only words are smaller."""
        if block.kind is Kind.GROUP:
            return block.inner
        start, kind = block.start, Kind.LINE
        end = start + len(self._text[start : block.end].rstrip())
        cuts: list[int] = []
        if block.kind in {Kind.PROSE, Kind.HEADING}:
            cuts, kind = list(sentence_ends(self._text, start, end)), Kind.SENTENCE
        elif block.kind is Kind.CODE:
            cuts, kind = list(stanzas(self._text, start, end)), Kind.CODE
        elif block.kind is Kind.TABLE:
            cuts = list(line_ends(self._text, block.head_end, end))
        if not cuts and block.kind not in {Kind.TABLE, Kind.LINE}:
            cuts, kind = list(line_ends(self._text, start, end)), Kind.LINE
        return [Block(kind, at, stop) for at, stop in zip([start, *cuts], [*cuts, block.end], strict=True)]

    def _fill(self, block: Block, table: Block | None) -> Iterator[Chunk]:
        """Fill chunks with the words of a block, and with parts of words where one is longer than a chunk."""
        text, at = self._text, block.start
        while at < block.end:
            if not self._opened:
                self._open(at, self._head_at(table), self._limits.tokens, 0)  # a part of a sentence repeats none
            furthest = longest(text, self._start, self._head.text, self._limits, block.end)
            if furthest < block.end and not text[furthest].isspace():
                word = max(word_ends(text, at, furthest), default=at)
                if word == at and furthest > at and not self._has_text:
                    word = whole_character(text, at, furthest)
                furthest = word
            if furthest > at:
                self._end = at = furthest
                self._has_text = True
            if at < block.end:
                yield from self.close()
        whole = self._limits.prefix + self._head.text + self._text[self._start : self._end]
        self._tokens, self._size = self._limits.count(whole), len(whole.encode())
        self._repeatable = self._end


def _last_leaf(block: Block) -> Block:
    while block.inner:
        block = block.inner[-1]
    return block
