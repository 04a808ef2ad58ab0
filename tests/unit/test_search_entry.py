"""What the log keeps of a question is made of its course alone: no text that shall not be kept, nothing JSON has not."""

from __future__ import annotations

import datetime as dt
import decimal
import json
from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import ConfigurationError, InputError, ProviderUnavailable
from oraclerag.records import (
    Answer,
    Citation,
    Generation,
    Hit,
    Prompt,
    PromptSource,
    SearchResult,
    SourceKey,
    Support,
)
from oraclerag.scope import Scope
from oraclerag.searches.course import Asked, Course, Kind
from oraclerag.searches.entry import Keeping, entry
from oraclerag.searches.write import keeping

HITS = tuple(
    Hit(rank, 100 + rank, SourceKey("task", str(rank)), 0, f"content {rank}", 0.1 * rank) for rank in (1, 2, 3)
)
PROMPT = Prompt(
    "do this", "why", tuple(PromptSource(f"##{hit.chunk_id}##", hit) for hit in HITS[:2]), 1, 10, 20, "text"
)
RESULT = SearchResult(HITS, approximate=True, text_leg="plain", model="MODEL_1")
CITED = (Citation(1, SourceKey("task", "2"), None, None, "content 2", ("task:2:0",)),)
TEXTS = ("question", "standalone", "reduced", "prompt", "answer")


def asked(**changes: Any) -> Asked:
    values: dict[str, Any] = {
        "kind": "ask",
        "question": "why",
        "scope": Scope("acme", owner="7"),
        "options": {},
        "k": 8,
    }
    return Asked(**(values | changes))


def answered(**changes: Any) -> Answer:
    values: dict[str, Any] = {
        "question": "why", "text": "because[^1]", "outcome": "answered", "result": RESULT, "searched": "y",
        "generator": "m", "citations": CITED, "support": Support(5, 2, 1), "prompt": PROMPT,
        "generation": Generation("because", "m", prompt_tokens=9, answer_tokens=3),
    }  # fmt: skip
    return Answer(**(values | changes))


def course(**changes: Any) -> Course:
    values: dict[str, Any] = {
        "step": "cite", "searched": "y", "reduced_by": "rules", "result": RESULT, "prompt": PROMPT, "generator": "m",
        "generation": answered().generation, "answer": answered(),
    }  # fmt: skip
    return Course(**(values | changes))


def test_an_answer_becomes_a_row_and_its_hits() -> None:
    made = entry(asked(), course(), Keeping(prompts=True), 1.5)
    expected = {
        "asked_as": ["7"], "search_mode": "hybrid approx", "physical_name": "MODEL_1", "hits": 3, "cited": 3, "uncited": 2,
        "unsupported": 1, "prompt_tokens": 9, "answer_tokens": 3, "outcome": "answered", "error_code": None,
        "failed_step": None, "reduced": "y", "prompt": "do this\n\ntext", "answer": "because[^1]", "seconds": 1.5,
    }  # fmt: skip
    assert {name: made.row[name] for name in expected} == expected
    assert [(hit["hit_rank"], hit["in_prompt"], hit["cited"]) for hit in made.hits] == [(1, 1, 0), (2, 1, 1), (3, 0, 0)]
    assert made.has_texts
    bare = made.without_texts()
    assert (bare.has_texts, bare.row["prompt"], bare.row["answer"], bare.hits) == (False, None, None, made.hits)


@pytest.mark.parametrize(
    ("kind", "how", "error", "outcome", "code"),
    [
        ("ask", course(answer=answered(outcome="truncated")), None, "truncated", None),
        ("ask", course(answer=answered(outcome="no_grounds", generation=None)), None, "no_grounds", None),
        ("search", course(answer=None), None, "found", None),
        ("search", course(answer=None, result=SearchResult(())), None, "nothing", None),
        ("ask", course(answer=None), ProviderUnavailable(partial="beca"), "failed", "PROVIDER_UNAVAILABLE"),
        ("ask", course(answer=None, result=None), KeyboardInterrupt(), "failed", "INTERRUPTED"),
        ("search", course(answer=None, result=None), ZeroDivisionError("why"), "failed", "ZeroDivisionError"),
    ],
)
def test_how_it_ended(kind: Kind, how: Course, error: BaseException | None, outcome: str, code: str | None) -> None:
    made = entry(asked(kind=kind), how, Keeping(), 0.0, error)
    assert (made.row["outcome"], made.row["error_code"]) == (outcome, code)
    assert made.row["failed_step"] == (None if error is None else "cite")
    assert not made.has_texts


