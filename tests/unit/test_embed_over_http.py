"""What is sent to providers and what is made of what they answer, in every wrong way."""

from __future__ import annotations

import base64
import json
from array import array
from collections.abc import Callable
from typing import Any

import pytest

from oraclerag.embed import from_settings
from oraclerag.embed.over_http import OverHttp
from oraclerag.errors import (
    ConfigurationError,
    EmbeddingDimensionMismatch,
    OracleRagError,
    PromptTooLong,
    ProviderAnswerInvalid,
    ProviderLoginFailed,
    ProviderRateLimited,
    ProviderRefused,
    ProviderUnavailable,
)
from oraclerag.model.external import Kind
from tests.unit.fake_embeddings import DIMENSIONS, Answer, fake_embeddings, openai, refusal, said, vector_of
from tests.unit.fake_llm import KEY, SECRET, FakeLlm, Reply, waits

TEXTS = ["The invoice is late.", "Buy coffee.", SECRET]


def embedder(fake: FakeLlm, **more: Any) -> OverHttp:
    options: dict[str, Any] = {
        "name": "M",
        "dialect": "openai",
        "api_key": KEY,
        "model": "m",
        "attempts": waits([]),
    } | more
    return OverHttp(base_url=fake.url, **options)


def vectors(*texts: str) -> list[array[float]]:
    return [array("f", vector_of(text)) for text in texts]


def test_vectors_come_in_the_order_of_the_texts() -> None:
    with fake_embeddings() as fake:
        found = embedder(fake, dimensions=DIMENSIONS).embed(TEXTS, "passage")
    assert list(found.vectors) == vectors(*TEXTS)
    assert found.tokens == sum(len(text.split()) + 1 for text in TEXTS)
    assert fake.asked == [{"path": "/v1/embeddings", "model": "m", "input": TEXTS, "encoding_format": "float"}]
    assert fake.headers[0]["authorization"] == f"Bearer {KEY}"


def reordered(asked: dict[str, Any]) -> Reply:
    tree = json.loads(bytes(openai(asked).body))  # type: ignore[arg-type]
    tree["data"].reverse()
    return said(tree)


def packed(asked: dict[str, Any]) -> Reply:
    data = [
        {"index": at, "embedding": base64.b64encode(array("f", vector_of(text)).tobytes()).decode()}
        for at, text in enumerate(asked["input"])
    ]
    return said({"data": data})


@pytest.mark.parametrize("answer", [reordered, packed], ids=["another order", "base64"])
def test_other_ways_to_say_the_same(answer: Answer) -> None:
    with fake_embeddings(answer) as fake:
        found = embedder(fake).embed(TEXTS, "passage")
    assert list(found.vectors) == vectors(*TEXTS)


def with_data(change: Callable[[list[dict[str, Any]]], object]) -> Answer:
    def answer(asked: dict[str, Any]) -> Reply:
        tree = json.loads(bytes(openai(asked).body))  # type: ignore[arg-type]
        change(tree["data"])
        return said(tree)

    return answer


def numbers(value: Any) -> Answer:
    return with_data(lambda data: data[1].update(embedding=value))


INVALID: dict[str, Answer] = {
    "fewer vectors": with_data(lambda data: data.pop()),
    "more vectors": with_data(lambda data: data.append(dict(data[0], index=3))),
    "two for one": with_data(lambda data: data[1].update(index=0)),
    "for no text": with_data(lambda data: data[1].update(index=7)),
    "index of text": with_data(lambda data: data[1].update(index="1")),
    "NaN": numbers([float("nan")] * DIMENSIONS),
    "infinity": numbers([1e39] * DIMENSIONS),
    "zeros": numbers([0.0] * DIMENSIONS),
    "texts": numbers(["a"] * DIMENSIONS),
    "booleans": numbers([True] * DIMENSIONS),
    "null": numbers(None),
    "empty": numbers([]),
    "base64 that is none": numbers("%%%"),
    "base64 of half a number": numbers("AAA="),
    "one is shorter": numbers([0.5]),
    "no data": said({"object": "list"}),
    "data that is a text": said({"data": "none"}),
    "a list": said([]),
    "a page": Reply(b"<html>hello</html>", headers={"Content-Type": "text/html"}),
}


@pytest.mark.parametrize("answer", INVALID.values(), ids=INVALID)
def test_an_answer_that_is_none_is_an_error(answer: Answer) -> None:
    with fake_embeddings(answer) as fake, pytest.raises(ProviderAnswerInvalid) as caught:
        embedder(fake).embed(TEXTS, "passage")
    assert len(fake.asked) == 1, "what is broken is not asked for again"
    assert_says_nothing(caught.value)


def test_another_dimension_is_never_tried_again() -> None:
    with fake_embeddings() as fake, pytest.raises(EmbeddingDimensionMismatch, match="gives 16 dimensions") as caught:
        embedder(fake, dimensions=384).embed(TEXTS, "passage")
    assert len(fake.asked) == 1
    assert not caught.value.retryable


