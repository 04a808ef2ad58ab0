"""From the present rows of a source to what the index shall say of them: read, made storable, cut into chunks.

The worker writes it, an audit compares it, an estimate counts it; they must not differ.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence

import oracledb

from oraclerag import log, vector_chunks
from oraclerag.chunk import Limits, chunks, storable
from oraclerag.database import own_tables
from oraclerag.errors import ConfigurationError, EntityError, OracleRagError, StatementFailed
from oraclerag.merge import Write
from oraclerag.records import Claimed, Document
from oraclerag.source import FunctionSource, Source, SourceRead

__all__ = ["UNFORESEEN", "blamed", "read", "rendered"]

_log = logging.getLogger(__name__)

UNFORESEEN = (ArithmeticError, LookupError, TypeError, ValueError, RecursionError)
"""What a value raises for which nobody was prepared: a date that Python does not know, a text that has no UTF-8.

Its row must not end the worker, again and again, for ever.
"""


def read(source: Source, connection: oracledb.Connection, ids: Sequence[str]) -> SourceRead:
    """Read a source; what fails on some row is tried with fewer ids until that row is found.

    What a function began in a transaction is rolled back. Raises what is wrong with the source as a whole.
    """
    found = _cut_in_database(source, connection, _read(source, connection, ids))
    if isinstance(source, FunctionSource):
        with own_tables():
            connection.rollback()
    return found


def _read(source: Source, connection: oracledb.Connection, ids: Sequence[str]) -> SourceRead:
    failure: OracleRagError
    try:
        return source.read_each(connection, ids)
    except StatementFailed as error:
        failure = error
    except UNFORESEEN as error:
        failure = blamed("read", error)
    source.verify(connection)
    if len(ids) == 1:
        return SourceRead({}, {ids[0]: failure})
    halves = [_read(source, connection, part) for part in (ids[: len(ids) // 2], ids[len(ids) // 2 :])]
    return SourceRead(
        {key: document for half in halves for key, document in half.documents.items()},
        {key: error for half in halves for key, error in half.failures.items()},
    )


def _cut_in_database(source: Source, connection: oracledb.Connection, found: SourceRead) -> SourceRead:
    """Have the database cut the texts that are to be cut by VECTOR_CHUNKS; what it cannot cut is a failure.

    Raises SourceError where it cannot cut any text so.
    """
    documents, failures = dict(found.documents), dict(found.failures)
    for key, document in found.documents.items():
        clause = (document.cutting or source.settings.cutting).clause
        if clause is None:
            continue
        text = storable(document.text)
        try:
            pieces = vector_chunks.pieces(connection, text, clause) if text.strip() else ()
            documents[key] = dataclasses.replace(document, pieces=pieces)
        except StatementFailed as error:
            vector_chunks.require(connection, clause, source.name)
            del documents[key]
            failures[key] = EntityError(f"The database cannot cut the text of the entity: {error.message}")
            failures[key].__cause__ = error
    return SourceRead(documents, failures)


def rendered(entity: Claimed, source: Source, document: Document | None, *, limits: Limits, fingerprint: str) -> Write:
    """Give what the index shall say of an entity; without a document, or without a tenant, it is gone.

    Raises EntityError where its text cannot be cut into chunks.
    """
    if document is None or document.tenant is None:
        return Write(entity, fingerprint, None)
    text, title = storable(document.text), storable(document.title) if document.title else None
    if text is not document.text or title is not document.title:
        document = dataclasses.replace(document, text=text, title=title)
    try:
        cutting = document.cutting or source.settings.cutting
        cut = tuple(chunks(document.text, limits, cutting, title=document.title, pieces=document.pieces))
        return Write(entity, fingerprint, document, cut)
    except ConfigurationError as error:
        if document.cutting is None:
            raise
        raise EntityError(f"The entity cannot be cut as its document says: {error.message}", hint=error.hint) from error
    except UNFORESEEN as error:
        # one document that no chunker was written for stops nobody else
        raise blamed("cut into chunks", error) from error


def blamed(what: str, error: Exception) -> EntityError:
    """Make an entity's own failure of an error that nobody foresaw. Its text may repeat data; the log says where."""
    log.event(
        _log, logging.ERROR, "unforeseen", f"An entity cannot be {what} ({type(error).__name__}).",
        error_code=type(error).__name__, where=log.where(error.__traceback__),
    )  # fmt: skip
    failure = EntityError(f"The entity cannot be {what} ({type(error).__name__}).")
    failure.__cause__ = error
    return failure
