"""langchain-oracledb, as it comes from PyPI, keeps and searches precomputed vectors in the local database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import oracledb
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_oracledb.vectorstores import OracleVS
from langchain_oracledb.vectorstores.oraclevs import create_index, drop_index_if_exists
from langchain_oracledb.vectorstores.utils import DistanceStrategy, drop_table_purge

from tests.local.conftest import Account

# Three dimensions: fruit, vehicle, weather.
VECTORS = {
    "an apple": [0.9, 0.1, 0.0],
    "a ripe pear": [0.8, 0.0, 0.2],
    "a red lorry": [0.0, 1.0, 0.1],
    "a bicycle": [0.1, 0.9, 0.0],
    "snow in May": [0.0, 0.1, 1.0],
    "fruit": [1.0, 0.0, 0.0],
    "vehicle": [0.0, 1.0, 0.0],
}
METADATA: dict[str, dict[str, Any]] = {
    "an apple": {"kind": "food", "price": 2, "tags": ["red", "sweet"], "origin": {"country": "ES"}},
    "a ripe pear": {"kind": "food", "price": 3.5, "tags": ["green"], "origin": {"country": "FR"}},
    "a red lorry": {"kind": "traffic", "price": 40_000, "tags": ["red"], "fast": True},
    "a bicycle": {"kind": "traffic", "price": 700, "fast": False},
    "snow in May": {"kind": "weather", "price": None},
}
IDS = {text: f"doc-{number}" for number, text in enumerate(METADATA)}


class Precomputed(Embeddings):
    """Gives the vectors of the table above; another text is an error."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [VECTORS[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return VECTORS[text]


def make_store(connection: oracledb.Connection, table: str, **options: Any) -> OracleVS:
    options.setdefault("distance_strategy", DistanceStrategy.COSINE)
    return OracleVS(connection, Precomputed(), table, query="fruit", **options)


def fill(store: OracleVS) -> None:
    added = store.add_texts(list(METADATA), [dict(value) for value in METADATA.values()], ids=list(IDS.values()))
    assert added == list(IDS.values())


@pytest.fixture(scope="module")
def client(module_account: Account) -> Iterator[oracledb.Connection]:
    with module_account.connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def store(client: oracledb.Connection) -> OracleVS:
    """A filled store that tests only read."""
    made = make_store(client, "read_only")
    fill(made)
    return made


def texts(documents: list[Document]) -> list[str]:
    return [document.page_content for document in documents]


@pytest.mark.parametrize(
    "strategy", [DistanceStrategy.COSINE, DistanceStrategy.EUCLIDEAN_DISTANCE, DistanceStrategy.DOT_PRODUCT]
)
def test_search_gives_the_nearest_first(client: oracledb.Connection, strategy: DistanceStrategy) -> None:
    store = make_store(client, f"nearest_{strategy.value}", distance_strategy=strategy)
    fill(store)
    assert texts(store.similarity_search("fruit", k=2)) == ["an apple", "a ripe pear"]
    assert texts(store.similarity_search_by_vector([0.0, 0.0, 1.0], k=1)) == ["snow in May"]
    assert len(store.similarity_search("fruit", k=10)) == len(METADATA)


def test_a_document_comes_back_with_id_and_metadata(store: OracleVS) -> None:
    (found,) = store.similarity_search("fruit", k=1)
    assert (found.page_content, found.metadata) == ("an apple", METADATA["an apple"])
    assert texts(store.get_by_ids([IDS["a bicycle"], "no such id"])) == ["a bicycle"]


def test_scores_are_the_distances(store: OracleVS) -> None:
    scored = store.similarity_search_with_score("vehicle", k=2)
    assert texts([document for document, _ in scored]) == ["a red lorry", "a bicycle"]
    assert [score for _, score in scored] == pytest.approx([1 - 1 / 1.01**0.5, 1 - 0.9 / 0.82**0.5], abs=1e-6)


def test_embeddings_come_back_as_they_went_in(store: OracleVS) -> None:
    ((document, _, embedding),) = store.similarity_search_by_vector_returning_embeddings(VECTORS["vehicle"], k=1)
    assert list(embedding) == pytest.approx(VECTORS[document.page_content])


