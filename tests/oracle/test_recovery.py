"""The runbook, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_recovery import *  # noqa: F403

pytestmark = pytest.mark.oracle
