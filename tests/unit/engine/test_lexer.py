"""The lexer: what is a token, what is none, and what is not closed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.local.engine.lexer import tokenize
from oraclerag.local.interface import OraError


def values(sql: str) -> list[tuple[str, str]]:
    return [(token.kind, token.value) for token in tokenize(sql)[:-1]]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("foo Bar$1#", [("word", "FOO"), ("word", "BAR$1#")]),
        ('"Foo bar"', [("quoted", "Foo bar")]),
        ("'it''s'", [("string", "it's")]),
        ("q'[it's]'", [("string", "it's")]),
        ("Q'{a\"b}'", [("string", 'a"b')]),
        ("nq'!x!'", [("string", "x")]),
        ("N'x'", [("string", "x")]),
        ("u'\\00e4\\\\'", [("string", "ä\\")]),
        ("x'FF'", [("word", "X"), ("string", "FF")]),
        ("0xFF", [("number", "0"), ("word", "XFF")]),
        ("1..5", [("number", "1"), ("symbol", ".."), ("number", "5")]),
        (".5 1e3 2d 3.F", [("number", ".5"), ("number", "1e3"), ("number", "2d"), ("number", "3.F")]),
        (":a : b", [("bind", "A"), ("bind", "B")]),
        (':"level"', [("bind", "level")]),
        (":1", [("bind", "1")]),
        ("'key' : value", [("string", "key"), ("symbol", ":"), ("word", "VALUE")]),
        ("':a' -- :b\n/* :c */", [("string", ":a")]),
        ("a<=>b", [("word", "A"), ("symbol", "<=>"), ("word", "B")]),
        ("a<#>b", [("word", "A"), ("symbol", "<#>"), ("word", "B")]),
        ("x := y || z", [("word", "X"), ("symbol", ":="), ("word", "Y"), ("symbol", "||"), ("word", "Z")]),
        ("a%type", [("word", "A"), ("invalid", "%"), ("word", "TYPE")]),
        ("_a", [("invalid", "_"), ("word", "A")]),
        ("SELECT /*+ FULL(t) */ 1", [("word", "SELECT"), ("number", "1")]),
    ],
)
def test_tokens(sql: str, expected: list[tuple[str, str]]) -> None:
    assert values(sql) == expected


def test_only_the_hint_that_changes_an_insert_is_kept() -> None:
    kinds = [token.kind for token in tokenize("INSERT /*+ IGNORE_ROW_ON_DUPKEY_INDEX(t (id)) */ INTO t VALUES (1)")]
    assert "hint" in kinds
    assert "hint" not in [token.kind for token in tokenize("INSERT /*+ APPEND */ INTO t VALUES (1)")]


@pytest.mark.parametrize(
    ("number", "sql"),
    [
        (1756, "SELECT 'abc FROM dual"),
        (1740, 'SELECT "abc FROM dual'),
        (1741, 'SELECT ""'),
        (1742, "SELECT /* x"),
        (25716, 'SELECT "a""b"'),
        (972, f'SELECT "{"x" * 129}"'),
    ],
)
def test_refusals(number: int, sql: str) -> None:
    with pytest.raises(OraError) as caught:
        tokenize(sql)
    assert caught.value.number == number


@given(st.text(alphabet=st.characters(max_codepoint=0x2FF), max_size=60))
def test_tokens_are_where_they_say(sql: str) -> None:
    end = 0
    try:
        tokens = tokenize(sql)
    except OraError as error:
        tokens, end = [], -error.position
    assert -len(sql) <= end <= 0
    for token in tokens:
        assert sql[token.position : token.end] == token.text
        assert token.position >= end
        end = token.end
