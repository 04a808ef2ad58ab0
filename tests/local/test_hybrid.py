"""Hybrid search on a database: what the words add, in one round trip; the text index; and what is said without one."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from oraclerag import Scope
from oraclerag.cli import app
from oraclerag.errors import InputError, TextSearchFailed
from oraclerag.local import LocalDatabase
from oraclerag.model import active_model
from oraclerag.rag import Rag
from oraclerag.records import SearchResult
from oraclerag.search.text_query import TextQuery, text_query
from tests.local.conftest import Account
from tests.local.library import Entry, ids, install, settings_of, shelve

pytestmark = pytest.mark.one_size
MANAGER = Scope(tenant="acme", manager=True)
WORDS = [
    "invoice",
    "payment",
    "supplier",
    "backup",
    "restore",
    "ORA-00060",
    "deadlock",
    "ledger",
    "closing",
    "DS-K3AJ303/Dm140",
]
QUESTIONS = [  # what people type, and what Oracle Text would take for operators
    "what about near or not?", "C++ & PL/SQL", "ORA-00060", "DS-K3AJ303/Dm140", "{a}", "100%", "$ ! > * %", "a AND (b OR c",
    "NEAR((a,b),3)", "}}{{", "\\", "¿qué?", "about(x) within y; z", "fuzzy(", "漢字", "x" * 3000, "word " * 500,
]  # fmt: skip


def entries() -> Iterator[Entry]:
    drawn = random.Random(7)
    for number in range(40):
        text = " ".join(drawn.choices(WORDS, k=4))
        metadata = {"oracle_error_code": ["ORA-00060"]} if "ORA-00060" in text else {}
        yield Entry(
            str(number), text, tenant="acme" if number % 4 else "globex", project=drawn.choice("ABC"), metadata=metadata
        )
    yield Entry("zebra", "the only zebra", tenant="acme", project="Z")
    yield Entry("quokka", "quokka backup restore ledger closing deadlock", tenant="acme", project="Q")
    yield Entry("blind", "a zebra without a vector", tenant="acme", embedded=False)


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file) as opened:
        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, list(entries()))
        yield opened


@pytest.fixture(scope="module", autouse=True)
def plain(rag: Rag) -> tuple[SearchResult, list[SearchResult]]:
    """What is found before there is a text index, which the other tests have."""
    found = rag.search("a zebra", scope=MANAGER, k=5, hybrid=True)
    every = [rag.search(question, scope=MANAGER, k=3, hybrid=True, codes=False) for question in QUESTIONS]
    assert not rag.text_index_status().exists
    rag.build_index(force=True)
    assert rag.build_text_index().usable
    return found, every


def test_without_an_index_the_words_are_looked_for_in_the_nearest_and_it_is_said(
    plain: tuple[SearchResult, list[SearchResult]],
) -> None:
    found, every = plain
    assert (found.text_leg, found.text_pending, found.statements) == ("plain", None, 1)
    assert "index build --lexical" in found.text_reason
    assert found[0].source.id == "zebra"
    assert "text rank 1" in found[0].why
    assert all(len(result) == 3 for result in every)
    assert {hit.source.tenant for result in [found, *every] for hit in result} == {"acme"}


def test_a_hybrid_question_is_one_round_trip(rag: Rag, local_database: LocalDatabase) -> None:
    rag.search("invoice", scope=MANAGER, hybrid=True)
    before = local_database.round_trips
    result = rag.search("a zebra", scope=MANAGER, hybrid=True, k=4)
    assert local_database.round_trips - before == 1
    assert (result.text_leg, result.text_pending, result.statements) == ("oracle text", 0, 1)
    assert len(result) == 4
    assert ids(result)[0] == "zebra"
    assert result[0].why.startswith("vector rank 1, text rank 1, similarity ")
    assert all(hit.distance == pytest.approx(1 - hit.score) for hit in result)


def test_what_only_the_text_leg_finds_is_found_with_its_distance(rag: Rag) -> None:
    question = "payment payment payment payment quokka"
    far = next(hit for hit in rag.search(question, scope=MANAGER, k=100) if hit.source.id == "quokka")
    result = rag.search(question, scope=MANAGER, hybrid=True, k=3, candidates=3, weights=(1, 1.1))
    hit = next(hit for hit in result if hit.source.id == "quokka")
    assert hit.why.startswith("not found by vector, text rank 1, similarity")
    assert hit.distance == pytest.approx(far.distance)
    assert far.rank > 3


def test_ranks_are_fused_as_by_hand(rag: Rag) -> None:
    """By vector X, a, Y; by text b, c, Y: only Y is in both, and what a leg did not find has nothing of it."""
    by_text = {"X": "gnu", "a": "gnu", "Y": "yak", "b": "yak yak yak", "c": "yak yak"}
    by_vector = {"X": "yak", "a": "yak invoice", "Y": "yak invoice payment", "b": "restore", "c": "restore backup"}
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        model = active_model(connection, rag.database.schema)
        shelve(connection, rag.database.schema, [Entry(name, text, tenant="rrf") for name, text in by_text.items()])
        cursor.executemany(
            f"UPDATE RAG_CHUNK SET EMBEDDING = VECTOR_EMBEDDING({model.sql_name} USING :1 AS DATA)"
            " WHERE TENANT_ID = 'rrf' AND SOURCE_ID = :2",
            [(text, name) for name, text in by_vector.items()],
        )
    scope = Scope(tenant="rrf", manager=True)
    assert ids(rag.search("yak", scope=scope, k=3)) == ["X", "a", "Y"]
    result = rag.search("yak", scope=scope, k=3, candidates=3, hybrid=True)
    assert [(hit.source.id, hit.why.rpartition(",")[0]) for hit in result] == [
        ("Y", "vector rank 3, text rank 3"),
        ("X", "vector rank 1, not found by text"),
        ("b", "not found by vector, text rank 1"),
    ]


def test_a_chunk_without_a_vector_is_not_found_by_its_words(rag: Rag) -> None:
    assert "blind" not in ids(rag.search("a zebra without a vector", scope=MANAGER, hybrid=True, k=100))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda text: text[:20])
def test_no_question_is_an_error(rag: Rag, question: str) -> None:
    result = rag.search(question, scope=MANAGER, k=5, hybrid=True, codes=False)
    assert len(result) == 5
    assert result.text_leg == ("oracle text" if text_query(question) else None)
    if result.text_leg is None:
        assert result.text_reason == "the question has no words"


def test_a_code_is_a_phrase_of_the_text_leg(rag: Rag) -> None:
    result = rag.search("ora-60", scope=MANAGER, k=100, hybrid=True, codes=False)
    assert {hit.source.id for hit in result if "text rank" in hit.why} == {
        hit.source.id for hit in result if "ORA-00060" in hit.content
    }


def test_codes_narrow_both_legs(rag: Rag) -> None:
    result = rag.search("ORA-00060 zebra", scope=MANAGER, k=100, hybrid=True)
    assert result.codes == ("ORA-00060",)
    assert all("ORA-00060" in hit.content for hit in result)


def test_other_options_are_what_they_are(rag: Rag) -> None:
    preferred = rag.search("zebra", scope=MANAGER, k=40, hybrid=True, prefer={"project": "A"})
    projects = [hit.project for hit in preferred]
    assert projects == sorted(projects, key=lambda project: project != "A")
    least = rag.search("zebra", scope=MANAGER, k=40, hybrid=True, min_score=0.5)
    assert all(hit.score >= 0.5 for hit in least)
    here = ids(rag.search("zebra", scope=MANAGER, hybrid=True))
    with Rag(replace(rag.settings, query_embedding="separate")) as separate:
        assert ids(separate.search("zebra", scope=MANAGER, hybrid=True)) == here


@pytest.mark.parametrize("seed", range(12))
def test_k_hits_whenever_k_visible_matches_exist(rag: Rag, module_account: Account, seed: int) -> None:
    drawn = random.Random(seed)
    k, question = drawn.randint(1, 12), " ".join(drawn.choices(WORDS, k=2))
    tenant, project = drawn.choice(["acme", "globex"]), drawn.choice(["A", "B", "C", "Q"])
    visible = {entry.id for entry in entries() if entry.embedded and (entry.tenant, entry.project) == (tenant, project)}
    with Rag(settings_of(module_account, exact_below=0)) as eager:
        result = eager.search(
            question,
            scope=Scope(tenant=tenant, manager=True),
            k=k,
            hybrid=True,
            codes=False,
            filter={"project": project},
        )
    assert set(ids(result)) <= visible
    assert len(result) == min(k, len(visible))


def test_the_order_is_the_same_every_time_and_pages_have_every_hit_once(rag: Rag) -> None:
    """Ties are the rule in rank fusion: they go by chunk id."""
    runs = [ids(rag.search("invoice backup", scope=MANAGER, k=20, hybrid=True)) for _ in range(3)]
    assert runs[0] == runs[1] == runs[2]
    assert len(set(runs[0])) == 20
    every = rag.search("invoice backup", scope=MANAGER, k=20, hybrid=True)
    assert [hit.source.id for start in range(0, 20, 5) for hit in every.hits[start : start + 5]] == runs[0]


def test_an_index_that_went_away_is_noticed_and_said(rag: Rag) -> None:
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("DROP INDEX RAG_CHUNK_TEXT_IDX FORCE")
    result = rag.search("a zebra", scope=MANAGER, hybrid=True)
    assert (result.text_leg, ids(result)[0]) == ("plain", "zebra")
    assert rag.build_text_index().usable
    assert rag.search("a zebra", scope=MANAGER, hybrid=True).text_leg == "oracle text"


def test_what_oracle_text_refuses_is_an_error_of_its_own(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextQuery, "contains", "{a} ACCUM")
    with pytest.raises(TextSearchFailed, match="DRG-50901"):
        rag.search("a zebra", scope=MANAGER, hybrid=True)


def test_changes_that_the_index_does_not_know_yet_are_counted(account: Account, tiny_file: Path) -> None:
    with install(account, tiny_file) as opened:
        with opened.database.connect() as connection, connection.cursor() as cursor:
            cursor.execute(
                "CREATE INDEX RAG_CHUNK_TEXT_IDX ON RAG_CHUNK (CONTENT) INDEXTYPE IS CTXSYS.CONTEXT"
                " PARAMETERS ('STOPLIST CTXSYS.EMPTY_STOPLIST SYNC (MANUAL)')"
            )
            shelve(connection, account.user, [Entry("1", "a late zebra", tenant="acme")])
            connection.commit()
        result = opened.search("zebra", scope=MANAGER, hybrid=True)
        assert (result.text_pending, result[0].why[:40]) == (1, "vector rank 1, not found by text, simila")
        assert opened.text_index_status().pending == 1
        assert opened.sync_text_index().pending == 0
        result = opened.search("zebra", scope=MANAGER, hybrid=True)
        assert (result.text_pending, result[0].why[:30]) == (0, "vector rank 1, text rank 1, si")
        assert opened.drop_text_index()
        assert not opened.drop_text_index()
        with pytest.raises(InputError, match="no text index"):
            opened.sync_text_index()


def test_the_command_line(rag: Rag, module_account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    environment = {
        "ORACLE_DSN": module_account.dsn, "ORACLE_USER": module_account.user, "ORACLE_PASSWORD": module_account.password,
        "ORACLERAG_EMBEDDING_MODEL": rag.settings.embedding_model,
    }  # fmt: skip

    def run(*arguments: str, ending: int = 0) -> str:
        result = CliRunner().invoke(app, arguments, env=environment)
        assert result.exit_code == ending, result.output
        return result.output if ending else result.stdout

    found = json.loads(
        run("search", "a zebra", "--tenant", "acme", "--manager", "--hybrid", "--weights", "1,0.5", "--json")
    )
    assert (found["text_leg"], found["hits"][0]["source"]["id"]) == ("oracle text", "zebra")
    assert "two numbers" in run("search", "zebra", "--hybrid", "--weights", "1", ending=2)
    assert json.loads(run("index", "status", "--json"))["text"]["state"] == "VALID"
    assert "RAG_CHUNK_TEXT_IDX" in run("index", "status")
    assert json.loads(run("index", "sync", "--json"))["pending"] == 0
    assert "none of the other options" in run("index", "build", "--lexical", "--accuracy", "90", ending=2)
    assert json.loads(run("index", "drop", "--lexical", "--json")) == {"dropped": True}
    assert json.loads(run("index", "build", "--lexical", "--json"))["state"] == "VALID"
    assert json.loads(run("index", "rebuild", "--lexical", "--json"))["state"] == "VALID"
