"""What is written to the search log: what was asked and found, however it ended, and no text that shall not be there."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import functools
import hashlib
import hmac
import io
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import oracledb
import pytest
import sqlalchemy
from typer.testing import CliRunner

from oraclerag import Prompting, Rag, Scope
from oraclerag import answer as answering
from oraclerag.cli import app
from oraclerag.config import Settings, SourceSettings
from oraclerag.database import Database
from oraclerag.errors import ConfigurationError, ConnectionFailed, InputError, LoginFailed, ProviderError, SchemaMissing
from oraclerag.searches import clear_entities, clear_tenant
from tests.local.conftest import Account
from tests.local.library import Entry, install, settings_of, shelve
from tests.unit.fake_llm import JSON, Reply, completion, fake_llm

pytestmark = pytest.mark.one_size
OWNER = Scope(owner="7", groups=["team:ap", "a"])
ENTRIES = [
    Entry("1", "Invoices of Acme are paid late because of a dispute.", title="Late payments"),
    Entry("2", "The nightly backup of the invoices fails since Monday.", title="Backups", owner="7", visibility="OWNER"),
    Entry("3", "Invoices of the other tenant.", tenant="other"),
]  # fmt: skip
SOURCE = SourceSettings("task", "select 1 as source_id, 'x' as t from dual", "shared", body="t")
QUESTION = "Explain why the invoices of Acme are paid late to me"
COLUMNS = (
    "TENANT_ID", "KIND", "ASKED_BY", "ASKED_ROLE", "ASKED_AS", "SESSION_NAME", "QUESTION", "QUESTION_HASH", "STANDALONE",
    "REDUCED", "REDUCED_BY", "OPTIONS", "SEARCH_MODE", "PHYSICAL_NAME", "K", "HITS", "PROMPT", "ANSWER", "GENERATOR",
    "PROMPT_TOKENS", "ANSWER_TOKENS", "CITED", "UNCITED", "UNSUPPORTED", "TIMINGS", "SECONDS", "OUTCOME", "ERROR_CODE",
    "FAILED_STEP", "FEEDBACK", "FEEDBACK_NOTE", "FEEDBACK_AT",
)  # fmt: skip


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file, sources=(SOURCE,)) as opened:
        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, ENTRIES)
        yield opened


@pytest.fixture(autouse=True)
def _empty(rag: Rag) -> Iterator[None]:
    yield
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM RAG_SEARCH")


def logged(rag: Rag) -> list[dict[str, Any]]:
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT SEARCH_ID, {', '.join(COLUMNS)} FROM RAG_SEARCH ORDER BY SEARCH_ID", fetch_lobs=False)
        return [dict(zip(("SEARCH_ID", *COLUMNS), row, strict=True)) for row in cursor]


def hits_of(rag: Rag, number: int | None) -> list[tuple[Any, ...]]:
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT HIT_RANK, TENANT_ID, SOURCE_TYPE || ':' || SOURCE_ID || ':' || CHUNK_NO, CHUNK_ID, DISTANCE, "
            "IN_PROMPT, CITED FROM RAG_SEARCH_HIT WHERE SEARCH_ID = :1 ORDER BY HIT_RANK",
            [number],
        )
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def texts(rag: Rag) -> str:
    """Everything in both tables, as one text."""
    rows = [repr(row) for row in logged(rag)]
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT * FROM RAG_SEARCH_HIT")
        return "\n".join([*rows, *map(repr, cursor)])


def another(rag: Rag, **changes: Any) -> Rag:
    return Rag(dataclasses.replace(rag.settings, **changes))


def over_http(rag: Rag, url: str, **changes: Any) -> Rag:
    return another(
        rag, generate_provider="openai", generate_base_url=url, generate_model="m", generate_timeout=5.0, **changes
    )


def test_an_answer_is_logged_as_it_was_asked_and_found(rag: Rag) -> None:
    since = dt.date(2000, 1, 1)
    answer = rag.ask(
        QUESTION, scope=OWNER, how=Prompting(max_chunks=1), k=5, filter={"source_type": "task"}, until=since, log=True
    )
    assert answer.outcome == "no_grounds"
    answer = rag.ask(QUESTION, scope=OWNER, how=Prompting(max_chunks=1), k=5, filter={"source_type": "task"})
    none, row = logged(rag)
    assert row["SEARCH_ID"] == answer.search_id
    expected = {
        "TENANT_ID": "main", "KIND": "ask", "ASKED_BY": "7", "ASKED_ROLE": "principal", "ASKED_AS": ["7", "a", "team:ap"],
        "QUESTION": QUESTION, "QUESTION_HASH": None, "REDUCED": answer.searched, "REDUCED_BY": "rules", "K": 5,
        "HITS": 2, "SEARCH_MODE": "exact", "PHYSICAL_NAME": rag.model().physical_name, "PROMPT": None, "ANSWER": None,
        "GENERATOR": "extractive", "OUTCOME": "answered", "ERROR_CODE": None, "FAILED_STEP": None, "FEEDBACK": None,
        "CITED": answer.support.sentences - answer.support.uncited, "UNCITED": answer.support.uncited,
        "UNSUPPORTED": answer.support.unsupported,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert row["OPTIONS"]["filter"] == {"source_type": "task"}
    assert row["OPTIONS"]["prompt"] == dataclasses.asdict(Prompting(max_chunks=1))
    assert row["TIMINGS"].keys() == answer.timings.keys()
    assert row["SECONDS"] >= sum(answer.timings.values())
    assert answer.prompt is not None
    assert hits_of(rag, answer.search_id) == [
        (hit.rank, "main", hit.key, hit.chunk_id, hit.distance, int(hit == answer.prompt.sources[0].hit),
         int(any(hit.key in citation.keys for citation in answer.citations)))
        for hit in answer.hits
    ]  # fmt: skip
    assert (none["OUTCOME"], none["HITS"], none["CITED"], none["OPTIONS"]["until"]) == (
        "no_grounds", 0, None, "2000-01-01",
    )  # fmt: skip


def test_a_search_is_logged_on_request_or_as_the_settings_say(rag: Rag) -> None:
    assert rag.search("invoices", scope=OWNER).search_id is None
    assert rag.ask(QUESTION, scope=OWNER, log=False).search_id is None
    assert rag.prompt(QUESTION, scope=OWNER) is not None
    assert logged(rag) == []
    found = rag.search("invoices", scope=OWNER, log=True)
    two = rag.search_each(["invoices", "backup"], scope=Scope(manager=True), log=True)
    nothing = asyncio.run(rag.asearch("invoices", scope=Scope(tenant="nobody"), log=True))
    rows = logged(rag)
    assert [row["SEARCH_ID"] for row in rows] == [found.search_id, *(one.search_id for one in two), nothing.search_id]
    assert [(row["KIND"], row["QUESTION"], row["REDUCED"], row["OUTCOME"], row["ASKED_ROLE"], row["K"]) for row in rows] == [
        ("search", "invoices", None, "found", "principal", 8),
        ("search", "invoices", None, "found", "manager", 8),
        ("search", "backup", None, "found", "manager", 8),
        ("search", "invoices", None, "nothing", "anyone", 8),
    ]  # fmt: skip
    assert "prompt" not in rows[0]["OPTIONS"]
    assert len(hits_of(rag, two[1].search_id)) == len(two[1])
    with another(rag, searches_log="all") as all_of_them, another(rag, searches_log="off") as none:
        assert all_of_them.search("invoices", scope=OWNER).search_id is not None
        assert all_of_them.search("invoices", scope=OWNER, log=False).search_id is None
        all_of_them.ask(QUESTION, scope=OWNER)
        assert none.search("invoices", scope=OWNER, log=True).search_id is None
        assert none.ask(QUESTION, scope=OWNER).search_id is None
    assert [row["KIND"] for row in logged(rag)][4:] == ["search", "ask"]


def test_without_leave_no_text_of_sources_prompts_and_answers_is_kept(rag: Rag) -> None:
    secret = Reply(completion("They are Acme's disputants."), headers=JSON)
    with fake_llm(secret) as server, over_http(rag, server.url) as asking:
        answer = asking.ask(QUESTION, scope=Scope(manager=True))
    assert answer.outcome == "answered"
    kept = texts(rag)
    assert "task" in kept
    for words in ("disput", "nightly", "Late payments", "Backups"):
        assert words not in kept


def test_with_leave_prompt_and_answer_are_kept_whole(rag: Rag) -> None:
    long = "Ünd so fort. " * 2000
    reply = Reply(completion(long), headers=JSON)
    with fake_llm(reply) as server, over_http(rag, server.url, searches_log_prompts=True) as asking:
        answer = asking.ask(QUESTION + " " + "or never " * 700, scope=Scope(manager=True), how=Prompting(reduce=False))
    (row,) = logged(rag)
    assert row["ANSWER"] == answer.text
    assert len(row["ANSWER"].encode()) > 20_000
    assert answer.prompt is not None
    assert row["PROMPT"] == f"{answer.prompt.instructions}\n\n{answer.prompt.text}"
    assert row["QUESTION"] == answer.question
    assert len(row["QUESTION"]) > 4000


@pytest.mark.parametrize("key", [None, "a secret"])
def test_a_question_that_is_kept_as_a_hash_is_nowhere(
    rag: Rag, key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUESTION_KEY", key or "")
    with another(rag, searches_questions="hash", searches_hash_key_env="QUESTION_KEY" if key else None) as hashing:
        hashing.ask(QUESTION, scope=OWNER, filter={"project": {"$ne": "Late"}}, prefer={"project": "Late"})
    (row,) = logged(rag)
    plain, keyed = hashlib.sha256(QUESTION.encode()), hmac.new(b"a secret", QUESTION.encode(), hashlib.sha256)
    assert row["QUESTION_HASH"] == (keyed if key else plain).hexdigest()
    assert row["REDUCED_BY"] == "rules"
    for words in ("invoices", "Acme", "Late"):
        assert words not in texts(rag)


def test_a_key_that_is_not_there_is_said_before_anything_is_asked(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUESTION_KEY", raising=False)
    with another(rag, searches_questions="hash", searches_hash_key_env="QUESTION_KEY") as hashing:
        with pytest.raises(ConfigurationError, match="QUESTION_KEY, which is not set"):
            hashing.ask(QUESTION, scope=OWNER)
        assert hashing.search("invoices", scope=OWNER)


# -- what fails -------------------------------------------------------------------------------------------------------


def fail(error: BaseException) -> Callable[..., Any]:
    def raising(*_: Any, **__: Any) -> Any:
        raise error

    return raising


def test_what_fails_is_logged_with_what_was_known(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = Reply(b"{}", status=400)
    with fake_llm(refused) as server, over_http(rag, server.url) as asking, pytest.raises(ProviderError):
        asking.ask(QUESTION, scope=OWNER)
    with monkeypatch.context() as patched:
        patched.setattr(answering, "cite", fail(ValueError("invoices")))
        with pytest.raises(ValueError, match="invoices"):
            rag.ask(QUESTION, scope=OWNER)
    with pytest.raises(InputError):
        rag.ask(QUESTION, scope=OWNER, k=-1)
    with pytest.raises(InputError):
        rag.search("\0 \ud800", scope=OWNER, mode="none", log=True)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        rag.ask(QUESTION, scope=OWNER, on_text=fail(KeyboardInterrupt()))
    with pytest.raises(InputError):
        rag.ask(None, scope=OWNER)  # type: ignore[arg-type]
    rows = logged(rag)
    assert [(row["OUTCOME"], row["FAILED_STEP"], row["ERROR_CODE"], row["HITS"], row["K"]) for row in rows] == [
        ("failed", "generate", "PROVIDER_REFUSED", 2, 8),
        ("failed", "cite", "ValueError", 2, 8),
        ("failed", "search", "INPUT", None, None),
        ("failed", "search", "INPUT", None, 8),
        ("failed", "generate", "INTERRUPTED", 2, 8),
    ]
    assert [len(hits_of(rag, row["SEARCH_ID"])) for row in rows] == [2, 2, 0, 0, 2]
    assert rows[1]["REDUCED"] is not None
    assert rows[3]["QUESTION"] == "\ufffd ?"
    assert rows[0]["TIMINGS"].keys() == {"reduce", "search", "prompt", "generate"}


def test_an_answer_outlives_its_log(
    rag: Rag, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from oraclerag.searches import write

    monkeypatch.setattr(write, "writing", fail(ConnectionFailed("The database is gone (ORA-03113).")))
    with caplog.at_level(logging.WARNING, "oraclerag"):
        answer = rag.ask(QUESTION, scope=OWNER)
        with pytest.raises(InputError, match="mode"):
            rag.search("invoices", scope=OWNER, mode="none", log=True)  # type: ignore[arg-type]
    assert (answer.outcome, answer.search_id) == ("answered", None)
    assert [(record.action, record.error_code) for record in caplog.records] == [  # type: ignore[attr-defined]
        ("not_written", "CONNECTION_FAILED")
    ] * 2
    assert "invoices" not in caplog.text
    assert logged(rag) == []


def test_who_has_no_database_is_told_that_alone(module_account: Account, caplog: pytest.LogCaptureFixture) -> None:
    """What is no database for the question is none for the log: no second wait, and no word of the log."""
    whole = Settings(dsn="127.0.0.1:1/FREE", user="nobody", password="x")
    refused = dataclasses.replace(whole, dsn=module_account.dsn)
    with caplog.at_level(logging.INFO):
        for settings, error in (
            (whole, ConnectionFailed),
            (refused, LoginFailed),
            (Settings(), ConfigurationError),
            (settings_of(module_account, schema="SYS"), SchemaMissing),
        ):
            with Rag(settings) as rag:
                for ask in (rag.ask, functools.partial(rag.search, log=True)):
                    with pytest.raises(error):
                        ask("invoices", scope=OWNER)
                with pytest.raises(error):
                    rag.diagnose(io.BytesIO(b"ORA-01652: unable to extend temp segment"), scope=OWNER, store=False)
    assert [record for record in caplog.records if record.name.startswith("oraclerag.searches")] == []


# -- transactions -----------------------------------------------------------------------------------------------------


def test_the_callers_transaction_is_left_alone(rag: Rag, module_account: Account) -> None:
    with module_account.connect() as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO RAG_SETTING (SCOPE_NAME, SETTING) VALUES ('mine', 'x')")
        assert rag.search("invoices", scope=OWNER, connection=connection, log=True).search_id is not None
        connection.rollback()
        cursor.execute("SELECT COUNT(*) FROM RAG_SETTING WHERE SCOPE_NAME = 'mine'")
        assert cursor.fetchone() == (0,)
    assert len(logged(rag)) == 1


def test_a_connection_of_the_engine_may_be_lent_and_another_one_is_written_on(module_account: Account) -> None:
    engine = sqlalchemy.create_engine(module_account.url)
    with Rag(settings_of(module_account), engine=engine) as rag, engine.connect() as connection:
        assert rag.search("invoices", scope=OWNER, connection=connection, log=True).search_id is not None
        connection.rollback()
        assert len(logged(rag)) == 1
    engine.dispose()


def test_a_table_that_is_locked_costs_no_answer(
    rag: Rag, module_account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    from oraclerag.searches import write

    monkeypatch.setattr(write, "_MOST_SECONDS", 0.05)
    with module_account.connect() as connection, connection.cursor() as cursor:
        cursor.execute("LOCK TABLE RAG_SEARCH IN EXCLUSIVE MODE")
        answer = rag.ask(QUESTION, scope=OWNER)
        connection.rollback()
    assert (answer.outcome, answer.search_id) == ("answered", None)
    assert logged(rag) == []


def test_the_command_line_says_the_number(
    rag: Rag, module_account: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("dsn", "user", "password"):
        monkeypatch.setenv(f"ORACLE_{name.upper()}", getattr(module_account, name))
    monkeypatch.setenv("ORACLERAG_EMBEDDING_MODEL", rag.settings.embedding_model)
    found = CliRunner().invoke(app, ["search", "invoices", "--log", "--json"])
    answer = CliRunner().invoke(app, ["ask", QUESTION])
    none = CliRunner().invoke(app, ["ask", QUESTION, "--no-log"])
    first, second = (row["SEARCH_ID"] for row in logged(rag))
    assert json.loads(found.stdout)["search_id"] == first
    assert f"Logged as {second};" in answer.stderr
    assert "Logged" not in none.stderr


def test_who_has_a_borrowed_connection_alone_is_told_so(rag: Rag, module_account: Account) -> None:
    lone = Rag(Settings(schema=module_account.user, embedding_model=rag.settings.embedding_model))
    with module_account.connect() as connection:
        with pytest.raises(ConfigurationError, match="on a connection of its own"):
            lone.search("invoices", scope=OWNER, connection=connection, log=True)
        assert lone.search("invoices", scope=OWNER, connection=connection).search_id is None
    assert logged(rag) == []


def test_one_answer_is_three_round_trips(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    rag.ask(QUESTION, scope=OWNER)  # whether there are policies is known for a while
    sent: list[str] = []
    whole = Database.transaction

    def note(statement: str) -> None:
        if "RAG_SEARCH" in statement:
            sent.append(statement.split(maxsplit=1)[0])

    def execute(cursor: Any, statement: str, *args: Any, before: Any = oracledb.Cursor.execute, **binds: Any) -> Any:
        note(statement)
        return before(cursor, statement, *args, **binds)

    def executemany(cursor: Any, statement: str, rows: Any, before: Any = oracledb.Cursor.executemany) -> Any:
        note(statement)
        return before(cursor, statement, rows)

    def transaction(database: Database, **bounds: Any) -> Any:
        sent.append("transaction")
        return whole(database, **bounds)

    monkeypatch.setattr(oracledb.Cursor, "execute", execute)
    monkeypatch.setattr(oracledb.Cursor, "executemany", executemany)
    monkeypatch.setattr(Database, "transaction", transaction)
    rag.ask(QUESTION, scope=OWNER)
    assert sent == ["transaction", "INSERT", "INSERT"], "and the commit"


# -- what is removed --------------------------------------------------------------------------------------------------


def test_texts_that_quote_what_is_gone_are_cleared(rag: Rag) -> None:
    with another(rag, searches_log_prompts=True) as asking:
        asking.ask(QUESTION, scope=OWNER)
        asking.ask(QUESTION, scope=Scope())  # does not see task 2
        with rag.database.transaction() as connection:
            clear_entities(connection, rag.database.schema, [("task", "2"), ("task", "9")])
    both, one = logged(rag)
    assert (both["PROMPT"], both["ANSWER"]) == (None, None)
    assert one["PROMPT"]
    assert one["ANSWER"]
    assert both["QUESTION"] == QUESTION
    assert len(hits_of(rag, both["SEARCH_ID"])) == 2


def test_what_goes_while_an_answer_is_written_is_not_kept(rag: Rag) -> None:
    entry = dataclasses.replace(ENTRIES[0], id="4")
    with rag.database.transaction() as connection:
        shelve(connection, rag.database.schema, [entry])

    def remove(_piece: str) -> None:
        with rag.database.transaction() as connection, connection.cursor() as cursor:
            cursor.execute("DELETE FROM RAG_ENTITY WHERE SOURCE_ID = '4'")

    with another(rag, searches_log_prompts=True) as asking:
        answer = asking.ask(QUESTION, scope=OWNER, on_text=remove)
    assert any(hit.source.id == "4" for hit in answer.hits)
    (row,) = logged(rag)
    assert (row["SEARCH_ID"], row["PROMPT"], row["ANSWER"]) == (answer.search_id, None, None)
    assert len(hits_of(rag, answer.search_id)) == len(answer.hits)


def test_a_tenant_leaves_the_log_whole(rag: Rag) -> None:
    for tenant in ("main", "other"):
        rag.search("invoices", scope=Scope(tenant=tenant), log=True)
    cleared = clear_tenant(rag.database, "other")
    assert (cleared.searches, cleared.hits) == (1, 1)
    assert [row["TENANT_ID"] for row in logged(rag)] == ["main"]
