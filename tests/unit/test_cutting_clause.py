"""The clause of VECTOR_CHUNKS: only what was recognised gets into SQL."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.config import Settings
from oraclerag.cutting import Cutting
from oraclerag.cutting.clause import chunk_clause
from oraclerag.errors import ConfigurationError

GOOD = [
    ("", "", False),
    ("  ", "", False),
    ("by words max 100", "BY WORDS MAX 100", False),
    ("BY chars MAX 4000 OVERLAP 0 SPLIT NONE", "BY CHARACTERS MAX 4000 OVERLAP 0 SPLIT BY NONE", False),
    ("max 200 overlap 10", "MAX 200 OVERLAP 10", False),
    (
        "BY WORDS MAX 100 OVERLAP 10 SPLIT BY SENTENCE LANGUAGE American NORMALIZE ALL",
        "BY WORDS MAX 100 OVERLAP 10 SPLIT BY SENTENCE LANGUAGE AMERICAN NORMALIZE ALL",
        True,
    ),
    ("BY VOCABULARY app.doc_vocab MAX 50", "BY VOCABULARY APP.DOC_VOCAB MAX 50", False),
    ("SPLIT BY CUSTOM ('<br>','it''s', '--')", "SPLIT BY CUSTOM ('<br>', 'it''s', '--')", False),
    ('LANGUAGE "Simplified Chinese"', 'LANGUAGE "SIMPLIFIED CHINESE"', False),
    ("LANGUAGE is NORMALIZE NONE", 'LANGUAGE "IS" NORMALIZE NONE', False),
    ("NORMALIZE (whitespace, PUNCTUATION, whitespace)", "NORMALIZE (WHITESPACE, PUNCTUATION)", True),
]


@pytest.mark.parametrize(("text", "sql", "normalizes"), GOOD)
def test_a_clause_is_written_again(text: str, sql: str, normalizes: bool) -> None:
    found = chunk_clause(text)
    assert (found.sql, found.normalizes) == (sql, normalizes)
    assert chunk_clause(found.sql) == found


BAD = [
    ("BY LINES", "BY takes one of CHARACTERS, CHARS, WORDS, VOCABULARY, not 'LINES'"),
    ("BY WORDS MAX 9", "MAX is 9, but must be between 10 and 1,000"),
    ("BY CHARACTERS MAX 49", "MAX is 49, but must be between 50 and 4,000"),
    ("MAX 2000", "MAX is 2,000, but must be between 10 and 1,000"),
    ("MAX :n", "it cannot be read from ':n'"),
    ("BY WORDS MAX 100 OVERLAP 21", "OVERLAP is 21, but must be 0 or 5 to 20 % of MAX"),
    ("OVERLAP 4", "OVERLAP is 4, but must be 0 or 5 to 20 %"),
    ("BY CHARS MAX 100 SPLIT BY SENTENCE", "SENTENCE does not go with BY CHARACTERS"),
    ("MAX 100 BY WORDS", "'BY' is not expected there; the parts and their order are BY, MAX"),
    ("SPLIT BY CUSTOM ('elevenbytes')", "at most 16 texts of 1 to 10 bytes"),
    ("SPLIT BY CUSTOM ('')", "at most 16 texts"),
    (f"SPLIT BY CUSTOM ({', '.join(['1'.join(chr(39) * 2)] * 17)})", "at most 16 texts"),
    ("SPLIT BY CUSTOM ('a'", r"'\)' is expected before 'the end'"),
    ("NORMALIZE", "NORMALIZE takes one of NONE, ALL, not 'the end'"),
    ("NORMALIZE ALL EXTENDED", "'EXTENDED' is not expected"),
    ("BY WORDS) c, rag_setting", r"'\)' is not expected there"),
    ("BY WORDS -- x", "cannot be read from '-- x'"),
    ("LANGUAGE 5", "LANGUAGE needs the name of a language"),
    ("BY VOCABULARY 'v'", "needs the name of a vocabulary"),
]


@pytest.mark.parametrize(("text", "sentence"), BAD)
def test_what_is_not_recognised_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        chunk_clause(text)


WORDS = st.sampled_from(
    ["BY", "WORDS", "CHARS", "CHARACTERS", "MAX", "OVERLAP", "SPLIT", "NONE", "SENTENCE", "CUSTOM", "LANGUAGE", "NORMALIZE", "ALL", "(", ")", ",", "'a'", "'''", "100", "60", "6", '"x"', "--", ";", "x"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=9).map(" ".join) | st.text(max_size=30))
def test_nothing_else_gets_into_sql(text: str) -> None:
    try:
        found = chunk_clause(text).sql
    except ConfigurationError:
        return
    bare = re.sub(r"'(?:[^']|'')*'|\"[A-Z ]+\"", "", found)
    assert re.fullmatch(r"[A-Z0-9_$#(),. ]*", bare)
    assert bare.count("(") == bare.count(")")
    assert chunk_clause(found).sql == found


def test_a_cutting_has_a_clause_or_sizes() -> None:
    cutting = Cutting("database", vector_chunks=" by  words max 50 ")
    assert cutting.vector_chunks == "BY WORDS MAX 50"
    assert cutting.clause == chunk_clause("BY WORDS MAX 50")
    assert Cutting("database").clause == chunk_clause("")
    assert Cutting("passages").clause is None
    assert Settings(chunk_size_tokens=100).cutting(cutting) == cutting
    with pytest.raises(ConfigurationError, match="has its sizes in vector_chunks"):
        Cutting("database", size=100)
    with pytest.raises(ConfigurationError, match='vector_chunks belongs to chunker = "database"'):
        Cutting("whole", vector_chunks="BY WORDS")
