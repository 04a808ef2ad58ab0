"""What an approximate search misses on SciFact with all-MiniLM-L6-v2, also among shares of the chunks.

The texts' vectors are computed once, by the model itself, and kept in the system's temporary folder. The index is built
as `oraclerag index build` builds it, and measured as `oraclerag index accuracy` measures it.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
from array import array
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from oraclerag.config import Settings
from oraclerag.local import LocalDatabase
from oraclerag.local.models import OnnxModels
from oraclerag.model.active import active_model
from oraclerag.rag import Rag
from oraclerag.scope import Scope
from tests.benchmarks import judged
from tests.benchmarks.figures import Figure
from tests.benchmarks.judged import Collection

__all__ = ["measure"]

K = 10
SHARES = (0.5, 0.1, 0.01, 0.001)
MODEL = "MINILM_L6"


def measure(database: LocalDatabase, minilm: Path) -> Iterator[Figure]:
    """Measure recall@10 of the index alone and of searches by default; nothing where the collection is not there."""
    scifact = judged.collection("scifact")
    if scifact is None:
        return
    settings = Settings(
        dsn=database.dsn, user="BENCH_RECALL", password=database.create_user("BENCH_RECALL"), embedding_model=MODEL
    )
    with Rag(settings) as rag:
        rag.provision(model_file=minilm)
        _shelve(rag, scifact, _vectors(scifact, minilm))
        built = rag.finish().built
        assert built is not None
        assert built.partitions is not None
        questions = list(scifact.questions.values())
        # searched exactly is recall 1 by definition: some questions show that it is so
        default = rag.index_accuracy(scope=Scope(manager=True), questions=questions[:20], k=K, shares=SHARES)
    with Rag(replace(settings, exact_below=0)) as rag:
        report = rag.index_accuracy(scope=Scope(manager=True), questions=questions, k=K, shares=SHARES)
    probes = math.ceil(built.partitions / (1 + 0.2 * (100 - report.target)))  # as ora.aim of the local database has it
    how = f"{built.rows:,} chunks, {built.partitions} lists, {probes} of them read (target {report.target} %)"
    for one, usual in zip(report.recalls, default.recalls, strict=True):
        among = "all" if one.share is None else f"{100 * one.share:g} %"
        assert one.recall is not None
        assert one.chosen is not None
        assert usual.chosen is not None
        interval = f"95 %: {one.low:.3f} … {one.high:.3f}; {one.short} of {one.questions} questions short"
        bound = 0.95 if one.share is None else None
        yield Figure(
            f"SciFact, index alone, {among}: recall@{K}", one.recall, "", f"{how}; {interval}", bound, "at least"
        )
        again = f"{one.exact} of {one.questions} ran short and were searched exactly"
        yield Figure(f"SciFact, exact_below = 0, {among}: recall@{K}", one.chosen, "", again)
        exact = f"{usual.exact} of {usual.questions} searched exactly: {usual.reason}"
        yield Figure(f"SciFact, by default, {among}: recall@{K}", usual.chosen, "", exact, 0.95, "at least")


def _vectors(texts: Collection, minilm: Path) -> list[array[float]]:
    """Embed the texts, or take what was computed before; in their order."""
    data = minilm.read_bytes()
    model = hashlib.sha256(data).hexdigest()
    key = hashlib.sha256("\0".join([model, *texts.texts.values()]).encode()).hexdigest()[:12]
    kept = Path(tempfile.gettempdir()) / "oraclerag-benchmarks" / f"{texts.name}-{key}.npy"
    if not kept.is_file():
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        models = OnnxModels()
        found = models.embed(model, lambda: data, list(texts.texts.values()))
        models.close()
        np.save(kept, np.array(found, dtype=np.float32))
    return [array("f", row.tobytes()) for row in np.load(kept)]


def _shelve(rag: Rag, texts: Collection, vectors: list[array[float]]) -> None:
    """Put the texts into the index as one chunk each; only their vectors are asked for."""
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        column = active_model(connection, rag.database.schema).column
        cursor.executemany(
            "INSERT INTO RAG_ENTITY (SOURCE_TYPE, SOURCE_ID, TENANT_ID, CHUNKS) VALUES ('passage', :1, 'main', 1)",
            [(key,) for key in texts.texts],
        )
        cursor.execute("SELECT SOURCE_ID, ENTITY_ID FROM RAG_ENTITY")
        entities = dict(cursor.fetchall())
        cursor.executemany(
            "INSERT INTO RAG_CHUNK (ENTITY_ID, CHUNK_NO, CONTENT, CONTENT_HASH, TENANT_ID, SOURCE_TYPE, SOURCE_ID, "
            f"VISIBILITY, {column}) VALUES (:1, 0, :2, 'hash', 'main', 'passage', :3, 'SHARED', :4)",
            [
                (entities[key], text[:1000], key, vector)
                for (key, text), vector in zip(texts.texts.items(), vectors, strict=True)
            ],
        )
