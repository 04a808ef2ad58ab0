"""What a search can be asked for beside its question: error codes, preferences, order, time, scores, several at once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oraclerag import Rag, Scope
from oraclerag.errors import InputError
from oraclerag.local import LocalDatabase
from tests.local.conftest import Account
from tests.local.library import Entry, ids, install, shelve

pytestmark = pytest.mark.one_size
MANAGER = Scope(manager=True)


def codes(*names: str, **more: str) -> dict[str, Any]:
    return {"oracle_error_code": list(names), **more}


def day(month: int, number: int) -> dt.datetime:
    return dt.datetime(2026, month, number, 8, 30)  # noqa: DTZ001 - UTC, as the table keeps it


ENTRIES = [
    Entry("1", "unable to extend temp segment in the night run", metadata=codes("ORA-01652", erp_version="EBS R12.2.10")),
    Entry("2", "temp segment cannot be extended", metadata=codes("ORA-01652", "ORA-06512", erp_version="EBS 11i")),
    Entry("3", "unable to extend undo segment in the night run", metadata=codes("ORA-30036", erp_version="EBS 11i")),
    Entry("4", "unable to extend temp segment in the night run, again", occurred_at=day(1, 15), collection="old"),
    Entry("5", "add a tempfile", source="resolution", occurred_at=day(3, 1), metadata=codes("ORA-01652", validated_by="dba")),
    Entry("6", "resize the tempfile", source="resolution", occurred_at=day(5, 1), metadata=codes("ORA-01652", validated_by="dba")),
    Entry("7", "reboot", source="resolution", occurred_at=day(6, 1), metadata=codes("ORA-01652")),
    Entry("8", "unable to extend temp segment in the night run", tenant="other", metadata=codes("ORA-00600")),
]  # fmt: skip
QUESTION = "unable to extend temp segment in the night run"


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file) as opened:
        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, ENTRIES)
        yield opened


def test_a_question_that_names_an_error_is_asked_of_texts_that_name_it(rag: Rag) -> None:
    result = rag.search(f"{QUESTION}: ora-1652", scope=MANAGER)
    assert set(ids(result)) == {"1", "2", "5", "6", "7"}
    assert (result.codes, result.codes_missing) == (("ORA-01652",), ())
    assert "names ORA-01652" in result[0].why
    several = rag.search(f"{QUESTION}: ORA-30036 or ORA-06512", scope=MANAGER)
    assert set(ids(several)) == {"2", "3"}


def test_an_error_of_two_names_is_found_by_either(rag: Rag) -> None:
    with rag.database.transaction() as connection:
        shelve(connection, rag.settings.user or "", [Entry("9", "no listener", metadata=codes("TNS-12541"))])
    assert ids(rag.search("what is ORA-12541", scope=MANAGER)) == ["9"]
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM RAG_ENTITY WHERE SOURCE_ID = '9'")


def test_a_code_that_no_visible_text_names_is_said_and_searched_without_only_on_request(rag: Rag) -> None:
    for code in ("ORA-00600", "ORA-12541"):  # the first is another tenant's
        result = rag.search(f"{QUESTION}: {code}", scope=MANAGER)
        assert (ids(result), result.codes_missing, result.statements) == ([], (code,), 1)
        fallen_back = rag.search(f"{QUESTION}: {code}", scope=MANAGER, fallback=True)
        assert len(fallen_back) == 7
        assert (fallen_back.codes, fallen_back.codes_missing) == ((), (code,))
    assert len(rag.search(f"{QUESTION}: ORA-12541", scope=MANAGER, codes=False)) == 7
    assert ids(rag.search(QUESTION, scope=MANAGER, codes=["ORA-30036"])) == ["3"]


def test_what_is_preferred_comes_first_however_far_it_is(rag: Rag) -> None:
    plain = ids(rag.search(QUESTION, scope=MANAGER, k=3))
    assert plain[0] == "1"
    result = rag.search(QUESTION, scope=MANAGER, k=3, prefer={"metadata.erp_version": "EBS 11i"})
    assert ids(result)[:2] == ["3", "2"]
    assert [hit.why.startswith("preferred") for hit in result] == [True, True, False]
    assert [hit.rank for hit in result] == [1, 2, 3]
    assert len(rag.search(QUESTION, scope=MANAGER, prefer={"metadata.erp_version": "none"})) == 7
    assert result.statements == 1


def test_validated_resolutions_come_first_newest_first_on_request(rag: Rag) -> None:
    result = rag.search(f"{QUESTION}: ORA-01652", scope=MANAGER, order="authority")
    assert ids(result)[:3] == ["6", "5", "1"]
    assert ids(result)[3:] == [key for key in ids(rag.search(f"{QUESTION}: ORA-01652", scope=MANAGER)) if key in "27"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"since": dt.date(2026, 3, 1)}, "567"),
        ({"until": dt.date(2026, 3, 1)}, "45"),
        ({"since": dt.datetime(2026, 3, 1, 8, 30, tzinfo=dt.UTC), "until": day(5, 1)}, "56"),
        ({"since": dt.datetime(2026, 3, 1, 8, 30, 0, 1)}, "67"),  # noqa: DTZ001
        ({"months": 1200}, "4567"),
        ({"collections": "old"}, "4"),
        ({"collections": ["old", "new"], "source": "task"}, "4"),
    ],
    ids=str,
)
def test_times_and_collections_narrow(rag: Rag, options: dict[str, Any], expected: str) -> None:
    assert set(ids(rag.search(QUESTION, scope=MANAGER, **options))) == set(expected)


def test_months_are_counted_by_the_database(rag: Rag) -> None:
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute(
            "UPDATE RAG_CHUNK SET OCCURRED_AT = ADD_MONTHS(SYS_EXTRACT_UTC(SYSTIMESTAMP), -2) WHERE SOURCE_ID = '4'"
        )
    assert "4" not in ids(rag.search(QUESTION, scope=MANAGER, months=1))
    assert "4" in ids(rag.search(QUESTION, scope=MANAGER, months=3))
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("UPDATE RAG_CHUNK SET OCCURRED_AT = :1 WHERE SOURCE_ID = '4'", [day(1, 15)])


def test_a_least_score_leaves_out_what_is_too_far(rag: Rag) -> None:
    every = rag.search(QUESTION, scope=MANAGER)
    middle = every[2].score
    assert ids(rag.search(QUESTION, scope=MANAGER, min_score=middle - 1e-9)) == ids(every)[:3]
    assert len(rag.search(QUESTION, scope=MANAGER, min_score=-1)) == 7


def test_several_questions_are_each_answered_as_if_asked_alone(rag: Rag) -> None:
    questions = [QUESTION, "reboot", "ORA-30036"]
    each = rag.search_each(questions, scope=MANAGER, k=2)
    assert [ids(result) for result in each] == [ids(rag.search(one, scope=MANAGER, k=2)) for one in questions]
    assert rag.search_each([], scope=MANAGER) == []


def test_a_hit_whose_entity_waits_in_the_queue_is_stale(rag: Rag) -> None:
    assert not any(hit.stale for hit in rag.search(QUESTION, scope=MANAGER))
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('task', '2')")
    result = rag.search(QUESTION, scope=MANAGER)
    assert {hit.source.id for hit in result if hit.stale} == {"2"}
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM RAG_DIRTY")


@pytest.mark.parametrize(
    ("mode", "approximate", "reason"),
    [
        ("auto", False, "there is no usable vector index"),
        ("exact", False, "asked for"),
        ("approx", False, "asked for approximate, but there is no usable vector index"),
    ],
)
def test_how_it_was_searched_and_why(rag: Rag, mode: Any, approximate: bool, reason: str) -> None:
    result = rag.search(QUESTION, scope=MANAGER, mode=mode)
    assert (result.approximate, result.reason) == (approximate, reason)


def test_a_vector_from_elsewhere_finds_what_the_question_finds(rag: Rag, local_database: LocalDatabase) -> None:
    text = rag.search(QUESTION, scope=MANAGER)
    model = rag.model()
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT VECTOR_EMBEDDING({model.sql_name} USING :q AS DATA) FROM dual", q=QUESTION)
        (vector,) = cursor.fetchone()
        for given in (vector, list(vector)):
            before = local_database.round_trips
            result = rag.search("", scope=MANAGER, vector=given, connection=connection)
            assert local_database.round_trips - before == 1
            assert [(hit.key, hit.distance) for hit in result] == [(hit.key, hit.distance) for hit in text]
    scoped = rag.search("ORA-30036", scope=MANAGER, vector=vector)
    assert (ids(scoped), scoped.truncated) == (["3"], False)
    assert not rag.search("word " * 3000, scope=MANAGER, vector=vector).truncated


def test_a_vector_of_another_model_is_refused_before_it_is_sent(rag: Rag) -> None:
    with pytest.raises(InputError, match="has 383 numbers, but the model in force"):
        rag.search("", scope=MANAGER, vector=[0.1] * 383)
    with pytest.raises(InputError, match="of one question"):
        rag.search_each([QUESTION, QUESTION], scope=MANAGER, vector=[0.1] * 384)
