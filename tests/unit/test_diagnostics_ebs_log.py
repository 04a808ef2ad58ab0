"""Logs of E-Business Suite: requests, managers, patching. Fixtures after the documented formats; there is no real sample."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import adop, dates, ebs_log, ebs_manager, erp
from tests.unit.diagnostics import covered

RULE = f"+{'-' * 75}+\n"
REQUEST = f"""{RULE}Payables: Version : 12.0.0

Copyright (c) 1979, 1999, Oracle Corporation. All rights reserved.

APXSYN module: Synthetic Invoice Validation
{RULE}
Current system time is 05-APR-2031 06:07:08
{RULE}
Argument 1 (ORG_ID) = 83
Argument 2 (BATCH) = SYN
**Starts**05-APR-2031 06:07:09
ORACLE error 20042 in FDPSTP

Cause: FDPSTP failed due to ORA-20042: ledger SYN-7 is closed
ORA-06512: at "APPS.APX_SYN_PKG", line 321
.
Some line
APP-SQLGL-01564: ORACLE error 1000 in fetch_lines

Cause: fetch_lines failed due to ORA-01000: maximum open cursors exceeded.

The SQL statement being executed at the time of the error was: SELECT X
FROM Y and was executed from the file &ERRFILE.

**Ends**05-APR-2031 06:08:08
{RULE}Start of log messages from FND_FILE
{RULE}Processing batch SYN-BATCH-1
{RULE}End of log messages from FND_FILE
{RULE}
Executing request completion options...

{RULE}Concurrent request completed with warning
Current system time is 05-APR-2031 06:08:10
{RULE}"""
CHINESE = f"""{RULE}規劃: Version : 12.0.0

Copyright (c) 1979, 1999, Oracle Corporation. All rights reserved.

MRCNSP 模組: 計劃
{RULE}
目前系統時間為 05-4月 -2031 06:07:08
{RULE}
執行 ORA-01403: 找不到資料
{RULE}FND_FILE 記錄訊息的起點
{RULE}x
{RULE}FND_FILE 記錄訊息的終點
{RULE}"""
MANAGER = """Starting SYN_0405@SYN Internal Concurrent Manager -- shell process ID 4711
          logfile=/u01/app/logs/SYN_0405.mgr
Process monitor session started : 05-APR-2031 06:07:08
Found dead process: spid=(4712), cpid=(815), ORA pid=(42), manager=(0/1042)
Process monitor session ended : 05-APR-2031 06:07:10
List of errors encountered:
.............................................................................
_ 1 _
Routine AFPGMG received failure code while parsing or running your
concurrent program CPMGR
ORA-03113: end-of-file on communication channel
.............................................................................
[4/5/31 6:07:08 PM] [UNEXPECTED] [11:RT4242] java.sql.SQLException: ORA-01000: maximum open cursors exceeded
\tat oracle.apps.Syn.run(Syn.java:42)
[4/5/31 6:07:09 PM] [11:RT4242] done
"""
PATCH = """[START 2031/04/05 06:07:08] Apply phase
  ADOP Session ID: 42
  [EVENT]     [START 2031/04/05 06:07:10] Applying patch 99999901
  [STATEMENT] Calling: adpatch options=nocopyportion
  [UNEXPECTED]Error occurred running "adpatch"
AutoPatch error:
The following ORACLE error:
ORA-20042: ledger SYN-7 is closed
occurred while executing the SQL statement:
BEGIN appx.close_pkg.run; END;
FAILED: file synpkg.sql on worker  3 for product  ap  username AP.
  [EVENT]     [END   2031/04/05 06:08:00] Applying patch 99999901
