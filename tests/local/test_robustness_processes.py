"""Processes that are killed: clients in the middle of something, the server, PostgreSQL under it."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import oracledb
import pytest

from oraclerag.local import LocalDatabase, Unusable
from oraclerag.local.process import ALREADY_RUNNING
from tests.cluster_template import made_anew
from tests.local.conftest import Account

pytestmark = [
    pytest.mark.one_size("standard"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of connections that were lost
]

_CLIENTS = """
import os
import signal
import sys
import oracledb
user, password, dsn = sys.argv[1:]

def ready():
    print("ready", flush=True)

for line in sys.stdin:
    pid = os.fork()
    if pid:
        print(pid, flush=True)
        continue
    connection = oracledb.connect(user=user, password=password, dsn=dsn)
    cursor = connection.cursor()
    cursor.execute("UPDATE held SET n = n + 1")
    exec(line.strip().encode().decode("unicode_escape"))
"""
_MOMENTS = {
    "between statements": "ready(); signal.pause()",
    "waiting for a statement": """
cursor.execute("SELECT USER FROM dual")
ready()
cursor.execute("BEGIN DBMS_SESSION.SLEEP(600); END;")
""",
    "in a loop of PL/SQL": """
ready()
cursor.execute("BEGIN LOOP NULL; END LOOP; END;")
""",
    "waiting for a lock": """
ready()
cursor.execute("UPDATE locked SET n = n + 1")
""",
    "fetching": """
cursor.arraysize = cursor.prefetchrows = 1
cursor.execute("SELECT LEVEL FROM dual CONNECT BY LEVEL <= 100000")
cursor.fetchone()
ready()
while cursor.fetchone():
    pass
signal.pause()
""",
    "writing a LOB": """
lob = connection.createlob(oracledb.DB_TYPE_BLOB)
lob.write(b"x" * 100_000)
ready()
while True:
    lob.write(b"x" * 100_000, 1)
""",
    "sending an array": """
ready()
while True:
    cursor.executemany("INSERT INTO held VALUES (:1)", [[number] for number in range(20_000)])
""",
}


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _postgres(directory: Path) -> int:
    return int((directory / "postgres" / "postmaster.pid").read_text().splitlines()[0])


def _children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], check=True, capture_output=True, text=True).stdout
    return [int(line.split()[0]) for line in found.splitlines() if int(line.split()[1]) == pid]


class _Clients:
    """Client processes, forked by one that has everything loaded."""

    def __init__(self, account: Account) -> None:
        command = [sys.executable, "-c", _CLIENTS, account.user, account.password, account.dsn]
        self._parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, program: str) -> int:
        """Start one and wait until it is ready; gives its number."""
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        print(program.encode("unicode_escape").decode(), file=self._parent.stdin, flush=True)
        said = {self._parent.stdout.readline().strip(), self._parent.stdout.readline().strip()}
        (pid,) = said - {"ready"}
        return int(pid)

    def close(self) -> None:
        self._parent.communicate()


def test_a_client_that_is_killed_leaves_no_lock_and_nothing_undone(account: Account) -> None:
    with (
        account.connect() as connection,
        connection.cursor() as cursor,
        contextlib.closing(_Clients(account)) as clients,
    ):
        cursor.execute("CREATE TABLE held (n NUMBER)")
        cursor.execute("CREATE TABLE locked (n NUMBER)")
        cursor.execute("INSERT INTO held VALUES (1)")
        cursor.execute("INSERT INTO locked VALUES (1)")
        connection.commit()
        for moment, program in _MOMENTS.items():
            cursor.execute("UPDATE locked SET n = 2")
            client = clients.start(program)
            with pytest.raises(oracledb.DatabaseError, match="ORA-00054"):
                cursor.execute("SELECT n FROM held FOR UPDATE NOWAIT")
            time.sleep(0.03)  # into the middle of what it says it is about to do
            _kill(client)
            cursor.execute("SELECT n FROM held FOR UPDATE WAIT 10")
            assert cursor.fetchall() == [(1,)], moment
            connection.rollback()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("killed") / "database"


@pytest.fixture
def database(shared: Path) -> Iterator[LocalDatabase]:
    """A server in a process of its own, stopped afterwards; its files are made once."""
    found = LocalDatabase(shared)
    yield found
    found.stop()


def _connect(database: LocalDatabase) -> oracledb.Connection:
    return oracledb.connect(user=database.user, password=database.password, dsn=database.dsn)


def _rows(database: LocalDatabase, table: str) -> list[int]:
    with _connect(database) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT n FROM {table} ORDER BY n")
        return [number for (number,) in cursor]


def _kill(*pids: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _insert_until_cut(database: LocalDatabase, table: str, kill: Callable[[], None]) -> tuple[int, int]:
    """Commit 1, 2, 3, … one after the other until the end; give the last that was committed, and the last that was tried.

    The connection that was killed in mid-commit does not know.
    """
    with _connect(database) as connection:
        connection.cursor().execute(f"CREATE TABLE {table} (n NUMBER)")
    connection = _connect(database)
    cursor = connection.cursor()
    committed = tried = 0
    killer = threading.Timer(0.2, kill)
    killer.start()
    with contextlib.suppress(oracledb.DatabaseError):
        while True:
            tried += 1
            cursor.execute(f"INSERT INTO {table} VALUES (:1)", [tried])
            connection.commit()
            committed = tried
    killer.join()
    return committed, tried


def test_what_was_committed_survives_when_all_processes_are_killed(database: LocalDatabase) -> None:
    _check_what_survives(database, "everything")


@pytest.mark.long
def test_a_server_whose_postgresql_is_killed_says_so_and_ends(database: LocalDatabase) -> None:
    pid = database.start().pid
    assert pid is not None
    lost = _connect(database)
    postgres = _postgres(database.directory)
    _kill(postgres, *_children(postgres))
    with pytest.raises(oracledb.DatabaseError, match=r"ORA-03113|ORA-01034|DPY-4011"):
        lost.cursor().execute("SELECT 1 FROM dual")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
    assert "PostgreSQL has ended without being asked to" in database.status().log.read_text()
    assert not database.status().running
    with database, _connect(database) as connection:
        connection.ping()


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("victims", ["server", "everything"])
def test_what_was_committed_survives_many_kills(database: LocalDatabase, victims: str) -> None:
    for _ in range(15):
        _check_what_survives(database, victims)


def _check_what_survives(database: LocalDatabase, victims: str) -> None:
    pid = database.start().pid
    assert pid is not None
    postgres = _postgres(database.directory)

    def kill() -> None:
        if victims == "everything":  # the watchdog and all processes of PostgreSQL at once
            _kill(*_children(pid), postgres, *_children(postgres))
        _kill(pid)

    table = f"kept_{time.monotonic_ns()}"
    uncommitted = _connect(database)
    uncommitted.cursor().execute(f"CREATE TABLE {table}_undone (n NUMBER)")
    uncommitted.cursor().execute(f"INSERT INTO {table}_undone VALUES (1)")
    committed, tried = _insert_until_cut(database, table, kill)
    assert committed
    os.waitpid(pid, 0)
    _wait(lambda: not _is_alive(postgres))
    assert not database.status().running

    assert database.start().pid != pid
    assert _rows(database, table) in (list(range(1, committed + 1)), list(range(1, tried + 1)))
    assert _rows(database, f"{table}_undone") == []


def test_sessions_and_logins_when_processes_of_postgresql_are_killed(
    shared: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One alone: it recovers, and only the sessions have ended. All of them: there is no instance any more."""
    with LocalDatabase(shared, in_process=True) as database:
        lost = _connect(database)
        postgres = _postgres(database.directory)
        _kill(max(_children(postgres)))
        _wait(lambda: "has recovered" in caplog.text)
        with pytest.raises(oracledb.DatabaseError, match="ORA-03113"):
            lost.cursor().execute("SELECT 1 FROM dual")
        lost = _connect(database)
        _kill(postgres, *_children(postgres))
        with pytest.raises(oracledb.DatabaseError, match="ORA-03113"):
            lost.cursor().execute("SELECT 1 FROM dual")
        with pytest.raises(oracledb.DatabaseError, match=r"ORA-01034|DPY-4011"):
            _connect(database)


