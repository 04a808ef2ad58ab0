"""What a report prints for the eye, or again and again, costs the window: it is shortened to three characters.

Rules, padding, and what a log says many times in a row: ``WARNING: inbound connection timed out (ORA-3136)`` under a
thousand time stamps.
"""

from __future__ import annotations

import re

__all__ = ["shortened"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_RUN = re.compile(r"[-=*~_+ \t]{20}")
_RULE = re.compile(r"[-=*~_+ \t]{20,}")
_PADDING = 20
_KEPT = 3

# Entries that say the same under different stamps: in an alert log one to three lines under each, in a listener's log
# behind each. Where they end, the last one is kept as well.
_STAMP = (
    r"(?:[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?:[A-Z]{2,5} )?\d{4}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,9}(?:Z|[+-]\d\d:\d\d))[ \t\r]{0,8}\n"
)
_REPEATED = (
    re.compile(
        rf"^{_STAMP}(?P<said>(?:[^\n]+\n){{1,3}}?)(?:{_STAMP}(?P=said)){{2,}}(?P<last>{_STAMP}(?P=said))", re.MULTILINE
    ),
    re.compile(
        r"^\d\d-[^\s-]{3,5}-\d{4} \d\d:\d\d:\d\d(?P<said> \* [^\n]*\n)"
        r"(?:\d\d-[^\s-]{3,5}-\d{4} \d\d:\d\d:\d\d(?P=said)){2,}"
        r"(?P<last>\d\d-[^\s-]{3,5}-\d{4} \d\d:\d\d:\d\d(?P=said))",
        re.MULTILINE,
    ),
)
_LEAST_LINES = 4


def shortened(text: str) -> str:
    """Shorten every line that is a rule, and the padding at the ends of lines, to three characters; line ends stay.

    A rule is a line of 20 characters or more that are all of ``-=*~_+`` or blanks: WordPiece takes every one of them
    for a token. Padding is what SQL*Plus puts behind a line, 20 blanks or more. Of four entries or more that say the
    same under different time stamps the first and the last are kept, and three dots for those between.
    """
    if text.count("\n") >= _LEAST_LINES:
        for repeated in _REPEATED:
            text = repeated.sub(_first_and_last, text)
    if _RUN.search(text) is None:
        return text
    return "".join(_short(line) for line in _LINE.findall(text))


def _first_and_last(found: re.Match[str]) -> str:
    first = found.end("said") - found.start()
    return f"{found[0][:first]}...\n{found['last']}"


def _short(line: str) -> str:
    content = line.removesuffix("\n").removesuffix("\r")
    end = line[len(content) :]
    if _RULE.fullmatch(content):
        return (content.strip(" \t") or content)[:_KEPT] + end
    bare = content.rstrip(" \t")
    if len(content) - len(bare) >= _PADDING:
        return content[: len(bare) + _KEPT] + end
    return line
