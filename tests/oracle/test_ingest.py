"""The tests of taking in files, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_ingest import *  # noqa: F403

pytestmark = pytest.mark.oracle