def test_what_had_come_of_a_broken_answer_is_its_text() -> None:
    broken = ProviderUnavailable(partial="beca")
    assert entry(asked(), course(answer=None), Keeping(prompts=True), 0.0, broken).row["answer"] == "beca"
    whole = entry(asked(), course(answer=None), Keeping(prompts=True), 0.0, ValueError())
    assert whole.row["answer"] == "because"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.decimals() | st.datetimes() | st.dates()
    | st.builds(object) | st.binary() | st.builds(lambda: array("f", [1.0])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.frozensets(st.text()),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(("filter", "prefer", "since", "codes", "k", "vector")), VALUES))
def test_options_are_json_that_the_database_takes(options: dict[str, Any]) -> None:
    row = entry(asked(options=options, prompting={"max_bytes": 3}), Course(), Keeping(), 0.0).row
    text = json.dumps(row["options"], allow_nan=False, ensure_ascii=False)
    assert not any("\ud800" <= char <= "\udfff" for char in text)
    assert "\\u0000" not in text
    assert row["options"]["prompt"] == {"max_bytes": 3}
    assert all(name in row["options"] for name, value in options.items() if value is not None)


def test_what_is_no_json_is_written_so_that_it_can_be_read_back() -> None:
    options = {"since": dt.datetime(2026, 1, 2, 3, 4, 5, 6, dt.UTC), "until": dt.date(2026, 1, 2), "weights": (1, 0.5),
               "filter": {"n": decimal.Decimal("1.5")}, "vector": array("f", [0.5]), "k": None}  # fmt: skip
    assert entry(asked(options=options), Course(), Keeping(), 0.0).row["options"] == {
        "since": "2026-01-02T03:04:05.000006+00:00", "until": "2026-01-02", "weights": [1, 0.5], "filter": {"n": 1.5},
        "vector": [0.5],
    }  # fmt: skip


@given(st.text(alphabet="xyz \0\ud800ü", min_size=1), st.booleans())
def test_texts_are_kept_as_the_settings_say(question: str, hashed: bool) -> None:
    how = course(searched=f"{question}2", standalone=f"{question}3")
    options = {"filter": {"metadata.a": question}, "prefer": {"metadata.b": question}, "vector": [0.5], "codes": False}
    made = entry(asked(question=question, options=options), how, Keeping(questions=not hashed), 0.0)
    assert made.row["prompt"] is made.row["answer"] is None
    if hashed:
        assert [made.row[name] for name in TEXTS] == [None] * 5
        assert made.row["options"] == {"codes": False}
        assert len(made.row["question_hash"]) == 64
    else:
        assert made.row["question"] == question.replace("\0", "\ufffd").replace("\ud800", "?")
        assert made.row["question_hash"] is None
        assert made.row["options"].keys() == options.keys()


def test_a_key_changes_every_hash_and_the_same_question_has_the_same() -> None:
    plain, one, two = (Keeping(questions=False, key=key) for key in (None, b"1", b"2"))
    assert len({keeping.hashed("why") for keeping in (plain, one, two)}) == 3
    assert one.hashed(" why\n") == one.hashed("why") != one.hashed("Why")


def test_no_text_is_in_a_repr() -> None:
    secret = "hunter2"
    source = asked(question=secret, options={"filter": {"a": secret}}, prompting={"template": secret})
    how = course(searched=secret, standalone=secret, answer=answered(text=secret))
    made = entry(source, how, Keeping(prompts=True), 0.0)
    assert secret not in repr((source, how, made, Keeping(key=secret.encode())))


@pytest.mark.parametrize(
    ("setting", "kind", "log", "wanted"),
    [
        ("ask", "ask", None, True),
        ("ask", "diagnose", None, True),
        ("ask", "search", None, False),
        ("ask", "search", True, True),
        ("ask", "ask", False, False),
        ("all", "search", None, True),
        ("all", "search", False, False),
        ("off", "ask", None, False),
        ("off", "search", True, False),
    ],
)
def test_what_is_logged(setting: Any, kind: Kind, log: bool | None, wanted: bool) -> None:
    database = Database(Settings(dsn="h/s", user="u", password="p", searches_log=setting))
    assert (keeping(database, kind, log) is not None) == wanted


def test_what_cannot_be_wanted() -> None:
    alone = Database(Settings())
    with pytest.raises(InputError, match="log must be True, False or None"):
        keeping(alone, "search", "yes")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="never in the caller's transaction"):
        keeping(alone, "search", True, borrowed=True)
    with pytest.raises(ConfigurationError, match="set one of them"):
        Settings(searches_questions="hash", searches_log_prompts=True)
