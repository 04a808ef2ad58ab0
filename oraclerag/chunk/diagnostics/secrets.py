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
        ("apps/", "applsys", "system/", "sys/"),
        _pattern(r"(?<![\w/\\$.-])(?:apps|applsys\w{0,20}|system|sys)/([^\s@/\"'*]{1,256})(?=[@\s\"']|$)"),
    ),
    (
        ("identified",),
        _pattern(
            rf"\bidentified[ \t\r\n]+by[ \t\r\n]+(?!{_NEVER})(\"[^\"\n]{{1,1024}}\"|[^\s;,()\"']{{1,1024}})"
            rf"(?:[ \t]+replace[ \t]+({_QUOTED}|[^\s;,\"']{{1,1024}}))?"
        ),
    ),
    (("identified",), _pattern(r"\bidentified[ \t\r\n]+by[ \t\r\n]+values[ \t\r\n]+'([^']{1,4000})'")),
    (
        ("passw", "pwd"),
        _pattern(rf"(?:password|passwd|passwort|pwd)[\"']?[ \t]*=[ \t]*({_QUOTED}|[^\s;,()\"'&]{{1,1024}})"),
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
    (
        ("value=",),
        _pattern(
            rf"^[ \t]{{1,8}}value=(?:\"((?:[^\"\n]|\"(?![ \t\r]*$)|\n(?!{_RECORD})){{0,4000}})"
            rf"|([^\"\s][^\n]{{0,4000}}))",
            re.MULTILINE,
        ),
    ),
)


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
    for words, pattern in _PATTERNS:
        if not any(word in small for word in words):
            continue
        for found in pattern.finditer(text):
            for number in range(1, pattern.groups + 1):
                start, end = found.span(number)
                if end > start and text[start] in "\"'" and text[end - 1] == text[start] and end - start > 1:
                    start, end = start + 1, end - 1
                if end > start and set(text[start:end]) != {"*"}:
                    yield start, end
