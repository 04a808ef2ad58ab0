"""The tokenizer of a BERT model as data: its vocabulary and the switches of its normaliser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oraclerag.errors import ModelInvalid

__all__ = ["SPECIAL_TOKENS", "WordPiece"]

SPECIAL_TOKENS = ("[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]")


@dataclass(frozen=True, slots=True)
class WordPiece:
    """A WordPiece vocabulary with the options that the tokenizer op in the graph is given.

    ``tokens`` are in the order of their ids. The special tokens have BERT's usual spelling; continuing pieces begin
    with ``##``. Raises ModelInvalid where the tokens could not be written into a graph without shifting ids.
    """

    tokens: tuple[str, ...]
    lowercase: bool = True
    strip_accents: bool = True
    split_chinese: bool = True

    def __post_init__(self) -> None:
        known = set(self.tokens)
        missing = [token for token in SPECIAL_TOKENS if token not in known]
        if missing:
            raise ModelInvalid(
                f"The vocabulary has no {', '.join(missing)}: it is not that of a BERT WordPiece tokenizer.",
                hint="Use a BERT-family model with a WordPiece vocabulary, such as all-MiniLM-L6-v2.",
            )
        if len(known) != len(self.tokens):
            raise ModelInvalid("The vocabulary holds a token twice.", hint="Take the original vocab.txt of the model.")
        for number, token in enumerate(self.tokens):
            if not token or "\n" in token or "\r" in token:
                raise ModelInvalid(
                    f"Token {number} of the vocabulary is empty or holds a line break.",
                    hint="Take the original vocab.txt of the model.",
                )

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return len(self.tokens)

    def options(self) -> str:
        """Give the switches as the JSON text that RAG_MODEL.TOKENIZER and the model's own metadata keep."""
        return json.dumps(
            {
                "type": "WordPiece",
                "lowercase": self.lowercase,
                "strip_accents": self.strip_accents,
                "split_chinese": self.split_chinese,
            }
        )

    def vocabulary(self) -> str:
        """Give the tokens as one text, a line each, in the order of their ids."""
        return "\n".join(self.tokens)

    @classmethod
    def restored(cls, vocabulary: str, options: Mapping[str, Any]) -> WordPiece:
        """Make it again from what :meth:`vocabulary` and :meth:`options` gave."""
        switches = [options.get(name) for name in ("lowercase", "strip_accents", "split_chinese")]
        if options.get("type") != "WordPiece" or not all(isinstance(switch, bool) for switch in switches):
            raise ModelInvalid(
                "The stored tokenizer of the model cannot be read.",
                hint="Drop the model and load it again: `oraclerag model load FILE`.",
            )
        return cls(tuple(vocabulary.split("\n")), *(bool(switch) for switch in switches))
