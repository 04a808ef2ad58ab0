"""Was the right thing retrieved, and does the answer follow it: without a language model, by codes, citations, words.

* context precision: does what was retrieved address the error code that was asked about?
* context recall: was a match found where there is one?
* faithfulness: do the statements of an answer rest on what they cite?

Each is None for a question that it is not about, which is not a score of 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from oraclerag import error_codes
from oraclerag.cite import FOOTNOTE, overlap
from oraclerag.cite.scan import Kind, parts
from oraclerag.evaluate.report import Retrieved
from oraclerag.records import Answer

__all__ = ["context_precision", "context_recall", "expected_overlap", "faithfulness", "statements"]


def context_precision(hits: Sequence[Retrieved], k: int) -> float | None:
    """Give the share of the first ``k`` hits that address the question's error code.

    A hit that was judged addresses it if it is relevant, another one if it names the code. None where the question
    has no code, and where nothing was found.
    """
    found = [hit for hit in hits[:k] if hit.names_code is not None]
    if not found:
        return None
    return sum(bool(hit.names_code) if hit.grade is None else hit.grade > 0 for hit in found) / len(found)


def context_recall(hits: Sequence[Retrieved], k: int, *, exists: bool | None, judged: bool) -> float | None:
    """Give 1 where a match is among the first ``k`` hits, else 0.

    A match is what was judged relevant, of a question that is not ``judged`` what names its error code. ``exists`` says
    whether there is one that the asker may see; None where that is not True: then nothing could be found.
    """
    if not exists:
        return None
    return float(any((hit.grade or 0) > 0 if judged else bool(hit.names_code) for hit in hits[:k]))


def faithfulness(answer: Answer) -> float | None:
    """Give the share of an answer's statements that rest on the sources which they cite.

    A statement does if it cites a source, has enough of its words from there, and names no error code that neither what
    it cites nor the question names. None where nothing was answered or nothing is stated.
    """
    found = statements(answer)
    return sum(found) / len(found) if found else None


def statements(answer: Answer) -> list[bool]:
    """Say of every statement of an answer, in order, whether it rests on what it cites."""
    if answer.generation is None or answer.prompt is None:
        return []
    texts = {
        source.hit.key: overlap.words(
            "\n".join(filter(None, (source.hit.title, source.hit.section, source.hit.content)))
        )
        for source in answer.prompt.sources
    }
    cited = {
        citation.number: frozenset[str]().union(*(texts.get(key, frozenset()) for key in citation.keys))
        for citation in answer.citations
    }
    asked = overlap.words(answer.question)
    return [_rests(words, numbers, cited, asked) for words, numbers in _stated(answer, set(cited))]


def _stated(answer: Answer, known: Set[int]) -> list[tuple[frozenset[str], list[int]]]:
    """Give the words of every statement, and the footnotes in it."""
    label = answer.generation.label if answer.generation is not None else ""
    numbers: list[int] = []
    text = ""
    for part in parts(answer.text.removeprefix(label), "hash"):
        footnote = FOOTNOTE.fullmatch(part.text) if part.kind is Kind.FOOTNOTE else None
        if footnote is not None and int(footnote[1]) in known:
            text += overlap.place(len(numbers))
            numbers.append(int(footnote[1]))
        else:
            text += overlap.prose(part)
    return [(sentence.words, [numbers[at] for at in sentence.runs]) for sentence in overlap.sentences(text)]


def _rests(words: Set[str], numbers: Sequence[int], cited: Mapping[int, Set[str]], asked: Set[str]) -> bool:
    there: set[str] = set().union(*(cited[number] for number in numbers))
    # words of a text have a hyphen where they are codes alone
    codes = {word for word in words if "-" in word}
    return bool(numbers) and overlap.supported(words, there) and codes <= _all_names(there | asked)


def _all_names(words: Set[str]) -> set[str]:
    return {other for word in words if "-" in word for other in error_codes.aliases(word)}


def expected_overlap(expected: str, answer: str) -> float | None:
    """Give the share of the content words of the expected answer, codes and numbers among them, that the answer has.

    None where the expected answer has no content word.
    """
    wanted = overlap.words(expected)
    return len(wanted & overlap.words(answer)) / len(wanted) if wanted else None
