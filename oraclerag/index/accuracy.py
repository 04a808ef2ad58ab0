"""How much an approximate search misses: the same questions asked exactly and approximately.

Recall@k of a question is the share of its k nearest chunks that the approximate search finds too; a hit as near as the
k-th counts, whichever of several equally near ones it is. The interval is Wilson's for 95 %, over questions and not
over hits, for the hits of one question come together: it is a little too wide rather than too narrow.
"""

from __future__ import annotations

import contextlib
import math
import random
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import oracledb

from oraclerag.database import Database, code_of, own_tables, words
from oraclerag.errors import InputError
from oraclerag.index.state import IndexStatus, status
from oraclerag.model.active import active_model
from oraclerag.model.columns import index_name
from oraclerag.security import reading
from oraclerag.statements import Statements, quoted

if TYPE_CHECKING:
    from oraclerag.records import SearchResult

__all__ = ["AccuracyReport", "OracleAccuracy", "Questions", "Recall", "measure", "questions_of", "wilson"]

SAMPLE = 50
_MAX_QUESTIONS = 10_000
_STORED_PER_QUESTION = 10
_WORDS = 16
_Z = 1.959964
_NEAR = 1e-6  # distances of FLOAT32 vectors, computed in another order
_ORACLE_QUESTIONS = 20
# not in the package (PLS-00302, PLS-00201), or not known at all
_ABSENT = ("ORA-06550", "ORA-03001", "ORA-00904")
_PERCENT = re.compile(r"\((\d+(?:\.\d+)?)\s*%\)")

Origin = Literal["given", "asked", "texts"]
Ask = Callable[[str, Literal["auto", "exact", "approx"], float | None], "SearchResult"]
"""Asks a question in a mode, among all chunks of the scope or a share of them (0 to 1)."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked; ``origin`` is ``"given"``, ``"asked"`` (from RAG_SEARCH) or ``"texts"`` (words of chunks)."""

    origin: Origin
    texts: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Questions({self.origin!r}, {len(self.texts)} texts)"


@dataclass(frozen=True, slots=True)
class Recall:
    """Recall@k over all chunks of the scope, or over a ``share`` of them that stands for a filter.

    ``recall`` is that of the index, from ``low`` to ``high`` with 95 % confidence; ``short`` says for how many of the
    questions it gave fewer than there are. ``chosen`` is the recall of a search as it is made by default, ``exact`` how
    many of the questions that search looked for exactly, ``reason`` why, of the first one. ``questions`` without
    anything to find are left out; ``recall`` and ``chosen`` are None where all of them were.
    """

    share: float | None
    questions: int
    recall: float | None
    low: float
    high: float
    short: int
    chosen: float | None
    exact: int
    reason: str


@dataclass(frozen=True, slots=True)
class OracleAccuracy:
    """What DBMS_VECTOR.INDEX_ACCURACY_QUERY says: the mean over ``questions`` of them, in percent."""

    achieved: float | None
    questions: int
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class AccuracyReport:
    """What was measured. ``index`` is the one in use; ``target`` the accuracy asked of it, in percent."""

    k: int
    origin: Origin
    target: int
    index: IndexStatus
    recalls: tuple[Recall, ...]
    oracle: OracleAccuracy


def questions_of(
    database: Database, tenant: str, given: Sequence[str] | None, sample: int | None, *, seed: int | None = None
) -> Questions:
    """Give the questions: those that are given, else the last that were asked in a tenant, else words of its chunks.

    ``sample`` (1 to 10,000, default 50) is how many. Raises InputError where there is nothing to ask.
    """
    if given is not None:
        if isinstance(given, str) or not all(isinstance(text, str) for text in given):
            raise InputError("questions must be a list of texts.")
        texts = tuple(dict.fromkeys(text.strip() for text in given if text.strip()))
        if not texts:
            raise InputError("questions holds no question.")
        if sample is not None:
            raise InputError("questions and sample exclude one another: either these questions or so many stored ones.")
        return Questions("given", texts)
    many = SAMPLE if sample is None else sample
    if isinstance(many, bool) or not isinstance(many, int) or not 1 <= many <= _MAX_QUESTIONS:
        raise InputError(f"sample must be a whole number between 1 and {_MAX_QUESTIONS:,}, not {many!r}.")
    with reading(database, tenant) as (connection, schema):
        asked = _texts(connection, schema, "asked", tenant=tenant, most=many * _STORED_PER_QUESTION)
        if asked:
            return Questions("asked", tuple(dict.fromkeys(asked))[:many])
        factor = random.Random(seed).randrange(1, 1_000_003)  # noqa: S311 - a draw, no secret  # nosec B311
        drawn = _texts(connection, schema, "texts", tenant=tenant, most=many, factor=factor)
    if not drawn:
        raise InputError("There is no chunk in this scope, so there is nothing to ask.", hint="Index first.")
    return Questions("texts", tuple(dict.fromkeys(_middle(text) for text in drawn)))


