"""The tokenizers that are known: made again from what the database keeps, and what counts as they do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oraclerag.model.sentencepiece import SentencePiece
from oraclerag.model.wordpiece import WordPiece

__all__ = ["Tokenizer", "restored"]

Tokenizer = WordPiece | SentencePiece


def restored(vocabulary: str, options: Mapping[str, Any]) -> Tokenizer:
    """Make a tokenizer again from RAG_MODEL.VOCABULARY and TOKENIZER. Raises ModelInvalid."""
    kind = SentencePiece if options.get("type") == "SentencePiece" else WordPiece
    return kind.restored(vocabulary, options)
