"""An UPDATE that sets a column to VECTOR_EMBEDDING(model USING expression), in two statements.

The rows are locked and their texts read; these are embedded in one batch; every row is updated once, by its place. A
locked row keeps text and place, so this does what one statement with the vectors at hand would have done.
"""

from __future__ import annotations

from psycopg.pq.abc import PGresult

from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.commands import BEGIN, BINARY, RELEASE, SAVEPOINT, Execute, Prepared
from oraclerag.local.engine.embedding import Embedder
from oraclerag.local.engine.parameters import Parameters
from oraclerag.local.engine.pipeline import Connection
from oraclerag.local.engine.plan import EmbedUpdate
from oraclerag.local.engine.set_form import array


def embed_rows(
    connection: Connection, embedder: Embedder, update: EmbedUpdate, reading: Prepared, parameters: Parameters, oid: int
) -> PGresult:
    """Run it and give the result of the UPDATE; an error leaves the transaction as it was. ``oid`` is of vectors."""
    writing = connection.prepare(update.text, (0, 0))
    opened = connection.idle
    try:
        read = Execute(reading.name, parameters.row(0), parameters.formats)
        rows = connection.pipeline([BEGIN if opened else SAVEPOINT, read])[1]
        texts = [(rows.get_value(place, 1) or b"").decode() for place in range(rows.ntuples)]
        vectors = embedder.remembered(update.model, [text for text in texts if text])
        places, _ = array(pg.TID, True, [rows.get_value(place, 0) for place in range(rows.ntuples)])
        values, _ = array(oid, True, [vectors.get(text) for text in texts])
        write = Execute(writing.name, [places, values], [BINARY, BINARY])
        return connection.pipeline([write] if opened else [write, RELEASE], size=len(values))[0]
    except BaseException:
        if opened:
            connection.forget_interrupt()
            connection.simple(b"ROLLBACK")
        else:
            connection.undo()
            connection.simple(b"RELEASE s")
        raise
