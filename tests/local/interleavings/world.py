"""The world of a run: an application with a few notes, an installation beside it, and what must hold when all is quiet.

One installation serves all runs. A run begins with empty tables, or with notes that are indexed already.
"""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import oracledb
import psycopg

from oraclerag import chunk as stage
from oraclerag import schema
from oraclerag.chunk import Limits
from oraclerag.config import Settings, SourceSettings
from oraclerag.database import Database
from oraclerag.drain import WorkerState, drain
from oraclerag.local import LocalDatabase
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.load import load_model
from oraclerag.model.use import use_model
from oraclerag.records import Document, fingerprint_half
from oraclerag.source import FunctionSource, SelectSource, Source
from tests.local.conftest import Account
from tests.local.interleavings.sessions import ActorDatabase, ActorSession, open_session

__all__ = ["ENTITIES", "MAX_ATTEMPTS", "MEMO", "Installation", "World", "open_installation", "type_of"]

ENTITIES = ("1", "2", "3", "4")
MEMO = "4"  # the entity of the other source, which is a function
MAX_ATTEMPTS = 2
VERSIONS = 3  # of the source's settings
UNREADABLE, UNWRITABLE = "unreadable", "UNWRITABLE"

# The settings of the worker that starts a run and ends it, and of the others but for what a run is about.
LEASE, POLL = 300.0, 60.0

TABLE = """
CREATE TABLE note (id NUMBER(9) PRIMARY KEY, tenant_id VARCHAR2(20), owner_id VARCHAR2(20), body VARCHAR2(400))
"""
REFUSES = f"ALTER TABLE RAG_CHUNK ADD CONSTRAINT CHUNK_IS_WRITABLE CHECK (CONTENT NOT LIKE '%{UNWRITABLE}%')"


def type_of(key: str) -> str:
    """Give the source of an entity."""
    return "memo" if key == MEMO else "note"


def read_memos(connection: oracledb.Connection, ids: Sequence[str]) -> dict[str, Document | None]:
    """Read the one memo there is."""
    with connection.cursor() as cursor:
        cursor.execute(f"select id, tenant_id, owner_id, body from note where id = {MEMO}")
        rows = cursor.fetchall()
    if any(row[3] == UNREADABLE for row in rows):
        raise ValueError
    return {
        str(number): Document(f"[MEMO #{number}] {body}", tenant=tenant, owner=owner)
        for number, tenant, owner, body in rows
    }


def note_settings(version: int, **more: Any) -> SourceSettings:
    """The source; each version of its settings prints another text."""
    settings = SourceSettings(
        name="note",
        select=f"select id as source_id, tenant_id, owner_id, body from note where id <> {MEMO}",
        visibility="owner",
        template=(
            f"{{% if body == '{UNREADABLE}' %}}{{{{ 1 // 0 }}}}{{% endif %}}"
            f"v{version} [NOTE #{{{{ source_id }}}}] {{{{ body }}}}"
        ),
        tenant="tenant_id",
        owner="owner_id",
    )
    return dataclasses.replace(settings, **more)


def _nothing(_: int) -> None:
    raise AssertionError("there is nothing to begin with yet")


@dataclass
class Installation:
    """What all runs share: sessions of six workers and two writers at the most, a quiet one, and the observer."""

    account: Account
    settings: Settings
    database: Database
    quiet: oracledb.Connection
    observer: psycopg.Connection
    sessions: dict[str, tuple[ActorSession, int]]
    threads: ThreadPoolExecutor
    model: ActiveModel
    notes: list[SelectSource]
    memos: FunctionSource
    reset: Callable[[int], None] = _nothing

    def sources(self, version: int) -> dict[str, Source]:
        """Give sources of one's own that know their columns already: every run asks the same questions."""
        note, memo = copy.copy(self.notes[version]), copy.copy(self.memos)
        note._children = {}
        return {"note": note, "memo": memo}

    def database_of(self, session: ActorSession) -> Database:
        return ActorDatabase(self.settings, session, self.database.schema)

    def close(self) -> None:
        self.threads.shutdown()
        for session, _ in self.sessions.values():
            session.close()
        self.quiet.close()
        self.observer.close()
        self.database.close()


