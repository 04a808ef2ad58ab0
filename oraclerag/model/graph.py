"""The encoder as an ONNX graph: token ids to one normalised vector.

Written with ``onnx.helper`` from the numbers of config.json. One text has one sequence without padding, so tensors have
no batch axis: ``[tokens, hidden]``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

from oraclerag.errors import ModelInvalid
from oraclerag.model.weights import BertShape, Weights

__all__ = ["ACTIVATIONS", "Encoder"]

ACTIVATIONS = frozenset({"gelu", "gelu_new", "gelu_pytorch_tanh", "relu"})


class Encoder:
    """Collects the nodes and weights of one encoder.

    ``build(ids, mask, output)`` writes: embeddings → layers → mean over the mask, or the first token
    → L2 norm → FLOAT32 ``[hidden]``.
    ``max_tokens`` rows of the position table are kept: the ids are cut before they get here.
    """

    def __init__(self, shape: BertShape, weights: Weights, max_tokens: int) -> None:
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self._shape = shape
        self._weights = weights
        self._max_tokens = max_tokens
        self._count = 0

    def build(self, ids: str, mask: str, output: str, *, pooling: str = "mean") -> None:
        """Write the whole encoder; ``pooling`` is ``mean`` or ``cls``."""
        state = self._embed(ids)
        for number in range(self._shape.layers):
            state = self._layer(f"encoder.layer.{number}", state)
        self._normalise(self._mean(state, mask) if pooling == "mean" else self._first(state), output)

    def _embed(self, ids: str) -> str:
        word = self._keep("embeddings.word_embeddings.weight")
        # Token type 0 is added to every position, so it is folded into the position table.
        table = self._weights["embeddings.position_embeddings.weight"][: self._max_tokens]
        position = self._tensor("positions", table + self._weights["embeddings.token_type_embeddings.weight"][0])
        words = self._node("Gather", word, ids, axis=0)
        length = self._node("Shape", ids)
        positions = self._node("Slice", position, self._integers("from_zero", 0), length)
        return self._norm("embeddings.LayerNorm", self._node("Add", words, positions))

    def _layer(self, layer: str, state: str) -> str:
        shape = self._shape
        size = shape.hidden // shape.heads
        attention = f"{layer}.attention"
        parts = ("query", "key", "value")
        joined = np.concatenate([self._weights[f"{attention}.self.{part}.weight"] for part in parts]).T
        bias = np.concatenate([self._weights[f"{attention}.self.{part}.bias"] for part in parts])
        # The scale 1/√size goes into the query's weights: one operation less per layer.
        scale = np.ones(3 * shape.hidden, dtype=np.float32)
        scale[: shape.hidden] = 1 / math.sqrt(size)
        product = self._node("MatMul", state, self._tensor(f"{attention}.weight", joined * scale))
        product = self._node("Add", product, self._tensor(f"{attention}.bias", bias * scale))
        split = self._node("Reshape", product, self._integers("heads", -1, 3, shape.heads, size))
        query = self._head(split, 0, (1, 0, 2))
        key = self._head(split, 1, (1, 2, 0))
        value = self._head(split, 2, (1, 0, 2))
        weight = self._node("Softmax", self._node("MatMul", query, key), axis=-1)
        context = self._node("Transpose", self._node("MatMul", weight, value), perm=[1, 0, 2])
        context = self._node("Reshape", context, self._integers("joined", -1, shape.hidden))
        state = self._norm(
            f"{attention}.output.LayerNorm",
            self._node("Add", self._linear(f"{attention}.output.dense", context), state),
        )
        inner = self._activate(self._linear(f"{layer}.intermediate.dense", state))
        return self._norm(
            f"{layer}.output.LayerNorm", self._node("Add", self._linear(f"{layer}.output.dense", inner), state)
        )

    def _head(self, split: str, number: int, order: tuple[int, ...]) -> str:
        part = self._node("Gather", split, self._scalar(f"part_{number}", number), axis=1)
        return self._node("Transpose", part, perm=list(order))

    def _linear(self, name: str, state: str) -> str:
        weight = self._tensor(f"{name}.weight", self._weights[f"{name}.weight"].T)
        return self._node("Add", self._node("MatMul", state, weight), self._keep(f"{name}.bias"))

    def _norm(self, name: str, state: str) -> str:
        return self._node(
            "LayerNormalization",
            state,
            self._keep(f"{name}.weight"),
            self._keep(f"{name}.bias"),
            axis=-1,
            epsilon=self._shape.epsilon,
        )

    def _activate(self, state: str) -> str:
        kind = self._shape.activation
        if kind == "relu":
            return self._node("Relu", state)
        half = self._float("half", 0.5)
        one = self._float("one", 1.0)
        if kind == "gelu":
            inner = self._node("Erf", self._node("Div", state, self._float("root_two", math.sqrt(2.0))))
        elif kind in ACTIVATIONS:
            cube = self._node("Mul", self._node("Mul", state, state), state)
            sum_ = self._node("Add", state, self._node("Mul", cube, self._float("tanh_cube", 0.044715)))
            inner = self._node("Tanh", self._node("Mul", sum_, self._float("tanh_scale", math.sqrt(2.0 / math.pi))))
        else:
            raise ModelInvalid(
                f"The activation {kind!r} of config.json is not supported.",
                hint=f"Supported: {', '.join(sorted(ACTIVATIONS))}.",
            )
        return self._node("Mul", self._node("Mul", state, self._node("Add", inner, one)), half)

    def _mean(self, state: str, mask: str) -> str:
        weights = self._node("Cast", mask, to=TensorProto.FLOAT)
        column = self._node("Unsqueeze", weights, self._integers("axis_one", 1))
        axis = self._integers("axis_zero", 0)
        total = self._node("ReduceSum", self._node("Mul", state, column), axis, keepdims=0)
        return self._node("Div", total, self._node("ReduceSum", weights, axis, keepdims=0))

    def _first(self, state: str) -> str:
        return self._node("Gather", state, self._scalar("part_0", 0), axis=0)

    def _normalise(self, vector: str, output: str) -> None:
        axis = self._integers("axis_zero", 0)
        square = self._node("ReduceSum", self._node("Mul", vector, vector), axis, keepdims=1)
        # The floor is that of torch.nn.functional.normalize: a zero vector stays zero instead of becoming NaN.
        length = self._node("Max", self._node("Sqrt", square), self._float("smallest", 1e-12))
        self.nodes.append(helper.make_node("Div", [vector, length], [output], name="normalise"))

    def _node(self, op: str, *inputs: str, **attributes: Any) -> str:
        self._count += 1
        output = f"t{self._count}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=f"{op}_{self._count}", **attributes))
        return output

    def _keep(self, name: str) -> str:
        return self._tensor(name, self._weights[name])

    def _tensor(self, name: str, values: NDArray[np.float32]) -> str:
        return self._constant(name, np.ascontiguousarray(values, dtype=np.float32))

    def _integers(self, name: str, *values: int) -> str:
        return self._constant(name, np.array(values, dtype=np.int64))

    def _scalar(self, name: str, value: int) -> str:
        return self._constant(name, np.array(value, dtype=np.int64))

    def _float(self, name: str, value: float) -> str:
        return self._constant(name, np.array(value, dtype=np.float32))

    def _constant(self, name: str, values: NDArray[np.float32] | NDArray[np.int64]) -> str:
        if all(known.name != name for known in self.initializers):
            self.initializers.append(numpy_helper.from_array(values, name))
        return name
