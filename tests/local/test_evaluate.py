"""Questions with known answers, asked of an index: what is measured, for whom, and what is said of what is not.

And the search log as a measure: how often a past case was found, and questions with feedback, for who may see them.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from oraclerag import Rag, Scope, SourceKey
from oraclerag.cli import app
from oraclerag.errors import ConfigurationError, ConnectionFailed, InputError
from oraclerag.evaluate import Question, Relevant, evaluate, load, logged_match_rate, questions_with_feedback
from oraclerag.records import SearchResult
from tests.local.conftest import Account
from tests.local.library import Entry, install, shelve
from tests.unit.fake_llm import JSON, Reply, completion, fake_llm

pytestmark = pytest.mark.one_size
MANAGER, OWNER = Scope(manager=True), Scope(owner="7")
ENTRIES = [
    Entry("1", "unable to extend temp segment: add a tempfile. ORA-01652", source="resolution",
          metadata={"oracle_error_code": ["ORA-01652"]}),
    Entry("2", "undo tablespace is too small, ORA-30036", source="resolution",
          metadata={"oracle_error_code": ["ORA-30036"]}),
    Entry("3", "late payments of the supplier", owner="7", visibility="OWNER"),
    Entry("4", "the nightly backup fails"),
    Entry("5", "late payments of nobody", tenant="other"),
]  # fmt: skip


def relevant(*keys: str) -> tuple[Relevant, ...]:
    return tuple(Relevant(SourceKey(*key.split(":"))) for key in keys)


QUESTIONS = [
    Question("temp", "ORA-01652 unable to extend temp segment", relevant("resolution:1"), expected="Add a tempfile."),
    Question("late", "late payments of the supplier", relevant("task:3", "task:99")),
    Question("backup", "the nightly backup fails"),
    Question("undo", "ORA-30036 undo tablespace is too small"),
    Question("unknown", "ORA-00060 deadlock"),
]


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file) as opened:
        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, ENTRIES)
        yield opened


def test_every_question_is_scored_by_what_applies_to_it(rag: Rag) -> None:
    told: list[tuple[int, int]] = []
    found = evaluate(rag, QUESTIONS, scope=MANAGER, k=3, cutoffs=[1], on_progress=lambda *done: told.append(done))
    by_id = {row.id: row for row in found.questions}
    assert told == [(number, 5) for number in range(1, 6)]
    assert by_id["temp"].scores == {
        "ndcg@1": 1, "recall@1": 1, "precision@1": 1, "mrr@1": 1, "hit_rate@1": 1, "judged@1": 1,
        "ndcg@3": 1, "recall@3": 1, "precision@3": pytest.approx(1 / 3), "mrr@3": 1, "hit_rate@3": 1, "judged@3": 1,
        "context_precision@3": 1, "context_recall@3": 1,
    }  # fmt: skip
    assert by_id["late"].missing == ("task:99",)
    assert by_id["late"].scores["recall@3"] == 0.5
    assert by_id["late"].scores["context_recall@3"] == 1
    assert by_id["backup"].scores == {}, "nothing was judged, and it is about no code"
    assert by_id["undo"].scores == {"context_precision@3": 1, "context_recall@3": 1}
    assert by_id["unknown"].scores == {}, "there is no match: that none was found is no failure"
    recall = found.metric("recall@3")
    assert recall is not None
    assert (recall.value, recall.n, recall.unscored) == (0.75, 2, 3)
    assert found.latency.median is not None
    assert [note for note in found.notes if "task:99" in note]
    assert found.distances.relevant
    assert found == dataclasses.replace(
        evaluate(rag, QUESTIONS, scope=MANAGER, k=3, cutoffs=[1]), questions=found.questions, latency=found.latency
    )


def test_a_match_that_the_search_misses_lowers_the_recall(rag: Rag) -> None:
    """The code is looked for exactly, whatever hides it from the search that is measured."""
    found = evaluate(rag, QUESTIONS[3:4], scope=MANAGER, k=3, codes=False, min_score=1)
    assert found.questions[0].scores == {"context_recall@3": 0}
    elsewhere = evaluate(rag, QUESTIONS[3:4], scope=MANAGER, k=3, history=["task"])
    assert "context_recall@3" not in elsewhere.questions[0].scores, "no past case names the code"


def test_what_the_asker_may_not_see_is_not_there(rag: Rag) -> None:
    found = evaluate(rag, QUESTIONS[1:2], scope=Scope(owner="8"), k=3).questions[0]
    assert found.missing == ("task:3", "task:99")
    assert {hit.unit for hit in found.hits} == {"resolution:1", "resolution:2", "task:4"}
    assert "context_recall@3" not in found.scores
    assert not evaluate(rag, QUESTIONS, scope=Scope(tenant="nobody"), k=3).distances.relevant


def test_a_question_that_is_cut_says_so(rag: Rag) -> None:
    found = evaluate(rag, [Question("long", "late payments " * 2000)], scope=MANAGER, k=1)
    assert "longer than the model reads" in found.questions[0].notes
    assert any(note.startswith("Of 1 question only the beginning") for note in found.notes)


def test_answers_are_measured_too(rag: Rag) -> None:
    found = evaluate(rag, QUESTIONS[:1], scope=MANAGER, k=3, answers=True).questions[0]
    assert found.scores["faithfulness"] == 1, "quoted word for word"
    assert found.scores["expected_overlap"] == 1
    assert found.outcome == "answered"
    assert found.answer_seconds is not None


def test_a_language_model_judges_and_what_it_fails_to_say_is_not_scored(rag: Rag) -> None:
    def verdicts(*values: bool) -> Reply:
        return Reply(completion(json.dumps({"verdicts": values})), headers=JSON)

    with pytest.raises(ConfigurationError, match="Judging takes a language model"):
        evaluate(rag, QUESTIONS, scope=MANAGER, judge=True)
    replies = [verdicts(True), Reply(completion("Yes, it does."), headers=JSON)]
    with fake_llm(*replies) as server:
        asking = dataclasses.replace(
            rag.settings, generate_provider="openai", generate_base_url=server.url, generate_model="m"
        )
        with Rag(asking) as judging:
            found = evaluate(judging, QUESTIONS[:1], scope=MANAGER, k=3, judge=True)
    (row,) = found.questions
    assert row.scores["llm_context_precision"] == 1
    assert "llm_context_recall" not in row.scores
    assert row.notes == ("llm_context_recall: the judge did not reply with JSON",)
    assert any("judge" in note for note in found.notes)


def test_nothing_is_asked_before_every_question_can_be(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rag, "search_each", lambda *_, **__: pytest.fail("asked"))
    wrong = [*QUESTIONS, Question("bad", "x", filter={"no column $": 1}, place="questions.jsonl, line 6")]
    with pytest.raises(InputError, match=r"^questions\.jsonl, line 6: "):
        evaluate(rag, wrong, scope=MANAGER)
    for arguments in ({"k": 0}, {"k": 3, "cutoffs": [4]}, {"mode": "fast"}, {"k": 100_000}, {"vector": [1.0]}):
        with pytest.raises(InputError, match=r"^(?!questions)"):
            evaluate(rag, QUESTIONS, scope=MANAGER, **arguments)


def test_a_lost_connection_ends_it_with_what_was_done(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    search_each, calls = Rag.search_each, []

    def failing(self: Rag, questions: Sequence[str], **options: Any) -> list[SearchResult]:
        calls.append(len(questions))
        if len(calls) > 1:
            raise ConnectionFailed
        return search_each(self, questions, **options)

    monkeypatch.setattr(Rag, "search_each", failing)
    many = [dataclasses.replace(QUESTIONS[0], id=str(number)) for number in range(20)]
    found = evaluate(rag, many, scope=MANAGER)
    assert (found.asked, found.total) == (16, 20)
    assert found.failure is not None
    with pytest.raises(ConnectionFailed):
        evaluate(rag, many, scope=MANAGER)


@pytest.fixture
def run(module_account: Account, rag: Rag, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, value in (("ORACLE_DSN", rag.settings.dsn), ("ORACLE_USER", module_account.user),
                        ("ORACLE_PASSWORD", module_account.password), ("ORACLERAG_EMBEDDING_MODEL", "TINY")):  # fmt: skip
        monkeypatch.setenv(name, str(value))
    return lambda *arguments: CliRunner().invoke(app, ["evaluate", *map(str, arguments), "--manager"])


def test_the_command_prints_tables_or_json_and_holds_bounds(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(
        '{"id": "late", "question": "late payments of the supplier", "relevant": ["task:3"]}\n'
        '{"id": "backup", "question": "the nightly backup fails", "relevant": [{"source": "task:4:0", "grade": 2}]}\n'
    )
    shown = run(file, "--fail-under", "ndcg@10=0.9")
    assert shown.exit_code == 0, shown.output
    assert "ndcg@10" in shown.stdout
    assert "2 of 2 questions of questions.jsonl" in shown.stderr
    told = json.loads(run(file, "--json", "--at", "1").stdout)
    assert {one["name"]: one["value"] for one in told["metrics"]}["mrr@1"] == 1
    assert told["questions"][0]["text"] == "late payments of the supplier"
    assert run(file, "--markdown").stdout.startswith("| metric | value |")
    low = run(file, "--fail-under", "precision@10=0.5")
    assert (low.exit_code, "precision@10 is 0.1000, but must be at least 0.5." in low.stderr) == (1, True)


def test_two_ways_to_search_are_compared(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question": "late payments of the supplier", "relevant": ["task:3", "task:4"]}\n')
    told = json.loads(run(file, "--json", "--compare", "k=1", "k=4 hybrid=true").stdout)
    named = {one["name"]: one for one in told["differences"]}
    assert (named["recall@1 → @4"]["a"], named["recall@1 → @4"]["b"]) == (0.5, 1)
    configuration = tmp_path / "other.toml"
    configuration.write_text("[generate]\nmax_tokens = 100\n")
    shown = run(file, "--compare", "hybrid=true", configuration, "--html", tmp_path / "report.html")
    assert shown.exit_code == 0, shown.output
    assert f"A: hybrid=true; B: {configuration}." in "".join(shown.stderr.split("\n"))
    assert '<h1 dir="auto">Comparison on questions.jsonl</h1>' in (tmp_path / "report.html").read_text("utf-8")


def test_a_page_that_cannot_be_written_is_said_before_anything_is_asked(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Rag, "search_each", lambda *_, **__: pytest.fail("asked"))
    refused = run("questions.jsonl", "--html", tmp_path / "none" / "report.html")
    assert isinstance(refused.exception, InputError)
    assert "There is no folder" in str(refused.exception)


def test_a_collection_in_the_layout_of_beir(rag: Rag, tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "the nightly backup fails"}\n')
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\t4\t1\n")
    found = evaluate(rag, load(tmp_path, source="task"), scope=MANAGER, k=1)
    assert found.questions[0].scores["ndcg@1"] == 1


# -- the search log ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def logged(rag: Rag) -> Rag:
    """A past case cited, a question without one, a search that does not count, another tenant's question."""
    good = rag.ask("unable to extend temp segment", scope=OWNER, source="resolution", filter={"source_id": "1"})
    again = rag.ask("unable to extend temp segment", scope=OWNER, source="task")
    bad = rag.ask("the nightly backup fails", scope=MANAGER, source="task")
    rag.search("temp segment", scope=OWNER, log=True)
    other = rag.ask("late payments", scope=Scope(tenant="other"))
    for answer, was_good, scope in (
        (good, True, OWNER), (again, False, OWNER), (bad, False, MANAGER), (other, True, Scope(tenant="other")),
    ):  # fmt: skip
        assert answer.search_id is not None
        rag.searches.feedback(answer.search_id, was_good, scope=scope)
    return rag


