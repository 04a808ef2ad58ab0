"""Storms of cancels and call timeouts: connections stay usable or are cleanly dead, results are those of their statement."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

import oracledb
import pytest

from tests.local.conftest import Account

pytestmark = [pytest.mark.one_size("standard"), pytest.mark.filterwarnings("ignore::ResourceWarning")]

_STOPPED = {"ORA-01013", "DPY-4024"}
_DEAD = {"DPY-4011", "DPY-1001"}  # the driver hangs up when its recovery takes longer than the call might
_ROWS = 120


@dataclass
class Storm:
    """What came of all workers: outcomes of statements, and by worker the rows it tried, and was told are committed."""

    outcomes: Counter[str] = field(default_factory=Counter)
    tried: set[int] = field(default_factory=set)
    committed: set[int] = field(default_factory=set)
    wrong: list[object] = field(default_factory=list)


class _Worker:
    """One connection at a time, whose statements are disturbed by a thread of its own."""

    def __init__(self, account: Account, number: int, seconds: float, storm: Storm, *, timeouts: bool) -> None:
        self._account = account
        self._chance = random.Random(number)
        self._seconds = seconds
        self._storm = storm
        self._timeouts = timeouts
        self._count = number * 1_000_000
        self._connection = account.connect()
        self._dead = False
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._work)]
        if not timeouts:
            self._threads.append(threading.Thread(target=self._disturb))

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()
        if not self._dead:
            self._connection.close()

    def _disturb(self) -> None:
        chance = random.Random(self._count)
        while not self._ended.wait(chance.uniform(0, 0.02)):
            if self._dead:
                return
            self._connection.cancel()

    def _work(self) -> None:
        end = time.monotonic() + self._seconds
        try:
            while time.monotonic() < end:
                self._count += 1
                if self._timeouts:
                    self._connection.call_timeout = self._chance.choice((5, 20, 40))
                self._disturbed()
                if not self._dead and self._timeouts:
                    self._connection.call_timeout = 0
                if not self._dead:
                    self._undisturbed()
                if self._dead:
                    if not self._timeouts:
                        return
                    self._connection, self._dead = self._account.connect(), False
        finally:
            self._ended.set()

    def _disturbed(self) -> None:
        statement = self._chance.choice((self._query, self._insert, self._block, self._lob))
        try:
            statement()
            self._storm.outcomes["done"] += 1
        except oracledb.Error as error:
            self._note(error)

    def _note(self, error: oracledb.Error) -> None:
        code = error.args[0].full_code
        self._storm.outcomes[code] += 1
        self._dead = self._dead or code in _DEAD  # the driver crashes when such a connection is touched
        if code not in _STOPPED and not (self._timeouts and code in _DEAD):
            self._storm.wrong.append(str(error))

    def _undisturbed(self) -> None:
        """The next statement but for a few works: a cancel that comes late may still hit one."""
        for _ in range(60):
            try:
                with self._connection.cursor() as cursor:
                    cursor.execute("SELECT :1 FROM dual", [self._count])
                    self._compare(cursor.fetchall(), [(self._count,)])
            except oracledb.Error as error:
                self._note(error)
                if self._dead:
                    return
                continue
            return
        self._storm.wrong.append("a connection stayed cancelled")

    def _compare(self, found: object, expected: object) -> None:
        if found != expected:
            self._storm.wrong.append((found, expected))

    def _query(self) -> None:
        with self._connection.cursor() as cursor:
            cursor.arraysize = cursor.prefetchrows = 50
            cursor.execute("SELECT :1 + LEVEL FROM dual CONNECT BY LEVEL <= :2", [self._count, _ROWS])
            self._compare(cursor.fetchall(), [(self._count + level,) for level in range(1, _ROWS + 1)])

    def _insert(self) -> None:
        rows = [[self._count * 10 + place] for place in range(3)]
        self._storm.tried.update(row[0] for row in rows)
        with self._connection.cursor() as cursor:
            cursor.execute("DELETE FROM storm WHERE n < 0")
            cursor.executemany("INSERT INTO storm VALUES (:1)", rows)
            self._compare(cursor.rowcount, 3)
        self._connection.commit()
        self._storm.committed.update(row[0] for row in rows)

    def _block(self) -> None:
        with self._connection.cursor() as cursor:
            out = cursor.var(int)
            cursor.execute("BEGIN DBMS_SESSION.SLEEP(0.01); :1 := :2; END;", [out, self._count])
            self._compare(out.getvalue(), self._count)

    def _lob(self) -> None:
        lob = self._connection.createlob(oracledb.DB_TYPE_CLOB)
        # A driver whose time is up reads one packet of an answer that is just coming, and takes the rest for the next one.
        text = f"{self._count} " * (300 if self._timeouts else 3000)
        lob.write(text)
        self._compare(lob.read(), text)


def _storm(account: Account, workers: int, seconds: float) -> Storm:
    storm = Storm()
    with account.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE storm (n NUMBER)")
        running = [
            _Worker(account, number, seconds, storm, timeouts=bool(number % 2)) for number in range(1, workers + 1)
        ]
        for worker in running:
            worker.start()
        for worker in running:
            worker.join()
        cursor.execute("SELECT n FROM storm")
        found = [number for (number,) in cursor]
        assert len(found) == len(set(found))
        assert storm.committed <= set(found)
    assert storm.wrong == []
    assert storm.outcomes["done"]
    assert storm.outcomes["ORA-01013"]
    return storm


def test_a_storm_of_cancels(account: Account) -> None:
    _storm(account, 4, 0.6)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_storm_of_cancels_at_length(account: Account) -> None:
    for _ in range(3):
        storm = _storm(account, 12, 40.0)
        assert storm.outcomes["DPY-4024"]
        with account.connect() as connection:
            connection.cursor().execute("DROP TABLE storm")
