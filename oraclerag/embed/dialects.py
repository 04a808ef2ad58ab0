"""What is sent and what comes back, for each kind of interface; nothing here knows HTTP."""

from __future__ import annotations

import base64
import binascii
import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from oraclerag.errors import ProviderAnswerInvalid
from oraclerag.model.external import Dialect, Embedded, Kind

__all__ = ["DIALECTS", "Asked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request: texts for one model; ``dimensions`` where it is to give fewer than it would.

    ``compartment`` is the OCID of whom OCI writes the bill for.
    """

    model: str
    texts: Sequence[str]
    kind: Kind
    dimensions: int | None = None
    encoding_format: bool = True
    compartment: str = ""


class _Interface(Protocol):
    """One interface: where it is behind the base address, what it takes, what it gives."""

    path: str

    def body(self, asked: Asked) -> dict[str, Any]:
        """Give the JSON to send."""

    def read(self, tree: Any, texts: int) -> Embedded:
        """Read the JSON that came for so many texts. Raises ProviderAnswerInvalid."""


class _OpenAi:
    """``POST /embeddings``: OpenAI, Scaleway, vLLM, gateways. Vectors say by ``index`` whose they are."""

    path = "/embeddings"

    def body(self, asked: Asked) -> dict[str, Any]:
        body: dict[str, Any] = {"model": asked.model, "input": list(asked.texts)}
        if asked.encoding_format:
            body["encoding_format"] = "float"  # what everyone has; base64 is read where it comes all the same
        if asked.dimensions is not None:
            body["dimensions"] = asked.dimensions
        return body

    def read(self, tree: Any, texts: int) -> Embedded:
        data = _member(tree, "data", list)
        found: list[array[float] | None] = [None] * texts
        if len(data) != texts:
            raise _wrong_number(len(data), texts)
        for place, one in enumerate(data):
            index = one.get("index", place) if isinstance(one, dict) else None
            if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < texts:
                raise ProviderAnswerInvalid("The endpoint answered 200 with a vector of no text that was sent.")
            if found[index] is not None:
                raise ProviderAnswerInvalid("The endpoint answered 200 with two vectors for the same text.")
            found[index] = _vector(one.get("embedding"))
        usage = tree.get("usage")
        return Embedded(
            tuple(vector for vector in found if vector is not None),
            _count(usage.get("prompt_tokens", usage.get("total_tokens"))) if isinstance(usage, dict) else None,
        )


class _Ollama:
    """``POST /api/embed``: Ollama's own, which can be told not to cut texts off."""

    path = "/api/embed"

    def body(self, asked: Asked) -> dict[str, Any]:
        body: dict[str, Any] = {"model": asked.model, "input": list(asked.texts), "truncate": False}
        if asked.dimensions is not None:
            body["dimensions"] = asked.dimensions
        return body

    def read(self, tree: Any, texts: int) -> Embedded:
        return Embedded(_embeddings(tree, texts), _count(tree.get("prompt_eval_count")))


class _AlephAlpha:
    """``POST /batch_semantic_embed``: questions and documents are embedded differently."""

    path = "/batch_semantic_embed"

    def body(self, asked: Asked) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": asked.model,
            "prompts": list(asked.texts),
            "representation": "query" if asked.kind == "query" else "document",
            "normalize": True,
        }
        if asked.dimensions is not None:
            body["compress_to_size"] = asked.dimensions
        return body

    def read(self, tree: Any, texts: int) -> Embedded:
        return Embedded(_embeddings(tree, texts), _count(tree.get("num_tokens_prompt_total")))


class _Oci:
    """``POST /20231130/actions/embedText``: OCI Generative AI, which counts no tokens."""

    path = "/20231130/actions/embedText"

    def body(self, asked: Asked) -> dict[str, Any]:
        return {
            "inputs": list(asked.texts),
            "servingMode": {"servingType": "ON_DEMAND", "modelId": asked.model},
            "compartmentId": asked.compartment,
            "inputType": "SEARCH_QUERY" if asked.kind == "query" else "SEARCH_DOCUMENT",
            "truncate": "NONE",
        }

    def read(self, tree: Any, texts: int) -> Embedded:
        return Embedded(_embeddings(tree, texts))


DIALECTS: Mapping[Dialect, _Interface] = MappingProxyType(
    {"openai": _OpenAi(), "ollama": _Ollama(), "aleph-alpha": _AlephAlpha(), "oci": _Oci()}
)
"""The interfaces by name."""


def _member(tree: Any, name: str, kind: type) -> Any:
    found = tree.get(name) if isinstance(tree, dict) else None
    if not isinstance(found, kind):
        raise ProviderAnswerInvalid(f"The endpoint answered 200 without {name}.")
    return found


def _embeddings(tree: Any, texts: int) -> tuple[array[float], ...]:
    """Read vectors that stand in the order of the texts."""
    found = _member(tree, "embeddings", list)
    if len(found) != texts:
        raise _wrong_number(len(found), texts)
    return tuple(map(_vector, found))


def _wrong_number(came: int, wanted: int) -> ProviderAnswerInvalid:
    return ProviderAnswerInvalid(f"The endpoint answered {came} vectors for {wanted} texts.")


def _vector(value: Any) -> array[float]:
    """Read a vector: a list of numbers, or the base64 of its FLOAT32 in little endian."""
    try:
        if isinstance(value, str):
            numbers = array("f", base64.b64decode(value, validate=True))
            if sys.byteorder == "big":
                numbers.byteswap()
        elif isinstance(value, list) and set(map(type, value)) <= {float, int}:
            numbers = array("f", value)
        else:
            raise ProviderAnswerInvalid("The endpoint answered 200 with a vector that is none.")
    except (ValueError, OverflowError, binascii.Error) as error:
        raise ProviderAnswerInvalid("The endpoint answered 200 with a vector that is none.") from error
    if not numbers or not any(numbers) or not math.isfinite(math.fsum(numbers)):
        raise ProviderAnswerInvalid("The endpoint answered 200 with a vector of zeros, NaN or infinity.")
    return numbers


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
