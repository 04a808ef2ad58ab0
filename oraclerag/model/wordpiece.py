"""The tokenizer of a BERT model as data: its vocabulary and the switches of its normaliser."""

from __future__ import annotations

import json
from dataclasses import dataclass

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

    def to_json(self) -> str:
        """Give it as the text that RAG_MODEL.VOCABULARY keeps."""
        return json.dumps(
            {
                "type": "WordPiece",
                "lowercase": self.lowercase,
                "strip_accents": self.strip_accents,
                "split_chinese": self.split_chinese,
                "tokens": self.tokens,
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: str) -> WordPiece:
        """Read what :meth:`to_json` wrote."""
        try:
            found = json.loads(text)
            if found["type"] != "WordPiece":
                raise ModelInvalid(f"The stored vocabulary is of type {found['type']!r}, which is not supported.")
            return cls(
                tuple(found["tokens"]),
                lowercase=found["lowercase"],
                strip_accents=found["strip_accents"],
                split_chinese=found["split_chinese"],
            )
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise ModelInvalid(
                "The stored vocabulary of the model cannot be read.",
                hint="Load the model again: `oraclerag model load FILE`.",
            ) from error
