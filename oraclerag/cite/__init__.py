"""Anchors in an answer become numbered footnotes, and how far its sentences rest on what they cite is counted.

``scan`` takes an answer apart, ``overlap`` compares sentences with chunks.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Iterable, Sequence

from oraclerag import anchors
from oraclerag.anchors import Mark, Style
from oraclerag.cite import overlap
from oraclerag.cite.scan import Kind, Part, parts
from oraclerag.errors import InputError
from oraclerag.records import Citation, PromptSource, SourceKey, Support

__all__ = ["FOOTNOTE", "MAX_REFERENCES", "cite", "references"]

MAX_REFERENCES = 10

FOOTNOTE = re.compile(r"\[\^(\d{1,9})\]")
"""The mark of a footnote in an answer: ``[^1]``."""

_BEFORE_NOTHING = " \t\r\n.,;:!?)]}。，；：！？）"
_SCHEMES = ("http", "https", "mailto")
_MARKUP = re.compile(r"[\\`*_\[\]~|$#]")
# What begins a list where a title is all that a footnote says.
_BLOCK = re.compile(r"^(?:(?=[-+=])|(\d{1,9})(?=[.)]))")


def cite(
    answer: str, sources: Sequence[PromptSource], *, limit: int = MAX_REFERENCES, label: str = ""
) -> tuple[str, tuple[Citation, ...], Support]:
    """Replace the anchors of an answer by footnotes ``[^1]``; give that text, the citations, and the support.

    Footnotes are numbered from 1 by first use, each source (entity) once, and past numbers that the answer's own
    footnotes have. Groups and ranges (``[1, 3]``, ``[2-3]``) are taken apart. Code, links and the answer's own
    footnotes are left alone. Anchors that name no source are removed and counted, and so are sources beyond
    ``limit``. ``label`` is how the answer begins where that states nothing: it is no sentence of the support. Never
    raises for anything that an answer holds; InputError where ``limit`` is no whole number from 0 on.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise InputError(f"limit must be a whole number from 0 on, not {limit!r}.")
    begun, answer = (label, answer[len(label) :]) if answer.startswith(label) else ("", answer)
    written = _Writer(sources, limit, taken={int(number) for number in FOOTNOTE.findall(anchors.restored(answer))})
    for part in parts(answer, written.style, written.known):
        written.add(part)
    return begun + written.text(), written.citations(), written.support()


def references(citations: Iterable[Citation]) -> str:
    """Give the list of references in Markdown, a line each: ``[^1]: [Title](<https://…>)``.

    Titles are escaped. An address that is not of http, https or mailto is left out; a source without one, or without a
    title, is named by its key: ``[^2]: Title (task:42)``.
    """
    lines = []
    for citation in citations:
        key, url = _escaped(str(citation.source)), _address(citation.url)
        title = _escaped(citation.title or "")
        named = f"[{title or key}](<{url}>)" if url else f"{title} ({key})" if title else key
        lines.append(f"[^{citation.number}]: {named}")
    return "\n".join(lines)


def _escaped(text: str) -> str:
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _BLOCK.sub(r"\g<0>\\", _MARKUP.sub(r"\\\g<0>", text))


def _address(url: str | None) -> str | None:
    if url is None:
        return None
    url = url.strip()
    try:
        scheme = urllib.parse.urlsplit(url).scheme.lower()
    except ValueError:
        return None
    if scheme not in _SCHEMES:
        return None
    # What is not ASCII stays; blanks, controls, quotes and brackets could end the address.
    return "".join(
        char if char not in "<>\"'`\\()[]|" and char.isprintable() and not char.isspace()
        else urllib.parse.quote(char, safe="", errors="replace")
        for char in url
    )  # fmt: skip


