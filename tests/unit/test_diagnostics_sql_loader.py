"""Logs of SQL*Loader and of external tables: fixtures written here after the documented formats, their values invented."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import sql_loader
from tests.real_files import REPORTS, needs
from tests.unit.diagnostics import covered

LOG = """
SQL*Loader: Release 19.0.0.0.0 - Production on Sat Apr 5 06:07:08 2031
Version 19.99.0.0.0

Control File:   syn.ctl
Data File:      syn.csv
  Bad File:     syn.bad

Path used:      Conventional

Table T_SYN, loaded from every logical record.
Insert option in effect for this table: APPEND

   Column Name                  Position   Len  Term Encl Datatype
------------------------------ ---------- ----- ---- ---- ---------------------
ID                                  FIRST     *   ,       CHARACTER

Record 39: Rejected - Error on table T_SYN, column TXT.
ORA-12899: value too large for column "APPX"."T_SYN"."TXT" (actual: 52, maximum: 40)

Record 40: Rejected - Error on table T_SYN, column TXT.
Field in data file exceeds maximum length

MAXIMUM ERROR COUNT EXCEEDED - Above statistics reflect partial run.

Table T_SYN:
  98 Rows successfully loaded.
  2 Rows not loaded due to data errors.

Total logical records read:            100
Run began on Sat Apr 05 06:07:08 2031
"""
SPANISH = (
    LOG.replace("Table T_SYN, loaded from every logical record.", "Tabla T_SYN, cargada de cada registro lógico.")
    .replace(
        "Record 39: Rejected - Error on table T_SYN, column", "Registro 39: Rechazado - Error en tabla T_SYN, columna"
    )
    .replace("Table T_SYN:", "Tabla T_SYN:")
)
SYNTAX = """SQL*Loader: Release 19.0.0.0.0 - Production on Sat Apr 5 06:07:08 2031

SQL*Loader-350: Syntax error at line 3.
Expecting keyword TABLE, found "x".
INTO x
     ^
"""
EXTERNAL = """

 LOG file opened at 04/05/31 06:07:08

Field Definitions for table T_EXT
  Record format DELIMITED BY NEWLINE
error processing column ID in row 1 for datafile /u01/x.csv
ORA-01722: invalid number
KUP-04021: field formatting error for field A
KUP-04023: field start is after end of record
KUP-04101: record 2 rejected in file /u01/x.csv
KUP-04021: field formatting error for field A
KUP-04101: record 3 rejected in file /u01/x.csv
"""


@pytest.mark.parametrize("text", [LOG, SPANISH, LOG.replace("\n", "\r\n")])
def test_a_table_has_its_definition_its_rejected_records_and_its_result(text: str) -> None:
    assert sql_loader.recognises([line.removesuffix("\r") for line in text.split("\n")])
    found = covered(sql_loader.units, text)
    sections = list(dict.fromkeys(unit.section for unit in found))
    table = "table T_SYN"
    assert sections == [
        ("header",),
        (table, "definition"),
        (table, "rejected records"),
        ("messages",),
        (table, "result"),
        ("totals",),
    ]
    first, second = (unit for unit in found if unit.section[-1] == "rejected records")
    assert "ORA-12899" in first.text
    assert first.metadata == {"table_name": "T_SYN", "column_name": "TXT"}
    assert "exceeds maximum length" in second.text
    assert [unit.metadata["timestamp"] for unit in found if "timestamp" in unit.metadata] == ["2031-04-05T06:07:08"] * 2


def test_a_code_has_the_lines_that_show_where() -> None:
    assert covered(sql_loader.units, SYNTAX)[-1].text.startswith("SQL*Loader-350")


def test_records_that_an_external_table_rejects_are_units() -> None:
    assert sql_loader.recognises(EXTERNAL.split("\n"))
    rejected = [unit for unit in covered(sql_loader.units, EXTERNAL) if unit.section == ("records", "rejected records")]
    assert [unit.text.count("\n") for unit in rejected] == [5, 2]


def test_a_wide_table_is_given_in_parts_under_the_names_of_its_columns() -> None:
    row = "ID                                  FIRST     *   ,       CHARACTER\n"
    parts = [
        unit for unit in covered(sql_loader.units, LOG.replace(row, row * 900)) if unit.section[-1] == "definition"
    ]
    assert len(parts) > 5
    assert {unit.head for unit in parts[1:]} == {"Column Name Position Len Term Encl Datatype"}


@given(
    st.lists(st.sampled_from([*LOG.split("\n"), *SYNTAX.split("\n"), *EXTERNAL.split("\n"), "x", "漢\r"]), max_size=60)
)
def test_any_text_is_covered(lines: list[str]) -> None:
    covered(sql_loader.units, "\n".join(lines))


@needs(REPORTS)
@pytest.mark.parametrize(
    ("name", "table", "rejected"),
    [("12.1.0.1_hospital", "MYDOCS", 0), ("12.1.0.2_cancer", "CANCER", 0), ("12.1.0.2_maternal", "MATERNAL", 1)],
)
def test_samples(name: str, table: str, rejected: int) -> None:
    text = (REPORTS / f"sqlldr_{name}.log").read_bytes().decode("utf-8", errors="replace")
    assert sql_loader.recognises([line.removesuffix("\r") for line in text.split("\n")])
    found = covered(sql_loader.units, text)
    assert sum(unit.section == (f"table {table}", "rejected records") for unit in found) == rejected
    assert [unit.text.split(None, 2)[1].strip(",:") for unit in found if unit.section[0] == f"table {table}"][:1] == [
        table
    ]
    (result,) = (unit for unit in found if unit.section == (f"table {table}", "result"))
    assert "successfully loaded" in result.text
