"""Whatever is sent, a translation gives a plan or an ORA error, never anything else."""

from __future__ import annotations

import contextlib

from hypothesis import example, given, settings
from hypothesis import strategies as st

from oraclerag.local.engine.lexer import tokenize
from oraclerag.local.engine.translate import expression, shape, translate, view_query
from oraclerag.local.interface import OraError
from tests.unit.engine.catalog import names
from tests.unit.engine.test_translate_refuses import MORE, REFUSED
from tests.unit.engine.test_translate_text import CHANGES, QUERIES

STATEMENTS = [sql for sql, _ in QUERIES + CHANGES] + [sql for _, sql in REFUSED + MORE]


def _pieces(sql: str) -> list[str]:
    try:
        return [token.text for token in tokenize(sql)[:-1]]
    except OraError:
        return [sql]


PIECES = [_pieces(sql) for sql in STATEMENTS]
WORDS = sorted({piece for pieces in PIECES for piece in pieces})


@st.composite
def broken_statements(draw: st.DrawFn) -> str:
    """A statement with some tokens taken out, put in or exchanged."""
    pieces = list(draw(st.sampled_from(PIECES)))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(pieces)))
        pieces[place : place + draw(st.integers(0, 2))] = draw(st.lists(st.sampled_from(WORDS), max_size=2))
    return " ".join(pieces)


@settings(max_examples=300, deadline=None)
@example("SELECT")
@example("SELECT a FROM t ORDER BY")
@example("MERGE INTO t USING u ON (")
@given(broken_statements())
def test_only_ora_errors(sql: str) -> None:
    for read in (shape, lambda text: translate(text, names()), lambda text: view_query(text, names())):
        with contextlib.suppress(OraError):
            read(sql)
    with contextlib.suppress(OraError):
        expression(sql, names())


@settings(max_examples=100, deadline=None)
@given(broken_statements())
def test_the_same_text_gives_the_same_plan(sql: str) -> None:
    def outcome() -> object:
        try:
            return translate(sql, names())
        except OraError as error:
            return (error.number, error.message, error.position)

    assert outcome() == outcome()
