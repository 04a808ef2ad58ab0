"""The tests of what a scope may see, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_isolation import *  # noqa: F403

pytestmark = pytest.mark.oracle
