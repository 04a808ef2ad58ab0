"""The statement of a search, per role and form, against golden files; and what a question must be.

``python -m tests.unit.test_search_sql`` writes the golden files anew; read the difference before you keep it.
"""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.counts import Population
from oraclerag.errors import InputError
from oraclerag.model.active import ActiveModel
from oraclerag.model.tokens import TokenBound
from oraclerag.scope import Scope
from oraclerag.search import MAX_K, Request, Statement, compose, cut, request
from oraclerag.search.plan import choose
from oraclerag.search.question import checked_k, checked_question

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


def asked(scope: Scope, question: str = "late payments", **options: Any) -> Request:
    return request(question, scope, options, k=8, max_k=MAX_K)  # type: ignore[arg-type]


def composed(
    scope: Scope, question: str = "late payments", form: dict[str, Any] | None = None, **options: Any
) -> Statement:
    return compose(model(), asked(scope, question, **options), question, **(form or {}))


APPROX = {"kind": "APPROX"}
CASES: dict[str, Statement] = {
    "manager_exact": composed(MANAGER),
    "manager_approx": composed(MANAGER, form=APPROX),
    "developer_exact": composed(DEVELOPER),
    "developer_approx": composed(DEVELOPER, form=APPROX, accuracy=95),
    "anyone_exact": composed(ANYONE),
    "separate": composed(ANYONE, form={"separate": True}),
    "narrowed": composed(
        DEVELOPER,
        source=["task", "sprint"],
        collections="work",
        filter={"project": "1", "metadata.module": "AP"},
        since=dt.date(2026, 1, 1),
        until=dt.date(2026, 3, 31),
        months=12,
        min_score=0.25,
    ),
    "codes": composed(DEVELOPER, "ora-1652 and TNS-12541 at night"),
    "preferred": composed(DEVELOPER, form=APPROX, prefer={"metadata.erp_version": "EBS R12.2.10"}),
    "preferred_exactly": composed(
        DEVELOPER, form={**APPROX, "preferred_kind": "EXACT"}, prefer={"metadata.erp_version": "EBS R12.2.10"}
    ),
    "authority": composed(ANYONE, order="authority", prefer={"metadata.erp_module": "AP"}),
    "long_question": composed(ANYONE, "ñ" * 2500, form=APPROX, k=1),
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
    assert "01652" not in statement.text


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("search_*.sql")} == {f"search_{name}" for name in CASES}


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4000))
def test_the_pieces_of_a_question_are_the_question(question: str) -> None:
    binds = compose(model(), Request("x", ANYONE, 1), question).binds
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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 101}, "k is 101, but must be between 1 and 100"),
        ({"source": []}, "source must not be empty"),
        ({"source": [1]}, "source must be a name or a list of names"),
        ({"collections": ""}, "collections must not be empty"),
        ({"collections": ["x"] * 1001}, "collections has 1,001 names"),
        ({"collections": ["x" * 129]}, "at most 128 bytes"),
        ({"collections": ["\ud800"]}, "surrogate"),
        ({"since": "2026-01-01"}, "since must be a date or a time"),
        ({"until": dt.date.max}, "until is too near to the end of the calendar"),
        ({"months": 0}, "months must be a whole number"),
        ({"months": True}, "months must be a whole number"),
        ({"codes": ["nonsense"]}, "'nonsense' is no error code"),
        ({"codes": 7}, "codes must be a name or a list"),
        ({"fallback": "no"}, "fallback must be True or False"),
        ({"order": "newest"}, "order must be one of"),
        ({"mode": "fast"}, "mode must be one of"),
        ({"accuracy": 101}, "accuracy must be a whole number of percent"),
        ({"min_score": 2}, "min_score must be a number between -1 and 1"),
        ({"min_score": float("nan")}, "min_score must be a number between -1 and 1"),
        ({"filter": {"owner": "7"}}, "filter: "),
        ({"filter": []}, "filter must be a mapping"),
        ({"filter": ""}, "filter must be a mapping"),
        ({"prefer": False}, "prefer must be a mapping"),
        ({"codes": None}, "codes must be True, False or a list"),
        ({"prefer": {"owner": "7"}}, "prefer: "),
    ],
    ids=str,
)
def test_options_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        request("late payments", MANAGER, options, k=8, max_k=100)  # type: ignore[arg-type]


