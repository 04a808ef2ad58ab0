"""The names under which metadata say what a text is about, the same for files, reports and resolved incidents.

What a report cannot know its caller gives (:class:`Envelope`); what it says is read out of it by the families of
reports, with the functions of this module.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from types import MappingProxyType

from oraclerag.errors import InputError

__all__ = [
    "FIELDS",
    "NAMES",
    "RESOLUTION_TYPES",
    "Envelope",
    "check_result",
    "oracle_doc_ids",
    "resolution_type",
    "sql_ids",
]

NAMES = (
    "oracle_error_code",
    "oracle_error_primary",
    "oracle_error_cause",
    "erp_module",
    "erp_version",
    "source_script",
    "resolution_type",
    "oracle_doc_id",
    "environment_id",
    "check_result",
    "sql_id",
    "wait_event",
    "instance",
    "container",
    "timestamp",
)
"""The names of the envelope, as a filter uses them."""

FIELDS = MappingProxyType(
    {
        "environment": "environment_id", "module": "erp_module", "version": "erp_version", "script": "source_script",
        "oracle_doc_id": "oracle_doc_id", "resolution_type": "resolution_type",
    }
)  # fmt: skip
"""What a caller says (:class:`Envelope`), by the name that it has in the metadata."""

RESOLUTION_TYPES = (
    "Configuration Fix",
    "SQL Optimization",
    "Tablespace Extension",
    "Data Correction",
    "Oracle SR Escalation",
)
"""What kind of thing resolved an incident: values of ``resolution_type``."""

_MOST_BYTES = 200
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

_DOC_ID = re.compile(
    r"\b(?:Doc(?:ument)?\.? ?I[Dd]:? ?|MOS(?: Note)?:? ?|Note:? ?|Document )#?(\d{1,8}\.\d{1,2})(?![\d.])", re.ASCII
)
_TYPED_DOC_ID = re.compile(r"(?:[A-Za-z .:#]{0,24}?)((?:[A-Z]{2,3})?\d{1,10}(?:\.\d{1,2})?)", re.ASCII)
# The notes that SQLHC, SQLT and Trace Analyzer are published in: they say what wrote a report.
_NOTES_OF_TOOLS = frozenset({"1366133.1", "215187.1", "224270.1"})

_SQL_ID = re.compile(
    r"\b(?:sqlid='|(?:sql_id|SQL_ID)(?: ?[=:] ?'?| {1,4})|(?:SQL ID|Sql Id) ?: ?)([0-9a-z]{13})(?![\w$#])", re.ASCII
)

_RESULT = re.compile(
    r"(?:.{0,200}?[ \t|:\[(])?(PASS(?:ED)?|WARN(?:ING)?|FAIL(?:ED)?|OK|ERROR)(?:[ \t|:\])].{0,400})?$", re.ASCII
)
_RESULTS = {"OK": "PASS", "PASSED": "PASS", "WARNING": "WARN", "FAILED": "FAIL", "ERROR": "FAIL"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What a caller knows of a report and the report does not: each a text of at most 200 bytes, or None.

    ``environment`` ("PROD-US-01"), ``module`` ("AP"), ``version`` ("EBS R12.2.10"), ``script`` ("SYS-03"),
    ``oracle_doc_id`` ("123456.1", however it is written), ``resolution_type`` (one of :data:`RESOLUTION_TYPES`,
    however it is written, or of ``other_resolution_types``). Raises InputError.
    """

    environment: str | None = None
    module: str | None = None
    version: str | None = None
    script: str | None = None
    oracle_doc_id: str | None = None
    resolution_type: str | None = None
    other_resolution_types: Collection[str] = ()

    def __post_init__(self) -> None:
        for name in FIELDS:
            value = getattr(self, name)
            if value is None:
                continue
            if not isinstance(value, str) or not value.strip() or _CONTROL.search(value):
                raise InputError(f"{name} must be a text of one line that is not blank.")
            if len(value.encode()) > _MOST_BYTES:
                raise InputError(f"{name} must be at most {_MOST_BYTES} bytes.")
            object.__setattr__(self, name, value.strip())
        if self.oracle_doc_id is not None:
            object.__setattr__(self, "oracle_doc_id", _doc_id(self.oracle_doc_id))
        if self.resolution_type is not None:
            known = resolution_type(self.resolution_type, self.other_resolution_types)
            object.__setattr__(self, "resolution_type", known)

    def as_metadata(self) -> dict[str, str]:
        """Give what is known, by the names that chunks have and filters use."""
        return {kept: value for name, kept in FIELDS.items() if (value := getattr(self, name)) is not None}


def resolution_type(text: str, others: Collection[str] = ()) -> str:
    """Give a kind of resolution as it is spelled; raises InputError where it is none of the five, nor of ``others``."""
    typed = " ".join(text.replace("_", " ").replace("-", " ").split()).casefold()
    for known in (*RESOLUTION_TYPES, *others):
        if known.replace("-", " ").casefold() == typed:
            return known
    raise InputError(
        f"resolution_type {text[:80]!r} is not known.",
        hint=f"Take one of {', '.join((*RESOLUTION_TYPES, *others))}, or name it as one of your own types.",
    )


def _doc_id(text: str) -> str:
    found = _TYPED_DOC_ID.fullmatch(text)
    if found is None:
        raise InputError(f"oracle_doc_id {text[:80]!r} is no number of a note.", hint="It looks like 123456.1.")
    return found[1]


def oracle_doc_ids(text: str) -> list[str]:
    """Give the numbers of the notes that a text names as such (``Doc ID 123456.1``), in order, each once.

    The notes that only say which tool wrote a report are left out.
    """
    if "." not in text:
        return []
    return [found for found in dict.fromkeys(_DOC_ID.findall(text)) if found not in _NOTES_OF_TOOLS]


def sql_ids(text: str) -> list[str]:
    """Give the ids of statements that stand behind a label (``SQL ID:``, ``sqlid='…'``), in order, each once."""
    return list(dict.fromkeys(_SQL_ID.findall(text)))


def check_result(line: str) -> str | None:
    """Give PASS, WARN or FAIL where a line of a health check says so, as a word of its own; None where it does not.

    OK is PASS, ERROR is FAIL. Only for reports whose own header says that they are one: the words are common.
    """
    found = _RESULT.match(line)
    return _RESULTS.get(found[1], found[1]) if found is not None else None
