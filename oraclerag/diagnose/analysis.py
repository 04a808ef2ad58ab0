"""What an incident is about, in few words: given by the caller, made by a language model, or read out of the report.

It is what is searched for: it says what is meant, where a report says thousands of things.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from oraclerag import error_codes
from oraclerag.chunk import storable
from oraclerag.diagnose.findings import Findings
from oraclerag.errors import InputError

__all__ = ["Analysis", "analysis_of", "from_findings"]

_TEXT = 4_000  # characters of summary and root cause
_ITEMS = 20
_ITEM = 300  # characters of one
_CODES = 10  # of a report that are searched for
_MESSAGES = 3
_WAITS = 3
_CODE_BEFORE = re.compile(r"[\w*-]{3,14}: *")


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What an incident is about.

    ``summary`` and ``root_cause`` are texts of at most 4,000 characters, the others lists of at most 20 texts of 300:
    ``error_codes`` (normalised), ``waits`` (names of events), ``symptoms``. One of them must say something. Raises
    InputError.
    """

    summary: str = field(default="", repr=False)
    root_cause: str = field(default="", repr=False)
    error_codes: Sequence[str] = ()
    waits: Sequence[str] = ()
    symptoms: Sequence[str] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name in ("summary", "root_cause"):
            object.__setattr__(self, name, _text(getattr(self, name), name, _TEXT))
        for name in ("error_codes", "waits", "symptoms"):
            items = getattr(self, name)
            if not isinstance(items, list | tuple) or len(items) > _ITEMS:
                raise InputError(f"Analysis: {name} must be a list of at most {_ITEMS} texts.")
            found = (_text(item, name, _ITEM) for item in items)
            object.__setattr__(self, name, tuple(dict.fromkeys(item for item in found if item)))
        object.__setattr__(self, "error_codes", tuple(dict.fromkeys(map(_code, self.error_codes))))
        if not any(getattr(self, item.name) for item in fields(self)):
            raise InputError("Analysis: it says nothing.", hint="Give it a summary, or error_codes.")

    @property
    def text(self) -> str:
        """What is searched for: all that it says, the summary first."""
        told = f"{self.summary} {self.root_cause} {' '.join(self.symptoms)}"
        codes = [code for code in self.error_codes if code not in told]
        waits = [event for event in self.waits if event not in told]
        parts = (" ".join(codes), self.summary, self.root_cause, "; ".join(self.symptoms), ", ".join(waits))
        return ". ".join(part.strip().rstrip(".") for part in parts if part.strip())


def analysis_of(value: Analysis | Mapping[str, Any] | str) -> Analysis:
    """Take an analysis, a mapping with its names, or the text of a JSON object. Raises InputError."""
    if isinstance(value, Analysis):
        return value
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise InputError("Analysis: it is no JSON.") from None
    known = [item.name for item in fields(Analysis)]
    if not isinstance(value, Mapping):
        raise InputError(f"Analysis: it must be an object with {', '.join(known)}.")
    if unknown := [str(name) for name in value if name not in known]:
        raise InputError(f"Analysis: it has {len(unknown)} unknown names.", hint=f"Known are {', '.join(known)}.")
    return Analysis(**value)


def from_findings(found: Findings) -> Analysis | None:
    """Make an analysis of what was found; None where a report names neither errors nor waits.

    The first messages of the errors that say why, and the longest waits.
    """
    why = [error for error in found.errors if error.code in found.causes][:_MESSAGES]
    messages = [_CODE_BEFORE.sub("", error.message, count=1) for error in why]
    codes, waits = found.causes[:_CODES], [wait.event for wait in found.waits[:_WAITS]]
    if not codes and not waits:
        return None
    return Analysis(
        error_codes=codes,
        waits=() if codes else waits,
        symptoms=tuple(dict.fromkeys(text[:_ITEM] for text in messages if text)),
    )


def _text(value: object, name: str, limit: int) -> str:
    if not isinstance(value, str) or len(value) > limit:
        raise InputError(f"Analysis: {name} must be a text of at most {limit:,} characters.")
    return " ".join(storable(value).split())


def _code(text: str) -> str:
    code = error_codes.normalised(text)
    if code is None:
        raise InputError("Analysis: one of error_codes is no error code, such as ORA-01652.")
    return code