def test_the_match_rate_counts_questions_that_found_a_past_case(logged: Rag) -> None:
    rate = logged_match_rate(logged, scope=MANAGER)
    assert (rate.searches, rate.matched) == (3, 1)
    assert rate.weeks[-1].searches == 3
    assert logged_match_rate(logged, scope=MANAGER, history=["task"]).matched == 2
    late = logged_match_rate(logged, scope=MANAGER, now=dt.datetime.fromisoformat("2100-01-01"))
    assert {target.state for target in late.targets} == {"missed"}
    assert logged_match_rate(logged, scope=Scope(tenant="nobody", manager=True)).searches == 0
    with pytest.raises(InputError, match="scope of a manager"):
        logged_match_rate(logged, scope=OWNER)
    with pytest.raises(InputError, match="names of sources"):
        logged_match_rate(logged, scope=MANAGER, history=[])


def test_what_a_good_answer_cites_is_relevant_and_what_was_bad_is_reported(logged: Rag) -> None:
    found = questions_with_feedback(logged, scope=MANAGER)
    assert [(one.text, dict(one.judged), one.filter) for one in found.questions] == [
        ("unable to extend temp segment", {"resolution:1": 1}, {"source_id": "1"}),
        ("the nightly backup fails", {}, None),
    ]
    assert found.notes[0].startswith("1 of them were called bad")
    measured = evaluate(logged, found, scope=MANAGER, k=1)
    recall = measured.metric("recall@1")
    assert recall is not None
    assert (recall.value, recall.n, recall.unscored) == (1, 1, 1)
    assert logged_match_rate(logged, scope=MANAGER).searches == 3, "an evaluation is not in the log"


