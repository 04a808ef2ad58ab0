"""The statement of a search, per role and form, against golden files; and what a question must be.

``python -m tests.unit.test_search_sql`` writes the golden files anew; read the difference before you keep it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag import filters
from oraclerag.errors import InputError
from oraclerag.model.active import ActiveModel
from oraclerag.model.tokens import TokenBound
from oraclerag.scope import Scope
from oraclerag.search import MAX_K, Statement, compose, cut
from oraclerag.search.question import checked_k, checked_question
from oraclerag.search.searcher import _Request

GOLDEN = Path(__file__).parent / "golden"


class Words:
    """Counts a word as a token, [CLS] and [SEP] as two."""

    exact = True

    def count(self, text: str) -> int:
        return len(text.split()) + 2


def model(counter: Any = None, *, prefix: str = "", limit: int = 256) -> ActiveModel:
    return ActiveModel(
        name="TINY", physical_name="TINY_0A1B2C3D", schema="RAG", column="EMBEDDING", dimensions=4, max_tokens=limit,
        query_prefix=prefix, passage_prefix="", counter=counter or Words(),
    )  # fmt: skip


MANAGER = Scope(tenant="acme", manager=True)
DEVELOPER = Scope(tenant="acme", owner="7", groups=["team:ap"])
ANYONE = Scope(tenant="acme")

CASES: dict[str, Statement] = {
    "manager_exact": compose(model(), MANAGER, "late payments", k=8),
    "manager_approx": compose(model(), MANAGER, "late payments", k=8, kind="APPROX", target_accuracy=90),
    "developer_exact": compose(model(), DEVELOPER, "late payments", k=8),
    "developer_approx": compose(model(), DEVELOPER, "late payments", k=8, kind="APPROX", target_accuracy=95),
    "anyone_exact": compose(model(), ANYONE, "late payments", k=8),
    "separate": compose(model(), ANYONE, "late payments", k=8, separate=True),
    "narrowed": compose(
        model(),
        DEVELOPER,
        "late payments",
        k=8,
        sources=("task", "sprint"),
        filter_=filters.predicate({"project": "1", "metadata.module": "AP"}),
    ),
    "long_question": compose(model(), ANYONE, "ñ" * 2500, k=1, kind="APPROX"),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    assert CASES[name].text + "\n" == (GOLDEN / f"search_{name}.sql").read_text("utf-8")


@pytest.mark.parametrize("name", CASES)
def test_every_bind_is_used_and_every_placeholder_bound(name: str) -> None:
    statement = CASES[name]
    expected = set(statement.binds) | ({"question_vector"} if name == "separate" else set())
    assert set(re.findall(r":([a-z_0-9]+)", statement.text)) == expected
    assert "late" not in statement.text
    assert "acme" not in statement.text


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("search_*.sql")} == {f"search_{name}" for name in CASES}


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4000))
def test_the_pieces_of_a_question_are_the_question(question: str) -> None:
    binds = compose(model(), ANYONE, question, k=1).binds
    parts = [value for name, value in binds.items() if name.startswith("question")]
    assert "".join(parts) == question
    assert all(0 < len(part.encode()) <= 1000 for part in parts)


@pytest.mark.parametrize(
    ("question", "limit", "text", "truncated"),
    [
        ("one two three", 5, "query: one two", True),
        ("one two three", 6, "query: one two three", False),
        ("word " * 300, 256, None, True),
        ("x" * 5000, 256, "query: " + "x" * 3993, True),
        ("ñ" * 3000, 256, "query: " + "ñ" * 1996, True),
    ],
)
def test_a_question_is_cut_where_the_model_stops_reading(
    question: str, limit: int, text: str | None, truncated: bool
) -> None:
    given_text, cut_off = cut("query: ", question, model(limit=limit))
    assert cut_off is truncated
    assert Words().count(given_text) <= limit
    assert len(given_text.encode()) <= 4000
    if text is not None:
        assert given_text.rstrip() == text


def test_without_a_vocabulary_the_model_cuts_and_the_caller_is_told_it_may() -> None:
    bounded = model(TokenBound(), limit=16)
    assert cut("", "fourteen bytes", bounded) == ("fourteen bytes", False)
    assert cut("", "fifteen  bytes!", bounded) == ("fifteen  bytes!", True)


@pytest.mark.parametrize("question", ["", "  \n\t", None, 7, "a\0b", "\ud83d"])
def test_questions_refused(question: object) -> None:
    with pytest.raises(InputError):
        checked_question(question)


@pytest.mark.parametrize("k", [0, -1, MAX_K + 1, True, 2.0, "8", None])
def test_k_refused(k: object) -> None:
    with pytest.raises(InputError, match="k "):
        checked_k(k)


def test_k_taken() -> None:
    assert [checked_k(k) for k in (1, 8, MAX_K)] == [1, 8, MAX_K]


def test_no_representation_repeats_the_question() -> None:
    asked = _Request("late payments", MANAGER, 8, (), filters.predicate({"project": "secret"}))
    for shown in (asked, compose(model(), MANAGER, "late payments", k=8)):
        assert "late payments" not in repr(shown)
        assert "secret" not in repr(shown)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for case, composed in CASES.items():
        (GOLDEN / f"search_{case}.sql").write_text(composed.text + "\n", "utf-8")