def open_installation(account: Account, local: LocalDatabase, model_file: Path, actors: Sequence[str]) -> Installation:
    """Make tables, model, sessions and the state with which runs begin; the caller closes it."""
    assert local._service is not None
    assert local._service.engine is not None
    settings = Settings(
        dsn=account.dsn, user=account.user, password=account.password, embedding_model="TINY",
        sources=(note_settings(0),), lease=LEASE, poll_interval=POLL, max_attempts=MAX_ATTEMPTS,
    )  # fmt: skip
    database = Database(settings)
    schema.migrate(database)
    with database.connect() as connection:
        load_model(connection, model_file, name="TINY", schema=database.schema)
        use_model(connection, "TINY", schema=database.schema)
    observer = psycopg.connect(
        local._service.engine.conninfo, autocommit=True, options=f'-c search_path="{database.schema}",ora,public'
    )
    quiet = account.connect()
    with quiet.cursor() as cursor:
        for statement in (TABLE, REFUSES):
            cursor.execute(statement.strip())
        made = Installation(
            account, settings, database, quiet, observer, {}, ThreadPoolExecutor(len(actors)), active_model(quiet, database.schema),
            [SelectSource(note_settings(version)) for version in range(VERSIONS)],
            FunctionSource("memo", read_memos, visibility="owner", ids=f"select id, tenant_id from note where id = {MEMO}",
                           tenants=True),
        )  # fmt: skip
        made.memos.enumeration(quiet)
        for source in made.notes:
            source.described(quiet)
        cursor.executemany(
            "INSERT INTO note VALUES (:1, 'acme', '7', :2)", [[int(number), f"first {number}"] for number in ENTITIES]
        )
        cursor.executemany(
            "INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, TENANT_ID) VALUES (:1, :2, 'acme')",
            [[type_of(number), number] for number in ENTITIES],
        )
        quiet.commit()
        assert drain(database, made.sources(0), settings).indexed == len(ENTITIES)
        made.reset = _reset(cursor, observer, database.schema)
    for name in actors:
        before = _backends(observer)
        session = open_session(account)
        (backend,) = _backends(observer) - before
        made.sessions[name] = session, backend
    return made


def _backends(observer: psycopg.Connection) -> set[int]:
    return {
        row[0] for row in observer.execute("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'")
    }


def _reset(cursor: oracledb.Cursor, observer: psycopg.Connection, owner: str) -> Callable[[int], None]:
    """Keep what is indexed now; gives what empties every table and puts the first so many entities back.

    It goes to PostgreSQL as one message: a run begins in a millisecond.
    """
    cursor.execute("SELECT SCOPE_NAME, SETTING_VALUE FROM RAG_SETTING WHERE SETTING = 'fingerprint'")
    in_force = cursor.fetchall()
    statements = [f'DELETE FROM "{owner}"."{table}"' for table in ("RAG_DIRTY", "RAG_ENTITY", "NOTE")]
    statements += [
        f"""DELETE FROM "{owner}"."RAG_SETTING" WHERE "SCOPE_NAME" <> '*' AND "SETTING" <> 'fingerprint'""",
        *(
            f"""UPDATE "{owner}"."RAG_SETTING" SET "SETTING_VALUE" = '{settings}' """
            f"""WHERE "SCOPE_NAME" = '{source}' AND "SETTING" = 'fingerprint'"""
            for source, settings in in_force
        ),
    ]
    cursor.execute("CREATE TABLE first_note AS SELECT * FROM note")
    statements.append(f'INSERT INTO "{owner}"."NOTE" SELECT * FROM "{owner}"."FIRST_NOTE" WHERE "ID" <= %s')
    for table in ("RAG_ENTITY", "RAG_CHUNK", "RAG_DOCUMENT"):
        cursor.execute(f"SELECT q.* FROM {table} q WHERE 1 = 0")
        columns = [column[0] for column in cursor.description or () if column[0] not in ("ENTITY_ID", "CHUNK_ID")]
        listed = ", ".join(f"c.{name}" for name in columns)
        cursor.execute(
            f"CREATE TABLE first_{table} AS SELECT {listed}, e.SOURCE_ID AS FIRST_ID FROM {table} c "
            f"JOIN RAG_ENTITY e ON e.ENTITY_ID = c.ENTITY_ID"
        )
        into = ", ".join(f'"{name}"' for name in columns)
        values = ", ".join(f'c."{name}"' for name in columns)
        first = f'"{owner}"."FIRST_{table}" c'
        if table == "RAG_ENTITY":
            statements.append(
                f"""INSERT INTO "{owner}"."{table}" ({into}) SELECT {values} FROM {first} """
                """WHERE c."FIRST_ID"::text <= '%s'"""
            )
        else:
            statements.append(
                f"""INSERT INTO "{owner}"."{table}" ("ENTITY_ID", {into}) SELECT e."ENTITY_ID", {values} FROM {first} """
                f"""JOIN "{owner}"."RAG_ENTITY" e ON c."FIRST_ID" = e."SOURCE_ID" """
            )
    whole = "; ".join(statements)
    return lambda indexed: observer.execute(whole.replace("%s", str(indexed)).encode())  # type: ignore[return-value]