REFUSALS: dict[str, tuple[Reply, type[OracleRagError]]] = {
    "wrong key": (refusal(401, "invalid_api_key"), ProviderLoginFailed),
    "no such model": (refusal(404, "model_not_found"), ProviderRefused),
    "too long": (refusal(400, "context_length_exceeded"), PromptTooLong),
    "too large": (refusal(413), PromptTooLong),
    "content": (refusal(400, "content_policy_violation", f"We do not like: {SECRET}"), ProviderRefused),
    "spent": (refusal(429, "insufficient_quota"), ProviderRefused),
    "inside a 200": (said({"error": {"message": "no such model", "code": 404}}), ProviderRefused),
    "elsewhere": (Reply(b"", 307, {"Location": "http://elsewhere.example/v1"}), ProviderRefused),
}


@pytest.mark.parametrize(("answer", "error"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_is_told_apart_and_not_tried_again(answer: Reply, error: type[OracleRagError]) -> None:
    with fake_embeddings(answer) as fake, pytest.raises(error) as caught:
        embedder(fake).embed(TEXTS, "passage")
    assert len(fake.asked) == 1
    assert_says_nothing(caught.value)


def test_a_wait_that_is_asked_for_is_kept() -> None:
    sleeps: list[float] = []
    with fake_embeddings(refusal(429, "rate_limit_exceeded", **{"Retry-After": "7"}), refusal(503), openai) as fake:
        found = embedder(fake, attempts=waits(sleeps)).embed(TEXTS, "passage")
    assert list(found.vectors) == vectors(*TEXTS)
    assert sleeps == [7.0, 1.0]


def test_what_takes_too_long_says_how_long() -> None:
    with (
        fake_embeddings(refusal(429, **{"Retry-After": "900"})) as fake,
        pytest.raises(ProviderRateLimited) as caught,
    ):
        embedder(fake).embed(TEXTS, "passage")
    assert caught.value.retry_after == 900.0


def test_an_endpoint_that_does_not_answer_in_time() -> None:
    with (
        fake_embeddings(Reply(b"{", waits_for_the_end=True)) as fake,
        pytest.raises(ProviderUnavailable) as caught,
    ):
        embedder(fake, timeout=0.2, attempts=waits([], most=1)).embed(TEXTS, "passage")
    assert caught.value.hint is not None
    assert "embedding.timeout" in caught.value.hint


def test_fewer_dimensions_are_asked_for() -> None:
    with fake_embeddings() as fake:
        found = embedder(fake, asked=8, dimensions=8).embed(["a"], "query")
    assert fake.asked[0]["dimensions"] == 8
    assert len(found.vectors[0]) == 8


def of_ollama(asked: dict[str, Any]) -> Reply:
    return said({"embeddings": [vector_of(text) for text in asked["input"]], "prompt_eval_count": 9})


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/api/"])
def test_ollama_is_told_not_to_cut_off(ending: str) -> None:
    with fake_embeddings(of_ollama) as fake:
        base = fake.url.removesuffix("/v1") + ending
        one = OverHttp(name="M", dialect="ollama", base_url=base, model="m", dimensions=DIMENSIONS)
        found = one.embed(TEXTS, "passage")
    assert fake.asked == [{"path": "/api/embed", "model": "m", "input": TEXTS, "truncate": False}]
    assert "authorization" not in fake.headers[0]
    assert (list(found.vectors), found.tokens) == (vectors(*TEXTS), 9)
    assert one.local


def of_aleph_alpha(asked: dict[str, Any]) -> Reply:
    return said({"embeddings": [vector_of(text) for text in asked["prompts"]], "num_tokens_prompt_total": 9})


@pytest.mark.parametrize(("kind", "representation"), [("query", "query"), ("passage", "document")])
def test_aleph_alpha_is_told_what_a_text_is(kind: Kind, representation: str) -> None:
    with fake_embeddings(of_aleph_alpha) as fake:
        one = OverHttp(
            name="M", dialect="aleph-alpha", base_url=fake.url, model="luminous-base", api_key=KEY, asked=128
        )
        found = one.embed(TEXTS, kind)
    assert fake.asked == [
        {
            "path": "/v1/batch_semantic_embed",
            "model": "luminous-base",
            "prompts": TEXTS,
            "representation": representation,
            "normalize": True,
            "compress_to_size": 128,
        }
    ]
    assert (list(found.vectors), found.tokens) == (vectors(*TEXTS), 9)


def assert_says_nothing(error: OracleRagError) -> None:
    """No text and no key, in whatever is shown of an error."""
    shown = f"{error} {error!r} {error.hint}"
    for secret in (KEY, SECRET, "invoice", "coffee"):
        assert secret not in shown


def test_a_key_is_in_no_repr() -> None:
    with fake_embeddings() as fake:
        assert KEY not in repr(embedder(fake))
    with pytest.raises(ConfigurationError) as caught:
        OverHttp(name="M", dialect="openai", base_url="http://x", model="m", api_key="a key")
    assert "a key" not in str(caught.value)


def test_without_a_provider_the_database_embeds() -> None:
    from oraclerag.config import Settings

    assert from_settings(Settings()) is None
