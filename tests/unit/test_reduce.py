"""Questions reduced by rules: politeness and interrogation go, the matter stays, in English and Spanish."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag import error_codes
from oraclerag.reduce.rules import terms


@pytest.mark.parametrize(
    ("question", "reduced"),
    [
        ("Explain APEX Template Components to me.", "APEX Template Components"),
        ("How do you filter fusion rest services in APEX?", "filter fusion rest services in APEX"),
        ("Can APEX be used to Extend Oracle Fusion Applications?", "Extend Oracle Fusion Applications with APEX"),
        ("Hi! Could you please explain to me how to rebuild the index TASK_IX?", "rebuild the index TASK_IX"),
        ("Is there a way to cancel a job?", "cancel a job"),
        ("I would like to know more about undo retention", "undo retention"),
        ("Please tell me about late payments, thanks!", "late payments"),
        ("Give me a short overview of the sprint in detail", "the sprint"),
        ("What is the status of task 42?", "the status of task 42"),
        ('What does "high water mark" mean?', '"high water mark"'),
        ("What does ORA-600 [kcbz] mean?", "ORA-600 [kcbz]"),
        ("PLEASE EXPLAIN THE BACKUP", "THE BACKUP"),
        ("Do you know if archive logs are deleted?", "archive logs are deleted"),
        ("¿Puedes explicarme cómo se crea un índice vectorial?", "crea un índice vectorial"),
        ("Hola, ¿me podrías decir qué es ORA-01652, por favor?", "ORA-01652"),
        ("¿Se puede usar APEX para extender Fusion?", "extender Fusion con APEX"),
        ("¿Cuál es la mejor manera de limpiar la cola?", "limpiar la cola"),
        ("¿Cómo puedo restaurar la base de datos con RMAN?", "restaurar la base de datos con RMAN"),
        ("Dame un resumen de los riesgos del sprint 3", "los riesgos del sprint 3"),
        ("Quisiera saber cómo puedo hacer un respaldo. Muchas gracias.", "hacer un respaldo"),
        ("Explícame por favor los índices", "los índices"),
        ("Resume el estado del proyecto", "el estado del proyecto"),
    ],
)
def test_what_stands_around_the_matter_goes(question: str, reduced: str) -> None:
    assert terms(question) == reduced
    assert terms(reduced) == reduced


@pytest.mark.parametrize(
    "text",
    [
        "late payments",
        "Why is the invoice late",
        "explain plan for a query",
        "Resume a failed import",
        "Show parameter",
        "give grants to a role",
        "Can the index not be used to search",
        "índices de la tabla",
        "Explain",
        "How to",
        "please",
        "???",
        "",
        " ",
    ],
)
def test_what_is_the_matter_already_stays(text: str) -> None:
    assert terms(text) == text


def test_quotes_codes_and_identifiers_stay_or_the_question_does() -> None:
    question = '"Can you" explain to me?'
    assert terms(question) == '"Can you" explain'
    assert terms("what.is TASK_IX, please?") == "what.is TASK_IX"
    assert terms("Can I use PLEASE_WAIT?") == "use PLEASE_WAIT"
    assert terms("Explain `to me`") == "`to me`"


MATERIAL = """Can could you please explain to me, How do I what is the ¿Puedes explicarme cómo se usa por favor gracias
Dame un resumen de be used for APEX ORA-942 ora-00600 TASK_ID v$session 'to me' "what a.b C42 payment índice ? . !"""
WORDS = st.sampled_from(MATERIAL.split()) | st.text(max_size=5)


@given(st.lists(WORDS, min_size=1, max_size=15).map(" ".join))
def test_never_empty_never_longer_codes_kept(question: str) -> None:
    reduced = terms(question)
    assert len(reduced) <= len(question)
    assert bool(reduced.strip()) == bool(question.strip())
    assert {code.code for code in error_codes.find(question)} <= {code.code for code in error_codes.find(reduced)}
    for name in ("TASK_ID", "v$session", "a.b", "C42"):
        assert (name in question) == (name in reduced)
    assert terms(reduced) == reduced


def test_a_report_as_a_question_takes_no_longer_than_its_length() -> None:
    """These are quadratic, and minutes, where a pattern starts anew at each character."""
    for text in ("a" * 300_000, " " * 300_000 + "x", "please " * 40_000, "'" * 300_000, "Can " + "a " * 100_000):
        assert len(terms(text)) <= len(text)
