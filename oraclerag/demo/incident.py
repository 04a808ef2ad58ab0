"""The incident of the demo: two reports that meet the same error, and between them what resolved it is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oraclerag.errors import OracleRagError
from oraclerag.scope import Scope

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.diagnose import Diagnosis
    from oraclerag.rag import Rag

__all__ = ["met"]

_REPORTS = Path(__file__).parent / "reports"
_FIRST, _SECOND = _REPORTS / "alert_PROD1.log", _REPORTS / "request_7718231.log"
_SCOPE = Scope(manager=True)


def met(rag: Rag, screen: Output, step: Callable[[str, str | None], None]) -> dict[str, Any]:
    """Meet an incident that nobody knows, keep what resolved it, and meet it again in another report.

    Raises where it was known before, or is not known then.
    """
    command = "oraclerag diagnose {} --env PROD-US-01 --module AP --manager"
    step("A database is in trouble: what does its log say, and what is known?", command.format(_FIRST))
    before = rag.diagnose(_FIRST, scope=_SCOPE, env="PROD-US-01", module="AP")
    _show(screen, before)
    step("Keep what resolved it", "oraclerag resolution add TITLE --fix @FILE --validated-by NAME")
    fix = (_REPORTS / "resolution.txt").read_text("utf-8")
    kept = rag.record_resolution(before.resolution(fix, validated_by="dba"))
    rag.work(once=True)
    if not screen.json:
        screen.facts({"kept": f"resolution {kept.id}: {kept.title}"})
    step("A week later a request of Payables fails", command.format(_SECOND))
    after = rag.diagnose(_SECOND, scope=_SCOPE, env="PROD-US-01", module="AP")
    _show(screen, after)
    cases = [str(match.hit.source) for match in after.cases]
    if before.cases or cases != [f"resolution:{kept.id}"]:
        raise OracleRagError(f"Before, {len(before.cases)} cases were known; then {', '.join(cases) or 'none'}.")
    return {
        "errors": [error.code for error in after.found.errors],
        "known_before": len(before.cases),
        "cases": cases,
        "reports": [str(match.hit.source) for match in after.reports],
        "cited": [str(citation.source) for citation in after.path.citations],
    }


def _show(screen: Output, found: Diagnosis) -> None:
    if screen.json:
        return
    screen.table(
        ("error", "times", "message"),
        ((error.code, error.count, error.message) for error in found.found.errors),
        right=("times",),
    )
    known = [*found.cases, *found.notes, *found.reports]
    if known:
        screen.table(("known", "why"), ((match.hit.source, "; ".join(match.reasons)) for match in known))
    if found.missing:
        screen.write(f"No case and no note names {', '.join(found.missing)}.")
    screen.write(f"{found.path.text}\n\n{found.path.references}".rstrip())
