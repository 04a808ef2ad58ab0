"""The fixtures of the local suite on the database that ORACLE_DSN, ORACLE_USER and ORACLE_PASSWORD name.

The schema of ORACLE_USER is all there is, so it is lent to one test, or to the tests of one module, at a time, and
emptied afterwards. A schema that holds anything before the run is refused: nothing is dropped that a test did not make.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import oracledb
import pytest

from oraclerag.replay import clear, contents
from tests.local.conftest import Account, connection, tiny_file
from tests.local.write_path.conftest import installation, tracker

__all__ = ["account", "connection", "installation", "local_database", "module_account", "tiny_file", "tracker"]

HERE = Path(__file__).parent
VARIABLES = ("ORACLE_DSN", "ORACLE_USER", "ORACLE_PASSWORD")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In every module, put what wants the schema for one test before what shares it."""
    places = [place for place, item in enumerate(items) if HERE in item.path.parents]
    ours = [items[place] for place in places]
    modules = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in ours))}
    ours.sort(key=lambda item: (modules[item.path], "module_account" in getattr(item, "fixturenames", ())))
    for place, item in zip(places, ours, strict=True):
        items[place] = item


def empty(account: Account) -> None:
    """Empty the schema after a test; the run ends where that fails, for the next test would find what is left."""
    with account.connect() as opened:
        try:
            left, why = clear(opened, contents(opened)), "something is left"
        except oracledb.Error as error:
            left, why = contents(opened), str(error)
    if left:
        pytest.exit(
            f"The schema {account.user} could not be emptied ({why}): it holds {_named(left)}. Drop the user, and make "
            "it anew for the next run.",
            returncode=1,
        )


def _named(found: list[tuple[str, str]]) -> str:
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return ", ".join(f"{kind.lower()} {name}" for kind, name in found[:5]) + more


@dataclass
class Schema:
    """The one schema of the run."""

    account: Account
    lent: bool = False

    @contextlib.contextmanager
    def lend(self) -> Iterator[Account]:
        """Lend the empty schema, and empty it again."""
        if self.lent:
            pytest.skip("needs a user of its own beside that of the module, and ORACLE_USER is one")
        self.lent = True
        try:
            yield self.account
        finally:
            self.lent = False
            empty(self.account)


@pytest.fixture(scope="session")
def whole_schema() -> Schema:
    """The schema of ORACLE_USER; the run ends where there is none, or where it is not empty."""
    if missing := [name for name in VARIABLES if not os.environ.get(name)]:
        pytest.exit(f"The marker oracle needs {', '.join(missing)}.", returncode=pytest.ExitCode.USAGE_ERROR)
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.fail("The tests of the marker oracle share one schema: run them without -n.", pytrace=False)
    dsn, user, password = (os.environ[name] for name in VARIABLES)
    schema = Schema(Account(dsn, user.upper(), password))
    with schema.account.connect() as opened:
        found = contents(opened)
    if found:
        pytest.exit(
            f"The schema {schema.account.user} holds {_named(found)}. The tests drop what is in their schema, so they "
            "want an empty one: set ORACLE_USER to a user of their own (sql/setup/create_user.sql makes one).",
            returncode=pytest.ExitCode.USAGE_ERROR,
        )
    return schema


@pytest.fixture
def account(whole_schema: Schema) -> Iterator[Account]:
    """The user, with an empty schema for this test."""
    with whole_schema.lend() as lent:
        yield lent


@pytest.fixture(scope="module")
def module_account(whole_schema: Schema) -> Iterator[Account]:
    """The user, with a schema that the tests of this module share."""
    with whole_schema.lend() as lent:
        yield lent


class Users(Protocol):
    """Makes users, one per statement that grants to it (``{}``), with a quota on USERS."""

    def __call__(self, *grants: str, quota: str = "UNLIMITED") -> list[Account]: ...


@pytest.fixture
def users(whole_schema: Schema) -> Iterator[Users]:
    """Users of the test's own, dropped behind it; made by the DBA whom ORACLE_DBA_USER and ORACLE_DBA_PASSWORD name."""
    user, password = (os.environ.get(f"ORACLE_DBA_{name}") for name in ("USER", "PASSWORD"))
    if not user or not password:
        pytest.skip("makes users: ORACLE_DBA_USER and ORACLE_DBA_PASSWORD name who may")
    made: list[Account] = []
    with (
        oracledb.connect(user=user, password=password, dsn=whole_schema.account.dsn) as connection,
        connection.cursor() as cursor,
    ):

        def make(*grants: str, quota: str = "UNLIMITED") -> list[Account]:
            for grant in grants:
                account = Account(whole_schema.account.dsn, f"ORACLERAG_TEST_{len(made)}", secrets.token_hex(12))
                cursor.execute(f'CREATE USER {account.user} IDENTIFIED BY "{account.password}" QUOTA {quota} ON USERS')
                made.append(account)
                cursor.execute(grant.format(account.user))
            return made

        try:
            yield make
        finally:
            for account in made:
                cursor.execute(f"DROP USER {account.user} CASCADE")


@pytest.fixture
def local_database() -> None:
    """Stands for what only the local database does: it counts round trips and makes users for a test."""
    pytest.skip("needs the local database itself: its count of round trips, or a second user")
