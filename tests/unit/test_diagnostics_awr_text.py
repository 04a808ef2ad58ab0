"""AWR, ASH and Statspack reports as text: fixtures written here after the documented formats, their values invented."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk import Limits, chunks
from oraclerag.chunk.diagnostics import awr_text, statspack
from oraclerag.chunk.diagnostics.lines import split
from oraclerag.chunk.diagnostics.unit import Unit
from oraclerag.cutting import Cutting
from tests import reports
from tests.real_files import REPORTS, needs

SAMPLE = REPORTS / "statspack_11.2.0.4.txt"

RULE = f"{' ' * 10}{'-' * 61}\n"
PAGE = """SQL ordered by Gets  DB/Inst: SYN1/syn1  Snaps: 100-101
-> End Buffer Gets Threshold:     10000 Total Buffer Gets:      26,112,113

                                                     CPU      Elapsd     Old
  Buffer Gets    Executions  Gets per Exec  %Total Time (s)  Time (s) Hash Value
--------------- ------------ -------------- ------ -------- --------- ----------
"""
STATSPACK = f"""STATSPACK report for

Database    DB Id    Instance     Inst Num  Startup Time   Release     RAC
~~~~~~~~ ----------- ------------ -------- --------------- ----------- ---
          1122334455 syn1                1 01-Apr-31 00:00 11.2.0.4.0  NO

Snapshot       Snap Id     Snap Time      Sessions Curs/Sess Comment
~~~~~~~~    ---------- ------------------ -------- --------- ------------------
Begin Snap:        100 05-Apr-31 06:00:12      120       2.1
  End Snap:        101 05-Apr-31 07:00:15      130       2.2

Top 5 Timed Events                                                    Avg %Total
~~~~~~~~~~~~~~~~~~                                                   wait   Call
Event                                            Waits    Time (s)   (ms)   Time
----------------------------------------- ------------ ----------- ------ ------
log file sync                                   27,068           6      0    1.1
{RULE}{PAGE}      1,529,176           12      127,431.3    5.8    12.40     14.02 1234567890
{PAGE}Module: e:SQLAP:cp:syn
insert into t_syn_with_a_long_name (identifier, txt) values (:b1
, :b2) -- ORA-00001 is no error

        1,529           12          127.3    0.1     0.40      0.02  234567891
select 1 from dual

{PAGE}{RULE}init.ora Parameters  DB/Inst: SYN1/syn1  Snaps: 100-101

                                                                  End value
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
control_files                 /u01/syn1/control01.ctl, /u02/syn
                              1/control02.ctl
processes                     1000
{RULE}
End of Report ( sp_100_101.lst )
"""
AWR = f"""
WORKLOAD REPOSITORY report for

DB Name         DB Id    Instance     Inst Num Startup Time    Release     RAC
------------ ----------- ------------ -------- --------------- ----------- ---
SYN1          1122334455 syn1                1 01-Apr-31 00:00 11.2.0.4.0  NO

              Snap Id      Snap Time      Sessions Curs/Sess
            --------- ------------------- -------- ---------
Begin Snap:       100 05-Apr-31 06:00:12       120       2.1
  End Snap:       101 05-Apr-31 07:00:15       130       2.2
SQL ordered by Elapsed Time          DB/Inst: SYN1/syn1  Snaps: 100-101
-> Resources reported for PL/SQL code includes the resources used by all SQL
   statements called by the code.

        Elapsed                  Elapsed Time
        Time (s)    Executions  per Exec (s)  %Total   %CPU    %IO    SQL Id
---------------- -------------- ------------- ------ ------ ------ -------------
           812.3              4        203.08   31.4   88.2    9.1 0a1b2c3d4e5f6
Module: e:SQLAP:cp:syn
insert into t_syn (id, txt) values (:b1, :b2)

{RULE}Top User Events               DB/Inst: SYN1/syn1  (Apr 05 06:00 to 06:15)

                                                               Avg Active
