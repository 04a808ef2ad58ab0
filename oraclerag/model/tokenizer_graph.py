"""The front of the graph: one string to token ids, cut to the model's limit, the last special token kept."""

from __future__ import annotations

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from oraclerag.model.sentencepiece import BEGIN, END, SHIFT, UNKNOWN, SentencePiece
from oraclerag.model.tokenizer import Tokenizer
from oraclerag.model.wordpiece import SPECIAL_TOKENS, WordPiece

__all__ = ["DOMAIN", "tokenizer_nodes"]

DOMAIN = "ai.onnx.contrib"


def tokenizer_nodes(
    tokenizer: Tokenizer, max_tokens: int, *, text: str, ids: str, mask: str
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Give the nodes from the string tensor ``text`` to the 1-D INT64 tensors ``ids`` and ``mask``."""
    if isinstance(tokenizer, SentencePiece):
        return _pieces(tokenizer, max_tokens, text, ids, mask)
    return _word_pieces(tokenizer, max_tokens, text, ids, mask)


def _word_pieces(
    tokenizer: WordPiece, max_tokens: int, text: str, ids: str, mask: str
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Give the nodes for BERT's own tokenizer.

    The op reads one string per run (two would be a sentence pair), so nothing is ever padded and the token types are
    all zero. It does not truncate in a way that keeps [SEP]; slices do: everything but the last token, of that the
    first ``max_tokens - 1``, then the last token.
    """
    op = helper.make_node(
        "BertTokenizer",
        [text],
        ["all_ids", "all_types", "all_mask"],
        name="tokenizer",
        domain=DOMAIN,
        vocab_file=tokenizer.vocabulary(),
        do_lower_case=int(tokenizer.lowercase),
        do_basic_tokenize=1,
        tokenize_chinese_chars=int(tokenizer.split_chinese),
        strip_accents=int(tokenizer.strip_accents),
        suffix_indicator="##",
        **{f"{token.strip('[]').lower()}_token": token for token in SPECIAL_TOKENS},
    )
    numbers = {"zero": 0, "minus_one": -1, "last_kept": max_tokens - 1, "end": np.iinfo(np.int64).max}
    constants = [numpy_helper.from_array(np.array([value], dtype=np.int64), name) for name, value in numbers.items()]
    nodes = [op]
    for whole, cut in (("all_ids", ids), ("all_mask", mask)):
        nodes += [
            helper.make_node("Slice", [whole, "zero", "minus_one"], [f"{cut}_body"]),
            helper.make_node("Slice", [f"{cut}_body", "zero", "last_kept"], [f"{cut}_head"]),
            helper.make_node("Slice", [whole, "minus_one", "end"], [f"{cut}_tail"]),
            helper.make_node("Concat", [f"{cut}_head", f"{cut}_tail"], [cut], axis=0),
        ]
    return nodes, constants


def _pieces(
    tokenizer: SentencePiece, max_tokens: int, text: str, ids: str, mask: str
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Give the nodes for SentencePiece: its ids become XLM-R's, of which the first ``max_tokens - 2`` are kept."""
    constants = [
        numpy_helper.from_array(np.array([value], dtype=kind), name)
        for name, value, kind in (
            ("best", 0, np.int64),  # the best way to cut, and no other
            ("alpha", 0.0, np.float32),
            ("no", False, np.bool_),
            ("zero", 0, np.int64),
            ("unknown", UNKNOWN, np.int64),
            ("shift", SHIFT, np.int64),
            ("begin", BEGIN, np.int64),
            ("finish", END, np.int64),
            ("most", max_tokens - 2, np.int64),
        )
    ]
    one = helper.make_tensor("one", TensorProto.INT64, [1], [1])
    nodes = [
        helper.make_node(
            "SentencepieceTokenizer",
            [text, "best", "alpha", "no", "no", "no"],
            ["narrow_pieces", "piece_instances"],
            name="tokenizer",
            domain=DOMAIN,
            model=tokenizer.model,
        ),
        helper.make_node("Cast", ["narrow_pieces"], ["pieces"], to=TensorProto.INT64),
        helper.make_node("Equal", ["pieces", "zero"], ["is_unknown"]),
        helper.make_node("Add", ["pieces", "shift"], ["shifted"]),
        helper.make_node("Where", ["is_unknown", "unknown", "shifted"], ["all_ids"]),
        helper.make_node("Slice", ["all_ids", "zero", "most"], ["kept_ids"]),
        helper.make_node("Concat", ["begin", "kept_ids", "finish"], [ids], axis=0),
        helper.make_node("Shape", [ids], ["ids_shape"]),
        helper.make_node("ConstantOfShape", ["ids_shape"], [mask], value=one),
    ]
    return nodes, constants
