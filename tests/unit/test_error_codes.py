"""Error codes: every facility in its normal form, nothing that only looks like one, the cause behind the frames."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag import error_codes


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("ORA-00942: table or view does not exist", ["ORA-00942"]),
        ("ORA-942", ["ORA-00942"]),
        ("ORA-12154/TNS-03505", ["ORA-12154", "TNS-03505"]),
        ("WARNING: inbound connection timed out (ORA-3136)", ["ORA-03136"]),
        ("an ORA-609 and an ORA-31360, ORA-3137.", ["ORA-00609", "ORA-31360", "ORA-03137"]),
        ("ORA 600 [kdsgrp1] and ORA-600 [x]", ["ORA-00600", "ORA-00600"]),
        ("ORA-20001: the period is closed", ["ORA-20001"]),
        ("PL/SQL: ORA-00942: x\nPLS-00201: identifier 'T' must be declared", ["ORA-00942", "PLS-00201"]),
        ("PLW-06009: procedure", ["PLW-06009"]),
        ("TNS-12541: TNS:no listener TNS-511", ["TNS-12541", "TNS-00511"]),
        ("RMAN-03002: failure of backup command", ["RMAN-03002"]),
        ("LRM-00109: could not open parameter file", ["LRM-00109"]),
        ("DRG-11701: thesaurus x does not exist", ["DRG-11701"]),
        ("KUP-04040: file x in Y not found; KUP-4040", ["KUP-04040", "KUP-04040"]),
        ("EXP-00056: ORACLE error 942 encountered", ["EXP-00056", "ORA-00942"]),
        ("IMP-00017: following statement failed with ORACLE error 1917:", ["IMP-00017", "ORA-01917"]),
        ("UDE-00018: x UDI-31626: y", ["UDE-00018", "UDI-31626"]),
        ("SQL*Loader-350: Syntax error at line 3.", ["SQL*Loader-350"]),
        ("SP2-0734: unknown command beginning", ["SP2-0734"]),
        ("CPY-0002: Illegal or missing APPEND", ["CPY-0002"]),
        ("OSD-04002: unable to open file", ["OSD-04002"]),
        ("APP-SQLAP-10771: Could not reserve record", ["APP-SQLAP-10771"]),
        ("APP-FND-01564 and the old APP-01564", ["APP-FND-01564", "APP-01564"]),
        ("APP-PER-449085: x", ["APP-PER-449085"]),
        ("FRM-40735: ON-ERROR trigger raised unhandled exception ORA-06502", ["FRM-40735", "ORA-06502"]),
        ("REP-1401: 'beforereport': Fatal PL/SQL error. REP-0004, REP-300", ["REP-1401", "REP-0004", "REP-300"]),
        ("[INS-30014] Unable to check", ["INS-30014"]),
        ("CRS-5818: Aborted command CRS-10051", ["CRS-5818", "CRS-10051"]),
        (
            "PRCR-1079 : Failed PRVF-4664 PROT-602 CLSU-00100 PROC-26:",
            ["PRCR-1079", "PRVF-4664", "PROT-602", "CLSU-00100", "PROC-26"],
        ),
        ("OUI-67073:UtilSession failed", ["OUI-67073"]),
        ("<BEA-001112> <JBO-25014>", ["BEA-001112", "JBO-25014"]),
        ("OCI-21500 DBV-00600 NID-00135 DIA-48448", ["OCI-21500", "DBV-00600", "NID-00135", "DIA-48448"]),
        (
            "LPX-00210 JZN-00078 QSM-00754 AMDU-00210 OGG-00446",
            ["LPX-00210", "JZN-00078", "QSM-00754", "AMDU-00210", "OGG-00446"],
        ),
        ("SQLState(08006) vendor code(17002)", ["ORA-17002"]),
        ("java.sql.SQLException: ORA-00942: x", ["ORA-00942"]),
        ("SQLCODE = -1403 sqlcode: -1 SQLERRM: -20001", ["ORA-01403", "ORA-00001", "ORA-20001"]),
        ('"ORA-01652" *ORA-01653 (ORA-01654)', ["ORA-01652", "ORA-01653", "ORA-01654"]),
    ],
)
def test_codes_of_every_facility(text: str, codes: list[str]) -> None:
    found = error_codes.find(text)
    assert [code.code for code in found] == codes
    assert all(text[code.start : code.end].strip() for code in found)
    assert [code.facility for code in found] == [code.rpartition("-")[0].split("-")[0] for code in codes]


@pytest.mark.parametrize(
    "text",
    [
        "ORA-00000: normal, successful completion",
        "ORA-0",
        "regexp_like(x, 'ORA-200[0-9][0-9]')",
        "ORA$AT_SA_SPC_SY_42",
        "/u01/trace/ORA-00942.trc",
        "see ORA-00942.html or note_ORA-600_x",
        "https://docs.example.com/error-help/db/ora-00942/",
        "ORA-99999 and ORA-1234567",
        "PORA-00942 XORA-1",
        "a-ORA-00942",
        "REP-7, CRS-12, EXP-104, INS-33, APP-1234: keys of tasks",
        "UTF-8 ISO-8859-1 SHA-256 2031-04-05 X-123 IS-12345",
        "status = 1, error code 73, Linux Error: 111: Connection refused",
        "nt OS err code: 110",
        "(err=0",
        "SQLCODE 100, SQLCODE = 0",
        "value='-00942' -942 942",
        "ORA-",
    ],
)
def test_what_looks_like_a_code_and_is_none(text: str) -> None:
    assert error_codes.find(text) == []
    assert error_codes.metadata(text) == {}


@pytest.mark.parametrize(
    ("codes", "primary", "cause"),
    [
        ("ORA-12012 ORA-06512 ORA-01438", "ORA-12012", "ORA-01438"),
        ("RMAN-00571 RMAN-00569 RMAN-03002 RMAN-03009 ORA-19504 ORA-27040", "RMAN-03002", "ORA-19504"),
        ("RMAN-00571", None, None),
        ("ORA-20000 DRG-11701", "ORA-20000", "DRG-11701"),
        ("ORA-20000 ORA-06512", "ORA-20000", "ORA-20000"),
        ("ORA-01034 ORA-27101", "ORA-01034", "ORA-27101"),
        ("ORA-01034", "ORA-01034", "ORA-01034"),
        ("TNS-12560", "TNS-12560", None),
        ("ORA-39083 ORA-00959", "ORA-39083", "ORA-00959"),
    ],
)
def test_primary_is_the_first_and_the_cause_says_why(codes: str, primary: str | None, cause: str | None) -> None:
    found = error_codes.metadata(f"{codes} {codes}")
    assert found["oracle_error_code"] == codes.split()
    assert found.get("oracle_error_primary") == primary
    assert found.get("oracle_error_cause") == cause


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("ORA-00942", "ORA-00942"),
        ("ora-942", "ORA-00942"),
        (" Ora 00942 ", "ORA-00942"),
        ("ORA942", "ORA-00942"),
        ("942", "ORA-00942"),
        ("00942", "ORA-00942"),
        ("tns-12541", "TNS-12541"),
        ("sp2-734", "SP2-0734"),
        ("app-sqlap-10771", "APP-SQLAP-10771"),
        ("sql*loader-00350", "SQL*Loader-350"),
        ("rep-300", "REP-300"),
        ("prcr-1079", "PRCR-1079"),
        ("0", None),
        ("ora", None),
        ("ORA-99999", None),
        ("ORA-00942: table or view does not exist", None),
        ("late payments", None),
        ("", None),
    ],
)
def test_what_a_person_types(typed: str, code: str | None) -> None:
    assert error_codes.normalised(typed) == code


def test_a_question_may_be_in_small_letters_but_words_are_no_facilities() -> None:
    found = error_codes.find("why ora-01652, Tns-12541 and sql*loader-350? see rep-300, app-12345", any_case=True)
    assert [code.code for code in found] == ["ORA-01652", "TNS-12541", "SQL*Loader-350"]
    assert error_codes.find("why ora-01652?") == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("ORA-00942: x", "ORA-00942"),
        ("  *ORA-942 x", "ORA-00942"),
        ("<TNS-12541:", "TNS-12541"),
        ("SQL*Loader-350: x", "SQL*Loader-350"),
        ("ORA-00942", "ORA-00942"),
        ("an ORA-00942: x", None),
        ("ORA-00942_x", None),
        ("FOO-00942: x", None),
        ("", None),
    ],
)
def test_the_code_that_a_line_starts_with(line: str, code: str | None) -> None:
    found = error_codes.starting(line)
    assert (found.code if found is not None else None) == code


def test_other_names_of_the_same_error() -> None:
    assert error_codes.aliases("TNS-12541") == ("TNS-12541", "ORA-12541")
    assert error_codes.aliases("ORA-12541") == ("ORA-12541", "TNS-12541")
    assert error_codes.aliases("OCI-21500") == ("OCI-21500", "ORA-21500")
    for code in ("ORA-00942", "TNS-00511", "APP-SQLAP-10771", "SQL*Loader-350"):
        assert error_codes.aliases(code) == (code,)


@given(
    st.lists(
        st.one_of(
            st.text(alphabet="OR A-09T\n[](:é", max_size=12),
            st.sampled_from(["ORA-00942", "TNS-1", "SQL*Loader-3", "APP-FND-01564", "ORACLE error 942", "ORA 600 [x]"]),
        ),
        max_size=20,
    ).map("".join)
)
@settings(max_examples=100, deadline=None)
def test_places_are_in_order_and_say_the_code_again(text: str) -> None:
    at = 0
    for code in error_codes.find(text):
        assert at <= code.start < code.end <= len(text)
        at = code.end
        assert [one.code for one in error_codes.find(text[code.start : code.end])] == [code.code]
        assert error_codes.normalised(code.code) == code.code
