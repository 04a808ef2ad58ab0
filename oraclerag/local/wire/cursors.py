"""Open cursors of a session: statement, binds, and the result that is being fetched."""

from __future__ import annotations

import heapq
from collections.abc import Collection
from dataclasses import dataclass, field

from oraclerag.local.interface import BindType, CellForm, Column, Direction, OraError, OraType, Rows, StatementShape
from oraclerag.local.wire.binds import BindInfo, Order
from oraclerag.local.wire.login import MAX_OPEN_CURSORS

_NEEDS_DEFINE = frozenset({OraType.CLOB, OraType.BLOB, OraType.JSON, OraType.VECTOR})


@dataclass(slots=True)
class Cursor:
    """A parsed statement and what became of it.

    ``types`` are those of ``binds``, empty until it is run with them; ``order`` is that of their values when it is run
    again, None until it is. ``described`` are the columns as the client knows
    them; ``forms`` how it wants them, None before the define step.
    """

    id: int
    sql: str
    shape: StatementShape
    binds: list[BindInfo] = field(default_factory=list)
    order: Order | None = None
    types: list[BindType] = field(default_factory=list)
    directions: tuple[Direction, ...] | None = None
    columns: tuple[Column, ...] | None = None
    described: tuple[Column, ...] | None = None
    forms: list[CellForm] | None = None
    rows: Rows | None = None
    fetched: int = 0

    def absent_binds(self) -> set[int]:
        """Give the binds for which the client sends no value when all types are declared: those of RETURNING."""
        if self.shape.returning is None:
            return set()
        return set(range(self.shape.returning, len(self.binds)))

    def absent_binds_again(self) -> Collection[int]:
        """Give the binds without value when the statement is run again: those of RETURNING, and known OUT binds."""
        if not self.binds:
            return ()
        absent = self.absent_binds()
        if self.directions:
            absent.update(place for place, direction in enumerate(self.directions) if direction is Direction.OUT)
        return absent

    @property
    def waits_for_define(self) -> bool:
        """Whether rows must wait: the client has yet to say how it wants large values."""
        return self.forms is None and not _NEEDS_DEFINE.isdisjoint([column.type for column in self.columns or ()])

    def define(self, defines: list[BindInfo]) -> None:
        """Heed the define step, as far as it concerns large values; clients convert all others themselves."""
        columns = self.columns or ()
        if len(defines) != len(columns):
            raise OraError(1007, "variable not in select list")
        self.forms = [_form(column.type, define.type) for column, define in zip(columns, defines, strict=True)]

    def adapt(self) -> None:
        """Settle the forms of a statement whose columns are others than when it was described.

        A client that fetched text or RAW goes on fetching it when the column has become a CLOB or a BLOB, as LONG.
        Whatever else large is new waits for its define.
        """
        columns, before = self.columns or (), self.described or ()
        known = self.forms or [CellForm.VALUE] * len(before)
        forms: list[CellForm] = []
        if len(columns) == len(before):
            for column, old, form in zip(columns, before, known, strict=True):
                if column.type in _GROWN_FROM.get(old.type, ()):
                    forms.append(CellForm.LONG)
                elif column.type not in _NEEDS_DEFINE or (column.type is old.type and self.forms is not None):
                    forms.append(form if column.type is old.type else CellForm.VALUE)
        self.forms = forms if len(forms) == len(columns) else None

    def cell_forms(self) -> list[CellForm]:
        """Give the form of every column's cells."""
        return self.forms or [CellForm.VALUE] * len(self.columns or ())

    def close_rows(self) -> None:
        """Forget the result, if there is one."""
        rows, self.rows = self.rows, None
        if rows is not None:
            rows.close()


_GROWN_FROM = {
    OraType.VARCHAR: (OraType.CLOB,),
    OraType.CHAR: (OraType.CLOB,),
    OraType.LONG: (OraType.CLOB,),
    OraType.RAW: (OraType.BLOB,),
    OraType.LONG_RAW: (OraType.BLOB,),
}


def _form(column: OraType, wanted: int) -> CellForm:
    if column in (OraType.CLOB, OraType.BLOB):
        return CellForm.LONG if wanted in (OraType.LONG, OraType.LONG_RAW) else CellForm.LOCATOR
    if column is OraType.VECTOR:
        if wanted == OraType.LONG:
            return CellForm.LONG
        return CellForm.LOCATOR if wanted == OraType.CLOB else CellForm.VALUE
    if column is OraType.JSON and wanted in (OraType.VARCHAR, OraType.CHAR, OraType.LONG):
        return CellForm.LONG
    return CellForm.VALUE


class CursorTable:
    """Cursors by number; numbers are used again, as they have 16 bits."""

    def __init__(self) -> None:
        self._cursors: dict[int, Cursor] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._cursors)

    def open(self, sql: str, shape: StatementShape, known: int = 0) -> Cursor:
        """Open a cursor, or parse another statement in the cursor ``known``; ORA-01000 when there are too many."""
        old = self._cursors.get(known)
        if old is not None:
            old.close_rows()
            number = known
        elif len(self._cursors) >= MAX_OPEN_CURSORS:
            raise OraError(1000, "maximum open cursors exceeded")
        else:
            number = heapq.heappop(self._free) if self._free else len(self._cursors) + 1
        cursor = Cursor(number, sql, shape)
        self._cursors[number] = cursor
        return cursor

    def get(self, number: int) -> Cursor:
        """Find a cursor; ORA-01001 when it is not open."""
        cursor = self._cursors.get(number)
        if cursor is None:
            raise OraError(1001, "invalid cursor")
        return cursor

    def close(self, number: int) -> None:
        """Close a cursor; an unknown one is no matter."""
        cursor = self._cursors.pop(number, None)
        if cursor is not None:
            heapq.heappush(self._free, number)
            cursor.close_rows()
