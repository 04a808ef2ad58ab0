"""The tests of the search log, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_search_log_reads import *  # noqa: F403
from tests.local.test_search_log_scopes import *  # noqa: F403

pytestmark = pytest.mark.oracle
