"""How an incident is closed: its resolution, filled in as far as it is known, as a record and as a command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from oraclerag.diagnose.analysis import Analysis
from oraclerag.diagnose.findings import Findings

__all__ = ["PLACEHOLDER", "command", "symptom", "title"]

PLACEHOLDER = "WHAT RESOLVED IT"
"""What stands in the command where the fix belongs."""

_TITLE = 80  # characters
_SYMPTOM = 400
_OPTIONS = {"environment": "--env", "module": "--module", "version": "--erp-version", "script": "--script"}


def title(analysis: Analysis, found: Findings) -> str:
    """Give a line that says what happened: the summary, else the first message, else codes and waits."""
    message = next((error.message for error in found.errors if error.code in analysis.error_codes), "")
    named = ", ".join((*analysis.error_codes[:3], *analysis.waits[:2]))
    return _line(analysis.summary or message or named or analysis.text, _TITLE)


def symptom(analysis: Analysis) -> str:
    """Give what was seen."""
    return _line(analysis.text, _SYMPTOM)


def command(analysis: Analysis, found: Findings, envelope: Mapping[str, str | None], tenant: str | None) -> str:
    """Give the command that keeps what resolved an incident; what it was takes the place of :data:`PLACEHOLDER`."""
    words = ["oraclerag", "resolution", "add", title(analysis, found), "--fix", PLACEHOLDER]
    words += ["--symptom", symptom(analysis)]
    for code in analysis.error_codes:
        words += ["--error", code]
    for name, option in _OPTIONS.items():
        if value := envelope.get(name):
            words += [option, value]
    words += [] if tenant is None else ["--tenant", tenant]
    return shlex.join(words)


def _line(text: str, limit: int) -> str:
    """Give a text on one line, without what a terminal obeys, that is neither an option nor ``@FILE``."""
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split()).lstrip("-@ ") or "incident"
    return text if len(text) <= limit else text[: limit - 1] + "…"
