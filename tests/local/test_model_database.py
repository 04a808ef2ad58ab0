"""Loading, verifying, using and dropping models, over the real driver."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import oracledb
import pytest

from oraclerag import schema as tables
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import (
    EmbeddingDimensionMismatch,
    InputError,
    ModelError,
    ModelInvalid,
    ModelMissing,
    ModelNotActive,
    SchemaMissing,
)
from oraclerag.model import (
    TokenCounter,
    active_model,
    drop_model,
    inspect_file,
    list_models,
    load_model,
    use_model,
    verify_model,
)
from oraclerag.model.assemble import assemble
from oraclerag.model.weights import BertShape
from oraclerag.testing import tiny_model
from tests.local.conftest import Account
from tests.unit.model.folders import TOKENS
from tests.unit.model.test_tokens import UNCASED

pytestmark = pytest.mark.one_size


@pytest.fixture(scope="module")
def migrated(module_account: Account) -> Account:
    """A user with the toolkit's tables."""
    database = Database(Settings(dsn=module_account.dsn, user=module_account.user, password=module_account.password))
    try:
        tables.migrate(database)
    finally:
        database.close()
    return module_account


@pytest.fixture
def connection(migrated: Account) -> Iterator[oracledb.Connection]:
    """A connection to tables that are empty, without a model and without a vector column."""
    with migrated.connect() as opened:
        with opened.cursor() as cursor:
            for table in ("RAG_CHUNK", "RAG_ENTITY", "RAG_SETTING", "RAG_MODEL"):
                cursor.execute(f"DELETE FROM {table}")
            opened.commit()
            cursor.execute("SELECT MODEL_NAME FROM USER_MINING_MODELS")
            for (name,) in cursor.fetchall():
                cursor.execute("BEGIN DBMS_VECTOR.DROP_ONNX_MODEL(model_name => :n, force => TRUE); END;", n=name)
            cursor.execute(
                "SELECT COLUMN_NAME FROM USER_TAB_COLUMNS WHERE TABLE_NAME = 'RAG_CHUNK' AND COLUMN_NAME = 'EMBEDDING'"
            )
            if cursor.fetchall():
                cursor.execute("ALTER TABLE RAG_CHUNK DROP COLUMN EMBEDDING")
        yield opened


@pytest.fixture
def owner(migrated: Account) -> str:
    """The schema of the tables."""
    return migrated.user


def _write(folder: Path, data: bytes, name: str = "model.onnx") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def _count(connection: oracledb.Connection, text: str, **binds: Any) -> int:
    with connection.cursor() as cursor:
        cursor.execute(text, **binds)
        row = cursor.fetchone()
        assert row is not None
        return int(row[0])


def test_a_model_is_loaded_under_its_hash_once(connection: oracledb.Connection, owner: str, tiny_file: Path) -> None:
    first = load_model(connection, tiny_file, name="tiny", schema=owner)
    digest = inspect_file(tiny_file).sha256
    assert first.physical_name == f"TINY_{digest[:8].upper()}"
    assert (first.name, first.sha256, first.dimensions, first.max_tokens) == ("TINY", digest, 384, 256)
    assert first.loaded
    assert first.exact_tokens
    assert not first.active
    assert _count(connection, "SELECT COUNT(*) FROM USER_MINING_MODELS") == 1
    second = load_model(connection, tiny_file, name="Tiny", schema=owner)
    assert not second.loaded
    assert second.physical_name == first.physical_name
    assert second.loaded_at == first.loaded_at
    assert list_models(connection, schema=owner) == [second]


def test_what_was_half_done_is_ended(connection: oracledb.Connection, owner: str, tiny_file: Path) -> None:
    model = load_model(connection, tiny_file, name="tiny", schema=owner)
    with connection.cursor() as cursor:  # loaded, but the row was not written
        cursor.execute("DELETE FROM RAG_MODEL")
        connection.commit()
    assert load_model(connection, tiny_file, name="tiny", schema=owner).physical_name == model.physical_name
    with connection.cursor() as cursor:  # the row is there, the model is not
        cursor.callproc("DBMS_VECTOR.DROP_ONNX_MODEL", keyword_parameters={"model_name": model.physical_name})
    again = load_model(connection, tiny_file, name="tiny", schema=owner)
    assert again.loaded
    assert verify_model(connection, "tiny", schema=owner).dimensions == 384


