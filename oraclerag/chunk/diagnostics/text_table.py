"""Tables of text reports: columns are where the rule below the header has its dashes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Columns", "is_rule"]

_RULE = re.compile(r"(?=[ ~]{0,200}-|~+ {1,60}-)[-~ ]{12,500}")
_RUN = re.compile(r"[-~]+")
_WORD = re.compile(r"\S+")
_HEADER_LINES = 4
_WIDTH = 600  # of a table, at most


def is_rule(text: str) -> bool:
    """Whether a line is the rule below the header of a table: runs of dashes, the first may be of tildes."""
    text = text.rstrip()
    return _RULE.fullmatch(text) is not None and "--" in text


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table, by the places of their dashes."""

    spans: tuple[tuple[int, int], ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, header: list[str], rule: str) -> Columns:
        """Read the columns from the lines of a header and the rule below it."""
        spans = tuple(run.span() for run in _RUN.finditer(rule))
        words: list[list[str]] = [[] for _ in spans]
        for line in header[-_HEADER_LINES:]:
            for word in _WORD.finditer(line[:_WIDTH]):
                if word[0].strip("-~"):
                    words[_nearest(spans, *word.span())].append(word[0])
        return cls(spans, tuple(" ".join(column) for column in words))

    @property
    def head(self) -> str:
        """The names in one line."""
        return " | ".join(name for name in self.names if name)

    def first(self, row: str) -> str:
        """Give what a row has in its first column."""
        return row[: self.spans[0][1]].strip()

    def said(self, row: str, names: Mapping[str, str]) -> dict[str, str]:
        """Give what a row has in the columns of some names, each under the name given for it."""
        found = {}
        for name, (begin, end) in zip(self.names, self.spans, strict=True):
            if name in names and (value := row[begin:end].strip()):
                found[names[name]] = value
        return found


def _nearest(spans: tuple[tuple[int, int], ...], begin: int, end: int) -> int:
    """Give the column that a word of the header stands over, or next to."""
    return min(range(len(spans)), key=lambda at: max(spans[at][0], begin) - min(spans[at][1], end))
