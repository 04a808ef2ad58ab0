"""k hits whenever there are k, on a real database; whether its index falls short is its optimizer's choice."""

from __future__ import annotations

import pytest

from tests.local.test_search_complete import Shelf, searched, shelf

__all__ = ["shelf"]

pytestmark = pytest.mark.oracle


def test_k_hits_whenever_there_are_k(shelf: Shelf) -> None:
    searched(shelf)
