"""Text that the database asks a language model for: the two packages' functions, credentials, and answers by them."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracledb
import pytest

from oraclerag import Rag, Scope, errors
from oraclerag.config import SourceSettings
from oraclerag.generate.in_database import InDatabase
from oraclerag.local import LocalDatabase
from oraclerag.statements import root
from tests.local.conftest import Account, as_administrator
from tests.local.library import Entry, install, shelve
from tests.unit.fake_llm import JSON, KEY, Reply, completion, fake_llm, prompt, waits
from tests.unit.sqlplus import statements

pytestmark = pytest.mark.one_size("standard")  # a long bind is one earlier there

MANAGER = Scope(manager=True)
CREDENTIAL = "LLM"
PROMPT = "Grüße ☃"
TEXT = "SELECT {}.UTL_TO_GENERATE_TEXT(:data, JSON(:params)) AS ANSWER FROM dual"
PACKAGES = ("DBMS_VECTOR", "DBMS_VECTOR_CHAIN")


@pytest.fixture(scope="module")
def owner(module_account: Account, local_database: LocalDatabase) -> Account:
    """A user who has a credential."""
    as_administrator(local_database, f"GRANT CREATE CREDENTIAL TO {module_account.user}")
    with module_account.connect() as connection:
        create(connection, CREDENTIAL, {"access_token": KEY})
    return module_account


@pytest.fixture
def asking(owner: Account) -> Iterator[oracledb.Cursor]:
    """A cursor of that user's."""
    with owner.connect() as connection, connection.cursor() as cursor:
        yield cursor


def create(connection: oracledb.Connection, name: str, held: dict[str, str], package: str = "DBMS_VECTOR") -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"BEGIN {package}.CREATE_CREDENTIAL(credential_name => :name, params => JSON(:held)); END;",
            name=name, held=json.dumps(held),
        )  # fmt: skip


def wait(event: threading.Event) -> None:
    event.wait(20)


def params(base: str, **more: Any) -> str:
    tree = {"provider": "openai", "credential_name": CREDENTIAL, "url": f"{base}/chat/completions", "model": "m"}
    return json.dumps({name: value for name, value in (tree | more).items() if value is not None})


def said(cursor: oracledb.Cursor, base: str, package: str = "DBMS_VECTOR", **more: Any) -> str:
    """Ask, and give the error's text without the address of its help; or the answer."""
    try:
        cursor.execute(TEXT.format(package), {"data": PROMPT, "params": params(base, **more)}, fetch_lobs=False)
    except oracledb.DatabaseError as error:
        return str(error).partition("\nHelp: ")[0]
    row = cursor.fetchone()
    assert row is not None
    return str(row[0])


# -- the function -----------------------------------------------------------------------------------------------------

FORMS = [
    "SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d, JSON(:p)) FROM dual",
    "SELECT sys.dbms_vector.utl_to_generate_text(params => json(:p), data => :d) AS answer FROM sys.dual",
    "SELECT DBMS_VECTOR_CHAIN.UTL_TO_GENERATE_TEXT(:d, :p)",
    "WITH q AS (SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d, JSON(:p)) AS a FROM dual) SELECT UPPER(a) FROM q",
    "BEGIN :answer := DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d, JSON(:p)); END;",
    """DECLARE l_params JSON; l_prompt VARCHAR2(32767); l_answer CLOB; BEGIN l_params := JSON(:p); l_prompt := :d || '';
       l_answer := dbms_vector.utl_to_generate_text (data => l_prompt, params => l_params); :answer := l_answer; END;""",
    """DECLARE l_answer CLOB; BEGIN SELECT DBMS_VECTOR_CHAIN.UTL_TO_GENERATE_TEXT(:d, JSON(:p)) INTO l_answer FROM dual;
       :answer := l_answer; END;""",
]