@dataclass
class World:
    """One run's part of it: what was done that excuses a DEAD row, and the settings that are deployed."""

    installation: Installation
    deployed: int = 0
    identity: Callable[[str], str] = str  # what entity a SOURCE_ID of the index stands for
    at_fault: set[str] = field(default_factory=set)
    unreported: dict[tuple[int, str], bool] = field(default_factory=dict)

    @classmethod
    def begin(cls, installation: Installation, indexed: int) -> World:
        """Empty everything, and put the first ``indexed`` notes back, indexed."""
        installation.reset(indexed)
        return cls(installation)

    def fresh_state(self, seed: int = 0) -> WorkerState:
        return WorkerState(model=self.installation.model, jitter=random.Random(seed))

    # -- the clock ----------------------------------------------------------------------------------------------------

    def claims(self) -> list[str]:
        """Give the tokens of the claims there are, oldest first."""
        found = self._observe(
            """SELECT token FROM (SELECT "CLAIM"::text AS token, "DIRTY_ID" AS id FROM "RAG_DIRTY" """
            """WHERE "CLAIM" IS NOT NULL) q GROUP BY token ORDER BY MIN(id)"""
        )
        return [row[0] for row in found]

    def end_lease(self, token: str, *, ticket_only: bool = False) -> None:
        """Let the lease of a claim be over. What somebody locks at this moment stays: nobody could see a difference."""
        self._shift("RAG_ENTITY", "HELD_UNTIL", "HOLDER", token)
        if ticket_only:
            return
        rows = self._observe(
            """SELECT "DIRTY_ID", "SOURCE_ID"::text FROM "RAG_DIRTY" WHERE "CLAIM"::text = %s""", [token]
        ).fetchall()
        for number, _ in rows:
            self.unreported.setdefault((number, token), len({entity for _, entity in rows}) == 1)
        self._shift("RAG_DIRTY", "AVAILABLE_AT", "CLAIM", token)

    def end_pauses(self) -> int:
        """Let rows that were postponed, or wait for an entity that was held, be due; gives how many there were."""
        return self._shift("RAG_DIRTY", "AVAILABLE_AT", "CLAIM", None)

    def due(self) -> bool:
        """Whether a worker would find anything."""
        found = self._observe(
            """SELECT 1 FROM "RAG_DIRTY" WHERE "STATE" = 'READY' AND "AVAILABLE_AT" <= now() at time zone 'utc' LIMIT 1"""
        )
        return found.fetchone() is not None

    def _shift(self, table: str, column: str, token_column: str, token: str | None) -> int:
        chosen = "IS NULL" if token is None else "::text = %s"
        return self._observe(
            f"""UPDATE "{table}" SET "{column}" = "{column}" - interval '1 day' WHERE ctid IN ("""
            f"""SELECT ctid FROM "{table}" WHERE "{token_column}" {chosen} """
            f"""AND "{column}" > now() at time zone 'utc' FOR UPDATE SKIP LOCKED)""",
            None if token is None else [token],
        ).rowcount

    def _observe(self, statement: str, values: Sequence[Any] | None = None) -> psycopg.Cursor[tuple[Any, ...]]:
        return self.installation.observer.execute(statement.encode(), values)

    # -- the end ------------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Let every lease end and every pause, and work off what waits, with one worker that nothing happens to."""
        installation = self.installation
        for token in self.claims():
            self.end_lease(token)
        with installation.quiet.cursor() as cursor:
            cursor.execute("DELETE FROM RAG_SETTING WHERE SETTING = 'paused'")
            cursor.execute(
                "SELECT SETTING_VALUE FROM RAG_SETTING WHERE SCOPE_NAME = 'note' AND SETTING = 'fingerprint'"
            )
            (settings,) = cursor.fetchone() or (None,)
        installation.quiet.commit()
        self.deployed = next(
            version
            for version, source in enumerate(installation.notes)
            if fingerprint_half(source.fingerprint(installation.model), "settings") == settings
        )
        sources = installation.sources(self.deployed)
        state = self.fresh_state()
        for _ in range(60):
            self.end_pauses()
            if not drain(installation.database, sources, installation.settings, state=state).claimed:
                self.end_pauses()
                if not self._waiting():
                    return
        raise AssertionError("the queue does not become empty")

    def _waiting(self) -> int:
        with self.installation.quiet.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM RAG_DIRTY WHERE STATE = 'READY'")
            row = cursor.fetchone()
        return int(row[0]) if row else 0

    def problems(self) -> list[str]:
        """Compare the index with the source as it is now, under the settings in force; an empty list is what must be."""
        return Verdict(self).problems()


