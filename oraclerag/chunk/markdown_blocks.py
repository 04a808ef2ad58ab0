"""The blocks of prose and Markdown: headings, paragraphs, lists, quotes, tables, code; each with its place in the text.

Markdown is read by a real parser (markdown-it, CommonMark with GitHub's tables), so that a ``#`` in fenced or indented
code, in a quote or in a comment is no heading. A text that has no line at which anything but a paragraph could begin is
not shown to the parser: its paragraphs lie between its blank lines. Lines end with LF here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

__all__ = ["Block", "Kind", "front_matter", "is_markdown", "markdown_blocks", "stanzas"]

# Lines that may begin something else than a paragraph, or make the line before them a heading or the head of a table.
_MARKED = r"(?:[ \t]*(?:[#>\-+*_`~<=|:]|[0-9]{1,9}[.)])| {4}| {0,3}\t)"
_MARKED_FIRST = re.compile(_MARKED)
_MARKED_LINE = re.compile(r"\n" + _MARKED)
_PARAGRAPH_END = re.compile(r"\n(?:[ \t]*\n)+")

_FRONT_MATTER = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\n")
_ATTRIBUTES = re.compile(r"\s*\{:?\s*[#.][^{}]*\}\s*$")  # "## Setup { #setup }"

_WINDOW = 200_000  # characters that are parsed at once: what the parser makes of them is held no longer
_LONGEST_TITLE = 500  # characters; the rest of a longer heading says nothing more about its section
_CONTAINERS = frozenset(["bullet_list", "ordered_list", "list_item", "blockquote"])


class Kind(Enum):
    """What a block is, as far as cutting it is concerned."""

    HEADING = "heading"
    """A heading of the document, not one within a list or a quote."""
    PROSE = "prose"
    """Sentences: a paragraph."""
    GROUP = "group"
    """Blocks: a list, an item, a quote."""
    CODE = "code"
    """Lines: code, HTML, front matter."""
    TABLE = "table"
    """Rows beneath a header and its rule."""


@dataclass(slots=True)
class Block:
    """A block and what it consists of. Blocks follow each other without a gap; blank lines belong to the one before.

    ``start`` and ``end`` are offsets. ``level`` and ``title`` are those of a heading, ``inner`` is what a group
    consists of. ``head_end`` is where the rows of a table begin.
    """

    kind: Kind
    start: int
    end: int = -1
    level: int = 0
    title: str = ""
    inner: list[Block] = field(default_factory=list)
    head_end: int = -1


def front_matter(text: str) -> int:
    """Give the end of the settings that a page begins with, between two lines of ``---`` or ``+++``; 0 without."""
    opened = _FRONT_MATTER.match(text)
    if not opened:
        return 0
    mark = re.escape(opened[1])
    closed = re.compile(rf"(?<=\n){mark}[ \t]*(?:\n|\Z)").search(text, opened.end())
    return closed.end() if closed else 0


def is_markdown(text: str, start: int) -> bool:
    """Whether a text has, from ``start`` on, a line at which anything but a paragraph may begin."""
    return _MARKED_FIRST.match(text, start) is not None or _MARKED_LINE.search(text, start) is not None


def stanzas(text: str, start: int, end: int) -> Iterator[int]:
    """Give the offsets behind the blank lines within a span, its own end left out."""
    return (gap.end() for gap in _PARAGRAPH_END.finditer(text, start, end) if gap.end() < end)


def markdown_blocks(text: str, start: int) -> Iterator[Block]:
    """Give the outermost blocks of a text from ``start`` on; together they are the text.

    It is parsed piece by piece. The last block of a piece may go on behind it and is parsed again with the next.
    """
    window = _WINDOW
    while start < len(text):
        stop = text.find("\n", start + window) + 1 or len(text)
        found = _tree(text[start:stop], start)
        if stop < len(text):
            if len(found) < 2:
                window *= 4
                continue
            del found[-1]
        yield from found
        start = found[-1].end if found else stop
        window = _WINDOW


def _tree(text: str, offset: int) -> list[Block]:
    """Parse a piece of a text that begins at ``offset``; nothing where it has nothing but blank lines."""
    lines = [offset, *(offset + line.end() for line in re.finditer("\n", text))]
    top: list[Block] = []
    inner = [top]
    tokens = _parser().parse(text)
    for place, token in enumerate(tokens):
        name, _, turn = token.type.rpartition("_")
        if name in _CONTAINERS:
            if turn == "close":
                inner.pop()
                continue
            block = Block(Kind.GROUP, lines[_first_line(token)])
            inner[-1].append(block)
            inner.append(block.inner)
        elif (kind := _LEAVES.get(token.type)) is not None:
            block = Block(kind, lines[_first_line(token)])
            if kind is Kind.TABLE:
                block.head_end = lines[min(_first_line(token) + 2, len(lines) - 1)]
            elif kind is Kind.HEADING and token.level:
                block.kind = Kind.PROSE
            elif kind is Kind.HEADING:
                block.level = int(token.tag[1:])
                block.title = _title(tokens[place + 1].content)
            inner[-1].append(block)
    _settle(top, offset, offset + len(text))
    return top


def _first_line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _settle(row: list[Block], start: int, end: int) -> None:
    """Let blocks follow each other from ``start`` to ``end``: what lies between belongs to the one before."""
    if not row:
        return
    row[0].start = start
    for block, following in zip(row, [*(block.start for block in row[1:]), end], strict=True):
        block.end = following
        if block.kind is Kind.GROUP and not block.inner:  # an empty item, or deeper than the parser goes
            block.kind = Kind.PROSE
        _settle(block.inner, block.start, block.end)


def _title(content: str) -> str:
    """Give a heading as it is read: without marks of emphasis and links, attributes and line breaks."""
    read: list[Token] = []
    parser = _parser()
    parser.inline.parse(_ATTRIBUTES.sub("", content[:_LONGEST_TITLE]), parser, {}, read)
    return " ".join("".join(token.content if _is_read(token) else " " * (token.tag == "br") for token in read).split())


def _is_read(token: Token) -> bool:
    return token.type in {"text", "code_inline", "image", "text_special"}


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import table

    parser = MarkdownIt("commonmark").enable("table")
    # A definition of a link is text like any other here, and reading many of them takes quadratic time.
    parser.disable("reference")
    parser.block.ruler.at("table", partial(_table, table), {"alt": ["paragraph"]})
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _table(table: Callable[..., bool], state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Recognise a table as the parser's rule does, and give one token for it: its cells are many, and not needed."""
    if not table(state, start, end, True):
        return False
    if silent:
        return True
    others = state.md.block.ruler.getRules("blockquote")
    state.parentType, before = "table", state.parentType
    line = start + 2
    while (
        line < end
        and 0 <= state.sCount[line] - state.blkIndent < 4  # else it is outside, or code
        and not state.isEmpty(line)
        and not any(rule(state, line, end, True) for rule in others)
    ):
        line += 1
    state.parentType = before
    state.push("table", "table", 0).map = [start, line]
    state.line = line
    return True


_LEAVES = {
    "heading_open": Kind.HEADING,
    "paragraph_open": Kind.PROSE,
    "hr": Kind.PROSE,
    "fence": Kind.CODE,
    "code_block": Kind.CODE,
    "html_block": Kind.CODE,
    "table": Kind.TABLE,
}