@pytest.mark.parametrize("form", FORMS)
def test_a_prompt_is_answered_in_every_form_of_the_call(form: str, asking: oracledb.Cursor) -> None:
    reply = Reply(completion("Hello ☃"), headers=JSON)
    with fake_llm(reply) as server:
        binds: dict[str, Any] = {"d": PROMPT, "p": params(server.url, temperature=0.5, max_tokens=7)}
        if ":answer" in form:
            answer = binds["answer"] = asking.var(oracledb.DB_TYPE_CLOB)
            asking.execute(form, binds)
            found = answer.getvalue().read()
        else:
            asking.execute(form, binds, fetch_lobs=False)
            ((found,),) = asking.fetchall()
    assert found.lower() == "hello ☃"
    message = {"role": "user", "content": PROMPT}
    assert server.asked == [
        {"path": "/v1/chat/completions", "model": "m", "messages": [message], "temperature": 0.5, "max_tokens": 7}
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_literals_and_no_parameters(asking: oracledb.Cursor) -> None:
    with fake_llm(Reply(completion("x"), headers=JSON)) as server:
        asking.execute(f"SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT('hi', JSON('{params(server.url)}')) FROM dual")
        assert asking.fetchall()[0][0].read() == "x"
        assert server.asked[0]["messages"][0]["content"] == "hi"
    with pytest.raises(oracledb.DatabaseError, match=r"ORA-03001.*without parameters"):
        asking.execute("SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT('hi') FROM dual")


def test_a_provider_of_its_own_kind(asking: oracledb.Cursor) -> None:
    with fake_llm(Reply(b'{"response": "Hello", "done": true}')) as server:
        url = f"{server.url.removesuffix('/v1')}/api/generate"
        more: dict[str, Any] = {
            "provider": "ollama",
            "host": "local",
            "credential_name": None,
            "url": url,
            "options": {"num_predict": 9},
        }
        assert said(asking, server.url, **more) == "Hello"
    assert server.asked == [
        {"path": "/api/generate", "model": "m", "prompt": PROMPT, "options": {"num_predict": 9}, "stream": False}
    ]
    assert "authorization" not in server.headers[0]


def test_a_long_prompt_and_a_long_answer(asking: oracledb.Cursor) -> None:
    long = "ä☃😀 " * 60_000
    with fake_llm(Reply(completion(long), headers=JSON)) as server:
        lob = asking.connection.createlob(oracledb.DB_TYPE_CLOB, long)
        asking.execute(TEXT.format("DBMS_VECTOR"), {"data": lob, "params": params(server.url)}, fetch_lobs=False)
        assert asking.fetchall() == [(long,)]
        assert server.asked[0]["messages"][0]["content"] == long
        # bound as it is, it is a LONG; a cursor of its own, for one may go on with the type that it has bound before
        with asking.connection.cursor() as other, pytest.raises(oracledb.DatabaseError, match="ORA-01461"):
            other.execute(TEXT.format("DBMS_VECTOR"), {"data": long, "params": params(server.url)})


def test_no_text_is_null(asking: oracledb.Cursor) -> None:
    with fake_llm(Reply(completion(None)), Reply(completion(""))) as server:
        assert said(asking, server.url) == said(asking, server.url) == "None"


NETWORK = "Error Code: -20000, Error Message: ORA-20000: "
WRONG = [
    (Reply(b'{"error": {"message": "Incorrect key sk-1"}}', 401), "Error Code: 401, Error Message: HTTP status 401"),
    (Reply(b"", 429), "Error Code: 429, Error Message: HTTP status 429"),
    (Reply(b"", 500), "Error Code: 500, Error Message: HTTP status 500"),
    (Reply(b"", 302, {"Location": "http://elsewhere.example/"}), "Error Code: 302, Error Message: HTTP status 302"),
    (Reply(b"<html>"), f"{NETWORK}ORA-40441: JSON syntax error"),
    (Reply(b'{"choices": []}'), f"{NETWORK}ORA-40441: JSON syntax error"),
    (Reply(b'{"choices": [{"message": {"content": 1}}]}'), f"{NETWORK}ORA-40441: JSON syntax error"),
    (Reply(b"[" * 100_000), f"{NETWORK}ORA-40441: JSON syntax error"),
]


@pytest.mark.parametrize(("reply", "words"), WRONG, ids=lambda value: str(value)[:40])
def test_no_answer_is_an_error_as_each_package_words_it(reply: Reply, words: str, asking: oracledb.Cursor) -> None:
    with fake_llm(reply) as server:
        plain, chain = (said(asking, server.url, package) for package in PACKAGES)
    assert plain == f"ORA-20002: The provider returned an error - {words}"
    assert chain == (
        "ORA-20000: Oracle Text error:\nDRG-50857: oracle error in dbms_vector_chain.utl_to_generate_text(clob)\n"
        f"ORA-20002: The provider returned an error - {words}"
    )


def test_an_endpoint_that_is_not_there_or_too_slow_or_too_long(asking: oracledb.Cursor) -> None:
    held = threading.Event()
    with fake_llm(Reply([b"{"], gate=lambda _: wait(held))) as server:
        assert "ORA-29276: transfer timeout" in said(asking, server.url, transfer_timeout=0.1)
        held.set()
        server.replies[:] = [Reply(b"x" * (16 * 1024 * 1024 + 1))]
        assert "ORA-03001: unimplemented feature: answers of more than 16,777,216 bytes" in said(asking, server.url)
    assert said(asking, server.url).endswith("ORA-29273: HTTP request failed\nORA-12541: No listener")


def test_no_proxy_of_the_environment_is_asked(asking: oracledb.Cursor, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with fake_llm(Reply(completion("x"), headers=JSON)) as server:
        assert said(asking, server.url.replace("127.0.0.1", "localhost")) == "x"
        assert server.headers[0]["host"].startswith("localhost:")


REFUSED = [
    ({"url": "http://10.0.0.1/v1"}, "a url that is not of this machine"),
    ({"url": "http://127.0.0.1.nip.example/v1"}, "a url that is not of this machine"),
    ({"url": "http://0.0.0.0:1/v1"}, "a url that is not of this machine"),
    ({"url": "http://notlocalhost:1/v1"}, "a url that is not of this machine"),
    ({"url": "http://[::ffff:10.0.0.1]/v1"}, "a url that is not of this machine"),
    ({"url": "https://localhost/v1"}, "does not begin with http://"),
    ({"url": "file:///etc/passwd"}, "does not begin with http://"),
    ({"url": None}, "without url and model"),
    ({"model": None}, "without url and model"),
    ({"provider": "cohere"}, "text by the provider cohere"),
    ({"provider": None}, "text by the provider database"),
    ({"transfer_timeout": -1}, "transfer_timeout outside"),
    ({"transfer_timeout": 10**400}, "transfer_timeout outside"),
    ({"credential_name": "SYS.LLM"}, "a credential of another user"),
]


@pytest.mark.parametrize(("changed", "words"), REFUSED)
def test_what_is_not_done_is_refused_by_name(changed: dict[str, Any], words: str, asking: oracledb.Cursor) -> None:
    with fake_llm(Reply(completion("never"))) as server:
        found = said(asking, server.url, **changed)
        assert found.startswith("ORA-03001: unimplemented feature: ")
        assert words in found
        assert server.asked == []


@pytest.mark.parametrize("changed", ["me:hunter2@{}", "{}/a b", "{}/\r\nX-More: 1", "{}/ü", "[::1", "127.0.0.1:99999"])
def test_what_is_no_url_is_asked_nothing(changed: str, asking: oracledb.Cursor) -> None:
    with fake_llm(Reply(completion("never"))) as server:
        place = server.url.removeprefix("http://")
        found = said(asking, server.url, url=f"http://{changed.format(place)}")
        assert found.endswith("ORA-29261: bad argument: the url is none")
        assert server.asked == []


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("INSERT INTO t (c) VALUES (DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d, JSON(:p)))", 3001),
        ("SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d, JSON(:p)) FROM user_tables", 3001),
        ("SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d || 'x', JSON(:p)) FROM dual", 3001),
        ("SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT(text_data => :d, params => JSON(:p)) FROM dual", 3001),
        ("SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d, JSON(:p), 'x') FROM dual", 3001),
        ("SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d, nothing => JSON(:p)) FROM dual", 6553),
        ("SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT(params => JSON(:p)) FROM dual WHERE 'x' = :d", 6553),
        ("SELECT UTL_TO_GENERATE_TEXT(:d, JSON(:p)) FROM dual", 904),
        ("DECLARE x CLOB; BEGIN x := DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d, a => JSON(:p)); END;", 6550),
        ("DECLARE o json_object_t := json_object_t(); BEGIN o.put('a', :d); o.put('b', :p); END;", 3001),
    ],
)
def test_other_forms_of_the_call_are_errors(statement: str, number: int, asking: oracledb.Cursor) -> None:
    with fake_llm(Reply(completion("never"))) as server:
        with pytest.raises(oracledb.DatabaseError) as caught:
            asking.execute(statement, d="x", p=params(server.url))
        assert server.asked == []
    assert caught.value.args[0].code == number


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d, JSON(:p)) FROM dual",
        "DECLARE x CLOB; BEGIN x := DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:d, JSON(:p)); END;",
    ],
)
def test_a_cancel_ends_the_call_at_once_and_hangs_up(statement: str, asking: oracledb.Cursor) -> None:
    began = threading.Event()
    reply = Reply([b"{"], gate=lambda _: began.set(), waits_for_the_end=True)

    def cancelled() -> None:
        began.wait(20)
        asking.connection.cancel()

    with fake_llm(reply) as server:
        canceller = threading.Thread(target=cancelled)
        canceller.start()
        with pytest.raises(oracledb.DatabaseError, match="ORA-01013"):
            asking.execute(statement, d=PROMPT, p=params(server.url))
        canceller.join()
        assert server.hung_up.wait(20)
    assert asking.execute("SELECT 1 FROM dual").fetchall() == [(1,)]