def test_an_option_that_is_not_there_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="'limit'"):
        asked(MANAGER, limit=3)


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ({}, ("ORA-01652", "TNS-12541")),
        ({"codes": False}, ()),
        ({"codes": ["ORA-60"]}, ("ORA-00060",)),
        ({"codes": "ora-00060"}, ("ORA-00060",)),
    ],
    ids=str,
)
def test_error_codes_of_a_question(options: dict[str, Any], codes: tuple[str, ...]) -> None:
    assert asked(MANAGER, "What about ora-1652, ORA-01652 and TNS-12541?", **options).codes == codes


@pytest.mark.parametrize(
    ("options", "exact_below", "kinds"),
    [
        ({}, 10_000, ("APPROX", "APPROX")),
        ({"months": 12}, 10_000, ("EXACT", "EXACT")),
        ({"since": dt.date(2026, 1, 1)}, 10_000, ("EXACT", "EXACT")),
        ({"collections": "work"}, 10_000, ("EXACT", "EXACT")),
        ({"filter": {"project": "1"}}, 10_000, ("EXACT", "EXACT")),
        ({"prefer": {"project": "1"}}, 10_000, ("APPROX", "EXACT")),
        ({"prefer": {"project": "1"}}, 4_000, ("APPROX", "APPROX")),
        ({"prefer": {"$not": {"project": "1"}}}, 10_000, ("APPROX", "APPROX")),
        ({"prefer": {"project": "1"}, "mode": "approx"}, 10_000, ("APPROX", "APPROX")),
        ({"prefer": {"project": "1"}, "mode": "exact"}, 10_000, ("EXACT", "EXACT")),
        ({"codes": ["ORA-60"]}, 10, ("EXACT", "EXACT")),
    ],
    ids=str,
)
def test_what_is_estimated_to_be_little_is_searched_exactly(
    options: dict[str, Any], exact_below: int, kinds: tuple[str, str]
) -> None:
    plan = choose(
        asked(MANAGER, **options), {"task": {"acme": Population(100_000)}}, indexed=True, exact_below=exact_below
    )
    assert (plan.kind, plan.preferred) == kinds


def test_the_ends_of_a_span_of_time_are_in_it() -> None:
    day = asked(MANAGER, since=dt.date(2026, 3, 1), until=dt.date(2026, 3, 31))
    assert (day.since, day.until) == (dt.datetime(2026, 3, 1), dt.datetime(2026, 4, 1))  # noqa: DTZ001
    two_hours_ahead = dt.timezone(dt.timedelta(hours=2))
    moment = asked(MANAGER, since=dt.datetime(2026, 3, 1, 1, tzinfo=two_hours_ahead), until=dt.datetime(2026, 3, 1, 3))  # noqa: DTZ001
    assert moment.since == dt.datetime(2026, 2, 28, 23)  # noqa: DTZ001
    assert moment.until == dt.datetime(2026, 3, 1, 3, 0, 0, 1)  # noqa: DTZ001


@pytest.mark.parametrize("k", [0, -1, MAX_K + 1, True, 2.0, "8", None])
def test_k_refused(k: object) -> None:
    with pytest.raises(InputError, match="k "):
        checked_k(k)


def test_k_taken() -> None:
    assert [checked_k(k) for k in (1, 8, MAX_K)] == [1, 8, MAX_K]


def test_no_representation_repeats_the_question() -> None:
    one = asked(MANAGER, filter={"project": "secret"}, prefer={"sprint": "secret"})
    for shown in (one, compose(model(), one, "late payments")):
        assert "late payments" not in repr(shown)
        assert "secret" not in repr(shown)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for case, made in CASES.items():
        (GOLDEN / f"search_{case}.sql").write_text(made.text + "\n", "utf-8")
