"""The tests of migrations, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_migrate import *  # noqa: F403

pytestmark = pytest.mark.oracle
