"""A built model computes what the folder's own tokenizer and a plain forward pass compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from oraclerag.errors import InputError
from oraclerag.model.build import build
from oraclerag.model.onnx_file import inspect_file
from tests.unit.model.folders import CONFIG, TOKENS, run, tokenizer_json, write_folder
from tests.unit.model.reference import Reference

TEXTS = {
    "English": "The cat sat on the mat.",
    "Spanish": "¿Llegó tarde el pago del niño? ¡Sí, tardísimo!",
    "accents": "Ångström façade naïve El Niño über Ñandú crème brûlée",
    "CJK": "日本語 and 日本",
    "emoji": "paid ☕ late ✅ 👩‍👩‍👧 done 🎉🎉",
    "one letter": "a",
    "one sign": "!",
    "a blank": " ",
    "nothing": "",
    "control characters": "the\tcat\r\nsat\x0b",
    "over-long": "the invoice was paid late and the cat sat on the mat " * 20,
    "one letter over the limit": "a " * 19,
    "an over-long word": "a" * 101 + " " + "b" * 100,
    "full width": "\uff41\uff42 the",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def model(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    output = tmp_path_factory.mktemp("built") / "model.onnx"
    build(folder, output, max_tokens=20)
    return output.read_bytes()


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_it_equals_the_independent_computation(folder: Path, model: bytes, text: str) -> None:
    expected = Reference(folder, limit=20).embed(text)
    found = run(model, text)
    assert found.shape == (CONFIG["hidden_size"],)
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() < 1e-4


def test_texts_are_cut_at_the_limit_and_not_before(folder: Path, model: bytes) -> None:
    base = "the cat sat on mat invoice paid late " * 2 + "the"  # 17 words and [CLS], [SEP]
    assert not np.allclose(run(model, base), run(model, base + " cat"))
    assert np.array_equal(run(model, base + " cat"), run(model, base + " cat sat"))


@pytest.mark.parametrize("changes", [{"hidden_act": "relu"}, {"hidden_act": "gelu_new"}, {"num_hidden_layers": 1}])
def test_what_config_json_says_is_followed(tmp_path: Path, changes: dict[str, Any]) -> None:
    write_folder(tmp_path / "in", **changes)
    build(tmp_path / "in", tmp_path / "out.onnx")
    expected = Reference(tmp_path / "in", limit=48).embed(TEXTS["English"])
    assert np.abs(run((tmp_path / "out.onnx").read_bytes(), TEXTS["English"]) - expected).max() < 1e-4


def test_cls_pooling(tmp_path: Path) -> None:
    write_folder(tmp_path / "in")
    (tmp_path / "in" / "1_Pooling").mkdir()
    (tmp_path / "in" / "1_Pooling" / "config.json").write_text(
        json.dumps({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    )
    build(tmp_path / "in", tmp_path / "out.onnx")
    expected = Reference(tmp_path / "in", limit=48, pooling="cls").embed(TEXTS["English"])
    assert np.abs(run((tmp_path / "out.onnx").read_bytes(), TEXTS["English"]) - expected).max() < 1e-4


@pytest.mark.parametrize(("prefix", "dtype"), [("bert.", np.float32), ("", np.float16), ("", np.float64)])
def test_other_spellings_and_precisions_of_weights_are_read(tmp_path: Path, prefix: str, dtype: Any) -> None:
    write_folder(tmp_path / "plain")
    write_folder(tmp_path / "other", prefix=prefix, dtype=dtype)
    for name in ("plain", "other"):
        build(tmp_path / name, tmp_path / f"{name}.onnx")
    vectors = [run((tmp_path / f"{name}.onnx").read_bytes(), TEXTS["English"]) for name in ("plain", "other")]
    assert np.abs(vectors[0] - vectors[1]).max() < 5e-3


def test_a_vocab_txt_gives_the_same_model_as_its_tokenizer_json(folder: Path, model: bytes, tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "vocab.txt").write_text("\n".join(TOKENS) + "\n")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, "strip_accents": None}))
    build(tmp_path, tmp_path / "out.onnx", max_tokens=20)
    assert (tmp_path / "out.onnx").read_bytes() == model


def test_a_cased_model_keeps_case_and_accents(folder: Path, tmp_path: Path) -> None:
    tokens = [*TOKENS, "The", "niñ", "T", "##ñ"]
    write_folder(tmp_path, vocab_size=len(tokens))
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer_json(tokens, lowercase=False)))
    build(tmp_path, tmp_path / "out.onnx")
    model = (tmp_path / "out.onnx").read_bytes()
    reference = Reference(tmp_path, limit=48)
    for text in ("The niño", "the nino", "T the"):
        assert np.abs(run(model, text) - reference.embed(text)).max() < 1e-4


def test_the_file_keeps_to_what_oracle_documents(model: bytes) -> None:
    found = onnx.load_from_string(model)
    assert [(i.domain, i.version) for i in found.opset_import] == [("", 17), ("ai.onnx.contrib", 1)]
    assert found.ir_version == 8
    assert {n.op_type for n in found.graph.node if n.domain == "ai.onnx.contrib"} == {"BertTokenizer"}
    assert all(t.data_location == onnx.TensorProto.DEFAULT for t in found.graph.initializer)
    (text,), (vector,) = found.graph.input, found.graph.output
    assert (text.name, text.type.tensor_type.elem_type) == ("input", onnx.TensorProto.STRING)
    assert [d.dim_value for d in text.type.tensor_type.shape.dim] == [1]
    assert (vector.name, vector.type.tensor_type.elem_type) == ("embedding", onnx.TensorProto.FLOAT)
    assert [d.dim_value for d in vector.type.tensor_type.shape.dim] == [CONFIG["hidden_size"]]


def test_equal_folders_give_equal_bytes(folder: Path, model: bytes, tmp_path: Path) -> None:
    built = build(folder, tmp_path / "again.onnx", max_tokens=20)
    assert (tmp_path / "again.onnx").read_bytes() == model
    assert built.sha256 == inspect_file(tmp_path / "again.onnx").sha256
    assert (built.size, built.dimensions, built.max_tokens, built.limit_from) == (len(model), 24, 20, "argument")


@pytest.mark.parametrize(
    ("sentence", "truncation", "limit", "place"),
    [
        (None, None, 48, "config.json"),
        (None, 12, 12, "tokenizer.json"),
        (30, 12, 30, "sentence_bert_config.json"),
        (512, None, 48, "sentence_bert_config.json"),
    ],
)
def test_the_limit_comes_from_the_most_telling_file_and_never_exceeds_the_position_table(
    tmp_path: Path, sentence: int | None, truncation: int | None, limit: int, place: str
) -> None:
    write_folder(tmp_path)
    if sentence is not None:
        (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": sentence}))
    if truncation is not None:
        described = tokenizer_json()
        described["truncation"] = {"max_length": truncation, "strategy": "LongestFirst", "stride": 0}
        (tmp_path / "tokenizer.json").write_text(json.dumps(described))
    built = build(tmp_path, tmp_path / "out.onnx")
    assert (built.max_tokens, built.limit_from) == (limit, place)


@pytest.mark.parametrize("limit", [-1, 0, 2, 49])
def test_a_limit_outside_the_position_table_is_refused(folder: Path, tmp_path: Path, limit: int) -> None:
    with pytest.raises(InputError, match="between 3 and 48"):
        build(folder, tmp_path / "out.onnx", max_tokens=limit)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_build_leaves_the_old_file(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out.onnx").write_bytes(b"old")
    with pytest.raises(InputError):
        build(folder, tmp_path / "out.onnx", max_tokens=1)
    assert [p.name for p in tmp_path.iterdir()] == ["out.onnx"]
    assert (tmp_path / "out.onnx").read_bytes() == b"old"


def test_known_differences_from_the_original_tokenizer(folder: Path, model: bytes) -> None:
    """The op strips accents from Latin-1 letters only, and keeps what it found of a word whose rest is unknown."""
    reference = Reference(folder, limit=20)
    for text in ("ā", "é🎉"):
        assert np.abs(run(model, text) - reference.embed(text)).max() > 1e-3
    assert np.allclose(run(model, "ā"), run(model, "🎉"), atol=1e-6)  # one [UNK] each
