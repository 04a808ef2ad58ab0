"""Revisions, the frozen DDL, and what is said when the tables are not as they must be; no database."""

from __future__ import annotations

import hashlib
import re
from types import SimpleNamespace
from typing import Any

import oracledb
import pytest
import sqlalchemy as sa

from oraclerag import schema
from oraclerag.errors import InputError, SchemaMissing, SchemaOutdated, SchemaTooNew
from oraclerag.integrations.alembic import include_object, include_object_and
from oraclerag.schema import revision
from oraclerag.schema.environment import alembic_config
from oraclerag.schema.objects import ddl
from oraclerag.statements import root

FILES = sorted(path.name for path in (root("sql") / "schema").glob("*.sql"))
OBJECTS = [item for file in FILES for item in ddl(file)]
TABLES = [item for item in OBJECTS if item.kind == "TABLE"]

# Files of released revisions: they never change again; a change is a new revision.
RELEASED: dict[str, str] = {}

# SQL Language Reference, "Oracle SQL Reserved Words".
RESERVED = frozenset(
    [
        "ACCESS",
        "ADD",
        "ALL",
        "ALTER",
        "AND",
        "ANY",
        "AS",
        "ASC",
        "AUDIT",
        "BETWEEN",
        "BY",
        "CHAR",
        "CHECK",
        "CLUSTER",
        "COLUMN",
        "COLUMN_VALUE",
        "COMMENT",
        "COMPRESS",
        "CONNECT",
        "CREATE",
        "CURRENT",
        "DATE",
        "DECIMAL",
        "DEFAULT",
        "DELETE",
        "DESC",
        "DISTINCT",
        "DROP",
        "ELSE",
        "EXCLUSIVE",
        "EXISTS",
        "FILE",
        "FLOAT",
        "FOR",
        "FROM",
        "GRANT",
        "GROUP",
        "HAVING",
        "IDENTIFIED",
        "IMMEDIATE",
        "IN",
        "INCREMENT",
        "INDEX",
        "INITIAL",
        "INSERT",
        "INTEGER",
        "INTERSECT",
        "INTO",
        "IS",
        "LEVEL",
        "LIKE",
        "LOCK",
        "LONG",
        "MAXEXTENTS",
        "MINUS",
        "MLSLABEL",
        "MODE",
        "MODIFY",
        "NESTED_TABLE_ID",
        "NOAUDIT",
        "NOCOMPRESS",
        "NOT",
        "NOWAIT",
        "NULL",
        "NUMBER",
        "OF",
        "OFFLINE",
        "ON",
        "ONLINE",
        "OPTION",
        "OR",
        "ORDER",
        "PCTFREE",
        "PRIOR",
        "PUBLIC",
        "RAW",
        "RENAME",
        "RESOURCE",
        "REVOKE",
        "ROW",
        "ROWID",
        "ROWNUM",
        "ROWS",
        "SELECT",
        "SESSION",
        "SET",
        "SHARE",
        "SIZE",
        "SMALLINT",
        "START",
        "SUCCESSFUL",
        "SYNONYM",
        "SYSDATE",
        "TABLE",
        "THEN",
        "TO",
        "TRIGGER",
        "UID",
        "UNION",
        "UNIQUE",
        "UPDATE",
        "USER",
        "VALIDATE",
        "VALUES",
        "VARCHAR",
        "VARCHAR2",
        "VIEW",
        "WHENEVER",
        "WHERE",
        "WITH",
    ]
)


def test_revisions_are_one_line_and_called_as_their_files() -> None:
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(alembic_config("RAG"))
    found = [(script.revision, script.down_revision) for script in scripts.walk_revisions()]
    names = schema.revisions()
    assert found == list(zip(reversed(names), [*reversed(names[:-1]), None], strict=True))
    assert names[0] == "0001"


def test_every_revision_has_its_ddl() -> None:
    assert [file[:4] for file in FILES] == list(schema.revisions())


def test_released_ddl_is_frozen() -> None:
    """With the first version in the changelog, the files it was released with must be pinned here."""
    changelog = (root("sql").parent / "CHANGELOG.md").read_text("utf-8")
    if re.search(r"^## \[\d", changelog, re.MULTILINE):
        assert "0001_tables.sql" in RELEASED
    for file, digest in RELEASED.items():
        assert hashlib.sha256((root("sql") / "schema" / file).read_bytes()).hexdigest() == digest, file


