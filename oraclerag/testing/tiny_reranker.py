"""A reranker that costs nearly nothing, and still scores a pair of texts by the words that they share."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from oraclerag.testing.tiny_model import tiny_parts

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["tiny_reranker"]


@cache
def tiny_reranker(*, max_tokens: int = 512, seed: int = 0) -> bytes:
    """Give an ONNX model of the form of Oracle's reranking pipeline: two strings → a logit.

    Its inputs are ``first_input`` and ``second_input``, its output is ``output``; the tokenizer is inside and reads
    both texts as one pair, as that of a cross-encoder does. The logit grows from about 0 to 10 with the words that the
    texts share. ``max_tokens`` (at least 3) is where it cuts a pair. About 1 MB; equal arguments give equal bytes.
    """
    import numpy as np
    from onnx import TensorProto, checker, helper, numpy_helper

    from oraclerag.model.assemble import IR_VERSION, OPSET
    from oraclerag.model.tokenizer_graph import DOMAIN
    from oraclerag.model.wordpiece import SPECIAL_TOKENS, WordPiece

    tokens, table = tiny_parts(64, seed)
    tokenizer = WordPiece(tokens)
    constants: dict[str, npt.NDArray[Any]] = {
        "table": table,
        "axis": np.array([0], dtype=np.int64),
        "from": np.array([0], dtype=np.int64),
        "to": np.array([max_tokens], dtype=np.int64),
        "one": np.array([1.0], dtype=np.float32),
        "little": np.array([1e-6], dtype=np.float32),
        "scale": np.array([10.0], dtype=np.float32),
        "column": np.array([1], dtype=np.int64),
    }
    node = helper.make_node
    nodes = [
        node("Concat", ["first_input", "second_input"], ["pair"], axis=0),
        node(
            "BertTokenizer", ["pair"], ["all_ids", "all_types", "all_mask"], domain=DOMAIN,
            vocab_file=tokenizer.vocabulary(), do_lower_case=1, do_basic_tokenize=1, tokenize_chinese_chars=1,
            strip_accents=1, suffix_indicator="##",
            **{f"{token.strip('[]').lower()}_token": token for token in SPECIAL_TOKENS},
        ),
        node("Slice", ["all_ids", "from", "to"], ["ids"]),
        node("Slice", ["all_types", "from", "to"], ["types"]),
        node("Gather", ["table", "ids"], ["words"]),
        node("Cast", ["types"], ["second"], to=TensorProto.FLOAT),
        node("Sub", ["one", "second"], ["first"]),
    ]  # fmt: skip
    for text in ("first", "second"):
        nodes += [
            node("Unsqueeze", [text, "column"], [f"{text}_weights"]),
            node("Mul", ["words", f"{text}_weights"], [f"{text}_words"]),
            node("ReduceSum", [f"{text}_words", "axis"], [f"{text}_sum"], keepdims=0),
            node("ReduceL2", [f"{text}_sum"], [f"{text}_length"], keepdims=1),
        ]
    nodes += [
        node("Mul", ["first_sum", "second_sum"], ["products"]),
        node("ReduceSum", ["products", "axis"], ["product"], keepdims=1),
        node("Mul", ["first_length", "second_length"], ["lengths"]),
        node("Max", ["lengths", "little"], ["divisor"]),
        node("Div", ["product", "divisor"], ["cosine"]),
        node("Mul", ["cosine", "scale"], ["output"]),
    ]
    graph = helper.make_graph(
        nodes,
        "reranker",
        [helper.make_tensor_value_info(name, TensorProto.STRING, [1]) for name in ("first_input", "second_input")],
        [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(
        graph,
        producer_name="oraclerag",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)],
    )
    checker.check_model(model)
    data: bytes = model.SerializeToString(deterministic=True)
    return data
