"""The vector index over RAG_CHUNK: build, rebuild, status.

An index of the type IVF learns its centroids when it is built and keeps them: it is built over rows, not before, and
rebuilt when they have changed much. Below 1,000 chunks there is none, search is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.database import Database, code_of, own_tables
from oraclerag.errors import InputError
from oraclerag.model.active import active_model
from oraclerag.statements import Statements, quoted

__all__ = ["MIN_CHUNKS", "NAME", "IndexStatus", "build", "build_when_worthwhile", "rebuild", "status"]

NAME = "RAG_CHUNK_EMB_IDX"
MIN_CHUNKS = 1000
_MAX_PARTITIONS = 10_000_000
_NAME_TAKEN = "ORA-00955"


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What the dictionary says of the vector index.

    ``state`` is Oracle's STATUS, None where there is no index; ``organization`` is ``"IVF"``, ``"HNSW"`` or what the
    dictionary calls it. ``chunks`` counts those that have a vector in ``column``, the one in force.
    """

    name: str
    state: str | None
    organization: str | None
    column: str
    chunks: int

    @property
    def exists(self) -> bool:
        """Whether there is an index of that name."""
        return self.state is not None

    @property
    def usable(self) -> bool:
        """Whether a search may use it; TRUNCATE and MOVE leave it unusable."""
        return self.state == "VALID"


def status(database: Database) -> IndexStatus:
    """Read the state of the index."""
    with database.connect() as connection:
        return _status(connection, database.schema)


def build(
    database: Database, *, accuracy: int | None = None, partitions: int | None = None, force: bool = False
) -> IndexStatus:
    """Build the index if there is none; gives its state.

    ``accuracy`` is the target in percent (default: the setting ``target_accuracy``), ``partitions`` the number of
    centroids (default: the database decides). Fewer than 1,000 chunks are refused unless ``force``: their centroids
    would be useless later. Where another process builds it first, its index is given. Commits, as all DDL does.
    """
    return _create(database, accuracy, partitions, force=force, replace=False)


def rebuild(
    database: Database, *, accuracy: int | None = None, partitions: int | None = None, force: bool = False
) -> IndexStatus:
    """Drop the index, if it is there, and build it again; searches are exact meanwhile."""
    return _create(database, accuracy, partitions, force=force, replace=True)


def build_when_worthwhile(database: Database) -> IndexStatus:
    """Build the index if there is none and there are chunks enough for it; gives the state either way."""
    found = status(database)
    return build(database) if not found.exists and found.chunks >= MIN_CHUNKS else found


def _create(
    database: Database, accuracy: int | None, partitions: int | None, *, force: bool, replace: bool
) -> IndexStatus:
    percent = _whole(database.settings.target_accuracy if accuracy is None else accuracy, "accuracy", 100)
    schema = database.schema
    statements = Statements("index", schema)
    with database.connect() as connection:
        found = _status(connection, schema)
        if found.exists and not replace:
            return found
        if found.chunks < MIN_CHUNKS and not force:
            raise InputError(
                f"There are {found.chunks:,} chunks with a vector; below {MIN_CHUNKS:,} a search is exact "
                f"and an index would learn too little.",
                hint="Index more first, or force it (--force).",
            )
        names = {"column": quoted(found.column, "vector column"), "accuracy": str(percent)}
        kind = "create"
        if partitions is not None:
            names["partitions"] = str(_whole(partitions, "partitions", _MAX_PARTITIONS))
            kind = "create_partitioned"
        with own_tables(), connection.cursor() as cursor:
            if found.exists:
                cursor.execute(statements["drop"])
            try:
                cursor.execute(statements.with_names(kind, **names))
            except oracledb.DatabaseError as error:
                # Another process was quicker, where there is an index now; else the name is something else's.
                if code_of(error) != _NAME_TAKEN or not _status(connection, schema).exists:
                    raise
        return _status(connection, schema)


def _status(connection: oracledb.Connection, schema: str) -> IndexStatus:
    statements = Statements("index", schema)
    column = active_model(connection, schema).column
    with own_tables(), connection.cursor() as cursor:
        cursor.execute(statements["status"], owner=schema)
        row = cursor.fetchone()
        cursor.execute(statements.with_names("embedded", column=quoted(column, "vector column")))
        counted = cursor.fetchone()
    assert counted is not None  # noqa: S101 - an aggregate gives one row
    state, organization = (row[0], _organization(row[2])) if row is not None else (None, None)
    return IndexStatus(NAME, state, organization, column, int(counted[0]))


def _organization(subtype: str | None) -> str | None:
    for short in ("IVF", "HNSW"):
        if subtype is not None and subtype.endswith(short):
            return short
    return subtype


def _whole(value: Any, what: str, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= high:
        raise InputError(f"{what} must be a whole number between 1 and {high:,}, not {value!r}.")
    return value
