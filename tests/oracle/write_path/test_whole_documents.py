"""The tests of write_path/test_whole_documents.py, on a real database."""

from __future__ import annotations

import pytest

from tests.local.write_path.test_whole_documents import *  # noqa: F403

pytestmark = pytest.mark.oracle
