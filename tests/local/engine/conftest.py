"""Sessions of the engine without a wire: one cluster for all, a fresh user per test."""

from __future__ import annotations

import datetime as dt
import itertools
import threading
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from oraclerag.local.engine.database import EXTENDED, STANDARD, Database
from oraclerag.local.engine.postgres import Cluster
from oraclerag.local.engine.session import Session
from oraclerag.local.interface import BindType, CellForm, DmlResult, OraError, OraType, Rows

_numbers = itertools.count(1)


class FakeModels:
    """Three numbers from a text; counts what it was asked."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def check(self, data: bytes, metadata: dict[str, Any]) -> int:
        return 3

    def embed(self, digest: str, load: Callable[[], bytes], texts: Sequence[str]) -> list[array[float]]:
        self.batches.append(list(texts))
        return [array("f", [len(text), sum(text.encode()) % 97, len(load())]) for text in texts]


class SilentClient:
    """Nobody to watch."""

    def fileno(self) -> int:
        return -1

    def interrupted(self) -> bool:
        return False


class NoLobs:
    def put(self, value: str | bytes) -> bytes:
        return b"<locator>"


_TYPES: list[tuple[type, BindType]] = [
    (bool, BindType(OraType.BOOLEAN, 4)),
    (int, BindType(OraType.NUMBER, 22)),
    (Decimal, BindType(OraType.NUMBER, 22)),
    (float, BindType(OraType.BINARY_DOUBLE, 8)),
    (dt.datetime, BindType(OraType.DATE, 7)),
    (dt.timedelta, BindType(OraType.INTERVAL_DS, 11)),
    (bytes, BindType(OraType.RAW, 2000)),
    (array, BindType(OraType.VECTOR, 8200)),
    (dict, BindType(OraType.JSON, 8200)),
    (list, BindType(OraType.JSON, 8200)),
]
TEXT = BindType(OraType.VARCHAR, 4000)


def bind_type(value: Any) -> BindType:
    """Declare a value as a client does."""
    return next((declared for kind, declared in _TYPES if isinstance(value, kind)), TEXT)


class Driver:
    """A session with the manners of a cursor."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def rows(self, sql: str, *binds: Any, types: Sequence[BindType] | None = None) -> list[tuple[Any, ...]]:
        return self.session.values(sql, binds, types or [bind_type(value) for value in binds])

    def value(self, sql: str, *binds: Any, types: Sequence[BindType] | None = None) -> Any:
        ((value,),) = self.rows(sql, *binds, types=types)
        return value

    def dml(self, sql: str, *binds: Any, types: Sequence[BindType] | None = None) -> int:
        (count,) = self.session.dml(sql, [binds], types or [bind_type(value) for value in binds]).counts
        return count

    def many(
        self, sql: str, rows: Sequence[Sequence[Any]], types: Sequence[BindType], *, batch: bool = False
    ) -> DmlResult:
        return self.session.dml(sql, rows, types, batch_errors=batch)

    def open(self, sql: str, *binds: Any) -> Rows:
        return self.session.query(sql, binds, [bind_type(value) for value in binds])

    def run(self, *statements: str) -> None:
        for sql in statements:
            self.session.run(sql)

    def commit(self) -> None:
        self.session.commit()

    def rollback(self) -> None:
        self.session.rollback()


def fetch(rows: Rows, count: int, form: CellForm = CellForm.VALUE) -> bytes:
    """Fetch as the wire does; give what would be sent."""
    out = bytearray()
    written = rows.write(out, count, [form] * len(rows.columns), NoLobs())
    assert written <= count
    return bytes(out)


def fetched(rows: Rows, count: int) -> int:
    """Fetch and count."""
    return rows.write(bytearray(), count, [CellForm.VALUE] * len(rows.columns), NoLobs())


def number_of(call: Callable[[], Any]) -> int:
    """Give the number of the error that a call raises."""
    with pytest.raises(OraError) as caught:
        call()
    return caught.value.number


@pytest.fixture(scope="session")
def conninfo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    cluster = Cluster(tmp_path_factory.mktemp("pg"))
    try:
        yield cluster.start()
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def models() -> FakeModels:
    return FakeModels()


@pytest.fixture(scope="session")
def database(conninfo: str, models: FakeModels) -> Iterator[Database]:
    made = Database(conninfo, models, max_string_size=STANDARD)
    yield made
    made.close()


@pytest.fixture(scope="session")
def extended_database(conninfo: str, models: FakeModels) -> Iterator[Database]:
    """Another server process on the same data, as far as caches are concerned; MAX_STRING_SIZE = EXTENDED."""
    made = Database(conninfo, models, max_string_size=EXTENDED)
    yield made
    made.close()


@pytest.fixture
def user(database: Database) -> str:
    name = f"U{next(_numbers)}"
    database.create_user(name, "secret")
    return name


Connect = Callable[..., Driver]


@pytest.fixture
def connect(database: Database, user: str) -> Iterator[Connect]:
    """Open sessions of the test's user; they are closed at its end."""
    with ExitStack() as cleanup:

        def opened(client: Any = None, on: Database = database) -> Driver:
            session = on.open(user, client or SilentClient())
            cleanup.callback(session.close)
            return Driver(session)

        yield opened


@pytest.fixture
def db(connect: Connect) -> Driver:
    return connect()


class Background:
    """Runs a call in a thread; ``result`` waits for it and raises what it raised."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._outcome: list[Any] = []
        self._error: list[BaseException] = []

        def run() -> None:
            try:
                self._outcome.append(call())
            except BaseException as error:  # noqa: BLE001 - handed over to the test
                self._error.append(error)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def result(self) -> Any:
        self._thread.join(20)
        assert not self._thread.is_alive(), "the statement does not end"
        if self._error:
            raise self._error[0]
        return self._outcome[0]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "pg"
