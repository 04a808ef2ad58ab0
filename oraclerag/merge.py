"""The index follows the documents: compare, write what changed, embed it where it is, prune, delete.

Everything happens in the transaction of the caller, who holds the entities. The number of statements does not depend on
the number of entities. What did not change is not written, and a text that did not change is not embedded again.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import oracledb

from oraclerag.database import execute_counted, in_list, own_tables, parts
from oraclerag.model.active import ActiveModel
from oraclerag.records import Chunk, Claimed, Document, Held, fingerprint_half
from oraclerag.statements import Statements, quoted

__all__ = ["SLICE", "Merge", "Merged", "Write", "groups", "rights_row", "text_hash"]

SLICE = 256
"""Chunks that one transaction writes and embeds; a document with more is put together out of sight before."""

_TITLE_BYTES = 1000
_TEXTS, _DETAILS = json.JSONEncoder(), json.JSONEncoder(sort_keys=True)  # made once: json.dumps would for every entity
_VISIBILITY = {"shared": "SHARED", "owner": "OWNER"}


@dataclass(frozen=True, slots=True)
class Write:
    """What the index shall say of one entity; without a document it is gone.

    ``content_hash`` stands for the text and how it was cut, ``details_hash`` for everything else: who may see it and
    what it is about. ``staged``: its changed chunks wait under negative numbers.
    """

    entity: Claimed
    fingerprint: str
    document: Document | None = field(repr=False)
    chunks: tuple[Chunk, ...] = field(default=(), repr=False)
    staged: bool = False
    content_hash: str | None = field(default=None, init=False)
    details_hash: str | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        document = self.document
        if document is None:
            return
        cuts = [[c.number, c.section, c.parent, c.start, c.end, len(c.head), c.content] for c in self.chunks]
        object.__setattr__(self, "content_hash", text_hash(_TEXTS.encode([document.text, cuts])))
        moment = None if document.occurred_at is None else document.occurred_at.isoformat()
        names = ("title", "url", "tenant", "owner", "visibility", "project", "sprint", "collection")
        values = [getattr(document, name) for name in names]
        own = [[chunk.number, dict(chunk.metadata)] for chunk in self.chunks if chunk.metadata]
        details = _DETAILS.encode([values, moment, dict(document.metadata), own])
        object.__setattr__(self, "details_hash", text_hash(details))

    @property
    def tenant(self) -> str:
        """Whose it is; '' where it is gone."""
        return (self.document.tenant if self.document is not None else None) or ""

    def takes_away(self, before: Held) -> bool:
        """Whether a tenant had the entity's text before and has it no longer: gone, empty, or another tenant's now."""
        document = self.document
        return before.chunks > 0 and (document is None or not self.chunks or document.tenant != before.tenant)


@dataclass(frozen=True, slots=True)
class Merged:
    """What was done, in entities; ``embedded`` in chunks."""

    indexed: int = 0
    unchanged: int = 0
    deleted: int = 0
    embedded: int = 0


@dataclass(frozen=True, slots=True)
class _Stored:
    content_hash: str
    place: tuple[int | None, int | None, int | None, str | None, int | None]


class _Rows:
    """The rows of binds for every statement, collected before any is sent."""

    def __init__(self) -> None:
        self.of: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.embed: list[int] = []
        self.vectors: dict[tuple[int, int], Chunk] = {}  # by entity and number: what needs one

    def chunks(self, write: Write, current: Mapping[int, _Stored], *, embed_again: bool) -> None:
        """Find out what of an entity's chunks is new, changed, moved or left over."""
        entity = {"entity_id": write.entity.entity_id}
        kept = {number: stored for number, stored in current.items() if number >= 0}
        staged = {-number - 1: stored for number, stored in current.items() if number < 0}
        if write.staged:
            self.of["drop_chunk"] += [{**entity, "chunk_no": number} for number in sorted(staged.keys() & kept.keys())]
            self.of["promote"].append(entity)
            kept |= staged
        elif embed_again and kept:
            self.of["forget_vectors"].append(entity)
        changed = embed_again and bool(kept) and not write.staged
        for chunk in write.chunks:
            stored = kept.get(chunk.number)
            place = (chunk.start, chunk.end, len(chunk.head), chunk.section, chunk.parent)
            same = stored is not None and stored.content_hash == text_hash(chunk.content)
            if not same or (embed_again and not write.staged):
                self.vectors[write.entity.entity_id, chunk.number] = chunk
            if stored is None:
                self.of["add_chunk"].append(_chunk_row(write, chunk))
            elif not same:
                self.of["change_chunk"].append(_text_row(write, chunk))
            elif stored.place != place:
                self.of["move_chunk"].append(_place_row(write, chunk))
                continue
            else:
                continue
            changed = True
        if changed:
            self.embed.append(write.entity.entity_id)
        if any(number >= len(write.chunks) for number in kept) or (staged and not write.staged):
            self.of["prune"].append({**entity, "chunks": len(write.chunks)})


