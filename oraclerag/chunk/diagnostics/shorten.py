"""What a report prints for the eye alone costs the window: rules and padding are shortened to three characters."""

from __future__ import annotations

import re

__all__ = ["shortened"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_RUN = re.compile(r"[-=*~_+ \t]{20}")
_RULE = re.compile(r"[-=*~_+ \t]{20,}")
_PADDING = 20
_KEPT = 3


def shortened(text: str) -> str:
    """Shorten every line that is a rule, and the padding at the ends of lines, to three characters; line ends stay.

    A rule is a line of 20 characters or more that are all of ``-=*~_+`` or blanks: WordPiece takes every one of them
    for a token. Padding is what SQL*Plus puts behind a line, 20 blanks or more.
    """
    if _RUN.search(text) is None:
        return text
    return "".join(_short(line) for line in _LINE.findall(text))


def _short(line: str) -> str:
    content = line.removesuffix("\n").removesuffix("\r")
    end = line[len(content) :]
    if _RULE.fullmatch(content):
        return (content.strip(" \t") or content)[:_KEPT] + end
    bare = content.rstrip(" \t")
    if len(content) - len(bare) >= _PADDING:
        return content[: len(bare) + _KEPT] + end
    return line
