"""SentencePiece tokenizers of models that speak many languages, such as multilingual-e5: what decides the tokens.

Fairseq, where XLM-R comes from, numbers the pieces otherwise than SentencePiece does: four tokens of its own come
first, so every piece has the next higher id, and the unknown one has 3.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
import threading
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from oraclerag.errors import ModelInvalid
from oraclerag.model.character_map import CharacterMap
from oraclerag.model.protobuf import fields, message, text

if TYPE_CHECKING:
    import tokenizers

__all__ = ["BEGIN", "END", "SHIFT", "UNKNOWN", "PieceCounter", "SentencePiece"]

BEGIN, END, UNKNOWN = 0, 2, 3
"""Ids of <s>, </s> and <unk>, as the encoder's word table has them."""

SHIFT = 1
"""What is added to the id of any other piece."""

_BEFORE = ("<unk>", "<s>", "</s>")  # the first pieces; the order that the ids of XLM-R come from
_UNIGRAM = 1
_NORMAL, _USED = 1, 4  # kinds of pieces: found in texts; the second one is defined by the user
_KEPT_TEXTS = 512
_LOAD_AGAIN = "Drop the model and load it again: `oraclerag model load FILE`."


@dataclass(frozen=True, slots=True)
class SentencePiece:
    """A model of SentencePiece as its file has it (``sentencepiece.bpe.model``), of the unigram kind.

    Raises ModelInvalid where the pieces are not those that XLM-R's ids can be made of.
    """

    model: bytes = field(repr=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        read = _read(self.model)
        if read.kind != _UNIGRAM:
            raise ModelInvalid(
                "The SentencePiece tokenizer is not of the unigram kind.", hint="Use a model such as multilingual-e5."
            )
        if tuple(name for name, _, _ in read.pieces[: len(_BEFORE)]) != _BEFORE:
            raise ModelInvalid(
                f"The SentencePiece tokenizer does not begin with {', '.join(_BEFORE)}: its ids are not XLM-R's.",
                hint="Use a model such as multilingual-e5.",
            )
        if not (read.prefixed and read.collapsed):
            raise ModelInvalid(
                "The SentencePiece tokenizer treats blanks otherwise than XLM-R's: its tokens could not be counted.",
                hint="Use a model such as multilingual-e5.",
            )
        object.__setattr__(self, "size", len(read.pieces) + SHIFT)

    def options(self) -> str:
        """Give the JSON text that RAG_MODEL.TOKENIZER and the model's own metadata keep."""
        return json.dumps({"type": "SentencePiece"})

    def vocabulary(self) -> str:
        """Give the file as a text."""
        return base64.b64encode(zlib.compress(self.model, 9)).decode()

    @classmethod
    def restored(cls, vocabulary: str, options: Mapping[str, Any]) -> SentencePiece:
        """Make it again from what :meth:`vocabulary` and :meth:`options` gave."""
        try:
            if options.get("type") != "SentencePiece":
                raise ValueError("another kind")
            return cls(zlib.decompress(base64.b64decode(vocabulary, validate=True)))
        except (ValueError, binascii.Error, zlib.error) as error:
            raise ModelInvalid("The stored tokenizer of the model cannot be read.", hint=_LOAD_AGAIN) from error


@dataclass(frozen=True, slots=True)
class _Read:
    pieces: list[tuple[str, float, int]]
    kind: int
    characters: CharacterMap
    prefixed: bool
    collapsed: bool


def _read(data: bytes) -> _Read:
    pieces: list[tuple[str, float, int]] = []
    kind, characters, prefixed, collapsed = _UNIGRAM, b"", True, True
    try:
        for number, value in fields(memoryview(data)):
            if number == 1:
                pieces.append(_piece(message(value)))
            elif number == 2:
                kind = next((found for at, found in fields(message(value)) if at == 3 and isinstance(found, int)), kind)
            elif number == 3:
                for at, found in fields(message(value)):
                    if at == 2:
                        characters = bytes(message(found))
                    elif at == 3:
                        prefixed = bool(found)
                    elif at == 4:
                        collapsed = bool(found)
        letters = CharacterMap(characters)
    except (IndexError, ValueError, struct.error) as error:
        raise ModelInvalid(
            "The SentencePiece tokenizer cannot be read: it is no model of SentencePiece, or only a part of one.",
            hint="Download the folder again; a Git LFS pointer needs `git lfs pull`. Or use a model with a WordPiece "
            "vocabulary.",
        ) from error
    return _Read(pieces, kind, letters, prefixed, collapsed)


def _piece(data: memoryview) -> tuple[str, float, int]:
    name, score, kind = "", 0.0, _NORMAL
    for number, value in fields(data):
        if number == 1:
            name = text(value)
        elif number == 2:
            (score,) = struct.unpack("<f", message(value))
        elif number == 3 and isinstance(value, int):
            kind = value
    return name, score, kind


class PieceCounter:
    """The exact count for a SentencePiece tokenizer, <s> and </s> included. Threads may share it."""

    exact = True

    def __init__(self, tokenizer: SentencePiece) -> None:
        self._model = tokenizer.model
        self._made: tuple[CharacterMap, tokenizers.Tokenizer] | None = None
        self._guard = threading.Lock()
        self._recent = lru_cache(maxsize=_KEPT_TEXTS)(self._count)

    def count(self, text: str) -> int:
        """Give the number of tokens. The latest texts are not counted again."""
        return self._recent(text)

    def _count(self, text: str) -> int:
        with self._guard:
            if self._made is None:
                read = _read(self._model)
                self._made = read.characters, _tokenizer(read)
            letters, made = self._made
        replaced = letters.replaced(text.encode("utf-8", "replace").decode())
        return len(made.encode(replaced, add_special_tokens=False).ids) + 2


def _tokenizer(read: _Read) -> tokenizers.Tokenizer:
    import tokenizers
    from tokenizers import models, normalizers, pre_tokenizers

    # What is not to be found in a text, such as <s>, must not be: names with a blank, which no text has by then.
    found = [
        (name if kind in (_NORMAL, _USED) else f" {number}", score)
        for number, (name, score, kind) in enumerate(read.pieces)
    ]
    made = tokenizers.Tokenizer(models.Unigram(found, 0, False))
    # \A and \z, for ^ and $ are also the ends of a line. SentencePiece takes a "▁" of the text for a blank only when it
    # removes those at the end, and puts one before the text whatever it begins with, unless nothing is left.
    blanks = ((" {2,}", " "), (r"[ ▁]+\z", ""), (r"\A ", ""))
    steps = [normalizers.Replace(tokenizers.Regex(pattern), new) for pattern, new in blanks]
    made.normalizer = normalizers.Sequence([*steps, normalizers.Prepend("▁")])
    # Words may be cut one by one, which is quicker, only where no piece goes beyond a word, the unknown one included.
    by_word = all("▁" not in name[1:] for name, _ in found) and "▁" in {name for name, _ in found}
    made.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="never", split=by_word)
    return made
