"""What is otherwise when a logged search is run again: every hit is told once, and nothing else is."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.errors import InputError
from oraclerag.records import Answer, Hit, LoggedHit, LoggedSearch, SearchResult, SourceKey
from oraclerag.scope import Scope
from oraclerag.searches.comparison import compare
from oraclerag.searches.replay import run

PLACES = [(source, str(number), chunk) for source in ("task", "file") for number in (1, 2) for chunk in (0, 1)]
DISTANCES = st.sampled_from((0.1, 0.1 + 1e-9, 0.2, 0.5))
RANKED = st.lists(st.tuples(st.sampled_from(PLACES), DISTANCES), unique_by=lambda one: one[0])


def logged(hits: list[tuple[tuple[str, str, int], float]], **values: object) -> LoggedSearch:
    kept = tuple(
        LoggedHit(rank, SourceKey(source, number, "main"), chunk, distance)
        for rank, ((source, number, chunk), distance) in enumerate(hits, 1)
    )
    given_values = {"kind": "ask", "outcome": "answered", "question": "Why?", "found": len(hits), "hits": kept}
    return LoggedSearch(
        search_id=7, tenant="main", asked_role="anyone", asked_at=dt.datetime(2026, 1, 1), **(given_values | values)  # type: ignore[arg-type] # noqa: DTZ001
    )  # fmt: skip


def result(hits: list[tuple[tuple[str, str, int], float]], model: str | None = None) -> SearchResult:
    found = (
        Hit(rank, rank + 900, SourceKey(source, number), chunk, "text", distance)
        for rank, ((source, number, chunk), distance) in enumerate(hits, 1)
    )
    return SearchResult(tuple(found), model=model)


@given(RANKED, RANKED)
def test_every_hit_is_told_once(before: list, now: list) -> None:  # type: ignore[type-arg]
    found = compare(logged(before), result(now))
    names = {f"{source}:{number}:{chunk}": (source, number, chunk) for source, number, chunk in PLACES}
    assert {names[hit.key] for hit in found.came} == {place for place, _ in now} - {place for place, _ in before}
    assert {names[hit.key] for hit in found.went} == {place for place, _ in before} - {place for place, _ in now}
    assert len(found.moved) + found.kept == len({place for place, _ in before} & {place for place, _ in now})
    for moved in found.moved:
        old, new = before[moved.rank_before - 1], now[moved.rank - 1]
        assert old[0] == new[0] == names[moved.key]
        assert moved.rank != moved.rank_before or abs(old[1] - new[1]) > 1e-7
    same = len(before) == len(now) and all(
        old[0] == new[0] and abs(old[1] - new[1]) < 1e-7 for old, new in zip(before, now, strict=True)
    )
    assert found.changed != same


def test_model_outcome_and_answer_are_compared_where_there_is_something_to_compare() -> None:
    one = [(PLACES[0], 0.5)]
    assert compare(logged(one, model="A"), result(one, "B")).model_changed
    assert not compare(logged(one), result(one, "B")).changed
    assert compare(logged([], outcome="no_grounds"), result([])).outcome == "nothing"
    assert not compare(logged([], outcome="no_grounds"), result([])).changed
    assert compare(logged([], outcome="failed", found=None), result([])).outcome_changed

    def answer(text: str) -> Answer:
        return Answer("Why?", text, "answered", result=result(one), searched="Why?", generator="llm")

    assert compare(logged(one, answer="Because."), result(one), answer("Because.")).answer_changed is False
    assert compare(logged(one, answer="Because."), result(one), answer("Perhaps.")).changed
    assert compare(logged(one), result(one), answer("Perhaps.")).answer_changed is None
    assert compare(logged(one, outcome="truncated"), result(one), answer("Because.")).outcome_changed


@pytest.mark.parametrize(
    ("values", "answer", "said"),
    [
        ({"question": None, "question_hash": "ab"}, False, "its question was not kept, only its hash"),
        ({"question": None}, False, "its question was not kept, or its text was cleared"),
        ({"kind": "search", "outcome": "found"}, True, "asked for no answer"),
        ({"kind": "diagnose"}, False, "is a diagnosis"),
    ],
)
def test_what_cannot_be_run_again_is_said(values: dict[str, object], answer: bool, said: str) -> None:
    def never(*_: object, **__: object) -> SearchResult:
        raise AssertionError

    with pytest.raises(InputError, match=said):
        run(logged([], **values), Scope(), never, never, answer=answer, log=False)  # type: ignore[arg-type]


def test_searched_for_is_what_was_searched_for_then() -> None:
    asked: list[tuple[str, dict[str, object]]] = []

    def search(question: str, *, options: dict[str, object], **how: object) -> SearchResult:
        asked.append((question, {**how, **options}))
        return result([])

    options = {"k": 3, "since": "2026-01-31", "until": "2026-01-31T10:00:00+02:00", "prompt": {"max_chunks": 2}}
    scope = Scope(tenant="main")
    # what was searched for is kept wherever it is not the question itself
    for texts in ({}, {"standalone": "Why so?", "reduced": "Why so?"}, {"standalone": "Why so?", "reduced": "so"}):
        run(logged([], options=options, **texts), scope, search, search, answer=False, log=True)  # type: ignore[arg-type]
    run(logged([], question=None, options={"vector": [0.5]}), scope, search, search, answer=False, log=False)  # type: ignore[arg-type]
    assert [question for question, _ in asked] == ["Why?", "Why so?", "so", ""]
    assert asked[0][1] == {
        "scope": scope, "log": True, "k": 3, "since": dt.date(2026, 1, 31),
        "until": dt.datetime(2026, 1, 31, 8, tzinfo=dt.UTC),
    }  # fmt: skip
