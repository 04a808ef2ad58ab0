"""Building the vector index, and building it anew.

An index of the type IVF learns its centroids when it is built and keeps them: it is built over rows, not before, and
rebuilt when they have changed much. One column takes one vector index (ORA-01408), so a new one cannot be built beside
the old one: the old one goes first and searches are exact meanwhile, but for ALTER INDEX … REBUILD ONLINE of 26ai.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Unpack

import oracledb

from oraclerag.database import RESOURCE_BUSY, Database, code_of, own_tables, translate
from oraclerag.errors import Contention, InputError, OracleRagError, SpaceExhausted
from oraclerag.index import ddl
from oraclerag.index.design import Design, IndexOptions, Surroundings, Wish, design, wish
from oraclerag.index.running import SECONDS, run, unhurried
from oraclerag.index.state import MIN_CHUNKS, IndexStatus, look, note, status
from oraclerag.model.active import active_model
from oraclerag.security import require_unrestricted
from oraclerag.statements import Statements

__all__ = ["build", "build_when_worthwhile", "rebuild"]

_NAME_TAKEN = "ORA-00955"
_POOL_EXHAUSTED = "ORA-51962"
_POLICY = "ORA-51987"

Said = Callable[[str], None]


def build(
    database: Database, *, said: Said = lambda _: None, column: str | None = None, **options: Unpack[IndexOptions]
) -> IndexStatus:
    """Build the index over ``column`` (default: the one in force) if there is none; gives the state of that in force.

    Fewer than 1,000 chunks are refused unless ``force``: their centroids would be useless later. Where another process
    builds it first, its index is given. ``said`` is told what the build does to workers and searches, before it begins.
    Commits, as all DDL does.

    Raises InputError, Contention where changes of RAG_CHUNK did not end within two minutes, SpaceExhausted (also where
    HNSW has no vector memory pool), PrivilegeMissing, StatementFailed.
    """
    return _make(database, wish(options), said, force=options.get("force", False), replace=False, column=column)


def rebuild(database: Database, *, said: Said = lambda _: None, **options: Unpack[IndexOptions]) -> IndexStatus:
    """Build the index anew; arguments and errors are those of :func:`build`.

    It is dropped first: searches are exact until it is there again. With ``online`` an IVF index that covers no further
    columns is rebuilt beside itself, with the accuracy that it has, and stays in use.
    """
    return _make(database, wish(options), said, force=options.get("force", False), replace=True)


def build_when_worthwhile(database: Database) -> IndexStatus:
    """Build the index if there is none and there are chunks enough for it; gives the state either way."""
    found = status(database)
    return build(database) if not found.exists and found.chunks >= MIN_CHUNKS else found


def _make(
    database: Database, asked: Wish, said: Said, *, force: bool, replace: bool, column: str | None = None
) -> IndexStatus:
    schema = database.schema
    with database.connect() as connection, unhurried(connection):
        require_unrestricted(connection, schema, "Who builds the vector index")  # it would hold what he sees
        found = look(connection, schema, column)
        if not found.exists or replace:
            if found.chunks < MIN_CHUNKS and not force:
                raise InputError(
                    f"There are {found.chunks:,} chunks with a vector; below {MIN_CHUNKS:,} a search is exact "
                    f"and an index would learn too little.",
                    hint="Index more first, or force it (--force).",
                )
            if replace and found.organization == "HNSW" and asked.kind is None:
                asked = wish(dataclasses.asdict(asked) | {"kind": "HNSW"})  # what fits IVF alone is refused
            around = Surroundings(found.chunks, _version(connection), _policies(connection, schema))
            wanted = design(asked, around, target_accuracy=database.settings.target_accuracy)
            if replace and asked.online and found.usable and found.organization == wanted.kind:
                _rebuild_online(connection, schema, asked, wanted, found, said)
            else:
                _create(connection, schema, asked, wanted, found, said)
        else:
            said("There is a vector index already; `oraclerag index rebuild` makes it anew.")
    return status(database)


def _create(
    connection: oracledb.Connection, schema: str, asked: Wish, wanted: Design, found: IndexStatus, said: Said
) -> None:
    until = "Searches are exact until it is there."
    if wanted.online:
        said(f"Building the vector index over {found.chunks:,} chunks, online: changes go on. {until}")
    else:
        said(
            f"Building the vector index over {found.chunks:,} chunks. RAG_CHUNK is locked against changes meanwhile: "
            f"workers wait in their batch and go on by themselves. {until}"
        )
    if wanted.kind == "HNSW":
        said(
            "HNSW is a graph in the memory of the instance, on RAC in that of each: changes wait in a journal that "
            "every search reads exactly, and a new graph beside the old one takes about 2.1 times the memory."
        )
    dropped = False
    try:
        if found.exists:
            run(connection, ddl.drop(schema, found.column))
            dropped = True
        try:
            run(connection, ddl.create(schema, found.column, wanted))
        except oracledb.DatabaseError as error:
            if code_of(error) != _POLICY or asked.include:
                raise
            # a policy that this user does not see in the dictionary
            wanted = dataclasses.replace(wanted, included=())
            run(connection, ddl.create(schema, found.column, wanted))
    except oracledb.DatabaseError as error:
        # Another process was quicker, where there is an index now; else the name is something else's.
        if code_of(error) == _NAME_TAKEN and look(connection, schema, found.column).exists:
            return
        raise _explained(connection, schema, error, wanted, found, dropped=dropped) from error
    note(connection, schema, wanted, found, chosen=True)


def _rebuild_online(
    connection: oracledb.Connection, schema: str, asked: Wish, wanted: Design, found: IndexStatus, said: Said
) -> None:
    if asked.accuracy is not None or asked.partitions is not None:
        raise InputError(
            "An index that is rebuilt online keeps its accuracy, and the database chooses its partitions.",
            hint="Leave them out, or leave online out: then it is dropped and built again.",
        )
    if found.built is not None and found.built.included:
        raise InputError(
            "The index covers further columns, and such a one is not rebuilt online.",
            hint="Leave online out: it is dropped and built again; --no-include makes one that can be rebuilt online.",
        )
    said(f"Rebuilding the vector index over {found.chunks:,} chunks, online: changes and searches go on.")
    accuracy = found.built.accuracy if found.built is not None else wanted.accuracy
    try:
        run(connection, ddl.rebuild_online(schema, found.column, asked.parallel))
    except oracledb.DatabaseError as error:
        raise _explained(connection, schema, error, wanted, found, dropped=False) from error
    note(connection, schema, Design("IVF", accuracy, None, (), online=True), found, chosen=False)


def _explained(
    connection: oracledb.Connection,
    schema: str,
    error: oracledb.DatabaseError,
    wanted: Design,
    found: IndexStatus,
    *,
    dropped: bool,
) -> OracleRagError:
    """Give the toolkit's error of what stood against a build."""
    left = " The old index is gone: searches are exact." if dropped else ""
    code = code_of(error)
    if code == RESOURCE_BUSY:
        return Contention(
            f"RAG_CHUNK was in use for {SECONDS:.0f} seconds: a transaction that changes it did not end "
            f"({RESOURCE_BUSY}).{left}",
            hint="Stop the workers for the build, or build it online (--online, 26ai).",
        )
    if code == _POOL_EXHAUSTED and wanted.kind == "HNSW":
        size = _pool_megabytes(found.chunks, active_model(connection, schema).dimensions)
        return SpaceExhausted(
            f"The vector memory pool has no room for an HNSW index ({_POOL_EXHAUSTED}): it takes about {size:,} MB, "
            f"and 2.1 times that while it is made anew.{left}",
            hint=(
                f"As SYSDBA in CDB$ROOT: ALTER SYSTEM SET vector_memory_size = {3 * size}M SCOPE=SPFILE, then restart; "
                "on an Autonomous Database Oracle sizes it. Or take the type ivf, which needs no pool."
            ),
        )
    if code == _POLICY:
        return InputError(
            f"A VPD policy stands on RAG_CHUNK, and an index must not cover columns of such a table ({_POLICY}).{left}",
            hint="Leave include out (--no-include).",
        )
    known = translate(error)
    return type(known)(known.message + left, hint=known.hint)


def _pool_megabytes(rows: int, dimensions: int) -> int:
    """Give what a graph takes: 1.3 times its vectors of FLOAT32."""
    return max(1, -(-13 * rows * dimensions * 4 // 10_000_000))


def _version(connection: oracledb.Connection) -> tuple[int, ...]:
    return tuple(int(part) for part in connection.version.split("."))


def _policies(connection: oracledb.Connection, schema: str) -> list[str]:
    with own_tables(), connection.cursor() as cursor:
        cursor.execute(Statements("index", schema)["policies"], owner=schema)
        return [name for (name,) in cursor]
