"""The tests of write_path/test_queue.py, on a real database."""

from __future__ import annotations

import pytest

from tests.local.write_path.test_queue import *  # noqa: F403

pytestmark = [pytest.mark.oracle]
