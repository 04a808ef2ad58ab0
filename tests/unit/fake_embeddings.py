"""An endpoint on loopback that embeds: texts that share words are near. Every reply can be another one."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
from array import array
from collections.abc import Callable, Iterator
from typing import Any

from tests.unit.fake_llm import FakeLlm, Reply, fake_llm

DIMENSIONS = 16
Answer = Reply | Callable[[dict[str, Any]], Reply]


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A direction for every word, and the sum of them for a text."""
    numbers = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or ["-"]:
        digest = hashlib.sha256(word.encode()).digest()
        for place in range(dimensions):
            numbers[place] += (digest[place % 32] - 127.5) / 127.5
    length = math.sqrt(sum(number * number for number in numbers))
    return list(array("f", (number / length for number in numbers)))


def openai(asked: dict[str, Any], **more: Any) -> Reply:
    """What OpenAI would answer."""
    texts = asked["input"]
    size = asked.get("dimensions", DIMENSIONS)
    data = [{"index": at, "embedding": vector_of(text, size)} for at, text in enumerate(texts)]
    return said({"data": data, "usage": {"prompt_tokens": sum(map(tokens_of, texts))}, **more})


def tokens_of(text: str) -> int:
    """How many tokens this endpoint counts."""
    return len(text.split()) + 1


def said(tree: Any, status: int = 200, **headers: str) -> Reply:
    """A reply of JSON."""
    return Reply(json.dumps(tree).encode(), status, {"Content-Type": "application/json"} | headers)


def refusal(status: int, code: str | None = None, message: str = "no", **headers: str) -> Reply:
    """An error as these endpoints write it."""
    return said({"error": {"code": code, "message": message}}, status, **headers)


@contextlib.contextmanager
def fake_embeddings(*answers: Answer) -> Iterator[FakeLlm]:
    """The endpoint; without answers it always embeds."""
    with fake_llm(*(answers or (openai,))) as fake:
        yield fake


def texts_sent(fake: FakeLlm) -> list[str]:
    """Every text that was sent, in order."""
    return [text for asked in fake.asked for text in asked["input"]]
