"""Answers without a language model: the sentences of the sources that share most with the question, word for word.

A sentence weighs what the question's words in it weigh, and a word weighs more the fewer sentences have it; codes and
identifiers weigh double. Pure text work: the same prompt gives the same answer.
"""

from __future__ import annotations

import abc
import math
import re
from collections import Counter
from collections.abc import Generator as Pieces
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from oraclerag import anchors
from oraclerag.function_words import FUNCTION_WORDS
from oraclerag.generate.stream import Stream
from oraclerag.records import Generation, Prompt, PromptSource

__all__ = ["Extractive", "Quoting", "quoted"]

_QUOTED = "No language model wrote this. What the sources say, word for word:"
_NEAREST = "No language model wrote this, and no sentence of the sources has a word of the question. The nearest begin:"
_NOTHING = "No language model wrote this, and there is no source to quote."

_LONGEST = 600  # characters of a quotation
_STEM = 6  # letters by which words are the same: deadlock, deadlocks; validate, validación
_WORD = re.compile(r"[^\W_]+(?:[-_.$#/:][^\W_]+)*")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])[\"'»”’)\]*]*\s+(?=[\"'«“‘(\[*¿¡]*[^\W_a-zà-ÿ])|(?<=[。！？])")


class _Sentence(NamedTuple):
    """A sentence of a source, where it stands, and its words as they are compared."""

    source: int
    place: int
    text: str
    words: frozenset[str]


class Quoting(abc.ABC):
    """Who answers without a language model, by quotations."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """What it is called."""
        return "extractive"

    @property
    def local(self) -> bool:
        """It sends nothing."""
        return True

    def generate(self, prompt: Prompt) -> Generation:
        """Give the answer."""
        return self._generation(list(self.parts(prompt)))

    def stream(self, prompt: Prompt) -> Stream:
        """Give the answer, one quotation after the other."""
        return Stream(self._pieces(prompt))

    def _pieces(self, prompt: Prompt) -> Pieces[str, None, Generation]:
        parts = []
        for part in self.parts(prompt):
            parts.append(part)
            yield part
        return self._generation(parts)

    def _generation(self, parts: list[str]) -> Generation:
        return Generation(text="".join(parts), model=self.name, label=parts[0])

    @abc.abstractmethod
    def parts(self, prompt: Prompt) -> Iterator[str]:
        """Give what the answer is made of; the first part says what it is, and is its label."""


@dataclass(frozen=True, slots=True)
class Extractive(Quoting):
    """Quotes at most ``sentences`` sentences, those that answer best first, each with its anchor.

    Where no sentence has a word of the question, it quotes how the nearest sources begin; that too is labelled.
    """

    sentences: int = 5

    def parts(self, prompt: Prompt) -> Iterator[str]:
        """Give what it is, and the quotations."""
        if not prompt.sources:
            yield _NOTHING
            return
        found = [sentence for number, source in enumerate(prompt.sources) for sentence in _sentences(number, source)]
        best = _best(found, _telling(prompt.question))[: self.sentences]
        yield _QUOTED if best else _NEAREST
        for sentence in best or [first for first in found if first.place == 0][: self.sentences]:
            source = prompt.sources[sentence.source]
            yield f"\n\n> {quoted(sentence.text, source.anchor)} {source.anchor}"


def _telling(question: str) -> dict[str, float]:
    """Give the words of a question that say what it is about, or all where none does, with what each counts."""
    words = [word.casefold() for word in _WORD.findall(question)]
    telling = [word for word in words if word not in FUNCTION_WORDS and (len(word) > 1 or not word.isascii())]
    return {_stem(word): 2.0 if any(map(str.isdigit, word)) else 1.0 for word in telling or words}


def _best(sentences: list[_Sentence], question: dict[str, float]) -> list[_Sentence]:
    """Order the sentences that have a word of the question by weight; equals as they stand, each text once."""
    having = Counter(word for sentence in sentences for word in sentence.words & question.keys())
    weights = {word: question[word] * math.log(1 + len(sentences) / count) for word, count in having.items()}

    def weight(sentence: _Sentence) -> float:
        return math.fsum(weights[word] for word in sorted(sentence.words & question.keys()))

    ordered = sorted(
        (sentence for sentence in sentences if sentence.words & question.keys()),
        key=lambda sentence: (-round(weight(sentence), 9), sentence.source, sentence.place),
    )
    once: dict[str, _Sentence] = {}
    for sentence in ordered:
        once.setdefault(" ".join(sentence.text.split()).casefold(), sentence)
    return list(once.values())


def _sentences(number: int, source: PromptSource) -> Iterator[_Sentence]:
    """Part a source at its lines and behind its sentences; what has no word is none."""
    place = 0
    for line in source.hit.content.splitlines():
        for text in _SENTENCE.split(line):
            words = frozenset(_stem(word.casefold()) for word in _WORD.findall(text))
            if words:
                yield _Sentence(number, place, text.strip(), words)
                place += 1


def _stem(word: str) -> str:
    return word[:_STEM] if word.isalpha() else word


def quoted(text: str, anchor: str) -> str:
    """Give a quotation on one line, in which nothing passes for an anchor."""
    if len(text) > _LONGEST:
        cut = text[:_LONGEST]
        text = (cut.rpartition(" ")[0] or cut) + " …"
    return anchors.neutral(" ".join(text.split()), "hash" if anchor.startswith("#") else "bracket")