Event                               Event Class        % Event   Sessions
----------------------------------- --------------- ---------- ----------
db file sequential read             User I/O             31.40       0.42
{RULE}"""


def units(text: str) -> list[Unit]:
    """Cut a text; the units must follow each other and cover it."""
    found = list(awr_text.units(split(text)))
    assert "".join(unit.text for unit in found) == text
    assert [unit.start for unit in found] == [0, *(unit.end for unit in found)][: len(found)]
    return found


def sections(found: list[Unit]) -> list[str]:
    return [" > ".join(section) for section, _ in groupby(found, key=lambda unit: unit.section)]


def test_recognised_by_its_title() -> None:
    assert awr_text.recognises(AWR.split("\n"))
    assert awr_text.recognises(["ASH Report For SYN1/syn1", ""])
    assert statspack.recognises(STATSPACK.split("\n"))
    for text in (STATSPACK, "a letter about\nthe WORKLOAD REPOSITORY report for SYN1", ""):
        assert not awr_text.recognises(text.split("\n"))
    assert not statspack.recognises(AWR.split("\n"))


def test_sections_begin_at_titles_and_not_at_page_breaks() -> None:
    assert sections(units(STATSPACK)) == [
        "",
        "Database",
        "Snapshot",
        "Top 5 Timed Events",
        "SQL ordered by Gets",
        "init.ora Parameters",
    ]
    assert sections(units(AWR)) == ["", "SQL ordered by Elapsed Time", "Top User Events"]


def test_a_statement_is_one_unit_also_over_a_page_break() -> None:
    statements = [unit for unit in units(STATSPACK) if "sql_hash" in unit.metadata]
    assert [unit.metadata["sql_hash"] for unit in statements] == ["1234567890", "234567891"]
    first, second = statements
    assert first.text.startswith("      1,529,176")
    assert first.text.endswith(", :b2) -- ORA-00001 is no error\n\n")
    assert first.metadata["db_module"] == "e:SQLAP:cp:syn"
    assert first.metadata["erp_module"] == "AP"
    assert "db_module" not in second.metadata
    assert second.text.endswith("select 1 from dual\n\n")
    assert not first.codes
    (statement,) = [unit for unit in units(AWR) if "sql_id" in unit.metadata]
    assert statement.metadata["sql_id"] == "0a1b2c3d4e5f6"
    assert statement.text.endswith("values (:b1, :b2)\n\n" + RULE)


def test_rows_carry_the_names_of_their_columns() -> None:
    head = "Event | Waits | Time (s) | Avg wait (ms) | %Total Call Time"
    found = units(STATSPACK)
    (row,) = [unit for unit in found if unit.metadata.get("wait_event") == "log file sync"]
    assert row.head == head
    (header,) = [unit for unit in found if unit.head == head and unit is not row]
    assert header.says_head
    assert header.text.startswith("Top 5 Timed Events")
    (event,) = [unit for unit in units(AWR) if "wait_event" in unit.metadata]
    assert event.head == "Event | Event Class | % Event | Avg Active Sessions"


def test_a_row_that_was_wrapped_is_one_unit() -> None:
    (row,) = [unit for unit in units(STATSPACK) if unit.text.startswith("control_files")]
    assert row.text.endswith("1/control02.ctl\n")


@pytest.mark.parametrize("text", [STATSPACK, AWR])
def test_instance_and_period_hold_for_what_follows(text: str) -> None:
    last = units(text)[-1]
    assert last.metadata["instance"] == "syn1"
    assert last.metadata["timestamp"] == "2031-04-05T06:00:12"
    assert last.metadata["timestamp_end"] == "2031-04-05T07:00:15"


def test_chunks_name_the_columns_once() -> None:
    text = "".join(reports.statspack(60))
    limits = Limits(120, lambda chunk: len(chunk.split()) + 2)
    first, *more = [
        chunk for chunk in chunks(text, limits, Cutting("diagnostics")) if chunk.section == "Foreground Wait Events"
    ]
    assert "Event | Waits | Time (s)" not in first.content
    assert more
    assert all(chunk.head == "Foreground Wait Events\nEvent | Waits | Time (s)\n" for chunk in more)


_LINES = st.sampled_from(
    [*STATSPACK.split("\n"), *AWR.split("\n"), "~~~~", "   ", "-> note", "\x0c", "--- ---------------"]
)


@given(st.lists(st.one_of(_LINES, st.text(max_size=30)), max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_any_text_is_covered(lines: list[str], end: str) -> None:
    units(end.join(lines))


def test_a_unit_is_never_much_longer_than_a_statement() -> None:
    for lines in (["x" * 70] * 3000, [PAGE.rstrip(), *["select x from"] * 3000], [PAGE.rstrip()] * 500):
        assert max(len(unit.text) for unit in units("\n".join(lines))) < 40_000


def test_a_long_report_has_a_unit_for_each_row() -> None:
    found = units("".join(reports.statspack(200)))
    assert sections(found) == ["", "Foreground Wait Events", "SQL ordered by Gets"]
    assert sum("wait_event" in unit.metadata for unit in found) == 200
    assert len({unit.metadata["sql_hash"] for unit in found if "sql_hash" in unit.metadata}) == 200


@needs(SAMPLE)
def test_a_real_report() -> None:
    text = SAMPLE.read_bytes().decode(errors="replace")
    found = units(text)
    assert len(sections(found)) == 11 + 52  # 54 sections, but three that are called alike follow each other
    assert sum("db_module" in unit.metadata for unit in found) == 43
    assert sum("sql_hash" in unit.metadata for unit in found) == 142
    assert {unit.metadata["instance"] for unit in found[20:]} == {"igt"}
