"""The weights of a BERT encoder: which tensors there must be, in which shapes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from oraclerag.errors import ModelInvalid
from oraclerag.model.shape import BertShape

__all__ = ["BertShape", "Weights", "expected", "read_weights"]

Weights = Mapping[str, NDArray[np.float32]]

_PREFIXES = ("", "bert.", "model.", "0.auto_model.")


def expected(shape: BertShape) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Give name and shape of every tensor the encoder reads, in BERT's usual names."""
    hidden, inner = shape.hidden, shape.intermediate
    yield "embeddings.word_embeddings.weight", (shape.vocabulary, hidden)
    yield "embeddings.position_embeddings.weight", (shape.positions, hidden)
    yield "embeddings.token_type_embeddings.weight", (shape.types, hidden)
    yield "embeddings.LayerNorm.weight", (hidden,)
    yield "embeddings.LayerNorm.bias", (hidden,)
    for number in range(shape.layers):
        layer = f"encoder.layer.{number}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            yield f"{layer}.attention.{part}.weight", (hidden, hidden)
            yield f"{layer}.attention.{part}.bias", (hidden,)
        yield f"{layer}.intermediate.dense.weight", (inner, hidden)
        yield f"{layer}.intermediate.dense.bias", (inner,)
        yield f"{layer}.output.dense.weight", (hidden, inner)
        yield f"{layer}.output.dense.bias", (hidden,)
        for norm in ("attention.output.LayerNorm", "output.LayerNorm"):
            yield f"{layer}.{norm}.weight", (hidden,)
            yield f"{layer}.{norm}.bias", (hidden,)


def read_weights(path: Path, shape: BertShape) -> Weights:
    """Read ``model.safetensors`` and check it against ``config.json``.

    Tensors come back as FLOAT32 in BERT's usual names, a prefix such as ``bert.`` removed and the old spelling of layer
    norms (``gamma``, ``beta``) read too. Raises ModelInvalid naming the first tensor that is missing or has another
    shape.
    """
    stored = _stored_names(path)
    prefix = next((p for p in _PREFIXES if f"{p}embeddings.word_embeddings.weight" in stored), None)
    if prefix is None:
        raise ModelInvalid(
            f"{path.name} holds no tensor 'embeddings.word_embeddings.weight': these are not the weights of a BERT "
            "encoder.",
            hint="Use the folder of a BERT-family sentence encoder, such as all-MiniLM-L6-v2.",
        )
    from safetensors import SafetensorError, safe_open

    found: dict[str, NDArray[np.float32]] = {}
    try:
        with safe_open(str(path), framework="numpy") as file:
            for name, wanted in expected(shape):
                key = _stored_as(prefix + name, stored)
                if key is None:
                    raise ModelInvalid(
                        f"{path.name} holds no tensor {prefix + name!r}, which config.json asks for.",
                        hint="Take config.json and model.safetensors from the same model.",
                    )
                tensor = _float32(path, key, stored[key], file)
                if tensor.shape != wanted:
                    raise ModelInvalid(
                        f"The tensor {key!r} of {path.name} has shape {list(tensor.shape)}; config.json asks for "
                        f"{list(wanted)}.",
                        hint="Take config.json and model.safetensors from the same model.",
                    )
                found[name] = tensor
    except SafetensorError as error:
        raise _unreadable(path) from error
    return found


def _stored_as(name: str, stored: Mapping[str, str]) -> str | None:
    if name in stored:
        return name
    old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    return old if old in stored else None


def _stored_names(path: Path) -> dict[str, str]:
    """Give name and data type of every tensor, from the header alone: 8 bytes of length, then JSON."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= 100_000_000:
            raise _unreadable(path)
        try:
            header = json.loads(file.read(size))
            return {name: entry["dtype"] for name, entry in header.items() if name != "__metadata__"}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _unreadable(path) from error


def _float32(path: Path, key: str, kind: str, file: object) -> NDArray[np.float32]:
    if kind not in {"F32", "F16", "F64"}:
        raise ModelInvalid(
            f"The tensor {key!r} of {path.name} is stored as {kind}; F32, F16 and F64 can be read.",
            hint="Take the FLOAT32 weights of the model.",
        )
    tensor = np.ascontiguousarray(file.get_tensor(key), dtype=np.float32)  # type: ignore[attr-defined]
    if not np.isfinite(tensor).all():
        raise ModelInvalid(
            f"The tensor {key!r} of {path.name} holds values that are not finite.", hint="Take the original weights."
        )
    return tensor


def _unreadable(path: Path) -> ModelInvalid:
    return ModelInvalid(
        f"{path.name} is not a safetensors file, or only a part of one.", hint="Download it again, as a whole."
    )
