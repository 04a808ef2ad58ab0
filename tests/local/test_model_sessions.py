"""ONNX models in the local database: what is refused with which number, and that vectors come back in order."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from onnx import TensorProto, helper

from oraclerag.local.interface import OraError
from oraclerag.local.models import DEFAULT_METADATA, OnnxModels
from oraclerag.testing import tiny_model


@pytest.fixture
def models() -> Iterator[OnnxModels]:
    found = OnnxModels()
    yield found
    found.close()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _graph(
    *,
    inputs: dict[str, tuple[int, list[Any]]],
    outputs: dict[str, tuple[int, list[Any]]],
) -> bytes:
    """A model whose outputs are constants, so that any declared shape can be had."""
    nodes = []
    for name, (kind, shape) in outputs.items():
        sizes = [size if isinstance(size, int) else 2 for size in shape]
        value = helper.make_tensor(f"{name}_value", kind, sizes, [0] * math.prod(sizes))
        nodes.append(helper.make_node("Constant", [], [name], value=value))
    graph = helper.make_graph(
        nodes,
        "constant",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in outputs.items()],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    return bytes(model.SerializeToString())


STRING, FLOAT, INT64 = TensorProto.STRING, TensorProto.FLOAT, TensorProto.INT64


@pytest.mark.parametrize("dimensions", [2, 384])
def test_the_dimension_is_read_from_the_model(models: OnnxModels, dimensions: int) -> None:
    assert models.check(tiny_model(dimensions), dict(DEFAULT_METADATA)) == dimensions


@pytest.mark.parametrize(
    ("number", "inputs", "outputs"),
    [
        (54426, {"input_ids": (INT64, ["batch", "sequence"])}, {"embedding": (FLOAT, [4])}),
        (54427, {"input": (STRING, [1])}, {"embedding": (FLOAT, [2, 4])}),
        (54408, {"text": (STRING, [1])}, {"embedding": (FLOAT, [4])}),
        (54413, {"input": (STRING, [1])}, {"sentence": (FLOAT, [4])}),
        (54423, {"input": (STRING, [1])}, {"embedding": (FLOAT, [1])}),
        (54424, {"input": (FLOAT, [1])}, {"embedding": (FLOAT, [4])}),
        (54424, {"input": (STRING, [1])}, {"embedding": (INT64, [4])}),
    ],
)
def test_tensors_that_oracle_refuses(models: OnnxModels, number: int, inputs: Any, outputs: Any) -> None:
    with pytest.raises(OraError) as caught:
        models.check(_graph(inputs=inputs, outputs=outputs), {})
    assert caught.value.number == number


@pytest.mark.parametrize(
    ("number", "metadata"),
    [
        (54408, {**DEFAULT_METADATA, "input": {"text": ["DATA"]}}),
        (54413, {**DEFAULT_METADATA, "embeddingOutput": "vector"}),
        (54420, {**DEFAULT_METADATA, "input": {"input": ["DATA", "MORE"]}}),
        (3001, {**DEFAULT_METADATA, "function": "regression"}),
        (3001, {**DEFAULT_METADATA, "funktion": "embedding"}),
        (3001, {**DEFAULT_METADATA, "input": {"input": ["TEXT"]}}),
        (3001, {"function": "embedding"}),
    ],
)
def test_metadata_that_does_not_fit(models: OnnxModels, number: int, metadata: dict[str, Any]) -> None:
    with pytest.raises(OraError) as caught:
        models.check(tiny_model(), metadata)
    assert caught.value.number == number


@pytest.mark.parametrize(("number", "data"), [(54400, b""), (54401, b"not a model"), (54401, tiny_model(16)[:50_000])])
def test_files_that_are_no_model(models: OnnxModels, number: int, data: bytes) -> None:
    with pytest.raises(OraError) as caught:
        models.check(data, {})
    assert caught.value.number == number


def test_vectors_come_back_in_the_order_of_the_texts_and_have_length_one(models: OnnxModels) -> None:
    data = tiny_model(32)
    texts = [f"text number {n} about {word}" for n, word in enumerate(["ledger", "sprint", "invoice"] * 20)]
    together = models.embed(_digest(data), lambda: data, texts)
    single = [models.embed(_digest(data), lambda: data, [text])[0] for text in texts]
    assert together == single
    assert all(math.isclose(sum(x * x for x in vector), 1, abs_tol=1e-5) for vector in together)
    assert len({vector.tobytes() for vector in together}) == len(texts)


def test_a_model_is_loaded_once_for_all_threads_and_not_again_after_a_check(models: OnnxModels) -> None:
    data = tiny_model(16)
    loads: list[int] = []
    start = threading.Barrier(4)

    def load() -> bytes:
        loads.append(1)
        return data

    def work(_: int) -> int:
        start.wait()
        return len(models.embed(_digest(data), load, ["a text"])[0])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [16] * 4
    assert len(loads) == 1

    other = tiny_model(24)
    models.check(other, {})
    models.embed(_digest(other), load, ["a text"])
    assert len(loads) == 1


def test_the_least_recently_used_model_is_dropped() -> None:
    models = OnnxModels(keep=1)
    loads: list[int] = []

    def load(dimensions: int) -> bytes:
        loads.append(dimensions)
        return tiny_model(dimensions)

    for dimensions in (16, 24, 16):
        models.embed(_digest(tiny_model(dimensions)), lambda n=dimensions: load(n), ["a text"])  # type: ignore[misc]
    assert loads == [16, 24, 16]
    models.close()


def test_a_load_that_fails_can_be_tried_again(models: OnnxModels) -> None:
    data = tiny_model(16)
    with pytest.raises(OraError):
        models.embed(_digest(data), lambda: b"broken", ["a text"])
    assert len(models.embed(_digest(data), lambda: data, ["a text"])[0]) == 16


def test_no_texts_need_no_model(models: OnnxModels) -> None:
    assert models.embed("0" * 64, lambda: pytest.fail("loaded"), []) == []
