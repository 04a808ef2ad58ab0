"""One installation per module and MAX_STRING_SIZE; every test begins with empty tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.conftest import Account
from tests.local.write_path.tracker import Tracker, open_tracker


@pytest.fixture(scope="module")
def installation(module_account: Account, tiny_file: Path) -> Iterator[Tracker]:
    """The installation that the tests of a module share."""
    opened = open_tracker(module_account, tiny_file)
    yield opened
    opened.close()


@pytest.fixture
def tracker(installation: Tracker) -> Tracker:
    """The installation with nothing in it."""
    installation.clear()
    return installation
