"""Rerankers: PREDICTION over pairs of texts in the local database, and the option ``rerank`` of a search."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracledb
import pytest

from oraclerag import Rag, Scope
from oraclerag.errors import InputError, ModelInvalid, ModelMissing
from oraclerag.local.models import OnnxModels
from oraclerag.search.rerank import reranked
from oraclerag.testing import tiny_reranker
from tests.local.conftest import Account
from tests.local.library import RERANKER_METADATA, Entry, ids, install, load_reranker, settings_of, shelve

pytestmark = pytest.mark.one_size
LOAD = "BEGIN DBMS_VECTOR.LOAD_ONNX_MODEL(model_name => :n, model_data => :d, metadata => JSON(:m)); END;"
QUESTION = "supplier invoice waits for approval"
ENTRIES = [
    Entry("1", "the supplier invoice waits for approval of the buyer"),
    Entry("2", "approval"),
    Entry("3", "a supplier was blocked"),
    Entry("4", "the printer is out of paper"),
    Entry("5", "supplier invoice waits for approval", tenant="other"),
]


def score(first: str, second: str) -> float:
    """Score a pair with onnxruntime, beside the database."""
    model = tiny_reranker()
    pair = f"{len(first)}:{first}{second}"
    (found,) = OnnxModels().embed(hashlib.sha256(model).hexdigest(), lambda: model, [pair])
    return float(found[0])


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file) as opened:
        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, ENTRIES)
        with opened.database.connect() as connection, connection.cursor() as cursor:
            load_reranker(cursor)
    with Rag(settings_of(module_account, rerank_model="reranker")) as opened:
        yield opened


@pytest.fixture
def cursor(rag: Rag) -> Iterator[oracledb.Cursor]:
    with rag.database.connect() as connection, connection.cursor() as cursor:
        yield cursor


def test_prediction_scores_pairs_of_binds_and_of_columns(cursor: oracledb.Cursor) -> None:
    cursor.execute("SELECT PREDICTION(reranker USING :q AS DATA1, 'approval: a ñ' AS DATA2) FROM dual", q=QUESTION)
    assert cursor.fetchone() == (pytest.approx(score(QUESTION, "approval: a ñ")),)
    cursor.execute(
        "SELECT c.CONTENT, PREDICTION(reranker USING :q AS DATA1, c.CONTENT AS DATA2) AS S FROM RAG_CHUNK c "
        "ORDER BY S DESC",
        q=QUESTION,
    )
    rows = cursor.fetchall()
    assert [value for _, value in rows] == [pytest.approx(score(QUESTION, text)) for text, _ in rows]
    assert [value for _, value in rows] == sorted((value for _, value in rows), reverse=True)
    assert len({value for _, value in rows}) == len(ENTRIES)


def test_the_dictionary_knows_a_reranker(cursor: oracledb.Cursor) -> None:
    cursor.execute("SELECT MINING_FUNCTION, ALGORITHM FROM USER_MINING_MODELS WHERE MODEL_NAME = 'RERANKER'")
    assert cursor.fetchall() == [("REGRESSION", "ONNX")]


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ("PREDICTION(nothing USING 'a' AS DATA1, 'b' AS DATA2)", 40284),
        ("VECTOR_EMBEDDING(reranker USING 'a' AS DATA)", 40290),
        ("PREDICTION(reranker USING 'a' AS DATA1)", 3001),
        ("PREDICTION(reranker USING 'a' AS DATA1, 'b' AS DATA)", 3001),
        ("PREDICTION(reranker USING 'a' AS DATA1, 'b' AS DATA2, 'c' AS DATA3)", 3001),
        ("PREDICTION(reranker USING 'a' AS DATA1, TO_CHAR(NULL) AS DATA2)", 3001),
        ("PREDICTION(reranker USING *)", 3001),
    ],
)
def test_what_no_reranker_can_do_is_refused(cursor: oracledb.Cursor, expression: str, number: int) -> None:
    with pytest.raises(oracledb.DatabaseError, match=f"ORA-{number:05d}"):
        cursor.execute(f"SELECT {expression} FROM dual").fetchall()


def test_an_embedding_model_predicts_nothing(rag: Rag, cursor: oracledb.Cursor) -> None:
    with pytest.raises(oracledb.DatabaseError, match="ORA-40290"):
        cursor.execute(f"SELECT PREDICTION({rag.model().sql_name} USING 'a' AS DATA1, 'b' AS DATA2) FROM dual")


@pytest.mark.parametrize(
    ("metadata", "number"),
    [
        (RERANKER_METADATA.replace("first_input", "left_input"), 3001),
        (RERANKER_METADATA.replace('"output"', '"score"'), 54413),
        (RERANKER_METADATA.replace("regression", "classification"), 3001),
        (RERANKER_METADATA.replace("DATA2", "DATA1"), 3001),
    ],
)
def test_other_metadata_are_refused(cursor: oracledb.Cursor, metadata: str, number: int) -> None:
    with pytest.raises(oracledb.DatabaseError, match=f"ORA-{number:05d}"):
        load_reranker(cursor, "WRONG", metadata)


def test_an_embedding_model_is_no_reranker(cursor: oracledb.Cursor, tiny_file: Path) -> None:
    with pytest.raises(oracledb.DatabaseError, match="ORA-54408"):
        cursor.execute(LOAD, n="WRONG", d=tiny_file.read_bytes(), m=RERANKER_METADATA)


def test_a_search_gives_the_best_of_the_first_in_the_order_of_the_reranker(rag: Rag) -> None:
    plain = rag.search(QUESTION, scope=Scope(), k=4)
    result = rag.search(QUESTION, scope=Scope(), k=3, rerank=4)
    logits = {hit.source.id: score(QUESTION, hit.content) for hit in plain}
    assert ids(result) == sorted(logits, key=lambda key: -logits[key])[:3]
    assert ids(rag.search(QUESTION, scope=Scope(), k=1, rerank=4)) == ids(result)[:1]
    assert [hit.rank for hit in result] == [1, 2, 3]
    assert result.statements == plain.statements + 1
    for hit in result:
        assert hit.relevance is not None
        assert 0 < hit.relevance < 1
        assert hit.why.startswith(f"reranked {hit.relevance:.2f}, ")
    assert all(hit.relevance is None for hit in plain)


def test_a_long_question_is_scored_whole(rag: Rag) -> None:
    question = "ñ " * 700 + QUESTION
    (hit,) = rag.search(question, scope=Scope(), k=1, rerank=4)
    assert hit.relevance == pytest.approx(1 / (1 + 2.718281828459045 ** -score(question, hit.content)), rel=1e-5)


def test_what_is_no_longer_visible_is_not_scored(rag: Rag, module_account: Account) -> None:
    found = rag.search(QUESTION, scope=Scope(), k=4)
    with rag.database.connect() as connection:
        for tenant, expected in (("main", 4), ("other", 0)):
            scope = Scope(tenant=tenant)
            hits, sent = reranked(connection, module_account.user, "reranker", QUESTION, scope, found.hits)
            assert (len(hits), sent) == (expected, 1)


@pytest.mark.parametrize(
    "options",
    [
        {"rerank": 2, "k": 3}, {"rerank": 1001}, {"rerank": True}, {"rerank": 8.0},
        {"rerank": 8, "prefer": {"project": "1"}}, {"rerank": 8, "order": "authority"},
        {"rerank": 8, "diversity": 0.5},
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_reranked_is_refused(rag: Rag, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="rerank"):
        rag.search(QUESTION, scope=Scope(), **options)
    with pytest.raises(InputError, match="reads the question"):
        rag.search("", scope=Scope(), vector=array("f", [1.0] * 384), rerank=8)


def test_no_reranker_and_a_wrong_one_are_told_apart(rag: Rag, module_account: Account) -> None:
    with (
        Rag(settings_of(module_account)) as other,
        pytest.raises(InputError, match=r"none is configured"),
    ):
        other.search(QUESTION, scope=Scope(), rerank=8)
    with (
        Rag(settings_of(module_account, rerank_model="gone")) as other,
        pytest.raises(ModelMissing, match=r"reranker GONE .* is not in the schema"),
    ):
        other.search(QUESTION, scope=Scope(), rerank=8)
    with (
        Rag(settings_of(module_account, rerank_model=rag.model().physical_name)) as other,
        pytest.raises(ModelInvalid, match="is no reranker"),
    ):
        other.search(QUESTION, scope=Scope(), rerank=8)