def test_relevance_trades_for_variety(store: OracleVS) -> None:
    found = texts(store.max_marginal_relevance_search("fruit", k=3, fetch_k=5, lambda_mult=0.1))
    assert found[0] == "an apple"
    assert "a ripe pear" not in found[1:2]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"kind": "traffic"}, ["a bicycle", "a red lorry"]),
        ({"kind": {"$ne": "traffic"}}, ["a ripe pear", "an apple", "snow in May"]),
        ({"price": {"$gt": 3}}, ["a bicycle", "a red lorry", "a ripe pear"]),
        ({"price": {"$between": [2, 700]}}, ["a bicycle", "a ripe pear", "an apple"]),
        ({"kind": {"$in": ["weather", "food"]}}, ["a ripe pear", "an apple", "snow in May"]),
        ({"kind": {"$nin": ["weather", "food"]}}, ["a bicycle", "a red lorry"]),
        ({"tags": "red"}, ["a red lorry", "an apple"]),
        ({"fast": {"$exists": True}}, ["a bicycle", "a red lorry"]),
        ({"fast": {"$exists": False}}, ["a ripe pear", "an apple", "snow in May"]),
        ({"origin.country": "ES"}, ["an apple"]),
        ({"origin": {"country": "FR"}}, ["a ripe pear"]),
        ({"tags": {"$eq": ["red", "sweet"]}}, ["an apple"]),
        ({"kind": {"$startsWith": "tra"}}, ["a bicycle", "a red lorry"]),
        ({"kind": {"$hasSubstring": "eath"}}, ["snow in May"]),
        ({"$and": [{"kind": "food"}, {"price": {"$lt": 3}}]}, ["an apple"]),
        ({"$or": [{"kind": "weather"}, {"price": {"$gte": 40000}}]}, ["a red lorry", "snow in May"]),
        ({"$nor": [{"kind": "food"}, {"kind": "traffic"}]}, ["snow in May"]),
        ({"kind": "nothing"}, []),
    ],
    ids=str,
)  # fmt: skip
def test_filters_narrow_the_search(store: OracleVS, condition: dict[str, Any], expected: list[str]) -> None:
    assert sorted(texts(store.similarity_search("fruit", k=10, filter=condition))) == expected


def test_a_known_id_is_left_alone_or_replaced(client: oracledb.Connection) -> None:
    store = make_store(client, "duplicates")
    assert store.add_texts(["an apple"], ids=["1"]) == ["1"]
    assert store.add_texts(["a bicycle", "snow in May"], ids=["1", "2"]) == ["2"]
    assert texts(store.get_by_ids(["1"])) == ["an apple"]
    replacing = make_store(client, "duplicates", mutate_on_duplicate=True)
    assert replacing.add_texts(["a bicycle", "an apple"], ids=["1", "3"]) == ["1", "3"]
    assert texts(replacing.get_by_ids(["1"])) == ["a bicycle"]
    assert texts(replacing.similarity_search("vehicle", k=1)) == ["a bicycle"]


def test_delete_takes_what_it_names(client: oracledb.Connection) -> None:
    store = make_store(client, "deleted")
    fill(store)
    store.delete([IDS["an apple"], IDS["a bicycle"], "no such id"])
    assert set(texts(store.similarity_search("fruit", k=10))) == {"a ripe pear", "a red lorry", "snow in May"}


@pytest.mark.parametrize(
    "parameters",
    [
        {"idx_type": "IVF", "idx_name": "by_parts", "neighbor_part": 2, "accuracy": 95},
        {"idx_type": "IVF"},
        {"idx_type": "HNSW", "idx_name": "by_graph", "neighbors": 8, "efConstruction": 64},
        {"idx_type": "HNSW"},
    ],
    ids=lambda value: "-".join(map(str, value.values())),
)
def test_vector_indexes_are_built_used_and_dropped(
    client: oracledb.Connection, request: pytest.FixtureRequest, parameters: dict[str, Any]
) -> None:
    table = f"indexed_{request.node.callspec.indices['parameters']}"
    store = make_store(client, table)
    fill(store)
    name = parameters.get("idx_name", f"index_{parameters['idx_type']}")
    for _ in range(2):  # a second time is no error to the package
        create_index(client, store, parameters | {"idx_name": name})
    kinds = {"IVF": "NEIGHBOR_PARTITIONS_IVF", "HNSW": "INMEMORY_NEIGHBOR_GRAPH_HNSW"}
    assert [tuple(row) for row in client.cursor().execute(
        "SELECT INDEX_TYPE, INDEX_SUBTYPE, TABLE_NAME FROM USER_INDEXES WHERE INDEX_NAME = :1", [name]
    )] == [("VECTOR", kinds[parameters["idx_type"]], table)]  # fmt: skip
    store.add_texts(["fruit"], ids=["late"])
    assert texts(store.similarity_search("fruit", k=1)) == ["fruit"]
    drop_index_if_exists(client, name)
    assert texts(store.similarity_search("fruit", k=1)) == ["fruit"]
    drop_table_purge(client, table)


def test_a_pool_serves_as_well(module_account: Account) -> None:
    pool = oracledb.create_pool(
        user=module_account.user, password=module_account.password, dsn=module_account.dsn, min=1, max=2
    )
    store = OracleVS.from_texts(
        list(METADATA), Precomputed(), client=pool, table_name="pooled", query="fruit",
        distance_strategy=DistanceStrategy.COSINE,
    )  # fmt: skip
    assert texts(store.similarity_search("vehicle", k=2)) == ["a red lorry", "a bicycle"]
    pool.close()


async def _asynchronously(account: Account) -> list[str]:
    async with oracledb.connect_async(user=account.user, password=account.password, dsn=account.dsn) as connection:
        store = await OracleVS.acreate(
            connection, Precomputed(), "asynchronous", query="fruit", distance_strategy=DistanceStrategy.COSINE
        )
        await store.aadd_texts(list(METADATA), ids=list(IDS.values()))
        await store.adelete([IDS["an apple"]])
        return texts(await store.asimilarity_search("fruit", k=1))


def test_asyncio(module_account: Account) -> None:
    import asyncio

    assert asyncio.run(_asynchronously(module_account)) == ["a ripe pear"]
