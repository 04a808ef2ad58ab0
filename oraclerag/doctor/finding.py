"""What doctor finds: one finding for every check, and the report of them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["DoctorReport", "Finding", "State", "Verdict", "fail", "ok", "unknown", "warn"]

State = Literal["ok", "warn", "fail", "unknown"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found: ``state`` is "ok", "warn" (it will fail, or costs something), "fail" or "unknown".

    ``name`` is that of the check, with what it is about behind a colon where it looks at several: "coverage:task".
    ``remedy`` says what to type, None where nothing is to be done; of what is unknown it says how it can be known.
    """

    name: str
    state: State
    detail: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Every finding, in the order in which one would look.

    ``skipped`` are the checks that could not be made because of one before them, which failed or is unknown.
    """

    findings: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        """Whether nothing fails; a warning is no failure, and neither is what is unknown."""
        return not any(finding.state == "fail" for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check says; who asked it knows its name. ``about`` is what of several it is about."""

    state: State
    detail: str
    remedy: str | None = None
    about: str | None = None


def ok(detail: str, *, about: str | None = None) -> Verdict:
    """Nothing is wrong."""
    return Verdict("ok", detail, None, about)


def warn(detail: str, remedy: str, *, about: str | None = None) -> Verdict:
    """It works, and will not for ever or not well."""
    return Verdict("warn", detail, remedy, about)


def fail(detail: str, remedy: str | None, *, about: str | None = None) -> Verdict:
    """It does not work; None as the remedy only where none is known."""
    return Verdict("fail", detail, remedy, about)


def unknown(detail: str, remedy: str, *, about: str | None = None) -> Verdict:
    """It could not be looked at."""
    return Verdict("unknown", detail, remedy, about)
