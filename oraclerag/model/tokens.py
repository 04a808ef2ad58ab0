"""How many tokens a text has, counted as the model in the database counts them.

The chunkers cut by this number: what is counted too low would be cut off silently inside the graph. So the count
follows the tokenizer op of onnxruntime-extensions letter by letter, its departures from BERT's own rules included:

* accents are removed from U+00C0 to U+00FF only (and combining marks U+0300 to U+036F), so ``ř`` stays ``ř``;
* lower case is that of ASCII, Latin-1, Cyrillic А to Я and some Greek letters;
* a word whose beginning is in the vocabulary and whose rest is not gives the pieces found and then ``[UNK]``, where
  BERT gives one ``[UNK]``;
* special tokens written out in a text are text.

A database whose op is of another release may see other letters as punctuation or blanks; letters and digits of Latin-1
are the same in all.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Protocol

from oraclerag.model.sentencepiece import PieceCounter, SentencePiece
from oraclerag.model.tokenizer import Tokenizer
from oraclerag.model.wordpiece import WordPiece

__all__ = ["TokenBound", "TokenCounter", "Tokens", "token_counter"]

_SPECIAL = 2  # [CLS] and [SEP]
_MAX_WORD = 100  # characters; a longer word is one [UNK]
_KEPT_WORDS = 100_000
_KEPT_TEXTS = 512
_ASCII_WORDS = re.compile(r"[^\t\n\r !-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]")


class Tokens(Protocol):
    """Counts the tokens of a text as the model does, [CLS] and [SEP] included."""

    @property
    def exact(self) -> bool:
        """Whether the count is exact; False: it is never too low, but may be too high."""
        ...

    def count(self, text: str) -> int:
        """Give the number of tokens."""
        ...


def token_counter(tokenizer: Tokenizer | None) -> Tokens:
    """Give the exact counter of a vocabulary, or the upper bound where the vocabulary is not known."""
    if isinstance(tokenizer, SentencePiece):
        return PieceCounter(tokenizer)
    return TokenBound() if tokenizer is None else TokenCounter(tokenizer)


class TokenBound:
    """An upper bound for a model whose vocabulary is not known: one token per byte of UTF-8, and two.

    Proof for WordPiece: blanks and control characters are dropped and every other character is mapped to one character
    (by the op in the graph) or to its canonical decomposition (by BERT's own rules), whose parts are never more than
    its bytes. Every token but [CLS] and [SEP] stands for at least one of these characters, ``[UNK]`` for a whole word
    or the rest of one, and no two tokens for the same one. A character has at least one byte. For byte-level BPE: a
    token is one or more bytes of the text. It does not hold for SentencePiece, whose compatibility decomposition makes
    eighteen letters of U+FDFA; models that are built here carry their vocabulary.
    """

    exact = False

    def count(self, text: str) -> int:
        """Give a number of tokens that the text does not exceed."""
        return len(text.encode("utf-8", "surrogatepass")) + _SPECIAL


class TokenCounter:
    """The exact count for a WordPiece vocabulary. Safe to share between threads: what is kept is only a memory."""

    exact = True

    def __init__(self, tokenizer: WordPiece) -> None:
        self._vocabulary = frozenset(tokenizer.tokens)
        self._longest = max(len(token.removeprefix("##")) for token in tokenizer.tokens)
        self._letters = _Letters(tokenizer)
        self._words: dict[str, int] = {}
        self._lowercase = tokenizer.lowercase
        self._recent = lru_cache(maxsize=_KEPT_TEXTS)(self._count)

    def count(self, text: str) -> int:
        """Give the number of tokens, [CLS] and [SEP] included. The latest texts are not counted again."""
        return self._recent(text)

    def _count(self, text: str) -> int:
        known = self._words
        if text.isascii():
            try:
                # The usual text, of words that were met before. A word with a control character in it never was.
                words = _ASCII_WORDS.findall(text.lower() if self._lowercase else text)
                return sum(map(known.__getitem__, words), _SPECIAL)
            except KeyError:
                pass
        total = _SPECIAL
        for word in text.translate(self._letters).split(" "):
            if word:
                pieces = known.get(word)
                total += self._count_word(word) if pieces is None else pieces
        return total

    def _count_word(self, word: str) -> int:
        pieces = self._pieces(word)
        if len(self._words) >= _KEPT_WORDS:
            self._words.clear()
        self._words[word] = pieces
        return pieces

    def _pieces(self, word: str) -> int:
        if len(word) > _MAX_WORD:
            return 1
        count = start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                if mark + word[start:end] in self._vocabulary:
                    break
            else:
                return count + 1
            count += 1
            start = end
        return count


class _Letters(dict[int, str]):
    """The op's treatment of one character, for ``str.translate``; worked out when it is first met.

    Afterwards words are separated by the blank U+0020 and by nothing else.
    """

    def __init__(self, tokenizer: WordPiece) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, code: int) -> str:
        result = self[code] = self._treat(code)
        return result

    def _treat(self, code: int) -> str:
        options = self._tokenizer
        if options.strip_accents and 0xC0 <= code <= 0xFF:
            code = ord(_LATIN_1[code - 0xC0])
        if options.lowercase:
            code = _lower(code)
        if options.split_chinese and _in(code, _CHINESE):
            return f" {chr(code)} "
        if options.strip_accents and 0x300 <= code <= 0x36F:
            return ""
        if _in(code, _PUNCTUATION):
            return f" {chr(code)} "
        if _in(code, _BLANK):
            return " "
        if _in(code, _CONTROL):
            return ""
        return chr(code)


def _lower(code: int) -> int:
    if 0x41 <= code <= 0x5A or (0xC0 <= code <= 0xDE and code != 0xD7):
        return code + 32
    if 0x1F08 <= code <= 0x1F68 or 0x410 <= code <= 0x42F:
        return code + 32
    if code == 0x399 or (0x39A <= code <= 0x3A0 and code != 0x39E):
        return code + 32
    return code


def _in(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(low <= code <= high for low, high in ranges)


# The four tables of the op. They are not Unicode's categories: those would count other tokens.
_LATIN_1 = "AAAAAAÆCEEEEIIIIÐNOOOOO×ØUUUUYÞßaaaaaaæceeeeiiiiðnooooo÷øuuuuyþy"
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_PUNCTUATION = (
    (0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E), (0xA1, 0xA1), (0xA7, 0xA7), (0xAB, 0xAB), (0xB6, 0xB7),
    (0xBB, 0xBB), (0xBF, 0xBF), (0x37E, 0x37E), (0x387, 0x387), (0x2010, 0x2027), (0x2030, 0x2043), (0x2045, 0x2051),
    (0x2053, 0x205E), (0x3001, 0x3003), (0x3008, 0x3011), (0x3014, 0x301F), (0x3030, 0x3030), (0x303D, 0x303D),
)  # fmt: skip
_BLANK = (
    (0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x2000, 0x200A), (0x202F, 0x202F), (0x205F, 0x205F),
    (0x3000, 0x3000),
)  # fmt: skip
_CONTROL = (
    (0x00, 0x08), (0x0B, 0x0C), (0x0E, 0x1F), (0x80, 0x9F), (0xAD, 0xAD), (0x378, 0x379), (0x380, 0x383),
    (0x38B, 0x38B), (0x38D, 0x38D), (0x3A2, 0x3A2), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206E),
    (0x2E9A, 0x2E9A), (0x2EF4, 0x2EFE), (0x9FFD, 0x9FFE), (0xFA6E, 0xFA6F), (0xFADA, 0xFAFE), (0x2A6DE, 0x2A6DE),
    (0x2B735, 0x2B73E), (0x2B81E, 0x2B81F), (0x2CEA2, 0x2CEAE), (0x2FA1E, 0x2FA1E),
)  # fmt: skip