def test_from_a_directory(
    connection: oracledb.Connection, owner: str, tiny_file: Path, may: Callable[..., None]
) -> None:
    may("CREATE ANY DIRECTORY", to=owner)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE OR REPLACE DIRECTORY MODELS AS '{tiny_file.parent}'")
    model = load_model(connection, tiny_file, name="tiny", schema=owner, directory="models")
    assert model.loaded
    assert verify_model(connection, model.physical_name, schema=owner).length == pytest.approx(1, abs=1e-4)


def test_a_file_that_only_the_database_sees(
    connection: oracledb.Connection, owner: str, tiny_file: Path, may: Callable[..., None]
) -> None:
    may("CREATE ANY DIRECTORY", to=owner)
    digest = inspect_file(tiny_file).sha256
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE OR REPLACE DIRECTORY MODELS AS '{tiny_file.parent}'")
    arguments: dict[str, Any] = {
        "name": "remote", "schema": owner, "directory": "MODELS", "file_name": tiny_file.name, "sha256": digest,
    }  # fmt: skip
    with pytest.raises(InputError, match="how many tokens") as caught:
        load_model(connection, **arguments)
    assert "max-tokens" in (caught.value.hint or "")
    model = load_model(connection, **arguments, max_tokens=128)
    assert (model.max_tokens, model.exact_tokens, model.dimensions) == (128, False, 384)
    use_model(connection, "remote", schema=owner)
    counter = active_model(connection, owner).counter
    assert not counter.exact
    assert counter.count("niño") == 5 + 2


def test_a_tokenizer_file_makes_counts_exact(
    connection: oracledb.Connection, owner: str, tiny_file: Path, tmp_path: Path
) -> None:
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join(TOKENS) + "\n", encoding="utf-8")
    load_model(connection, tiny_file, name="tiny", schema=owner, tokenizer=vocabulary)
    use_model(connection, "tiny", schema=owner)
    counter = active_model(connection, owner).counter
    assert counter.exact
    assert counter.count("the cat xyz") == TokenCounter(UNCASED).count("the cat xyz")


def test_a_url_is_in_no_message(
    connection: oracledb.Connection, owner: str, tiny_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url = "https://objectstorage.example.com/p/TopSecretToken/n/x/b/y/o/model.onnx"
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError, match="from the URL") as caught:
        load_model(connection, tiny_file, name="tiny", schema=owner, url=url)
    seen: BaseException | None = caught.value
    while seen is not None:
        assert "TopSecret" not in f"{seen!r} {seen}"
        assert not seen.__suppress_context__ or seen.__cause__ is None
        seen = seen.__cause__
    assert "TopSecret" not in caplog.text
    with pytest.raises(InputError, match="https"):
        load_model(connection, tiny_file, name="tiny", schema=owner, url="http://plain.example.com/x")


