"""A client process that is killed leaves no lock and no uncommitted row behind, whatever it was at."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import oracledb
import pytest

from tests.local.conftest import Account

pytestmark = pytest.mark.one_size

CLIENT = """
import sys
import oracledb
dsn, user, password, *statements = sys.stdin.read().split("\\n/\\n")
connection = oracledb.connect(user=user, password=password, dsn=dsn)
cursor = connection.cursor()
for number, statement in enumerate(statements):
    print(number, flush=True)
    cursor.execute(statement)
print("idle", flush=True)
sys.stdin.close()
import signal
signal.pause()
"""


@pytest.fixture
def kept(connection: oracledb.Connection) -> Iterator[oracledb.Cursor]:
    """A cursor beside a table whose second row is locked."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE thing (id NUMBER(9) PRIMARY KEY, name VARCHAR2(20))")
        cursor.execute("INSERT INTO thing SELECT LEVEL, 'before' FROM dual CONNECT BY LEVEL <= 2000")
        connection.commit()
        cursor.execute("SELECT id FROM thing WHERE id = 2 FOR UPDATE")
        cursor.fetchall()
        yield cursor


@pytest.mark.parametrize(
    ("at", "statement"),
    [
        ("idle", None),
        ("waiting for a lock", "UPDATE thing SET name = 'after' WHERE id = 2"),
        ("at work", "SELECT COUNT(*) FROM thing a, thing b, thing c WHERE a.id + b.id + c.id < 0"),
    ],
    ids=lambda value: value if value in ("idle", "waiting for a lock", "at work") else "",
)
def test_a_killed_client_is_rolled_back_at_once(
    account: Account, kept: oracledb.Cursor, at: str, statement: str | None
) -> None:
    statements = ["UPDATE thing SET name = 'after' WHERE id = 1", "INSERT INTO thing VALUES (0, 'after')"]
    statements += [statement] if statement else []
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        client.stdin.write("\n/\n".join([account.dsn, account.user, account.password, *statements]))
        client.stdin.close()
        last = f"{len(statements) - 1}\n" if statement else "idle\n"
        while client.stdout.readline() != last:
            assert client.poll() is None
        assert kept.execute("SELECT id FROM thing WHERE id = 1 FOR UPDATE SKIP LOCKED").fetchall() == []
        if statement:
            time.sleep(0.1)  # it is on its way when it is announced
        client.kill()
    # ORA-30006 were the lock still there; the transaction that waited behind it sees what it left
    assert kept.execute("SELECT name FROM thing WHERE id = 1 FOR UPDATE WAIT 10").fetchall() == [("before",)]
    kept.execute("INSERT INTO thing VALUES (0, 'mine')")
