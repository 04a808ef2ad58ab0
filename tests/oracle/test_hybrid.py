"""The tests of hybrid search, on a real database that has Oracle Text."""

from __future__ import annotations

import pytest

from oraclerag.rag import Rag
from tests.local.test_hybrid import *  # noqa: F403

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module", autouse=True)
def oracle_text(rag: Rag) -> None:
    if not rag.text_index_status().installed:
        pytest.skip("this database has no Oracle Text")
