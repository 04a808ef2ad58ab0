"""TKPROF reports: one section per statement. The fixtures are written after the documented formats."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import families, tkprof
from oraclerag.chunk.diagnostics.lines import split
from oraclerag.chunk.diagnostics.unit import Unit
from tests import reports
from tests.unit import trace_units
from tests.unit.trace_units import of_line, sample, sections

RULE = "*" * 80 + "\n"
HEADER = f"""
TKPROF: Release 19.0.0.0.0 - Development on Sat Apr 5 06:30:00 2031

Copyright (c) 1982, 2019, Oracle and/or its affiliates.  All rights reserved.

Trace file: SYN1_ora_4711.trc
Sort options: default

{RULE}count    = number of times OCI procedure was executed
rows     = number of rows processed by the fetch or execute call
{RULE}"""
CALLS = """call     count       cpu    elapsed       disk      query    current        rows
------- ------  -------- ---------- ---------- ---------- ----------  ----------
Parse        1      0.00       0.00          0          0          0           0
Execute      2      0.00       0.01          1          3          7           1
------- ------  -------- ---------- ---------- ---------- ----------  ----------
total        3      0.00       0.01          1          3          7           1

Misses in library cache during parse: 1
Optimizer mode: ALL_ROWS
Parsing user id: 91  
"""  # noqa: W291 - as TKPROF writes it
WAITS = """
Elapsed times include waiting on following events:
  Event waited on                             Times   Max. Wait  Total Waited
  ----------------------------------------   Waited  ----------  ------------
  db file sequential read                         1        0.00          0.00
  SQL*Net message from clien                      7        0.01          0.09
"""
ROWS = "Rows (1st) Rows (avg) Rows (max)  Row Source Operation\n---------- ---------- ----------  ----------------\n"
STATEMENT = "SQL ID: 0a1b2c3d4e5f6 Plan Hash: 1231231234\n\ninsert into t_syn (id, txt) \nvalues\n (:b1, :b2)\n\n\n"
REFUSED = f"""The following statement encountered a error during parse:

select 'ORA-00001' from t_absent

Error encountered: ORA-00942
{RULE}"""
SUMMARY = f"""OVERALL TOTALS FOR ALL NON-RECURSIVE STATEMENTS

{CALLS}{WAITS}

OVERALL TOTALS FOR ALL RECURSIVE STATEMENTS

{CALLS}
    1  user  SQL statements in session.
{RULE}Trace file: SYN1_ora_4711.trc
Trace file compatibility: 12.2.0.0
       1  session in tracefile.
