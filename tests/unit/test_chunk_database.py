"""Pieces that the database cut: found again in their text, held against the model, and nothing of the text is missing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk import Limits, chunks
from oraclerag.cutting import Cutting
from oraclerag.errors import ConfigurationError, EntityError
from oraclerag.records import Chunk, Piece

CUTTING = Cutting("database", vector_chunks="BY WORDS MAX 100")
NORMALIZED = Cutting("database", vector_chunks="BY WORDS MAX 100 NORMALIZE ALL")


def cut(text: str, pieces: list[Piece], *, tokens: int = 40, cutting: Cutting = CUTTING) -> list[Chunk]:
    return list(chunks(text, Limits(tokens, lambda text: len(text) + 2), cutting, pieces=pieces))


def spans(found: list[Chunk]) -> list[tuple[int, int]]:
    return [(chunk.start, chunk.end) for chunk in found]


def test_pieces_are_chunks_where_the_model_reads_them() -> None:
    text = "One ORA-942. \n Two two."
    found = cut(text, [Piece(1, 12, "One ORA-942."), Piece(16, 8, "Two two.")])
    assert [(c.number, c.text, c.start, c.end, c.parent) for c in found] == [
        (0, "One ORA-942.", 0, 12, None), (1, "Two two.", 15, 23, None),
    ]  # fmt: skip
    assert found[0].metadata["oracle_error_code"] == ["ORA-00942"]


def test_a_code_that_was_parted_belongs_to_both_pieces_and_makes_no_other() -> None:
    text = "see ORA-00942 and ORA-12541"
    first, second, third = cut(text, [Piece(1, 10, text[:10]), Piece(11, 7, text[10:17]), Piece(18, 10, text[17:])])
    assert first.metadata["oracle_error_code"] == second.metadata["oracle_error_code"] == ["ORA-00942"]
    assert third.metadata["oracle_error_code"] == ["ORA-12541"]


def test_what_the_model_does_not_read_is_cut_further() -> None:
    text = "A first sentence here. A second sentence there. Third."
    found = cut(text, [Piece(1, len(text), text)], tokens=30)
    assert [chunk.text for chunk in found] == ["A first sentence here. ", "A second sentence there. ", "Third."]
    assert [chunk.parent for chunk in found] == [None, 0, 0]
    assert len(cut(text, [Piece(1, len(text), text)], tokens=30,
                   cutting=Cutting("database", allow_truncation=True))) == 1  # fmt: skip


def test_offsets_may_count_in_units_of_utf16_and_be_wrong() -> None:
    text = "😀😀 one two"
    assert spans(cut(text, [Piece(1, 5, "😀😀 "), Piece(6, 3, "one"), Piece(10, 3, "two")])) == [
        (0, 3),
        (3, 6),
        (7, 10),
    ]
    assert spans(cut("one two", [Piece(1, 3, "one"), Piece(7, 3, "two")])) == [(0, 3), (4, 7)]


@pytest.mark.parametrize(
    ("pieces", "sentence"),
    [
        ([Piece(1, 3, "one"), Piece(9, 5, "three")], "left out 5 characters before character 8"),
        ([Piece(1, 3, "one"), Piece(5, 3, "two")], "left out the last 6 characters"),
        ([Piece(1, 4, "four")], "gave a chunk of 4 characters at 1 that is not in the text"),
    ],
)
def test_what_is_missing_or_strange_is_an_error(pieces: list[Piece], sentence: str) -> None:
    with pytest.raises(EntityError, match=sentence):
        cut("one two three", pieces)


def test_normalised_text_keeps_the_place_that_the_database_names() -> None:
    found = cut("one  -  two", [Piece(1, 11, "one two")], cutting=NORMALIZED)
    assert [(c.text, c.start, c.end) for c in found] == [("one two", 0, 11)]
    assert spans(cut("one", [Piece(2, 90, "one")], cutting=NORMALIZED)) == [(1, 3)]


def test_nobody_cuts_where_there_is_no_database() -> None:
    with pytest.raises(ConfigurationError, match="where they are read, in the database"):
        chunks("text", Limits(40, len), CUTTING)
    assert cut("  ", []) == []


@given(st.text(max_size=300), st.integers(1, 40), st.integers(0, 9))
def test_any_text_in_pieces_of_any_size_is_whole_again(text: str, size: int, overlap: int) -> None:
    text = text.replace("\0", "")
    step = max(size - overlap, 1)
    pieces = [Piece(at + 1, len(text[at : at + size]), text[at : at + size]) for at in range(0, len(text), step)]
    found = cut(text, pieces)
    covered: Any = set()
    for number, chunk in enumerate(found):
        assert chunk.number == number
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text.strip()
        assert len(chunk.text) + 2 <= 40
        covered |= set(range(chunk.start, chunk.end))
    assert not "".join(char for at, char in enumerate(text) if at not in covered).strip()
