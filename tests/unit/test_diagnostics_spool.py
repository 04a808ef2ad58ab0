"""Spools of SQL*Plus and SQLcl: fixtures written here after the documented formats, their values invented."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import spool
from tests.real_files import REPORTS, needs
from tests.unit.diagnostics import covered

SPOOL = """SQL> set linesize 200
SQL> insert into t_syn (id, txt)
  2  values (1, 'ORA-00942 is only text here');
insert into t_syn (id, txt)
            *
ERROR at line 1:
ORA-00001: unique constraint (APPX.SYN_PK) violated
ORA-06512: at "APPX.SYN_TRG", line 4
Help: https://docs.oracle.com/error-help/db/ora-00001/


SQL> -- ORA-01555 may come here
SQL> show errors
Errors for PACKAGE BODY SYN_PKG:

LINE/COL ERROR
-------- -----------------------------------------------------------------
1/14     PLS-00304: cannot compile body of 'SYN_PKG' without its
         specification
SQL> select msg from log_table;

MSG
---------------------------
ORA-00600: data

1 row selected.

SQL> connect scott/tiger
ERROR:
ORA-01017: invalid username/password; logon denied


SQL> bogus
SP2-0734: unknown command beginning "bogus" - rest of line ignored.
"""
SQLCL = """SYS@syn1> drop table t_absent purge;

Error starting at line : 18 File @ /home/appx/syn.sql
In command -
drop table t_absent purge
Error report -
ORA-00942: table or view does not exist

https://docs.oracle.com/error-help/db/ora-00942/
*Cause:
Elapsed: 00:00:00.217
SYS@syn1> select * from t_syn where;

Error starting at line : 19 File @ /home/appx/syn.sql
In command -
select * from t_syn where
Error at Command Line : 19 Column : 26
Error report -
SQL Error: ORA-00936: missing expression
"""


def stated(text: str) -> list[tuple[tuple[str, ...], list[str]]]:
    """Give sections, and the codes that were announced there: nothing else is one."""
    found = covered(spool.units, text)
    assert not any(unit.codes for unit in found)
    return [(unit.section, unit.metadata.get("oracle_error_code", [])) for unit in found]


def test_a_statement_its_result_and_its_error_are_a_unit() -> None:
    assert spool.recognises(SPOOL.split("\n"))
    assert stated(SPOOL) == [
        (("insert into t_syn (id, txt) values (1, 'ORA-00942 is only text here')",), ["ORA-00001", "ORA-06512"]),
        (("show errors",), ["PLS-00304"]),
        (("select msg from log_table",), []),
        (("connect …",), ["ORA-01017"]),
        (("bogus",), ["SP2-0734"]),
    ]


def test_sqlcl_says_where_a_script_failed() -> None:
    assert stated(SQLCL) == [
        (("drop table t_absent purge",), ["ORA-00942"]),
        (("select * from t_syn where",), ["ORA-00936"]),
    ]
    assert {unit.metadata["instance"] for unit in covered(spool.units, SQLCL)} == {"syn1"}


@pytest.mark.parametrize(
    "announced", ["ERROR en línea 1:", "FEHLER in Zeile 1:", "ERREUR à la ligne 1 :", "第 1 行出现错误:"]
)
def test_an_error_is_known_by_its_shape(announced: str) -> None:
    text = f"selct 1\n*\n{announced}\nORA-00900: x\n"
    assert spool.recognises(text.split("\n"))
    assert [codes for _, codes in stated(text)] == [["ORA-00900"]]


def test_a_spool_without_echo_is_parted_by_its_feedback() -> None:
    text = "\n  A\n---\n  1\n\n1 row selected.\n\n  B\n---\nORA-00600\n\n1 row selected.\n\nselct\n*\nERROR at line 1:\nORA-00900: x\n"
    found = stated(text)
    assert [codes for _, codes in found] == [[], [], ["ORA-00900"]]


def test_rows_of_a_long_result_are_units_under_the_names_of_its_columns() -> None:
    rows = "".join(f"{at:>10} {at * 2:>10}{' ' * 50}\n" for at in range(5000))
    text = f"SQL> select a, b from t_syn;\n\n         A          B\n---------- ----------\n{rows}\n5000 rows selected.\n\nSQL> exit\n"
    found = covered(spool.units, text)
    assert found[0].text.startswith("SQL> select")
    assert found[0].text.count("\n") < 40
    assert {unit.head for unit in found[1:-1]} == {"A B"}
    assert {unit.section for unit in found[:-1]} == {("select a, b from t_syn",)}
    assert found[-1].head == ""


def test_reports_within_are_cut_by_their_own_rules() -> None:
    plan = "PLAN_TABLE_OUTPUT\n-----\nPlan hash value: 42\n\n| Id  | Operation |\n-----------\n|   0 | SELECT STATEMENT |\n\n"
    text = f"SQL> select * from table(dbms_xplan.display);\n\n{plan}7 rows selected.\n\nSQL> host tkprof\nTKPROF: Release 19.0.0.0.0\n\n"
    found = covered(spool.units, f"{text}SQL> exit\n")
    statement = "select * from table(dbms_xplan.display)"
    row = next(unit for unit in found if "SELECT STATEMENT" in unit.text)
    assert row.section == (statement, "Plan hash value: 42")
    assert row.head == "Id | Operation"
    assert found[-1].section == ("exit",)
    assert found[-2].section[0] == "host tkprof"
    assert len(found[-2].section) > 1


def test_an_error_in_the_middle_of_a_result_is_announced_too() -> None:
    rows = "".join(f"{at}\n" for at in range(100))
    text = f"SQL> select a from t;\n\nA\n--\n{rows}ERROR:\nORA-01555: snapshot too old\n\n\n100 rows selected.\n"
    assert [codes for _, codes in stated(text) if codes] == [["ORA-01555"]]


@given(
    st.lists(st.sampled_from([*SPOOL.split("\n"), *SQLCL.split("\n"), "x", "*", "a:", "漢\r", "  2  "]), max_size=60)
)
def test_any_text_is_covered(lines: list[str]) -> None:
    covered(spool.units, "\n".join(lines))


@needs(REPORTS)
@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("autonomous_stats_on_load.lst", ["ORA-00942"] * 2),
        ("creative_patch_example.lst", []),
        ("xplan_q5.lst", []),
        ("xplan_q9.lst", []),
    ],
)
def test_samples(name: str, codes: list[str]) -> None:
    text = (REPORTS / name).read_bytes().decode("utf-8", errors="replace")
    assert spool.recognises([line.removesuffix("\r") for line in text.split("\n")[:200]])
    found = covered(spool.units, text)
    assert [code for unit in found for code in unit.metadata.get("oracle_error_code", [])] == codes
    assert max(len(unit.text) for unit in found) < 40_000
