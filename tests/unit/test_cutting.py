"""How texts are to be cut: what can be asked for, and which overlap belongs to which size."""

from __future__ import annotations

from typing import Any

import pytest

from oraclerag.config import Settings
from oraclerag.cutting import Cutting
from oraclerag.errors import ConfigurationError


@pytest.mark.parametrize(
    ("given", "size", "overlap"),
    [
        ({"chunker": "passages"}, None, 12),
        ({"chunker": "passages", "preset": "fit"}, None, 12),
        ({"chunker": "passages", "preset": "article"}, 500, 50),
        ({"chunker": "passages", "preset": "note"}, 300, 30),
        ({"chunker": "passages", "preset": "faq"}, 800, 80),
        ({"chunker": "passages", "preset": "article", "overlap": 0}, 500, 0),
        ({"chunker": "passages", "preset": "faq", "size": 100}, 100, 12),
        ({"chunker": "diagnostics"}, None, 19),
        ({"chunker": "diagnostics", "overlap": 5}, None, 5),
        ({"chunker": "whole", "size": 100}, 100, 0),
    ],
)
def test_size_and_overlap(given: dict[str, Any], size: int | None, overlap: int) -> None:
    cutting = Cutting(**given)
    assert cutting.tokens == size
    assert cutting.overlapping(128) == overlap


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"chunker": "words"}, 'chunker must be one of "whole"'),
        ({"preset": "fit"}, 'preset belongs to chunker = "passages"'),
        ({"chunker": "passages", "preset": "x"}, "preset must be one of"),
        ({"size": 15}, "chunk_size_tokens is 15, but must be at least 16"),
        ({"overlap": 3}, "has no overlap"),
        ({"chunker": "passages", "overlap": -1}, "must not be negative"),
        ({"chunker": "passages", "size": 20, "overlap": 20}, "chunk_overlap_tokens is 20 and chunk_size_tokens is 20"),
        ({"chunker": "passages", "preset": "article", "overlap": 600}, "is 600 and chunk_size_tokens is 500"),
    ],
)
def test_what_cannot_be_is_refused_in_words(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        Cutting(**given)


def test_the_installations_sizes_count_where_a_source_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_CHUNK_SIZE_TOKENS", "200")
    monkeypatch.setenv("RAG_CHUNK_OVERLAP_TOKENS", "20")
    settings = Settings.load()
    assert settings.cutting(Cutting("passages")) == Cutting("passages", size=200, overlap=20)
    assert settings.cutting(Cutting("diagnostics", size=100)) == Cutting("diagnostics", size=100, overlap=20)
    assert settings.cutting(Cutting("passages", "article")) == Cutting("passages", "article")
    assert settings.cutting(Cutting()) == Cutting()
    monkeypatch.setenv("ORACLERAG_CHUNK_SIZE_TOKENS", "300")
    assert Settings.load().chunk_size_tokens == 300
    monkeypatch.setenv("ORACLERAG_CHUNK_SIZE_TOKENS", "few")
    with pytest.raises(ConfigurationError, match="ORACLERAG_CHUNK_SIZE_TOKENS must be a whole number"):
        Settings.load()
