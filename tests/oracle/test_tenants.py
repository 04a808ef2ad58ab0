"""The tests of a tenant's life and of a wipe, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_tenants import *  # noqa: F403

pytestmark = pytest.mark.oracle