def test_a_connection_with_uncommitted_work_is_refused(
    connection: oracledb.Connection, owner: str, tiny_file: Path
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO RAG_SETTING (SCOPE_NAME, SETTING) VALUES ('x', 'y')")
    calls: list[Callable[[], object]] = [
        lambda: load_model(connection, tiny_file, name="tiny", schema=owner),
        lambda: use_model(connection, "tiny", schema=owner),
        lambda: drop_model(connection, "tiny", schema=owner),
    ]
    for call in calls:
        with pytest.raises(InputError, match="open transaction"):
            call()
    connection.rollback()
    assert _count(connection, "SELECT COUNT(*) FROM RAG_SETTING WHERE SCOPE_NAME = 'x'") == 0


def test_without_the_tables_the_remedy_is_named(account: Account, tiny_file: Path) -> None:
    connection = account.connect()
    for call in (list_models, active_model):
        with pytest.raises(SchemaMissing):
            call(connection, schema=account.user)
    with pytest.raises(SchemaMissing) as caught:
        load_model(connection, tiny_file, name="tiny", schema=account.user)
    assert "migrate" in (caught.value.hint or "")
    assert _count(connection, "SELECT COUNT(*) FROM USER_MINING_MODELS") == 0
    connection.close()


def _bag_of_words(*, related: bool) -> bytes:
    """A model of two dimensions: every word has the same direction, or every word one of two by turns."""
    table = np.zeros((len(TOKENS), 4), dtype=np.float32)
    table[:, 0] = 1
    if related:
        table[:, :] = np.random.default_rng(3).standard_normal(table.shape)
    shape = BertShape(
        vocabulary=len(TOKENS), hidden=4, layers=0, heads=1, intermediate=4, positions=64, types=1, epsilon=1e-12
    )
    weights = {
        "embeddings.word_embeddings.weight": table,
        "embeddings.position_embeddings.weight": np.zeros((64, 4), dtype=np.float32),
        "embeddings.token_type_embeddings.weight": np.zeros((1, 4), dtype=np.float32),
        "embeddings.LayerNorm.weight": np.ones(4, dtype=np.float32),
        "embeddings.LayerNorm.bias": np.zeros(4, dtype=np.float32),
    }
    return assemble(UNCASED, shape, weights, max_tokens=64)


def test_a_model_that_finds_everything_alike_is_not_made_active(
    connection: oracledb.Connection, owner: str, tmp_path: Path
) -> None:
    load_model(connection, _write(tmp_path, _bag_of_words(related=False)), name="alike", schema=owner)
    for call in (verify_model, use_model):
        with pytest.raises(ModelInvalid, match="as near as related"):
            call(connection, "alike", schema=owner)
    with pytest.raises(ModelNotActive):
        active_model(connection, owner)


def test_use_makes_the_column_and_writes_model_and_column_down(
    connection: oracledb.Connection, owner: str, tiny_file: Path
) -> None:
    with pytest.raises(ModelMissing, match="No model TINY"):
        use_model(connection, "tiny", schema=owner)
    with pytest.raises(ModelNotActive):
        active_model(connection, owner)
    loaded = load_model(connection, tiny_file, name="tiny", schema=owner)
    for _ in range(2):
        used = use_model(connection, "tiny", schema=owner)
        assert (used.physical_name, used.column, used.dimensions) == (loaded.physical_name, "EMBEDDING", 384)
    assert active_model(connection, owner) == used
    assert [model.active for model in list_models(connection, schema=owner)] == [True]
    with connection.cursor() as cursor:
        cursor.execute("SELECT EMBEDDING FROM RAG_CHUNK")
        described = cursor.description[0]
        assert described.type_code is oracledb.DB_TYPE_VECTOR
        assert described.vector_dimensions == 384
        assert described.vector_format is oracledb.VECTOR_FORMAT_FLOAT32
        assert described.null_ok
        cursor.execute(f"SELECT VECTOR_EMBEDDING({used.sql_name} USING 'a text' AS DATA) FROM dual")
        row = cursor.fetchone()
        assert row is not None
        assert len(row[0]) == 384


def _insert_chunk(connection: oracledb.Connection, model: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO RAG_ENTITY (SOURCE_TYPE, SOURCE_ID) VALUES ('task', '1')")
        cursor.execute(
            "INSERT INTO RAG_CHUNK (ENTITY_ID, CHUNK_NO, CONTENT, CONTENT_HASH, TENANT_ID, SOURCE_TYPE, SOURCE_ID, VISIBILITY)"
            " SELECT ENTITY_ID, 0, 'text', 'hash', 'main', SOURCE_TYPE, SOURCE_ID, 'SHARED' FROM RAG_ENTITY"
        )
        cursor.execute(f"UPDATE RAG_CHUNK SET EMBEDDING = VECTOR_EMBEDDING({model} USING CONTENT AS DATA)")
        connection.commit()


@pytest.mark.parametrize(
    ("other", "error", "says"),
    [
        (tiny_model(16), EmbeddingDimensionMismatch, "has 384 and holds vectors"),
        (tiny_model(384, seed=1), ModelError, "vectors of another model"),
    ],
)
def test_vectors_of_two_models_are_never_mixed(
    connection: oracledb.Connection,
    owner: str,
    tiny_file: Path,
    tmp_path: Path,
    other: bytes,
    error: type[ModelError],
    says: str,
) -> None:
    load_model(connection, tiny_file, name="tiny", schema=owner)
    used = use_model(connection, "tiny", schema=owner)
    _insert_chunk(connection, used.sql_name)
    load_model(connection, _write(tmp_path, other), name="other", schema=owner)
    with pytest.raises(error, match=says) as caught:
        use_model(connection, "other", schema=owner)
    assert "--rebuild" in (caught.value.hint or "")
    assert active_model(connection, owner) == used
    assert _count(connection, "SELECT COUNT(EMBEDDING) FROM RAG_CHUNK") == 1

    switched = use_model(connection, "other", schema=owner, rebuild=True)
    assert switched.name == "OTHER"
    assert _count(connection, "SELECT COUNT(*) FROM RAG_CHUNK") == 1
    assert _count(connection, "SELECT COUNT(EMBEDDING) FROM RAG_CHUNK") == 0


def test_an_empty_column_of_another_dimension_is_made_anew(
    connection: oracledb.Connection, owner: str, tiny_file: Path, tmp_path: Path
) -> None:
    load_model(connection, tiny_file, name="tiny", schema=owner)
    use_model(connection, "tiny", schema=owner)
    load_model(connection, _write(tmp_path, tiny_model(16)), name="small", schema=owner)
    assert use_model(connection, "small", schema=owner).dimensions == 16


def test_the_active_model_is_not_dropped(
    connection: oracledb.Connection, owner: str, tiny_file: Path, tmp_path: Path
) -> None:
    load_model(connection, tiny_file, name="tiny", schema=owner)
    use_model(connection, "tiny", schema=owner)
    with pytest.raises(InputError, match="in force"):
        drop_model(connection, "tiny", schema=owner)
    younger = load_model(connection, _write(tmp_path, tiny_model(384, seed=2)), name="tiny", schema=owner)
    with pytest.raises(InputError, match="2 models are called TINY") as caught:
        drop_model(connection, "tiny", schema=owner)
    assert younger.physical_name in (caught.value.hint or "")
    assert drop_model(connection, younger.physical_name.lower(), schema=owner).physical_name == younger.physical_name
    assert _count(connection, "SELECT COUNT(*) FROM USER_MINING_MODELS") == 1
    assert [model.active for model in list_models(connection, schema=owner)] == [True]
    with pytest.raises(ModelMissing):
        drop_model(connection, younger.physical_name, schema=owner)


def test_a_model_that_is_gone_from_the_database_can_still_be_forgotten(
    connection: oracledb.Connection, owner: str, tiny_file: Path
) -> None:
    model = load_model(connection, tiny_file, name="tiny", schema=owner)
    with connection.cursor() as cursor:
        cursor.execute(
            "BEGIN DBMS_VECTOR.DROP_ONNX_MODEL(model_name => :n, force => TRUE); END;", n=model.physical_name
        )
    drop_model(connection, "tiny", schema=owner)
    assert list_models(connection, schema=owner) == []


def test_the_youngest_of_a_name_is_meant(
    connection: oracledb.Connection, owner: str, tiny_file: Path, tmp_path: Path
) -> None:
    load_model(connection, tiny_file, name="tiny", schema=owner)
    younger = load_model(connection, _write(tmp_path, tiny_model(384, seed=2)), name="tiny", schema=owner)
    assert verify_model(connection, "tiny", schema=owner).model.physical_name == younger.physical_name
