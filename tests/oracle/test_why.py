"""The tests of why something was not found, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_why import *  # noqa: F403

pytestmark = pytest.mark.oracle