# -- credentials ------------------------------------------------------------------------------------------------------


def test_a_credential_is_made_once_and_dropped_once(owner: Account) -> None:
    with owner.connect() as connection, connection.cursor() as cursor:
        create(connection, "another", {"access_token": "t"}, "DBMS_VECTOR_CHAIN")
        cursor.execute("SELECT CREDENTIAL_NAME, ENABLED FROM USER_CREDENTIALS ORDER BY 1")
        assert cursor.fetchall() == [("ANOTHER", "TRUE"), (CREDENTIAL, "TRUE")]
        with pytest.raises(oracledb.DatabaseError, match="ORA-27477"):
            create(connection, "ANOTHER", {"access_token": "t"})
        drop = "BEGIN DBMS_VECTOR.DROP_CREDENTIAL('Another'); END;"
        cursor.execute(drop)
        with pytest.raises(oracledb.DatabaseError, match="ORA-27476"):
            cursor.execute(drop)


def test_a_secret_is_in_no_view_no_table_and_no_error(owner: Account, local_database: LocalDatabase) -> None:
    with owner.connect() as connection, connection.cursor() as cursor:
        shown = []
        for view in ("USER_CREDENTIALS", "ALL_CREDENTIALS"):
            shown += cursor.execute(f"SELECT * FROM {view}").fetchall()
        assert shown
        for held in ({"access_token": KEY, "more": "x"}, {"password": KEY}, {"access_token": ""}, {}):
            with pytest.raises(oracledb.DatabaseError, match="ORA-03001") as caught:
                create(connection, "X", held)
            shown.append(str(caught.value))
        with pytest.raises(oracledb.DatabaseError) as caught:
            create(connection, CREDENTIAL, {"access_token": KEY})
        shown.append(str(caught.value))
        assert KEY not in str(shown)
        for table in ('"ora"."credentials"', "ora.credentials", '"credentials"', 'SYS."credentials"', "CREDENTIALS"):
            with pytest.raises(oracledb.DatabaseError, match="ORA-00942"):
                cursor.execute(f"SELECT * FROM {table}")
    other = Account(owner.dsn, f"{owner.user}_O", local_database.create_user(f"{owner.user}_O"))
    with other.connect() as connection, connection.cursor() as cursor:
        assert cursor.execute("SELECT * FROM ALL_CREDENTIALS").fetchall() == []
        with pytest.raises(oracledb.DatabaseError, match="ORA-27486"):
            create(connection, "X", {"access_token": "t"})
        with fake_llm(Reply(completion("never"))) as server:
            assert "ORA-20003: error retrieving credential" in said(cursor, server.url)
            assert "another user" in said(cursor, server.url, credential_name=f"{owner.user}.{CREDENTIAL}")
        assert server.asked == []


