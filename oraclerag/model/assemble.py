"""One ONNX file from its parts: tokenizer, encoder, pooling; named and versioned as Oracle can load it."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import TensorProto, checker, helper

from oraclerag.errors import ModelInvalid
from oraclerag.model.graph import Encoder
from oraclerag.model.onnx_file import MAX_BYTES
from oraclerag.model.tokenizer import Tokenizer
from oraclerag.model.tokenizer_graph import DOMAIN, tokenizer_nodes
from oraclerag.model.weights import BertShape, Weights

__all__ = ["INPUT", "IR_VERSION", "OPSET", "OUTPUT", "assemble"]

INPUT = "input"  # the tensor names that the default metadata of DBMS_VECTOR expect
OUTPUT = "embedding"
OPSET = 17  # the first with LayerNormalization; the documentation names no upper bound, so nothing newer is used
IR_VERSION = 8  # the one that came with opset 17


def assemble(
    tokenizer: Tokenizer,
    shape: BertShape,
    weights: Weights,
    *,
    max_tokens: int,
    pooling: str = "mean",
    properties: Mapping[str, str] | None = None,
) -> bytes:
    """Give the bytes of the model: STRING[1] ``input`` → FLOAT32[hidden] ``embedding``.

    ``max_tokens`` counts [CLS] and [SEP], or <s> and </s>; longer texts are cut to it inside the graph. ``pooling`` is
    ``mean`` or ``cls``. ``properties`` are added to the file's own metadata. Raises ModelInvalid when the file would be
    larger than Oracle loads.
    """
    if shape.vocabulary < tokenizer.size:
        raise ModelInvalid(
            f"The vocabulary has {tokenizer.size} tokens, the word table {shape.vocabulary} rows.",
            hint="Take tokenizer and weights from the same model.",
        )
    nodes, constants = tokenizer_nodes(tokenizer, max_tokens, text=INPUT, ids="ids", mask="mask")
    encoder = Encoder(shape, weights, max_tokens)
    encoder.build("ids", "mask", OUTPUT, pooling=pooling)
    graph = helper.make_graph(
        nodes + encoder.nodes,
        "sentence_embedding",
        [helper.make_tensor_value_info(INPUT, TensorProto.STRING, [1])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [shape.hidden])],
        constants + encoder.initializers,
    )
    model = helper.make_model(
        graph,
        producer_name="oraclerag",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)],
    )
    helper.set_model_props(
        model,
        {
            "oraclerag.dimensions": str(shape.hidden),
            "oraclerag.max_tokens": str(max_tokens),
            "oraclerag.tokenizer": tokenizer.options(),
            **(properties or {}),
        },
    )
    checker.check_model(model)
    data: bytes = model.SerializeToString(deterministic=True)
    if len(data) > MAX_BYTES:
        raise ModelInvalid(
            f"The model would have {len(data):,} bytes; Oracle Database loads up to {MAX_BYTES:,}.",
            hint="Use a smaller model.",
        )
    return data
