"""The tests of the semantics of values, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_semantics_values import *  # noqa: F403

pytestmark = pytest.mark.oracle
