"""Questions with what is relevant for each: the records, and how they are read from lines of JSON.

A line: ``{"id": "q1", "question": "…", "relevant": ["task:42", "task:43:0", {"source": "task:44", "grade": 2}],
"expected": "…", "filter": {…}, "codes": true}``; only ``question`` must be there. What is wrong is said with file and
line before anything is asked.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from oraclerag.errors import InputError
from oraclerag.records import SourceKey

__all__ = ["Question", "QuestionSet", "Relevant", "checked_grade", "from_lines", "named", "open_lines", "tree"]

MAX_GRADE = 1_000_000.0
_KEYS = {"id", "question", "relevant", "expected", "filter", "codes"}
_LONGEST = 9  # digits of a chunk's number


@dataclass(frozen=True, slots=True)
class Relevant:
    """What was judged for a question: a whole entity, or the ``chunk`` of that number; relevant is a grade over 0."""

    source: SourceKey
    chunk: int | None = None
    grade: float = 1.0

    @property
    def key(self) -> str:
        """``task:42``, or ``task:42:0`` for a chunk."""
        return str(self.source) if self.chunk is None else f"{self.source}:{self.chunk}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what is known of it; ``place`` says where it stands, for messages.

    Without ``relevant`` it is asked and not scored. ``expected`` is the answer hoped for; ``filter`` and ``codes`` are
    options of its search.
    """

    id: str
    text: str = field(repr=False)
    relevant: tuple[Relevant, ...] = ()
    expected: str | None = field(default=None, repr=False)
    filter: Mapping[str, Any] | None = None
    codes: bool | tuple[str, ...] = True
    place: str = ""

    @property
    def judged(self) -> Mapping[str, float]:
        """The grades by key."""
        return MappingProxyType({one.key: one.grade for one in self.relevant})


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions from one place, and sentences on what of it was left out."""

    name: str
    questions: tuple[Question, ...] = field(repr=False)
    notes: tuple[str, ...] = ()


def from_lines(file: Path) -> QuestionSet:
    """Read questions, one JSON object a line. Raises InputError for the first line that is not one."""
    questions: list[Question] = []
    places: dict[str, str] = {}
    for number, line in open_lines(file):
        place = f"{file.name}, line {number}"
        question = _question(tree(line, place), str(number), place)
        if question.id in places:
            raise InputError(
                f"{place}: the id {question.id!r} stands in {places[question.id]} already.",
                hint="Give every question an id of its own, or none: its line is then its id.",
            )
        places[question.id] = place
        questions.append(question)
    if not questions:
        raise InputError(f"{file.name} holds no question.", hint='A line is such as {"question": "…"}.')
    return QuestionSet(file.name, tuple(questions))


def open_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Give the lines of a text, also of one packed by gzip, that are not blank, with their numbers."""
    try:
        data = file.read_bytes()
        if file.suffix == ".gz":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        said = getattr(error, "strerror", None) or error
        raise InputError(f"{str(file)!r} cannot be read: {said}.") from error
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r ")
        except UnicodeDecodeError:
            raise InputError(f"{file.name}, line {number}: not UTF-8.", hint="Save the file as UTF-8.") from None
        if text.strip():
            yield number, text


