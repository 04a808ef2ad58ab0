"""The tests of write_path/test_deploy.py, on a real database."""

from __future__ import annotations

import pytest

from tests.local.write_path.test_deploy import *  # noqa: F403

pytestmark = pytest.mark.oracle
