"""The text leg's query: whatever is asked, it is words in braces."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.search.text_query import MAX_TERMS, text_query

# One or more phrases of words in braces, joined with ACCUM: no other thing is a query.
GRAMMAR = re.compile(r"\{[^{}]+\}(?: \{[^{}]+\})*(?: ACCUM \{[^{}]+\}(?: \{[^{}]+\})*)*")


@pytest.mark.parametrize(
    ("question", "contains"),
    [
        ("late payments", "{late} ACCUM {payments}"),
        ("What is the late payment of the supplier?", "{late} ACCUM {payment} ACCUM {supplier}"),
        ("¿Qué factura de la aplicación móvil?", "{factura} ACCUM {aplicación} ACCUM {móvil}"),
        ("what about near or not?", "{near}"),
        ("is it not?", "{is} ACCUM {it} ACCUM {not}"),
        ("C++ & PL/SQL", "{C} ACCUM {PL} ACCUM {SQL}"),
        ("ORA-00060", "{ORA} {00060}"),
        ("why ora-60?", "{ORA} {00060} ACCUM {ora} {60}"),
        ("DS-K3AJ303/Dm140", "{DS} {K3AJ303} {Dm140}"),
        ("AP_INVOICES_ALL and ap_invoices_all", "{AP} {INVOICES} {ALL}"),
        ("late-payment", "{late} ACCUM {payment}"),
        ("release 19.22.0 of R12.2.10.", "{release} ACCUM {19.22.0} ACCUM {R12.2.10}"),
        ("late LATE Late", "{late}"),
        ("{a}", "{a}"),
        ("100%", "{100}"),
        ("a}b", "{b}"),
        ("漢字 ñandú", "{漢字} ACCUM {ñandú}"),
        ("", ""),
        ("   ", ""),
        ("$%&/()=?", ""),
        ("x" * 65, ""),
    ],
)
def test_questions(question: str, contains: str) -> None:
    assert text_query(question).contains == contains
    assert bool(text_query(question)) == bool(contains)


def test_a_long_question_is_cut_and_its_codes_are_not() -> None:
    words = " ".join(f"word{number}" for number in range(200))
    query = text_query(f"{words} and ORA-00942")
    assert query.terms[0] == ("ORA", "00942")
    assert len(query.terms) == MAX_TERMS
    assert len(text_query(" ".join("ñ" * 32 + str(n) for n in range(200))).contains.encode()) <= 1000


@given(st.text(max_size=400))
def test_whatever_is_asked_is_words_in_braces(question: str) -> None:
    query = text_query(question)
    assert not query or GRAMMAR.fullmatch(query.contains)
    assert len(query.contains.encode("utf-8", "surrogatepass")) <= 1000
    assert len({tuple(token.lower() for token in term) for term in query.terms}) == len(query.terms)
    assert all(
        token in question or re.search(r"\d", token) or token.upper() == token for t in query.terms for token in t
    )


def test_no_representation_repeats_the_question() -> None:
    assert "secret" not in repr(text_query("secret"))
