"""The tests of the semantics of transactions, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_semantics_transactions import *  # noqa: F403

pytestmark = pytest.mark.oracle
