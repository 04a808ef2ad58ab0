"""A canned engine for the tests of the wire: it knows some statements by heart and no SQL."""

from __future__ import annotations

import datetime as dt
import decimal
import gc
import json
import re
import select
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import oracledb

from oraclerag.local.interface import (
    BindType,
    BlockResult,
    CellForm,
    Client,
    Column,
    Direction,
    DmlResult,
    EngineSession,
    LobStore,
    OraError,
    OraType,
    RowError,
    StatementKind,
    StatementShape,
    VectorFormat,
)
from oraclerag.local.server import Limits, Server
from oraclerag.local.wire import values
from oraclerag.local.wire.capabilities import Features
from oraclerag.local.wire.oson import encode_oson
from oraclerag.local.wire.vector import encode_vector

SETTINGS = {
    "default": Features(),
    "plain": Features(fast_authentication=False, end_of_response=False),
    "small packets": Features(sdu=512),
}
STRING_SETTINGS = SETTINGS | {"short strings": Features(max_string_size=4000)}
USER, PASSWORD = "rag", "s3cret-Päss"
CLOB_TEXT = "péché mignon ☃ 😀 " * 5000
BLOB_DATA = bytes(range(256)) * 300
VECTOR = array("f", [0.5, -1.25, 3.0, 0.0, 1e-3])
DOCUMENT = {"a": 1, "b": [1, decimal.Decimal("2.5"), "x", None, True], "nested": {"ключ": "значение"}}
BIG_MOMENT = dt.datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001
MOMENT = dt.datetime(2026, 11, 30, 8, 1, 2, 345678)  # noqa: DTZ001

_TOKEN = re.compile(
    r"""(?P<skip>'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/) | (?P<bind>:\s*(?:"[^"]+"|\w+)) | (?P<word>[A-Za-z_]\w*)""",
    re.VERBOSE | re.DOTALL,
)
_KINDS = {
    **dict.fromkeys(("SELECT", "WITH"), StatementKind.QUERY),
    **dict.fromkeys(("INSERT", "UPDATE", "DELETE", "MERGE"), StatementKind.DML),
    **dict.fromkeys(("BEGIN", "DECLARE", "CALL"), StatementKind.PLSQL),
    **dict.fromkeys(("CREATE", "ALTER", "DROP"), StatementKind.DDL),
}


def shape_of(sql: str) -> StatementShape:
    """Tell kind and binds, well enough for the statements of these tests."""
    kind, returning, seen_returning = None, None, False
    binds: list[str] = []
    for token in _TOKEN.finditer(sql):
        word = (token["word"] or "").upper()
        if word and kind is None:
            kind = _KINDS.get(word, StatementKind.OTHER)
        elif word == "RETURNING":
            seen_returning = True
        elif word == "INTO" and seen_returning:
            returning = len(binds)
        elif token["bind"]:
            name = token["bind"][1:].strip().upper()
            if kind is not StatementKind.PLSQL or name not in binds:
                binds.append(name)
    return StatementShape(kind or StatementKind.OTHER, tuple(binds), returning)


def _column(name: str, kind: OraType, **more: Any) -> Column:
    return Column(name, kind, **more)


