"""Secrets in reports are masked before anything is stored: passwords in echoed commands and descriptors, bind values.

A mask has the length of what it hides, so that places in the text hold; line ends stay. It is made of ``x``: of
asterisks every one would be a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["masked", "places"]

_USER = r"(?:\"[^\"\n]{1,128}\"|[A-Za-z][\w$#.\[\]-]{0,127})"
_PASSWORD = r"(\"[^\"\n]{1,256}\"|[^\s@;,\"'/()]{1,256})"  # noqa: S105 - a pattern
_QUOTED = r"\"[^\"\n]{1,1024}\"|'[^'\n]{1,1024}'"
# `identified by values`, which is a hash; `(identified by operation id)` of a plan; and prose.
_NEVER = r"(?:values|operation id|the|an?|its|their|this|that|each|one)\b"
_OPTIONS = r"(?:[ \t]+-\w+(?:[ \t]+\d+)?){0,6}[ \t]+"
_PROGRAMS = "sqlplus sqlcl expdp impdp exp imp sqlldr fndload concsub wfload adpatch rman".split()  # noqa: SIM905
# What ends the value of a bind that was never closed: the next record of a trace, or the next field.
_RECORD = r"[ \t]*Bind#\d|[A-Z]{3,7} #\d|={10}|\*\*\* |PARSING IN |[ \t]*(?:value|oacdty|kxsbbbfp)="

_SMALL = {ord(letter): ord(letter.lower()) for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def _pattern(pattern: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(pattern, flags | re.ASCII)


# The words without which a pattern cannot match, in small letters, and the pattern; its groups are what is hidden.
_PATTERNS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (("conn",), _pattern(rf"\bconn(?:e|ec|ect)?[ \t]+(?!tcp/ip\b){_USER}/{_PASSWORD}")),
    (
        ("target", "catalog", "auxiliary"),
        _pattern(rf"\b(?:target|catalog|auxiliary)(?:[ \t]+|[ \t]*=[ \t]*)[\"']?{_USER}/{_PASSWORD}"),
    ),
    (("userid", "logon"), _pattern(rf"\b(?:userid|logon)[ \t]*=[ \t]*[\"'\\]{{0,2}}{_USER}/{_PASSWORD}")),
    (
        tuple(_PROGRAMS),
        _pattern(rf"(?<![\w./\\-])(?:{'|'.join(_PROGRAMS)}){_OPTIONS}[\"']?{_USER}/{_PASSWORD}(?=[@\s\"';]|$)"),
    ),
    (
        ("sql ", "sql\t"),  # SQLcl; without @ it is prose
        _pattern(rf"(?<![\w./\\-])sql{_OPTIONS}[\"']?{_USER}/{_PASSWORD}(?=@)"),
    ),
    (
        ("apps/", "applsys", "system/", "sys/"),
        _pattern(r"(?<![\w/\\$.-])(?:apps|applsys\w{0,20}|system|sys)/([^\s@/\"'*]{1,256})(?=[@\s\"']|$)"),
    ),
    (
        ("passw", "pwd"),
        _pattern(rf"(?:password|passwd|passwort|pwd)[\"']?[ \t]*=[ \t]*({_QUOTED}|[^\s;,()\"'&]{{1,1024}})"),
    ),
    (
        ("passw", "pwd"),  # of dbca, emctl and others
        _pattern(rf"(?<![\w-])--?\w{{0,24}}(?:password|passwd|pwd)[ \t]+(?!-)({_QUOTED}|[^\s;,()\"'&]{{1,1024}})"),
    ),
    (("passw", "secret"), _pattern(rf"[\"'][\w.-]{{0,40}}(?:password|passwd|secret)[\"'][ \t]*:[ \t]*({_QUOTED})")),
    (
        ("secret", "api_key", "apikey", "token"),
        _pattern(
            r"\b(?:client_secret|api_?key|access_token|refresh_token)[\"']?[ \t]*[=:][ \t]*[\"']?([^\s\"'&;,]{8,2048})"
        ),
    ),
    (
        ("authorization",),
        _pattern(
            r"\bauthorization[\"']?[ \t]*[:=][ \t]*[\"']?(?:basic|bearer|digest|negotiate)[ \t]+([^\s\"',;]{1,4096})"
        ),
    ),
    (("://",), _pattern(r"(?<=://)[^\s/:@\"'<>]{1,128}:([^\s/@\"'<>]{1,256})@")),
    (("jdbc:oracle",), _pattern(rf"\bjdbc:oracle:\w{{1,20}}:{_USER}/{_PASSWORD}@")),
)

# These may go on in further lines.
_IDENTIFIED = (
    _pattern(
        rf"\bidentified[ \t\r\n]+by[ \t\r\n]+(?!{_NEVER})(\"[^\"\n]{{1,1024}}\"|[^\s;,()\"']{{1,1024}})"
        rf"(?:[ \t]+replace[ \t]+({_QUOTED}|[^\s;,\"']{{1,1024}}))?"
    ),
    _pattern(r"\bidentified[ \t\r\n]+by[ \t\r\n]+values[ \t\r\n]+'([^']{1,4000})'"),
)
_BIND = re.compile(
    rf"[ \t]{{1,8}}value=(?:\"((?:[^\"\n]|\"(?![ \t\r]*$)|\n(?!{_RECORD})){{0,4000}})|([^\"\s][^\n]{{0,4000}}))",
    re.ASCII | re.MULTILINE,
)
_BEHIND = 4200  # characters behind the line where they begin


def masked(text: str) -> str:
    """Hide the secrets of a text, each behind as many letters as it has."""
    parts = []
    at = 0
    for start, end in places(text):
        parts += [text[at:start], "".join(char if char in "\r\n" else "x" for char in text[start:end])]
        at = end
    return "".join((*parts, text[at:])) if parts else text


def places(text: str) -> list[tuple[int, int]]:
    """Give where a text has secrets, from start to end, half open; they follow each other."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(_places(text)):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _places(text: str) -> Iterator[tuple[int, int]]:
    small = text.lower()
    if len(small) != len(text):  # `İ` becomes two letters, and places would be others
        small = text.translate(_SMALL)
    for words, pattern in _PATTERNS:
        for start, end in _lines(small, words):
            for found in pattern.finditer(text, start, end):
                yield from _groups(text, found)
    for start, end in _lines(small, ("identified",)):
        at = start
        while (at := small.find("identified", at, end)) >= 0:
            for pattern in _IDENTIFIED:
                if (over := pattern.match(text, at, end + _BEHIND)) is not None:
                    yield from _groups(text, over)
            at += 1
    for start, end in _lines(small, ("value=",)):
        if (bind := _BIND.match(text, start, end + _BEHIND)) is not None:
            yield from _groups(text, bind)


def _lines(small: str, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Give the lines that hold one of the words."""
    done = 0
    following = {word: small.find(word) for word in words}
    while found := [at for at in following.values() if at >= 0]:
        first = min(found)
        start = max(small.rfind("\n", done, first) + 1, done)
        end = small.find("\n", first)
        end = len(small) if end < 0 else end
        yield start, end
        done = end
        following = {word: small.find(word, end) if 0 <= at < end else at for word, at in following.items()}


def _groups(text: str, found: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Give the places of what was found, without quotes; nothing where it is empty or masked already."""
    for number in range(1, found.re.groups + 1):
        start, end = found.span(number)
        if end > start + 1 and text[start] in "\"'" and text[end - 1] == text[start]:
            start, end = start + 1, end - 1
        if end > start and set(text[start:end]) != {"*"}:
            yield start, end
