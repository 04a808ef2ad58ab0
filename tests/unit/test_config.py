"""Settings: where they come from, which wins, and one clear sentence for everything that is wrong."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.config import Settings, parse_source
from oraclerag.errors import ConfigurationError, OracleRagError, UnknownSource

FIELDS = [item for item in dataclasses.fields(Settings) if item.metadata]
SOURCE: dict[str, Any] = {"select": "select id as source_id, body from t", "visibility": "shared", "body": "body"}

OF_GENERATE = {
    "embedding_base_url": "http://127.0.0.1/v1",
    "generate_provider": "openai",
    "generate_base_url": "http://127.0.0.1/v1",
    "generate_database_provider": "ollama",
    "generate_database_params": "{}",
    "reduce_by": "nothing",
    "reduce_base_url": "http://127.0.0.1/v1",
    "searches_log": "all",
    "searches_questions": "hash",
    "par_expires_at": "2026-12-31",
}


@pytest.fixture(autouse=True)
def nothing_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No environment and no file but those of the test."""
    for name in list(os.environ):
        if name.startswith(("ORACLE_", "ORACLERAG_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def write(text: str, name: str = "oraclerag.toml") -> Path:
    path = Path(name)
    path.write_text(text, "utf-8")
    return path


def test_defaults() -> None:
    settings = Settings.load()
    assert (settings.embedding_model, settings.k, settings.backfill_on_start) == ("ALL_MINILM_L12_V2", 8, True)
    assert (settings.poll_interval, settings.initial_delay) == (2.0, 5.0)
    assert (settings.batch_size, settings.max_attempts, settings.lease) == (32, 5, 300.0)
    assert (settings.tenant, settings.exact_below, settings.query_embedding) == ("main", 50_000, "inline")


def test_keyword_wins_over_environment_over_file_over_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings.load().k == 8
    write("[search]\nk = 9\n")
    assert Settings.load().k == 9
    monkeypatch.setenv("ORACLERAG_TOP_K", "10")
    assert Settings.load().k == 10
    assert Settings.load(k=11).k == 11


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORACLE_DSN", "")
    write('[database]\ndsn = "host/service"\n')
    assert Settings.load().dsn == "host/service"


def test_the_file_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    write("[search]\nk = 9\n")
    write("[search]\nk = 10\n", "other.toml")
    assert Settings.load("other.toml").k == 10
    monkeypatch.setenv("ORACLERAG_CONFIG", "other.toml")
    assert Settings.load().k == 10


def test_a_named_file_must_exist() -> None:
    with pytest.raises(ConfigurationError, match=r"no configuration file 'gone\.toml'"):
        Settings.load("gone.toml")


@pytest.mark.parametrize("item", FIELDS, ids=lambda item: item.name)
def test_every_setting_has_a_place_in_file_and_environment(item: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written under the path or the variable arrives in the field, in its type."""
    default = item.default
    value: Any
    if isinstance(default, bool):
        text, value = ("false", False) if default else ("true", True)
    elif item.name in OF_GENERATE:
        text, value = f'"{OF_GENERATE[item.name]}"', OF_GENERATE[item.name]
    elif item.metadata["low"] is not None:
        number = min(max(17, item.metadata["low"]), item.metadata["high"])
        text, value = str(number), (float if item.type.startswith("float") else int)(number)
    elif item.type.startswith("Literal"):
        value = re.findall(r"'(\w+)'", item.type)[-1]
        text = f'"{value}"'
    else:
        text, value = '"ABC"', "ABC"
    section, _, key = item.metadata["path"].rpartition(".")
    beside = 'base_url = "http://127.0.0.1/v1"\nmodel = "m"\n' if item.name == "generate_provider" else ""
    write(f"{f'[{section}]' if section else ''}\n{key} = {text}\n{beside}")
    assert getattr(Settings.load(), item.name) == value
    write("")
    if item.name == "generate_provider":
        write('[generate]\nbase_url = "http://127.0.0.1/v1"\nmodel = "m"\n')
    monkeypatch.setenv(item.metadata["env"], text.strip('"'))
    loaded = getattr(Settings.load(), item.name)
    assert loaded == value
    assert type(loaded) is type(value)


def test_variables_and_paths_are_unique_and_named_by_the_rule() -> None:
    paths = [item.metadata["path"] for item in FIELDS]
    variables = [item.metadata["env"] for item in FIELDS]
    assert len(set(paths)) == len(paths)
    assert len(set(variables)) == len(variables)
    of_the_driver = {"dsn", "user", "password", "config_dir", "wallet_location", "wallet_password"}
    for item in FIELDS:
        assert item.metadata["env"].startswith("ORACLE_" if item.name in of_the_driver else "ORACLERAG_")


BOUNDED = [
    (item.name, item.metadata["low"], item.metadata["high"]) for item in FIELDS if item.metadata["low"] is not None
]


@pytest.mark.parametrize(("name", "low", "high"), BOUNDED)
def test_bounds_are_inclusive_and_the_message_names_the_places(name: str, low: float, high: float) -> None:
    made: Any = Settings
    made(**{name: low})
    made(**{name: high})
    for value in (low - 1, high + 1, *([float("nan")] if isinstance(getattr(Settings(), name), float) else [])):
        with pytest.raises(ConfigurationError) as caught:
            made(**{name: value})
        assert re.search(rf"{name} is .* but must be between .* oraclerag\.toml, ORACLERAG_\w+", str(caught.value))


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        ("ORACLERAG_TOP_K", "many", "ORACLERAG_TOP_K must be a whole number, not 'many'"),
        ("ORACLERAG_TOP_K", "1.5", "whole number"),
        ("ORACLERAG_LEASE", "soon", "ORACLERAG_LEASE must be a number"),
        ("ORACLERAG_BACKFILL_ON_START", "perhaps", "must be true or false"),
        ("ORACLERAG_SCHEMA", "a b", "not usable as schema"),
        ("ORACLERAG_EMBEDDING_MODEL", "m-1", "not usable as name of the embedding model"),
        ("ORACLERAG_EMBEDDING_MODEL", "M" * 101, "at most 100"),
        ("ORACLERAG_QUERY_EMBEDDING", "later", "'inline' or 'separate'"),
        ("ORACLERAG_TENANT", "t" * 129, "1 to 128 bytes"),
    ],
)
def test_a_bad_variable_is_one_sentence(variable: str, text: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(ConfigurationError, match=words):
        Settings.load()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("k = ", "not valid TOML"),
        ("[search]\nk = true\n", "search.k in oraclerag.toml must be a whole number"),
        ("[search]\nk = 1.5\n", "whole number"),
        ("[worker]\nlease = true\n", "worker.lease in oraclerag.toml must be a number"),
        ("[worker]\nlease = [1]\n", "must be a number"),
        ("[database]\npassword = 5\n", "database.password in oraclerag.toml must be a text"),
        ("[search]\nlimit = 5\n", r"\[search\] in oraclerag.toml has an unknown key 'limit'"),
        ("[serach]\nk = 5\n", "unknown key 'serach'"),
        ("speed = 5\n", "unknown key 'speed'"),
        ("[generate]\nprovider = 'openai'\nmodel = 'x'\n", r"needs generate\.base_url"),
        ("[generate]\nprovider = 'openai'\nbase_url = 'http://h/v1'\n", r"needs generate\.model"),
        ("[generate]\nprovider = 'gemini'\n", "'extractive', 'openai' or 'database', not 'gemini'"),
        ("[generate]\nprovider = 'database'\nmodel = 'x'\n", r"needs generate\.base_url"),
        ("[generate]\nprovider = 'database'\nbase_url = 'http://h/v1'\n", r"needs generate\.model"),
        (
            "[generate]\nprovider='database'\nbase_url='http://h/v1/chat/completions'\nmodel='m'\n",
            r"needs generate\.cred",
        ),
        ("[generate]\ndatabase_provider = 'gemini'\n", "must be one of 'cohere', 'googleai'.*, not 'gemini'"),
        ("[generate]\npackage = 'DBMS_CLOUD_AI'\n", "must be 'DBMS_VECTOR' or 'DBMS_VECTOR_CHAIN'"),
        ("[generate]\ncredential = 'sk-hunter2'\n", r"is no name of a credential: NAME or OWNER\.NAME"),
        ("[generate]\ncredential = 'A.B.C'\n", "is no name of a credential"),
        ("[generate]\ndatabase_params = '[1]'\n", "must be a JSON object"),
        ("[generate]\ndatabase_params = '{'\n", "must be a JSON object"),
        ("[generate]\nmodel = ' '\n", "must not be blank"),
        ("[generate]\napi_key = 'x'\n", r"\[generate\] in oraclerag.toml has an unknown key 'api_key'"),
        ("[generate]\nbase_url = 'localhost:11434/v1'\n", "must begin with http:// or https://"),
        ("[generate]\nbase_url = 'http:///v1'\n", "name a host"),
        ("[generate]\nbase_url = 'http://h:99999/v1'\n", "is no address"),
        ("[generate]\nbase_url = 'http://h/v1?key=1'\n", "no query"),
        ("[generate]\nbase_url = 'http://h/v 1'\n", "printable ASCII"),
        ("[generate]\nbase_url = 'http://h/v1/chat/completions'\n", "end before /chat/completions"),
        ("[reduce]\nby = 'llm'\n", "'rules', 'model' or 'nothing', not 'llm'"),
        ("[reduce]\nby = 'model'\n", r"needs reduce\.base_url or generate\.base_url"),
        ("[reduce]\nby = 'model'\n[generate]\nbase_url = 'http://h/v1'\n", r"needs reduce\.model"),
        ("[reduce]\nby='model'\nbase_url='http://h/v1'\n[generate]\nmodel='m'\n", r"needs reduce\.model"),
        ("[reduce]\nbase_url = 'h/v1'\n", "reduce_base_url must begin with http:// or https://"),
        ("[searches]\nlog = 'some'\n", "'ask', 'all' or 'off', not 'some'"),
        ("[searches]\nquestions = 'none'\n", "'text' or 'hash', not 'none'"),
        ("[searches]\nkeep_days = 0\n", "between 1 and 36500"),
        ("source = 5\n", "source in oraclerag.toml must be a table"),
        ("search = 5\n", "unknown key 'search'"),
    ],
)
def test_a_bad_file_is_one_sentence(text: str, words: str) -> None:
    write(text)
    with pytest.raises(ConfigurationError, match=words):
        Settings.load()


def test_a_file_that_is_not_utf8_says_so() -> None:
    Path("oraclerag.toml").write_bytes(b"tenant = '\xff'")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        Settings.load()


def test_an_unknown_keyword_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no setting 'top_k'"):
        Settings.load(top_k=5)


def test_a_password_is_never_in_a_message_or_repr() -> None:
    write('[database]\npassword = "hunter2"\nuser = "rag"\nwallet_password = "hunter2"\n')
    assert "hunter2" not in repr(Settings.load())
    write('[database]\npassword = "hunter2"\nuser = "rag"\nport = 1\n')
    with pytest.raises(ConfigurationError) as caught:
        Settings.load()
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "dsn",
    [
        "scott/hunter2@host:1521/FREEPDB1",
        "scott/hunter@2@alias",
        "tcps://host/FREEPDB1?wallet_password=hunter2",
        "config-azure://name?key=x&azure_client_secret=hunter2",
        "tcps://host/FREEPDB1?access_token=hunter2",
        "(DESCRIPTION=(ADDRESS=(PROTOCOL=TCPS)(HOST=h)(PORT=1))(SECURITY=(WALLET_PASSWORD = hunter2)))",
    ],
)
def test_an_address_holds_no_secret(dsn: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^dsn is the address of the database alone") as caught:
        Settings(dsn=dsn)
    assert "hunter2" not in f"{caught.value!r} {caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    "dsn",
    [
        "host:1521/FREEPDB1",
        "tcps://host:1522/x_high.adb.oraclecloud.com?retry_count=3&ssl_server_dn_match=on",
        "x_high",
        "(DESCRIPTION=(ADDRESS=(PROTOCOL=TCPS)(HOST=h)(PORT=1))(SECURITY=(SSL_SERVER_CERT_DN='CN=a@b')))",
    ],
)
def test_an_address_is_taken_as_it_is(dsn: str) -> None:
    assert Settings(dsn=dsn).dsn == dsn


@pytest.mark.parametrize("section", ["generate", "reduce"])
@pytest.mark.parametrize(
    ("key", "value"),
    [("base_url", "https://user:hunter2@h/v1"), ("base_url", "ftp://hunter2"), ("api_key_env", "sk-hunter2")],
)
def test_a_key_in_the_wrong_place_is_not_repeated(section: str, key: str, value: str) -> None:
    write(f'[{section}]\n{key} = "{value}"\n')
    with pytest.raises(ConfigurationError) as caught:
        Settings.load()
    assert "hunter2" not in str(caught.value)


# -- sources ----------------------------------------------------------------------------------------------------------


def test_a_source_is_read_with_its_parts() -> None:
    Path("templates").mkdir()
    Path("templates/task.j2").write_text("Task: {{ title }}\n", "utf-8")
    write(
        """
[source.task]
select = "select id as source_id, title from task ; "
children.comments = { select = "select task_id as source_id, id from task_comment;", order_by = "created_at, id" }
template = "templates/task.j2"
title = "title"
visibility = "owner"
owner = "assignee_id"
key = ["Tenant_Id", "no"]
metadata = ["Status"]
egress = false
recheck = true
time_zone = "Europe/Madrid"
[source.task.tables]
task = "id"
"app.sprint" = "select id from task where sprint_id = :id"
"""
    )
    source = Settings.load().source("task")
    assert source.select == "select id as source_id, title from task"
    assert source.template == "Task: {{ title }}\n"
    assert source.key == ("tenant_id", "no")
    assert source.metadata == ("status",)
    assert (source.visibility, source.owner, source.egress, source.recheck, source.time_zone) == (
        "owner",
        "assignee_id",
        False,
        True,
        "Europe/Madrid",
    )
    child = source.children["comments"]
    assert child.select == "select task_id as source_id, id from task_comment"
    assert child.order_by == "CREATED_AT, ID"
    assert source.tables == {"task": "id", "app.sprint": "select id from task where sprint_id = :id"}


def test_templates_are_looked_for_beside_the_file() -> None:
    Path("conf").mkdir()
    Path("conf/t.j2").write_text("x", "utf-8")
    write(
        '[source.t]\nselect = "select 1 as source_id from dual"\nvisibility = "shared"\ntemplate = "t.j2"\n',
        "conf/rag.toml",
    )
    assert Settings.load("conf/rag.toml").source("t").template == "x"


def test_an_unknown_source_is_named() -> None:
    with pytest.raises(UnknownSource, match="'ticket'"):
        Settings().source("ticket")


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in SOURCE.items() if key not in keys}


@pytest.mark.parametrize(
    ("name", "table", "words"),
    [
        ("Task", SOURCE, "a source's name is a lower-case letter"),
        ("t" * 31, SOURCE, "30 at most"),
        ("task", "select", "must be a table"),
        ("task", SOURCE | {"colour": "red"}, "unknown key 'colour'"),
        ("task", without("select"), "needs a select"),
        ("task", SOURCE | {"select": " "}, "select must be a non-empty text"),
        ("task", without("visibility"), "there is no default"),
        ("task", SOURCE | {"visibility": "public"}, "there is no default"),
        ("task", SOURCE | {"visibility": "owner"}, "must name the owner's column"),
        ("task", without("body"), "either a template or body"),
        ("task", SOURCE | {"template": "x"}, "either a template or body"),
        ("task", without("body") | {"template": "gone.j2"}, "no template file"),
        ("task", SOURCE | {"chunker": "words"}, 'chunker must be one of "whole", "passages"'),
        ("task", SOURCE | {"chunker": 1}, "chunker must be a text"),
        ("task", SOURCE | {"preset": "fit"}, 'preset belongs to chunker = "passages"'),
        ("task", SOURCE | {"chunker": "passages", "preset": "wide"}, 'preset must be one of "article"'),
        ("task", SOURCE | {"chunk_size_tokens": "500"}, "chunk_size_tokens must be a whole number"),
        ("task", SOURCE | {"chunk_size_tokens": True}, "chunk_size_tokens must be a whole number"),
        ("task", SOURCE | {"chunk_size_tokens": 3}, "chunk_size_tokens is 3, but must be at least 16"),
        ("task", SOURCE | {"chunk_overlap_tokens": 8}, "has no overlap"),
        (
            "task",
            SOURCE | {"chunker": "passages", "chunk_size_tokens": 64, "chunk_overlap_tokens": 64},
            "chunk_overlap_tokens is 64 and chunk_size_tokens is 64",
        ),
        ("task", SOURCE | {"allow_truncation": "yes"}, "allow_truncation must be true or false"),
        ("task", SOURCE | {"time_zone": "Mars/Olympus"}, "not a time zone"),
        ("task", SOURCE | {"time_zone": "Europe"}, "not a time zone"),
        ("task", SOURCE | {"time_zone": "../etc/passwd"}, "not a time zone"),
        ("task", SOURCE | {"egress": "no"}, "egress must be true or false"),
        ("task", SOURCE | {"recheck": 1}, "recheck must be true or false"),
        ("task", SOURCE | {"key": "id"}, "list of column names"),
        ("task", SOURCE | {"key": []}, "at least one column"),
        ("task", SOURCE | {"key": ["id", "ID"]}, "names a column twice"),
        ("task", SOURCE | {"key": ["a b"]}, "not usable as a column"),
        ("task", SOURCE | {"metadata": [1]}, "list of column names"),
        ("task", SOURCE | {"children": {"c": {"select": "x"}}}, "needs exactly select and order_by"),
        ("task", SOURCE | {"children": {"c": {"select": "x", "order_by": "a desc"}}}, "order of children.c"),
        ("task", SOURCE | {"children": []}, "children must be tables"),
        ("task", SOURCE | {"tables": {"task": 1}}, "map table names to a column or a query"),
        ("task", SOURCE | {"tables": {"a-b": "id"}}, "not usable as a table"),
    ],
)
def test_a_bad_source_is_one_sentence(name: str, table: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as caught:
        parse_source(name, table, Path(), f"[source.{name}] in oraclerag.toml")
    assert "\n" not in caught.value.message


def test_a_template_that_is_not_utf8_says_so() -> None:
    Path("t.j2").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        parse_source("t", without("body") | {"template": "t.j2"}, Path(), "[source.t]")


def test_a_source_that_stands_twice_is_refused() -> None:
    source = parse_source("task", SOURCE, Path(), "[source.task]")
    with pytest.raises(ConfigurationError, match="configured twice"):
        Settings(sources=(source, source))


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from([*SOURCE, "key", "metadata", "children", "tables", "egress", "owner", "time_zone"]), json_like
    )
)
def test_any_table_is_taken_or_refused_in_our_words(table: dict[str, Any]) -> None:
    with contextlib.suppress(OracleRagError):
        parse_source("task", SOURCE | table, Path("/nonexistent"), "[source.task]")


def test_a_default_tenant_that_stands_for_none_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="tenant must not be '-'"):
        Settings(tenant="-")


@pytest.mark.parametrize("tenant", [b"", b"a" * 129, b"\xff"], ids=["empty", "long", "not UTF-8"])
def test_a_default_tenant_that_no_column_holds_is_refused(tenant: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="tenant must be a text of 1 to 128 bytes"):
        Settings(tenant=os.fsdecode(tenant))
    if tenant:
        monkeypatch.setenv("ORACLERAG_TENANT", os.fsdecode(tenant))
        with pytest.raises(ConfigurationError, match="ORACLERAG_TENANT"):
            Settings.load()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("batch_size", "32"),
        ("k", 3.5),
        ("pool_size", True),
        ("lease", "300"),
        ("backfill_on_start", 1),
        ("tenant", 7),
        ("tenant", None),
        ("dsn", b"host/service"),
        ("query_embedding", None),
    ],
)
def test_a_keyword_of_another_type_is_named(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name} must be "):
        Settings(**{name: value})


def test_a_template_of_prompts_may_be_a_file_beside_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.j2").write_text("{% block instructions %}…")
    (tmp_path / "there" / "oraclerag.toml").write_text('[ask]\ntemplate = "mine.j2"\n')
    assert Settings.load(tmp_path / "there" / "oraclerag.toml").ask_template == "{% block instructions %}…"
    monkeypatch.setenv("ORACLERAG_ASK_TEMPLATE", "mine.j2")  # of the working directory
    with pytest.raises(ConfigurationError, match=r"ORACLERAG_ASK_TEMPLATE: there is no template file 'mine\.j2'"):
        Settings.load(tmp_path / "there" / "oraclerag.toml")
    monkeypatch.setenv("ORACLERAG_ASK_TEMPLATE", str(tmp_path / "there" / "mine.j2"))
    assert Settings.load().ask_template == "{% block instructions %}…"
