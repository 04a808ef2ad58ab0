"""Ask: what an answer costs beside its search and its language model, the search log included."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from oraclerag.answer import Prompting
from oraclerag.config import Settings, SourceSettings
from oraclerag.local import LocalDatabase
from oraclerag.rag import Rag
from oraclerag.scope import Scope
from tests.benchmarks.figures import Figure
from tests.benchmarks.search import shelve
from tests.local.conftest import Account
from tests.unit.fake_llm import JSON, Reply, completion, fake_llm

__all__ = ["measure"]

HITS = 50
ROUNDS = 40
_SOURCE = SourceSettings("note", "select 1 as source_id, 'x' as t from dual", "shared", body="t")
_QUESTION = "Explain to me why the invoice waits for approval"
_ANSWER = "The invoice waits [1]. It waits for approval [2, 3]. Nobody knows more about it [4-8]."
_HOW = {
    "as the settings are": Prompting(anchors="bracket"),
    "every hit in the prompt": Prompting(anchors="bracket", max_chunks=HITS, max_bytes=500_000, max_tokens=200_000),
}


def measure(database: LocalDatabase, model_file: Path, *, tiny: bool) -> Iterator[Figure]:
    """Measure among 5,000 chunks; a ``tiny`` model embeds a question for nothing, so that no bound is meant for it."""
    account = Account(database.dsn, "BENCH_ANSWERS", database.create_user("BENCH_ANSWERS"))
    with Rag(_settings(account)) as rag, account.connect() as connection:
        rag.provision(model_file=model_file)
        shelve(connection, np.random.default_rng(3))
    model = "a tiny model" if tiny else "MiniLM"
    with fake_llm(Reply(completion(_ANSWER), headers=JSON)) as server, Rag(_settings(account, server.url)) as rag:
        for name, how in _HOW.items():
            own = statistics.median(_own(rag, how) for _ in range(ROUNDS))
            yield Figure(
                f"ask, {HITS} hits, {name}: own time, log included", own, "×", f"its search, {model}",
                None if tiny else 0.5,
            )  # fmt: skip


def _own(rag: Rag, how: Prompting) -> float:
    """Ask, and give how many times its search's time an answer takes beside search and language model."""
    began = time.perf_counter()
    answer = rag.ask(_QUESTION, scope=Scope(tenant="main"), k=HITS, how=how)
    whole = time.perf_counter() - began
    assert len(answer.hits) == HITS
    assert answer.search_id is not None
    return (whole - answer.timings["search"] - answer.timings["generate"]) / answer.timings["search"]


def _settings(account: Account, url: str | None = None) -> Settings:
    return Settings(
        dsn=account.dsn,
        user=account.user,
        password=account.password,
        embedding_model="BENCH",
        sources=(_SOURCE,),
        generate_provider="extractive" if url is None else "openai",
        generate_base_url=url,
        generate_model=None if url is None else "m",
    )
