"""Folders and files that cannot become a model are refused in words that name the remedy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from safetensors.numpy import load_file, save_file

from oraclerag.errors import InputError, ModelInvalid
from oraclerag.model.build import build
from oraclerag.model.onnx_file import inspect_file
from oraclerag.model.wordpiece import WordPiece
from oraclerag.testing import tiny_model
from tests.unit.model.folders import tokenizer_json, write_folder

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 90868376\n"

Change = Callable[[Path], None]


def _file(name: str, content: bytes | str) -> Change:
    def change(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return change


def _json(name: str, **values: Any) -> Change:
    def change(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        known = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**known, **values}))

    return change


def _without(*names: str) -> Change:
    def change(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return change


def _model(**values: Any) -> Change:
    described = tokenizer_json()
    described["model"] = {**described["model"], **values}
    return _file("tokenizer.json", json.dumps(described))


def _weights(change: Callable[[dict[str, Any]], None]) -> Change:
    def apply(folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors")

    return apply


def _both(*changes: Change) -> Change:
    def apply(folder: Path) -> None:
        for change in changes:
            change(folder)

    return apply


FOLDERS: dict[str, tuple[Change, str, str]] = {
    "no config.json": (_without("config.json"), "no config.json", "config.json"),
    "empty config.json": (_file("config.json", ""), "config.json is empty", "again"),
    "config.json is a pointer": (_file("config.json", LFS), "Git LFS pointer", "git lfs pull"),
    "config.json is no JSON": (_file("config.json", "{"), "not valid JSON", "again"),
    "config.json is a list": (_file("config.json", "[]"), "JSON object", "again"),
    "RoBERTa": (_json("config.json", model_type="roberta"), "'roberta'", "WordPiece"),
    "XLM-R": (_json("config.json", model_type="xlm-roberta"), "'xlm-roberta'", "WordPiece"),
    "no model_type": (_json("config.json", model_type=None), "model_type None", "WordPiece"),
    "relative positions": (_json("config.json", position_embedding_type="relative_key"), "relative_key", "WordPiece"),
    "odd number of heads": (_json("config.json", num_attention_heads=5), "num_attention_heads", "BERT"),
    "a size that is no number": (_json("config.json", hidden_size="24"), "hidden_size", "again"),
    "an unknown activation": (_json("config.json", hidden_act="silu"), "'silu'", "gelu"),
    "SentencePiece file": (_file("sentencepiece.bpe.model", b"x"), "SentencePiece", "WordPiece"),
    "Unigram": (_model(type="Unigram"), "SentencePiece", "WordPiece"),
    "BPE": (_model(type="BPE"), "byte-pair", "WordPiece"),
    "another prefix": (_model(continuing_subword_prefix="@@"), "'@@'", "WordPiece"),
    "another unknown token": (_model(unk_token="<unk>"), "'<unk>'", "WordPiece"),
    "ids with a gap": (_model(vocab={"[UNK]": 0, "a": 2}), "not 0, 1, 2", "again"),
    "no special tokens": (_model(vocab={"[UNK]": 0, "a": 1}), r"no \[SEP\], \[PAD\]", "WordPiece"),
    "byte-level vocabulary": (_both(_without("tokenizer.json"), _file("vocab.json", "{}")), "BPE", "WordPiece"),
    "no tokenizer": (_without("tokenizer.json"), "neither tokenizer.json nor vocab.txt", "tokenizer"),
    "tokenizer.json is a pointer": (_file("tokenizer.json", LFS), "Git LFS pointer", "git lfs pull"),
    "no weights": (_without("model.safetensors"), "no model.safetensors", "weights"),
    "weights are a pointer": (_file("model.safetensors", LFS), "Git LFS pointer", "git lfs pull"),
    "weights are empty": (_file("model.safetensors", b""), "empty", "again"),
    "weights are torn": (_file("model.safetensors", b"\x10\0\0\0\0\0\0\0{"), "not a safetensors file", "again"),
    "weights are text": (_file("model.safetensors", b"<html>not found</html>"), "not a safetensors file", "again"),
    "only PyTorch weights": (
        _both(_without("model.safetensors"), _file("pytorch_model.bin", b"x")),
        "PyTorch",
        "model.safetensors",
    ),
    "weights in shards": (
        _both(_without("model.safetensors"), _file("model.safetensors.index.json", "{}")),
        "several files",
        "BERT",
    ),
    "a weight is missing": (
        _weights(lambda w: w.pop("encoder.layer.1.output.dense.bias")),
        "encoder.layer.1.output.dense.bias",
        "same model",
    ),
    "a weight of another shape": (
        _weights(lambda w: w.update({"embeddings.LayerNorm.bias": np.zeros(3, dtype=np.float32)})),
        r"shape \[3\]",
        "same model",
    ),
    "a weight that is not finite": (
        _weights(lambda w: w.update({"embeddings.LayerNorm.bias": np.full(24, np.nan, dtype=np.float32)})),
        "not finite",
        "original",
    ),
    "weights of something else": (_weights(lambda w: w.clear() or w.update(x=np.zeros(1))), "BERT encoder", "BERT"),  # type: ignore[func-returns-value]
    "max pooling": (_json("1_Pooling/config.json", pooling_mode_max_tokens=True), "max_tokens", "BERT"),
    "a dense module": (_file("modules.json", '[{"type": "sentence_transformers.models.Dense"}]'), "Dense", "BERT"),
}


@pytest.mark.parametrize(("change", "says", "remedy"), FOLDERS.values(), ids=FOLDERS.keys())
def test_folders(tmp_path: Path, change: Change, says: str, remedy: str) -> None:
    folder = write_folder(tmp_path / "model")
    change(folder)
    with pytest.raises(ModelInvalid, match=says) as caught:
        build(folder, tmp_path / "out" / "model.onnx")
    assert remedy in (caught.value.hint or "")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "content", "says", "remedy"),
    [
        ("model.zip", b"PK\x03\x04rest", "zip file", "Unpack"),
        ("model.onnx", b"\x08\x08", "ONNX file already", "model load"),
        ("model.safetensors", LFS, "Git LFS pointer", "git lfs pull"),
        ("README", b"text", "not the folder", "FOLDER"),
    ],
)
def test_a_file_where_a_folder_is_wanted(tmp_path: Path, name: str, content: bytes, says: str, remedy: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelInvalid, match=says) as caught:
        build(tmp_path / name, tmp_path / "out.onnx")
    assert remedy in (caught.value.hint or "")


def test_paths_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder"):
        build(tmp_path / "nothing", tmp_path / "out.onnx")
    with pytest.raises(InputError, match="no file"):
        inspect_file(tmp_path / "nothing.onnx")


def _onnx(inputs: dict[str, tuple[int, list[Any]]], outputs: dict[str, tuple[int, list[Any]]]) -> onnx.ModelProto:
    graph = helper.make_graph(
        [],
        "empty",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in outputs.items()],
    )
    return helper.make_model(graph)


def _export() -> bytes:
    """The inputs and outputs of a plain export of a BERT encoder."""
    tokens = (TensorProto.INT64, ["batch", "sequence"])
    export = _onnx(
        {"input_ids": tokens, "attention_mask": tokens, "token_type_ids": tokens},
        {"last_hidden_state": (TensorProto.FLOAT, ["batch", "sequence", 384])},
    )
    return bytes(export.SerializeToString())


def _external() -> bytes:
    model = _onnx({"input": (TensorProto.STRING, [1])}, {"embedding": (TensorProto.FLOAT, [4])})
    tensor = model.graph.initializer.add(name="w", data_type=TensorProto.FLOAT, dims=[1])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    return bytes(model.SerializeToString())


@pytest.mark.parametrize(
    ("content", "says", "remedy"),
    [
        (b"", "empty", "again"),
        (LFS, "Git LFS pointer", "git lfs pull"),
        (b"PK\x03\x04rest", "zip file", "Unpack"),
        (b"<html>404</html>", "not an ONNX file", "again"),
        (tiny_model(8)[:-200], "only a part", "again"),
        (tiny_model(8)[:40], "only a part", "again"),
        (_export(), "plain export without its tokenizer", "model build"),
        (
            _onnx({"input": (TensorProto.STRING, [1])}, {"a": (TensorProto.FLOAT, [4]), "b": (TensorProto.FLOAT, [4])}),
            "has 2 outputs",
            "model build",
        ),
        (_onnx({"input": (TensorProto.STRING, [1])}, {"a": (TensorProto.FLOAT, ["n", "m"])}), "0 outputs", "build"),
        (_external(), "in another file", "model build"),
    ],
    ids=[
        "empty", "pointer", "zip", "a web page", "torn", "torn early", "plain export", "two outputs", "no dimension",
        "external data",
    ],
)  # fmt: skip
def test_onnx_files(tmp_path: Path, content: bytes | onnx.ModelProto, says: str, remedy: str) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    with pytest.raises(ModelInvalid, match=says) as caught:
        inspect_file(path)
    assert remedy in (caught.value.hint or "")


def test_a_folder_where_an_onnx_file_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(ModelInvalid, match="is a folder"):
        inspect_file(tmp_path)


def test_what_is_read_from_a_built_file(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(tiny_model(16, max_tokens=30))
    found = inspect_file(path)
    assert (found.input, found.output, found.dimensions, found.max_tokens) == ("input", "embedding", 16, 30)
    assert isinstance(found.tokenizer, WordPiece)
    assert found.tokenizer.lowercase
    assert found.tokenizer.strip_accents
    assert "##ab" in found.tokenizer.tokens
