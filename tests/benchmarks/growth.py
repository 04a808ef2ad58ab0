"""How a search grows with the chunks there are: 1,000, 10,000, 100,000; and what words cost beside the vector."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from oraclerag.config import Settings
from oraclerag.local import LocalDatabase
from oraclerag.rag import Rag
from oraclerag.scope import Scope
from tests.benchmarks.figures import Figure, median_seconds
from tests.benchmarks.search import DIMENSIONS, shelve
from tests.local.conftest import Account

__all__ = ["measure"]

SIZES = (1_000, 10_000, 100_000)
K = 10
SCOPE = Scope(tenant="main")

# At 90 % a search in the local database reads 4 of 10 lists, 34 of 100, 106 of 316 (ora.aim): a share, not a number.
_EXPECTED = {"exact": "linear is 10", "approximate": "a third of the lists is read: linear is 10"}


def measure(database: LocalDatabase, model_file: Path) -> Iterator[Figure]:
    """Measure searches for the 10 nearest by a given vector, and by a text with and without its words."""
    taken: dict[tuple[str, int], float] = {}
    random = np.random.default_rng(3)
    vectors = [random.normal(size=DIMENSIONS).astype(np.float32).tolist() for _ in range(10)]
    for size in SIZES:
        name = f"BENCH_GROWTH_{size}"
        account = Account(database.dsn, name, database.create_user(name))
        settings = Settings(dsn=account.dsn, user=account.user, password=account.password, embedding_model="BENCH")
        with Rag(settings) as rag, account.connect() as connection:
            rag.provision(model_file=model_file)
            for first in range(0, size, 10_000):
                shelve(connection, random, min(size, 10_000), first)
            with connection.cursor() as cursor:
                cursor.callproc("DBMS_STATS.GATHER_TABLE_STATS", [account.user, "RAG_CHUNK"])

            def by_vector(mode: str, rag: Rag = rag) -> Callable[[], None]:
                def search() -> None:
                    for vector in vectors:
                        assert len(rag.search("", scope=SCOPE, k=K, vector=vector, mode=mode)) == K  # type: ignore[arg-type]

                return search

            taken["exact", size] = median_seconds(by_vector("exact"), rounds=5)
            rag.build_index(force=True)
            rag.search("", scope=SCOPE, vector=vectors[0])  # learns of the index
            taken["approximate", size] = median_seconds(by_vector("approx"), rounds=5)
            if size <= 10_000:
                plain, hybrid = _texts(rag, hybrid=False), _texts(rag, hybrid=True)
                yield Figure(f"hybrid search, {size:,} chunks: time", hybrid / plain, "×", "the same without its words")
    for mode, expected in _EXPECTED.items():
        for before, size in itertools.pairwise(SIZES):
            ratio = taken[mode, size] / taken[mode, before]
            bound = 12 if mode == "exact" else 6
            against = f"{before:,} chunks ({expected})"
            yield Figure(f"search by a vector, {mode}, {size:,} chunks: time", ratio, "×", against, bound)


def _texts(rag: Rag, *, hybrid: bool) -> float:
    found = []
    for number in range(9):
        started = time.perf_counter()
        assert rag.search(f"invoice {number} waits for approval", scope=SCOPE, k=K, hybrid=hybrid)
        found.append(time.perf_counter() - started)
    return statistics.median(found[1:])
