"""One installation per worker and MAX_STRING_SIZE for all runs: the length of strings cannot matter to them."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator

import pytest

from oraclerag.local import LocalDatabase
from oraclerag.testing import tiny_model
from tests.local.conftest import Account
from tests.local.interleavings.sessions import labels_of_statements
from tests.local.interleavings.story import ACTORS
from tests.local.interleavings.world import Installation, open_installation

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def stage(local_database: LocalDatabase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """The installation that every run begins anew on."""
    path = tmp_path_factory.mktemp("model") / "tiny.onnx"
    path.write_bytes(tiny_model(8, max_tokens=32))
    name = f"STAGE_{next(_numbers)}"
    account = Account(local_database.dsn, name, local_database.create_user(name))
    with labels_of_statements():
        opened = open_installation(account, local_database, path, ACTORS)
        yield opened
        opened.close()


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """A run fails a hundred times, as it should: nobody need read of it."""
    logger = logging.getLogger("oraclerag")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)
