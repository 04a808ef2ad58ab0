"""The accuracy of the vector index: what is asked, on whose behalf, and that the numbers are those of the index."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracledb
import pytest
from typer.testing import CliRunner

from oraclerag import Scope
from oraclerag.cli import app
from oraclerag.errors import InputError, MissingTenant
from oraclerag.index import questions_of
from oraclerag.rag import Rag
from tests.local.conftest import Account
from tests.local.library import MODEL, Entry, install, shelve

pytestmark = pytest.mark.one_size

ACME, GLOBEX = Scope(tenant="acme", manager=True), Scope(tenant="globex", manager=True)
WORDS = ("invoice", "payment", "late", "order", "supplier", "backup", "restore", "memory", "index", "tenant", "secret")


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    draw = random.Random(7)
    entries = [
        Entry(str(n), " ".join(draw.choices(WORDS, k=12)), tenant="globex" if n % 20 == 0 else "acme")
        for n in range(160)
    ]
    with install(module_account, tiny_file, exact_below=0) as opened:
        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, entries)
        opened.build_index(force=True, partitions=20)
        yield opened


def test_recall_is_that_of_the_index(rag: Rag) -> None:
    done: list[tuple[int, int]] = []
    low = rag.index_accuracy(
        scope=ACME, sample=8, k=5, shares=[0.3], accuracy=1, on_progress=lambda *seen: done.append(seen)
    )
    assert (low.origin, low.target, low.index.organization) == ("texts", 1, "IVF")
    whole, part = low.recalls
    assert (whole.share, part.share) == (None, 0.3)
    assert whole.recall is not None
    assert whole.low <= whole.recall <= whole.high
    assert done == [(n, 16) for n in range(1, 17)]
    all_lists = rag.index_accuracy(scope=ACME, sample=8, k=5, shares=[0.3], accuracy=100)
    assert [one.recall for one in all_lists.recalls] == [1.0, 1.0]
    assert part.recall is not None
    assert part.recall < 1  # one of 20 lists
    assert part.short
    # a search by default is made again where it runs short
    assert part.exact
    assert part.chosen is not None
    assert part.chosen >= part.recall


def test_oracles_own_function_is_asked_where_it_is_there(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    report = rag.index_accuracy(scope=ACME, questions=["late payment"])
    assert report.oracle.achieved is None
    assert "INDEX_ACCURACY_QUERY is not available (ORA-03001" in str(report.oracle.missing)
    execute = oracledb.Cursor.execute
    seen: list[dict[str, Any]] = []

    def answered(self: oracledb.Cursor, statement: Any, *arguments: Any, **more: Any) -> Any:
        binds = arguments[0] if arguments else more
        if "INDEX_ACCURACY_QUERY" in (statement or ""):
            seen.append({name: value for name, value in binds.items() if name not in ("vector", "report")})
            binds["report"].setvalue(0, f"Accuracy achieved ({80 + 10 * len(seen)}%) is …")
            return None
        return execute(self, statement, *arguments, **more)

    monkeypatch.setattr(oracledb.Cursor, "execute", answered)
    report = rag.index_accuracy(scope=ACME, questions=["late payment", "backup"], k=3)
    assert (report.oracle.achieved, report.oracle.questions) == (95.0, 2)
    assert seen == [{"owner": rag.database.schema, "index_name": "RAG_CHUNK_EMB_IDX", "k": 3, "accuracy": 90}] * 2


def test_what_was_asked_in_the_tenant_is_asked_again(rag: Rag) -> None:
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO RAG_SEARCH (TENANT_ID, KIND, ASKED_ROLE, OUTCOME, QUESTION)"
            " VALUES (:1, 'ask', 'anyone', 'no_grounds', :2)",
            [
                ("acme", "older"),
                ("acme", "twice"),
                ("acme", "twice"),
                ("acme", " "),
                ("acme", None),
                ("globex", "theirs"),
            ],
        )
    try:
        assert questions_of(rag.database, "acme", None, None).texts == ("twice", "older")
        assert questions_of(rag.database, "acme", None, 1).texts == ("twice",)
        assert rag.index_accuracy(scope=GLOBEX, sample=3).origin == "asked"
        asked = questions_of(rag.database, "globex", None, 5)
        assert asked.texts == ("theirs",)
        assert "theirs" not in repr(asked)
        assert questions_of(rag.database, "another", ["given", "given"], None).texts == ("given",)
    finally:
        with rag.database.transaction() as connection, connection.cursor() as cursor:
            cursor.execute("DELETE FROM RAG_SEARCH")


def test_chunks_of_the_tenant_alone_are_drawn(rag: Rag) -> None:
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT CONTENT FROM RAG_CHUNK WHERE TENANT_ID = 'globex'")
        theirs = {text for (text,) in cursor}
    assert set(questions_of(rag.database, "globex", None, 1000).texts) == theirs
    first, other = (questions_of(rag.database, "acme", None, 20, seed=seed).texts for seed in (1, 2))
    assert first != other
    assert not theirs & {*first, *other}
    with pytest.raises(InputError, match="no chunk in this scope"):
        rag.index_accuracy(scope=Scope(tenant="nobody", manager=True))


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"scope": Scope(tenant="acme", owner="7")}, InputError, "scope of a manager"),
        ({"scope": "acme"}, InputError, "must be a Scope"),
        ({"scope": ACME, "sample": 0}, InputError, "sample must be a whole number between 1 and 10,000"),
        ({"scope": ACME, "questions": []}, InputError, "questions holds no question"),
        ({"scope": ACME, "questions": "one"}, InputError, "questions must be a list of texts"),
        ({"scope": ACME, "questions": ["x"], "sample": 3}, InputError, "exclude one another"),
        ({"scope": ACME, "questions": ["x"], "shares": [0]}, InputError, "share must be over 0 and at most 1"),
        ({"scope": ACME, "questions": ["x"], "k": 0}, InputError, "k is 0"),
        ({"scope": ACME, "questions": ["x"], "accuracy": 101}, InputError, "accuracy"),
    ],
    ids=str,
)
def test_refused(rag: Rag, options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        rag.index_accuracy(**options)


def test_a_tenant_must_be_named_where_sources_map_them(rag: Rag) -> None:
    with Rag(rag.settings) as other:
        other.source("kb", visibility="shared", tenants=True)(lambda connection, ids: {})
        with pytest.raises(MissingTenant):
            other.index_accuracy(scope=Scope(manager=True))


def test_on_the_command_line(
    rag: Rag, module_account: Account, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        ("DSN", module_account.dsn),
        ("USER", module_account.user),
        ("PASSWORD", module_account.password),
    ):
        monkeypatch.setenv(f"ORACLE_{name}", value)
    monkeypatch.setenv("ORACLERAG_EMBEDDING_MODEL", MODEL)
    questions = tmp_path / "questions.txt"
    questions.write_text("late payment\n\nrestore a backup\n")
    arguments = [
        "index",
        "accuracy",
        "--tenant",
        "acme",
        "--questions",
        str(questions),
        "-k",
        "3",
        "--filter-share",
        "0.5",
    ]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    assert "recall@3" in shown.stdout
    assert "50 %" in shown.stdout
    assert "IVF, 20 partitions, target 90 %" in shown.stderr
    data = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert [one["questions"] for one in data["recalls"]] == [2, 2]
    assert "late payment" not in json.dumps(data)
    assert CliRunner().invoke(app, ["index", "accuracy", "--questions", str(tmp_path / "none")]).exit_code == 1
    status = json.loads(CliRunner().invoke(app, ["index", "status", "--json"]).stdout)
    assert (status["built"]["rows"], status["built"]["partitions"]) == (160, 20)


def test_without_an_index_there_is_nothing_to_measure(account: Account, tiny_file: Path) -> None:
    with install(account, tiny_file) as rag:
        with rag.database.transaction() as connection:
            shelve(connection, account.user, [Entry("1", "late payment")])
        with pytest.raises(InputError, match="no usable vector index"):
            rag.index_accuracy(scope=Scope(manager=True))
