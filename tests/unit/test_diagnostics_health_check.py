"""Health-check reports: such scripts are not public, so the fixtures are written here after the shape that is assumed."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import health_check
from oraclerag.chunk.diagnostics.lines import split
from oraclerag.chunk.diagnostics.unit import Unit
from tests import reports

REPORT = """==============================================================
SYS-03 Tablespace Health Check
==============================================================
Instance    : SYN1
EBS Version : R12.2.99
Module      : AP
Run at      : 2031-04-05 06:07:08

Tablespaces
-----------
[PASS] SYSTEM is below 85 %
[WARN] 2 tablespaces are above 85 %
       APPS_TS_TX_DATA    91 %   FAIL soon
       APPS_TS_MEDIA      86 %

       See Doc ID 999999.1
[FAIL] TEMP cannot be extended
       ORA-01652: unable to extend temp segment by 128 in tablespace TEMP
Nothing else was looked at.

=== Workflow ===
Workflow mailer is running .............. OK
Workflow errors of the last day ......... FAILED
  12 errors

Check                     Result   Details
------------------------- -------- ----------------
Invalid objects           WARNING  17 in APPS
Statistics                PASSED   gathered
"""
TABLE = """Health Check Report
| Check | Result |
|-------|--------|
| Disk  | PASS   |
| Swap  | FAIL   |
"""


def units(text: str) -> list[Unit]:
    """Cut a text; the units must follow each other and cover it."""
    found = list(health_check.units(split(text)))
    assert "".join(unit.text for unit in found) == text
    assert [unit.start for unit in found] == [0, *(unit.end for unit in found)][: len(found)]
    return found


def checks(text: str) -> list[tuple[str, str]]:
    return [
        (unit.metadata["check_result"], unit.text.split("\n")[0].strip())
        for unit in units(text)
        if "check_result" in unit.metadata
    ]


@pytest.mark.parametrize(
    ("text", "recognised"),
    [
        (REPORT, True),
        (TABLE, True),
        ("Script: sys_03.sql\n[PASS] a\n[FAIL] b\n", True),
        ("Health Check Report\n[PASS] a\n", False),
        ("[PASS] a\n[FAIL] b\n", False),
        ("ORA-60 check\n[PASS] a\n[FAIL] b\n", False),
        ("The healthcheck script said that everything\npassed and that nothing FAILED to start.\n", False),
        ("", False),
    ],
)
def test_recognised_by_what_its_header_names(text: str, recognised: bool) -> None:
    assert health_check.recognises(text.split("\n")) is recognised


def test_a_check_is_one_unit_with_its_details() -> None:
    assert checks(REPORT) == [
        ("PASS", "[PASS] SYSTEM is below 85 %"),
        ("WARN", "[WARN] 2 tablespaces are above 85 %"),
        ("FAIL", "[FAIL] TEMP cannot be extended"),
        ("PASS", "Workflow mailer is running .............. OK"),
        ("FAIL", "Workflow errors of the last day ......... FAILED"),
        ("WARN", "Invalid objects           WARNING  17 in APPS"),
        ("PASS", "Statistics                PASSED   gathered"),
    ]
    assert checks(TABLE) == [("PASS", "| Disk  | PASS   |"), ("FAIL", "| Swap  | FAIL   |")]
    found = {unit.text.split("\n")[0]: unit for unit in units(REPORT)}
    tablespaces = found["[WARN] 2 tablespaces are above 85 %"]
    assert tablespaces.text.endswith("See Doc ID 999999.1\n")
    assert tablespaces.metadata["oracle_doc_id"] == ["999999.1"]
    temp = found["[FAIL] TEMP cannot be extended"]
    assert temp.text.endswith("in tablespace TEMP\n")
    assert temp.codes
    assert found["Workflow errors of the last day ......... FAILED"].text.endswith("  12 errors\n\n")
    assert found["Invalid objects           WARNING  17 in APPS"].head == "Check | Result | Details"
    assert found["Check                     Result   Details"].says_head


def test_sections_are_titles() -> None:
    sections = [" > ".join(section) for section, _ in groupby(units(REPORT), key=lambda unit: unit.section)]
    assert sections == ["SYS-03 Tablespace Health Check", "Tablespaces", "Workflow"]


def test_what_the_header_says_holds_for_every_check() -> None:
    last = units(REPORT)[-1]
    assert last.metadata == {
        "source_script": "SYS-03",
        "instance": "SYN1",
        "erp_version": "EBS R12.2.99",
        "erp_module": "AP",
        "timestamp": "2031-04-05T06:07:08",
        "check_result": "PASS",
    }


_LINES = st.sampled_from([*REPORT.split("\n"), *TABLE.split("\n"), "   ", "---", "[PASS]"])


@given(st.lists(st.one_of(_LINES, st.text(max_size=30)), max_size=60), st.sampled_from(["\n", "\r\n"]))
def test_any_text_is_covered(lines: list[str], end: str) -> None:
    units(end.join(lines))


def test_a_unit_is_never_much_longer_than_a_check() -> None:
    for line in ("x" * 70, f"    {'x' * 70}", ""):
        text = "\n".join(["[PASS] a", *[line] * 3000])
        assert max(len(unit.text) for unit in units(text)) < 40_000


def test_a_long_report_has_a_unit_for_each_check() -> None:
    assert len(checks("".join(reports.health_check(200)))) == 200
