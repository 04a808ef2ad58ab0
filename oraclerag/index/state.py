"""What there is of the vector index: what the dictionary says, what was written down when it was built, what to do."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from oraclerag.database import Database, own_tables
from oraclerag.in_force import put
from oraclerag.index.design import Design
from oraclerag.model.active import active_model
from oraclerag.model.columns import COLUMNS, index_name
from oraclerag.records import Problem
from oraclerag.statements import Statements, quoted

if TYPE_CHECKING:
    import oracledb

__all__ = ["MIN_CHUNKS", "Built", "IndexStatus", "look", "note", "setting_of", "shortcomings", "status"]

MIN_CHUNKS = 1000
"""Below so many chunks an index would learn too little, and exact search is better anyhow."""

_GROWN = 4
_SETTING = "vector_index"  # of the first column; of others with its name behind


@dataclass(frozen=True, slots=True)
class Built:
    """An index when it was built: over how many rows, how, and when (UTC).

    ``partitions`` is None for HNSW and where the database chose them (a rebuild online).
    """

    rows: int
    column: str
    accuracy: int
    partitions: int | None
    included: tuple[str, ...]
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What there is of the vector index.

    ``state`` is Oracle's STATUS, None where there is no index; ``organization`` is ``"IVF"``, ``"HNSW"`` or what the
    dictionary calls it. ``chunks`` counts those that have a vector in ``column``. ``built`` is None
    where another program made the index. ``recommendation`` says what to do, None where nothing is; ``notes`` are what
    one should know.
    """

    name: str
    state: str | None
    organization: str | None
    column: str
    chunks: int
    built: Built | None = None
    recommendation: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def exists(self) -> bool:
        """Whether there is an index of that name."""
        return self.state is not None

    @property
    def usable(self) -> bool:
        """Whether a search may use it; TRUNCATE and MOVE leave it unusable."""
        return self.state == "VALID"


def status(database: Database) -> IndexStatus:
    """Look at the index, and say what to do with it."""
    with database.connect() as connection:
        found = look(connection, database.schema)
    return replace(
        found,
        recommendation=_recommendation(found),
        notes=tuple(_notes(found, database.settings.exact_below)),
    )


def shortcomings(found: IndexStatus) -> list[Problem]:
    """Say what is wrong with the index; none at all is what small installations have."""
    if not found.exists or found.usable:
        return []
    return [Problem("INDEX_UNUSABLE", f"The vector index is {found.state}.", "Run `oraclerag index rebuild`.")]


def look(connection: oracledb.Connection, schema: str, column: str | None = None) -> IndexStatus:
    """Read what there is over a vector column (default: the one in force), without advice."""
    statements = Statements("index", schema)
    column = column or active_model(connection, schema).column
    with own_tables(), connection.cursor() as cursor:
        cursor.execute(statements["status"], owner=schema, index_name=index_name(column))
        row = cursor.fetchone()
        cursor.execute(statements.with_names("embedded", column=quoted(column, "vector column")))
        counted = cursor.fetchone()
        assert counted is not None  # noqa: S101 - an aggregate gives one row
        found = IndexStatus(index_name(column), None, None, column, int(counted[0]))
        if row is None:
            return found
        state, subtype, number = row
        cursor.execute(statements["built"], setting=setting_of(column))
        written = cursor.fetchone()
    return replace(
        found,
        state=state,
        organization=_organization(subtype),
        built=_built(int(number), *written) if written is not None and number is not None else None,
    )


def note(connection: oracledb.Connection, schema: str, design: Design, found: IndexStatus, *, chosen: bool) -> None:
    """Write down how the index that is there now was built; commits.

    ``found`` tells its rows before, ``chosen`` whether the number of partitions is ours.
    """
    with own_tables(), connection.cursor() as cursor:
        cursor.execute(Statements("index", schema)["status"], owner=schema, index_name=found.name)
        row = cursor.fetchone()
        if row is None or row[2] is None:  # dropped by another process since
            return
        text = json.dumps(
            {
                "object": int(row[2]),
                "rows": found.chunks,
                "column": found.column,
                "accuracy": design.accuracy,
                "partitions": design.partitions if chosen else None,
                "included": design.included,
            }
        )
        put(connection, schema, "*", setting_of(found.column), text)
        connection.commit()


def setting_of(column: str) -> str:
    """Give the setting in which is written down how the index over a column was built."""
    return _SETTING if column == COLUMNS[0] else f"{_SETTING}_{column.lower()}"


def _built(number: int, text: str | None, at: dt.datetime) -> Built | None:
    values = json.loads(text) if text else {}
    if values.get("object") != number:  # of an index that is not there any more
        return None
    return Built(
        rows=values["rows"],
        column=values["column"],
        accuracy=values["accuracy"],
        partitions=values["partitions"],
        included=tuple(values["included"]),
        at=at.replace(tzinfo=dt.UTC),
    )


def _recommendation(found: IndexStatus) -> str | None:
    if not found.exists:
        return "build it: `oraclerag index build`" if found.chunks >= MIN_CHUNKS else None
    if not found.usable:
        return f"rebuild it, it is {found.state}: `oraclerag index rebuild`"
    if found.built is None:
        return None
    if found.built.column != found.column:
        return f"rebuild it, it is over {found.built.column}, which is not in force: `oraclerag index rebuild`"
    if found.organization == "IVF" and found.chunks >= _GROWN * max(found.built.rows, 1) and found.chunks >= MIN_CHUNKS:
        return (
            f"rebuild it, its centroids were learnt from {found.built.rows:,} chunks and there are "
            f"{found.chunks:,}: `oraclerag index rebuild`"
        )
    return None


def _notes(found: IndexStatus, exact_below: int) -> Iterator[str]:
    if not found.exists and found.chunks < MIN_CHUNKS:
        yield f"Below {MIN_CHUNKS:,} chunks there is no need of one: search is exact."
    if found.exists and found.chunks < exact_below:
        yield f"Not used yet: what looks at fewer than {exact_below:,} chunks is searched exactly (search.exact_below)."
    if found.exists and found.built is None:
        yield "It was not built by this version, so how many chunks it was built over is not known."


def _organization(subtype: str | None) -> str | None:
    for short in ("IVF", "HNSW"):
        if subtype is not None and subtype.endswith(short):
            return short
    return subtype
