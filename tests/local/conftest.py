"""Local databases for tests: one per worker and MAX_STRING_SIZE, a fresh user per test or per module."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import oracledb
import pytest

from oraclerag.local import LocalDatabase
from oraclerag.testing import tiny_model
from tests.cluster_template import copied_clusters

__all__ = ["copied_clusters"]

SIZES = ("standard", "extended")  # of MAX_STRING_SIZE

_numbers = itertools.count(1)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what asks for a local database in both sizes; marked ``one_size``, in that one, or in its module's turn."""
    if "local_database" not in metafunc.fixturenames:
        return
    sizes: tuple[str, ...] = SIZES
    if mark := metafunc.definition.get_closest_marker("one_size"):
        turn = zlib.crc32(metafunc.module.__name__.encode()) % len(SIZES)  # unlike hash(), the same in every worker
        sizes = mark.args or (SIZES[turn],)
    metafunc.parametrize("local_database", sizes, indirect=True, scope="session")


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the local database with an empty schema of the same name."""

    dsn: str
    user: str
    password: str = field(repr=False)

    def connect(self) -> oracledb.Connection:
        """Open a connection; whoever opens it closes it."""
        return oracledb.connect(user=self.user, password=self.password, dsn=self.dsn)

    @property
    def url(self) -> str:
        """The same for SQLAlchemy."""
        host, _, rest = self.dsn.partition(":")
        port, _, service = rest.partition("/")
        return f"oracle+oracledb://{self.user}:{self.password}@{host}:{port}/?service_name={service}"


@pytest.fixture(scope="session")
def _databases() -> Iterator[Callable[[str], LocalDatabase]]:
    """Local databases by size: one runs on while tests ask for the other."""
    running: dict[str, LocalDatabase] = {}
    with ExitStack() as cleanup:

        def of_size(size: str) -> LocalDatabase:
            if size not in running:
                running[size] = cleanup.enter_context(LocalDatabase(in_process=True, max_string_size=size))
            return running[size]

        yield of_size


@pytest.fixture(scope="session")
def local_database(request: pytest.FixtureRequest, _databases: Callable[[str], LocalDatabase]) -> LocalDatabase:
    """A local database in this process; every test that asks for it, or for what follows, runs in both sizes.

    Where the length of strings cannot matter, a test or module says so with the mark ``one_size``.
    """
    return _databases(request.param)


@pytest.fixture
def max_string_size(local_database: LocalDatabase) -> int:
    """The longest VARCHAR2 in bytes."""
    return {"standard": 4000, "extended": 32767}[str(local_database.status().max_string_size)]


def _account(database: LocalDatabase) -> Account:
    name = f"USER_{next(_numbers)}"
    return Account(database.dsn, name, database.create_user(name))


@pytest.fixture
def account(local_database: LocalDatabase) -> Account:
    """A user that only this test has."""
    return _account(local_database)


@pytest.fixture(scope="module")
def module_account(local_database: LocalDatabase) -> Account:
    """A user that the tests of this module share."""
    return _account(local_database)


@pytest.fixture
def connection(account: Account) -> Iterator[oracledb.Connection]:
    """A connection of the test's own user."""
    with account.connect() as opened:
        yield opened


@pytest.fixture
def may(local_database: LocalDatabase, account: Account) -> Callable[..., None]:
    """Grants a user, by default the test's own, roles and system privileges beyond those of a developer."""

    def grant(*privileges: str, to: str = account.user) -> None:
        as_administrator(local_database, f"GRANT {', '.join(privileges)} TO {to}")

    return grant


def as_administrator(database: LocalDatabase, *statements: str) -> None:
    """Run statements as the one who makes users and grants to them."""
    with (
        oracledb.connect(
            user=database.administrator, password=database.administrator_password, dsn=database.dsn
        ) as connection,
        connection.cursor() as cursor,
    ):
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture(scope="session")
def tiny_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of 384 dimensions that costs nearly nothing, as a file."""
    path = tmp_path_factory.mktemp("model") / "tiny.onnx"
    path.write_bytes(tiny_model())
    return path
