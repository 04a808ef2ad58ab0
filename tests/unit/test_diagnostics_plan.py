"""Plans of DBMS_XPLAN and SQL Monitor reports: fixtures written here after the documented formats."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import plan, sql_monitor
from oraclerag.chunk.diagnostics.lines import split
from oraclerag.chunk.diagnostics.unit import Unit
from tests import reports
from tests.real_files import REPORTS, needs

PLAN = """SQL_ID  9z8y7x6w5v4u3, child number 0
-------------------------------------
select count(*) from t_syn where id < :b1 -- ORA-00942

Plan hash value: 1231231234

----------------------------------------------------------------------------
| Id  | Operation         | Name     | Rows  | Bytes | Cost (%CPU)| Time     |
----------------------------------------------------------------------------
|   0 | SELECT STATEMENT  |          |       |       |     2 (100)|          |
|   1 |  SORT AGGREGATE   |          |     1 |     4 |            |          |
|*  2 |   INDEX RANGE SCAN| T_SYN_PK |    99 |   396 |     2   (0)| 00:00:01 |
----------------------------------------------------------------------------

Predicate Information (identified by operation id):
---------------------------------------------------

   1 - filter("A"=1 AND
              "B"=2)
   2 - access("ID"<:B1)

Note
-----
   - this is an adaptive plan
"""
WRAPPED = """Plan hash value: 1231231234

-------------------------------------------------
---------------
| Id  | Operation         | Name     | Rows  |
 Cost (%CPU)|
-------------------------------------------------
---------------
|   0 | SELECT STATEMENT  |          |       |
     2 (100)|
|-  1 |  SORT AGGREGATE   |          |     1 |
            |
-------------------------------------------------
---------------

"""
MONITOR = """SQL Monitoring Report

SQL Text
------------------------------
insert into t_syn select * from big_syn -- ORA-00942

Error: ORA-1652
------------------------------
ORA-01652: unable to extend temp segment by 128 in tablespace TEMP

Global Information
------------------------------
 Status              :  DONE (ERROR)
 Instance ID         :  1
 Session             :  APPX (77:4242)
 SQL ID              :  0a1b2c3d4e5f6
 Execution Started   :  04/05/2031 06:07:08
 Module/Action       :  SQL*Plus/-
 Duration            :  812s

