"""HTML as texts and tags, read as it comes: one pass in linear time and bounded memory, whatever the input."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from html import unescape

__all__ = ["Tag", "attribute", "texts_and_tags"]

# A tag is shorter than this; a "<" without an end within it is text.
_TAG_SIZE = 16_384
_BLOCK_SIZE = 65_536

_TAG = re.compile(r"""<(/?)([A-Za-z][A-Za-z0-9:-]{0,40}+)((?:[^<>"']++|"[^"]*+"|'[^']*+')*+)>""")
_DECLARATION = re.compile(r"<[!?][^<>]*+>")
_COMMENT_SHOWN = re.compile(r"<!--\s{0,9}+(\$Header:[^>]{0,300}?)\s{0,9}-->")
_ATTRIBUTE = re.compile(r"""([a-z-]{1,20})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_SKIPPED_END = {name: re.compile(rf"</{name}", re.IGNORECASE) for name in ("script", "style")}


@dataclass(frozen=True, slots=True)
class Tag:
    """The begin or the end of an element; the name in small letters."""

    name: str
    attributes: str
    ends: bool


def texts_and_tags(html: Iterable[str]) -> Iterator[str | Tag]:
    """Give the texts between the tags, entities unresolved, and the tags of a page that comes in parts, cut anywhere.

    Line ends are line feeds. A text may come in pieces, but never cut in an entity. Scripts, styles and comments are
    left out; a comment that says which program made the page (``$Header: ...``) is a text in a paragraph of its own.
    What is not well formed is read as a browser would, roughly; a "<" that begins no tag is text.
    """
    reader, rest = _Reader(), ""
    for block in _blocks(html):
        rest = yield from reader.read(rest + block, last=False)
    yield from reader.read(rest, last=True)


def attribute(attributes: str, name: str) -> str | None:
    """Give the value of an attribute of a tag, entities resolved; None where the tag does not have it."""
    for found in _ATTRIBUTE.finditer(attributes):
        if found[1].lower() == name:
            return unescape(found[2] or found[3] or found[4] or "")
    return None


def _blocks(parts: Iterable[str]) -> Iterator[str]:
    """Give the parts in pieces of a useful size, with line feeds alone as line ends."""
    waiting = ""
    for part in parts:
        for begin in range(0, len(part), _BLOCK_SIZE):
            waiting += part[begin : begin + _BLOCK_SIZE]
            if len(waiting) > _BLOCK_SIZE:
                kept = "\r" if waiting.endswith("\r") else ""
                yield _unified(waiting.removesuffix(kept))
                waiting = kept
    yield _unified(waiting)


def _unified(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class _Reader:
    def __init__(self) -> None:
        self._skipped: re.Pattern[str] | None = None
        self._comment = False

    def read(self, text: str, *, last: bool) -> Generator[str | Tag, None, str]:
        """Read a piece of the page; return its end where that can only be understood with what follows."""
        at = 0
        while at < len(text):
            if self._skipped is not None:
                if (skipped := self._skipped.search(text, at)) is None:
                    return text[max(at, len(text) - 16) :]
                self._skipped, at = None, skipped.start()
            if self._comment:
                if (end := text.find("-->", at)) < 0:
                    return text[max(at, len(text) - 2) :]
                self._comment, at = False, end + 3
            begin = text.find("<", at)
            if begin < 0:
                end = len(text) if last else _readable_end(text, at)
                if end > at:
                    yield text[at:end]
                return text[end:]
            if begin > at:
                yield text[at:begin]
            at = begin
            undecided = not last and len(text) - at < _TAG_SIZE
            if text.startswith("<!--", at):
                if undecided and text.find("-->", at) < 0:
                    return text[at:]
                if shown := _COMMENT_SHOWN.match(text, at, at + _TAG_SIZE):
                    yield Tag("p", "", ends=False)
                    yield shown[1]
                    yield Tag("p", "", ends=True)
                    at = shown.end()
                else:
                    self._comment, at = True, at + 2
            elif tag := _TAG.match(text, at, at + _TAG_SIZE):
                found = Tag(tag[2].lower(), tag[3], bool(tag[1]))
                if found.name not in _SKIPPED_END:
                    yield found
                elif not found.ends:
                    self._skipped = _SKIPPED_END[found.name]
                at = tag.end()
            elif declaration := _DECLARATION.match(text, at, at + _TAG_SIZE):
                at = declaration.end()
            elif undecided:
                return text[at:]
            else:
                yield "<"
                at += 1
        return ""


def _readable_end(text: str, at: int) -> int:
    """Where a piece can be ended without cutting an entity or a pair of bars."""
    end = len(text)
    if (entity := text.rfind("&", max(at, end - 40))) >= 0:
        end = entity
    while end > max(at, len(text) - 80) and text[end - 1] == "|":
        end -= 1
    return end
