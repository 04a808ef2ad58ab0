"""A changed configuration is put in force: first what that means and costs, then, step by step, doing it.

Which settings a source's chunks are made with stands in the database; workers that have other ones leave the source
alone. A deployment checks the sources, brings the triggers up to date where there are any, makes the new settings those
in force, and enqueues what must be rendered again, for the workers. What is as it should be is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from oraclerag import backfill as backfilling
from oraclerag import check as checking
from oraclerag import in_force, triggers
from oraclerag.config import RESERVED_SOURCES, Settings
from oraclerag.database import Database
from oraclerag.errors import ConfigurationError, InputError, SourceError
from oraclerag.model.active import active_model
from oraclerag.model.external import configured_name
from oraclerag.records import BackfillEstimate, BackfillReport, fingerprint_half
from oraclerag.source import Source, SourceProblem
from oraclerag.triggers import TriggerPlan

__all__ = ["DeployReport", "Deployment", "SourceChange", "apply", "plan"]


@dataclass(frozen=True, slots=True)
class SourceChange:
    """One source: whether its settings are "new", "changed" or the "same" as those in force, and what that takes.

    ``estimate`` is what would be rendered and embedded; None where a problem keeps the source from being read.
    ``paused`` says why workers leave it alone.
    """

    source: str
    state: Literal["new", "changed", "same"]
    problems: tuple[SourceProblem, ...] = ()
    paused: str | None = None
    estimate: BackfillEstimate | None = None

    @property
    def green(self) -> bool:
        """Whether nothing of it fails."""
        return not any(problem.severity == "error" for problem in self.problems)

    @property
    def waits(self) -> bool:
        """Whether there is anything to do for it."""
        work = self.estimate is not None and (self.estimate.entities or self.estimate.gone)
        return self.state != "same" or self.paused is not None or bool(work)


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a deployment would do.

    ``triggers`` are None where none of ours is there: then the programs announce their changes, and none is created.
    ``unknown`` are sources that have settings in force and are not configured here: their chunks and triggers stay as
    they are.
    """

    sources: tuple[SourceChange, ...]
    triggers: TriggerPlan | None
    unknown: tuple[str, ...] = ()

    @property
    def green(self) -> bool:
        """Whether nothing of any source fails: nothing is done otherwise."""
        return all(source.green for source in self.sources)

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return any(source.waits for source in self.sources) or bool(self.triggers and self.triggers.changes)


@dataclass(frozen=True, slots=True)
class DeployReport:
    """What was done: ``triggers`` created, replaced or dropped; a report for every source that was backfilled.

    ``resumed`` are sources that were paused until now.
    """

    triggers: int
    backfills: tuple[BackfillReport, ...]
    resumed: tuple[str, ...]


def plan(database: Database, sources: Sequence[Source], settings: Settings) -> Deployment:
    """Find out what is different from what is in force, what fails, and what rendering it again costs; writes nothing.

    ``sources`` are all that there are. Raises ModelNotActive, SchemaMissing.
    """
    with database.connect() as connection:
        model = active_model(connection, database.schema, configured=configured_name(settings))
        now = in_force.read(connection, database.schema)
        ours = bool(triggers.installed(connection, database.schema))
    checks = {checked.source: checked for checked in checking.check(database, sources, resume=False)}
    planned, wrong = _triggers(database, sources) if ours else (None, {})
    found = []
    for source in sources:
        checked = checks[source.name]
        problems = (*checked.problems, *wrong.get(source.name, ()))
        mine = fingerprint_half(source.fingerprint(model), "settings")
        theirs = now.fingerprints.get(source.name)
        estimate = backfilling.estimate(database, source, settings) if checked.green else None
        found.append(
            SourceChange(
                source.name,
                "new" if theirs is None else "same" if theirs == mine else "changed",
                problems,
                now.paused.get(source.name),
                estimate,
            )
        )
    known = {*RESERVED_SOURCES, *(source.name for source in sources)}
    return Deployment(tuple(found), planned, tuple(sorted(set(now.fingerprints) - known)))


def apply(
    database: Database,
    sources: Sequence[Source],
    settings: Settings,
    planned: Deployment,
    *,
    said: Callable[[str], None] = lambda _: None,
) -> DeployReport:
    """Do what was planned; ``said`` is told every step. Commits. What is done already is not done again.

    Raises InputError where a source is not green: then nothing is done; and what a backfill raises.
    """
    if not planned.green:
        names = ", ".join(source.source for source in planned.sources if not source.green)
        raise InputError(
            f"Nothing was done: {names} is not green.", hint="`oraclerag source check` says what is wrong."
        )
    changed = 0
    if planned.triggers is not None and planned.triggers.changes:
        triggers.apply(database, planned.triggers)
        changed = planned.triggers.changes
        said(f"triggers created, replaced or dropped: {changed}")
    waits = {change.source: change for change in planned.sources if change.waits}
    reports, resumed = [], []
    for source in sources:
        change = waits.get(source.name)
        if change is None:
            continue
        report = backfilling.backfill(database, source, settings)  # puts the settings in force, and ends a pause
        if change.state != "same":
            said(f"{source.name}: these settings are in force")
        if change.paused is not None:
            resumed.append(source.name)
            said(f"{source.name}: no longer paused")
        if report.enqueued or report.gone:
            said(f"{source.name}: {report.enqueued:,} to index and {report.gone:,} gone enqueued")
        reports.append(report)
    return DeployReport(changed, tuple(reports), tuple(resumed))


def _triggers(
    database: Database, sources: Sequence[Source]
) -> tuple[TriggerPlan | None, dict[str, list[SourceProblem]]]:
    """Plan the triggers of all sources; where an entry cannot become one, say of which source."""
    try:
        return triggers.plan(database, sources), {}  # those of other configurations are nobody's business here
    except (ConfigurationError, SourceError):
        wrong: dict[str, list[SourceProblem]] = {}
        for source in sources:
            try:
                triggers.plan(database, [source])
            except (ConfigurationError, SourceError) as error:
                wrong[source.name] = [SourceProblem(source.name, "NO_TRIGGER", error.message, error.hint)]
        return None, wrong
