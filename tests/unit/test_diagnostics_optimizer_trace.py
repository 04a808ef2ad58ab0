"""Optimizer traces: sections by title, per statement. The fixtures are written after the documented formats."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import trace_file
from oraclerag.chunk.diagnostics.lines import split
from oraclerag.chunk.diagnostics.traces import optimizer_trace
from tests import reports
from tests.unit.trace_units import HEADER, MARKS, of_line, sample, sections, units

BLOCKS = """Registered qb: SEL$1 0x7f00aa10 (PARSER)
---------------------
QUERY BLOCK SIGNATURE
---------------------
  signature (): qb_name=SEL$1 nbfros=1 flg=0
    fro(0): flg=4 objn=70001 hint_alias="T_SYN"@"SEL$1"

**************************
Automatic degree of parallelism (ADOP)
**************************
Automatic degree of parallelism is disabled: Parameter.
"""
SQL = """
******************************************
----- Current SQL Statement for this session (sql_id=9z8y7x6w5v4u3) -----
select /* ORA-00942 */ count(*)
from t_syn where id < 100
Registered qb: is text of this statement
*******************************************
"""
PARAMETERS = """Legend
The following abbreviations are used by optimizer trace.
CBQT - cost-based query transformation
***************************************
PARAMETERS USED BY THE OPTIMIZER
********************************
  *************************************
  PARAMETERS WITH ALTERED VALUES
  ******************************
_b_tree_bitmap_plans                = false
"""
ACCESS = """***************************************
BASE STATISTICAL INFORMATION
***********************
Table Stats::
  Table: T_SYN  Alias: T_SYN
    #Rows: 10000  #Blks:  60  AvgRowLen:  40.00
Access path analysis for T_SYN
***************************************
SINGLE TABLE ACCESS PATH
  Single Table Cardinality Estimation for T_SYN[T_SYN]
  Access Path: TableScan
    Cost:  18.41  Resp: 18.41  Degree: 0
  Best:: AccessPath: TableScan
         Cost: 18.41  Degree: 1  Resp: 18.41  Card: 99.00  Bytes: 0

***************************************


OPTIMIZER STATISTICS AND COMPUTATIONS
***************************************
GENERAL PLANS
***************************************
Considering cardinality-based initial join order.
Join order[1]:  T_SYN[T_SYN]#0
***********************
Best so far:  Table#: 0  cost: 18.4100  card: 99.0000  bytes: 396
"""
DUMP = """Final query after transformations:******* UNPARSED QUERY IS *******
SELECT COUNT(*) "COUNT(*)" FROM "SYN"."T_SYN" "T_SYN"

Starting SQL statement dump

user_id=91 user_name=SYN module=SQL*Plus action=
sql_id=9z8y7x6w5v4u3 plan_hash_value=1231231234 problem_type=3
----- Current SQL Statement for this session (sql_id=9z8y7x6w5v4u3) -----
select count(*)
from t_syn where id < 100
sql_text_length=40
----- Explain Plan Dump -----
----- Plan Table -----

============
Plan Table
============
----------------------------------+-----------------------------------+
| Id  | Operation          | Name | Rows  | Bytes | Cost  | Time      |
----------------------------------+-----------------------------------+
Predicate Information:
----------------------
1 - filter("ID"<100)

Content of other_xml column
===========================
Dumping Hints
=============
  atom_hint=(@=0x9ebf28b0 err=0 resol=0 used=1 token=814 org=1 lvl=1 txt=APPEND ())
