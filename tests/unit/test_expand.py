"""Around hits and by name: the statements against golden files, joined texts, bounds, and what is diverse.

``python -m tests.unit.test_expand`` writes the golden files anew; read the difference before you keep it.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oraclerag.records import Document, Hit, Passage, SearchResult, SourceKey, StoredChunk
from oraclerag.scope import Scope
from oraclerag.search import Statement, diversify, expand, fetch
from oraclerag.search.rechecked import rechecked
from tests.unit.test_search_sql import ANYONE, DEVELOPER, GOLDEN, MANAGER

KEY = SourceKey("task", "42", "acme")


def chunk(chunk_id: int, number: int = 0, key: SourceKey = KEY) -> StoredChunk:
    return StoredChunk(chunk_id, key, number, "")


def hit(rank: int, number: int) -> Hit:
    return Hit(rank, number, SourceKey("task", str(number)), 0, "text", 0.5)


def asked(*ids: int, how: Any = "neighbours", **options: Any) -> expand.Expansion:
    return expand.around([chunk(one) for one in ids], how, **options)


CASES: dict[str, Statement] = {
    "around_neighbours": expand.rows("RAG", DEVELOPER, asked(1, 2, 3, before=2)),
    "around_section": expand.rows("RAG", MANAGER, asked(1, how="section")),
    "around_parent": expand.documents("RAG", ANYONE, asked(1, 2, how="parent")),
    "fetch": fetch.compose_fetch("RAG", DEVELOPER, fetch.names([7, "task:42:0", SourceKey("task", "43")])),
    "diverse": diversify.with_distances(
        Statement("SELECT CHUNK_ID, DISTANCE FROM A_SEARCH ORDER BY DISTANCE", {}, ("CHUNK_ID", "DISTANCE")),
        "RAG",
        "EMBEDDING",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    assert CASES[name].text + "\n" == (GOLDEN / f"{name}.sql").read_text("utf-8")


@pytest.mark.parametrize("name", CASES)
def test_every_bind_is_used_and_every_placeholder_bound(name: str) -> None:
    statement = CASES[name]
    assert set(re.findall(r":([a-z_0-9]+)", statement.text)) == set(statement.binds)


@pytest.mark.parametrize("name", [name for name in CASES if name != "diverse"])
def test_the_scope_stands_before_every_chunk_that_is_read(name: str) -> None:
    """One for the hits, one for what stands around them: neither is a right to the other."""
    assert CASES[name].text.count("TENANT_ID = :scope_tenant") == (
        2 if name in ("around_neighbours", "around_section") else 1
    )


# -- joined texts -----------------------------------------------------------------------------------------------------


def row(
    number: int, text: str, start: int | None, end: int | None, *, head: str = "", parent: int | None = None
) -> Any:
    return expand.Row(1, number + 100, number, parent, None, start, end, len(head), head + text, KEY)


@st.composite
def cuts(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """A text and spans that cover it, overlap as they like, and have heads."""
    text = draw(st.text(st.sampled_from("ab \n🙂"), min_size=1, max_size=80))
    places = sorted(draw(st.sets(st.integers(1, len(text)), max_size=6)) | {len(text)})
    rows, start = [], 0
    for number, end in enumerate(places):
        begin = draw(st.integers(max(0, start - 5), start)) if number else 0
        rows.append(row(number, text[begin:end], begin, end, head=draw(st.sampled_from(["", "A > B\n"]))))
        start = end
    return text, rows


@given(cuts())
def test_chunks_joined_by_their_spans_are_the_text(cut: tuple[str, list[Any]]) -> None:
    text, rows = cut
    assert expand.joined(rows) == text


@given(st.lists(st.text("abc", max_size=6), min_size=1, max_size=8), st.data())
def test_where_rules_were_shortened_whole_lines_are_shared_once(words: list[str], data: st.DataObject) -> None:
    """Spans are those of the long text; what two chunks share is shortened in both of them alike."""
    long = [f"{number}:{word}{'-' * 20}\n" for number, word in enumerate(words)]
    short = [line.replace("-" * 20, "---") for line in long]
    begins = list(itertools.accumulate(map(len, long), initial=0))
    at = data.draw(st.integers(0, len(words) - 1))
    back = data.draw(st.integers(0, at))
    first = row(0, "".join(short[: at + 1]), 0, begins[at + 1])
    second = row(1, "".join(short[back:]), begins[back], begins[-1])
    assert expand.joined([first, second]) == "".join(short)


def test_blanks_between_spans_are_lines_ends_again() -> None:
    assert expand.joined([row(0, "one", 0, 3), row(1, "two", 4, 7), row(2, "three", 9, 14)]) == "one\ntwo\n\nthree"
    assert expand.joined([row(0, "one", None, None), row(1, "two", None, None)]) == "one\ntwo"


def test_a_chunk_that_says_nothing_of_its_head_is_longer_than_its_span() -> None:
    one = expand.Row(1, 1, 0, None, None, 10, 14, None, "Head\ntext", KEY)
    assert (one.head, one.text) == ("Head\n", "text")
    unknown = expand.Row(1, 1, 0, None, None, None, None, None, "text", KEY)
    assert (unknown.head, unknown.text) == ("", "text")


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=30),
    st.sets(st.integers(0, 29), min_size=1, max_size=5),
    st.integers(4000, 20_000),
)
@example(sizes=[20] * 10, places={0, 4}, bound=4200)  # the second hit's chunk before it is the first one's
def test_passages_are_bounded_have_every_hit_and_no_chunk_twice(sizes: list[int], places: set[int], bound: int) -> None:
    starts = list(itertools.accumulate((50 * size for size in sizes), initial=0))
    fetched = [
        (1, number, number, None, None, starts[number], starts[number + 1], 0, "x" * 50 * size, "task", "42", "acme", None, None)
        for number, size in enumerate(sizes)
    ]  # fmt: skip
    hits = [place for place in places if place < len(sizes)]
    wanted = asked(*hits, before=100, after=100, max_bytes=bound)
    found: list[Passage] = expand.passages(fetched, wanted)
    assert sorted(hit for passage in found for hit in passage.hits) == sorted(hits)
    inside = [number for passage in found for number in passage.chunks]
    assert len(inside) == len(set(inside))
    assert all(len(passage.content.encode()) <= bound for passage in found)
    if sum(sizes) * 50 + 2 * len(sizes) <= bound and hits:
        assert [passage.chunks for passage in found] == [tuple(range(len(sizes)))]


@pytest.mark.parametrize(("chunks", "cut"), [(500, False), (501, True)])
@pytest.mark.parametrize("at", [0, -1])
def test_a_section_of_which_not_all_was_read_is_said_to_be_cut(chunks: int, cut: bool, at: int) -> None:
    fetched = [(1, n, n, 0, None, n, n + 1, 0, "x", "task", "42", "acme", None, None) for n in range(chunks)]
    (passage,) = expand.passages(fetched, asked(range(chunks)[at], how="section", max_bytes=100_000))
    assert (len(passage.chunks), passage.cut) == (chunks, cut)


# -- maximal marginal relevance ---------------------------------------------------------------------------------------


def naive(relevant: list[float], similar: list[list[float]], diversity: float, k: int) -> list[int]:
    """The formula as it is written."""
    taken: list[int] = []
    while len(taken) < min(k, len(relevant)):
        worth = {
            place: (1 - diversity) * relevance
            - diversity * max(similar[max(place, one)][min(place, one)] for one in taken)
            if taken
            else relevance
            for place, relevance in enumerate(relevant)
            if place not in taken
        }
        taken.append(min(worth, key=lambda place: (-worth[place], place)))
    return taken


@given(st.integers(1, 9), st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.integers(1, 9), st.data())
def test_what_is_chosen_is_what_the_formula_says(count: int, diversity: float, k: int, data: st.DataObject) -> None:
    score = st.integers(-4, 4).map(lambda number: number / 4)  # many ties
    relevant = data.draw(st.lists(score, min_size=count, max_size=count))
    similar = [data.draw(st.lists(score, min_size=at, max_size=at)) for at in range(count)]
    assert diversify.choose(range(count), relevant, similar, diversity, k) == naive(relevant, similar, diversity, k)


def test_what_was_compared_with_nothing_stays_behind_as_it_was() -> None:
    columns = ("CHUNK_ID", "DISTANCE", "PREFERRED", "AUTHORITY", "APART")
    rows = [(at, 0.5, 0, 0, " ".join(["0"] * at) if at < 500 else None) for at in range(503)]
    chosen = [row[0] for row in diversify.chosen(rows, columns, 0.5, 502, (1.0, 1.0))]
    assert (len(chosen), sorted(chosen[:500]), chosen[500:]) == (502, list(range(500)), [500, 501])


@pytest.mark.parametrize(("k", "candidates"), [(1, 4), (5, 20), (12, 48), (13, 50), (50, 50), (80, 80)])
def test_how_many_are_chosen_from(k: int, candidates: int) -> None:
    assert diversify.candidates(k) == candidates


def test_what_is_preferred_stays_before_all_others() -> None:
    columns = ("CHUNK_ID", "DISTANCE", "PREFERRED", "AUTHORITY", "APART")
    rows = [(1, 0.5, 1, 0, None), (2, 0.6, 1, 0, "0"), (3, 0.0, 0, 0, "90000 90000"), (4, 0.1, 0, 0, "90000 90000 0")]
    chosen = diversify.chosen(rows, columns, 0.5, 4, (1.0, 1.0))
    assert [one[0] for one in chosen] == [1, 2, 3, 4]
    assert all(len(one) == len(columns) - 1 for one in chosen)


def test_a_hybrid_search_is_as_relevant_as_its_ranks_say() -> None:
    columns = ("CHUNK_ID", "DISTANCE", "PREFERRED", "AUTHORITY", "VECTOR_RANK", "TEXT_RANK", "APART")
    rows = [(1, 0.9, 0, 0, 2, 1, None), (2, 0.1, 0, 0, 1, None, "100000"), (3, 0.2, 0, 0, None, 2, "100000 100000")]
    assert [one[0] for one in diversify.chosen(rows, columns, 0.1, 3, (1.0, 0.5))] == [1, 2, 3]
    assert [one[0] for one in diversify.chosen(rows, columns, 0.1, 3, (0.0, 1.0))] == [1, 3, 2]


# -- recheck ----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.sets(st.integers(1, 60), max_size=60), st.integers(0, 60))
def test_as_many_as_are_visible_come_and_none_that_is_not(k: int, gone: set[int], count: int) -> None:
    every = [hit(number, number) for number in range(1, count + 1)]
    looked: list[SourceKey] = []

    def visible(keys: Any) -> set[SourceKey]:
        asked_for = list(keys)
        looked.extend(asked_for)
        return {key for key in asked_for if int(key.id) not in gone}

    result = rechecked(lambda wanted: SearchResult(tuple(every[:wanted])), k, visible)
    left = [one.source for one in every if int(one.source.id) not in gone]
    assert [one.source for one in result] == left[:k]
    assert [one.rank for one in result] == list(range(1, len(result) + 1))
    assert len(looked) == len(set(looked))


def test_a_code_that_only_dropped_hits_name_is_missing() -> None:
    found = SearchResult((hit(1, 1),), codes=("ORA-01652",))
    assert rechecked(lambda _: found, 5, set).codes_missing == ()
    assert rechecked(lambda _: found, 5, lambda _: set()).codes_missing == ("ORA-01652",)


def test_a_search_is_not_repeated_for_ever() -> None:
    asked_for: list[int] = []

    def search(wanted: int) -> SearchResult:
        asked_for.append(wanted)
        return SearchResult(tuple(hit(number, number) for number in range(1, wanted + 1)))

    assert len(rechecked(search, 2, lambda _: set())) == 0
    assert asked_for == [2, 8, 32, 128, 512]


# -- who sees ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "sees"),
    [
        (Scope(tenant="acme"), "shared"),
        (Scope(tenant="acme", owner="7"), "shared own"),
        (Scope(tenant="acme", groups=["7"]), "shared own"),
        (Scope(tenant="acme", manager=True), "shared own theirs nobody"),
        (Scope(tenant="globex", owner="7", manager=True), ""),
        (Scope(owner="7", manager=True), ""),
    ],
    ids=str,
)
def test_a_scope_sees_what_its_predicate_would_let_through(scope: Scope, sees: str) -> None:
    documents = {
        "shared": Document("", tenant="acme", visibility="shared", owner="9"),
        "own": Document("", tenant="acme", visibility="owner", owner="7"),
        "theirs": Document("", tenant="acme", visibility="owner", owner="8"),
        "nobody": Document("", tenant="acme", visibility="owner"),
        "no tenant": Document("", visibility="shared"),
    }
    assert " ".join(name for name, document in documents.items() if scope.sees(document)) == sees


if __name__ == "__main__":
    for case, statement in CASES.items():
        (Path(GOLDEN) / f"{case}.sql").write_text(statement.text + "\n", "utf-8")
