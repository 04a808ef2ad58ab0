"""The tests of what is written to the search log, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_searches import *  # noqa: F403

pytestmark = pytest.mark.oracle
