"""The tests of names of 128 bytes, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_semantics_names import *  # noqa: F403

pytestmark = pytest.mark.oracle