class _Writer:
    """The answer as it is written anew, and what was counted on the way."""

    def __init__(self, sources: Sequence[PromptSource], limit: int, taken: set[int]) -> None:
        self._sources = sources
        self._limit = limit
        self._taken = taken
        # Where each anchor is among the sources: hits are no keys.
        self._at = {
            (mark.style, mark.numbers[0][0]): at
            for at, source in enumerate(sources)
            for mark in anchors.marks(source.anchor, "bracket")
        }
        self.style: Style = "bracket" if any(style == "bracket" for style, _ in self._at) else "hash"
        self.known = frozenset(number for style, number in self._at if style == "hash")
        self._out: list[str] = []
        self._prose: list[str] = []
        self._runs: list[list[int]] = []
        self._cited: dict[SourceKey, list[int]] = {}
        self._numbers: dict[SourceKey, int] = {}
        self._unknown = 0
        self._dropped: set[SourceKey] = set()

    def add(self, part: Part) -> None:
        """Write a part of the answer."""
        if part.kind is Kind.CITATION:
            self._cite(part)
            return
        self._out.append(part.text)
        self._prose.append(overlap.prose(part))

    def _cite(self, part: Part) -> None:
        named = list(dict.fromkeys(self._named(part.marks)))
        numbers = dict.fromkeys(number for at in named if (number := self._number(at)) is not None)
        self._runs.append(named)
        self._prose.append(overlap.place(len(self._runs) - 1))
        if numbers:
            # `[^1]:` at the start of a line would define a footnote, `[^1](` would be a link.
            gap = " " if part.follows == "(" or (part.follows == ":" and self._line_starts()) else ""
            self._out.append("".join(f"[^{number}]" for number in numbers) + gap)
        elif (not part.follows or part.follows in _BEFORE_NOTHING) and self._out:
            self._out[-1] = self._out[-1].rstrip(" \t")

    def _line_starts(self) -> bool:
        _, newline, line = self._out[-1].rpartition("\n") if self._out else ("", "\n", "")
        return bool(newline or len(self._out) == 1) and not line.strip(" \t>")

    def _named(self, marks: Iterable[Mark]) -> Iterable[int]:
        for mark in marks:
            for first, last in mark.numbers:
                # Between the ends of a range only what is there counts; the ends themselves were written.
                within = {number for style, number in self._at if style == mark.style and first < number < last}
                for number in sorted(within | {first, last}):
                    at = self._at.get((mark.style, number))
                    if at is not None:
                        yield at
                    else:
                        self._unknown += 1

    def _number(self, at: int) -> int | None:
        key = self._sources[at].hit.source
        if key not in self._numbers:
            if len(self._numbers) >= self._limit:
                self._dropped.add(key)
                return None
            number = max(self._numbers.values(), default=0) + 1
            while number in self._taken:
                number += 1
            self._numbers[key] = number
        cited = self._cited.setdefault(key, [])
        if at not in cited:
            cited.append(at)
        return self._numbers[key]

    def text(self) -> str:
        """Give the answer with its footnotes."""
        return anchors.restored("".join(self._out))

    def citations(self) -> tuple[Citation, ...]:
        """Give what is cited, by number."""
        found = []
        for key, cited in self._cited.items():
            hits = [self._sources[at].hit for at in cited]
            keys = tuple(dict.fromkeys(hit.key for hit in hits))
            found.append(Citation(self._numbers[key], key, hits[0].title, hits[0].url, hits[0].content, keys))
        return tuple(found)

    def support(self) -> Support:
        """Count the sentences and what they rest on."""
        words = {at: self._words(at) for run in self._runs for at in run}
        sentences = uncited = unsupported = 0
        for sentence in overlap.sentences("".join(self._prose)):
            sentences += 1
            cited = {at for run in sentence.runs for at in self._runs[run]}
            if not cited:
                uncited += 1
            elif not overlap.supported(sentence.words, frozenset[str]().union(*(words[at] for at in cited))):
                unsupported += 1
        return Support(sentences, uncited, unsupported, self._unknown, len(self._dropped))

    def _words(self, at: int) -> frozenset[str]:
        hit = self._sources[at].hit
        return overlap.words("\n".join(text for text in (hit.title, hit.section, hit.content) if text))
