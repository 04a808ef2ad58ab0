"""An independent computation of a sentence embedding: the tokenizers library and a plain forward pass in numpy."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

Array = NDArray[np.float64]

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _gelu(x: Array) -> Array:
    return np.asarray(0.5 * x * (1.0 + _erf(x / math.sqrt(2.0))))


def _gelu_new(x: Array) -> Array:
    return np.asarray(0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))))


def _relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


_ACTIVATIONS = {"gelu": _gelu, "gelu_new": _gelu_new, "relu": _relu}


class Reference:
    """Embeds with the files of a Hugging Face folder, in double precision."""

    def __init__(self, folder: Path, *, limit: int, pooling: str = "mean") -> None:
        self.config: Mapping[str, Any] = json.loads((folder / "config.json").read_text())
        self.weights = {name: w.astype(np.float64) for name, w in load_file(folder / "model.safetensors").items()}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(limit)
        self.pooling = pooling

    def ids(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text).ids)

    def embed(self, text: str) -> Array:
        state = self._forward(self.ids(text))
        vector = state.mean(axis=0) if self.pooling == "mean" else state[0]
        return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12))

    def _forward(self, ids: list[int]) -> Array:
        w = self.weights
        state = w["embeddings.word_embeddings.weight"][ids]
        state = state + w["embeddings.position_embeddings.weight"][: len(ids)]
        state = self._norm(state + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for number in range(self.config["num_hidden_layers"]):
            layer = f"encoder.layer.{number}"
            state = self._attend(state, f"{layer}.attention")
            inner = _ACTIVATIONS[self.config["hidden_act"]](self._linear(state, f"{layer}.intermediate.dense"))
            state = self._norm(state + self._linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        return state

    def _attend(self, state: Array, name: str) -> Array:
        heads = self.config["num_attention_heads"]
        size = state.shape[1] // heads
        query, key, value = (self._linear(state, f"{name}.self.{part}") for part in ("query", "key", "value"))
        parts = []
        for head in range(heads):
            columns = slice(head * size, (head + 1) * size)
            scores = query[:, columns] @ key[:, columns].T / math.sqrt(size)
            weights = np.exp(scores - scores.max(axis=1, keepdims=True))
            parts.append(weights / weights.sum(axis=1, keepdims=True) @ value[:, columns])
        context = self._linear(np.concatenate(parts, axis=1), f"{name}.output.dense")
        return self._norm(state + context, f"{name}.output.LayerNorm")

    def _linear(self, state: Array, name: str) -> Array:
        return np.asarray(state @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"])

    def _norm(self, state: Array, name: str) -> Array:
        mean = state.mean(axis=1, keepdims=True)
        spread = np.sqrt(state.var(axis=1, keepdims=True) + self.config["layer_norm_eps"])
        return np.asarray((state - mean) / spread * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"])
