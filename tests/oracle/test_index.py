"""The tests of the vector index, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_index import *  # noqa: F403

pytestmark = pytest.mark.oracle
