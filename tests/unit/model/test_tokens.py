"""Tokens are counted as the op in the graph counts them, and never too low where the vocabulary is not known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnxruntime
import onnxruntime_extensions
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from oraclerag.errors import ModelInvalid
from oraclerag.model.tokenizer_graph import DOMAIN, tokenizer_nodes
from oraclerag.model.tokens import TokenBound, TokenCounter, token_counter
from oraclerag.model.wordpiece import WordPiece
from tests.unit.model.folders import TOKENS

CASED = WordPiece((*TOKENS, "The", "Ñ", "##É"), lowercase=False, strip_accents=False, split_chinese=False)
UNCASED = WordPiece(tuple(TOKENS))
ACCENTS = WordPiece((*TOKENS, "ř", "##ř", "й", "и"), strip_accents=False)


def _graph(tokenizer: WordPiece) -> Callable[[str], int]:
    nodes, constants = tokenizer_nodes(tokenizer, 1_000_000, text="input", ids="ids", mask="mask")
    graph = helper.make_graph(
        nodes,
        "tokens",
        [helper.make_tensor_value_info("input", TensorProto.STRING, [1])],
        [helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])],
        constants,
    )
    model = helper.make_model(
        graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)]
    )
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(onnxruntime_extensions.get_library_path())
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda text: len(session.run(["ids"], {"input": np.array([text], dtype=object)})[0])


GRAPHS = [(tokenizer, _graph(tokenizer), TokenCounter(tokenizer)) for tokenizer in (CASED, UNCASED, ACCENTS)]

# Letters of the vocabulary and the borders of the op's tables are met often; U+0000 ends a string for onnxruntime.
_LETTERS = st.one_of(
    st.sampled_from(
        "the cat sat inG [SEP]##"
        "éÉñÑřŘйИЁßẞİıǅ日本゠ー豈\u0301\u036f\u0370\u2019“”«»¿¡…‐\u2010\u2027\u2028\u202f\u00a0\u00ad\u200b\u200d\ufe0f\u3000"
        "☕✅🎉\U0002a6de\U0002ceb0\U000e0001\ue000\uffff\x7f\x85\x0b\t\n\rΣσςΜμ"
    ),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
)


@settings(max_examples=300, deadline=None)
@given(st.text(_LETTERS, max_size=60))
def test_the_count_is_that_of_the_graph(text: str) -> None:
    for _, graph, counter in GRAPHS:
        assert counter.count(text) == graph(text)


@settings(max_examples=300, deadline=None)
@given(st.text(_LETTERS, max_size=60))
def test_the_bound_is_never_lower_than_the_count(text: str) -> None:
    for _, _, counter in GRAPHS:
        assert TokenBound().count(text) >= counter.count(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 2),
        (" \t\n", 2),
        ("the", 3),
        ("THE", 3),
        ("the cat.", 5),
        ("xyz", 5),
        ("niño", 6),  # the accent goes first, so the token niño is never met: n ##i ##n ##o
        ("a🎉", 4),  # a and [UNK]: what was found of a word stays
        ("🎉a", 3),
        ("a" * 100, 102),
        ("a" * 101, 3),  # one [UNK]
        ("[SEP]", 7),
        ("日本語", 5),
    ],
)
def test_examples(text: str, count: int) -> None:
    assert TokenCounter(UNCASED).count(text) == count


def test_whether_a_count_is_exact_is_said() -> None:
    assert token_counter(UNCASED).exact
    assert not token_counter(None).exact


def test_counts_stay_right_when_the_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oraclerag.model.tokens._KEPT_WORDS", 3)
    counter = TokenCounter(UNCASED)
    for blanks in ("", " ", "  "):  # other texts of the same words
        assert [counter.count(word + blanks) for word in ("the", "xy", "cat", "abc", "sat", "on")] == [3, 4, 3, 5, 3, 3]


def test_ascii_of_known_words_counts_as_ever() -> None:
    counter, text = TokenCounter(UNCASED), "The cat\x0bsat.\r\nOn\tit, \x01 [SEP]\x7f"
    for blanks in ("", " ", "  "):
        assert counter.count(text + blanks) == GRAPHS[1][1](text)


def test_a_tokenizer_survives_being_stored() -> None:
    import json

    for tokenizer in (CASED, UNCASED, ACCENTS):
        assert WordPiece.restored(tokenizer.vocabulary(), json.loads(tokenizer.options())) == tokenizer


@pytest.mark.parametrize("options", [{}, {"type": "BPE"}, {"type": "WordPiece", "lowercase": "yes"}])
def test_a_stored_tokenizer_that_cannot_be_read_is_said(options: dict[str, object]) -> None:
    with pytest.raises(ModelInvalid, match="stored tokenizer"):
        WordPiece.restored("\n".join(TOKENS), options)


@pytest.mark.parametrize(
    ("tokens", "says"),
    [
        (("a", "b"), r"no \[UNK\]"),
        ((*TOKENS, "the"), "twice"),
        ((*TOKENS, ""), "empty"),
        ((*TOKENS, "a\nb"), "line break"),
    ],
)
def test_a_vocabulary_that_would_shift_ids_is_refused(tokens: tuple[str, ...], says: str) -> None:
    with pytest.raises(ModelInvalid, match=says):
        WordPiece(tokens)
