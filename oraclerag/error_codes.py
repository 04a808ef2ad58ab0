"""Error codes of Oracle's products in a text: found, normalised (ORA-942 is ORA-00942), the one to blame marked.

Pure text work, for chunks and for questions alike. A code is written in capitals: ``ora-00942`` stands in addresses and
file names. What a person types is another matter (:func:`normalised`, ``any_case``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

__all__ = ["FRAMES", "Code", "aliases", "find", "marked", "metadata", "normalised", "starting"]


@dataclass(frozen=True, slots=True)
class Code:
    """An error code as it stands in a text: its normal form, its facility, and its place, half open."""

    code: str
    facility: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Facility:
    """How the codes of a product are written: padded to ``width`` digits (0: as printed), with ``least`` at least.

    Facilities that are words too, or keys of an issue tracker (``REP-7``), need more digits than others.
    """

    width: int = 5
    least: int = 1
    word: bool = False


_LOADER = "SQL*Loader"
_PRINTED = _Facility(0, 3)

_FACILITIES: Mapping[str, _Facility] = MappingProxyType(
    {
        "ORA": _Facility(),
        "PLS": _Facility(),
        "PLW": _Facility(),
        "TNS": _Facility(),
        "RMAN": _Facility(),
        "LRM": _Facility(),
        "DRG": _Facility(),
        "KUP": _Facility(),
        "EXP": _Facility(least=4, word=True),
        "IMP": _Facility(least=4, word=True),
        "UDE": _Facility(least=2),
        "UDI": _Facility(least=2),
        "SP2": _Facility(4, 3),
        "CPY": _Facility(4, 4, word=True),
        "FRM": _Facility(least=5),
        "REP": _Facility(0, 3, word=True),
        "OSD": _Facility(least=4),
        "OCI": _Facility(least=5, word=True),
        "DIA": _Facility(least=5, word=True),
        "DBV": _Facility(least=3),
        "NID": _Facility(least=3),
        "LPX": _Facility(least=3),
        "LSX": _Facility(least=3),
        "JZN": _Facility(least=2),
        "QSM": _Facility(least=3),
        "AMDU": _Facility(least=3),
        "OGG": _Facility(least=5),
        "PCC": _Facility(least=4),
        "OUI": _Facility(least=5, word=True),
        "INS": _Facility(least=5, word=True),
        "BEA": _Facility(0, 6, word=True),
        "JBO": _Facility(least=5),
        "CRS": _Facility(0, 4, word=True),
        "PROC": _Facility(0, 2, word=True),
        "PROCL": _Facility(0, 2),
        "PROT": _Facility(0, 2, word=True),
        "SBT": _Facility(0, 3),
        "ASMCMD": _PRINTED,
        "ACFS": _PRINTED,
        _LOADER: _Facility(0),
    }
)
# PRCR, PRKO, PRVF, CLSU and the like.
_FOUR_LETTERS = frozenset({"PRC", "PRK", "PRV", "CLS"})

_ORA_MOST = 65535
_APP = "APP"

FRAMES: frozenset[str] = frozenset(
    {
        "RMAN-00571", "RMAN-00569", "RMAN-03002", "RMAN-03009", "EXP-00056", "IMP-00017", "APP-FND-01564",
        "ORA-06512", "ORA-04088", "ORA-06510", "ORA-00604", "ORA-00603", "ORA-12012", "ORA-39083", "ORA-39082",
        "ORA-39125", "ORA-39183", "ORA-29913", "ORA-29400", "TNS-12560", "ORA-12560",
    }
)  # fmt: skip
"""Codes that say where something failed, not why."""

# Rules around a message, never what a stack is known by.
_BANNERS = frozenset({"RMAN-00571", "RMAN-00569"})
# Frames only where the other code says more: Oracle Text below ORA-20000, no shared memory below ORA-01034.
_FRAMES_OVER = {"ORA-20000": "DRG-", "ORA-01034": "ORA-27101"}

# Behind the number neither more of a word, nor a pattern (`ORA-200[0-9]`), nor more numbers, nor a file's extension.
_NOT_BEHIND = r"(?![\w$#\[]|-\d|\.(?:txt|log|html?|trc|md|pdf|sql|out|lst|json|xml)\b)"
_NUMBER = re.compile(r"-(?<=[A-Z2r]-)(\d{1,6})" + _NOT_BEHIND, re.ASCII)
_NUMBER_ANY_CASE = re.compile(r"-(?<=[A-Za-z2]-)(\d{1,6})" + _NOT_BEHIND, re.ASCII)
# What stands before it, read backwards from the dash; thirteen characters hold the longest and the one before it.
_BEFORE = re.compile(r"(?:^|[^\w$#/\\.\-]|(?<=\d)/)((?:APP-)?[A-Z][A-Z2]{1,7}|SQL\*Loader)$", re.ASCII)
_BEFORE_ANY_CASE = re.compile(_BEFORE.pattern, re.ASCII | re.IGNORECASE)
_LONGEST = 13
_PROBLEM = re.compile(r"ORA (?<![\w$]ORA )(\d{3,5}) \[", re.ASCII)
_WORDS = (
    "ORACLE error", "ORA error", "Oracle Error", "OracleError =", "vendor code", "ErrorCode:", "SQLCODE", "sqlcode",
    "SQLERRM",
)  # fmt: skip
_WORD = re.compile(
    r"\b(?:ORACLE error|ORA error|Oracle Error|OracleError =|vendor code|ErrorCode:|SQLCODE ?[=:]? ?-|sqlcode ?[=:]? ?-"
    r"|SQLERRM ?[=:(]? ?-)[ (]{0,2}(\d{1,5})(?!\d)",
    re.ASCII,
)
_START = re.compile(r'[ \t<*"(\[]{0,16}((?:APP-)?[A-Z][A-Z2]{1,7}|SQL\*Loader)-(\d{1,6})(?=[:. \t)\]",;>]|$)', re.ASCII)
_TYPED = re.compile(
    r"\s*(?:(APP-[A-Z]{2,8}|[A-Z][A-Z2]{1,7}|SQL\*Loader)\s?[-_ ]?\s?)?(\d{1,6})\s*", re.ASCII | re.IGNORECASE
)

# The numbers of SQL*Net's own layer are the same in both facilities.
_NET = range(12150, 12700)


def find(text: str, *, any_case: bool = False) -> list[Code]:
    """Give the error codes that a text names, in order, each as often as it does.

    ``ORA 600 [x]`` and ``ORACLE error 942`` are codes too; ORA-00000 is none. ``any_case``: also those in small
    letters, as people type them, save of facilities that are words (``rep-300``).
    """
    found = list(_numbered(text, any_case=any_case))
    others = len(found)
    if "ORA " in text:
        found += _of_database(_PROBLEM.finditer(text))
    if any(word in text for word in _WORDS):
        found += _of_database(_WORD.finditer(text))
    if len(found) > others:
        found.sort(key=lambda code: code.start)
    return found


def _numbered(text: str, *, any_case: bool) -> Iterator[Code]:
    number = _NUMBER_ANY_CASE if any_case else _NUMBER
    before = _BEFORE_ANY_CASE if any_case else _BEFORE
    for hit in number.finditer(text):
        at = hit.start()
        name = before.search(text[max(at - _LONGEST, 0) : at])
        if name is None:
            continue
        facility = name[1]
        if any_case and facility not in _FACILITIES:
            facility = _spelled(facility)
            if name[1] != facility and (facility == _APP or _FACILITIES.get(facility, _PRINTED).word):
                continue
        code = _normal(facility, hit[1])
        if code is not None:
            yield Code(code, facility.partition("-")[0], at - len(name[1]), hit.end())


def _of_database(hits: Iterable[re.Match[str]]) -> Iterator[Code]:
    for hit in hits:
        code = _normal("ORA", hit[1])
        if code is not None:
            yield Code(code, "ORA", hit.start(), hit.end())


def _spelled(facility: str) -> str:
    return _LOADER if facility.upper() == _LOADER.upper() else facility.upper()


def _normal(facility: str, number: str) -> str | None:
    """Give the normal form of a code, None where it cannot be one."""
    value = int(number)
    if value == 0:
        return None
    name, _, product = facility.partition("-")
    if name == _APP:
        # Without a product it may be the key of a task: `APP-1234`.
        if len(number) < (4 if product else 5):
            return None
        return f"{facility}-{number:0>5}"
    known = _FACILITIES.get(facility)
    if known is None and len(facility) == 4 and facility[:3] in _FOUR_LETTERS:
        known = _PRINTED
    if known is None or len(number) < known.least:
        return None
    if facility == "ORA" and value > _ORA_MOST:
        return None
    if facility == _LOADER:
        return f"{facility}-{value}"
    if known.width:
        number = str(value)
        return f"{facility}-{number:0>{known.width}}" if len(number) <= 5 else None
    return f"{facility}-{number}"


def starting(text: str) -> Code | None:
    """Give the code that a line starts with, behind blanks, asterisks, quotes and brackets; None if it has none."""
    hit = _START.match(text)
    if hit is None:
        return None
    code = _normal(hit[1], hit[2])
    return Code(code, hit[1].partition("-")[0], hit.start(1), hit.end(2)) if code is not None else None


def metadata(text: str) -> dict[str, Any]:
    """Give what the codes of a text say as metadata, by the names that :func:`marked` gives; nothing without codes."""
    found = find(text)
    return marked(code.code for code in found) if found else {}


def marked(codes: Iterable[str]) -> dict[str, Any]:
    """Give normalised codes, in the order of their text, as metadata; nothing where there are none.

    ``oracle_error_code``: all of them, each once. ``oracle_error_primary``: the first, by which a stack is known.
    ``oracle_error_cause``: the first that says why and not where (:data:`FRAMES`); missing where none does.
    """
    distinct = list(dict.fromkeys(codes))
    if not distinct:
        return {}
    found: dict[str, Any] = {"oracle_error_code": distinct}
    primary = next((code for code in distinct if code not in _BANNERS), None)
    if primary is not None:
        found["oracle_error_primary"] = primary
    cause = next((code for code in distinct if code not in FRAMES and not _over(code, distinct)), None)
    if cause is not None:
        found["oracle_error_cause"] = cause
    return found


def _over(code: str, others: list[str]) -> bool:
    more = _FRAMES_OVER.get(code)
    return more is not None and any(other.startswith(more) for other in others)


def normalised(text: str) -> str | None:
    """Give the normal form of a code that a person typed, None where it is none.

    ``ora-942``, ``ORA 00942``, ``ORA942`` and, where a code is asked for, the bare number of a database error: ``942``.
    """
    typed = _TYPED.fullmatch(text)
    if typed is None:
        return None
    facility = _spelled(typed[1]) if typed[1] else "ORA"
    return _normal(facility, typed[2])


def aliases(code: str) -> tuple[str, ...]:
    """Give a normalised code and the other one under which the same error is known.

    TNS-12541 is ORA-12541, the numbers of SQL*Net being the same in both; OCI-21500 is ORA-21500.
    """
    facility, _, number = code.partition("-")
    if not number.isdecimal():
        return (code,)
    if facility == "OCI":
        return (code, f"ORA-{number}")
    if int(number) in _NET and facility in {"TNS", "ORA"}:
        return (code, f"{'ORA' if facility == 'TNS' else 'TNS'}-{number}")
    return (code,)
