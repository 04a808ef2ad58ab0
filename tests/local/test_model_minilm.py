"""The real thing: all-MiniLM-L6-v2, fetched, built, and held against the independent computation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from oraclerag.errors import ModelError
from oraclerag.local.models import DEFAULT_METADATA, OnnxModels
from oraclerag.model import BuiltModel, TokenCounter, build, fetch, inspect_file
from oraclerag.model.wordpiece import WordPiece
from tests.unit.model.folders import run
from tests.unit.model.reference import Reference

pytestmark = pytest.mark.one_size

TEXTS = {
    "English": "The nightly batch of the accounts payable module failed with ORA-01555: snapshot too old.",
    "Spanish": "¿Cuándo se concilió la factura de la señora Muñoz? ¡El pago llegó tarde otra vez!",
    "accents": "Façade, naïve, Ångström, crème brûlée, Übermut, São Tomé, Ñandú",
    "CJK": "東京の請求書 and 发票已付款",
    "emoji": "Deployment done 🎉 👩‍👩‍👧 tests are green ✅",
    "one letter": "x",
    "one sign": "?",
    "a blank": " ",
    "over-long": "Reconcile the ledger of the Madrid store before the month end close. " * 60,
    "an over-long word": "a" * 300,
    "a path and numbers": "/u01/app/oracle/diag/rdbms/orcl/trace/orcl_ora_12345.trc 3.14159 2026-11-30T10:16:00Z",
}


@pytest.fixture(scope="module")
def weights() -> Path:
    try:
        return fetch("minilm-l6")
    except ModelError as error:
        pytest.skip(f"the weights cannot be downloaded here: {error}")


@pytest.fixture(scope="module")
def built(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> BuiltModel:
    return build(weights, tmp_path_factory.mktemp("minilm") / "all_minilm_l6_v2.onnx")


@pytest.fixture(scope="module")
def reference(weights: Path) -> Reference:
    return Reference(weights, limit=256)


@pytest.fixture(scope="module")
def vectors(built: BuiltModel) -> dict[str, np.ndarray]:
    models = OnnxModels()
    data = built.path.read_bytes()
    assert models.check(data, dict(DEFAULT_METADATA)) == 384
    found = models.embed(built.sha256, lambda: data, list(TEXTS.values()))
    models.close()
    return {name: np.frombuffer(vector, dtype=np.float32) for name, vector in zip(TEXTS, found, strict=True)}


@pytest.mark.parametrize("name", TEXTS)
def test_vectors_equal_the_independent_computation(
    reference: Reference, vectors: dict[str, np.ndarray], name: str
) -> None:
    assert np.abs(vectors[name] - reference.embed(TEXTS[name])).max() < 1e-4


def test_the_limit_is_that_of_the_model_card(built: BuiltModel) -> None:
    assert (built.dimensions, built.max_tokens, built.limit_from) == (384, 256, "sentence_bert_config.json")


def test_token_counts_equal_those_of_the_original_tokenizer(built: BuiltModel, reference: Reference) -> None:
    tokenizer = inspect_file(built.path).tokenizer
    assert isinstance(tokenizer, WordPiece)
    counter = TokenCounter(tokenizer)
    reference.tokenizer.no_truncation()
    try:
        for text in TEXTS.values():
            assert counter.count(text) == len(reference.ids(text))
    finally:
        reference.tokenizer.enable_truncation(256)


def test_known_differences_from_the_original_tokenizer(built: BuiltModel, reference: Reference) -> None:
    """What docs/models.md lists: a vector differs for these words, and only then."""
    data = built.path.read_bytes()
    for text in ("Dvořák", "Łódź", "Київ", "서울", "done✅", "İstanbul"):
        assert np.abs(run(data, text) - reference.embed(text)).max() > 1e-3
