"""Models of providers by the settings: what is known of them, what they are called, who is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from oraclerag.config import Settings
from oraclerag.embed import from_settings, kept_here
from oraclerag.errors import ConfigurationError, EmbeddingProviderNotSupported, SourceError
from oraclerag.model.external import KNOWN, PROVIDERS, UNSAID, configured_name, external_model
from oraclerag.statements import identifier

KEY_VARIABLE = "A_PROVIDER_KEY"


def settings(provider: str = "openai", model: str = "text-embedding-3-small", **more: Any) -> Settings:
    base: dict[str, Any] = {"embedding_base_url": "http://127.0.0.1/v1"} if provider == "openai-compatible" else {}
    return Settings(
        embedding_provider=provider,
        embedding_model=model,
        **base,
        **{f"embedding_{name}": value for name, value in more.items()},
    )


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.model)
def test_what_is_known_of_a_model_need_not_be_configured(known: Any) -> None:
    found = external_model(settings(known.provider, known.model))
    assert (found.dimensions, found.max_tokens, found.asked) == (known.dimensions, known.max_tokens, None)
    assert (found.query_prefix, found.passage_prefix) == (known.query_prefix, known.passage_prefix)
    assert len(known.query_prefix.encode()) <= 200
    assert known.provider in PROVIDERS


NAMES = [
    (settings(model=UNSAID), "OPENAI_TEXT_EMBEDDING_3_SMALL"),
    (settings("scaleway", UNSAID), "SCALEWAY_BGE_MULTILINGUAL_GEMMA2"),
    (settings("aleph-alpha", UNSAID), "ALEPH_ALPHA_LUMINOUS_BASE"),
    (settings("oci", UNSAID), "OCI_COHERE_EMBED_MULTILINGUAL_V3_0"),
    (settings("ollama", UNSAID), "OLLAMA_NOMIC_EMBED_TEXT"),
    (settings(), "OPENAI_TEXT_EMBEDDING_3_SMALL"),
    (settings(dimensions=1536), "OPENAI_TEXT_EMBEDDING_3_SMALL"),
    (settings(dimensions=512), "OPENAI_TEXT_EMBEDDING_3_SMALL_512"),
    (settings("ollama", "nomic-embed-text:latest"), "OLLAMA_NOMIC_EMBED_TEXT"),
    (settings("ollama", "nomic-embed-text:v1.5", max_tokens=2048), "OLLAMA_NOMIC_EMBED_TEXT_V1_5"),
    (settings("openai-compatible", "BAAI/bge-m3", max_tokens=8192), "OPENAI_COMPATIBLE_BAAI_BGE_M3"),
    (settings("openai-compatible", "ein/größeres " * 20, max_tokens=8192), None),
    (Settings(embedding_model="all_minilm_l6_v2"), "ALL_MINILM_L6_V2"),
]


@pytest.mark.parametrize(("configured", "name"), NAMES)
def test_a_model_has_a_name_that_the_database_takes(configured: Settings, name: str | None) -> None:
    found = configured_name(configured)
    assert name is None or found == name
    assert identifier(found) == found
    assert len(found) <= 100


def test_the_default_is_that_of_the_settings() -> None:
    assert Settings().embedding_model == UNSAID


def test_what_gives_other_vectors_or_chunks_has_another_identity() -> None:
    ones = [
        external_model(settings()),
        external_model(settings(model="text-embedding-3-large")),
        external_model(settings(query_prefix="query: ")),
        external_model(settings(passage_prefix="passage: ")),
        external_model(settings(max_tokens=512)),
        external_model(settings("openai-compatible", max_tokens=8191)),
    ]
    found = {one.identity(1536) for one in ones} | {ones[0].identity(512)}
    assert len(found) == len(ones) + 1
    assert external_model(settings(timeout=9.0)).identity(1536) == ones[0].identity(1536)


@pytest.mark.parametrize(("provider", "hint"), [("anthropic", "no endpoint"), ("openia", "openai")])
def test_a_provider_that_there_is_not_is_refused_with_a_hint(provider: str, hint: str) -> None:
    with pytest.raises(EmbeddingProviderNotSupported) as caught:
        from_settings(settings(provider))
    assert caught.value.code == "EMBEDDING_PROVIDER_NOT_SUPPORTED"
    assert hint in (caught.value.hint or "")
    with pytest.raises(EmbeddingProviderNotSupported):
        configured_name(settings(provider, UNSAID))


WRONG = [
    ({"provider": "openai-compatible", "model": UNSAID}, r"needs embedding\.model"),
    ({"provider": "openai-compatible", "model": "m"}, r"embedding\.max_tokens"),
    ({"model": "text-embedding-ada-002", "dimensions": 512}, "gives 1536"),
    ({}, r"wants a key: embedding\.api_key_env"),
    ({"api_key_env": KEY_VARIABLE}, f"{KEY_VARIABLE}.*holds no key"),
]


@pytest.mark.parametrize(("more", "message"), WRONG)
def test_what_is_missing_is_said(more: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with pytest.raises(ConfigurationError, match=message):
        from_settings(settings(**more))


BAD = [
    ({"embedding_provider": "openai-compatible"}, r"needs embedding\.base_url"),
    ({"embedding_base_url": "http://h/v1/embeddings"}, "end before /embeddings"),
    ({"embedding_base_url": "ftp://h"}, "http://"),
    ({"embedding_provider": "openai", "lease": 20.0}, r"quarter of worker\.lease"),
    ({"embedding_api_key_env": "sk-hunter2 hunter2"}, "environment variable"),
    ({"embedding_query_prefix": "x" * 201}, "200 bytes"),
    ({"embedding_model": " ", "embedding_provider": "openai"}, "blank"),
    ({"embedding_tenant_tokens": {"acme": -1}}, "whole numbers"),
    ({"embedding_tenant_tokens": {"acme": True}}, "whole numbers"),
    ({"embedding_tenant_tokens": [1]}, "whole numbers"),
]


@pytest.mark.parametrize(("values", "message"), BAD)
def test_settings_are_held_against_their_rules(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        Settings(**values)
    assert "hunter2" not in str(caught.value)


def test_budgets_of_tenants_are_read_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "oraclerag.toml"
    file.write_text("[embedding.budget]\ntokens_per_day = 100\n[embedding.budget.tenants]\nacme = 5\n'a b.c' = 0\n")
    loaded = Settings.load(file)
    assert [loaded.tokens_per_day(name) for name in ("acme", "a b.c", "other", None)] == [5, 0, 100, 100]
    assert Settings().tokens_per_day("acme") is None
    for wrong in ("[embedding.budget]\nper_day = 1\n", "[embedding]\nbudgets = 1\n", "[embedding.budgets]\nx = 1\n"):
        file.write_text(wrong)
        with pytest.raises(ConfigurationError, match="unknown key"):
            Settings.load(file)


def test_a_source_that_lets_no_text_leave_is_not_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.local.write_path.tracker import TASK

    monkeypatch.setenv(KEY_VARIABLE, "k")
    away, here = from_settings(settings(api_key_env=KEY_VARIABLE)), from_settings(settings("ollama", "bge-m3"))
    kept = type(TASK)(name="task", select=TASK.select, visibility="owner", template="x", egress=False)
    with pytest.raises(SourceError, match="egress"):
        kept_here(kept, away)
    for source, embedder in ((kept, here), (kept, None), (TASK, away)):
        kept_here(source, embedder)
