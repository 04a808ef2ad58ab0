"""Cutting prose against langchain's recursive splitter, on the same text and counted alike; what Markdown costs."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from langchain_text_splitters import RecursiveCharacterTextSplitter

from oraclerag import chunk
from oraclerag.chunk import Limits
from oraclerag.cutting import Cutting
from oraclerag.model.tokens import TokenCounter
from oraclerag.model.wordpiece import SPECIAL_TOKENS, WordPiece
from tests.benchmarks.figures import Figure, median_seconds, ratio_in_turns

__all__ = ["measure"]

ROOT = Path(__file__).resolve().parents[2]
SIZE = 1_000_000  # characters

Count = Callable[[str], int]


def measure() -> Iterator[Figure]:
    """Measure characters and exact tokens: articles whose paragraphs have 2 to 20 sentences, and short paragraphs."""
    words = re.findall(r"[A-Za-z]+", "".join(page.read_text("utf-8") for page in sorted(ROOT.glob("docs/*.md"))))
    articles, notes = _prose(words, SIZE, 20), _prose(words, SIZE, 5)
    tokenizer = _tokenizer(words)

    def tokens() -> Count:
        return TokenCounter(tokenizer).count  # one that remembers nothing yet

    against = "RecursiveCharacterTextSplitter"
    for name, text, count, size, bound in (
        ("articles, 1,000 characters", articles, _characters, 1000, 1.0),
        ("articles, 256 exact tokens", articles, tokens, 256, 1.0),
        ("articles, 500 exact tokens", articles, tokens, 500, None),
        ("short paragraphs, 1,000 characters", notes, _characters, 1000, None),
        ("short paragraphs, 256 exact tokens", notes, tokens, 256, None),
    ):
        ratio = _against_langchain(text, count, size)
        yield Figure(f"cut prose, {name}: time", ratio, "×", against, bound)
    for name, text in (("prose", articles), ("Markdown", _markdown(words, SIZE))):
        seconds = median_seconds(lambda text=text: _cut(text, tokens(), 256), rounds=5)  # type: ignore[misc]
        yield Figure(f"cut {name}, 256 exact tokens", len(text) / 1e6 / seconds, "MB/s", "for orientation")
    ten = _prose(words, 10 * SIZE, 20)
    ratio = ratio_in_turns(lambda: _cut(ten, tokens(), 256), lambda: _cut(articles, tokens(), 256), turns=3)
    yield Figure("cut prose of 10 MB, 256 exact tokens: time", ratio / 10, "×", "ten times that of 1 MB", 1.3)


def _against_langchain(text: str, count: Callable[[], Count], size: int) -> float:
    def theirs() -> None:
        splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=size // 10, length_function=count())
        assert splitter.split_text(text)

    return ratio_in_turns(lambda: _cut(text, count(), size), theirs, turns=9)


def _cut(text: str, count: Count, size: int) -> None:
    assert list(chunk.chunks(text, Limits(size, count), Cutting("passages", size=size, overlap=size // 10)))


def _characters() -> Count:
    return len


def _prose(words: list[str], size: int, sentences: int) -> str:
    """Make paragraphs of 2 to so many sentences of 6 to 28 words each, as often as the documentation uses them."""
    chosen = random.Random(7)
    text: list[str] = []
    length = 0
    while length < size:
        made = (
            " ".join(chosen.choices(words, k=chosen.randint(6, 28))).capitalize() + "."
            for _ in range(chosen.randint(2, sentences))
        )
        text.append(" ".join(made))
        length += len(text[-1]) + 2
    return "\n\n".join(text)


def _markdown(words: list[str], size: int) -> str:
    """Make sections with a heading, prose, a list, a table and code."""
    chosen = random.Random(7)
    paragraphs = iter(_prose(words, size, 5).split("\n\n"))
    text: list[str] = []
    length = 0
    while length < size:
        some = [" ".join(chosen.choices(words, k=8)) for _ in range(12)]
        text += [
            f"{'#' * chosen.randint(1, 4)} {' '.join(some[0].split()[:4])}",
            next(paragraphs),
            "\n".join(f"* {item}" for item in some[1:5]),
            next(paragraphs),
            "| name | what it is |\n|---|---|\n" + "\n".join(f"| {row[:10]} | {row} |" for row in some[5:9]),
            "```\n" + "\n".join(some[9:]) + "\n```",
        ]
        length = length + sum(len(part) + 2 for part in text[-6:])
    return "\n\n".join(text)


def _tokenizer(words: list[str]) -> WordPiece:
    """Make a vocabulary of letters and of the more usual words, so that others consist of pieces."""
    usual = [word for word, _ in Counter(word.lower() for word in words).most_common(1500) if len(word) > 1]
    letters = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    return WordPiece((*SPECIAL_TOKENS, *letters, *(f"##{letter}" for letter in letters if letter.isalnum()), *usual))
