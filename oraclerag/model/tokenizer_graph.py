"""The front of the graph: one string to token ids, cut to the model's limit, final [SEP] kept."""

from __future__ import annotations

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from oraclerag.model.wordpiece import SPECIAL_TOKENS, WordPiece

__all__ = ["DOMAIN", "tokenizer_nodes"]

DOMAIN = "ai.onnx.contrib"


def tokenizer_nodes(
    tokenizer: WordPiece, max_tokens: int, *, text: str, ids: str, mask: str
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Give the nodes from the string tensor ``text`` to the 1-D INT64 tensors ``ids`` and ``mask``.

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
