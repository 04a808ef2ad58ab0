"""The search log as a measure: how often a past case was found, and questions with feedback, for who may see them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oraclerag import Rag, Scope
from oraclerag.cli import app
from oraclerag.errors import InputError
from oraclerag.evaluate import evaluate, logged_match_rate, questions_with_feedback
from tests.local.conftest import Account
from tests.local.library import Entry, install, shelve

pytestmark = pytest.mark.one_size
MANAGER, OWNER = Scope(manager=True), Scope(owner="7")
ENTRIES = [
    Entry("1", "late payments of the supplier were resolved by a new term of payment", source="resolution"),
    Entry("2", "the nightly backup fails since the disk is full"),
]


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    """A past case cited, a question without one, a search that does not count, another tenant's question."""
    with install(module_account, tiny_file) as opened:
        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, ENTRIES)
        good = opened.ask("late payments of the supplier", scope=OWNER, source="resolution", filter={"source_id": "1"})
        again = opened.ask("late payments of the supplier", scope=OWNER, source="task")
        bad = opened.ask("the nightly backup fails", scope=MANAGER, source="task")
        opened.search("late payments", scope=OWNER, log=True)
        other = opened.ask("late payments", scope=Scope(tenant="other"))
        for answer, was_good, scope in ((good, True, OWNER), (again, False, OWNER), (bad, False, MANAGER)):
            assert answer.search_id is not None
            opened.searches.feedback(answer.search_id, was_good, scope=scope)
        assert other.search_id is not None
        opened.searches.feedback(other.search_id, True, scope=Scope(tenant="other"))
        yield opened


def test_the_match_rate_counts_questions_that_found_a_past_case(rag: Rag) -> None:
    rate = logged_match_rate(rag, scope=MANAGER)
    assert (rate.searches, rate.matched) == (3, 1)
    assert rate.weeks[-1].searches == 3
    assert logged_match_rate(rag, scope=MANAGER, history=["task"]).matched == 2
    late = logged_match_rate(rag, scope=MANAGER, now=dt.datetime.fromisoformat("2100-01-01"))
    assert {target.state for target in late.targets} == {"missed"}
    assert logged_match_rate(rag, scope=Scope(tenant="nobody", manager=True)).searches == 0
    with pytest.raises(InputError, match="scope of a manager"):
        logged_match_rate(rag, scope=OWNER)
    with pytest.raises(InputError, match="names of sources"):
        logged_match_rate(rag, scope=MANAGER, history=[])


def test_what_a_good_answer_cites_is_relevant_and_what_was_bad_is_reported(rag: Rag) -> None:
    found = questions_with_feedback(rag, scope=MANAGER)
    assert [(one.text, dict(one.judged), one.filter) for one in found.questions] == [
        ("late payments of the supplier", {"resolution:1": 1}, {"source_id": "1"}),
        ("the nightly backup fails", {}, None),
    ]
    assert found.notes[0].startswith("1 of them were called bad")
    measured = evaluate(rag, found, scope=MANAGER, k=1)
    recall = measured.metric("recall@1")
    assert recall is not None
    assert (recall.value, recall.n, recall.unscored) == (1, 1, 1)
    assert logged_match_rate(rag, scope=MANAGER).searches == 3, "an evaluation is not in the log"


def test_a_scope_is_given_what_it_may_see_of_the_log(rag: Rag) -> None:
    assert [one.text for one in questions_with_feedback(rag, scope=OWNER).questions] == [
        "late payments of the supplier"
    ]
    for nobody in (Scope(owner="8"), Scope(tenant="nobody", manager=True)):
        with pytest.raises(InputError, match="no question with feedback"):
            questions_with_feedback(rag, scope=nobody)


def test_the_command_line(rag: Rag, module_account: Account) -> None:
    environment = {
        "ORACLE_DSN": module_account.dsn, "ORACLE_USER": module_account.user, "ORACLE_PASSWORD": module_account.password,
        "ORACLERAG_EMBEDDING_MODEL": "TINY",
    }  # fmt: skip

    def run(*arguments: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, ["evaluate", "--manager", *arguments], env=environment)
        return result.exit_code, result.stdout, result.stderr

    status, shown, said = run("--log")
    assert (status, "week of" in shown) == (0, True)
    assert "1 of 3 questions" in said
    assert "Target within 90 days: 40%" in said
    assert json.loads(run("--log", "--json")[1])["matched"] == 1
    assert json.loads(run("--feedback", "--json", "-k", "1")[1])["metrics"][0]["value"] == 1
    assert run("--log", "--tenant", "nobody")[2].startswith("No question is in the log")
    assert run()[0] == run("--log", "--feedback")[0] == 2