def tree(line: str, place: str) -> dict[str, Any]:
    """Read one JSON object, in which a key twice and numbers that are none are errors."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            raise InputError(f"{place}: an object has a key twice.", hint="Keep one of them.")
        return found

    def constant(name: str) -> Any:
        raise InputError(f"{place}: {name} is no number of JSON.")

    try:
        found = json.loads(line, object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        where = f" (at character {error.pos + 1})" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"{place}: not JSON{where}.", hint='A line is such as {"question": "…"}.') from None
    if not isinstance(found, dict):
        raise InputError(f"{place}: not a JSON object.", hint='A line is such as {"question": "…"}.')
    return found


def _question(given: Mapping[str, Any], number: str, place: str) -> Question:
    if unknown := sorted(set(given) - _KEYS):
        raise InputError(
            f"{place}: {unknown[0]!r} is no key of a question.", hint=f"There are {', '.join(sorted(_KEYS))}."
        )
    text, expected, filter_ = given.get("question"), given.get("expected"), given.get("filter")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f'{place}: "question" must be a text that is not blank.')
    if expected is not None and (not isinstance(expected, str) or not expected.strip()):
        raise InputError(
            f'{place}: "expected" must be a text that is not blank.', hint="Leave it out where there is none."
        )
    if filter_ is not None and not isinstance(filter_, dict):
        raise InputError(f'{place}: "filter" must be an object, such as {{"project": "AP"}}.')
    return Question(
        id=_id(given.get("id", number), place),
        text=text,
        relevant=_relevant(given.get("relevant", []), place),
        expected=expected,
        filter=filter_,
        codes=_codes(given.get("codes", True), place),
        place=place,
    )


def _id(value: object, place: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f'{place}: "id" must be a text that is not blank, or a whole number.')
    return value


def _codes(value: object, place: str) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if isinstance(value, list) and value and all(isinstance(code, str) for code in value):
        return tuple(value)
    raise InputError(f'{place}: "codes" must be true, false or a list of error codes, such as ["ORA-01652"].')


def _relevant(value: object, place: str) -> tuple[Relevant, ...]:
    if not isinstance(value, list):
        raise InputError(f'{place}: "relevant" must be a list, such as ["task:42"].')
    return one_level([_one(item, place) for item in value], place)


def one_level(found: Sequence[Relevant], place: str) -> tuple[Relevant, ...]:
    """Refuse what is named twice, and an entity that is named as a whole and by its chunks: a hit would count twice."""
    keys: set[str] = set()
    for one in found:
        if one.key in keys:
            raise InputError(f"{place}: {one.key!r} is named twice.", hint="Keep one of them.")
        keys.add(one.key)
    whole = {one.source for one in found if one.chunk is None}
    for one in found:
        if one.chunk is not None and one.source in whole:
            raise InputError(
                f"{place}: {str(one.source)!r} is named as a whole and by its chunk {one.chunk}.",
                hint="Judge either the entity or its chunks.",
            )
    return tuple(found)


def _one(item: object, place: str) -> Relevant:
    if isinstance(item, str):
        return named(item, place)
    if not isinstance(item, dict) or "source" not in item or not set(item) <= {"source", "chunk", "grade"}:
        raise InputError(
            f'{place}: what is relevant must be a key or an object with "source" and "grade" (and "chunk").',
            hint='Such as "task:42", "task:42:0" or {"source": "task:42", "grade": 2}.',
        )
    source, grade = item["source"], checked_grade(item.get("grade", 1), place)
    if not isinstance(source, str):
        raise InputError(f'{place}: "source" must be a text, such as "task:42".')
    if "chunk" not in item:
        return named(source, place, grade)
    chunk = item["chunk"]
    if chunk is not None and (isinstance(chunk, bool) or not isinstance(chunk, int) or not 0 <= chunk < 10**_LONGEST):
        raise InputError(f'{place}: "chunk" must be a whole number from 0 on, or null for the whole entity.')
    return Relevant(_entity(source, place), chunk, grade)


def checked_grade(value: object, place: str) -> float:
    """Give a grade: a number; 0 and below is judged and not relevant."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= MAX_GRADE:
        raise InputError(f"{place}: a grade must be a number of at most {MAX_GRADE:,.0f}, such as 1, not {value!r}.")
    return float(value)


def named(key: str, place: str, grade: float = 1.0) -> Relevant:
    """Read a key as hits have it: ``task:42`` is an entity, ``task:42:0`` its chunk 0.

    An id that ends like that itself is written ``{"source": "task:42:0", "chunk": null}``.
    """
    kind, _, rest = key.partition(":")
    identity, colon, number = rest.rpartition(":")
    if colon and identity and number.isascii() and number.isdigit() and len(number) <= _LONGEST:
        return Relevant(_entity(f"{kind}:{identity}", place), int(number), grade)
    return Relevant(_entity(key, place), None, grade)


def _entity(key: str, place: str) -> SourceKey:
    kind, colon, identity = key.partition(":")
    if not colon or not kind or not identity:
        raise InputError(
            f"{place}: {key!r} names nothing: a key is the source, a colon and the id.", hint='Such as "task:42".'
        )
    try:
        return SourceKey(kind, identity)
    except InputError as error:
        raise InputError(f"{place}: {error.message}", hint=error.hint) from None
