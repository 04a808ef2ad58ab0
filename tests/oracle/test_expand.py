"""The tests of what stands around hits, of diversity and of rechecked hits, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_expand import *  # noqa: F403

pytestmark = pytest.mark.oracle
