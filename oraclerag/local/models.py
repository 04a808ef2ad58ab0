"""ONNX models that carry their tokenizer: checked as Oracle checks them at loading, run with onnxruntime.

A graph with a tokenizer inside reads one string per run, so a batch is many runs; a few threads share them.
"""

from __future__ import annotations

import hashlib
import os
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["DEFAULT_METADATA", "OnnxModels"]

DEFAULT_METADATA: Mapping[str, Any] = {
    "function": "embedding",
    "embeddingOutput": "embedding",
    "input": {"input": ["DATA"]},
}

_RERANKER = {"first_input": ["DATA1"], "second_input": ["DATA2"]}
"""The inputs of a model that scores pairs of texts, as Oracle's own pipeline names them."""

_MAX_BYTES = 1_000_000_000
_KNOWN_FIELDS = frozenset(
    {
        "function", "embeddingOutput", "input", "defaultOnNull", "suitableDistanceMetrics", "normalization",
        "maxSequenceLength", "pooling", "modelDescription", "languages", "tokenizer", "embeddingLayer",
        "regressionOutput",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Model:
    session: InferenceSession
    inputs: tuple[str, ...]
    output: str


class OnnxModels:
    """Keeps the loaded models of one process, the least recently used ones dropped beyond ``keep``.

    ``threads`` is the number of texts embedded at the same time, each by one thread of onnxruntime; default: the
    processors this process may use.
    """

    def __init__(self, *, threads: int | None = None, keep: int = 4) -> None:
        self._threads = threads or len(_processors())
        self._keep = keep
        self._models: OrderedDict[str, _Model] = OrderedDict()
        self._guard = threading.Lock()
        self._loading: dict[str, threading.Lock] = {}
        self._pool: ThreadPoolExecutor | None = None

    def check(self, data: bytes, metadata: Mapping[str, Any]) -> int:
        """Load a model and give its dimension; an :class:`OraError` says why it cannot be loaded.

        A reranker, of function regression over two texts, has one: its score.
        ``metadata`` is the JSON of LOAD_ONNX_MODEL; an empty one means the documented default.
        """
        fields = metadata or DEFAULT_METADATA
        unknown = sorted(set(fields) - _KNOWN_FIELDS)
        if unknown:
            raise OraError(3001, f'unimplemented feature: field "{unknown[0]}" in the JSON metadata of an ONNX model')
        regression = fields.get("function") == "regression"
        needed = ("function", "regressionOutput", "input") if regression else tuple(DEFAULT_METADATA)
        for name in needed:
            if name not in fields:
                raise OraError(3001, f'unimplemented feature: JSON metadata of an ONNX model without "{name}"')
        if fields["function"] not in ("embedding", "regression"):
            raise OraError(3001, f"unimplemented feature: ONNX models of function {fields['function']!r}")
        if regression and fields["input"] != _RERANKER:
            raise OraError(3001, "unimplemented feature: ONNX models of function 'regression' but of pairs of texts")
        if not 0 < len(data) <= _MAX_BYTES:
            raise OraError(54400, "Invalid BLOB size")
        session = _open(data)
        dimension = _check_pairs(session, fields) if regression else _check_tensors(session, fields)
        with self._guard:
            self._remember(hashlib.sha256(data).hexdigest(), _model(session))
        return dimension

    def embed(self, digest: str, load: Callable[[], bytes], texts: Sequence[str]) -> list[array[float]]:
        """Embed texts, in order.

        ``digest`` is the SHA-256 of the model in hexadecimal, the key under which it is kept; ``load`` gives its bytes
        when it is not loaded. Each result is an ``array('f')``. Of a reranker a text is a pair, ``LENGTH:FIRST SECOND``
        without the blank, and the result its score.
        """
        if not texts:
            return []
        model = self._get(digest, load)
        if len(texts) == 1 or self._threads == 1:
            return [_run(model, text) for text in texts]
        with self._guard:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embed")
            pool = self._pool
        return list(pool.map(lambda text: _run(model, text), texts))

    def close(self) -> None:
        """Forget the models and end the threads."""
        with self._guard:
            pool, self._pool = self._pool, None
            self._models.clear()
        if pool is not None:
            pool.shutdown()

    def _get(self, digest: str, load: Callable[[], bytes]) -> _Model:
        with self._guard:
            found = self._models.get(digest)
            if found is not None:
                self._models.move_to_end(digest)
                return found
            lock = self._loading.setdefault(digest, threading.Lock())
        with lock:  # two sessions that need the same model load it once
            with self._guard:
                found = self._models.get(digest)
            if found is None:
                found = _model(_open(load()))
                with self._guard:
                    self._remember(digest, found)
                    self._loading.pop(digest, None)
            return found

    def _remember(self, digest: str, model: _Model) -> None:
        self._models[digest] = model
        self._models.move_to_end(digest)
        while len(self._models) > self._keep:
            self._models.popitem(last=False)


def _processors() -> Sequence[int]:
    affinity = getattr(os, "sched_getaffinity", None)
    return sorted(affinity(0)) if affinity is not None else range(os.cpu_count() or 1)


def _open(data: bytes) -> InferenceSession:
    try:
        import onnxruntime
        import onnxruntime_extensions
    except ImportError as error:
        raise OraError(3001, "unimplemented feature: ONNX models without the extra oraclerag[local]") from error
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(onnxruntime_extensions.get_library_path())
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # a refused model is reported by the exception, not on the server's stderr
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except (state.InvalidProtobuf, state.InvalidGraph, state.InvalidArgument, state.Fail, state.RuntimeException,
            state.NotImplemented, state.NoSuchFile) as error:  # fmt: skip
        raise OraError(54401, f"ONNX Runtime failed to load the model: {_first_line(error)}") from error


def _check_tensors(session: InferenceSession, fields: Mapping[str, Any]) -> int:
    """Check in Oracle's order as far as it is known: shapes of the tensors, names in the metadata, the output."""
    inputs = {tensor.name: tensor for tensor in session.get_inputs()}
    outputs = {tensor.name: tensor for tensor in session.get_outputs()}
    for tensor in [*inputs.values(), *outputs.values()]:
        variable = sum(not isinstance(size, int) for size in tensor.shape)
        large = sum(isinstance(size, int) and size > 1 for size in tensor.shape)
        if variable > 1:
            raise OraError(54426, f'Tensor "{tensor.name}" contains multiple dimensions ({variable}) of variable size.')
        if large > 1:
            raise OraError(54427, f'Tensor "{tensor.name}" contains multiple dimensions ({large}) greater than one.')
        if any(isinstance(size, int) and size < 1 for size in tensor.shape):
            raise OraError(
                54425, f'Tensor "{tensor.name}" contains a dimension whose size is either zero or less than -1.'
            )
    described = fields["input"]
    if not isinstance(described, Mapping):
        raise OraError(54408, 'The "input" field in the JSON metadata is not a model input.')
    for name, attributes in described.items():
        if name not in inputs:
            raise OraError(54408, f'The "input.{name}" field in the JSON metadata is not a model input.')
        if not isinstance(attributes, list) or len(attributes) != 1:
            count = len(attributes) if isinstance(attributes, list) else 0
            raise OraError(
                54420,
                f'Incorrect number of elements in the "input.{name}" array in the JSON metadata '
                f"(JSON: {count}, model: 1)",
            )
        if attributes != ["DATA"]:
            raise OraError(3001, "unimplemented feature: ONNX models whose input attribute has another name than DATA")
    output = fields["embeddingOutput"]
    if output not in outputs:
        raise OraError(54413, f'Cannot find model output "{output}", specified by "embeddingOutput"')
    if len(inputs) != 1 or len(outputs) != 1:
        raise OraError(3001, "unimplemented feature: ONNX models with more than one input or output")
    text = next(iter(inputs.values()))
    if text.type != "tensor(string)":
        raise OraError(54424, f'The type of the tensor "{text.name}" is not supported.')
    vector = outputs[output]
    if vector.type != "tensor(float)":
        raise OraError(54424, f'The type of the tensor "{output}" is not supported.')
    # [n], [1, n] and [batch, n] are all one dimension of fixed size to Oracle: a 1 does not count.
    sizes = [size for size in vector.shape if isinstance(size, int) and size > 1]
    if len(sizes) != 1:
        raise OraError(
            54423,
            f'Tensor "{output}" has an invalid number of dimensions ({len(sizes)}) of fixed size for an embedding '
            "output.",
        )
    return int(sizes[0])


def _check_pairs(session: InferenceSession, fields: Mapping[str, Any]) -> int:
    inputs = {tensor.name: tensor for tensor in session.get_inputs()}
    outputs = {tensor.name: tensor for tensor in session.get_outputs()}
    for name in _RERANKER:
        if name not in inputs:
            raise OraError(54408, f'The "input.{name}" field in the JSON metadata is not a model input.')
    output = fields["regressionOutput"]
    if output not in outputs:
        raise OraError(54413, f'Cannot find model output "{output}", specified by "regressionOutput"')
    if len(inputs) != len(_RERANKER) or len(outputs) != 1:
        raise OraError(3001, "unimplemented feature: ONNX models with more inputs or outputs than the metadata name")
    for tensor in (*inputs.values(), outputs[output]):
        if tensor.type != ("tensor(float)" if tensor.name == output else "tensor(string)"):
            raise OraError(54424, f'The type of the tensor "{tensor.name}" is not supported.')
        if sum(not isinstance(size, int) for size in tensor.shape) > 1:
            raise OraError(54426, f'Tensor "{tensor.name}" contains multiple dimensions of variable size.')
        if any(isinstance(size, int) and size != 1 for size in tensor.shape):
            raise OraError(3001, f'unimplemented feature: a tensor "{tensor.name}" of more than one value for a row')
    return 1


def _model(session: InferenceSession) -> _Model:
    inputs = tuple(tensor.name for tensor in session.get_inputs())
    return _Model(session, tuple(_RERANKER) if set(inputs) == set(_RERANKER) else inputs, session.get_outputs()[0].name)


def _values(model: _Model, text: str) -> list[str]:
    if len(model.inputs) == 1:
        return [text]
    length, mark, both = text.partition(":")
    if not mark or not length.isdecimal():
        raise OraError(40290, "model incompatible with data mining function")
    return [both[: int(length)], both[int(length) :]]


def _run(model: _Model, text: str) -> array[float]:
    import numpy as np
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    values = _values(model, text)
    try:
        given = {name: np.array([value], dtype=object) for name, value in zip(model.inputs, values, strict=True)}
        (vector,) = model.session.run([model.output], given)
    except (state.InvalidArgument, state.Fail, state.RuntimeException) as error:
        # What onnxruntime says names nodes and shapes, not the text.
        raise OraError(40101, f"Data Mining System Error ONNX Runtime: {_first_line(error)}") from error
    numbers = array("f")
    numbers.frombytes(np.ascontiguousarray(vector, dtype=np.float32).tobytes())
    return numbers


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:400]
