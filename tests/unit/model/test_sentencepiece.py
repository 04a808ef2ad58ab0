"""BERT encoders that read XLM-R's tokens, such as multilingual-e5-small: built, counted and refused."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import onnxruntime_extensions
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from oraclerag.errors import ModelInvalid
from oraclerag.model.build import build
from oraclerag.model.onnx_file import inspect_file
from oraclerag.model.sentencepiece import PieceCounter, SentencePiece
from oraclerag.model.tokenizer import restored
from oraclerag.model.tokenizer_graph import DOMAIN, tokenizer_nodes
from oraclerag.model.tokens import token_counter
from oraclerag.model.window import window
from tests.unit.model.folders import run, write_folder
from tests.unit.model.reference import Reference

NORMAL, UNKNOWN, CONTROL = 1, 2, 3
PIECES = [
    ("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL), ("▁", -3.0, NORMAL),
    *((word, -2.0 - 0.1 * at, NORMAL) for at, word in enumerate(
        ["▁el", "▁pago", "▁llegó", "▁tarde", "▁the", "▁invoice", "mente", "▁ni", "ño", "日本", "語", "▁query", ":", "▁<", "s>"]
    )),
    *((letter, -5.0, NORMAL) for letter in "abcdefghijklmnopqrstuvwxyzéñó<>/"),
]  # fmt: skip


def sentencepiece(
    pieces: list[tuple[str, float, int]] = PIECES,
    *,
    kind: int = 1,
    collapsed: bool = True,
    prefixed: bool = True,
    table: bytes = b"",
) -> bytes:
    """Write a model of SentencePiece; ``table`` is that of the letters that are replaced."""
    written = b"".join(
        _part(1, _part(1, text.encode()) + _number(2, struct.pack("<f", score), 5) + _number(3, _varint(what), 0))
        for text, score, what in pieces
    )
    trainer = _number(3, _varint(kind), 0)
    normalizer = (
        _part(1, b"identity")
        + (_part(2, table) if table else b"")
        + b"".join(_number(at, _varint(int(on)), 0) for at, on in ((3, prefixed), (4, collapsed), (5, True)))
    )
    return written + _part(2, trainer) + _part(3, normalizer)


def _varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found, value = found + bytes([value & 0x7F | 0x80]), value >> 7
    return found + bytes([value])


def _number(at: int, value: bytes, wire: int) -> bytes:
    return _varint(at << 3 | wire) + value


def _part(at: int, value: bytes) -> bytes:
    return _number(at, _varint(len(value)) + value, 2)


def write(folder: Path, model: bytes | None = None, **changes: Any) -> Path:
    """A folder as multilingual-e5-small has it."""
    write_folder(folder, **({"vocab_size": len(PIECES) + 2} | changes))
    (folder / "tokenizer.json").unlink()
    (folder / "sentencepiece.bpe.model").write_bytes(sentencepiece() if model is None else model)
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "XLMRobertaTokenizer"}))
    return folder


def graph(tokenizer: SentencePiece, limit: int = 1_000_000) -> Callable[[str], list[int]]:
    """The tokens as the graph makes them."""
    nodes, constants = tokenizer_nodes(tokenizer, limit, text="input", ids="ids", mask="mask")
    outputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n"]) for name in ("ids", "mask")]
    inside = helper.make_graph(
        nodes, "tokens", [helper.make_tensor_value_info("input", TensorProto.STRING, [1])], outputs, constants
    )
    model = helper.make_model(
        inside, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    )
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(onnxruntime_extensions.get_library_path())
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def ids(text: str) -> list[int]:
        found, mask = session.run(["ids", "mask"], {"input": np.array([text], dtype=object)})
        assert mask.tolist() == [1] * len(found)
        return [int(one) for one in found]

    return ids


IDS, COUNTER = graph(SentencePiece(sentencepiece())), PieceCounter(SentencePiece(sentencepiece()))
LETTERS = st.one_of(
    st.sampled_from("el pago llegó tarde niño 日本語 <s></s>▁  "),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
)


@settings(max_examples=400, deadline=None)
@given(st.text(LETTERS, max_size=40))
def test_the_count_is_that_of_the_graph(text: str) -> None:
    assert COUNTER.count(text) == len(IDS(text))


BLANKS = [
    *("0 \n", "\n0", "\n 0", "0\t", " ", "  ", "\n", " \n ", "\u00a00", "\u00a0 0", "el  pago", "el   pago  "),
    *("el pago ", "  el pago", "el \n pago", "el \r\n pago \r\n", "\u3000el\u2028 pago", "1\U0010fffe1"),
    *("▁", "▁▁", "▁el", "▁ el", " ▁el", "el▁", "el ▁ ", "el▁▁pago", "▁<s>", "☕ ☕", "☕▁☕"),
]  # "▁" is the letter that SentencePiece writes for a blank


@pytest.mark.parametrize("text", BLANKS, ids=ascii)
def test_blanks_are_counted_as_the_graph_keeps_and_drops_them(text: str) -> None:
    assert COUNTER.count(text) == len(IDS(text))


@pytest.mark.parametrize("pieces", [[*PIECES, ("▁el▁pago", -1.0, NORMAL)], [*PIECES[:3], *PIECES[4:]]])
@pytest.mark.parametrize("text", ["el pago", "el pago el pago ☕ ☕", "☕ 0", " "])
def test_pieces_that_go_beyond_a_word_are_counted(pieces: list[tuple[str, float, int]], text: str) -> None:
    tokenizer = SentencePiece(sentencepiece(pieces))
    assert PieceCounter(tokenizer).count(text) == len(graph(tokenizer)(text))


def test_ids_are_those_of_xlm_r() -> None:
    ids = graph(SentencePiece(sentencepiece()))
    names = [name for name, _, _ in PIECES]
    assert ids("el pago") == [0, names.index("▁el") + 1, names.index("▁pago") + 1, 2]
    assert ids("☕") == [0, names.index("▁") + 1, 3, 2], "what is not known is 3"
    assert ids("") == [0, 2]
    short = graph(SentencePiece(sentencepiece()), 4)
    assert short("el pago llegó tarde") == [0, names.index("▁el") + 1, names.index("▁pago") + 1, 2]


@pytest.mark.parametrize("text", ["el pago llegó tarde", "query: niño", "☕ 日本語 the invoice", ""])
def test_a_folder_is_built_and_gives_what_a_plain_computation_gives(tmp_path: Path, text: str) -> None:
    folder = write(tmp_path / "e5")
    file = tmp_path / "e5.onnx"
    built = build(folder, file, max_tokens=12, query_prefix="query: ", passage_prefix="passage: ")
    assert (built.dimensions, built.max_tokens) == (24, 12)
    found = inspect_file(file)
    assert found.tokenizer == SentencePiece(sentencepiece())
    assert (found.query_prefix, found.passage_prefix, found.max_tokens) == ("query: ", "passage: ", 12)
    write_folder(tmp_path / "weights", vocab_size=len(PIECES) + 2)  # the same, with a tokenizer that it can read
    reference: Any = Reference(tmp_path / "weights", limit=12)
    reference.ids = graph(SentencePiece(sentencepiece()), 12)
    assert run(file.read_bytes(), text) == pytest.approx(reference.embed(text), abs=1e-5)


def test_the_tokenizer_comes_back_from_the_database() -> None:
    tokenizer = SentencePiece(sentencepiece())
    again = restored(tokenizer.vocabulary(), json.loads(tokenizer.options()))
    assert again == tokenizer
    counter = token_counter(again)
    assert counter.exact
    assert counter.count("el pago") == 4
    assert str(len(tokenizer.model)) not in repr(tokenizer)
    for vocabulary in ("", "%%", "AAAA"):
        with pytest.raises(ModelInvalid, match="cannot be read"):
            restored(vocabulary, {"type": "SentencePiece"})


def test_what_a_folder_reads_is_known_without_a_database(tmp_path: Path) -> None:
    found = window(str(write(tmp_path / "e5")))
    assert (found.counter.count("el pago"), found.max_tokens) == (4, 48)


def _class(folder: Path) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "CamembertTokenizer"}))


def _another(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(b"x")


REFUSED: dict[str, tuple[bytes | None, Callable[[Path], object], str]] = {
    "another class": (None, _class, "CamembertTokenizer"),
    "another file": (None, _another("spiece.model"), "spiece.model"),
    "byte pairs": (sentencepiece(kind=2), lambda _: None, "unigram"),
    "other first pieces": (sentencepiece(PIECES[1:]), lambda _: None, "does not begin with"),
    "blanks as they are": (sentencepiece(collapsed=False), lambda _: None, "blanks"),
    "no blank before": (sentencepiece(prefixed=False), lambda _: None, "blanks"),
    "half a file": (sentencepiece()[:-3], lambda _: None, "cannot be read"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\n", lambda _: None, "cannot be read|does not begin"),
    "too many pieces": (sentencepiece([*PIECES, *[(f"x{at}", -9.0, 1) for at in range(9)]]), lambda _: None, "vocab"),
}


@pytest.mark.parametrize(("model", "change", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_built_is_refused(
    tmp_path: Path, model: bytes | None, change: Callable[[Path], object], message: str
) -> None:
    folder = write(tmp_path / "e5", model)
    change(folder)
    with pytest.raises(ModelInvalid, match=message):
        build(folder, tmp_path / "e5.onnx")