class CannedRows:
    """Rows that an iterator makes when they are asked for."""

    def __init__(self, columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> None:
        self.columns = tuple(columns)
        self._rows: Iterator[Sequence[Any]] = iter(rows)
        self.closed = False

    def write(self, out: bytearray, count: int, forms: Sequence[CellForm], lobs: LobStore) -> int:
        written = 0
        for row in self._rows:
            out.append(7)
            for column, form, value in zip(self.columns, forms, row, strict=True):
                _put_cell(out, column.type, form, value, lobs)
            written += 1
            if written == count:
                break
        return written

    def close(self) -> None:
        self.closed = True
        if self.columns[0].name == "STICKY":
            raise OraError(1555, "snapshot too old")


def _put_cell(out: bytearray, kind: OraType, form: CellForm, value: Any, lobs: LobStore) -> None:
    if form is CellForm.LONG:
        if isinstance(value, array):
            value = json.dumps(value.tolist())
        elif not isinstance(value, str | bytes | None):
            value = json.dumps(value, default=float)
        values.put_long(out, value)
    elif value is None:
        out.append(0)
    elif form is CellForm.LOCATOR:
        out += lobs.put(json.dumps(value.tolist()) if isinstance(value, array) else value)
    elif kind is OraType.JSON:
        values.put_image(out, encode_oson(value))
    elif kind is OraType.VECTOR:
        values.put_image(out, encode_vector(value))
    elif kind is OraType.ROWID:
        data = values.encode_rowid(value)
        out.append(len(data))
        out += data
    else:
        values.SCALAR_WRITERS[kind](out, value)


ALL_TYPES: tuple[tuple[Column, Any], ...] = (
    (_column("N", OraType.NUMBER, precision=10), 42),
    (_column("D", OraType.NUMBER, precision=10, scale=2), decimal.Decimal("-1234.56")),
    (_column("S", OraType.VARCHAR, size=400, chars=100), "héllo ☃"),
    (_column("DT", OraType.DATE), MOMENT.replace(microsecond=0)),
    (_column("TS", OraType.TIMESTAMP, scale=6), MOMENT),
    (_column("TZ", OraType.TIMESTAMP_TZ, scale=6), MOMENT.replace(tzinfo=dt.UTC)),
    (_column("R", OraType.RAW, size=20), b"\1\2\xff"),
    (_column("B", OraType.BOOLEAN), True),
    (_column("BD", OraType.BINARY_DOUBLE), 3.14159),
    (_column("BF", OraType.BINARY_FLOAT), 1.5),
    (_column("IV", OraType.INTERVAL_DS, precision=9, scale=6), dt.timedelta(days=-3, hours=4, microseconds=17)),
    (_column("RI", OraType.ROWID), "AAASdMAAEAAAACDAAH"),
)


def _echo_column(name: str, bind: BindType) -> Column:
    kind = {OraType.LONG: OraType.VARCHAR, OraType.LONG_RAW: OraType.RAW}.get(bind.type, bind.type)
    if kind in (OraType.VARCHAR, OraType.CHAR):
        return Column(name, kind, size=32767, chars=32767)
    if kind is OraType.NUMBER:
        return Column(name, kind, scale=-127)
    if kind is OraType.VECTOR:
        return Column(name, kind, vector_format=VectorFormat.FLEXIBLE)
    return Column(name, kind, size=2000 if kind is OraType.RAW else 0)


class CannedEngine:
    """The database: what it was told is kept for the tests to look at."""

    def __init__(self) -> None:
        self.inserted: list[tuple[Any, ...]] = []
        self.statements: list[str] = []
        self.types: Sequence[BindType] = ()
        self.sessions: list[CannedSession] = []
        self.commits = 0
        self.rollbacks = 0
        self.sleeping = threading.Event()
        self.rows: list[CannedRows] = []

    def open(self, user: str, client: Client) -> EngineSession:
        if user == "LOCKED":
            raise OraError(28000, "The account is locked.")
        session = CannedSession(self, user, client)
        self.sessions.append(session)
        return session

    def password(self, user: str) -> str | None:
        return {"RAG": PASSWORD, "LOCKED": PASSWORD}.get(user)


def collect_dropped_sockets() -> Iterator[None]:
    """The driver leaves the socket of a connection it lost to the garbage collector: body of a fixture, see there."""
    yield
    gc.collect()


class Served:
    """A server with a canned engine behind it."""

    def __init__(self, features: Features, log: Path | None = None, limits: Limits | None = None) -> None:
        self.engine = CannedEngine()
        self.server = Server(self.engine, verifier_rounds=1, features=features, log_statements=log, limits=limits)

    def connect(self, **more: Any) -> oracledb.Connection:
        """Connect as the one user there is."""
        return oracledb.connect(**{"user": USER, "password": PASSWORD, "dsn": self.server.dsn} | more)

    def __enter__(self) -> Served:
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()


class CannedSession:
    """A session of the canned engine."""

    def __init__(self, engine: CannedEngine, user: str, client: Client) -> None:
        self.engine = engine
        self.user = user
        self.schema = user
        self.client = client
        self.closed = False
        self._in_transaction = False

    @property
    def in_transaction(self) -> bool:
        return self._in_transaction

    def shape(self, sql: str) -> StatementShape:
        return shape_of(sql)

    def describe(self, sql: str) -> tuple[Column, ...]:
        return self.query(sql, (), ()).columns

    def query(self, sql: str, binds: Sequence[Any], types: Sequence[BindType]) -> CannedRows:
        self.engine.statements.append(sql)
        rows = self._rows(sql, binds, types)
        self.engine.rows.append(rows)
        return rows

    def _rows(self, sql: str, binds: Sequence[Any], types: Sequence[BindType]) -> CannedRows:
        text = " ".join(re.sub(r"/\*.*?\*/", "", sql).lower().split())
        if text.startswith("select echo"):
            names = shape_of(sql).binds
            return CannedRows([_echo_column(*pair) for pair in zip(names, types, strict=True)], [tuple(binds)])
        if match := re.fullmatch(r"select big (\d+) from t", text):
            return _big(int(match[1]))
        if match := re.fullmatch(r"select sleep ([\d.]+) from dual", text):
            self._sleep(float(match[1]))
            return CannedRows([Column("1", OraType.NUMBER)], [(1,)])
        if text.startswith("select * from missing"):
            raise OraError(942, 'table or view "RAG"."MISSING" does not exist', sql.lower().index("missing"))
        if text == "select sticky from t":
            return CannedRows([Column("STICKY", OraType.NUMBER)], [(number,) for number in range(1000)])
        if text.startswith("select fault"):
            raise ValueError(f"the secret is {binds}")
        if text == "select late fault from dual":
            return CannedRows([Column("A", OraType.NUMBER)], _faulty_rows())
        if text == "select schema from dual":
            return CannedRows([Column("S", OraType.VARCHAR, size=128, chars=128)], [(self.schema,)])
        return _CANNED[text]()

    def _sleep(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        self.engine.sleeping.set()
        while (left := deadline - time.monotonic()) > 0:
            number = self.client.fileno()
            ready, _, _ = select.select([number] if number >= 0 else [], [], [], left)
            if (ready or number < 0) and self.client.interrupted():
                raise OraError(1013, "user requested cancel of current operation")

    def dml(
        self, sql: str, rows: Sequence[Sequence[Any]], types: Sequence[BindType], *, batch_errors: bool = False
    ) -> DmlResult:
        self.engine.statements.append(sql)
        self.engine.types = types
        self._in_transaction = True
        result = DmlResult()
        shape = shape_of(sql)
        for offset, row in enumerate(rows):
            if "picky" in sql and row and row[0] in (3, 5):
                error = OraError(1, "unique constraint (RAG.PICKY_PK) violated")
                if not batch_errors:
                    result.error = error
                    return result
                result.errors.append(RowError(offset, error))
                result.counts.append(0)
                continue
            affected = {"insert": 1, "update": 3, "delete": 0}[sql.split(maxsplit=1)[0].lower()]
            result.counts.append(affected)
            if shape.returning is not None:
                result.returned.append([_returned(bind, affected) for bind in types[shape.returning :]])
            if sql.lower().startswith("insert"):
                self.engine.inserted.append(tuple(row))
        return result

    def block(self, sql: str, rows: Sequence[Sequence[Any]], types: Sequence[BindType]) -> BlockResult:
        self.engine.statements.append(sql)
        text = " ".join(sql.lower().split())
        if match := re.search(r"begin sleep ([\d.]+)", text):
            self._sleep(float(match[1]))
        if "raise_application_error" in text:
            raise OraError(20001, "boom\nORA-06512: at line 1")
        names = shape_of(sql).binds
        assigned = dict(re.findall(r":(\w+) := ([^;]+)", text))
        directions = []
        for name in names:
            source = assigned.get(name.lower())
            both = source is not None and f":{name.lower()}" in source
            directions.append(Direction.IN if source is None else Direction.IN_OUT if both else Direction.OUT)
        outs = [
            [
                _assigned(assigned[name.lower()], dict(zip(names, row, strict=True)), bind)
                for name, bind, direction in zip(names, types, directions, strict=True)
                if direction is not Direction.IN
            ]
            for row in rows
        ]
        return BlockResult(tuple(directions), outs)

    def run(self, sql: str) -> None:
        self.engine.statements.append(sql)
        if "bad" in sql.lower():
            raise OraError(922, "missing or invalid option")
        if sql.strip().lower() == "commit":
            self.commit()

    def commit(self) -> None:
        self.engine.commits += 1
        self._in_transaction = False

    def rollback(self) -> None:
        self.engine.rollbacks += 1
        self._in_transaction = False

    def set_schema(self, name: str) -> None:
        if name.upper() == "NOBODY":
            raise OraError(1435, "user does not exist")
        self.schema = name.upper()

    def close(self) -> None:
        self.closed = True


def _returned(bind: BindType, count: int) -> list[Any]:
    samples: dict[OraType, Callable[[int], Any]] = {
        OraType.NUMBER: lambda place: 1000 + place,
        OraType.VARCHAR: lambda place: f"row {place}",
        OraType.CLOB: lambda place: f"clob {place} " * 100,
    }
    return [samples[bind.type](place) for place in range(count)]


def _assigned(source: str, binds: dict[str, Any], bind: BindType) -> Any:
    if match := re.fullmatch(r":(\w+) \* 2", source):
        return binds[match[1].upper()] * 2
    if match := re.fullmatch(r":(\w+) \|\| '(.*)'", source):
        return (binds[match[1].upper()] or "") + match[2]
    if match := re.fullmatch(r":(\w+)", source):
        return binds[match[1].upper()]
    if source == "null":
        return None
    if bind.elements:
        return [10, 20, 30]
    samples: dict[OraType, Any] = {
        OraType.BOOLEAN: True,
        OraType.DATE: MOMENT.replace(microsecond=0),
        OraType.TIMESTAMP: MOMENT,
        OraType.VECTOR: VECTOR,
        OraType.JSON: DOCUMENT,
        OraType.CLOB: CLOB_TEXT,
        OraType.BLOB: BLOB_DATA,
        OraType.RAW: b"raw",
        OraType.INTERVAL_DS: dt.timedelta(seconds=-1.5),
        OraType.NUMBER: 77,
        OraType.VARCHAR: "out",
    }
    return samples[bind.type]


def _big(count: int) -> CannedRows:
    columns = [
        Column("ID", OraType.NUMBER, precision=10),
        Column("NAME", OraType.VARCHAR, size=120, chars=30),
        Column("D", OraType.DATE),
        Column("AMT", OraType.NUMBER, precision=12, scale=2),
    ]
    return CannedRows(columns, ((number, f"name {number}", BIG_MOMENT, number) for number in range(count)))


def _faulty_rows() -> Iterator[tuple[int]]:
    yield (1,)
    raise OraError(1476, "divisor is equal to zero")


_ID = Column("ID", OraType.NUMBER)
_CANNED: dict[str, Callable[[], CannedRows]] = {
    "select 1 from dual": lambda: CannedRows([Column("1", OraType.NUMBER)], [(1,)]),
    "select 1.1 from dual": lambda: CannedRows([Column("1.1", OraType.NUMBER)], [(decimal.Decimal("1.1"),)]),
    "select none from t": lambda: CannedRows([_ID], []),
    "select nothing from t": lambda: CannedRows([Column("NOTHING", OraType.VARCHAR), _ID], [(None, 1), (None, 2)]),
    "select all_types from t": lambda: CannedRows(
        [column for column, _ in ALL_TYPES], [[value for _, value in ALL_TYPES], [None] * len(ALL_TYPES)]
    ),
    "select lobs from t": lambda: CannedRows(
        [_ID, Column("C", OraType.CLOB), Column("B", OraType.BLOB)],
        [(1, CLOB_TEXT, BLOB_DATA), (2, "short", b"sh"), (3, None, None)],
    ),
    "select vectors from t": lambda: CannedRows(
        [_ID, Column("V", OraType.VECTOR, vector_format=VectorFormat.FLOAT32)],
        [(1, VECTOR), (2, None), (3, array("f", [number / 4 for number in range(1536)]))],
    ),
    "select json from t": lambda: CannedRows(
        [Column("J", OraType.JSON)], [(DOCUMENT,), (None,), ([1, 2, 3],), ("scalar",)]
    ),
}