[END   2031/04/05 06:08:01] Apply phase
adop exiting with status = 1 (Fail)
"""


def test_a_request_has_its_parts_and_what_every_part_is_about() -> None:
    assert ebs_log.recognises(REQUEST.split("\n"))
    found = covered(ebs_log.units, REQUEST)
    parts = list(dict.fromkeys(unit.section[-1] for unit in found))
    assert parts == ["header", "arguments", "program", "completion", "log messages"]
    assert {unit.section[0] for unit in found} == {"APXSYN: Synthetic Invoice Validation"}
    assert {unit.metadata["source_script"] for unit in found} == {"APXSYN"}
    assert {unit.metadata["erp_module"] for unit in found} == {"AP", "GL"}  # GL is that of a message alone
    assert [unit.metadata["completion"] for unit in found if "completion" in unit.metadata] == ["warning"]
    assert found[0].metadata["timestamp"] == "2031-04-05T06:07:08"
    arguments = next(unit for unit in found if unit.section[-1] == "arguments")
    assert arguments.text.count("\n") == 2


def test_a_message_has_its_cause_and_its_statement() -> None:
    found = covered(ebs_log.units, REQUEST)
    first = next(unit for unit in found if unit.text.startswith("ORACLE error 20042"))
    assert first.text.endswith("line 321\n.\n")
    second = next(unit for unit in found if unit.text.startswith("APP-SQLGL-01564"))
    assert second.text.rstrip().endswith("&ERRFILE.")
    assert second.metadata["erp_module"] == "GL"


def test_a_log_of_the_loader_within_is_cut_as_one() -> None:
    inner = "SQL*Loader: Release 19.0.0.0.0 - Production on Sat Apr 5 06:07:08 2031\n\nTable T_SYN:\n  9 Rows loaded.\n"
    found = covered(ebs_log.units, REQUEST.replace("Some line\n", inner))
    program = "APXSYN: Synthetic Invoice Validation"
    (result,) = (unit for unit in found if unit.section == (program, "program", "table T_SYN", "result"))
    assert result.metadata["erp_module"] == "AP"
    assert result.metadata["table_name"] == "T_SYN"
    assert found[-1].section == (program, "completion")


def test_another_language_is_known_by_its_shape() -> None:
    assert ebs_log.recognises(CHINESE.split("\n"))
    found = covered(ebs_log.units, CHINESE)
    assert list(dict.fromkeys(unit.section[-1] for unit in found)) == [
        "header",
        "program",
        "log messages",
        "completion",
    ]
    assert found[0].metadata["timestamp"] == "2031-04-05T06:07:08"
    assert found[0].metadata["source_script"] == "MRCNSP"


def test_a_manager_has_sessions_errors_and_entries() -> None:
    assert ebs_manager.recognises(MANAGER.split("\n"))
    found = covered(ebs_manager.units, MANAGER)
    sections = list(dict.fromkeys(unit.section for unit in found))
    assert sections == [("start",), ("process monitor", "05-APR-2031 06:07:08"), ("errors",), ("2031-04-05",)]
    item = next(unit for unit in found if unit.text.startswith("_ 1 _"))
    assert "Routine" in item.text
    assert "ORA-03113" in item.text
    assert found[-2].text.endswith("(Syn.java:42)\n")
    assert found[-2].metadata["timestamp"] == "2031-04-05T18:07:08"


def test_phases_nest_and_an_error_has_what_is_said_of_it() -> None:
    assert adop.recognises(PATCH.split("\n"))
    found = covered(adop.units, PATCH)
    error = next(unit for unit in found if "[UNEXPECTED]" in unit.text)
    assert error.section == ("Apply phase", "Applying patch 99999901")
    assert error.text.endswith("BEGIN appx.close_pkg.run; END;\n")
    failed = next(unit for unit in found if unit.text.startswith("FAILED"))
    assert failed.metadata == {"failed_file": "synpkg.sql", "erp_module": "AP"}
    assert found[-1].section == ()


def test_levels_that_other_programs_print_too_are_no_patching() -> None:
    assert not adop.recognises(["[ERROR] COMPILATION ERROR", "[WARNING] a", "[ERROR] b"])


@pytest.mark.parametrize(
    ("given_name", "module"),
    [("APXSYN", "AP"), ("GLPPOS", "GL"), ("RAXTRX", "AR"), ("MSCPMON", "ASCP"), ("XXCUST", None), ("", None)],
)
def test_a_program_tells_its_module(given_name: str, module: str | None) -> None:
    assert erp.by_program(given_name) == module
    assert erp.by_application("Oracle General Ledger") == "GL"
    assert erp.by_code("see APP-SQLAP-10771: x") == "AP"
    assert erp.by_product("nothing") is None


@pytest.mark.parametrize(
    ("printed", "iso"),
    [
        ("05-APR-2031 06:07:08", "2031-04-05T06:07:08"),
        ("05-AVR-31 06:07:08.123", "2031-04-05T06:07:08.123"),
        ("05-4月 -2031 06:07:08", "2031-04-05T06:07:08"),
        ("05-APR-31", "2031-04-05"),
        ("Sat Apr  5 06:07:08 CET 2031", "2031-04-05T06:07:08"),
        ("Sáb Abr 5 06:07:08 2031", "2031-04-05T06:07:08"),
        ("2031-04-05 06:07:08,5+0200", "2031-04-05T06:07:08.5+02:00"),
        ("04/05/2031 06:07:12", "2031-04-05T06:07:12"),
        ("2031/04/05 06:07:12", "2031-04-05T06:07:12"),
        ("05-XYZ-2031 06:07:08", None),
        ("05-13月-2031 06:07:08", None),
        ("soon", None),
        ("31-APR-2031 06:07:08", None),
        ("2031-04-05 06:07:99", None),
    ],
)
def test_times_in_the_languages_that_are_known(printed: str, iso: str | None) -> None:
    assert dates.iso(printed) == iso


@given(
    st.lists(
        st.sampled_from([*REQUEST.split("\n"), *MANAGER.split("\n"), *PATCH.split("\n"), "x", "漢\r"]), max_size=60
    )
)
def test_any_text_is_covered(lines: list[str]) -> None:
    for family in (ebs_log, ebs_manager, adop):
        covered(family.units, "\n".join(lines))
