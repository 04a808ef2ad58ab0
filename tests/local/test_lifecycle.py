"""Starting, finding and stopping the local database, as a process and in this one."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import oracledb
import pytest

from oraclerag.local import LocalDatabase, NotRunning, ProcessFailed, default_directory
from oraclerag.local.__main__ import main
from oraclerag.local.process import ALREADY_RUNNING

pytestmark = pytest.mark.one_size


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("local") / "database"


@pytest.fixture
def directory(shared: Path) -> Iterator[Path]:
    """A directory in which nothing runs; a cluster is made once for all, by the first test that starts one."""
    yield shared
    LocalDatabase(shared).stop()


def _select(database: LocalDatabase, user: str | None = None, password: str | None = None) -> str:
    with (
        oracledb.connect(
            user=user or database.user, password=password or database.password, dsn=database.dsn
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT USER FROM dual")
        row = cursor.fetchone()
        assert row is not None
        return str(row[0])


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _postgres(directory: Path) -> int:
    return int((directory / "postgres" / "postmaster.pid").read_text().splitlines()[0])


def _child(pid: int) -> int:
    """Give the one process that another has started."""
    found = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], check=True, capture_output=True, text=True).stdout
    (child,) = [int(line.split()[0]) for line in found.splitlines() if int(line.split()[1]) == pid]
    return child


def _wait(condition: Callable[[], bool]) -> bool:
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_a_process_is_started_found_and_stopped(directory: Path) -> None:
    first = LocalDatabase(directory)
    assert not first.status().running
    with pytest.raises(NotRunning):
        _ = first.dsn
    status = first.start()
    assert status.running
    assert status.dsn is not None
    assert status.dsn.startswith("127.0.0.1:")
    assert status.pid not in (None, os.getpid())
    assert _select(first) == "RAG"

    second = LocalDatabase(str(directory))
    assert second.start().pid == status.pid
    assert _select(second) == "RAG"

    postgres = _postgres(directory)
    assert second.stop()
    assert not second.stop()
    assert not first.status().running
    assert status.pid is not None
    assert not _is_alive(status.pid)
    assert _wait(lambda: not _is_alive(postgres))


def test_data_and_password_survive_a_restart(directory: Path) -> None:
    database = LocalDatabase(directory)
    with database:
        password = database.password
        with (
            oracledb.connect(user="rag", password=password, dsn=database.dsn) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("CREATE TABLE kept (n NUMBER)")
            cursor.execute("INSERT INTO kept VALUES (7)")
            connection.commit()
    with (
        database,
        oracledb.connect(user="rag", password=password, dsn=database.dsn) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT n FROM kept")
        assert cursor.fetchall() == [(7,)]


def test_passwords_are_for_the_owner_alone_and_a_wrong_one_is_refused(directory: Path) -> None:
    with LocalDatabase(directory) as database:
        mode = stat.S_IMODE((directory / "credentials.json").stat().st_mode)
        assert mode == 0o600
        with pytest.raises(oracledb.DatabaseError, match="ORA-01017"):
            _select(database, password="wrong")
        assert database.password not in repr(database)
        assert database.password not in repr(database.status())
        assert database.password not in (directory / "server.json").read_text()
        assert database.password not in (directory / "server.log").read_text()


def test_a_killed_server_leaves_nothing_that_misleads(directory: Path) -> None:
    database = LocalDatabase(directory)
    pid = database.start().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert not database.status().running
    with database:
        assert database.status().pid != pid
        assert _select(database) == "RAG"


def test_postgresql_does_not_outlive_a_server_that_was_killed(directory: Path) -> None:
    database = LocalDatabase(directory)
    pid = database.start().pid
    assert pid is not None
    postgres = _postgres(directory)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert _wait(lambda: not _is_alive(postgres))
    with database:
        assert _select(database) == "RAG"


def test_stop_also_ends_a_postgresql_whose_server_and_watchdog_were_killed(directory: Path) -> None:
    database = LocalDatabase(directory)
    pid = database.start().pid
    assert pid is not None
    postgres = _postgres(directory)
    for victim in (_child(pid), pid):
        os.kill(victim, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert _is_alive(postgres)
    database.stop()
    assert _wait(lambda: not _is_alive(postgres))


def test_reset_deletes_data_and_makes_new_passwords_but_no_other_files(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    (directory / "mine.txt").write_text("kept")
    database = LocalDatabase(directory)
    database.start()
    password = database.password
    with (
        oracledb.connect(user="rag", password=password, dsn=database.dsn) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("CREATE TABLE gone (n NUMBER)")
    assert database.reset().running
    assert database.password != password
    with (
        oracledb.connect(user="rag", password=database.password, dsn=database.dsn) as connection,
        connection.cursor() as cursor,
        pytest.raises(oracledb.DatabaseError, match="ORA-00942"),
    ):
        cursor.execute("SELECT * FROM gone")
    database.stop()
    assert not database.reset().running
    assert [path.name for path in directory.iterdir()] == ["mine.txt"]


def test_several_starts_at_once_give_one_server(directory: Path) -> None:
    pids: list[int | None] = []
    threads = [threading.Thread(target=lambda: pids.append(LocalDatabase(directory).start().pid)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 3
    assert len(set(pids)) == 1


def test_another_string_size_than_that_of_the_running_server_is_refused(directory: Path) -> None:
    with (
        LocalDatabase(directory, max_string_size="extended"),
        pytest.raises(ValueError, match="max_string_size extended"),
    ):
        LocalDatabase(directory).start()


def test_a_port_that_is_taken_is_said(directory: Path, local_database: LocalDatabase) -> None:
    taken = int(local_database.dsn.partition(":")[2].partition("/")[0])
    with pytest.raises(ProcessFailed, match="did not start") as caught:
        LocalDatabase(directory, port=taken).start()
    assert "in use" in str(caught.value)
    assert not LocalDatabase(directory).status().running


def test_users_are_created_and_dropped_in_a_process_too(directory: Path) -> None:
    with LocalDatabase(directory) as database:
        password = database.create_user("alice")
        assert _select(database, "alice", password) == "ALICE"
        with pytest.raises(ValueError, match="ALICE"):
            database.create_user("ALICE")
        database.drop_user("alice")
        with pytest.raises(oracledb.DatabaseError, match="ORA-01017"):
            _select(database, "alice", password)


@pytest.mark.parametrize("name", ["", "1A", "A B", 'A"B', "A;B", "Ä"])
def test_names_that_are_no_identifiers_never_reach_sql(local_database: LocalDatabase, name: str) -> None:
    with pytest.raises(ValueError, match="no name"):
        local_database.create_user(name)
    with pytest.raises(ValueError, match="no name"):
        local_database.drop_user(name)


def test_in_this_process_it_goes_without_a_trace() -> None:
    before = set(threading.enumerate())
    with LocalDatabase(in_process=True) as database:
        directory = database.directory
        postgres = _postgres(directory)
        assert database.status().pid == os.getpid()
        assert _select(database) == "RAG"
        trips = database.round_trips
        _select(database)
        assert database.round_trips > trips
    assert not directory.exists()
    assert _wait(lambda: not _is_alive(postgres))
    assert not set(threading.enumerate()) - before


def test_a_directory_held_by_this_process_is_not_started_again(directory: Path) -> None:
    with LocalDatabase(directory, in_process=True) as database:
        assert LocalDatabase(directory).start().pid == os.getpid()
        code = subprocess.run(
            [sys.executable, "-m", "oraclerag.local", "--data-dir", str(directory)],
            check=False,
            capture_output=True,
            timeout=60,
        ).returncode
        assert code == ALREADY_RUNNING
        assert _select(database) == "RAG"


def test_the_program_ends_at_a_signal_with_exit_code_0(directory: Path) -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "oraclerag.local",
            "--data-dir",
            str(directory),
            "--log-statements",
            str(directory / "s"),
        ],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    with process.stdout as pipe:
        assert pipe.readline() == b"ready\n"
    assert _select(LocalDatabase(directory)) == "RAG"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    assert "SELECT USER FROM dual" in (directory / "s").read_text()


def test_arguments_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--max-string-size", "huge"])
    assert caught.value.code == 2
    assert "standard" in capsys.readouterr().err
    with pytest.raises(ValueError, match="max_string_size"):
        LocalDatabase(max_string_size="huge")


@pytest.mark.parametrize(
    ("platform", "user", "environment", "expected"),
    [
        ("linux", 1000, {}, ".local/share/oraclerag/local"),
        ("linux", 1000, {"XDG_DATA_HOME": "/data"}, "/data/oraclerag/local"),
        ("linux", 1000, {"XDG_DATA_HOME": "data"}, ".local/share/oraclerag/local"),
        ("linux", 0, {}, "/var/lib/oraclerag/local"),
        ("linux", 0, {"ORACLERAG_LOCAL_DIR": "/own"}, "/own"),
        ("darwin", 1000, {}, "Library/Application Support/oraclerag/local"),
        ("darwin", 1000, {"ORACLERAG_LOCAL_DIR": "/own"}, "/own"),
    ],
)
def test_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    platform: str,
    user: int,
    environment: dict[str, str],
    expected: str,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    for name in ("ORACLERAG_LOCAL_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert default_directory() == tmp_path / expected
