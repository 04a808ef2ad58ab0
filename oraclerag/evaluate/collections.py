"""Test collections: a folder in the layout of BEIR, or judgements in a TSV file, with the questions beside them.

``queries.jsonl`` (``{"_id": …, "text": …}``, also packed: ``queries.jsonl.gz``) and ``qrels/test.tsv`` or
``qrels.tsv``: ``query-id  corpus-id  score`` with or without that head, or the four columns of TREC. Ids of the corpus
are those of one source, or whole keys.
"""

from __future__ import annotations

import re
from pathlib import Path

from oraclerag.errors import InputError
from oraclerag.evaluate.questions import (
    Question,
    QuestionSet,
    Relevant,
    checked_grade,
    from_lines,
    named,
    one_level,
    open_lines,
    tree,
)
from oraclerag.records import SourceKey

__all__ = ["load"]

_PACKED = (".jsonl", ".jsonl.gz")
_SPLIT = re.compile(r"[\w.-]+")


def load(
    file: str | Path, *, source: str | None = None, queries: str | Path | None = None, split: str = "test"
) -> QuestionSet:
    """Read questions from lines of JSON, a folder or a file of judgements.

    ``source`` is the source whose ids the judgements of a collection name; without it they must be whole keys, such as
    ``task:42``. ``queries`` names the file of questions where it is not beside them, ``split`` the judgements of a
    folder. Raises InputError, which names file, line, rule and remedy.
    """
    file, asked = Path(file), None if queries is None else Path(queries)
    if file.is_dir():
        return _collection(_judgements_of(file, split), asked or _queries_near(file), source)
    if not file.exists():
        raise InputError(f"There is no file {str(file)!r}.")
    if file.suffix in (".tsv", ".qrels", ".txt"):
        return _collection(file, asked or _queries_near(file.parent, file.parent.parent), source)
    if file.name.endswith(_PACKED):
        if source is not None or asked is not None:
            raise InputError("A source and a file of questions are said of judgements in TSV, not of lines of JSON.")
        return from_lines(file)
    raise InputError(
        f"{file.name} is none of what can be evaluated.",
        hint="Give questions (.jsonl), judgements (.tsv), or a folder with queries.jsonl and qrels/test.tsv.",
    )


def _judgements_of(folder: Path, split: str) -> Path:
    if not _SPLIT.fullmatch(split):
        raise InputError(f"split must be the name of a file of judgements, such as 'test', not {split!r}.")
    for file in (folder / "qrels" / f"{split}.tsv", folder / "qrels.tsv"):
        if file.is_file():
            return file
    raise InputError(
        f"{str(folder)!r} holds no judgements: neither qrels/{split}.tsv nor qrels.tsv.",
        hint="--split names another file in qrels.",
    )


def _queries_near(*folders: Path) -> Path:
    for folder in folders:
        for ending in _PACKED:
            file = folder / f"queries{ending}"
            if file.is_file():
                return file
    raise InputError(
        f"There is no queries.jsonl in {str(folders[0])!r}.", hint="--queries names the file of questions."
    )


def _collection(judgements: Path, queries: Path, source: str | None) -> QuestionSet:
    judged = _judged(judgements, source)
    texts = _texts(queries)
    absent = [question for question in judged if question not in texts]
    if absent:
        raise InputError(
            f"{judgements.name} judges the question {absent[0]!r}, which {queries.name} does not have "
            f"({len(absent):,} such).",
            hint="Give the questions that belong to these judgements.",
        )
    unasked = len(texts) - len(judged)
    notes = (f"{unasked:,} questions of {queries.name} have no judgements in {judgements.name} and are not asked.",)
    questions = tuple(
        Question(key, text, one_level(judged[key], place), place=place)
        for key, (text, place) in texts.items()
        if key in judged
    )
    if not questions:
        raise InputError(f"{judgements.name} holds no judgement.", hint="A line is query-id, corpus-id and score.")
    return QuestionSet(f"{judgements.parent.name}/{judgements.name}", questions, notes if unasked else ())


def _texts(file: Path) -> dict[str, tuple[str, str]]:
    """Give the texts of the questions by id, each with its place."""
    texts: dict[str, tuple[str, str]] = {}
    for number, line in open_lines(file):
        place = f"{file.name}, line {number}"
        row = tree(line, place)
        key, text = row.get("_id"), row.get("text")
        if isinstance(key, int) and not isinstance(key, bool):
            key = str(key)
        if not isinstance(key, str) or not isinstance(text, str) or not key or not text.strip():
            raise InputError(f'{place}: a question has "_id" and "text", both texts that are not blank.')
        if key in texts:
            raise InputError(f"{place}: the id {key!r} stands in {texts[key][1]} already.", hint="Keep one of them.")
        texts[key] = (text, place)
    return texts


def _judged(file: Path, source: str | None) -> dict[str, list[Relevant]]:
    """Give what was judged by the question's id."""
    found: dict[str, dict[str, Relevant]] = {}
    for number, line in open_lines(file):
        place = f"{file.name}, line {number}"
        cells = line.split("\t") if "\t" in line else line.split()
        if number == 1 and _is_head(cells):
            continue
        if len(cells) not in (3, 4):
            raise InputError(
                f"{place}: {len(cells)} columns.",
                hint="A line is query-id, corpus-id and score, or question, iteration, document and grade, with tabs.",
            )
        question, document, score = cells[0].strip(), cells[-2].strip(), cells[-1].strip()
        try:
            grade = checked_grade(float(score), place)
        except ValueError:
            raise InputError(f"{place}: the score {score!r} is no number.") from None
        if not question or not document:
            raise InputError(f"{place}: an id is empty.")
        one = _document(document, source, grade, place)
        of_question = found.setdefault(question, {})
        if one.key in of_question:
            raise InputError(f"{place}: {document!r} is judged twice for the question {question!r}.")
        of_question[one.key] = one
    return {question: list(judged.values()) for question, judged in found.items()}


def _is_head(cells: list[str]) -> bool:
    return cells[-1].strip().lower() in ("score", "relevance", "rel", "grade", "label")


def _document(document: str, source: str | None, grade: float, place: str) -> Relevant:
    if source is None:
        try:
            return named(document, place, grade)
        except InputError as error:
            raise InputError(error.message, hint="--source names the source whose ids these are.") from None
    try:
        return Relevant(SourceKey(source, document), None, grade)
    except InputError as error:
        raise InputError(f"{place}: {error.message}", hint=error.hint) from None
