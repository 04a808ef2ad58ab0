"""SQLHC and SQLT: no real report was at hand; the fixtures are written here from what the public scripts print."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import sqlhc
from oraclerag.chunk.diagnostics.html_report import readable, readable_parts
from oraclerag.chunk.diagnostics.lines import split
from oraclerag.chunk.diagnostics.unit import Unit
from tests import reports

SQLHC = """<html>
<!-- $Header: 1366133.1 sqlhc.sql 12.1.07 2031/01/01 $ -->
<body>
<h1><a target="MOS" href="https://example.com/note">1366133.1</a> SQLHC
12.1.07 Report: sqlhc_20310405_0607_0a1b2c3d4e5f6_1_health_check.html</h1>
<pre>
Input      : 0a1b2c3d4e5f6
RDBMS      : 19.0.0.0.0
Host       : dbnode1
Instance   : 1
EBS        : "12.2.99"
SIEBEL     : ""
Date       : 2031-04-05/06:07:08
</pre>
<ul><li><a href="#obs">Observations</a></li></ul>
<a name="obs"></a><h2>Observations</h2>
<table>
<tr>
<th>#</th><th>Type</th><th>Priority</th><th>Name</th><th>Observation</th><th>Details</th>
</tr>
<tr>
<td>1</td>
<td>TABLE</td>
<td>2</td>
<td>APPX.T_SYN</td>
<td>Table lacks CBO Statistics, which gave ORA-00942 once.</td>
<td>Consider gathering. Refer to Doc ID 999999.1 and Note: 888888.1 (1366133.1)</td>
</tr>
<tr>
<td>2</td>
<td>NLS PARAMETER</td>
<td>WARNING</td>
<td>NLS_SORT</td>
<td>Check PASSED in the session</td>
<td></td>
</tr>
</table>
<h2>Current Execution Plans</h2>
<pre>
Inst: 1   Child: 0    Plan hash value: 1231231234

                      -----------------------------------------
                      | Id  | Operation         | Name | Rows |
                      -----------------------------------------
                      |   0 | SELECT STATEMENT  |      |      |
                      |*  1 |  TABLE ACCESS FULL| TAB1 |    1 |
                      -----------------------------------------

</pre>
</body></html>
"""
SQLT = """<html>
<head><title>sqlt_s42424_main.html</title></head>
<body>
<h1><a href="https://example.com/note">215187.1</a> SQLT XTRACT 12.9.9 Report: sqlt_s42424_main.html</h1>
<pre>
SQL ID: 0a1b2c3d4e5f6
</pre>
<hr size="3"><h2>Cursor Sharing and Binds</h2>
<a name="peeked_binds"></a><h3>Peeked Binds</h3>
<table>
<tr><th>Plan Hash Value</th><th>Name</th><th>Value</th></tr>
<tr><td>123123123</td><td>:B1</td><td>"SYN"</td></tr>
</table>
"""
TEXT = readable(SQLHC)


def units(text: str) -> list[Unit]:
    """Cut a text; the units must follow each other and cover it."""
    found = list(sqlhc.units(split(text)))
    assert "".join(unit.text for unit in found) == text
    assert [unit.start for unit in found] == [0, *(unit.end for unit in found)][: len(found)]
    return found


@pytest.mark.parametrize(
    ("text", "recognised"),
    [
        (TEXT, True),
        (readable(SQLT), True),
        (TEXT.replace("$Header", "Header"), True),
        (readable("<h1>224270.1 TRCANLZR 12</h1>"), True),
        ("# 1366133.1 is a note\n", False),
        ("See 1366133.1 SQLHC", False),
        ("", False),
    ],
)
def test_recognised_by_header_or_title(text: str, recognised: bool) -> None:
    assert sqlhc.recognises(text.split("\n")) is recognised


def test_sections_are_the_headings() -> None:
    sections = [" > ".join(section) for section, _ in groupby(units(TEXT), key=lambda unit: unit.section)]
    plans = "Current Execution Plans"
    assert sections == ["", "Observations", plans, f"{plans} > Inst: 1   Child: 0    Plan hash value: 1231231234"]
    sections = [" > ".join(section) for section, _ in groupby(units(readable(SQLT)), key=lambda unit: unit.section)]
    assert sections == ["", "Cursor Sharing and Binds > Peeked Binds"]


def test_an_observation_names_the_notes_that_help_and_no_error() -> None:
    table, parameter = [unit for unit in units(TEXT) if unit.text.startswith(("| 1 | TABLE", "| 2 | NLS"))]
    assert table.head == "# | Type | Priority | Name | Observation | Details"
    assert table.metadata == {
        "source_script": "SQLHC",
        "sql_id": "0a1b2c3d4e5f6",
        "host": "dbnode1",
        "instance": "1",
        "erp_version": "EBS R12.2.99",
        "timestamp": "2031-04-05T06:07:08",
        "oracle_doc_id": ["999999.1", "888888.1"],
    }
    assert not table.codes
    assert parameter.metadata["check_result"] == "WARN"


def test_rows_of_a_plan_within_carry_the_statement() -> None:
    rows = [unit for unit in units(TEXT) if unit.head == "Id | Operation | Name | Rows" and not unit.says_head]
    assert len(rows) == 2
    assert rows[1].metadata["plan_hash_value"] == "1231231234"
    assert rows[1].metadata["sql_id"] == "0a1b2c3d4e5f6"


_LINES = st.sampled_from([*TEXT.split("\n"), "   ", "|", "# 1366133.1 SQLHC", "EBS : 12"])


@given(st.lists(st.one_of(_LINES, st.text(max_size=30)), max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_any_text_is_covered(lines: list[str], end: str) -> None:
    units(end.join(lines))


def test_a_long_report_has_a_unit_for_each_observation() -> None:
    found = units("".join(readable_parts(reports.sqlhc_html(200))))
    assert sum("oracle_doc_id" in unit.metadata for unit in found) == 200
