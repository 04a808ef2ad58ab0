"""Every statement of sql/statements is one that some kind of user sends: what it needs is read off its text and held
against what sql/setup/grant_users.sql grants to that kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from oraclerag.doctor.rights import needs as granted
from oraclerag.statements import root

FOLDER = root("sql") / "statements"

# Which kind of user sends the statements of which file: all of them, or those that are named; "-" leaves one out. DDL and
# what only the owner of the tables or a DBA does is in none of these, and in OF_THE_OWNER.
SENT_BY = {
    "ENQUEUER": "enqueue schema.version",
    "RECORDER": "ingest resolution enqueue schema.version security.add_file security.add_resolution",
    "SEARCHER": """
        active counts evaluate generate in_force.read search searches -searches.next_slice -searches.purge_hits
        -searches.purge -searches.purge_texts -searches.purge_vectors -searches.gone -searches.clear_texts schema.version
        security.add_search security.add_search_hit
    """,
    "WORKER": """
        active audit backfill claim counts embed enqueue in_force merge queue source status wait why wipe
        searches.gone searches.clear_texts schema.version security.add_entity security.add_document security.add_chunk
        -queue.coalesce_index -queue.coalesce_source_index -queue.coalesce_key -queue.move_rows -queue.try_to_lock
        -queue.give_space_back
    """,
}
OF_THE_OWNER = {
    "doctor",  # as whoever asks; what he may not read is unknown to him
    "index", "model", "propose", "reembed", "schema", "security", "setup", "tenants", "triggers",
}  # fmt: skip

_TABLE = r"/\*schema\*/(\w+)"
_DDL = re.compile(r"\s*(ALTER|CREATE|DROP|TRUNCATE|LOCK|GRANT|COMMENT)\b|.*(LOAD_ONNX|DROP_ONNX|DBMS_RLS)", re.DOTALL)


@dataclass(frozen=True)
class Need:
    verb: str
    table: str
    columns: frozenset[str] = frozenset()


def statements() -> Iterator[tuple[str, str]]:
    for path in sorted(FOLDER.glob("*.sql")):
        parts = re.split(r"^-- name: (\w+)$", path.read_text("utf-8"), flags=re.MULTILINE)
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            yield f"{path.stem}.{name}", re.sub(r"--[^\n]*", "", text)


STATEMENTS = dict(statements())


def columns(text: str) -> frozenset[str]:
    return frozenset(name.strip().upper() for name in re.sub(r"/\*\w+\*/", "", text).split(",") if name.strip())


def needed(text: str) -> set[Need]:
    """Read off a statement what it takes; DDL takes what no role has."""
    if _DDL.match(text):
        return {Need("DDL", "")}
    found: set[Need] = set()
    written = {
        match.start(1)
        for match in re.finditer(rf"\b(?:INSERT INTO|MERGE INTO|UPDATE|DELETE FROM|DELETE)\s+{_TABLE}", text)
    }
    for table, listed in re.findall(rf"\bINSERT INTO {_TABLE}(?:\s+\w+)?\s*\(([^)]*)\)", text):
        found.add(Need("INSERT", table, columns(listed)))
    for table in re.findall(rf"\bMERGE INTO {_TABLE}", text):
        found.add(Need("SELECT", table))
        found |= {Need("INSERT", table, columns(listed)) for listed in re.findall(r"THEN INSERT\s*\(([^)]*)\)", text)}
        for changes in re.findall(r"THEN UPDATE SET (.*?)(?=\bWHEN\b|\bDELETE\b|$)", text, re.DOTALL):
            found.add(Need("UPDATE", table, frozenset(re.findall(r"\b(?:\w+\.)?([A-Z_]+) = ", changes))))
    for table, changes in re.findall(rf"\bUPDATE {_TABLE}(?:\s+\w+)?\s+SET (.*?)(?=\bWHERE\b|$)", text, re.DOTALL):
        found.add(Need("UPDATE", table, frozenset(re.findall(r"(?:^|,)\s*(?:\w+\.)?([A-Z_]+) = ", changes))))
    found |= {Need("DELETE", table) for table in re.findall(rf"\bDELETE (?:FROM )?{_TABLE}", text)}
    if re.search(r"\bWHERE\b|\bRETURNING\b", text):  # SQL92_SECURITY
        found |= {Need("SELECT", need.table) for need in found if need.verb in ("UPDATE", "DELETE")}
    if re.search(r"\bRETURNING\b", text):
        found |= {Need("SELECT", need.table) for need in found if need.verb == "INSERT"}
    verb = "SELECT" if re.search(r"\bFOR UPDATE\b", text) else "READ"
    for match in re.finditer(_TABLE, text):
        if match.start(1) not in written:
            found.add(Need(verb, match[1]))
    return found


def lacking(role: str, text: str) -> list[str]:
    has = granted()[role]
    missing = []
    for need in needed(text):
        verbs = ("READ", "SELECT") if need.verb == "READ" else (need.verb,)
        fitting = [one for one in has if one.table == need.table and one.verb in verbs]
        if not any(not one.columns or (need.columns and need.columns <= set(one.columns)) for one in fitting):
            missing.append(f"{need.verb} ON {need.table}")
    return sorted(missing)


def sent(role: str) -> list[str]:
    words = SENT_BY[role].split()
    left_out = {word[1:] for word in words if word.startswith("-")}
    whole = {word for word in words if "." not in word}
    single = {word for word in words if "." in word and not word.startswith("-")}
    assert left_out | single <= set(STATEMENTS), "each of them is there"
    return [name for name in STATEMENTS if name in single or (name.split(".")[0] in whole and name not in left_out)]


@pytest.mark.parametrize("role", SENT_BY)
def test_a_role_has_what_its_statements_need(role: str) -> None:
    names = sent(role)
    assert names
    assert {name: found for name in names if (found := lacking(role, STATEMENTS[name]))} == {}


def test_every_file_is_sent_by_somebody() -> None:
    files = {name.split(".")[0] for name in STATEMENTS}
    of_roles = {word.split(".")[0] for words in SENT_BY.values() for word in words.split() if word[0] != "-"}
    assert files <= of_roles | OF_THE_OWNER


def test_what_only_the_owner_does_is_granted_to_nobody() -> None:
    for name, text in STATEMENTS.items():
        if Need("DDL", "") in needed(text):
            assert not [role for role in SENT_BY if name in sent(role)], name
    for role in SENT_BY:
        assert lacking(role, STATEMENTS["model.record"])
        assert lacking(role, STATEMENTS["searches.purge"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("SELECT a FROM /*schema*/T t JOIN /*schema*/U u ON 1 = 1", {Need("READ", "T"), Need("READ", "U")}),
        ("SELECT a FROM /*schema*/T FOR UPDATE SKIP LOCKED", {Need("SELECT", "T")}),
        ("INSERT INTO /*schema*/T (A, B) VALUES (:a, :b)", {Need("INSERT", "T", frozenset("AB"))}),
        ("UPDATE /*schema*/T t SET t.A = 1, B = 2 WHERE C = 3", {Need("UPDATE", "T", frozenset("AB")), Need("SELECT", "T")}),
        ("DELETE FROM /*schema*/T WHERE A = 1", {Need("DELETE", "T"), Need("SELECT", "T")}),
        ("ALTER TABLE /*schema*/T ADD (A NUMBER)", {Need("DDL", "")}),
        (
            """MERGE INTO /*schema*/T t USING dual ON (1 = 1) WHEN MATCHED THEN UPDATE SET t.A = 1
            WHEN NOT MATCHED THEN INSERT (A, B) VALUES (1, 2)""",
            {Need("SELECT", "T"), Need("UPDATE", "T", frozenset("A")), Need("INSERT", "T", frozenset("AB"))},
        ),
    ],
)  # fmt: skip
def test_what_a_statement_needs(text: str, found: set[Need]) -> None:
    assert needed(text) == found
