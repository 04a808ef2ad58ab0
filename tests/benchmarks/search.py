"""Search against langchain-oracledb: time with a given vector over the same rows, round trips with a text question."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import oracledb
from langchain_core.embeddings import Embeddings
from langchain_oracledb.vectorstores import OracleVS
from langchain_oracledb.vectorstores.utils import DistanceStrategy

from oraclerag.config import Settings
from oraclerag.local import LocalDatabase
from oraclerag.rag import Rag
from oraclerag.scope import Scope
from tests.benchmarks.figures import Figure, ratio_in_turns
from tests.local.conftest import Account

__all__ = ["measure", "round_trips", "shelve"]

ROWS = 5_000
DIMENSIONS = 384
K = 10
_THEIRS = "langchain-oracledb, same rows and vectors"


class _Given(Embeddings):
    """Is asked how long its vectors are, and nothing else: they are given."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0] * DIMENSIONS


class _InDatabase(Embeddings):
    """Embeds in the database with one statement; OracleEmbeddings needs an object type that not every driver binds."""

    def __init__(self, connection: oracledb.Connection, model: str) -> None:
        self._connection = connection
        self._statement = f"SELECT VECTOR_EMBEDDING({model} USING :text AS DATA) FROM dual"

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        with self._connection.cursor() as cursor:
            cursor.execute(self._statement, text=text)
            (row,) = cursor.fetchall()
        return list(row[0])


def measure(database: LocalDatabase, model_file: Path) -> Iterator[Figure]:
    """Measure 10 of 5,000 chunks by a given vector, exact, and approximate through an index of each."""
    account = Account(database.dsn, "BENCH_SEARCH", database.create_user("BENCH_SEARCH"))
    random = np.random.default_rng(3)
    with Rag(_settings(account)) as rag, account.connect() as connection:
        rag.provision(model_file=model_file)
        shelve(connection, random)
        store = _store(connection)
        _gather_statistics(connection, account)
        questions = [random.normal(size=DIMENSIONS).astype(np.float32).tolist() for _ in range(20)]
        yield _figure("exact", rag, store, connection, questions, mode="exact")
        yield _figure("exact", rag, store, connection, questions, mode="exact", narrowed={"status": "OPEN"})
        rag.build_index(force=True)
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE VECTOR INDEX lc_idx ON LC (embedding) ORGANIZATION NEIGHBOR PARTITIONS "
                "DISTANCE COSINE WITH TARGET ACCURACY 90"
            )
        rag.search("", scope=Scope(tenant="main"), vector=questions[0])  # learns of the index
        yield _figure("approximate", rag, store, connection, questions, mode="approx")


def _figure(
    name: str,
    rag: Rag,
    store: OracleVS,
    connection: oracledb.Connection,
    questions: list[list[float]],
    *,
    mode: Any,
    narrowed: dict[str, str] | None = None,
) -> Figure:
    """Compare; ``narrowed`` is a filter of theirs that all rows pass, as all pass the scope that ours always asks."""
    scope = Scope(tenant="main")

    def ours() -> None:
        for question in questions:
            assert len(rag.search("", scope=scope, k=K, vector=question, mode=mode, connection=connection)) == K

    def theirs() -> None:
        for question in questions:
            assert len(store.similarity_search_by_vector(question, k=K, filter=narrowed)) == K

    ratio = ratio_in_turns(ours, theirs, turns=15)
    against, bound = (_THEIRS, 1.0) if narrowed is None else (f"{_THEIRS}, with a filter; orientation", None)
    return Figure(f"search by a vector, {name}, {ROWS:,} chunks: time", ratio, "×", against, bound)


def round_trips(model_file: Path) -> Iterator[Figure]:
    """Count what a text question costs here and there, and what a given vector costs."""
    with LocalDatabase(in_process=True) as database:
        account = Account(database.dsn, "BENCH_ASK", database.create_user("BENCH_ASK"))
        with Rag(_settings(account)) as rag, account.connect() as connection:
            rag.provision(model_file=model_file)
            shelve(connection, np.random.default_rng(3), 100)
            store = _store(connection, _InDatabase(connection, rag.model().physical_name))
            vector = [1.0] * DIMENSIONS

            def trips(action: Any) -> int:
                action()  # opens what is opened once
                before = database.round_trips
                assert len(action()) == K
                return database.round_trips - before

            scope = Scope(tenant="main")
            ours = trips(lambda: rag.search("late invoices", scope=scope, k=K))
            theirs = trips(lambda: store.similarity_search("late invoices", k=K))
            by_vector = trips(lambda: rag.search("", scope=scope, k=K, vector=vector))
            yield Figure("search by a text: round trips", ours, "", f"langchain-oracledb: {theirs}", 1)
            yield Figure("search by a vector: round trips", by_vector, "", "none less is possible", 1)


def _settings(account: Account) -> Settings:
    return Settings(dsn=account.dsn, user=account.user, password=account.password, embedding_model="BENCH")


def shelve(connection: oracledb.Connection, random: np.random.Generator, rows: int = ROWS, first: int = 0) -> None:
    """Put chunks into the index, as a worker would, numbered from ``first`` on; their vectors are random."""
    numbers = random.normal(size=(rows, DIMENSIONS)).astype(np.float32)
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO RAG_ENTITY (SOURCE_TYPE, SOURCE_ID, TENANT_ID, CHUNKS) VALUES ('note', :1, 'main', 1)",
            [(str(n),) for n in range(first, first + rows)],
        )
        entities = cursor.execute(
            "SELECT ENTITY_ID, SOURCE_ID FROM RAG_ENTITY WHERE TO_NUMBER(SOURCE_ID) >= :1", [first]
        ).fetchall()
        cursor.executemany(
            "INSERT INTO RAG_DOCUMENT (ENTITY_ID, TENANT_ID, TITLE) VALUES (:1, 'main', :2)",
            [(entity, f"Note {key}") for entity, key in entities],
        )
        cursor.executemany(
            "INSERT INTO RAG_CHUNK (ENTITY_ID, CHUNK_NO, CONTENT, CONTENT_HASH, TENANT_ID, SOURCE_TYPE, SOURCE_ID, "
            "VISIBILITY, METADATA, EMBEDDING) VALUES (:1, 0, :2, :3, 'main', 'note', :4, 'SHARED', "
            'JSON(\'{"status": "OPEN"}\'), :5)',
            [
                (entity, f"Note {key}: the invoice waits for approval. " * 8, f"{entity:064d}", key, array("f", row))
                for (entity, key), row in zip(entities, numbers, strict=True)
            ],
        )
    connection.commit()


def _gather_statistics(connection: oracledb.Connection, account: Account) -> None:
    """Tell the optimizer how large the tables of both are, as Oracle's nightly job does."""
    with connection.cursor() as cursor:
        for table in ("RAG_CHUNK", "RAG_DOCUMENT", "LC"):
            cursor.callproc("DBMS_STATS.GATHER_TABLE_STATS", [account.user, table])


def _store(connection: oracledb.Connection, embeddings: Embeddings | None = None) -> OracleVS:
    """Make langchain's table and fill it with our rows."""
    store = OracleVS(
        connection, embeddings or _Given(), "LC", distance_strategy=DistanceStrategy.COSINE, query="a question"
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO LC (ID, EMBEDDING, TEXT, METADATA) "
            "SELECT LPAD(TO_CHAR(CHUNK_ID), 16, '0'), EMBEDDING, CONTENT, METADATA FROM RAG_CHUNK"
        )
    connection.commit()
    return store
