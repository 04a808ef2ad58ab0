"""What a diagnosis says: the record that travels to its reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from oraclerag.diagnose.analysis import Analysis
from oraclerag.diagnose.command import symptom, title
from oraclerag.diagnose.findings import Findings
from oraclerag.diagnose.matching import Match
from oraclerag.envelope import FIELDS, Envelope
from oraclerag.records import Answer, Resolution, SourceKey

__all__ = ["Diagnosis"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a report says, what is known of it, and the way out.

    ``found``: errors and waits of the report. ``envelope`` is what the caller says of it, and module and version where
    the report names them itself. ``analysis`` is what was searched for, with the report's codes where it names none;
    ``analysed_by`` who made it: "caller", "extracted" (read out of the report) or the name of a language model. Both
    are None where the report says nothing to search for. ``cases`` are resolved incidents, ``notes`` what else tells of
    it, ``reports`` others that name the same errors; each best first, with its reasons. ``missing`` are the codes, or
    without any the waits, that no case and no note names.
    ``path`` is the answer, cited, over cases and notes; its ``outcome`` is "no_grounds" where there are none.
    ``command`` keeps what resolved it, so that the next one finds it. ``stored`` is the report in the index, where it
    was taken in. ``remarks`` say what went otherwise than asked. ``timings`` are seconds by step.
    """

    name: str | None
    found: Findings
    envelope: Envelope
    tenant: str | None
    analysis: Analysis | None
    analysed_by: str | None
    cases: tuple[Match, ...]
    notes: tuple[Match, ...]
    reports: tuple[Match, ...]
    missing: tuple[str, ...]
    path: Answer
    command: str | None = field(repr=False)
    stored: SourceKey | None = None
    remarks: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)

    def resolution(self, fix: str, **more: Any) -> Resolution:
        """Give the resolution of the incident for :meth:`oraclerag.Rag.record_resolution`, filled in as it is known.

        ``more`` wins over that. Raises InputError, also where the report says nothing that could be found again.
        """
        known: dict[str, Any] = {name: getattr(self.envelope, name) for name in FIELDS}
        known["tenant"] = self.tenant
        if self.analysis is not None:
            known |= {
                "title": title(self.analysis, self.found),
                "symptom": symptom(self.analysis),
                "error_codes": self.analysis.error_codes,
            }
        return Resolution(**{"title": "Incident", "fix": fix, **known, **more})
