"""Texts cut by the database: one statement with VECTOR_CHUNKS for each of them."""

from __future__ import annotations

import oracledb

from oraclerag.cutting.clause import ChunkClause
from oraclerag.database import driver_types, translated
from oraclerag.errors import SourceError, StatementFailed
from oraclerag.records import Piece

__all__ = ["pieces", "require"]


def pieces(connection: oracledb.Connection, text: str, clause: ChunkClause) -> tuple[Piece, ...]:
    """Give the pieces of a text in the order of their places. Raises StatementFailed and what the database says."""
    # Of a CLOB offsets are in characters; a text bound as such would be a LONG, which no function takes (ORA-01461).
    statement = (
        f"SELECT c.CHUNK_OFFSET, c.CHUNK_LENGTH, c.CHUNK_TEXT FROM VECTOR_CHUNKS(TO_CLOB(:body) {clause.sql}) c "
        f"ORDER BY c.CHUNK_OFFSET"
    )
    with connection.cursor() as cursor, driver_types(connection), translated():
        cursor.arraysize = 1000
        cursor.setinputsizes(body=oracledb.DB_TYPE_CLOB)
        cursor.execute(statement, body=text)
        return tuple(Piece(int(offset), int(length), part or "") for offset, length, part in cursor)


def require(connection: oracledb.Connection, clause: ChunkClause, source: str) -> None:
    """Raise SourceError where the database cuts no text of a source so."""
    try:
        pieces(connection, "text", clause)
    except StatementFailed as error:
        raise SourceError(
            f"The database cannot cut texts of source {source!r} by VECTOR_CHUNKS: {error.message}",
            hint="Give it another vector_chunks, or another chunker.",
        ) from error