def test_the_script_puts_another_key_in_force(owner: Account) -> None:
    script = (root("sql") / "setup" / "credential.sql").read_text("utf-8")
    with owner.connect() as connection, connection.cursor() as cursor:
        for _ in range(2):
            for statement in statements(script):
                cursor.execute(statement)
        with fake_llm(Reply(completion("x"), headers=JSON)) as server:
            assert said(cursor, server.url, credential_name="rag_llm") == "x"
        assert server.headers[0]["authorization"] == "Bearer TYPED"
        cursor.execute("BEGIN DBMS_VECTOR.DROP_CREDENTIAL('RAG_LLM'); END;")


# -- answers ----------------------------------------------------------------------------------------------------------

ENTRIES = [
    Entry(
        "1", "Invoices of Acme are paid late because of a dispute.", title="Late payments", url="https://t.example/1"
    ),
    Entry("2", "Invoices of Acme: a text that stays.", source="note", title="Note"),
]
SOURCES = tuple(
    SourceSettings(name, "select 1 as source_id, 'x' as t from dual", "shared", body="t", egress=egress)
    for name, egress in (("task", True), ("note", False))
)
QUESTION = "Explain why the invoices of Acme are paid late to me"


@pytest.fixture(scope="module")
def rag(owner: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(owner, tiny_file, sources=SOURCES) as opened:
        with opened.database.transaction() as connection:
            shelve(connection, owner.user, ENTRIES)
        yield opened


def in_database(rag: Rag, url: str, **more: Any) -> Rag:
    """Open another Rag whose answers the database asks for."""
    changes: dict[str, Any] = {
        "generate_provider": "database", "generate_base_url": f"{url}/chat/completions", "generate_model": "m",
        "generate_credential": CREDENTIAL, "generate_timeout": 5.0,
    }  # fmt: skip
    return Rag(dataclasses.replace(rag.settings, **(changes | more)))


def writer(rag: Rag, url: str, **more: Any) -> InDatabase:
    values: dict[str, Any] = {"provider": "openai", "credential": CREDENTIAL, "timeout": 5.0, "attempts": waits([])}
    return InDatabase(
        database=rag.database, base_url=f"{url}/chat/completions", model="m", **(values | more)
    )  # fmt: skip


def test_an_answer_is_cited_and_texts_whose_source_lets_none_leave_stay(rag: Rag) -> None:
    pieces: list[str] = []
    reply = Reply(completion("They are in dispute ##1##. Nobody knows more ##999999##."), headers=JSON)
    with fake_llm(reply) as server, in_database(rag, server.url) as asking:
        asked = asking.prompt(QUESTION, scope=MANAGER)
        answer = asking.ask(QUESTION, scope=MANAGER, on_text=pieces.append)
    assert asked is not None
    assert [source.anchor for source in asked.sources] == ["##1##"]
    assert (answer.text, answer.outcome) == ("They are in dispute [^1]. Nobody knows more.", "answered")
    assert answer.references.startswith("[^1]: [Late payments](<https://t.example/1>)")
    assert (answer.generator, answer.withheld, answer.support.unknown_anchors) == ("database", 1, 1)
    assert answer.generation is not None
    assert answer.generation.finish is None
    assert len(pieces) == 1
    [sent] = server.asked
    instructions, text = (message["content"] for message in asked.messages)
    assert sent["messages"] == [{"role": "user", "content": f"{instructions}\n\n{text}"}]
    assert (sent["temperature"], sent["max_tokens"]) == (0.0, 1024)
    assert "stays" not in json.dumps(sent)


def test_a_question_can_be_reduced_there_too(rag: Rag) -> None:
    replies = [Reply(completion(text), headers=JSON) for text in ("invoices Acme paid late", "Dispute ##1##.")]
    with fake_llm(*replies) as server, in_database(rag, server.url, reduce_by="model", reduce_model="small") as asking:
        answer = asking.ask(QUESTION, scope=MANAGER)
    assert [asked["model"] for asked in server.asked] == ["small", "m"]
    assert answer.searched == "invoices Acme paid late"


def test_the_package_and_the_parameters_are_those_of_the_settings(rag: Rag) -> None:
    more = {"generate_package": "DBMS_VECTOR_CHAIN", "generate_database_params": '{"max_tokens": null, "seed": 3}'}
    replies = (Reply(b"", 401), Reply(completion("x"), headers=JSON))
    with fake_llm(*replies) as server, in_database(rag, server.url, **more) as asking:
        with pytest.raises(errors.ProviderLoginFailed, match=r"401 .*DRG-50857"):
            asking.ask(QUESTION, scope=MANAGER)
        asking.ask(QUESTION, scope=MANAGER)
    assert server.asked[1]["seed"] == 3
    assert "max_tokens" not in server.asked[1]


def test_a_long_prompt_reaches_the_provider_whole(rag: Rag) -> None:
    long = "An invoice, ☃. " * 14_000
    with fake_llm(Reply(completion("x"), headers=JSON)) as server:
        assert writer(rag, server.url).generate(prompt("Why?", long)).text == "x"
    assert long in server.asked[0]["messages"][0]["content"]


FAILURES: list[tuple[Reply, type[errors.ProviderError], int]] = [
    (Reply(b"", 401), errors.ProviderLoginFailed, 1),
    (Reply(b"", 429), errors.ProviderRateLimited, 4),
    (Reply(b"", 500), errors.ProviderUnavailable, 4),
    (Reply(b"", 404), errors.ProviderRefused, 1),
    (Reply(b"<html>"), errors.ProviderAnswerInvalid, 1),
]


@pytest.mark.parametrize(("reply", "error", "times"), FAILURES, ids=lambda value: str(value)[:40])
def test_no_answer_is_a_typed_error_with_oracles_as_its_cause(
    rag: Rag, reply: Reply, error: type[errors.ProviderError], times: int
) -> None:
    with fake_llm(reply) as server, pytest.raises(error) as caught:
        writer(rag, server.url).generate(prompt())
    assert len(server.asked) == times
    assert isinstance(caught.value.__cause__, oracledb.DatabaseError)


def test_a_credential_or_a_host_that_is_not_there_is_told_with_its_remedy(rag: Rag) -> None:
    with fake_llm(Reply(completion("never"))) as server:
        with pytest.raises(errors.ProviderLoginFailed) as caught:
            writer(rag, server.url, credential="NOBODY").generate(prompt())
        assert "sql/setup/credential.sql" in str(caught.value.hint)
        with pytest.raises(
            errors.ProviderRefused, match="ORA-03001: unimplemented feature: text by the provider cohere"
        ):
            writer(rag, server.url, provider="cohere").generate(prompt())
    assert server.asked == []
    with pytest.raises(errors.ProviderUnavailable, match="ORA-12541"):
        writer(rag, server.url).generate(prompt())


def test_a_call_that_takes_too_long_is_given_up_with_its_connection(rag: Rag) -> None:
    silent = Reply([b"{"], waits_for_the_end=True)
    with fake_llm(silent) as server, in_database(rag, server.url, pool_size=1, call_timeout=30.0) as asking:
        generator = writer(asking, server.url, timeout=0.2, attempts=waits([], most=1))
        with asking.database.connect() as connection:
            before = session(connection)
        with pytest.raises(errors.ProviderUnavailable, match=r"in time \(DPY-4024\)") as caught:
            generator.generate(prompt())
        assert "generate.timeout" in str(caught.value.hint)
        assert server.hung_up.wait(20)
        with asking.database.connect() as connection:  # the only one of the pool
            assert session(connection) != before
        server.replies[:] = [Reply(completion("x"), headers=JSON)]
        assert dataclasses.replace(generator, timeout=5.0).generate(prompt()).text == "x"
        with asking.database.connect() as connection:
            assert connection.call_timeout == 30_000


def session(connection: oracledb.Connection) -> tuple[int, int]:
    return connection.session_id, connection.serial_num