====================== END SQL Statement Dump ======================
"""
STATEMENT = "sqlid=9z8y7x6w5v4u3 SELECT T_SYN"
TEXT = HEADER + MARKS + BLOCKS + SQL + PARAMETERS + ACCESS + DUMP


def test_the_sections_are_the_titles_of_the_statement() -> None:
    titles = [section[1:] for section in sections(units(TEXT)) if section[0] == "optimizer trace"]
    assert titles[:4] == [
        ("statement", "query blocks"),
        ("statement", "QUERY BLOCK SIGNATURE"),
        ("statement", "Automatic degree of parallelism (ADOP)"),
        ("sqlid=9z8y7x6w5v4u3", "text"),
    ]
    assert {(STATEMENT, title) for title in ("PARAMETERS WITH ALTERED VALUES", "BASE STATISTICAL INFORMATION")} <= {
        *titles
    }
    assert (STATEMENT, "Plan Table") in titles
    assert (STATEMENT, "Predicate Information") in titles


def test_the_text_of_the_statement_ends_at_its_rule_whatever_it_looks_like() -> None:
    statement = of_line(units(TEXT), "ORA-00942")
    assert "Registered qb: is text" in statement.text
    assert statement.metadata["sql_id"] == "9z8y7x6w5v4u3"


def test_nothing_in_it_is_an_error() -> None:
    assert not any(unit.codes or "oracle_error_code" in unit.metadata for unit in units(TEXT))


def test_costs_are_never_without_their_table_and_join_order() -> None:
    found = units(
        TEXT.replace("  Best:: ", ("  Access Path: index (RangeScan)\n    Cost:  18.41\n" * 100) + "  Best:: ")
    )
    paths = [unit for unit in found if "  Access Path: " in unit.text]
    assert len(paths) > 3
    assert {unit.head for unit in paths} == {"Access path analysis for T_SYN"}
    assert of_line(found, "Best so far").head.startswith("Join order[1]:")


def test_the_plan_has_its_hash() -> None:
    assert of_line(units(TEXT), "plan_hash_value").metadata["plan_hash"] == "1231231234"


def test_another_statement_is_another_section() -> None:
    other = BLOCKS + SQL.replace("9z8y7x6w5v4u3", "0a1b2c3d4e5f6") + ACCESS
    found = units(TEXT + other)
    statements = list(dict.fromkeys(section[1] for section in sections(found) if section[0] == "optimizer trace"))
    assert statements[-2:] == ["sqlid=0a1b2c3d4e5f6", "sqlid=0a1b2c3d4e5f6 SELECT T_SYN"]
    blocks = [unit for unit in found if "signature ()" in unit.text]
    assert ["sql_id" in unit.metadata for unit in blocks] == [False, False]


def test_the_time_may_stand_in_the_middle_of_a_section() -> None:
    text = TEXT.replace("  Best:: ", "\n*** 2031-04-05T06:07:09.000000+02:00 (PDBX(3))\n  Best:: ")
    unit = of_line(units(text), "Best::")
    assert unit.head == "Access path analysis for T_SYN"
    assert unit.metadata["timestamp"] == "2031-04-05T06:07:09.000000+02:00"


def test_a_part_without_a_header_is_recognised_by_two_marks() -> None:
    assert optimizer_trace.recognises((BLOCKS + ACCESS).splitlines())
    assert optimizer_trace.recognises(ACCESS.splitlines())
    assert not optimizer_trace.recognises(["Registered qb: SEL$1 0x7f00aa10 (PARSER)"])


def test_units_grow_with_the_trace_and_what_is_held_does_not() -> None:
    counts, largest = [], []
    for statements in (5, 50):
        sizes = [len(unit.text) for unit in trace_file.units(split(reports.optimizer_trace(statements)))]
        counts.append(len(sizes))
        largest.append(max(sizes))
    assert counts[1] == pytest.approx(10 * counts[0], rel=0.1)
    assert largest[1] <= largest[0] + 20


@given(st.lists(st.sampled_from([*TEXT.splitlines(True), "\n", "\x00\n", "x"])))
def test_lines_in_any_order_are_covered(lines: list[str]) -> None:
    units("".join(lines))


def test_the_sample() -> None:
    found = units(sample("11.2.0.4_10053_EQUI.trc"))
    traced = [unit for unit in found if unit.section[0] == "optimizer trace"]
    assert not any(unit.codes for unit in found)
    assert max(len(unit.text) for unit in found) < 1000
    assert {unit.section[1] for unit in traced} == {
        "statement",
        "sqlid=1mcr4tkmbs0x7",
        "sqlid=1mcr4tkmbs0x7 INSERT SALES_P2",
    }
    titles = {unit.section[2] for unit in traced}
    assert {
        "PARAMETERS WITH ALTERED VALUES",
        "PARAMETERS WITH DEFAULT VALUES",
        "Bug Fix Control Environment",
        "SYSTEM STATISTICS INFORMATION",
        "GENERAL PLANS",
        "Plan Table",
    } <= titles
    assert sum(unit.head.startswith("Access path analysis for ") for unit in traced) >= 2