class Verdict:
    """The invariant, looked at once."""

    def __init__(self, world: World) -> None:
        self._world = world
        installation = world.installation
        model = installation.model
        sources = installation.sources(world.deployed)
        self._fingerprints = {name: source.fingerprint(model) for name, source in sources.items()}
        documents: dict[str, Document] = {}
        self._unreadable: set[str] = set()
        for name, source in sources.items():
            read = source.read_each(installation.quiet, [key for key in ENTITIES if type_of(key) == name])
            documents |= read.documents
            self._unreadable |= read.failures.keys()
        limits = Limits.of(model)
        self._wanted: dict[str, list[tuple[Any, ...]]] = {}
        self._rights: dict[str, tuple[Any, ...]] = {}
        for key, document in documents.items():
            if document.tenant is not None:
                rights = (document.tenant, "OWNER", document.owner)
                self._rights[key] = rights
                self._wanted[key] = [
                    (chunk.number, chunk.content, *rights) for chunk in stage.chunks(document.text, limits)
                ]

    def problems(self) -> list[str]:
        installation = self._world.installation
        with installation.quiet.cursor() as cursor:
            model, column = installation.model.sql_name, installation.model.column
            cursor.execute(
                "SELECT SOURCE_ID, CHUNK_NO, CONTENT, TENANT_ID, VISIBILITY, OWNER_ID, VECTOR_DISTANCE("
                f"{column}, VECTOR_EMBEDDING({model} USING CONTENT AS DATA), COSINE) FROM RAG_CHUNK "
                "ORDER BY SOURCE_ID, CHUNK_NO"
            )
            chunks = cursor.fetchall()
            cursor.execute(
                "SELECT e.SOURCE_ID, CASE WHEN e.HELD_UNTIL > SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN e.HOLDER END, e.TENANT_ID, e.FINGERPRINT, e.CHUNKS, d.TENANT_ID FROM RAG_ENTITY e "
                "LEFT JOIN RAG_DOCUMENT d ON d.ENTITY_ID = e.ENTITY_ID"
            )
            entities = cursor.fetchall()
            cursor.execute("SELECT SOURCE_ID, DIRTY_ID, STATE, ATTEMPTS, CRASHES, ERROR_CODE FROM RAG_DIRTY")
            queue = cursor.fetchall()
        installation.quiet.rollback()
        dead = {self._world.identity(row[0]) for row in queue if row[2] == "DEAD"}
        return [
            *self._queue(queue),
            *self._chunks(chunks, dead),
            *self._entities(entities, dead),
        ]

    def _queue(self, queue: list[tuple[Any, ...]]) -> list[str]:
        found = []
        for key, number, state, attempts, crashes, code in queue:
            row = f"row {number} of {key}, {attempts} attempts, {crashes} crashes"
            if state == "READY":
                found.append(f"READY: {row}")
                continue
            alone = sum(alone for (other, _), alone in self._world.unreported.items() if other == number)
            if code == "CRASHED" and alone < MAX_ATTEMPTS:
                found.append(f"DEAD though it was alone in {alone} claims without a report: {row}")
            elif code != "CRASHED" and key not in self._world.at_fault:
                found.append(f"DEAD though not at fault: {row} ({code})")
        return found

    def _chunks(self, chunks: list[tuple[Any, ...]], dead: set[str]) -> list[str]:
        found = []
        have: dict[str, list[tuple[Any, ...]]] = {}
        for source_id, *chunk, distance in chunks:
            key = self._world.identity(source_id)
            have.setdefault(key, []).append(tuple(chunk))
            if distance is None or distance > 1e-5:
                found.append(f"entity {key}, chunk {chunk[0]}: its vector is not its text's ({distance})")
        for key in sorted({*ENTITIES, *have}):
            is_now, must_be = have.get(key, []), self._wanted.get(key, [])
            if key not in dead:
                if is_now != must_be:
                    found.append(f"entity {key}: the index has {is_now}, the source says {must_be}")
                if key in self._unreadable:
                    found.append(f"entity {key} cannot be read and has no DEAD row")
                continue
            for number, _, *rights in is_now:
                if rights[1] != "HIDDEN" and tuple(rights) != self._rights.get(key):
                    found.append(f"entity {key} is given up, and chunk {number} is shown to {rights}")
        return found

    def _entities(self, entities: list[tuple[Any, ...]], dead: set[str]) -> list[str]:
        found = []
        for source_id, holder, tenant, fingerprint, chunks, document in entities:
            key = self._world.identity(source_id)
            if holder is not None:
                found.append(f"entity {key} is held, and nobody works")
            if key in dead:
                continue
            wanted = self._wanted.get(key, [])
            right = self._rights.get(key, (None,))[0]
            state = (tenant, fingerprint, chunks, document)
            must_be = (right, self._fingerprints[type_of(key)] if wanted else None, len(wanted), right)
            if state != must_be:
                found.append(f"entity {key}: RAG_ENTITY and RAG_DOCUMENT say {state}, not {must_be}")
        return found