"""


def units(text: str) -> list[Unit]:
    return trace_units.units(text, tkprof.units)


def test_a_statement_and_its_call_table_are_one_unit_from_one_rule_to_the_next() -> None:
    found = units(HEADER + "\n" + STATEMENT + CALLS + RULE + SUMMARY)
    unit = of_line(found, "SQL ID:")
    assert unit.text == RULE + "\n" + STATEMENT + CALLS
    assert unit.section == ("TKPROF", "sqlid=0a1b2c3d4e5f6 INSERT T_SYN")
    assert unit.metadata["sql_id"] == "0a1b2c3d4e5f6"
    assert unit.metadata["plan_hash"] == "1231231234"
    assert unit.metadata["timestamp"] == "2031-04-05T06:30:00"
    assert unit.metadata["instance"] == "SYN1"


def test_the_sections_are_the_reports_own() -> None:
    text = HEADER + STATEMENT + CALLS + RULE + "BEGIN\n  null;\nEND;\n\n" + CALLS + RULE + SUMMARY
    assert [section[1] for section in sections(units(text))] == [
        "header",
        "legend",
        "sqlid=0a1b2c3d4e5f6 INSERT T_SYN",
        "statement 2: BEGIN null; END;",
        "overall non-recursive",
        "overall recursive",
        "summary",
    ]


def test_a_statement_with_a_line_break_has_no_sql_id_and_takes_none_of_its_neighbour() -> None:
    text = HEADER + STATEMENT + CALLS + RULE + "\nBEGIN\n  null;\nEND;\n\n" + CALLS + RULE + STATEMENT + CALLS
    found = units(text)
    assert "sql_id" not in of_line(found, "null;").metadata
    assert "plan_hash" not in of_line(found, "null;").metadata


def test_the_form_of_11_2_0_1_has_the_plan_on_a_line_of_its_own() -> None:
    text = HEADER + "SQL ID: 0a1b2c3d4e5f6\nPlan Hash: 77\nselect * from t_syn\n\n" + CALLS
    unit = of_line(units(text), "SQL ID")
    assert unit.metadata["plan_hash"] == "77"
    assert unit.section[1] == "sqlid=0a1b2c3d4e5f6 SELECT T_SYN"


def test_row_source_and_waits_repeat_the_header_of_their_table() -> None:
    rows = "".join(
        f"         1          1          1  {' ' * n}TABLE ACCESS FULL T_{n} (cr=3 pr=1)\n" for n in range(40)
    )
    found = units(HEADER + STATEMENT + CALLS + "\n" + ROWS + rows + WAITS + RULE)
    with_rows = [unit for unit in found if "TABLE ACCESS FULL" in unit.text]
    assert len(with_rows) > 3
    assert with_rows[0].text.startswith(ROWS)
    assert all(unit.head == ROWS.split("\n", maxsplit=1)[0] for unit in with_rows)
    waits = of_line(found, "db file sequential read")
    assert waits.metadata["wait_event"] == ["db file sequential read", "SQL*Net message from client"]
    assert {unit.section for unit in (*with_rows, waits)} == {("TKPROF", "sqlid=0a1b2c3d4e5f6 INSERT T_SYN")}


def test_codes_in_the_text_of_a_statement_are_no_errors_and_those_of_a_refused_one_are() -> None:
    text = HEADER + "select 'ORA-00600'\nfrom dual\n\n" + CALLS + RULE + REFUSED + STATEMENT + CALLS
    found = units(text)
    assert not any(unit.codes for unit in found)
    assert [unit.metadata["oracle_error_code"] for unit in found if "oracle_error_code" in unit.metadata] == [
        ["ORA-00942"]
    ]
    refused = of_line(found, "t_absent")
    assert refused.text.endswith("ORA-00942\n")
    assert refused.section[1] == "statement 2 refused: SELECT T_ABSENT"


def test_a_long_statement_does_not_part_its_call_table_from_itself() -> None:
    sql = "select c1\n" + "".join(f"     , c{number}\n" for number in range(500)) + "from t_syn\n\n"
    found = units(HEADER + sql + CALLS + RULE)
    assert of_line(found, "call     count").text == CALLS
    assert of_line(found, "call     count").section == of_line(found, "select c1").section


def test_an_excerpt_without_its_header_is_recognised_by_a_call_table() -> None:
    assert tkprof.recognises((STATEMENT + CALLS).splitlines())
    assert not tkprof.recognises(["call     count       cpu    elapsed       disk      query    current        rows"])
    found = units(STATEMENT + CALLS + RULE + "select 1 from t_other\n\n" + CALLS)
    assert [section[1] for section in sections(found)] == [
        "sqlid=0a1b2c3d4e5f6 INSERT T_SYN",
        "statement 2: SELECT T_OTHER",
    ]


@pytest.mark.parametrize(
    ("date", "when"), [("Sáb Abr 4 06:30:00 2026", "2026-04-04T06:30:00"), ("S\ufffdb ??? 4", None)]
)
def test_the_date_may_be_in_another_language(date: str, when: str | None) -> None:
    found = units(HEADER.replace("Sat Apr 5 06:30:00 2031", date) + STATEMENT + CALLS)
    assert found[-1].metadata.get("timestamp") == when
    assert families.family_of(HEADER.replace("Sat Apr 5 06:30:00 2031", date).split("\n")).name == "tkprof"


def test_units_grow_with_the_report_and_what_is_held_does_not() -> None:
    counts, largest = [], []
    for statements in (30, 300):
        sizes = [len(unit.text) for unit in tkprof.units(split(reports.tkprof(statements)))]
        counts.append(len(sizes))
        largest.append(max(sizes))
    assert counts[1] == pytest.approx(10 * counts[0], rel=0.2)
    assert largest[1] <= largest[0] + 20


def test_a_text_without_end_is_given_in_pieces() -> None:
    for line in ("  , column_of_a_statement\n", "\n", "         1          1          1  TABLE ACCESS FULL T (cr=3)\n"):
        found = units(HEADER + STATEMENT.rstrip() + "\n" + line * 4000)
        assert max(len(unit.text) for unit in found) <= 40_000


PARTS = st.sampled_from(
    [HEADER, RULE, STATEMENT, CALLS, ROWS, WAITS, REFUSED, SUMMARY, "\n", "x\n", "\r\n", "\x00", "\u2028"]
)


@given(st.lists(PARTS, max_size=12), st.integers(0, 300), st.integers(0, 300))
def test_whatever_is_in_it_the_units_cover_it(parts: list[str], left: int, right: int) -> None:
    text = "".join(parts)
    units(text[left : max(len(text) - right, left)])


@given(st.lists(st.sampled_from((HEADER + STATEMENT + CALLS + ROWS + WAITS + REFUSED + SUMMARY).splitlines(True))))
def test_lines_in_any_order_are_covered(lines: list[str]) -> None:
    units("".join(lines))


@pytest.mark.parametrize(
    ("name", "blocks", "named"), [("tkprof_11.2.0.2_xe_20000.txt", 5, 3), ("tkprof_19c_SESS1.tkp", 28, 27)]
)
def test_samples(name: str, blocks: int, named: int) -> None:
    text = sample(name)
    found = units(text)
    tables = [unit for unit in found if re.search(r"(?m)^call +count", unit.text)]
    assert len(tables) == text.count("\ncall     count") == blocks + 2
    assert len({unit.section for unit in tables}) == blocks + 2
    assert sum("SQL ID: " in unit.text for unit in found) == text.count("\nSQL ID: ") == named
    assert len({unit.metadata["sql_id"] for unit in found if "sql_id" in unit.metadata}) == named
    events = {line.split("  ")[1] for line in text.split("\n") if re.match(r"  \S.* +\d+ +\d+\.\d\d +\d+\.\d\d$", line)}
    said = [unit.metadata["wait_event"] for unit in found if "wait_event" in unit.metadata]
    assert {event for value in said for event in (value if isinstance(value, list) else [value])} == events
