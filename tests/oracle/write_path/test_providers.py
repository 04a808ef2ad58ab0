"""The tests of write_path/test_providers.py, on a real database; the provider is still one of this machine."""

from __future__ import annotations

import pytest

from tests.local.write_path.test_providers import *  # noqa: F403

pytestmark = pytest.mark.oracle
