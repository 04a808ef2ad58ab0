"""The tests of the index's accuracy, on a real database."""

from __future__ import annotations

import pytest

from oraclerag.rag import Rag
from tests.local.test_index_accuracy import *  # noqa: F403
from tests.local.test_index_accuracy import ACME

pytestmark = pytest.mark.oracle

# What the index misses is the other database's; its function is there.
del test_recall_is_that_of_the_index, test_oracles_own_function_is_asked_where_it_is_there  # noqa: F821


def test_recall_lies_in_its_interval(rag: Rag) -> None:
    report = rag.index_accuracy(scope=ACME, sample=8, k=5, shares=[0.3])
    assert [one.share for one in report.recalls] == [None, 0.3]
    for one in report.recalls:
        assert one.recall is not None
        assert one.chosen is not None
        assert one.low <= one.recall <= one.high
        assert one.chosen >= one.recall


def test_oracles_own_function(rag: Rag) -> None:
    oracle = rag.index_accuracy(scope=ACME, questions=["late payment"], k=5).oracle
    assert oracle.missing is None
    assert oracle.achieved is not None
    assert 0 <= oracle.achieved <= 100