def test_a_scope_is_given_what_it_may_see_of_the_log(logged: Rag) -> None:
    assert [one.text for one in questions_with_feedback(logged, scope=OWNER).questions] == [
        "unable to extend temp segment"
    ]
    for nobody in (Scope(owner="8"), Scope(tenant="nobody", manager=True)):
        with pytest.raises(InputError, match="no question with feedback"):
            questions_with_feedback(logged, scope=nobody)


def test_the_log_on_the_command_line(logged: Rag, run: Any, tmp_path: Path) -> None:
    shown = run("--log")
    assert "week of" in shown.stdout
    assert "1 of 3 questions" in shown.stderr
    assert "Target within 90 days: 40%" in shown.stderr
    assert json.loads(run("--log", "--json").stdout)["matched"] == 1
    both = json.loads(run("--feedback", "--log", "--json", "-k", "1", "--html", tmp_path / "report.html").stdout)
    assert both["metrics"][0]["value"] == 1
    assert both["match_rate"]["searches"] == 3
    assert both["min_score"]["suggested"] is None
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Match rate over time" in page
    assert "1 of 3 questions" in page
    assert run("--log", "--tenant", "nobody").stderr.startswith("No question is in the log")
    assert run().exit_code == run("questions.jsonl", "--feedback").exit_code == 2
    assert run("--log", "--fail-under", "ndcg@10=0.6").exit_code == 2, "a bound on what is not measured"