def test_objects_carry_our_prefix_once() -> None:
    names = [item.name for item in OBJECTS]
    assert len(set(names)) == len(names)
    assert all(name.startswith("RAG_") and len(name) <= 60 for name in names)


def test_the_tables_of_the_design_are_there() -> None:
    assert {item.name for item in TABLES} == {
        "RAG_ENTITY", "RAG_DOCUMENT", "RAG_CHUNK", "RAG_DIRTY", "RAG_FILE", "RAG_RESOLUTION", "RAG_MODEL",
        "RAG_SETTING", "RAG_SEARCH", "RAG_SEARCH_HIT", "RAG_USAGE",
    }  # fmt: skip


@pytest.mark.parametrize("item", TABLES, ids=lambda item: item.name)
def test_no_column_is_a_reserved_word(item: Any) -> None:
    assert item.columns
    assert not item.columns & RESERVED


@pytest.mark.parametrize("item", TABLES, ids=lambda item: item.name)
def test_lengths_and_times_do_not_depend_on_the_session(item: Any) -> None:
    """VARCHAR2 says BYTE (NLS_LENGTH_SEMANTICS), times are TIMESTAMP(6) and UTC (the session's zone)."""
    code = item.statement
    assert len(re.findall(r"VARCHAR2\(", code)) == len(re.findall(r"VARCHAR2\(\d+ BYTE\)", code))
    days = code.replace("USAGE_DAY     DATE", "")  # a day of UTC, and no time of it
    assert not re.search(r"\bDATE\b|TIME ZONE|TIMESTAMP(?!\(6\)|\))", days.replace("SYSTIMESTAMP", ""))
    assert code.count("SYSTIMESTAMP") == code.count("SYS_EXTRACT_UTC(SYSTIMESTAMP)")


@pytest.mark.parametrize("item", TABLES, ids=lambda item: item.name)
def test_every_constraint_has_a_name_of_ours(item: Any) -> None:
    """SYS_C… names differ between installations, and error messages name the constraint."""
    constraints = re.findall(
        r"^ +CONSTRAINT (\w+) (PRIMARY KEY|UNIQUE|FOREIGN KEY|CHECK)", item.statement, re.MULTILINE
    )
    assert all(name.startswith(item.name) for name, _ in constraints)
    assert sum(kind == "PRIMARY KEY" for _, kind in constraints) == 1
    unnamed = re.sub(r"CONSTRAINT \w+ ", "#", item.statement)
    assert not re.search(r"[^#](PRIMARY KEY|FOREIGN KEY|UNIQUE|CHECK) ?\(", unnamed)


def leading_columns() -> dict[str, list[tuple[str, ...]]]:
    """Columns of every index and key of every table, in order."""
    found: dict[str, list[tuple[str, ...]]] = {item.name: [] for item in TABLES}
    for item in OBJECTS:
        if item.kind == "TABLE":
            keys = re.findall(r"(?:PRIMARY KEY|UNIQUE) \(([^)]*)\)", item.statement)
            found[item.name] += [tuple(key.split(", ")) for key in keys]
        elif item.kind == "INDEX":
            assert item.table is not None
            found[item.table].append(tuple(item.statement.rpartition("(")[2].rstrip(")").split(", ")))
    return found


def test_every_foreign_key_is_indexed() -> None:
    """Without one, deleting a parent locks the whole child table."""
    indexed = leading_columns()
    for item in TABLES:
        for key in re.findall(r"FOREIGN KEY \(([^)]*)\)", item.statement):
            columns = tuple(key.split(", "))
            assert any(index[: len(columns)] == columns for index in indexed[item.name]), f"{item.name} ({key})"


def test_indexes_name_columns_of_their_table() -> None:
    columns = {item.name: item.columns for item in TABLES}
    for table, indexes in leading_columns().items():
        for index in indexes:
            assert set(index) <= columns[table], f"{table} {index}"
    assert len({(table, index) for table, all_ in leading_columns().items() for index in all_}) == sum(
        map(len, leading_columns().values())
    ), "ORA-01408: such column list already indexed"


def test_every_name_is_qualified_with_the_owner() -> None:
    for item in OBJECTS:
        for keyword in ("REFERENCES", "FROM", "ON", "TABLE", "VIEW", "INDEX"):
            for word in re.findall(rf"\b{keyword} (\S+)", item.statement):
                assert not word.startswith("RAG_"), f"{item.name}: {word}"


