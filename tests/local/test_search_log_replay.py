"""A logged search is run again: what is otherwise now, as whom, with which options; and the verbs of the log."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from oraclerag import Prompting, Scope
from oraclerag.cli import app
from oraclerag.errors import InputError
from oraclerag.rag import Rag
from oraclerag.reduce import rules
from oraclerag.search import Searcher
from tests.local.conftest import Account
from tests.local.library import Entry, install, shelve

pytestmark = pytest.mark.one_size

QUESTION = "late payments of supplier invoices"
EVERYBODY = Scope(tenant="main")
ADA = Scope(tenant="main", owner="ada")
ENTRIES = [
    Entry("1", "Late payments of supplier invoices block the close.", title="Late payments", metadata={"module": "AP"}),
    Entry("2", "Supplier invoices are paid on Fridays.", occurred_at=dt.datetime(2026, 3, 1, tzinfo=dt.UTC)),
    Entry("3", "Payments that are late cost a discount.", visibility="OWNER", owner="ada"),
    Entry("4", "The canteen is closed."),
]


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file, searches_log_prompts=True) as opened:
        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, ENTRIES)
        yield opened


@pytest.fixture
def cli(rag: Rag, module_account: Account) -> Callable[..., Result]:
    environment = {
        "ORACLE_DSN": module_account.dsn, "ORACLE_USER": module_account.user,
        "ORACLE_PASSWORD": module_account.password, "ORACLERAG_EMBEDDING_MODEL": rag.settings.embedding_model,
    }  # fmt: skip

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["searches", *arguments], env=environment, prog_name="oraclerag")

    return run


def keys(hits: Any) -> list[str]:
    return [hit.key for hit in hits]


def count(rag: Rag) -> int:
    return len(rag.searches.list(scope=Scope(tenant="main", manager=True), limit=10_000))


def test_nothing_changes_where_nothing_has_changed(rag: Rag) -> None:
    asked = rag.search(QUESTION, scope=ADA, k=2, log=True)
    assert asked.search_id is not None
    before = count(rag)
    found = rag.searches.replay(asked.search_id, scope=ADA)
    assert not found.changed
    assert (found.kept, found.came, found.went, found.moved) == (2, (), (), ())
    assert (found.model, found.answer, found.answer_changed, found.outcome) == (asked.model, None, None, "found")
    assert found.seconds_before["search"] > 0
    assert found.seconds["search"] > 0
    assert count(rag) == before
    again = rag.searches.replay(asked.search_id, scope=ADA, log=True)
    assert count(rag) == before + 1
    assert rag.searches.show(again.result.search_id or 0, scope=ADA).hits == rag.searches.show(
        asked.search_id, scope=ADA
    ).hits  # fmt: skip


def test_it_is_run_with_the_options_that_it_had(rag: Rag) -> None:
    model = rag.model()
    for options in (
        {"k": 1},
        {"filter": {"metadata.module": "AP"}},
        {"since": dt.date(2026, 2, 1), "until": dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)},
        {"source": ["task"], "prefer": {"source_id": "4"}, "order": "authority", "mode": "exact", "codes": False},
        {"min_score": 0.2, "hybrid": True, "weights": (1.0, 0.25), "candidates": 60, "diversity": 0.5},
        {"vector": [1.0] * model.dimensions},
    ):
        question = "" if "vector" in options else QUESTION
        asked = rag.search(question, scope=EVERYBODY, log=True, **options)
        found = rag.searches.replay(asked.search_id or 0, scope=EVERYBODY)
        assert keys(found.result) == keys(asked), options
        assert not found.changed, options


def test_what_came_went_and_moved_is_told(rag: Rag) -> None:
    asked = rag.ask(QUESTION, scope=EVERYBODY, k=2)
    number = asked.search_id or 0
    assert keys(asked.hits) == ["task:1:0", "task:2:0"]
    assert not rag.searches.replay(number, scope=EVERYBODY, answer=True).changed
    with rag.database.transaction() as connection:
        shelve(connection, rag.database.schema, [Entry("5", QUESTION)])
    try:
        found = rag.searches.replay(number, scope=EVERYBODY)
        assert (keys(found.came), keys(found.went)) == (["task:5:0"], ["task:2:0"])
        [moved] = found.moved
        assert (moved.key, moved.rank_before, moved.rank) == ("task:1:0", 1, 2)
        assert moved.distance == pytest.approx(moved.distance_before)
        assert found.answer_changed is None
        assert rag.searches.replay(number, scope=EVERYBODY, answer=True).answer_changed is True
    finally:
        with rag.database.transaction() as connection, connection.cursor() as cursor:
            cursor.execute("DELETE FROM RAG_CHUNK WHERE SOURCE_ID = '5'")
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE RAG_SEARCH SET PHYSICAL_NAME = 'OTHER_1' WHERE SEARCH_ID = :1", [number])
    found = rag.searches.replay(number, scope=EVERYBODY)
    assert (found.model_changed, found.model_before, found.changed) == (True, "OTHER_1", True)


def test_it_is_run_as_who_looks(rag: Rag) -> None:
    """Wider scopes see the log of narrower ones, and find what they may see: no right comes out of the log."""
    asked = rag.search(QUESTION, scope=EVERYBODY, k=10, log=True)
    found = rag.searches.replay(asked.search_id or 0, scope=ADA)
    assert keys(found.came) == ["task:3:0"]
    mine = rag.search(QUESTION, scope=ADA, k=10, log=True)
    with pytest.raises(InputError, match="There is no logged search"):
        rag.searches.replay(mine.search_id or 0, scope=EVERYBODY)
    manager = rag.searches.replay(mine.search_id or 0, scope=Scope(tenant="main", manager=True))
    assert keys(manager.result) == keys(mine)


def test_how_a_prompt_was_made_is_kept(rag: Rag) -> None:
    how = Prompting(reduce=False, max_chunks=1, anchors="bracket", max_references=3)
    asked = rag.ask(QUESTION, scope=ADA, how=how, k=3)
    found = rag.searches.replay(asked.search_id or 0, scope=ADA, answer=True)
    assert found.answer is not None
    assert found.answer.prompt is not None
    assert [source.anchor for source in found.answer.prompt.sources] == ["[1]"]
    assert not found.changed


@pytest.mark.parametrize("reduce", [True, False])
def test_a_follow_up_is_searched_for_as_it_was_understood(
    rag: Rag, reduce: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the turns before it nor the rules are asked again: what they would say now is no matter of the index."""
    how = Prompting(reduce=reduce)
    rag.ask("What do you know about supplier invoices?", scope=ADA, session=f"again {reduce}", how=how)
    asked = rag.ask("and when are they paid?", scope=ADA, session=f"again {reduce}", how=how, k=3)
    assert asked.standalone is not None
    searched: set[str] = set()
    each = Searcher.search_each

    def seen(searcher: Searcher, questions: list[str], **more: Any) -> Any:
        searched.update(questions)
        return each(searcher, questions, **more)

    monkeypatch.setattr(Searcher, "search_each", seen)
    monkeypatch.setattr(rules, "terms", lambda question: "canteen")
    only = rag.searches.replay(asked.search_id or 0, scope=ADA)
    found = rag.searches.replay(asked.search_id or 0, scope=ADA, answer=True, log=True)
    assert searched == {asked.searched}
    assert not only.changed
    assert not found.changed
    assert found.answer is not None
    assert (found.answer.standalone, found.answer.searched) == (asked.standalone, asked.searched)
    logged = [rag.searches.show(number or 0, scope=ADA) for number in (asked.search_id, found.answer.search_id)]
    assert len({(one.question, one.standalone, one.reduced, one.reduced_by) for one in logged}) == 1


