"""HTML made readable: the text of a page with its headings, lists and tables kept as lines.

A report that comes as HTML is stored and cut in this form: its tags would fill what a model reads. Headings become
``## title``, list items ``- item``, the rows of a table ``| cell | cell |`` with a rule below the header, preformatted
text stands between fences. One pass in linear time and bounded memory, whatever the input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape

from oraclerag.chunk.diagnostics.html_tags import Tag, attribute, texts_and_tags

__all__ = ["FENCE", "cells", "readable", "readable_parts"]

FENCE = "````"
"""Stands before and after preformatted text; four, so that a fence inside of it does not end it."""

# Texts and tags between two parts of what is read.
_AT_ONCE = 1000

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# What stands apart, with an empty line around it, and what begins a line.
_PARAGRAPHS = frozenset(
    {
        "p",
        "div",
        "ul",
        "ol",
        "dl",
        "blockquote",
        "hr",
        "section",
        "article",
        "header",
        "footer",
        "main",
        "aside",
        "nav",
        "form",
        "fieldset",
        "figure",
        "title",
        "center",
        "details",
        "dir",
        "menu",
    }
)
_LINES = frozenset(
    {"br", "li", "dt", "dd", "option", "address", "figcaption", "caption", "summary", "legend", "body", "html", "head"}
)
# What a heading does not hold, even where it was not closed.
_ENDS_HEADING = frozenset({"table", "tr", "pre", "ul", "ol", "dl", "hr", "body"})

# Reports break the text of a statement after so many characters, in the middle of a word.
_BROKEN_AT = (1000, 4000)
_LONE_BAR = re.compile(r"(?<!\|)\|(?!\|)")
_CELL_BORDER = re.compile(r"(?<![|\\])\|(?!\|)")
_LINK_SIZE = 2000
_WIDEST = 100  # columns, and tables within tables


@dataclass(slots=True)
class _Table:
    cells: int = 0  # of this row
    headers: int = 0  # of them that are marked as headers, or are empty
    marked: bool = False  # one is
    group: bool = False  # one stands over several columns, or over none
    rule: int = 0  # columns of a header whose rule is still to be written
    begun: bool = False  # has a row that is no header
    row: bool = False  # its first bar is still to be written
    cell: bool = False
    empty: bool = False
    span: int = 1
    layout: bool = False  # its cells hold headings or tables: it places text and is none itself


def readable(html: str) -> str:
    """Turn HTML into plain text with its structure as lines.

    Entities are resolved; scripts, styles, comments and lists of links into the page itself are left out. What is not
    well formed is read as a browser would, roughly, and text is never lost for it.
    """
    return "".join(readable_parts((html,)))


def readable_parts(html: Iterable[str]) -> Iterator[str]:
    """Do the same with a page that comes in parts, cut anywhere; what is read becomes text at once."""
    page = _Page()
    for number, found in enumerate(texts_and_tags(html), start=1):
        if isinstance(found, Tag):
            page.tag(found.name, found.attributes, ends=found.ends)
        else:
            page.text(found)
        if number % _AT_ONCE == 0:
            yield page.taken()
    page.end()
    yield page.taken()


def cells(row: str) -> list[str]:
    """Give the cells of a row as ``readable`` writes it; nothing for any other line."""
    if not row.startswith("|"):
        return []
    return [cell.strip().replace("\\|", "|") for cell in _CELL_BORDER.split(row.rstrip())[1:-1]]


class _Page:
    """What has been read of a page, and the lines that it gave."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._begun = False  # something was written
        self._breaks = 1  # line ends before the next text
        self._blank = False  # a blank before the next text
        self._prefix = ""  # of a heading or an item, until it has a text
        self._heading = 0
        self._lists = 0
        self._block = ""
        self._tables: list[_Table] = []
        self._run = 0  # characters of the cell since its last line end
        self._pre = False
        self._fenced = False
        self._pre_begins = False
        self._link = False  # inside a link into the page itself
        self._links: list[tuple[str, bool, bool]] | None = None  # texts of such links that have a line for themselves

    def taken(self) -> str:
        """Give what was written since the last call."""
        text = "".join(self._out)
        self._out.clear()
        return text

    def end(self) -> None:
        """End what was left open."""
        self._end_pre()
        if self._tables:
            self._end_row(self._tables[-1])
        self._tables.clear()
        self._block_break(1)
        if self._begun:
            self._out.append("\n")

    def tag(self, name: str, attributes: str, *, ends: bool) -> None:
        """Read a tag."""
        if self._pre and not (name in _HEADINGS or name in ("pre", "table", "tr", "td", "th")):
            if name == "br":
                self._preformatted("\n")
        elif name in _HEADINGS:
            self._end_pre()
            self._tag_heading(_HEADINGS[name], ends=ends)
        elif name == "pre":
            self._tag_pre(ends=ends)
        elif name in ("table", "tr", "td", "th"):
            self._end_pre()
            self._tag_table(name, attributes, ends=ends)
        elif name == "a":
            self._tag_link(attributes, ends=ends)
        elif name in _PARAGRAPHS or name in _LINES:
            self._tag_block(name, ends=ends)

    def _tag_block(self, name: str, *, ends: bool) -> None:
        if name in _ENDS_HEADING and self._heading:
            self._tag_heading(self._heading, ends=True)
        self._block_break(2 if name in _PARAGRAPHS else 1)
        self._block = "" if ends else name
        if name in ("ul", "ol"):
            self._lists = max(0, self._lists + (-1 if ends else 1))
        elif name == "li" and not self._in_cell() and not self._heading:
            self._prefix = "" if ends else "  " * min(self._lists - 1, 9) + "- "

    def _tag_heading(self, level: int, *, ends: bool) -> None:
        if self._in_cell():
            self._place_only()
        self._heading = 0
        self._block_break(2)
        self._heading = 0 if ends else level
        self._prefix = "" if ends else "#" * level + " "

    def _tag_pre(self, *, ends: bool) -> None:
        self._end_pre()
        if not ends:
            if self._in_cell():
                self._place_only()
            if self._heading:
                self._tag_heading(self._heading, ends=True)
            self._block_break(2)
            self._pre = self._pre_begins = True

    def _tag_link(self, attributes: str, *, ends: bool) -> None:
        self._link = not ends and (attribute(attributes, "href") or "").startswith("#")
        own_line = self._breaks and self._block != "dt" and not (self._heading or self._in_cell())
        if self._link and own_line and self._links is None:
            self._links = []

    def _tag_table(self, name: str, attributes: str, *, ends: bool) -> None:
        if self._heading:
            self._tag_heading(self._heading, ends=True)
        if name == "table":
            if not ends:
                self._begin_table(attributes)
            elif self._tables:
                self._end_row(self._tables[-1])
                self._write_rule(self._tables.pop())
                self._block_break(2)
            return
        table = self._tables[-1] if self._tables else None
        if table is None or table.layout:
            self._block_break(1 if table is None else 2)
        elif name == "tr":
            self._end_row(table)
        elif ends:
            self._end_cell(table)
        else:
            self._begin_cell(table, name, attributes)

    def _begin_table(self, attributes: str) -> None:
        if self._in_cell():
            self._place_only()
        self._block_break(2)
        if len(self._tables) < _WIDEST:
            self._tables.append(_Table())
        if summary := (attribute(attributes, "summary") or "").strip():
            self.text(f"Table: {summary}")
            self._block_break(2)

    def _begin_cell(self, table: _Table, name: str, attributes: str) -> None:
        self._end_cell(table)
        if not table.cells:
            self._block_break(1)
            if not (table.group and name == "th"):  # else the row that comes names the columns
                self._write_rule(table)
            table.rule, table.row, table.group, table.marked = 0, True, False, False
        else:
            self._bar(table)
        self._prefix = ""
        table.cells += 1
        table.headers += name == "th"
        table.marked = table.marked or name == "th"
        table.cell, table.empty, self._run = True, name == "td", 0
        span = (attribute(attributes, "colspan") or "1").strip()
        table.span = min(int(span), _WIDEST) if span.isdecimal() and len(span) < 5 else 1

    def _bar(self, table: _Table) -> None:
        """Write the bar that ends a cell, and before it the one that begins its row."""
        self._begin_row(table)
        self._mark(" |")

    def _begin_row(self, table: _Table) -> None:
        if table.row:
            table.row = False
            self._mark("|")

    def _end_cell(self, table: _Table) -> None:
        if table.cell:
            table.cell = False
            if table.empty:
                table.headers += 1
                table.group = True
            for _ in range(table.span - 1):
                table.group = True
                self._bar(table)
                table.cells += 1
                table.headers += table.headers == table.cells - 1

    def _end_row(self, table: _Table) -> None:
        self._end_cell(table)
        if table.cells:
            self._bar(table)
            if table.headers == table.cells and table.marked and not table.begun:
                table.rule = table.cells
                table.group = table.group or table.cells == 1
            else:
                table.begun = True
        table.cells = table.headers = 0
        self._block_break(1)

    def _write_rule(self, table: _Table) -> None:
        if table.rule:
            self._breaks = 1
            self._mark("|" + "-|" * table.rule)
            self._breaks, table.rule, table.begun = 1, 0, True

    def _place_only(self) -> None:
        """A cell holds more than a line: the table places text, and its cells are paragraphs."""
        table = self._tables[-1]
        table.layout, table.cell, table.row, table.cells = True, False, False, 0
        self._block_break(2)

    def _in_cell(self) -> bool:
        return bool(self._tables) and self._tables[-1].cell

    def _block_break(self, breaks: int) -> None:
        self._links = None
        if self._heading or self._in_cell():
            self._blank = True
        else:
            self._breaks = max(self._breaks, breaks)

    def text(self, text: str) -> None:
        """Read a text, or a piece of one."""
        if not text:
            return
        if self._pre:
            self._preformatted(unescape(text))
            return
        if self._in_cell():
            text = self._mended(text)
        text = unescape(text)
        words = " ".join(text.split())
        before, after = text[:1].isspace(), text[-1:].isspace()
        if not words:
            self._blank |= before
        elif self._heading and self._link and len(words) == 1 and not words.isalnum():
            self._blank = True  # the mark that links a heading to itself
        elif self._links is not None and self._link and len(self._links) < _WIDEST and len(words) < _LINK_SIZE:
            self._links.append((words, before, after))
        else:
            if self._links is not None:
                held, self._links = self._links, None
                for link in held:
                    self._words(*link)
            self._words(words, before, after)

    def _words(self, words: str, before: bool, after: bool) -> None:
        self._blank |= before
        if self._in_cell():
            self._begin_row(self._tables[-1])
            self._tables[-1].empty = False
            words = _LONE_BAR.sub(r"\|", words)
        if self._breaks:
            prefix = self._prefix
            if not prefix and words.startswith(("#", "|", "```")):
                prefix = "\\"
            self._mark(prefix)
            self._prefix, self._blank = "", False
        self._out.append(f" {words}" if self._blank else words)
        self._blank = after

    def _mark(self, mark: str) -> None:
        """Write what is no text of the page, at the line's begin where one is due; a text follows after a blank."""
        if self._breaks and self._begun:
            self._out.append("\n" * self._breaks)
        self._out.append(mark)
        self._breaks, self._begun, self._blank = 0, True, True

    def _mended(self, text: str) -> str:
        """Join what a report broke in the middle of a word; other line ends are blanks."""
        *ended, last = text.split("\n")
        joined = []
        for line in ended:
            broken = self._run + len(line) in _BROKEN_AT
            joined.append(line if broken else f"{line} ")
            self._run = 0
        self._run += len(last)
        return "".join(joined) + last

    def _preformatted(self, text: str) -> None:
        if self._pre_begins:
            text = text.removeprefix("\n")
            self._pre_begins = False
        if text:
            if not self._fenced:
                self._mark(f"{FENCE}\n")
                self._fenced = True
            self._out.append(text)
            self._blank = not text.endswith("\n")  # here: a line is open

    def _end_pre(self) -> None:
        if self._fenced:
            self._out.append(f"\n{FENCE}" if self._blank else FENCE)
            self._breaks, self._blank = 2, False
        self._pre = self._fenced = False
