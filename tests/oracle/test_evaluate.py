"""The tests of evaluation and of what it reads of the search log, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_evaluate import *  # noqa: F403

pytestmark = pytest.mark.oracle