def test_what_was_not_kept_cannot_be_run_again(rag: Rag) -> None:
    with Rag(dataclasses.replace(rag.settings, searches_questions="hash", searches_log_prompts=False)) as other:
        hashed = other.ask(QUESTION, scope=ADA).search_id or 0
    with pytest.raises(InputError, match=rf"Search {hashed} cannot be run again: its question was not kept, only its"):
        rag.searches.replay(hashed, scope=ADA)
    searched = rag.search(QUESTION, scope=ADA, log=True).search_id or 0
    with pytest.raises(InputError, match="asked for no answer"):
        rag.searches.replay(searched, scope=ADA, answer=True)


def test_the_verbs_show_what_the_library_gives(rag: Rag, cli: Callable[..., Result]) -> None:
    number = rag.ask("What of \x1b[2Jlate payments?", scope=ADA, session="talk").search_id or 0
    as_ada = ("--owner", "ada")
    listed = cli("list", "--session", "talk", *as_ada)
    assert "What of ␛[2Jlate pay" in listed.stdout
    assert max(map(len, listed.stdout.splitlines())) <= 100
    assert json.loads(cli("list", "--kind", "ask", "--outcome", "answered", "--limit", "1", *as_ada, "--json").stdout)[
        0
    ]["question"].startswith("What of \x1b")  # fmt: skip
    assert "Nothing is logged" in cli("list", "--session", "talk", "--owner", "ben").stderr
    shown = cli("show", str(number), *as_ada)
    assert "-- question\nWhat of ␛[2Jlate payments?" in shown.stdout
    assert "task:1:0" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert json.loads(cli("show", str(number), *as_ada, "--json").stdout)["hits"][0]["in_prompt"] is True
    replayed = cli("replay", str(number), "--answer", *as_ada)
    assert "hits     4 as before, 0 came, 0 went, 0 moved" in replayed.stdout
    assert "Nothing changed." in replayed.stderr
    assert json.loads(cli("replay", str(number), *as_ada, "--json").stdout)["changed"] is False
    assert "noted as bad" in cli("feedback", str(number), "--bad", "--note", "Wrong.", *as_ada).stderr
    assert cli("feedback", str(number), *as_ada).exit_code == 2
    assert rag.searches.show(number, scope=ADA).feedback_note == "Wrong."
    assert isinstance(cli("show", str(number), "--owner", "ben").exception, InputError)


def test_the_verbs_of_who_runs_it(rag: Rag, cli: Callable[..., Result]) -> None:
    rag.ask("Nothing of this is anybody's business", scope=ADA)
    found = cli("stats", "--days", "30")
    assert "tenant main" in found.stdout
    assert "business" not in found.stdout
    assert "p95 ms" in found.stdout
    assert "…" not in found.stdout
    assert max(map(len, found.stdout.splitlines())) <= 100
    assert json.loads(cli("stats", "--json").stdout)["total"]["shares"]["matched"] > 0
    assert json.loads(cli("stats", "--manager", "--tenant", "other", "--json").stdout)["total"]["count"] == 0
    assert isinstance(cli("purge", "--yes").exception, InputError)
    assert isinstance(cli("purge", "--older-than", "0s").exception, InputError)  # nobody can be asked
    assert "Cleared: the texts of " in cli("purge", "--older-than", "0s", "--texts-only", "--yes").stdout
    report = json.loads(cli("purge", "--older-than", "0s", "--yes", "--json").stdout)
    assert report["searches"] > 0
    assert report["hits"] > 0
    assert count(rag) == 0