def test_vector_columns_are_not_frozen() -> None:
    assert not any(re.search(r"\bVECTOR\b", item.statement) for item in OBJECTS)


def test_columns_of_a_view_are_those_of_its_table() -> None:
    columns = {item.name: item.columns for item in TABLES}
    for item in OBJECTS:
        if item.kind == "VIEW":
            table = re.search(r"FROM /\*schema\*/(\w+)", item.statement)
            assert table is not None
            assert item.columns
            assert item.columns <= columns[table[1]]


# -- what revision is there -------------------------------------------------------------------------------------------


class Cursor:
    """Answers the version statement with what it was made for, and counts."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.statements: list[str] = []

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, statement: str, **_binds: Any) -> None:
        self.statements.append(statement)
        if isinstance(self.answer, Exception):
            raise self.answer

    def fetchone(self) -> Any:
        return self.answer


def connection(answer: Any) -> Any:
    cursor = Cursor(answer)
    return SimpleNamespace(cursor=lambda: cursor, used=cursor)


def missing() -> oracledb.DatabaseError:
    details = SimpleNamespace(full_code="ORA-00942")
    return oracledb.DatabaseError(details)


def test_current_is_the_row_of_the_version_table() -> None:
    assert schema.current(connection(("0001",)), "rag") == "0001"
    assert schema.current(connection(None), "rag") is None
    assert schema.current(connection(missing()), "rag") is None


def test_require_is_content_with_the_newest_and_asks_once() -> None:
    there = connection((schema.revisions()[-1],))
    schema.require(there, "rag")
    assert there.used.statements == ['SELECT VERSION_NUM FROM "RAG".RAG_ALEMBIC_VERSION']


@pytest.mark.parametrize(
    ("answer", "cls", "words"),
    [
        (missing(), SchemaMissing, "no tables of oraclerag in the schema RAG"),
        (None, SchemaMissing, "not complete"),
        (("9999",), SchemaTooNew, "revision '9999', which this version of oraclerag"),
    ],
)
def test_require_says_what_is_wrong_and_what_to_do(answer: Any, cls: type[Exception], words: str) -> None:
    with pytest.raises(cls, match=words) as caught:
        schema.require(connection(answer), "rag")
    assert type(caught.value) is cls
    assert "oraclerag" in caught.value.hint  # type: ignore[attr-defined]


def test_require_refuses_an_older_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revision, "revisions", lambda: ("0001", "0002"))
    with pytest.raises(SchemaOutdated, match="at revision 0001; this version needs 0002") as caught:
        schema.require(connection(("0001",)), "rag")
    assert caught.value.hint == "Run `oraclerag migrate`."


def test_migrate_refuses_an_unknown_revision_before_it_connects() -> None:
    with pytest.raises(InputError, match="no revision '0999': it must be head, base or one of 0001"):
        schema.migrate(None, "0999")  # type: ignore[arg-type]


# -- a user's own Alembic ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "included"),
    [
        ("task", True),
        ("rag", True),
        ("fragments", True),
        ("rag_chunk", False),
        ("RAG_ALEMBIC_VERSION", False),
        ("vector$rag_chunk_emb_idx$81357_82726_0$ivf_flat_centroids", False),
        ("DR$RAG_TEXT$I", False),
    ],
)
def test_autogenerate_sees_only_the_users_tables(name: str, included: bool) -> None:
    table = sa.Table(name, sa.MetaData(), sa.Column("id", sa.Integer))
    index = sa.Index("ix", table.c.id)
    assert include_object(table, name, "table", True, None) is included
    assert include_object(table.c.id, "id", "column", True, None) is included
    assert include_object(index, "ix", "index", True, None) is included


def test_an_index_of_ours_is_left_alone_and_nameless_things_are_not() -> None:
    table = sa.Table("task", sa.MetaData(), sa.Column("id", sa.Integer))
    assert not include_object(sa.Index("RAG_TASK_IX", table.c.id), "RAG_TASK_IX", "index", True, None)
    assert include_object(sa.UniqueConstraint(table.c.id), None, "unique_constraint", False, None)


def test_two_filters_are_joined() -> None:
    both = include_object_and(lambda _object, name, *_: name != "old")
    table = sa.Table("task", sa.MetaData())
    assert both(table, "task", "table", True, None)
    assert not both(table, "old", "table", True, None)
    assert not both(table, "rag_chunk", "table", True, None)