SQL Plan Monitoring Details (Plan Hash Value=1231231234)
=========================================================================
| Id   |      Operation       |  Name   |  Rows   | Activity Detail      |
|      |                      |         | (Actual)|   (# samples)        |
=========================================================================
| -> 0 | INSERT STATEMENT     |         |         | Cpu (3)              |
|      |                      |         |         | log file sync (12)   |
| -> 1 |   TABLE ACCESS FULL  | BIG_SYN |   4242  | direct path read (9) |
=========================================================================
"""


def units(text: str) -> list[Unit]:
    """Cut a text; the units must follow each other and cover it."""
    found = list(plan.units(split(text)))
    assert "".join(unit.text for unit in found) == text
    assert [unit.start for unit in found] == [0, *(unit.end for unit in found)][: len(found)]
    return found


def monitored(text: str) -> list[Unit]:
    found = list(sql_monitor.units(split(text)))
    assert "".join(unit.text for unit in found) == text
    return found


def test_recognised_by_a_plan_without_a_prompt_before_it() -> None:
    assert plan.recognises(PLAN.split("\n"))
    assert plan.recognises(WRAPPED.split("\n"))
    assert plan.recognises(["SQL_ID: 0a1b2c3d4e5f6, child number: 0 cannot be found"])
    assert not plan.recognises(["SQL> @plan", *PLAN.split("\n")])
    assert not plan.recognises(["SQL_ID        SQL_TEXT", "select 'Plan hash value: 1' from dual"])
    assert sql_monitor.recognises(MONITOR.split("\n"))
    assert not sql_monitor.recognises(PLAN.split("\n"))


def test_a_plan_is_one_section_of_its_statement_its_rows_its_predicates_and_notes() -> None:
    found = units(PLAN)
    assert {unit.section for unit in found} == {("SQL_ID  9z8y7x6w5v4u3, child number 0",)}
    names = "Id | Operation | Name | Rows | Bytes | Cost (%CPU) | Time"
    predicates = "Predicate Information (identified by operation id):"
    assert [(unit.head, unit.says_head, unit.text.split("\n")[0].strip()) for unit in found] == [
        ("", False, "SQL_ID  9z8y7x6w5v4u3, child number 0"),
        (names, True, "| Id  | Operation         | Name     | Rows  | Bytes | Cost (%CPU)| Time     |"),
        (names, False, "|   0 | SELECT STATEMENT  |          |       |       |     2 (100)|          |"),
        (names, False, "|   1 |  SORT AGGREGATE   |          |     1 |     4 |            |          |"),
        (names, False, "|*  2 |   INDEX RANGE SCAN| T_SYN_PK |    99 |   396 |     2   (0)| 00:00:01 |"),
        (predicates, False, predicates),
        (predicates, False, '1 - filter("A"=1 AND'),
        (predicates, False, '2 - access("ID"<:B1)'),
        ("Note", False, "Note"),
        ("Note", False, "- this is an adaptive plan"),
    ]
    assert found[6].text.endswith('"B"=2)\n')
    assert found[-1].metadata == {"sql_id": "9z8y7x6w5v4u3", "plan_hash_value": "1231231234"}
    assert not any(unit.codes for unit in found)


def test_rows_that_were_wrapped_are_one_unit() -> None:
    found = units(WRAPPED)
    assert [unit.text.count("\n") for unit in found] == [4, 4, 2, 5]
    assert found[1].head == "Id | Operation | Name | Rows | Cost (%CPU)"
    assert found[0].section == ("Plan hash value: 1231231234",)


def test_plans_follow_each_other() -> None:
    found = units(PLAN + PLAN.replace("9z8y7x6w5v4u3", "0a1b2c3d4e5f6") + "SQL_ID 1a1b2c3d4e5f6 not found\n" + WRAPPED)
    assert list(dict.fromkeys(unit.metadata.get("sql_id") for unit in found)) == [
        "9z8y7x6w5v4u3",
        "0a1b2c3d4e5f6",
        "1a1b2c3d4e5f6",
    ]


def test_a_monitored_row_has_the_events_it_waited_for() -> None:
    found = monitored(MONITOR)
    sections = list(dict.fromkeys(unit.section for unit in found))
    details = ("SQL Plan Monitoring Details (Plan Hash Value=1231231234)",)
    assert sections == [(), ("SQL Text",), ("Global Information",), details]
    *_, header, insert, scan = found
    assert header.head == insert.head == "Id | Operation | Name | Rows (Actual) | Activity Detail (# samples)"
    assert insert.text.count("\n") == 2
    assert insert.metadata["wait_event"] == ["log file sync"]
    assert scan.metadata == {
        "wait_event": ["direct path read"],
        "sql_id": "0a1b2c3d4e5f6",
        "instance": "1",
        "timestamp": "2031-04-05T06:07:08",
        "db_module": "SQL*Plus",
        "plan_hash_value": "1231231234",
    }
    assert [unit.text.split("\n")[0] for unit in found if unit.codes] == ["Error: ORA-1652"]


_LINES = st.sampled_from(
    [*PLAN.split("\n"), *WRAPPED.split("\n"), *MONITOR.split("\n"), "   ", "|", "| Id | Operation"]
)


@given(st.lists(st.one_of(_LINES, st.text(max_size=30)), max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_any_text_is_covered(lines: list[str], end: str) -> None:
    units(end.join(lines))
    monitored(end.join(lines))


def test_a_unit_is_never_much_longer_than_a_statement() -> None:
    for first in ("SQL_ID  9z8y7x6w5v4u3, child number 0", "| Id  | Operation |", "|   0 | SELECT |", "SQL Text"):
        text = "\n".join([first, *["x" * 70] * 3000])
        assert max(len(unit.text) for unit in [*units(text), *monitored(text)]) < 40_000


def test_a_long_report_has_a_unit_for_each_row() -> None:
    found = units("".join(reports.plan(200)))
    assert sum(unit.text.startswith("|* ") for unit in found) == 200


@needs(REPORTS)
def test_plans_of_real_spools() -> None:
    rows = plans = 0
    for path in sorted(REPORTS.glob("*.lst")):
        for printed in re.findall(r"(?m)^SQL_ID  [0-9a-z]{13}, child.*\n(?:(?!SQL> ).*\n)*", path.read_text()):
            found = units(printed)
            plans += 1
            rows += sum(plan.ROW.match(unit.text) is not None for unit in found)
            assert all(unit.metadata["plan_hash_value"].isdecimal() for unit in found)
    assert (plans, rows) == (12, 64)
