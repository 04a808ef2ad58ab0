"""Scripts for a DBA: SQL*Plus reads them as they are meant, they grant no more than they say, and what removes
everything removes everything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from oraclerag.schema.objects import ddl
from oraclerag.statements import root
from tests.unit.sqlplus import statements

SETUP = root("sql") / "setup"
SCRIPTS = sorted(path.name for path in SETUP.glob("*.sql"))
NAMES = {item.name: item for path in sorted((root("sql") / "schema").glob("*.sql")) for item in ddl(path.name)}


def sent(name: str) -> list[str]:
    return statements((SETUP / name).read_text("utf-8"))


def test_the_scripts_are_those_that_the_documentation_names() -> None:
    assert SCRIPTS == [
        "application_users.sql",
        "container.sql",
        "create_user.sql",
        "credential.sql",
        "data_grants.sql",
        "drop_all.sql",
        "grant_model.sql",
        "grant_users.sql",
        "model_directory.sql",
        "network_acl.sql",
        "vector_memory.sql",
        "vpd.sql",
        "vpd_remove.sql",
    ]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_can_be_read_and_stops_at_the_first_error(name: str) -> None:
    text = (SETUP / name).read_text("utf-8")
    assert sent(name)
    assert "\nWHENEVER SQLERROR EXIT FAILURE\n" in text
    assert text.startswith("-- "), "it says what it is"


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_is_granted_to_everybody_or_everywhere(name: str) -> None:
    for statement in sent(name):
        assert not re.search(r"\bTO PUBLIC\b|\bANY\b|\bUNLIMITED\b|\bDBA\b|WITH (ADMIN|GRANT) OPTION", statement), (
            statement
        )


def test_the_owner_gets_what_the_ddl_needs_and_no_more() -> None:
    user, quota, *grants, text = sent("create_user.sql")
    assert 'CREATE USER RAG IDENTIFIED BY "TYPED"' in user
    assert quota == "ALTER USER RAG QUOTA 10G ON USERS"
    assert grants == ["GRANT DB_DEVELOPER_ROLE TO RAG", "GRANT CREATE MINING MODEL TO RAG"]
    assert re.findall("GRANT .+ TO RAG", text) == ["GRANT CTXAPP TO RAG"]


def test_no_password_is_written_down() -> None:
    for path in [*SETUP.glob("*.sql"), Path(__file__).parents[2] / "compose.dev.yml"]:
        for match in re.finditer(r"(?i)identified by (\S+)|_PASSWORD: (.+)", path.read_text("utf-8")):
            value = match[1] or match[2]
            assert value.startswith(('"&', "${ORACLE_PASSWORD:?", '"yes"')), f"{path.name}: {value}"


GRANT = re.compile(r"GRANT ([A-Z ,]+?)(?: \(([A-Z_, ]+)\))? ON RAG\.(\w+) TO (RAG_\w+)")


def granted() -> dict[str, dict[str, str]]:
    """Role → object → what may be done."""
    making, *grants = sent("grant_users.sql")
    roles: dict[str, dict[str, str]] = {name: {} for name in re.findall(r"SELECT '(\w+)'", making)}
    assert "'CREATE ROLE ' || one.NAME" in making
    for statement in grants:
        grant = GRANT.fullmatch(statement)
        assert grant is not None, statement
        assert grant[3] in NAMES or grant[3] == "RAG_ALEMBIC_VERSION", statement
        if grant[2]:
            assert set(grant[2].split(", ")) <= NAMES[grant[3]].columns
        columns = f" ({grant[2]})" if grant[2] and "UPDATE" in grant[1] else ""
        roles[grant[4]][grant[3]] = grant[1] + columns
    return roles


def test_a_service_that_announces_cannot_look_into_the_queue() -> None:
    rights = granted()["RAG_ENQUEUER"]
    assert rights == {"RAG_ALEMBIC_VERSION": "READ", "RAG_DIRTY": "INSERT", "RAG_ENQUEUE": "INSERT"}


def test_a_service_that_searches_changes_nothing_but_its_log() -> None:
    rights = granted()["RAG_SEARCHER"]
    assert {name for name, what in rights.items() if what != "READ"} == {"RAG_SEARCH", "RAG_SEARCH_HIT"}
    assert rights["RAG_SEARCH_HIT"] == "READ, INSERT"
    assert rights["RAG_SEARCH"] == "SELECT, INSERT, UPDATE (FEEDBACK, FEEDBACK_NOTE, FEEDBACK_AT)"
    assert "RAG_DIRTY" not in rights
    assert "RAG_FILE" not in rights


def test_a_worker_only_reads_the_sources_of_record() -> None:
    rights = granted()["RAG_WORKER"]
    assert rights["RAG_FILE"] == rights["RAG_RESOLUTION"] == rights["RAG_MODEL"] == "READ"
    assert "RAG_SEARCH" not in rights
    assert (rights["RAG_SEARCH_HIT"], rights["RAG_SEARCH_TEXT"]) == ("READ", "SELECT, UPDATE (PROMPT, ANSWER)")


def test_who_records_writes_the_sources_of_record_and_announces_it() -> None:
    rights = granted()["RAG_RECORDER"]
    assert rights.pop("RAG_FILE") == rights.pop("RAG_RESOLUTION") == "SELECT, INSERT, UPDATE, DELETE"
    assert rights == {"RAG_ALEMBIC_VERSION": "READ", "RAG_DIRTY": "INSERT"}


def test_drop_all_drops_every_object_children_first() -> None:
    dropped = [
        match[1]
        for text in sent("drop_all.sql")
        if (match := re.match(r"DROP (?:TABLE|VIEW) IF EXISTS RAG\.(\w+)", text))
    ]
    made = [item.name for item in NAMES.values() if item.table is None]
    assert dropped == [*reversed(made), "RAG_ALEMBIC_VERSION"]


def test_drop_all_drops_every_package_and_function() -> None:
    made = re.findall(
        r"CREATE OR REPLACE (PACKAGE|FUNCTION) &rag_owner\.\.(\w+)", (SETUP / "vpd.sql").read_text("utf-8")
    )
    dropped = [
        tuple(match.groups())
        for text in sent("drop_all.sql")
        if (match := re.fullmatch(r"DROP (PACKAGE|FUNCTION) IF EXISTS RAG\.(\w+)", text))
    ]
    assert set(dropped) == {*made, ("PACKAGE", "RAG_API")}


def test_drop_all_asks_first() -> None:
    block = sent("drop_all.sql")[0]
    assert block.startswith("DECLARE")
    assert "IF 'TYPED' <> 'DROP'" in block
    assert "'RAG.' || model.PHYSICAL_NAME" in block


def test_the_key_of_a_language_model_is_asked_for_and_put_in_the_place_of_another() -> None:
    text = (SETUP / "credential.sql").read_text("utf-8")
    assert re.search(r"^ACCEPT rag_key CHAR PROMPT '.+' HIDE$", text, re.MULTILINE)
    [block] = sent("credential.sql")
    assert """JSON('{"access_token": "TYPED"}')""" in block
    assert block.index("DBMS_VECTOR.DROP_CREDENTIAL(") < block.index("DBMS_VECTOR.CREATE_CREDENTIAL(")


def test_the_database_may_reach_one_port_of_one_host_and_no_more() -> None:
    grant, host, wallet = sent("network_acl.sql")
    assert grant == "GRANT CREATE CREDENTIAL TO RAG"
    assert "host       => 'api.openai.com'" in host
    assert host.count("443") == 4  # asked for, and appended, as both ends of the range
    assert re.findall(r"XS\$NAME_LIST\((.+?)\)", host + wallet) == ["'connect'", "'use_client_certificates'"]
    assert "IF 'NONE' <> 'NONE' THEN" in wallet
    for block in (host, wallet):
        assert block.index("IF found = 0 THEN") < block.index("APPEND_"), "it can be run again"
