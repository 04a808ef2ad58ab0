"""Fixtures for pytest: a local database, a user in it, and a Rag that is ready to index.

``pytest_plugins = ["oraclerag.testing.pytest_plugin"]`` in the conftest.py at the root of the tests makes them known.
The database starts once per process, in a second or two; every test gets a user, tables and sources of its own unless
``oraclerag_scope`` in pytest's configuration says ``module`` or ``session``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from oraclerag.config import Settings
from oraclerag.rag import Rag
from oraclerag.testing.tiny_model import tiny_model

if TYPE_CHECKING:
    import oracledb

    from oraclerag.local import LocalDatabase

__all__ = [
    "OracleAccount",
    "oracle_account",
    "oracle_local",
    "pytest_addoption",
    "rag",
    "rag_settings",
    "tiny_model_file",
]

_SCOPES = ("function", "module", "session")
_SIZES = ("standard", "extended")
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class OracleAccount:
    """A user of the local database with an empty schema of the same name."""

    dsn: str
    user: str
    password: str = field(repr=False)

    def connect(self) -> oracledb.Connection:
        """Open a connection of python-oracledb; whoever opens it closes it."""
        import oracledb

        return oracledb.connect(dsn=self.dsn, user=self.user, password=self.password)

    @property
    def url(self) -> str:
        """The same for SQLAlchemy's ``create_engine``. Holds the password."""
        host, _, rest = self.dsn.partition(":")
        port, _, service = rest.partition("/")
        return f"oracle+oracledb://{self.user}:{self.password}@{host}:{port}/?service_name={service}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare what can be said in pytest's configuration."""
    parser.addini(
        "oraclerag_config",
        "configuration file of the sources under test (default: oraclerag.toml in the root directory, if it is there)",
        default=None,
    )
    parser.addini(
        "oraclerag_scope",
        "who shares a user, its tables and its Rag: function (default), module, session",
        default="",
    )
    parser.addini(
        "oraclerag_max_string_size", "MAX_STRING_SIZE of the local database: standard (default), extended", default=""
    )


def _scope(fixture_name: str, config: pytest.Config) -> Any:
    del fixture_name  # all of them live equally long
    return _chosen(config, "oraclerag_scope", _SCOPES)


def _chosen(config: pytest.Config, option: str, words: tuple[str, ...]) -> str:
    value = str(config.getini(option) or words[0])
    if value not in words:
        raise pytest.UsageError(f"{option} must be one of {', '.join(words)}, not {value!r}.")
    return value


@pytest.fixture(scope="session")
def oracle_local(pytestconfig: pytest.Config) -> Iterator[LocalDatabase]:
    """Give a local database in this process; it and its files are gone after the last test."""
    from oraclerag.local import LocalDatabase

    size = _chosen(pytestconfig, "oraclerag_max_string_size", _SIZES)
    with LocalDatabase(in_process=True, max_string_size=size) as database:
        yield database


@pytest.fixture(scope=_scope)
def oracle_account(oracle_local: LocalDatabase) -> OracleAccount:
    """Give a user of its own with an empty schema, for the tables of the program under test and those of oraclerag."""
    name = f"TEST_{next(_numbers)}"
    return OracleAccount(oracle_local.dsn, name, oracle_local.create_user(name))


@pytest.fixture(scope="session")
def tiny_model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give :func:`oraclerag.testing.tiny_model` as a file. Override it to test with a real one."""
    path = tmp_path_factory.mktemp("model") / "tiny.onnx"
    path.write_bytes(tiny_model())
    return path


@pytest.fixture(scope=_scope)
def rag_settings(oracle_account: OracleAccount, pytestconfig: pytest.Config) -> Settings:
    """Give the settings under test: those of the configuration file, on the test's own user.

    Where the file names another model, schema or database, that is passed over. Override it to change others.
    """
    return Settings.load(
        _configuration(pytestconfig),
        dsn=oracle_account.dsn,
        user=oracle_account.user,
        password=oracle_account.password,
        config_dir=None,
        wallet_location=None,
        wallet_password=None,
        schema=None,
        embedding_model="TINY",
        initial_delay=0.0,
        poll_interval=0.05,
    )


def _configuration(config: pytest.Config) -> Path | None:
    named = config.getini("oraclerag_config")
    path = config.rootpath / str(named or "oraclerag.toml")
    if not path.is_file():
        if named:
            raise pytest.UsageError(f"oraclerag_config: there is no file {str(path)!r}.")
        return None
    return path


@pytest.fixture(scope=_scope)
def rag(rag_settings: Settings, tiny_model_file: Path) -> Iterator[Rag]:
    """Give a Rag with its tables made and the model in force: enqueue, ``rag.work(once=True)``, search."""
    with Rag(rag_settings) as opened:
        opened.provision(model_file=tiny_model_file)
        yield opened