class Merge:
    """The merge on one connection with the model in force; nothing here commits.

    ``second`` is the model beside it while models are switched: every chunk that is written is embedded by both.
    ``vectors`` are those that a provider made, by the hash of their text: for the model in force, where that is one of
    a provider, and then what is written must have its vectors there (:meth:`lacking`); else for the second model, of
    which `reembed` makes what is missing.
    """

    def __init__(
        self, connection: oracledb.Connection, schema: str, model: ActiveModel, second: ActiveModel | None = None
    ) -> None:
        self._connection = connection
        self._sql = Statements("merge", schema)
        self._model = model
        self._second = second
        self._made_by = model if model.provider is not None else second
        self._column = quoted(model.column, "vector column")
        columns = [self._column] if second is None else [self._column, quoted(second.column, "vector column")]
        self._columns = " = NULL, ".join(columns)
        self.vectors: dict[str, array[float]] = {}

    def apply(self, writes: Sequence[Write], held: Mapping[int, Held], token: str) -> Merged:
        """Bring the index to what the writes say, for entities that are held, and free their tickets."""
        rows = _Rows()
        different = [write for write in writes if not _same(write, held[write.entity.entity_id])]
        retexted = [write for write in different if _retexted(write, held[write.entity.entity_id])]
        with self._connection.cursor() as cursor, own_tables():
            current = self._current(cursor, retexted)
            for write in retexted:
                before = held[write.entity.entity_id]
                rows.chunks(write, current[write.entity.entity_id], embed_again=_embed_again(write, before))
            for write in different:
                self._document(rows, write, held[write.entity.entity_id])
            for write in sorted(different, key=lambda write: write.entity.entity_id):
                rows.of["note_entity"].append(_entity_row(write, token))
            embedded = self._send(cursor, rows)
            same = {write.entity.entity_id for write in writes} - {write.entity.entity_id for write in different}
            for part in parts(sorted(same)):
                listed, binds = in_list(part)
                cursor.execute(self._sql.with_names("note_unchanged", ids=listed), {**binds, "claim_token": token})
        deleted = sum(write.document is None for write in writes)
        unchanged = len(writes) - len(different)  # one that is gone is never the same
        return Merged(len(writes) - deleted - unchanged, unchanged, deleted, embedded)

    def lacking(self, writes: Sequence[Write], held: Mapping[int, Held]) -> dict[int, list[Chunk]]:
        """Give the chunks of entities that are held whose vectors a provider has to make and that are not there yet."""
        rows = _Rows()
        retexted = [write for write in writes if _changed(write, held.get(write.entity.entity_id))]
        with self._connection.cursor() as cursor, own_tables():
            current = self._current(cursor, retexted)
        for write in retexted:
            again = _embed_again(write, held[write.entity.entity_id])
            rows.chunks(write, current[write.entity.entity_id], embed_again=again)
        found: dict[int, list[Chunk]] = defaultdict(list)
        for (entity_id, _), chunk in rows.vectors.items():
            if text_hash(chunk.content) not in self.vectors:
                found[entity_id].append(chunk)
        return dict(found)

    def to_stage(self, write: Write, held: Held) -> list[Chunk]:
        """Give the chunks that must be embedded, where they are more than one transaction should write."""
        if len(write.chunks) <= SLICE or _same(write, held) or not _retexted(write, held):
            return []
        with self._connection.cursor() as cursor, own_tables():
            current = self._current(cursor, [write])[write.entity.entity_id]
        again = _embed_again(write, held)
        stored = {number: row.content_hash for number, row in current.items()}
        found = [chunk for chunk in write.chunks if again or stored.get(chunk.number) != text_hash(chunk.content)]
        return found if len(found) > SLICE else []

    def stage(self, write: Write, chunks: Sequence[Chunk], *, first: bool) -> int:
        """Write and embed chunks where nobody sees them; gives how many were embedded. The first call clears up."""
        rows = _Rows()
        entity = {"entity_id": write.entity.entity_id}
        if first:
            rows.of["prune_staged"].append(entity)
            rows.of["note_staged"].append(entity)
        for chunk in chunks:
            row = _chunk_row(write, chunk)
            rows.of["add_chunk"].append({**row, "chunk_no": -chunk.number - 1, "visibility": "HIDDEN"})
            rows.vectors[write.entity.entity_id, -chunk.number - 1] = chunk
        rows.embed.append(write.entity.entity_id)
        with self._connection.cursor() as cursor, own_tables():
            return self._send(cursor, rows)

    def restrict(self, writes: Iterable[Write]) -> None:
        """Hide the chunks of entities whose text could not be written and whose rights are no longer those they have.

        Who lost a right sees them no longer; who gained one does not see the old text, which was never theirs.
        """
        rows = [rights_row(write) for write in writes if write.document is not None]
        with self._connection.cursor() as cursor, own_tables():
            self._many(cursor, "restrict", rows)

    def _current(self, cursor: oracledb.Cursor, writes: Sequence[Write]) -> dict[int, dict[int, _Stored]]:
        found: dict[int, dict[int, _Stored]] = {write.entity.entity_id: {} for write in writes}
        for part in parts(sorted(found)):
            listed, binds = in_list(part)
            cursor.arraysize = cursor.prefetchrows = 1000
            cursor.execute(self._sql.with_names("chunks", ids=listed), binds)
            for entity_id, number, content_hash, *place in cursor.fetchall():
                start, end, head, section, parent = place
                found[int(entity_id)][int(number)] = _Stored(content_hash, (start, end, head, section, parent))
        return found

    @staticmethod
    def _document(rows: _Rows, write: Write, before: Held) -> None:
        entity = {"entity_id": write.entity.entity_id}
        if write.document is None or not write.chunks:
            if before.fingerprint is not None:
                rows.of["drop_document"].append(entity)
            return
        # Only an entity that was written before can have a document: the long text goes over the wire once.
        rows.of["add_document" if before.fingerprint is None else "change_document"].append(_document_row(write))
        if write.staged or (before.chunks and before.details_hash != write.details_hash):
            if any(chunk.metadata for chunk in write.chunks):
                rows.of["chunk_details"] += [_chunk_details_row(write, chunk) for chunk in write.chunks]
            else:
                rows.of["details"].append(_details_row(write))

    def _send(self, cursor: oracledb.Cursor, rows: _Rows) -> int:
        for name in ("drop_chunk", "promote", "prune", "prune_staged", "note_staged", "forget_vectors"):
            self._many(cursor, name, rows.of[name])
        for name in ("change_chunk", "move_chunk", "add_chunk"):
            self._many(cursor, name, rows.of[name])
        self._many(cursor, "details", rows.of["details"])
        self._many(cursor, "chunk_details", rows.of["chunk_details"])
        embedded = 0
        for model in (self._model, self._second):
            count = 0
            if model is not None and model.provider is None:
                count = self._embed(cursor, rows.embed, model)
            elif model is not None and model is self._made_by:
                count = self._set(cursor, rows.vectors, model)
            embedded = count if model is self._model else embedded
        counts = execute_counted(cursor, self._statement("change_document"), rows.of["change_document"], _KINDS)
        lost = [row for row, count in zip(rows.of["change_document"], counts, strict=True) if not count]
        self._many(cursor, "add_document", [*rows.of["add_document"], *lost])
        self._many(cursor, "drop_document", rows.of["drop_document"])
        self._many(cursor, "note_entity", rows.of["note_entity"])
        return embedded

    def _many(self, cursor: oracledb.Cursor, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if not rows:
            return
        kinds = {bind: kind for bind, kind in _KINDS.items() if bind in rows[0]}
        if kinds:
            cursor.setinputsizes(**kinds)
        cursor.executemany(self._statement(name), rows)

    def _embed(self, cursor: oracledb.Cursor, entities: Sequence[int], model: ActiveModel) -> int:
        embedded = 0
        prefix, column = model.passage_prefix, quoted(model.column, "vector column")
        for part in parts(sorted(set(entities))):
            listed, binds = in_list(part)
            statement = self._sql.with_names(
                "embed_prefixed" if prefix else "embed", model=model.sql_name, column=column, ids=listed
            )
            cursor.execute(statement, {**binds, "prefix": prefix} if prefix else binds)
            embedded += cursor.rowcount
        return embedded

    def _set(self, cursor: oracledb.Cursor, chunks: Mapping[tuple[int, int], Chunk], model: ActiveModel) -> int:
        """Write the vectors that came from a provider; of a second model some may be missing."""
        rows = []
        for (entity_id, number), chunk in chunks.items():
            content_hash = text_hash(chunk.content)
            if content_hash not in self.vectors and model is self._second:
                continue
            vector = self.vectors[content_hash]
            rows.append({"vector": vector, "entity_id": entity_id, "chunk_no": number, "content_hash": content_hash})
        if rows:
            cursor.setinputsizes(vector=oracledb.DB_TYPE_VECTOR)
            column = quoted(model.column, "vector column")
            cursor.executemany(self._sql.with_names("set_vector", column=column), rows)
        return len(rows)

    def _statement(self, name: str) -> str:
        return self._sql.with_names(name, column=self._column, no_vectors=self._columns)


# A value that is None in the first row says nothing of its type. A text that is to be a CLOB goes as a LONG, in the
# message with the rest: a temporary LOB would cost round trips for every row.
_KINDS = {
    "occurred_at": oracledb.DB_TYPE_TIMESTAMP,
    "metadata": oracledb.DB_TYPE_JSON,
    "body": oracledb.DB_TYPE_LONG,
}


def groups(writes: Sequence[Write]) -> list[list[Write]]:
    """Put writes together until they have a slice of chunks; a longer document stands alone."""
    found: list[list[Write]] = []
    size = 0
    for write in writes:
        chunks = max(len(write.chunks), 1)
        if not found or size + chunks > SLICE:
            found.append([])
            size = 0
        found[-1].append(write)
        size += chunks
    return found


def _same(write: Write, before: Held) -> bool:
    if write.document is None:
        return False
    return (before.fingerprint, before.content_hash, before.details_hash) == (
        write.fingerprint,
        write.content_hash,
        write.details_hash,
    )


def _retexted(write: Write, before: Held) -> bool:
    return write.staged or before.content_hash != write.content_hash or _embed_again(write, before)


def _changed(write: Write, before: Held | None) -> bool:
    return before is not None and not _same(write, before) and _retexted(write, before)


def _embed_again(write: Write, before: Held) -> bool:
    """Whether the vectors there are were made by another model, or by one that is not known."""
    return fingerprint_half(before.fingerprint, "model") != fingerprint_half(write.fingerprint, "model")


def _chunk_row(write: Write, chunk: Chunk) -> dict[str, Any]:
    return {
        **_chunk_details_row(write, chunk),
        **_text_row(write, chunk),
        "source_type": write.entity.source_type,
        "source_id": write.entity.source_id,
    }


def _text_row(write: Write, chunk: Chunk) -> dict[str, Any]:
    return {**_place_row(write, chunk), "content_hash": text_hash(chunk.content), "content": chunk.content}


def _place_row(write: Write, chunk: Chunk) -> dict[str, Any]:
    return {
        "entity_id": write.entity.entity_id,
        "chunk_no": chunk.number,
        "text_start": chunk.start,
        "text_end": chunk.end,
        "head_length": len(chunk.head),
        "parent_no": chunk.parent,
        "section": chunk.section,
    }


def _chunk_details_row(write: Write, chunk: Chunk) -> dict[str, Any]:
    """Give the details as one chunk has them: what its source says is set above what was found in its text."""
    row = _details_row(write)
    metadata = {**chunk.metadata, **(row["metadata"] or {})} or None
    return {**row, "metadata": metadata, "chunk_no": chunk.number}


def rights_row(write: Write) -> dict[str, Any]:
    """Give who may see a document, as the columns of RAG_CHUNK say it, by the names of their binds."""
    return {name: _details_row(write)[name] for name in ("entity_id", "tenant_id", "visibility", "owner_id")}


def _details_row(write: Write) -> dict[str, Any]:
    document = write.document
    assert document is not None  # noqa: S101 - the callers have asked
    return {
        "entity_id": write.entity.entity_id,
        "tenant_id": document.tenant,
        "collection": document.collection,
        "visibility": _VISIBILITY[document.visibility or "owner"],
        "owner_id": document.owner,
        "project_id": document.project,
        "sprint_id": document.sprint,
        "occurred_at": document.occurred_at,
        "metadata": dict(document.metadata) or None,
    }


def _document_row(write: Write) -> dict[str, Any]:
    document = write.document
    assert document is not None  # noqa: S101 - the callers have asked
    return {
        "entity_id": write.entity.entity_id,
        "tenant_id": document.tenant,
        "occurred_at": document.occurred_at,
        "title": _short(document.title),
        "metadata": dict(document.metadata) or None,
        "url": document.url,
        "body": document.text,
    }


def _entity_row(write: Write, token: str) -> dict[str, Any]:
    document = write.document
    return {
        "entity_id": write.entity.entity_id,
        "tenant_id": document.tenant if document else None,
        "collection": document.collection if document else None,
        # One that is gone has none: when it is there again, a backfill must miss it.
        "fingerprint": write.fingerprint if document else None,
        "content_hash": write.content_hash,
        "details_hash": write.details_hash,
        "chunks": len(write.chunks),
        "claim_token": token,
    }


def _short(title: str | None) -> str | None:
    """Cut a title to its column, visibly; the text has it in full."""
    if title is None or len(title.encode()) <= _TITLE_BYTES:
        return title
    return title.encode()[: _TITLE_BYTES - 3].decode("utf-8", "ignore") + "…"


def text_hash(text: str) -> str:
    """Give the SHA-256 of a text as RAG_CHUNK.CONTENT_HASH has it: 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
