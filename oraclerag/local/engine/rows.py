"""Results of queries: kept whole, or an open cursor whose rows are locked as they are fetched."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from psycopg.pq.abc import PGresult

from oraclerag.local.engine.cells import WHOLE, writer
from oraclerag.local.engine.commands import Prepared, Writers
from oraclerag.local.engine.decode import decoder
from oraclerag.local.engine.oids import Oids
from oraclerag.local.interface import CellForm, Column, LobStore, OraError
from oraclerag.local.wire.values import put_long

_ROW = 7
_MARK = bytes((_ROW,))
_MANY = 16
_NULL = b"\0"


def _long_null() -> bytes:
    out = bytearray()
    put_long(out, None)
    return bytes(out)


_LONG_NULL = _long_null()


class ResultRows:
    """A complete result, in chunks as it came; it survives a commit, unless its rows were locked.

    ``ends_with_transaction`` says that they were: a fetch after the end of the transaction is ORA-01002.
    """

    def __init__(
        self,
        chunks: list[PGresult],
        columns: tuple[Column, ...],
        prepared: Prepared,
        own: Oids,
        zone: dt.tzinfo,
        ends_with_transaction: bool = False,
    ) -> None:
        self.columns = columns
        self.ends_with_transaction = ends_with_transaction
        self._chunks = chunks
        self._position = 0  # in the first chunk; what is read to its end is dropped
        self._prepared = prepared
        self._own = own
        self._zone = zone
        self._transaction_ended = False

    def write(self, out: bytearray, count: int, forms: Sequence[CellForm], lobs: LobStore) -> int:
        """Append up to ``count`` rows; see :class:`oraclerag.local.interface.Rows`."""
        if self._transaction_ended:
            raise OraError(1002, "fetch out of sequence")
        writers = self._choose(forms, lobs)
        written = 0
        while written < count and self._chunks:
            start = self._position
            end = min(start + count - written, self._chunks[0].ntuples)
            self._write_rows(self._chunks[0], range(start, end), writers, out)
            written += end - start
            if end == self._chunks[0].ntuples:
                self._next_chunk()
        return written

    def _write_rows(self, chunk: PGresult, rows: range, writers: Writers, out: bytearray) -> None:
        get = chunk.get_value
        if writers.whole is not None and len(rows) >= _MANY:
            try:
                out += _many_rows(chunk, rows, writers)
                self._position = rows.stop
                return
            except OraError:
                pass  # below, the rows before the one that cannot be written are
        mark, row = len(out), rows.start
        try:
            for row in rows:
                mark = len(out)
                out.append(_ROW)
                for place, write, null in writers.columns:
                    cell = get(row, place)
                    if cell is None:
                        out += null
                    else:
                        write(out, cell)
        except OraError:
            del out[mark:]
            self._position = row + 1
            raise
        self._position = rows.stop

    def _next_chunk(self) -> None:
        self._chunks.pop(0).clear()
        self._position = 0

    def values(self) -> list[tuple[Any, ...]]:
        """Give the rows that are left as Python values."""
        description = self._prepared.description
        decoders = [decoder(description.ftype(place), self._own, self._zone) for place in range(description.nfields)]
        rows = []
        while self._chunks:
            chunk = self._chunks[0]
            for row in range(self._position, chunk.ntuples):
                cells = ((chunk.get_value(row, place), decode) for place, decode in enumerate(decoders))
                rows.append(tuple(None if cell is None else decode(cell) for cell, decode in cells))
            self._next_chunk()
        return rows

    def transaction_ended(self) -> None:
        """Be told that the transaction has ended."""
        self._transaction_ended = self.ends_with_transaction

    def close(self) -> None:
        """Forget the result."""
        while self._chunks:
            self._next_chunk()

    def _choose(self, forms: Sequence[CellForm], lobs: LobStore) -> Writers:
        known = self._prepared.writers
        if known is not None and known.forms == forms and known.lobs is lobs and known.zone is self._zone:
            return known
        columns = []
        for place, column in enumerate(self.columns):
            form = forms[place] if place < len(forms) else CellForm.VALUE
            oid = self._prepared.description.ftype(place)
            write = writer(column, oid, form, lobs, self._own, self._zone)
            columns.append((place, write, _LONG_NULL if form is CellForm.LONG else _NULL))
        found = [WHOLE.get(write) for _, write, _ in columns]
        whole = [give for give in found if give is not None]
        made = Writers(list(forms), lobs, self._zone, columns, whole if len(whole) == len(columns) else None)
        self._prepared.writers = made
        return made


def _many_rows(chunk: PGresult, rows: range, writers: Writers) -> bytes:
    """Give rows with their marks, made column by column."""
    get = chunk.get_value
    columns: list[list[bytes]] = []
    for (place, _, null), whole in zip(writers.columns, writers.whole or (), strict=True):
        columns.append([null if (cell := get(row, place)) is None else whole(cell) for row in rows])
    return b"".join(itertools.chain.from_iterable(zip(itertools.repeat(_MARK), *columns, strict=False)))


class CursorRows:
    """An open cursor of FOR UPDATE SKIP LOCKED: a row is locked when it is fetched, and no row is fetched ahead.

    ``fetch`` gives the next rows of the cursor, ``close_cursor`` closes it.
    """

    def __init__(
        self,
        columns: tuple[Column, ...],
        fetch: Callable[[int], ResultRows],
        close_cursor: Callable[[], None],
    ) -> None:
        self.columns = columns
        self._fetch = fetch
        self._close_cursor = close_cursor
        self._open = True
        self._exhausted = False

    def write(self, out: bytearray, count: int, forms: Sequence[CellForm], lobs: LobStore) -> int:
        """Fetch, lock and append up to ``count`` rows."""
        if self._exhausted or count <= 0:
            return 0
        if not self._open:
            raise OraError(1002, "fetch out of sequence")
        try:
            written = self._fetch(count).write(out, count, forms, lobs)
        except OraError:
            # A failed fetch leaves the cursor unusable in PostgreSQL.
            self._open = False
            raise
        if written < count:
            self._exhausted = True
            self.close()
        return written

    def values(self) -> list[tuple[Any, ...]]:
        """Fetch and lock all rows that are left, as Python values."""
        rows: list[tuple[Any, ...]] = []
        while not self._exhausted:
            if not self._open:
                raise OraError(1002, "fetch out of sequence")
            batch = self._fetch(1000).values()
            rows += batch
            self._exhausted = not batch
        self.close()
        return rows

    def transaction_ended(self) -> None:
        """Be told that the transaction has ended, and the cursor with it."""
        self._open = False

    def close(self) -> None:
        """Close the cursor; its locks stay."""
        if self._open:
            self._open = False
            self._close_cursor()
