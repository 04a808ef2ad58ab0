"""AWR reports as HTML, and the ADDM reports inside: fixtures written here after the documented formats."""

from __future__ import annotations

import re
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import addm, awr_html
from oraclerag.chunk.diagnostics.html_report import readable, readable_parts
from oraclerag.chunk.diagnostics.lines import split
from oraclerag.chunk.diagnostics.unit import Unit
from tests import reports
from tests.real_files import REPORTS, needs

SAMPLE = REPORTS / "awr_12.2.0.1_linux.html"

ADDM = """          ADDM Report for Task 'TASK_4242'
          --------------------------------

Analysis Period
---------------
Time period starts at 05-APR-31 06.00.12 AM
Time period ends at 05-APR-31 12.10.00 PM

Analysis Target
---------------
ADDM performed an analysis of instance syn1, numbered 1 and hosted at
dbnode1.

Findings and Recommendations
----------------------------
Finding 1: Top SQL Statements
Impact is .42 active sessions, 31% of total activity.
-----------------------------------------------------
SQL statements consuming significant database time were found.

   Recommendation 1: SQL Tuning
   Estimated benefit is .4 active sessions, 30% of total activity.
   ---------------------------------------------------------------
   Action
      Run SQL Tuning Advisor on the INSERT statement with SQL_ID
      "0a1b2c3d4e5f6".
   Rationale
      It ran often.

   Symptoms That Led to the Finding:
   ---------------------------------
      Wait class "User I/O" was consuming significant database time.
"""
AWR = f"""
<html lang="en"><head><title>AWR Report for DB: SYN1, Inst: syn1, Snaps: 100-101</title>
<style type="text/css">
body.awr {{font:bold 10pt Arial;color:black; background:White;}}
</style></head><body class="awr">
<h1 class="awr">
WORKLOAD REPOSITORY report for
</h1>
<table summary="This table displays snapshot information">
<tr><th class="awrnobg" scope="col"></th><th>Snap Id</th><th>Snap Time</th></tr>
<tr><td scope="row" class='awrnc'>Begin Snap:</td><td align="right">100</td><td>05-Apr-31 06:00:12</td></tr>
<tr><td scope="row" class='awrc'>End Snap:</td><td align="right">101</td><td>05-Apr-31 07:00:15</td></tr>
</table>
<p />Load Profile<p />
<table border="0" summary="This table displays load profile">
<tr><th></th><th>Per Second</th></tr>
<tr><td>DB Time(s):</td><td>3.3</td></tr>
</table>
<h2 class="awr">
Wait Events Statistics
</h2>
<ul><li class="awr"><a class="awr" href="#100">Foreground Wait Events</a></li></ul>
<a class="awr" href="#top">Back to Top</a><p />
<a class="awr" name="100"></a>
<h3 class="awr">Foreground Wait Events</h3>
<ul><li class="awr"> s  - second, ms - millisecond -    1000th of a second</li></ul>
<table summary="This table displays Foreground Wait Events and their wait statistics"><tr><th>Event</th><th>Waits</th></tr>
<tr><td scope="row" class='awrnc'>db file sequential read</td><td align="right" class='awrnc'>4,242</td></tr>
<tr><td scope="row" class='awrnc'>log file sync</td><td align="right" class='awrnc'>42</td></tr>
</table>
<h2 class="awr">SQL Statistics</h2>
<h3 class="awr">SQL ordered by Gets</h3>
<table summary="This table displays top SQL by buffer gets"><tr><th>Gets</th><th>   SQL Id</th><th>SQL Module</th>
<th>SQL Text</th></tr>
<tr><td>42</td><td><a class="awr" href="#0a1b2c3d4e5f6">0a1b2c3d4e5f6</a></td><td>e:SQLAP:cp:syn</td>
<td>select 'ORA-00001' || regexp('ORA-200[0-9][0-9]') from t_syn</td></tr>
</table>
<h2>ADDM Task ADDM:1122334455_1_101</h2>
<pre>
{ADDM.replace("'", "&apos;").replace('"', "&quot;")}</pre>
End of Report
</body></html>
"""
TEXT = readable(AWR)


def units(text: str) -> list[Unit]:
    """Cut a text; the units must follow each other and cover it."""
    found = list(awr_html.units(split(text)))
    assert "".join(unit.text for unit in found) == text
    assert [unit.start for unit in found] == [0, *(unit.end for unit in found)][: len(found)]
    return found


def test_recognised_by_its_title() -> None:
    assert awr_html.recognises(TEXT.split("\n"))
    assert awr_html.recognises(["", "# ASH Report For SYN1/syn1"])
    for text in ("WORKLOAD REPOSITORY report for", "# About AWR", ""):
        assert not awr_html.recognises(text.split("\n"))
    assert addm.recognises(ADDM.split("\n"))
    assert not addm.recognises(TEXT.split("\n"))


