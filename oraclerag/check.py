"""FLOW check sources: find what fails in them, and take a paused one up again once nothing does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from oraclerag import in_force
from oraclerag.database import Database, translated
from oraclerag.errors import SchemaMissing
from oraclerag.source import Source, SourceProblem

__all__ = ["SourceCheck", "check"]


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """What was found in a source: ``problems``, and what came of a pause.

    ``paused`` says why workers still leave it alone, None if they do not; ``resumed`` means that they did until now.
    """

    source: str
    problems: tuple[SourceProblem, ...] = ()
    paused: str | None = None
    resumed: bool = False

    @property
    def green(self) -> bool:
        """Whether nothing fails; what is only a warning may fail later."""
        return not any(problem.severity == "error" for problem in self.problems)


def check(database: Database, sources: Iterable[Source]) -> list[SourceCheck]:
    """Check sources one after another; one that is paused and green is taken up again, which commits."""
    found = []
    with database.connect() as connection:
        try:
            paused = in_force.read(connection, database.schema).paused
        except SchemaMissing:  # a source can be checked before there are tables
            paused = {}
        for source in sources:
            checked = SourceCheck(source.name, tuple(source.check(connection)), paused.get(source.name))
            if checked.paused is not None and checked.green:
                with translated():  # what the source's own function began would be committed with it
                    connection.rollback()
                resumed = in_force.resume(connection, database.schema, source.name)
                checked = SourceCheck(source.name, checked.problems, resumed=resumed)
            found.append(checked)
    return found
