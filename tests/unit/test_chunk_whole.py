"""The whole-document chunker: one chunk where it fits, else several that repeat the head; nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag import chunk as stage
from oraclerag.chunk import Limits, storable
from oraclerag.cutting import Cutting
from oraclerag.errors import ConfigurationError
from oraclerag.model.tokens import TokenBound
from oraclerag.records import Chunk


def words(text: str) -> int:
    """A tokenizer that takes every word and every punctuation mark for a token, and adds two."""
    return 2 + len(text.split()) + sum(not char.isalnum() and not char.isspace() for char in text)


BY_WORDS = Limits(tokens=40, count=words)
BY_BYTES = Limits(tokens=10_000, count=words, size=120)
BY_BOUND = Limits(tokens=64, count=TokenBound().count, prefix="passage: ", size=300)


def chunks(text: str, limits: Limits) -> list[Chunk]:
    return list(stage.chunks(text, limits))


def body(text: str, start: int, end: int) -> str:
    return text[start:end]


@given(
    text=st.one_of(
        st.text(max_size=700),
        st.text(alphabet="ab \n.-é漢😀\u0301\u200d", max_size=700),
        st.lists(st.text(alphabet="abc .!", min_size=1, max_size=90), max_size=30).map("\n- ".join),
    ),
    limits=st.sampled_from([BY_WORDS, BY_BYTES, BY_BOUND]),
)
@settings(max_examples=100, deadline=None)
def test_nothing_is_lost_and_every_chunk_is_within_both_limits(text: str, limits: Limits) -> None:
    found = chunks(text, limits)
    clean = storable(text)
    assert [chunk.number for chunk in found] == list(range(len(found)))
    at = 0
    for chunk in found:
        assert limits.fits(chunk.content)
        assert chunk.text.strip()
        assert clean[at : chunk.start].strip() == ""
        assert chunk.end > chunk.start
        assert chunk.text == clean[chunk.start : chunk.end]
        assert clean.lstrip().startswith(chunk.head.removesuffix("\n"))
        assert chunk.parent == (0 if chunk.number else None)
        at = chunk.end
    assert clean[at:].strip() == ""


@given(st.text(alphabet=st.characters(), max_size=200))
def test_storable_text_can_be_sent_and_keeps_its_offsets(text: str) -> None:
    stored = storable(text)
    stored.encode()
    assert len(stored) == len(text)
    assert "\x00" not in stored


def test_a_short_text_is_one_chunk_as_it_is() -> None:
    text = "[TASK #42] Late payments\nStatus: open"
    assert [(chunk.text, chunk.start, chunk.end) for chunk in chunks(text, BY_WORDS)] == [(text, 0, len(text))]


@pytest.mark.parametrize("text", ["", " \n\t ", "\u00a0"])
def test_a_text_of_blanks_has_no_chunks(text: str) -> None:
    assert chunks(text, BY_WORDS) == []


def test_further_chunks_repeat_the_head_and_comments_stay_whole() -> None:
    comments = [f"comment {number} says that the supplier waits for its money" for number in range(12)]
    text = "[TASK #42] Late payments\nStatus: open\nComments:\n" + "\n".join(f"- {comment}" for comment in comments)
    found = chunks(text, BY_WORDS)
    assert len(found) > 3
    assert all(chunk.content.startswith("[TASK #42] Late payments\n") for chunk in found)
    for comment in comments:
        assert sum(f"- {comment}" in chunk.text for chunk in found) == 1


def test_a_comment_of_several_lines_stays_whole() -> None:
    first = "- " + "\n  ".join(["we asked the bank about it"] * 3)
    second = "- " + "\n  ".join(["the bank answers tomorrow"] * 3)
    text = f"[TASK #1] Bank\nComments:\n{first}\n{second}"
    found = chunks(text, BY_WORDS)
    assert len(found) == 2
    assert first in found[0].text
    assert second in found[1].text


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        pytest.param("Head\n" + "A" * 500, None, id="one long word is cut hard"),
        pytest.param("漢" * 1000, None, id="no blanks, three bytes a character"),
        pytest.param("😀" * 100, None, id="four bytes a character"),
        pytest.param("e\u0301" * 200, None, id="accents stay with their letters"),
    ],
)
def test_hard_cuts_lose_nothing(text: str, cuts: None) -> None:
    found = chunks(text, BY_BYTES)
    assert "".join(body(text, chunk.start, chunk.end) for chunk in found) == text
    assert not any(text[chunk.start] == "\u0301" for chunk in found)


def test_a_sentence_is_preferred_to_a_word() -> None:
    text = "Head\n" + "The invoice was paid twice. " * 12
    found = chunks(text, BY_WORDS)
    assert len(found) > 1
    assert all(text[chunk.start :].startswith("The invoice") for chunk in found[1:])


def test_a_head_that_is_too_long_is_shortened_for_the_further_chunks_only() -> None:
    head = "[TASK #42] " + " ".join(f"word{number}" for number in range(80))
    text = head + "\nStatus: open"
    found = chunks(text, BY_WORDS)
    assert "".join(body(text, chunk.start, chunk.end) for chunk in found) == text
    assert all(chunk.content.startswith("[TASK #42] word0 ") for chunk in found)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_any_kind_are_boundaries(end: str) -> None:
    text = end.join(["Head", *(f"line {number} of the report has seven words" for number in range(20))])
    found = chunks(text, BY_WORDS)
    assert all(text[chunk.start :].startswith("line ") for chunk in found[1:])
    assert "".join(body(text, chunk.start, chunk.end) for chunk in found) == text


def test_lone_surrogates_are_replaced() -> None:
    (chunk,) = chunks("ok \ud83d end", BY_WORDS)
    assert chunk.text == "ok \ufffd end"


def test_a_model_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no room"):
        Limits(tokens=12, count=words, prefix="represent this passage for retrieval: ")


def test_a_size_is_kept_to_and_one_above_what_the_model_reads_is_refused() -> None:
    text = "Head\n" + "The invoice was paid twice. " * 12
    assert all(words(chunk.content) <= 20 for chunk in stage.chunks(text, BY_WORDS, Cutting(size=20)))
    with pytest.raises(ConfigurationError, match="chunk_size_tokens is 41, but the model reads 40 tokens"):
        stage.chunks(text, BY_WORDS, Cutting(size=41))
    with pytest.raises(ConfigurationError, match="chunk_size_tokens is 17, but must be at least 18"):
        stage.chunks(text, BY_WORDS, Cutting(size=17))
    assert (
        max(words(chunk.content) for chunk in stage.chunks(text, BY_WORDS, Cutting(size=60, allow_truncation=True)))
        > 40
    )


def test_a_text_that_may_be_truncated_is_one_chunk_as_far_as_the_column_holds_it() -> None:
    insisting = Cutting(allow_truncation=True)
    assert len(list(stage.chunks("word " * 700, BY_WORDS, insisting))) == 1
    found = list(stage.chunks("word " * 900, BY_WORDS, insisting))
    assert len(found) == 2
    assert all(len(chunk.content.encode()) <= 4000 for chunk in found)


def test_error_codes_of_a_text_are_known_of_its_chunk() -> None:
    (chunk,) = chunks("[TASK #1] Month end\nORA-1652: unable to extend temp segment, again ORA-01652", BY_WORDS)
    assert chunk.metadata["oracle_error_code"] == ["ORA-01652"]
    assert chunk.metadata["oracle_error_primary"] == "ORA-01652"
