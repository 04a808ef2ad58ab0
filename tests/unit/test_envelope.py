"""The metadata envelope: what a caller gives is checked and named, what a text says is read out of it."""

from __future__ import annotations

import pytest

from oraclerag.envelope import (
    NAMES,
    RESOLUTION_TYPES,
    Envelope,
    check_result,
    oracle_doc_ids,
    resolution_type,
    sql_ids,
)
from oraclerag.errors import InputError


def test_what_is_given_has_the_names_of_filters() -> None:
    given = Envelope(
        environment="PROD-US-01",
        module="AP",
        version=" EBS R12.2.10 ",
        script="SYS-03",
        oracle_doc_id="Doc ID 123456.1",
        resolution_type="tablespace extension",
    ).as_metadata()
    assert given == {
        "environment_id": "PROD-US-01",
        "erp_module": "AP",
        "erp_version": "EBS R12.2.10",
        "source_script": "SYS-03",
        "oracle_doc_id": "123456.1",
        "resolution_type": "Tablespace Extension",
    }
    assert set(given) < set(NAMES)
    assert Envelope().as_metadata() == {}


@pytest.mark.parametrize("name", ["environment", "module", "version", "script", "oracle_doc_id", "resolution_type"])
@pytest.mark.parametrize("value", ["", "  ", "a\nb", "a\x00", "\ud800", "é" * 101, 7])
def test_a_value_that_cannot_be_is_refused_by_its_name(name: str, value: object) -> None:
    with pytest.raises(InputError, match=name):
        Envelope(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("typed", "kept"), [("123456.1", "123456.1"), ("MOS Note 1366133.1", "1366133.1"), ("KB12345", "KB12345")]
)
def test_numbers_of_notes(typed: str, kept: str) -> None:
    assert Envelope(oracle_doc_id=typed).oracle_doc_id == kept


@pytest.mark.parametrize("typed", ["a note", "123456.1.2", "https://support.oracle.com"])
def test_what_is_no_number_of_a_note(typed: str) -> None:
    with pytest.raises(InputError, match="oracle_doc_id"):
        Envelope(oracle_doc_id=typed)


def test_kinds_of_resolution_are_five_and_own_ones() -> None:
    assert len(RESOLUTION_TYPES) == 5
    for known in RESOLUTION_TYPES:
        assert resolution_type(known.upper().replace(" ", "_")) == known
    with pytest.raises(InputError, match="Reboot") as caught:
        resolution_type("Reboot")
    assert caught.value.hint is not None
    assert "Data Correction" in caught.value.hint
    assert resolution_type("reboot", ["Reboot"]) == "Reboot"
    assert Envelope(resolution_type="REBOOT", other_resolution_types=["Reboot"]).resolution_type == "Reboot"


def test_notes_that_a_text_names() -> None:
    text = "See Doc ID 123456.1, Note:98765.1 and Note 98765.1; SQLHC is Doc ID 1366133.1; release 19.3, 12.2.0.1.0"
    assert oracle_doc_ids(text) == ["123456.1", "98765.1"]
    assert oracle_doc_ids("Document 12.2.0.1") == []


def test_ids_of_statements_need_a_label() -> None:
    text = "sqlid='0abcdefghij12' SQL ID: 1abcdefghij12 sql_id=2abcdefghij12 SQL_ID  0abcdefghij12, 3abcdefghij12"
    assert sql_ids(text) == ["0abcdefghij12", "1abcdefghij12", "2abcdefghij12"]
    assert sql_ids("SQL ID: 0abcdefghij123 sql_id 0ABCDEFGHIJ12") == []


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("PASS  Tablespaces have room", "PASS"),
        ("Tablespaces have room ........ [FAILED]", "FAIL"),
        ("| 3 | Invalid objects | WARNING |", "WARN"),
        ("CHECK 7: OK", "PASS"),
        ("Passport control", None),
        ("all is well", None),
        ("", None),
    ],
)
def test_results_of_checks(line: str, result: str | None) -> None:
    assert check_result(line) == result
