"""The tests of the semantics of dates, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_semantics_dates import *  # noqa: F403

pytestmark = pytest.mark.oracle
