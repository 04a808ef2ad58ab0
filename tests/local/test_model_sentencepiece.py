"""A model with a SentencePiece tokenizer and prefixes, in the database: loaded, put in force, written with, searched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import oracledb
import pytest

from oraclerag import Document, Rag, Scope, Settings, SourceKey
from oraclerag.model.build import build
from tests.local.conftest import Account
from tests.unit.model.test_sentencepiece import PIECES, write

pytestmark = pytest.mark.one_size


def test_passages_and_questions_have_their_prefixes_and_their_tokens(account: Account, tmp_path: Path) -> None:
    folder = write(tmp_path / "e5", num_hidden_layers=1, hidden_size=96, num_attention_heads=1, seed=2)
    file = tmp_path / "e5.onnx"
    build(folder, file, query_prefix="query: ", passage_prefix="passage: ")
    settings = Settings(
        dsn=account.dsn, user=account.user, password=account.password, embedding_model="MULTILINGUAL_E5_SMALL"
    )
    with Rag(settings) as rag:
        rag.provision(model_file=file)

        @rag.source("note", visibility="shared", ids="select '1' as source_id from dual")
        def notes(connection: oracledb.Connection, ids: Sequence[str]) -> dict[str, Document]:
            return {one: Document(text="el pago llegó tarde") for one in ids}

        model = rag.model()
        assert (model.query_prefix, model.passage_prefix, model.counter.exact) == ("query: ", "passage: ", True)
        names = [name for name, _, _ in PIECES]
        assert model.counter.count("el pago") == len(["<s>", names.index("▁el"), names.index("▁pago"), "</s>"])
        rag.index_now([SourceKey("note", "1")])
        (hit,) = rag.search("el pago", scope=Scope())
        with rag.database.connect() as connection, connection.cursor() as cursor:
            cursor.execute(
                f"SELECT VECTOR_DISTANCE(c.EMBEDDING, VECTOR_EMBEDDING({model.sql_name} USING :passage AS DATA), COSINE), "
                f"VECTOR_DISTANCE(c.EMBEDDING, VECTOR_EMBEDDING({model.sql_name} USING :question AS DATA), COSINE) "
                f"FROM RAG_CHUNK c",
                passage="passage: el pago llegó tarde",
                question="query: el pago",
            )
            row = cursor.fetchone()
    assert row is not None
    assert row[0] == pytest.approx(0, abs=1e-6)
    assert row[1] == pytest.approx(hit.distance, abs=1e-6)
