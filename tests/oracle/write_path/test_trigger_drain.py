"""The tests of write_path/test_trigger_drain.py, on a real database."""

from __future__ import annotations

import pytest

from tests.local.write_path.test_trigger_drain import *  # noqa: F403

pytestmark = pytest.mark.oracle
