"""Files in RAG_FILE: what is there, and writing what is new or changed. A row and its queue row are one transaction."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import oracledb

from oraclerag.database import UNIQUE_VIOLATED, Database, code_of, driver_types, in_list, own_tables, parts
from oraclerag.enqueue import enqueue_many
from oraclerag.errors import Contention, OracleRagError
from oraclerag.records import SourceKey, Visibility
from oraclerag.security import reading, writing
from oraclerag.source import Source
from oraclerag.source.base import json_object
from oraclerag.source.file import FILE_SOURCE
from oraclerag.statements import Statements

__all__ = ["FileRow", "Store", "Stored", "body_hash"]

_VISIBILITY = {"shared": "SHARED", "owner": "OWNER"}
_REMOVED_AT_ONCE = 200

# A value that is None says nothing of its type. The text goes as a LONG, in the message with the rest and in one round
# trip: beside the text itself that takes its bytes once; a temporary LOB would take a round trip for every piece of it.
_KINDS = {
    "occurred_at": oracledb.DB_TYPE_TIMESTAMP,
    "metadata": oracledb.DB_TYPE_JSON,
    "body": oracledb.DB_TYPE_LONG,
}

_DETAILS = ("kind", "title", "url", "visibility", "owner", "occurred_at", "metadata")


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as its row shall say it; ``body`` is the text that is stored."""

    name: str
    kind: str
    title: str = field(repr=False)
    url: str | None
    visibility: Visibility
    owner: str | None
    occurred_at: dt.datetime | None
    metadata: Mapping[str, Any] = field(repr=False)
    body: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Stored:
    """A file as its row says it, the hash in place of the text."""

    file_id: int
    body_hash: str
    kind: str
    title: str | None = field(repr=False)
    url: str | None
    visibility: str
    owner: str | None
    occurred_at: dt.datetime | None
    metadata: Mapping[str, Any] = field(repr=False)


def body_hash(text: str) -> str:
    """Give the hash by which a text is known again."""
    return hashlib.sha256(text.encode()).hexdigest()


class Store:
    """The files of one collection of one tenant."""

    def __init__(self, database: Database, sources: Mapping[str, Source], tenant: str, collection: str) -> None:
        self._database = database
        self._sources = sources
        self._tenant = tenant
        self._place = {"tenant_id": tenant, "collection": collection}

    def known(self, names: Sequence[str]) -> dict[str, Stored]:
        """Give what there is of files, by name."""
        found: dict[str, Stored] = {}
        with (
            reading(self._database, self._tenant) as (connection, _),
            connection.cursor() as cursor,
            driver_types(connection),
        ):
            sql = Statements("ingest", self._database.schema)
            for part in parts(names):
                listed, binds = in_list(part)
                with own_tables():
                    cursor.arraysize = cursor.prefetchrows = len(binds) + 1
                    cursor.execute(sql.with_names("known", names=listed), {**self._place, **binds})
                    rows = cursor.fetchall()
                for file_id, name, kind, title, url, visibility, owner, hashed, moment, metadata in rows:
                    seen, said = visibility.lower(), json_object(metadata or {})
                    found[name] = Stored(int(file_id), hashed, kind, title, url, seen, owner, moment, said)
        return found

    def write(self, row: FileRow, stored: Stored | None) -> tuple[Literal["new", "changed", "unchanged"], SourceKey]:
        """Bring a file's row to what it shall say and enqueue it, in one transaction; nothing where it says so.

        A row that came or went meanwhile, by another ``ingest``, is looked at again.
        """
        hashed = body_hash(row.body)
        for _ in range(3):
            try:
                if stored is None:
                    return "new", self._add(row, hashed)
                if _same(row, hashed, stored):
                    return "unchanged", self._key(stored.file_id)
                if self._change(row, hashed, stored):
                    return "changed", self._key(stored.file_id)
            except OracleRagError as error:
                if stored is not None or error.__cause__ is None or code_of(error.__cause__) != UNIQUE_VIOLATED:
                    raise
            stored = self.known([row.name]).get(row.name)
        raise Contention(f"The file {row.name!r} is written by another process at the same time, again and again.")

    def below(self, beginning: str, kind: str) -> dict[str, int]:
        """Give the ids of the files of a kind whose names begin so, by name."""
        with reading(self._database, self._tenant) as (connection, _), connection.cursor() as cursor, own_tables():
            cursor.arraysize = cursor.prefetchrows = 1000
            statement = Statements("ingest", self._database.schema)["below"]
            cursor.execute(statement, {**self._place, "beginning": beginning, "file_kind": kind})
            return {name: int(file_id) for name, file_id in cursor}

    def remove(self, file_ids: Sequence[int]) -> Iterable[SourceKey]:
        """Delete files and enqueue that they are gone, some hundred in one transaction; gives them as they are done."""
        for part in parts(file_ids, _REMOVED_AT_ONCE):
            keys = [self._key(file_id) for file_id in part]
            with writing(self._database, self._tenant) as connection:
                rows = [{"tenant_id": self._place["tenant_id"], "file_id": file_id} for file_id in part]
                with connection.cursor() as cursor, own_tables():
                    cursor.executemany(Statements("ingest", self._database.schema)["remove_file"], rows)
                self._enqueue(connection, keys, "DELETE")
            yield from keys

    def _add(self, row: FileRow, hashed: str) -> SourceKey:
        with writing(self._database, self._tenant) as connection, connection.cursor() as cursor:
            sql = Statements("ingest", self._database.schema)
            named = {**self._place, "file_path": row.name}
            with own_tables():
                cursor.setinputsizes(**_KINDS)
                cursor.execute(sql["add_file"], {**named, **_details(row), "body_hash": hashed, "body": row.body})
                cursor.execute(sql["file_id"], named)
                [file_id] = cursor.fetchone() or (0,)
            key = self._key(int(file_id))
            self._enqueue(connection, [key], "UPSERT")
        return key

    def _change(self, row: FileRow, hashed: str, stored: Stored) -> bool:
        """Write what is different; False where the row is not what it was."""
        binds = {**_details(row), "file_id": stored.file_id, "tenant_id": self._place["tenant_id"], "body_hash": hashed}
        name = "change_details" if stored.body_hash == hashed else "change_file"
        if name == "change_file":
            binds["body"] = row.body
        with writing(self._database, self._tenant) as connection, connection.cursor() as cursor:
            with own_tables():
                cursor.setinputsizes(**{bind: kind for bind, kind in _KINDS.items() if bind in binds})
                cursor.execute(Statements("ingest", self._database.schema)[name], binds)
                changed = bool(cursor.rowcount)
            if changed:
                self._enqueue(connection, [self._key(stored.file_id)], "UPSERT")
        return changed

    def _key(self, file_id: int) -> SourceKey:
        return SourceKey(FILE_SOURCE, str(file_id), tenant=self._place["tenant_id"])

    def _enqueue(
        self, connection: oracledb.Connection, keys: Sequence[SourceKey], action: Literal["UPSERT", "DELETE"]
    ) -> None:
        enqueue_many(connection, keys, sources=self._sources, schema=self._database.schema, action=action)


def _details(row: FileRow) -> dict[str, Any]:
    return {
        "file_kind": row.kind,
        "visibility": _VISIBILITY[row.visibility],
        "owner_id": row.owner,
        "occurred_at": row.occurred_at,
        "title": row.title,
        "url": row.url,
        "metadata": dict(row.metadata) or None,
    }


def _same(row: FileRow, hashed: str, stored: Stored) -> bool:
    return hashed == stored.body_hash and all(getattr(row, name) == getattr(stored, name) for name in _DETAILS)