def test_sections_are_the_headings_and_lines_that_name_a_table() -> None:
    sections = [" > ".join(section) for section, _ in groupby(units(TEXT), key=lambda unit: unit.section)]
    task = "ADDM Task ADDM:1122334455_1_101"
    assert sections == [
        "",
        "Load Profile",
        "Wait Events Statistics > Foreground Wait Events",
        "SQL Statistics > SQL ordered by Gets",
        task,
        f"{task} > Analysis Period",
        f"{task} > Analysis Target",
        f"{task} > Findings and Recommendations",
        f"{task} > Findings and Recommendations > Finding 1: Top SQL Statements",
        task,
    ]


def test_a_row_is_a_unit_below_the_names_of_its_columns() -> None:
    found = units(TEXT)
    header, read, sync = [unit for unit in found if unit.head == "Event | Waits"]
    assert header.says_head
    assert header.text.startswith("Table: This table displays Foreground Wait Events")
    assert not read.says_head
    assert read.text == "| db file sequential read | 4,242 |\n"
    assert (read.metadata["wait_event"], sync.metadata["wait_event"]) == ("db file sequential read", "log file sync")
    (statement,) = [unit for unit in found if "0a1b2c3d4e5f6" in unit.text and unit.head.startswith("Gets")]
    assert statement.metadata["sql_id"] == "0a1b2c3d4e5f6"
    assert statement.metadata["db_module"] == "e:SQLAP:cp:syn"
    assert statement.metadata["erp_module"] == "AP"
    assert not any(unit.codes for unit in found)


def test_every_part_of_a_long_statement_says_whose_it_is() -> None:
    long = f"| 42 | 0a1b2c3d4e5f6 | select {'x, ' * 1000}y from t_syn |\n"
    (statement,) = units(f"| Gets | SQL Id | SQL Text |\n|-|-|-|\n{long}| 42 | 1a1b2c3d4e5f6 | short |\n")[1:2]
    assert statement.text == long
    assert statement.head == "SQL Id 0a1b2c3d4e5f6"


def test_instance_and_period_hold_for_what_follows() -> None:
    found = units(TEXT)
    (row,) = [unit for unit in found if unit.text.startswith("| DB Time(s)")]
    assert row.metadata == {
        "instance": "syn1",
        "timestamp": "2031-04-05T06:00:12",
        "timestamp_end": "2031-04-05T07:00:15",
    }


def test_a_recommendation_is_one_unit_below_the_impact_of_its_finding() -> None:
    found = list(addm.units(split(ADDM)))
    assert "".join(unit.text for unit in found) == ADDM
    (recommendation,) = [unit for unit in found if "sql_id" in unit.metadata]
    assert recommendation.text.startswith("   Recommendation 1: SQL Tuning")
    assert recommendation.text.endswith("It ran often.\n\n")
    assert recommendation.head == "Impact is .42 active sessions, 31% of total activity."
    assert recommendation.metadata == {
        "sql_id": ["0a1b2c3d4e5f6"],
        "instance": "syn1",
        "timestamp": "2031-04-05T06:00:12",
        "timestamp_end": "2031-04-05T12:10:00",
    }


_LINES = st.sampled_from([*TEXT.split("\n"), "````", "|", "|-|", "# ", "###### x", "Table: ", "   "])


@given(st.lists(st.one_of(_LINES, st.text(max_size=30)), max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_any_text_is_covered(lines: list[str], end: str) -> None:
    units(end.join(lines))
    text = end.join(lines)
    assert "".join(unit.text for unit in addm.units(split(text))) == text


def test_a_unit_is_never_much_longer_than_a_row() -> None:
    for lines in (["x" * 70] * 3000, ["````", *["x" * 70] * 3000], ["Finding 1: x", *["x" * 70] * 3000]):
        assert max(len(unit.text) for unit in units("\n".join(lines))) < 40_000
        assert max(len(unit.text) for unit in addm.units(split("\n".join(lines)))) < 40_000


def test_a_long_report_has_a_unit_for_each_row() -> None:
    found = units("".join(readable_parts(reports.awr_html(200))))
    assert sum("wait_event" in unit.metadata for unit in found) == 200
    assert len({unit.metadata["sql_id"] for unit in found if "sql_id" in unit.metadata}) == 200


@needs(SAMPLE)
def test_a_real_report() -> None:
    html = SAMPLE.read_bytes().decode(errors="replace")
    found = units(readable(html))
    assert {unit.metadata["instance"] for unit in found[10:]} == {"SRSUK1M"}
    paths = {unit.section for unit in found}
    assert (
        len({path[0] for path in paths if path}) == 20 - 1 + 1
    )  # without Main Report, which has nothing, and with Report Summary
    assert ("SQL Statistics", "SQL ordered by Gets") in paths
    assert sum(len(path) == 3 and path[1] == "Findings and Recommendations" for path in paths) == 11
    statements = {
        unit.metadata["sql_id"]
        for unit in found
        if unit.section[1:] == ("Complete List of SQL Text",) and unit.metadata.get("sql_id")
    }
    assert statements == set(re.findall(r'name="([0-9a-z]{13})"', html))
