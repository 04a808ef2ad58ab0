"""The fusion of a vector leg and a text leg: its SQL, and the ranks that it computes by hand."""

from __future__ import annotations

import re
from typing import Any

import pytest

from oraclerag.errors import InputError
from oraclerag.search import Statement, compose
from oraclerag.search.compose import COLUMNS
from oraclerag.search.fusion import MORE_COLUMNS, TextLeg
from oraclerag.search.text_query import TextQuery, text_query
from tests.unit.test_search_sql import ANYONE, APPROX, DEVELOPER, GOLDEN, MANAGER, asked, model

QUESTION = "late payments ORA-00060"


def composed(kind: Any, form: dict[str, Any] | None = None, scope: Any = DEVELOPER, **options: Any) -> Statement:
    request = asked(scope, QUESTION, hybrid=True, **options)
    leg = TextLeg(text_query(QUESTION), kind, request.weights, request.candidates, owner="RAG")
    return compose(model(), request, QUESTION, text_leg=leg, **(form or {}))


CASES: dict[str, Statement] = {
    "hybrid_exact": composed("oracle text", codes=False),
    "hybrid_approx": composed("oracle text", APPROX, ANYONE, codes=False, weights=(1, 0.5), candidates=20),
    "hybrid_narrowed": composed(
        "oracle text", source="task", filter={"project": "1"}, prefer={"sprint": "2"}, order="authority", min_score=0.2
    ),
    "hybrid_separate": composed("oracle text", {"separate": True}, MANAGER),
    "hybrid_plain": composed("plain", APPROX, codes=False),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    assert CASES[name].text + "\n" == (GOLDEN / f"{name}.sql").read_text("utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("hybrid_*.sql")} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_every_bind_is_used_and_every_placeholder_bound(name: str) -> None:
    statement = CASES[name]
    expected = set(statement.binds) | ({"question_vector"} if name == "hybrid_separate" else set())
    without_classes = statement.text.replace("[:alnum:]", "")
    assert set(re.findall(r":([a-z_0-9]+)", without_classes)) == expected
    assert statement.columns == (*COLUMNS, *MORE_COLUMNS)
    for value in ("late", "acme", "00060"):
        assert value not in statement.text


@pytest.mark.parametrize("name", [name for name in CASES if name != "hybrid_plain"])
def test_both_legs_carry_every_condition_with_the_scope_first(name: str) -> None:
    """A leg that asked for less than the other would show what the scope hides."""
    blocks = re.findall(r"FROM \"RAG\"\.RAG_CHUNK c\n   WHERE (.*?)\n   ORDER BY", CASES[name].text, re.DOTALL)
    legs = [block.split("\n     AND (c.EMBEDDING IS NOT NULL)")[0] for block in blocks]
    assert len(legs) == (4 if "prefer" in CASES[name].text.lower() and name == "hybrid_narrowed" else 2)
    assert legs[0] == legs[1]
    assert legs[0].startswith("(c.TENANT_ID = :scope_tenant AND 'a' <> 'A') AND (")
    assert all("CONTAINS" in block for block in blocks[1::2])


def test_every_contains_of_a_statement_has_a_label_of_its_own() -> None:
    labels = re.findall(r"CONTAINS\(c\.CONTENT, :text_words, (\d)\)", CASES["hybrid_narrowed"].text)
    assert sorted(labels) == ["1", "2"]
    assert sorted(re.findall(r"SCORE\((\d)\)", CASES["hybrid_narrowed"].text)) == ["1", "2"]


def test_the_words_of_the_plain_leg_stand_between_what_is_no_letter() -> None:
    leg = TextLeg(text_query("ORA-00060 release 19.22"), "plain", (1, 1), 50, owner="RAG")
    assert leg.patterns == [
        "(^|[^[:alnum:]])ORA[^[:alnum:]]+00060([^[:alnum:]]|$)",
        "(^|[^[:alnum:]])release([^[:alnum:]]|$)",
        "(^|[^[:alnum:]])19[.]22([^[:alnum:]]|$)",
    ]
    many = TextLeg(text_query(" ".join(f"w{n}" for n in range(40))), "plain", (1, 1), 50, owner="RAG")
    assert len(many.patterns) == 16
    long = TextLeg(TextQuery((tuple("ñ" * 30 for _ in range(9)),)), "plain", (1, 1), 50, owner="RAG")
    assert long.patterns == []  # a pattern of more than 512 bytes is ORA-12733


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weights": (0, 0)}, "weights must be two numbers from 0 to 100, of vector and text, and not both 0"),
        ({"weights": (1, -1)}, "weights must be"),
        ({"weights": (1, float("nan"))}, "weights must be"),
        ({"weights": "11"}, "weights must be"),
        ({"weights": (1, 2, 3)}, "weights must be"),
        ({"weights": 1}, "weights must be"),
        ({"weights": b"ab"}, "weights must be"),
        ({"weights": (1e-200, 1)}, "weights: but for 0"),
        ({"candidates": 7}, "candidates must be a whole number between k (8) and 10,000"),
        ({"candidates": 10_001}, "candidates must be"),
        ({"candidates": True}, "candidates must be"),
        ({"hybrid": "yes"}, "hybrid must be True or False"),
    ],
    ids=str,
)
def test_options_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        asked(ANYONE, "late", **options)


def test_more_hits_than_were_asked_for_first_have_as_many_candidates() -> None:
    """As where some are chosen of more, reranked, or dropped by a recheck."""
    request = asked(ANYONE, hybrid=True, candidates=20, rerank=30)
    assert (request.with_k(10).candidates, request.with_k(300).candidates) == (20, 300)
    assert (request.with_k(10).rerank, request.with_k(300).rerank) == (30, 300)


def test_candidates_follow_k() -> None:
    assert [asked(ANYONE, "late", k=k).candidates for k in (1, 12, 13, 100, 3000)] == [50, 50, 52, 400, 10_000]


if __name__ == "__main__":
    for case, made in CASES.items():
        (GOLDEN / f"{case}.sql").write_text(made.text + "\n", "utf-8")