@pytest.mark.long
def test_of_two_starts_at_once_one_wins(shared: Path) -> None:
    command = [sys.executable, "-m", "oraclerag.local", "--data-dir", str(shared)]
    starts = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    loser = None
    try:
        _wait(lambda: any(start.poll() is not None for start in starts))
        (loser,) = [start for start in starts if start.poll() is not None]
        assert loser.returncode == ALREADY_RUNNING
        (winner,) = [start for start in starts if start is not loser]
        assert LocalDatabase(shared).status().pid == winner.pid
    finally:
        for start in starts:
            start.terminate()
            start.communicate()


@pytest.mark.parametrize("in_process", [False, True])
@pytest.mark.parametrize("place", ["file/database", "full"])
def test_a_directory_that_cannot_be_used_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, in_process: bool
) -> None:
    (tmp_path / "file").write_text("in the way")
    if place == "full":
        real = os.open

        def open_if_there(path: str, flags: int, *mode: int) -> int:
            if flags & os.O_CREAT:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
            return real(path, flags, *mode)

        monkeypatch.setattr("oraclerag.local.state.os.open", open_if_there)
    with pytest.raises(Unusable, match=r"(Not a directory|No space left on device)") as caught:
        LocalDatabase(tmp_path / place, in_process=in_process).start()
    assert str(tmp_path / place) in str(caught.value)


@pytest.mark.long
def test_what_is_left_of_a_start_that_was_killed_is_no_cluster(tmp_path: Path) -> None:
    half = tmp_path / "database" / "postgres.new"
    (half / "base").mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    (tmp_path / "database" / "postgres").mkdir()
    with made_anew(), LocalDatabase(tmp_path / "database", in_process=True) as database:
        with _connect(database) as connection:
            connection.ping()
        assert not half.exists()


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_first_start_can_be_killed_at_any_moment(tmp_path: Path) -> None:
    for step in range(25):
        directory = tmp_path / str(step)
        directory.mkdir()
        command = [sys.executable, "-m", "oraclerag.local", "--data-dir", str(directory)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as start:
            time.sleep(0.15 * step)
            start.kill()
        with LocalDatabase(directory) as database, _connect(database) as connection:
            connection.ping()
