"""What people, sources, reports and earlier answers say stays data in every prompt that is not that of an answer."""

from __future__ import annotations

import dataclasses
import re

import pytest

from oraclerag import anchors, prompt
from oraclerag.diagnose import path
from oraclerag.diagnose.analysis import Analysis
from oraclerag.diagnose.by_model import question_of
from oraclerag.diagnose.findings import extracted
from oraclerag.errors import ProviderUnavailable
from oraclerag.generate import Stream
from oraclerag.records import Generation, Hit, Prompt, SourceKey, Turn
from oraclerag.reduce import Reducer
from tests.unit.test_prompt import FORBIDDEN, INJECTIONS


@dataclasses.dataclass
class Listens:
    """Keeps what it is asked, and gives nothing of use."""

    asked: list[Prompt] = dataclasses.field(default_factory=list)
    name: str = "fake"
    local: bool = True

    def generate(self, asked: Prompt) -> Generation:
        self.asked.append(asked)
        return Generation("", "m")

    def stream(self, asked: Prompt) -> Stream:
        raise ProviderUnavailable


def held(text: str, headings: set[str]) -> None:
    """What is ours are the headings; every other line has the mark of data, and nothing in it is a token or a frame."""
    assert FORBIDDEN.search(text) is None
    assert len(text.splitlines()) == len(text.rstrip("\n").split("\n"))
    assert {line for line in text.split("\n") if line and line[0] != ">"} <= headings
    assert not list(anchors.marks(text, "hash"))


@pytest.mark.parametrize("text", INJECTIONS)
def test_who_understands_questions_is_shown_data(text: str) -> None:
    model = Listens()
    Reducer(model).understood(f"and {text}", [Turn(text, None, text), Turn("a", text, f"b\n{text}")])
    Reducer(model).understood(text)
    assert len(model.asked) >= 2
    for asked in model.asked:
        held(asked.text, {"EARLIER QUESTION", "EARLIER ANSWER", "QUESTION"})


@pytest.mark.parametrize("text", INJECTIONS)
def test_who_analyses_a_report_is_shown_data(text: str) -> None:
    report = f"{text}\nORA-00600: internal error {text}\n{text}\nWAIT #1: nam='{text}' ela= 9\n"
    held(question_of(extracted(report)).text, {"FINDINGS", "EXCERPTS"})


@pytest.mark.parametrize("text", INJECTIONS)
def test_who_writes_the_way_out_is_shown_data(text: str) -> None:
    """The texts of resolutions are anybody's, and so are those of reports and of what an analysis made of them."""
    made = prompt.build(
        path.question(Analysis(summary=text, symptoms=[text], error_codes=["ORA-00600"]).text),
        [
            Hit(1, 7, SourceKey("resolution", "1"), 0, f"[RESOLUTION #1] {text}\nFix: {text}", 0.1, title=text),
            Hit(2, 8, SourceKey("file", "2"), 0, text, 0.2, section=text),
        ],
        count=len,
        max_tokens=100_000,
        template=path.template(),
    )
    sources, _, question = made.text.partition("\nQUESTION\n")
    assert FORBIDDEN.search(made.text) is None
    assert len(list(anchors.marks(made.text, "hash"))) == 2
    assert len(question.splitlines()) == 1
    ours = [line for line in sources.split("\n") if line and line[0] != ">"]
    assert [re.sub(" .*", "", line) for line in ours] == ["SOURCES", *["<source", "</source>"] * 2]
