"""One run of doctor: every check in turn; none of them can end it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from oraclerag.database import Database
from oraclerag.doctor import backlog, contents, embedding, indexes, installation, instance, outside, rights, session
from oraclerag.doctor.finding import DoctorReport, Finding, Verdict, fail, unknown
from oraclerag.doctor.look import MAX_LAG, Check, Look, may_not_read
from oraclerag.errors import OracleRagError
from oraclerag.source import Source

__all__ = ["CHECKS", "examine"]

CHECKS: tuple[Check, ...] = (
    *session.CHECKS,
    *instance.CHECKS,
    *installation.CHECKS,
    *rights.CHECKS,
    *embedding.CHECKS,
    *indexes.CHECKS,
    *backlog.CHECKS,
    *contents.CHECKS,
    *outside.CHECKS,
)
"""Every check, in the order in which one would look."""


def examine(
    database: Database,
    sources: Mapping[str, Source],
    *,
    heartbeat: Path | None = None,
    probe: bool = False,
    max_lag: float = MAX_LAG,
    checks: Iterable[Check] = CHECKS,
) -> DoctorReport:
    """Make every check that can be made; raises nothing, but for an interruption."""
    look = Look(database, sources, heartbeat, probe, max_lag)
    findings: list[Finding] = []
    missed: list[str] = []  # what failed, is unknown or was skipped: what comes after it has nothing to stand on
    skipped: list[str] = []
    for check in checks:
        if any(name in missed for name in check.after):
            skipped.append(check.name)
            missed.append(check.name)
            continue
        found = list(_made(check, look))
        findings += found
        if any(finding.state in ("fail", "unknown") for finding in found):
            missed.append(check.name)
    return DoctorReport(tuple(findings), tuple(skipped))


def _made(check: Check, look: Look) -> Iterator[Finding]:
    try:
        answer = check.look(look)
        verdicts = [answer] if isinstance(answer, Verdict) else list(answer)
    except OracleRagError as error:
        if check.reads and may_not_read(error):
            verdicts = [_not_granted(check, look)]
        else:
            verdicts = [fail(error.message, error.hint)]
    except Exception as error:  # noqa: BLE001 - a fault of a check is a finding, and no end
        # of a fault of ours the class alone: its text may hold anything
        verdicts = [
            fail(f"The check itself failed ({type(error).__name__}).", "Report it, with the output of this command.")
        ]
    for verdict in verdicts:
        name = check.name if verdict.about is None else f"{check.name}:{verdict.about}"
        yield Finding(name, verdict.state, verdict.detail, verdict.remedy)


def _not_granted(check: Check, look: Look) -> Verdict:
    tables = " and ".join(check.reads)
    grants = "; ".join(f"GRANT READ ON {look.schema}.{table} TO {look.user()}" for table in check.reads)
    return unknown(
        f"This database user may not read {tables}.",
        f"{grants} (a role of sql/setup/grant_users.sql may hold it), or run it as another user.",
    )
