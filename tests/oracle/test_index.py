"""The tests of the vector index, on a real database; and what its version and its vector memory pool allow."""

from __future__ import annotations

import pytest

from oraclerag.errors import InputError, SpaceExhausted
from oraclerag.rag import Rag
from tests.local.library import Entry
from tests.local.test_index import *  # noqa: F403
from tests.local.test_index import fill

pytestmark = pytest.mark.oracle

# HNSW needs a pool, and a build online 26ai: below.
del test_rebuilt_in_every_form  # noqa: F821


def _version(rag: Rag) -> tuple[int, ...]:
    with rag.database.connect() as connection:
        return tuple(int(part) for part in connection.version.split("."))


def test_online_from_26ai_on(rag: Rag) -> None:
    fill(rag, [Entry(str(n), f"text {n}") for n in range(20)])
    if _version(rag) < (23, 26):
        with pytest.raises(InputError, match=r"online from 23\.26"):
            rag.build_index(force=True, online=True)
        return
    assert rag.build_index(force=True, online=True, parallel=2).usable
    fill(rag, [Entry("20", "one more")])
    built = rag.rebuild_index(force=True, online=True, parallel=2)
    assert built.usable
    assert built.built is not None
    assert built.built.rows == 21


def test_hnsw_where_there_is_a_pool(rag: Rag) -> None:
    fill(rag, [Entry(str(n), f"text {n}") for n in range(20)])
    refused = None
    try:
        rag.build_index(force=True, kind="hnsw")
    except SpaceExhausted as error:
        refused = error
    if refused is None:
        assert rag.index_status().organization == "HNSW"
        assert rag.rebuild_index(force=True).organization == "HNSW"
    else:
        assert "ORA-51962" in refused.message
        assert "vector_memory_size" in str(refused.hint)
