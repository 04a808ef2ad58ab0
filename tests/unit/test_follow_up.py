"""Follow-ups by rules: what points back is given what it points to, what stands by itself is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.records import Turn
from oraclerag.reduce import Reducer
from oraclerag.reduce.follow_up import points_back

BEFORE = [Turn("What is the VAT rate of invoices?")]


@pytest.mark.parametrize(
    "question",
    [
        "and in Spain?", "And in production, how is it done?", "what about its indexes?", "how about suppliers",
        "same for suppliers?", "what else?", "the second one?", "Why?", "Why does it fail?", "How do I rebuild it?",
        "How do I undo that?", "When was it changed?", "Is that index used?", "Can they be deleted?",
        "Does that work in production?", "does it support partitioning",
        "¿y en producción?", "¿Y quién lo aprueba?", "¿Qué pasa con sus índices?", "¿Por qué falla?", "y eso?",
        "¿Cómo puedo arreglarlo?", "¿Cómo lo arreglo?", "¿Eso también vale para los proveedores?", "¿Qué más?",
        "Pero ¿en qué entorno?", "lo mismo para los pedidos", "esa tabla, ¿dónde está?",
    ],
)  # fmt: skip
def test_what_points_back(question: str) -> None:
    assert points_back(question)
    understood = Reducer().understood(question, BEFORE)
    assert understood.standalone == f"{question} (the VAT rate of invoices)"
    assert understood.asked == understood.standalone
    assert understood.searched.endswith(" the VAT rate of invoices")
    assert understood.reduced_by == "rules"


@pytest.mark.parametrize(
    "question",
    [
        "late payments", "Why are the invoices of Acme paid late?", "Explain APEX Template Components to me.",
        "Does the index store its statistics?", "Do invoices carry their numbers?", "invoices and their numbers",
        "How long does it take to rebuild an index?", "Is it possible to drop a column?", "tables that are empty",
        "Is it safe to delete archive logs?", "Are there open tasks of Acme?", "Which tasks are due this week?",
        "And which tasks of the project Orion are still open and late?", "Who is Acme?", "What is RAC?", "ORA-01555",
        "why ORA-01555", "E-Business Suite patches", "OR-expansion of queries", "Y2K", "office hours", "--", "",
        "¿por qué la consulta tarda?", "¿Cuál es el mejor índice?", "¿Cómo se crea un índice vectorial?",
        "¿Qué es lo mejor para la cola?", "El índice de facturas, ¿conviene reconstruirlo?",
    ],
)  # fmt: skip
def test_what_stands_by_itself(question: str) -> None:
    assert not points_back(question)
    understood = Reducer().understood(question, BEFORE)
    assert understood == Reducer().understood(question)
    assert understood.standalone is None
    assert understood.asked == question


def test_a_chain_of_follow_ups_is_about_what_it_began_with() -> None:
    turns = list(BEFORE)
    for question in ("and in Spain?", "and in Portugal?", "what about books?"):
        understood = Reducer().understood(question, turns)
        assert understood.standalone == f"{question} (the VAT rate of invoices)"
        turns = [*turns, Turn(question, understood.standalone)][-3:]
    turns.append(Turn("who approves it?", "Who approves the backup of the billing database?"))
    assert Reducer().understood("¿y quién lo paga?", turns).searched.endswith(" the backup of the billing database")


def test_the_first_question_is_left_alone_and_a_report_is_not_repeated() -> None:
    assert Reducer().understood("and in Spain?").standalone is None
    long = Reducer().understood("and in Spain?", [Turn("ORA-01652 in tablespace TEMP\n" * 10_000)])
    assert "ORA-01652 in tablespace TEMP" in long.searched
    assert len(long.searched) < 400
    unbroken = Reducer().understood("and in Spain?", [Turn("a" * 10_000)])
    assert len(unbroken.searched) < 400


def test_without_reduction_a_follow_up_is_understood_all_the_same() -> None:
    understood = Reducer(reduces=False).understood("and in Spain, please?", BEFORE)
    assert understood.searched == understood.standalone == "and in Spain, please? (the VAT rate of invoices)"
    assert understood.reduced_by is None


TEXT = st.text(max_size=30) | st.sampled_from(["and it?", "¿y eso?", "its ORA-942", "why", "invoices", "()", " "])


@given(TEXT.filter(str.strip), st.lists(TEXT.filter(str.strip), min_size=1, max_size=3))
def test_whatever_is_asked_can_be_searched_for(question: str, before: list[str]) -> None:
    turns: list[Turn] = []
    for text in before:
        turns.append(Turn(text, Reducer().understood(text, turns).standalone))
    understood = Reducer().understood(question, turns)
    assert understood.searched.strip()
    assert question.strip() in understood.asked
    assert understood.notes == ()


def test_nothing_of_a_conversation_is_in_a_repr() -> None:
    understood = Reducer().understood("and in Spain?", BEFORE)
    assert "Spain" not in repr(understood)
    assert "VAT" not in repr(understood) + repr(Turn("VAT", "VAT", "VAT"))
