"""What a proposed source does with rows that are there: one of them rendered, and what all of them would cost."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import oracledb

from oraclerag import triggers
from oraclerag.backfill import Sample
from oraclerag.chunk import Limits
from oraclerag.config import Settings, parse_source
from oraclerag.database import Database, driver_types, translated
from oraclerag.errors import (
    ConfigurationError,
    EntityError,
    ModelNotActive,
    OracleRagError,
    PrivilegeMissing,
    SchemaMissing,
)
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.window import Window
from oraclerag.propose.described import Surroundings
from oraclerag.propose.names import table_name
from oraclerag.propose.proposal import Proposal
from oraclerag.propose.read import COUNTED, rows_of
from oraclerag.records import Claimed
from oraclerag.render import read, rendered
from oraclerag.source import SelectSource, SourceProblem

__all__ = ["Cost", "Trial", "source_of", "trial"]

_CHECKED = 100_000
"""Rows up to which everything that a check counts over all of them is counted."""

# What is taken for a model where none is in force: about that of English in WordPiece, and of one core of a server.
_BYTES_PER_TOKEN = 4
_MAX_TOKENS = 128
_TOKENS_PER_SECOND = 1000


@dataclass(frozen=True, slots=True)
class Cost:
    """What indexing all rows costs about: extrapolated from ``sampled`` rows; None is unknown.

    ``rows`` are known as ``counted`` says. ``basis`` says what tokens and minutes (of one worker) are made from.
    """

    rows: int
    counted: str
    sampled: int
    chunks: int | None
    tokens: int | None
    minutes: float | None
    basis: str


@dataclass(frozen=True, slots=True)
class Trial:
    """One row as it would be indexed (``text``, its ``title``, in how many ``chunks``), and the cost of all.

    ``problems`` are what `source check` finds beside the open decision; without ``checked`` there are too many rows to
    count here what must be unique. ``failed`` counts sampled rows that could not be rendered.
    """

    id: str | None
    title: str | None
    text: str | None = field(repr=False)
    chunks: int = 0
    failed: int = 0
    problems: tuple[SourceProblem, ...] = ()
    cost: Cost | None = None
    checked: bool = False

    @property
    def green(self) -> bool:
        """Whether nothing fails, as far as that was looked at."""
        return not any(problem.severity == "error" for problem in self.problems)


def source_of(proposal: Proposal, settings: Settings) -> SelectSource:
    """Make the source of a proposal, as a worker would; an open decision is taken as the narrower one."""
    table = {"visibility": "owner" if "owner" in proposal.settings else "shared", **proposal.settings}
    place = f"The proposal for {proposal.table}"
    declared = parse_source(proposal.name, table | {"template": proposal.template}, Path(), place)
    cutting = settings.cutting(declared.cutting)
    return SelectSource(dataclasses.replace(declared, cutting=cutting), default_tenant=settings.tenant)


def trial(database: Database, proposal: Proposal, settings: Settings, around: Surroundings, *, rows: int) -> Trial:
    """Read ``rows`` rows at most, render them as a worker does, and say what all would cost. Writes nothing."""
    source = source_of(proposal, settings)
    with database.connect() as connection:
        problems: list[SourceProblem] = []
        try:
            total, counted = rows_of(connection, around.table, around.schema)
            source.verify(connection)
            ids = _first(connection, source, rows)
            checked = total <= _CHECKED and _few_children(connection, proposal, around)
            if checked:
                problems += source.check(connection)
            model = _model(connection, database.schema)
            sample = _sampled(connection, database.schema, source, model, ids)
        except OracleRagError as error:
            hint = error.hint
            if isinstance(error, PrivilegeMissing):
                hint = f"Their owners grant READ on the tables of the select to {connection.username}."
            problems.append(SourceProblem(source.name, error.code, error.message, hint))
            return Trial(None, None, None, problems=tuple(dict.fromkeys(problems)))
        cost = _cost(sample, model, total, counted)
        problems += [
            SourceProblem(source.name, error.code, error.message, error.hint)
            for error in list(sample.failures.values())[:1]
        ]
    problems += _of_triggers(database, source)
    document = next((write.document for write in sample.writes), None)
    first = sample.writes[0] if sample.writes else None
    return Trial(
        first.entity.source_id if first is not None else None,
        document.title if document is not None else None,
        document.text if document is not None else None,
        len(first.chunks) if first is not None else 0,
        len(sample.failures),
        tuple(dict.fromkeys(problems)),
        cost,
        checked,
    )


class _Assumed:
    """Rows that were read and rendered for a model that is not there yet, as :class:`~oraclerag.backfill.Sample`."""

    exact = False

    def __init__(self, connection: oracledb.Connection, source: SelectSource, ids: Sequence[str]) -> None:
        limits = Limits.of(Window("assumed", _MAX_TOKENS, "", self))
        found = read(source, connection, ids)
        self.failures: dict[str, OracleRagError] = dict(found.failures)
        self.writes = []
        for key, document in found.documents.items():
            try:
                entity = Claimed(0, source.name, key, (), ())
                self.writes.append(rendered(entity, source, document, limits=limits, fingerprint=""))
            except EntityError as error:
                self.failures[key] = error

    def count(self, text: str) -> int:
        """Give about the tokens of a text."""
        return math.ceil(len(text.encode()) / _BYTES_PER_TOKEN) + 2

    def chunks(self, entities: int) -> int | None:
        """See :meth:`Sample.chunks`."""
        if not self.writes:
            return None
        return round(sum(len(write.chunks) for write in self.writes) / len(self.writes) * entities)

    def tokens(self, entities: int) -> int | None:
        """See :meth:`Sample.tokens`."""
        if not self.writes:
            return None
        counted = sum(self.count(chunk.content) for write in self.writes for chunk in write.chunks)
        return round(counted / len(self.writes) * entities)

    def minutes(self, entities: int, tokens: int | None) -> float | None:  # noqa: ARG002 - as of Sample
        """See :meth:`Sample.minutes`; at the assumed speed."""
        return None if tokens is None else tokens / _TOKENS_PER_SECOND / 60


def _sampled(
    connection: oracledb.Connection, schema: str, source: SelectSource, model: ActiveModel | None, ids: Sequence[str]
) -> Sample | _Assumed:
    if model is None:
        return _Assumed(connection, source, ids)
    return Sample(connection, schema, source, model, ids)


def _cost(sample: Sample | _Assumed, model: ActiveModel | None, total: int, counted: str) -> Cost:
    tokens = sample.tokens(total) if total else 0
    minutes = sample.minutes(total, tokens) if total else 0.0
    if model is None:
        basis = (
            f"no model is in force yet: a token is taken for {_BYTES_PER_TOKEN} bytes, a model to read {_MAX_TOKENS} "
            f"tokens and to embed {_TOKENS_PER_SECOND:,} a second; `oraclerag reindex --dry-run` measures it later"
        )
    elif model.provider is not None:
        basis = f"counted for {model.name}; how long {model.provider} takes is not known"
    else:
        basis = f"tokens as {model.name} counts them, minutes by embedding a few of the texts in this database"
    if total >= COUNTED and counted.startswith("more"):
        basis += f"; for {COUNTED:,} rows"
    chunks = sample.chunks(total) if total else 0
    return Cost(total, counted, len(sample.writes), chunks, tokens, minutes, basis)


def _first(connection: oracledb.Connection, source: SelectSource, how_many: int) -> list[str]:
    """Give ids of rows that the database gives first: drawing some at random would read all of a large table."""
    statement = (
        f"SELECT s.SOURCE_ID FROM ({source.enumeration(connection)}) s WHERE s.SOURCE_ID IS NOT NULL "
        f"FETCH FIRST :how_many ROWS ONLY"
    )
    with connection.cursor() as cursor, driver_types(connection), translated():
        cursor.execute(statement, how_many=how_many)
        return list(dict.fromkeys(row[0] for row in cursor))


def _few_children(connection: oracledb.Connection, proposal: Proposal, around: Surroundings) -> bool:
    """Whether the tables of children have so few rows that they can be checked too."""
    tables = proposal.settings.get("tables", {}) if proposal.settings.get("children") else {}
    below = {one.child for one in around.children if table_name(one.child, around.schema) in tables}
    return all(
        rows_of(connection, around.related[child], around.schema)[0] <= _CHECKED
        for child in below
        if child in around.related
    )


def _model(connection: oracledb.Connection, schema: str) -> ActiveModel | None:
    try:
        return active_model(connection, schema)
    except (ModelNotActive, SchemaMissing):  # a source may be proposed before there are tables
        return None


def _of_triggers(database: Database, source: SelectSource) -> list[SourceProblem]:
    """Find out whether the entries under tables can become triggers."""
    if not source.settings.tables:
        return []
    try:
        triggers.plan(database, [source])
    except (ConfigurationError, OracleRagError) as error:
        return [SourceProblem(source.name, "NO_TRIGGER", error.message, error.hint, "warning")]
    return []
