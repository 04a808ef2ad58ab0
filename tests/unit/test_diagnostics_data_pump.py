"""Logs of Data Pump and of exp and imp: fixtures written here after the documented formats, their values invented."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk import Limits, chunks
from oraclerag.chunk.diagnostics import data_pump
from oraclerag.cutting import Cutting
from tests.real_files import REPORTS, needs
from tests.unit.diagnostics import covered, words

SAMPLE = REPORTS / "expdp_impdp_19.3_stats.log"

IMPORT = """;;; \n
Import: Release 19.0.0.0.0 - Production on Sat Apr 5 06:07:08 2031
Version 19.99.0.0.0

Connected to: Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production
05-APR-31 06:07:09.101: Starting "APPX"."SYS_IMPORT_FULL_01":  appx/******** dumpfile=syn.dmp\x20
05-APR-31 06:07:10.000: Processing object type SCHEMA_EXPORT/TABLE/TABLE_DATA
05-APR-31 06:07:11.000: W-1 . . imported "APPX"."T_SYN"                              10.51 KB     100 rows
05-APR-31 06:07:12.000: Processing object type SCHEMA_EXPORT/TABLE/CONSTRAINT/REF_CONSTRAINT
05-APR-31 06:07:12.500: ORA-39083: Object type REF_CONSTRAINT:"APPX"."SYN_FK" failed to create with error:
ORA-02298: cannot validate (APPX.SYN_FK) - parent keys not found

Failing sql is:
ALTER TABLE "APPX"."T_SYN" ADD CONSTRAINT "SYN_FK" CHECK (X <> 'ORA-00001: no error') FOREIGN KEY ("PID")

 REFERENCES "APPX"."T_PARENT" ("ID") ENABLE
05-APR-31 06:07:13.000: ORA-31684: Object type SEQUENCE:"APPX"."SYN_S" already exists
05-APR-31 06:07:14.000: Job "APPX"."SYS_IMPORT_FULL_01" completed with 2 error(s) at Sat Apr 5 06:07:14 2031
"""
EXPORT = """
Export: Release 19.0.0.0.0 - Production on Mer. Mai 17 06:07:08 2031

About to export specified tables via Conventional Path ...
. . exporting table                          T_SYN        100 rows exported
EXP-00056: ORACLE error 942 encountered
ORA-00942: table or view does not exist
EXP-00091: Exporting questionable statistics.
ORA-39002: invalid operation
ORA-39070: Unable to open the log file.
ORA-29283: invalid file operation
Export terminated successfully with warnings.
"""


def test_an_object_that_failed_has_its_cause_and_its_statement() -> None:
    assert data_pump.recognises(IMPORT.split("\n"))
    found = covered(data_pump.units, IMPORT)
    failed = next(unit for unit in found if "ORA-39083" in unit.text)
    assert failed.text.startswith("05-APR-31 06:07:12.500: ORA-39083")
    assert failed.text.endswith('REFERENCES "APPX"."T_PARENT" ("ID") ENABLE\n')
    assert not failed.codes
    assert failed.metadata == {
        "object_type": "REF_CONSTRAINT",
        "object_name": "APPX.SYN_FK",
        "timestamp": "2031-04-05T06:07:12.500",
        "job_name": "APPX.SYS_IMPORT_FULL_01",
        "oracle_error_code": ["ORA-39083", "ORA-02298"],
    }
    sections = list(dict.fromkeys(unit.section for unit in found))
    job = "Import APPX.SYS_IMPORT_FULL_01"
    assert sections == [
        (),
        ("Import",),
        (job,),
        (job, "SCHEMA_EXPORT/TABLE/TABLE_DATA"),
        (job, "SCHEMA_EXPORT/TABLE/CONSTRAINT/REF_CONSTRAINT"),
    ]
    assert found[-1].section == (job,)
    row = next(unit for unit in found if "imported" in unit.text)
    assert row.metadata["object_name"] == "APPX.T_SYN"


def test_codes_of_a_chunk_are_those_of_its_stacks_and_not_of_its_statements() -> None:
    made = list(chunks(IMPORT, Limits(2000, words), Cutting("diagnostics", size=2000)))
    codes = [code for chunk in made for code in chunk.metadata.get("oracle_error_code", [])]
    assert codes == ["ORA-39083", "ORA-02298", "ORA-31684"]


def test_an_export_and_an_import_are_two_sessions_and_stacks_of_the_old_tools_stay_whole() -> None:
    found = covered(data_pump.units, IMPORT + EXPORT)
    assert found[-1].section == ("Export",)
    stacks = [
        unit.text.split(":")[0] for unit in found if unit.section == ("Export",) and "-" in unit.text.split(":")[0]
    ]
    assert stacks == ["EXP-00056", "EXP-00091", "ORA-39002"]
    assert next(unit for unit in found if "ORA-39002" in unit.text).text.count("\n") == 3
    assert any(unit.metadata.get("timestamp") == "2031-05-17T06:07:08" for unit in found)


@pytest.mark.parametrize(
    "announced", ["Failing sql is:", "Fehlerhafte SQL ist:", "SQL en échec :", "El SQL erróneo es:"]
)
def test_the_statement_is_known_in_other_languages(announced: str) -> None:
    found = covered(data_pump.units, IMPORT.replace("Failing sql is:", announced))
    (failed,) = (unit for unit in found if "ORA-39083" in unit.text)
    assert 'REFERENCES "APPX"."T_PARENT"' in failed.text


def test_a_spool_that_calls_the_tool_is_a_spool() -> None:
    assert not data_pump.recognises(["SQL> host expdp", *EXPORT.split("\n")])


def test_a_statement_of_any_length_is_given_in_parts_that_name_no_errors() -> None:
    text = IMPORT.replace("ENABLE\n", "ENABLE\n" + "-- ORA-00942 and more\n" * 1000)
    found = covered(data_pump.units, text)
    assert max(unit.text.count("\n") for unit in found) <= 200
    assert not any(unit.codes for unit in found if "ORA-00942" in unit.text)


@given(
    st.lists(
        st.sampled_from([*IMPORT.split("\n"), *EXPORT.split("\n"), "x", '"', "W-1 ORA-39082: x", "漢\r"]), max_size=60
    )
)
def test_any_text_is_covered(lines: list[str]) -> None:
    covered(data_pump.units, "\n".join(lines))


@needs(SAMPLE)
def test_sample() -> None:
    found = covered(data_pump.units, SAMPLE.read_text("utf-8"))
    assert sum(unit.text.startswith("Starting") for unit in found) == 2
    assert sum(unit.text.startswith("Job ") for unit in found) == 2
    assert sum(unit.text.startswith("Processing object type") for unit in found) == 6
    assert {unit.metadata.get("job_name") for unit in found} == {
        None,
        "S1.SYS_EXPORT_SCHEMA_01",
        "S1.SYS_IMPORT_FULL_01",
    }
