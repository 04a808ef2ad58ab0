"""The table of statements, on a real database: what Oracle does with each, whatever the local one does."""

from __future__ import annotations

import pytest

from tests.local.test_refusals import *  # noqa: F403

pytestmark = pytest.mark.oracle


@pytest.fixture  # type: ignore[no-redef]
def real() -> bool:
    return True