def measure(
    database: Database,
    ask: Ask,
    questions: Questions,
    *,
    k: int,
    shares: Sequence[float] = (),
    accuracy: int | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> AccuracyReport:
    """Ask every question three times, exactly, approximately and as by default, for every share.

    ``on_progress`` is told how many questions are done, of how many. Raises InputError without a usable index, and for
    a share that is not over 0 and at most 1.
    """
    index = status(database)
    if not index.usable:
        raise InputError(
            "There is no usable vector index: every search is exact.", hint="`oraclerag index build` makes one."
        )
    for part in shares:
        if isinstance(part, bool) or not isinstance(part, (int, float)) or not 0 < part <= 1:
            raise InputError(f"A share must be over 0 and at most 1, such as 0.01, not {part!r}.")
    target = accuracy or database.settings.target_accuracy
    every: tuple[float | None, ...] = (None, *shares)
    total = len(every) * len(questions.texts)
    done = 0
    recalls = []
    for share in every:
        compared = []
        for question in questions.texts:
            compared.append(_compare(ask, question, share))
            done += 1
            if on_progress is not None:
                on_progress(done, total)
        recalls.append(_recall(share, [one for one in compared if one is not None]))
    return AccuracyReport(k, questions.origin, target, index, tuple(recalls), _oracle(database, questions, k, target))


def recall(nearest: Sequence[float], found: Sequence[float]) -> float:
    """Give the share of the nearest that was found, from the distances of both; ``nearest`` is not empty."""
    farthest = nearest[-1] + _NEAR
    return min(1.0, sum(distance <= farthest for distance in found) / len(nearest))


def wilson(share: float, count: int) -> tuple[float, float]:
    """Give Wilson's interval of 95 % for a share that was seen in ``count`` trials."""
    square = _Z * _Z
    centre = (share + square / (2 * count)) / (1 + square / count)
    half = _Z * math.sqrt(share * (1 - share) / count + square / (4 * count * count)) / (1 + square / count)
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))  # rounding leaves it out else


@dataclass(frozen=True, slots=True)
class _Compared:
    index: float
    short: bool
    chosen: float
    exact: bool
    reason: str


def _compare(ask: Ask, question: str, share: float | None) -> _Compared | None:
    nearest = [hit.distance for hit in ask(question, "exact", share).hits]
    if not nearest:  # nothing to find: nothing can be missed
        return None
    approximate = [hit.distance for hit in ask(question, "approx", share).hits]
    default = ask(question, "auto", share)
    return _Compared(
        recall(nearest, approximate),
        len(approximate) < len(nearest),
        recall(nearest, [hit.distance for hit in default.hits]),
        not default.approximate,
        default.reason,
    )


def _recall(share: float | None, compared: Sequence[_Compared]) -> Recall:
    if not compared:
        return Recall(share, 0, None, 0.0, 1.0, 0, None, 0, "there is nothing to find")
    mean = statistics.fmean(one.index for one in compared)
    low, high = wilson(mean, len(compared))
    return Recall(
        share,
        len(compared),
        mean,
        low,
        high,
        sum(one.short for one in compared),
        statistics.fmean(one.chosen for one in compared),
        sum(one.exact for one in compared),
        compared[0].reason,
    )


def _texts(connection: oracledb.Connection, schema: str, name: str, **binds: Any) -> list[str]:
    """Read texts of one tenant; empty ones are left out."""
    column = quoted(active_model(connection, schema).column, "vector column")
    with own_tables(), connection.cursor() as cursor:
        cursor.execute(Statements("index", schema).with_names(name, column=column), binds, fetch_lobs=False)
        return [text.strip() for (text,) in cursor if text and text.strip()]


def _middle(text: str) -> str:
    """Give some words of the middle of a text: a question is shorter than what it asks for."""
    found = text.split()
    begin = max(0, (len(found) - _WORDS) // 2)
    return " ".join(found[begin : begin + _WORDS])


def _oracle(database: Database, questions: Questions, k: int, target: int) -> OracleAccuracy:
    """Ask Oracle's own function, which looks at the whole index and knows no filter."""
    achieved: list[float] = []
    with database.connect() as connection:
        model = active_model(connection, database.schema)
        if model.provider is not None:
            return OracleAccuracy(None, 0, f"the vectors of questions are made by {model.provider}")
        embed = Statements("index", database.schema).with_names("embed", model=model.sql_name)
        call = Statements("index", database.schema)["accuracy"]
        with connection.cursor() as cursor, own_tables():
            for text in questions.texts[:_ORACLE_QUESTIONS]:
                cursor.execute(embed, text=text[:250])
                row = cursor.fetchone()
                assert row is not None  # noqa: S101 - dual has one row
                report = cursor.var(str, 4000)
                try:
                    cursor.execute(
                        call, report=report, owner=database.schema, index_name=index_name(model.column), vector=row[0],
                        k=k, accuracy=target,
                    )  # fmt: skip
                except oracledb.DatabaseError as error:
                    if code_of(error) not in _ABSENT:
                        raise
                    return OracleAccuracy(
                        None, 0, f"DBMS_VECTOR.INDEX_ACCURACY_QUERY is not available ({words(error)})"
                    )
                achieved += _percent(report.getvalue())
    if not achieved:
        return OracleAccuracy(None, 0, "DBMS_VECTOR.INDEX_ACCURACY_QUERY said nothing that is understood")
    return OracleAccuracy(statistics.fmean(achieved), len(achieved))


def _percent(text: str | None) -> Iterator[float]:
    """Give the accuracy achieved: the first percentage of "Accuracy achieved (100%) is 10% higher than …"."""
    found = _PERCENT.search(text or "")
    if found:
        with contextlib.suppress(ValueError):
            yield float(found[1])
