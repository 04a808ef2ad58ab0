"""Families of reports: chosen by content, and none of them loses a line, whatever the text is."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag.chunk import Limits, chunks, storable
from oraclerag.chunk.diagnostics import families
from oraclerag.chunk.diagnostics.families import FAMILIES, by_name, family_of, recognised
from oraclerag.chunk.diagnostics.html_report import readable
from oraclerag.chunk.diagnostics.lines import Line, first_lines, split, unwrapped
from oraclerag.chunk.diagnostics.pack import shortened
from oraclerag.cutting import Cutting
from oraclerag.errors import InputError
from tests.real_files import REPORTS, needs

CUTTING = Cutting("diagnostics")

# The family of every sample. Where the folder is not there, its test is skipped.
EXPECTED = {
    "11.2.0.2_rac_deadlock_lmd0.trc": "trace_file",
    "11.2.0.4_10053_EQUI.trc": "trace_file",
    "12.2_rac_js122a1_ora_9850.trc": "trace_file",
    "12.2_rac_js122a1_ora_9854.trc": "trace_file",
    "19c_SESS3_binds.trc": "trace_file",
    "19c_hanganalyze_HANGA.trc": "trace_file",
    "alert_10g_short.log": "alert_log",
    "alert_11g_short.log": "alert_log",
    "autonomous_stats_on_load.lst": "spool",
    "awr_12.2.0.1_linux.html": "awr_html",
    "creative_patch_example.lst": "spool",
    "expdp_impdp_19.3_stats.log": "data_pump",
    "oravm1_lgwr_17884.trc": "trace_file",
    "sqlldr_12.1.0.1_hospital.log": "sql_loader",
    "sqlldr_12.1.0.2_cancer.log": "sql_loader",
    "sqlldr_12.1.0.2_maternal.log": "sql_loader",
    "sqlnet_10.1_windows.log": "sqlnet",
    "statspack_11.2.0.4.txt": "statspack",
    "tkprof_11.2.0.2_xe_20000.txt": "tkprof",
    "tkprof_19c_SESS1.tkp": "tkprof",
    **dict.fromkeys(
        (
            f"trctools/{name}.trc"
            for name in (
                "broken_trace", "error", "lobs", "malformed_stat", "mixed_execs", "no_timezone", "parse_error",
                "simple_trace", "simple_trace_missing_parse", "stray_close", "two_statements_one_cursor",
            )
        ),
        "trace_file",
    ),
    "xplan_q5.lst": "spool",
    "xplan_q9.lst": "spool",
}  # fmt: skip

# The marks of every kind of report, and lines that only look like one.
MARKS = [
    *(
        "",
        " ",
        "-" * 80,
        "=" * 21,
        "=" * 80,
        "*" * 80,
        "+" + "-" * 75 + "+",
        "| a | b |",
        "\f",
        "x" * 300,
        "plain words",
    ),
    "Trace file /u01/app/oracle/diag/rdbms/a/A/trace/A_ora_1.trc",
    "Dump file c:\\oracle\\admin\\a\\udump\\a_ora_1.trc",
    "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production",
    "*** 2031-04-05T06:07:08.000123+02:00 (PDBX(3))",
    "*** SESSION ID:(77.4242) 2031-04-05T06:07:08.000140+02:00",
    "PARSING IN CURSOR #14 len=29 dep=0 uid=91 oct=3 lid=91 tim=5 hv=1 ad='7f' sqlid='0a1b2c3d4e5f6'",
    "select 'ORA-00942', t.* from t",
    "END OF STMT",
    "PARSE #14:c=90,e=101,p=0,cr=0,cu=0,mis=1,r=0,dep=0,og=1,plh=0,tim=50",
    "EXEC #14:c=200,e=1500,p=1,cr=2,cu=4,mis=0,r=0,dep=0,og=1,plh=0,tim=60",
    "WAIT #14: nam='db file sequential read' ela= 812 file#=7 block#=130 blocks=1 obj#=70001 tim=55",
    "WAIT #0: nam='SQL*Net message from client' ela= 9 driver id=1 #bytes=1 p3=0 obj#=-1 tim=70",
    "BINDS #14:",
    " Bind#0",
    '  value="never closed',
    "STAT #14 id=1 cnt=1 pid=0 pos=1 obj=70001 op='TABLE ACCESS FULL T (cr=2 pr=1 pw=0 time=10 us)'",
    "CLOSE #14:c=0,e=3,dep=0,type=3,tim=80",
    "XCTEND rlbk=0, rd_only=1, tim=90",
    "PARSE ERROR #14:len=12 dep=0 uid=91 oct=3 lid=91 tim=1 err=942",
    "ERROR #14:err=1 tim=61",
    "TKPROF: Release 19.0.0.0.0 - Development on Sat Apr 5 06:07:08 2031",
    "call     count       cpu    elapsed       disk      query    current        rows",
    "SQL ID: 0a1b2c3d4e5f6 Plan Hash: 1122334455",
    "OVERALL TOTALS FOR ALL NON-RECURSIVE STATEMENTS",
    "QUERY BLOCK SIGNATURE",
    "***************************************",
    "BASE STATISTICAL INFORMATION",
    "Final cost for query block SEL$1 (#0) - All Rows Plan:",
    "Sat Apr  5 06:07:08 CET 2031",
    "2031-04-05T06:07:08.000123+02:00",
    "Errors in file /u01/app/oracle/diag/rdbms/a/A/trace/A_j001_5.trc  (incident=9001):",
    "ORA-00600: internal error code, arguments: [a], [",
    "ORA-12012: error on auto execute of job 42",
    'ORA-06512: at "APPX.CLOSE_PKG", line 321',
    "PDB(3):ORA-01555 caused by SQL statement below (SQL ID: 0a1b2c3d4e5f6, Query Duration=1 sec, SCN: 0x1):",
    "Starting ORACLE instance (normal)",
    "ORA-1537 signalled during: alter tablespace a add datafile",
    "...",
    "<msg time='2031-04-05T06:10:30.555+02:00' org_id='oracle' comp_id='rdbms'",
    " <txt>ORA-00600: internal error code, arguments: [&lt;none&gt;]",
    " </txt>",
    "</msg>",
    "[TOC00001]",
    "========= Dump for incident 9001 (ORA 7445 [f]) ========",
    "----- Current SQL Statement for this session (sql_id=9z8y7x6w5v4u3) -----",
    "----- Call Stack Trace -----",
    "ksedst1()+95         call     skdstdst()           7FFC00000000 ? 000000000 ?",
    "7F00AA10 00000001 00000002 00000003 00000004  [................]",
    "HANG ANALYSIS:",
    "Chain 1:",
    "SYSTEM STATE (level=10, with short stacks)",
    "PROCESS 42: ABCD",
    "DEADLOCK DETECTED ( ORA-00060 )",
    "Deadlock graph:",
    "Global Wait-For-Graph(WFG) at ddTS[0.1] :",
    "<html><head><title>AWR Report for DB: A, Inst: a, Snaps: 1-2</title>",
    '<h2 class="awr">',
    '<table border="0" class="tdiff" summary="This table displays wait events"><tr><th>Event</th></tr>',
    "<tr><td>db file sequential read</td></tr></table>",
    "<!-- never closed",
    "<pre>",
    "WORKLOAD REPOSITORY report for",
    "STATSPACK report for",
    "SQL ordered by Gets  DB/Inst: A/a  Snaps: 1-2",
    "-> ordered by Total Wait Time desc",
    "ADDM Report for Task 'TASK_42'",
    "Finding 1: Top SQL Statements",
    "PLAN_TABLE_OUTPUT",
    "Plan hash value: 1122334455",
    "| Id  | Operation         | Name | Rows  |",
    "|   0 | SELECT STATEMENT  |      |     1 |",
    "Predicate Information (identified by operation id):",
    "SQL Monitoring Report",
    "Fatal NI connect error 12514, connecting to:",
    " (DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=a)(PORT=1521)))",
    "[05-APR-2031 06:07:08:123] nscon: entry",
    "05-APR-2031 06:07:08 * (CONNECT_DATA=(SID=A)) * (ADDRESS=(PROTOCOL=tcp)) * establish * A * 12505",
    "TNS-12505: TNS:listener does not currently know of SID given in connect descriptor",
    "Export: Release 19.0.0.0.0 - Production on Sat Apr 5 06:07:08 2031",
    "Processing object type SCHEMA_EXPORT/TABLE/TABLE",
    "ORA-39083: Object type INDEX failed to create with error:",
    "Failing sql is:",
    "SQL*Loader: Release 19.0.0.0.0 - Production on Sat Apr 5 06:07:08 2031",
    "Record 5: Rejected - Error on table T.",
    "Recovery Manager: Release 19.0.0.0.0 - Production on Sat Apr 5 06:07:08 2031",
    "RMAN> backup database;",
    "RMAN-00571: ===========================================================",
    "RMAN-03002: failure of backup command at 04/05/2031 06:07:08",
    "channel d1: starting piece 1",
    "Payables: Version : 12.2.0",
    "APXIIMPT module: Payables Open Interface Import",
    "**Starts**05-APR-2031 06:07:08",
    "APP-SQLAP-10771: Could not reserve record.",
    "ORACLE error 20042 in FDPSTP",
    "Cause: FDPSTP failed due to ORA-20042: x",
    "Process monitor session started : 05-APR-2031 06:07:08",
    "[STATEMENT] [START 2031/04/05 06:07:08] adop phase=prepare",
    "[ERROR] adop phase failed",
    "####<Apr 5, 2031 6:07:08,123 AM UTC> <Error> <JDBC> <a> <b> <c> <<WLS Kernel>> <> <> <1> <BEA-001112> <x>",
    "[2031-04-05T06:07:08.123+02:00] [soa_server1] [ERROR] [] [oracle.soa] [tid: 1] x",
    "SQL> select * from t;",
    "  2  where x = 1",
    "ERROR at line 1:",
    "Error starting at line : 1 in command -",
    "Error report -",
    "5 rows selected.",
    'SP2-0734: unknown command beginning "x" - rest of line ignored.',
    "SQL Patching tool version 19.0.0.0.0 Production on Sat Apr  5 06:07:08 2031",
    "Oracle Interim Patch Installer version 12.2.0.1.42",
    "PASS  Tablespaces have room",
    "[FAIL] 3 invalid objects",
    "Health check SYS-03",
]
NOISE = st.text(st.characters(exclude_characters="\n"), max_size=20)
REPORT = st.tuples(
    st.lists(
        st.tuples(st.one_of(st.sampled_from(MARKS), st.sampled_from(MARKS), NOISE), st.sampled_from(["\n", "\r\n"])),
        max_size=40,
    ),
    st.booleans(),
).map(lambda drawn: "".join(line + end for line, end in drawn[0])[: None if drawn[1] else -1])
NAMES = [family.name for family in FAMILIES]


def covered(text: str, name: str) -> None:
    """The units of a text follow each other and cover it."""
    at = 0
    for unit in by_name(name).units(unwrapped(split(text))):
        assert unit.start == at
        assert unit.text == text[at : at + len(unit.text)]
        assert unit.text
        assert "\n" not in unit.head
        at = unit.end
    assert at == len(text)


@pytest.mark.parametrize("name", NAMES)
@given(text=REPORT)
@settings(max_examples=12, deadline=None)
def test_no_family_loses_a_line_whatever_the_text_is(name: str, text: str) -> None:
    covered(text, name)
    assert by_name(name).recognises(text.split("\n")) in (True, False)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
@given(text=REPORT)
@settings(max_examples=600, deadline=None)
def test_no_family_loses_a_line_in_many_texts(name: str, text: str) -> None:
    covered(text, name)


@given(text=REPORT, size=st.sampled_from([40, 128, 500]))
@settings(max_examples=40, deadline=None)
def test_any_report_becomes_chunks_that_cover_it(text: str, size: int) -> None:
    complete(text, Limits(size, words))


def words(text: str) -> int:
    return 2 + len(text.split()) + sum(not char.isalnum() and not char.isspace() for char in text)


def complete(text: str, limits: Limits) -> str | None:
    """The chunks of a report are within the limits and cover it; gives the family."""
    at, name = 0, None
    clean = storable(text)
    for number, chunk in enumerate(chunks(text, limits, CUTTING)):
        assert chunk.number == number
        assert limits.fits(chunk.content)
        assert chunk.text.strip()
        assert chunk.text == shortened(clean[chunk.start : chunk.end])
        assert clean[at : chunk.start].strip() == ""
        assert chunk.end > at
        at, name = chunk.end, chunk.metadata["report_family"]
    assert clean[at:].strip() == ""
    return name


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_family_holds_a_bounded_number_of_lines(name: str) -> None:
    """A report that is one mark again and again, or begins a unit that never ends, is not kept in memory."""
    for mark in MARKS:
        for texts in ([mark] * 1200, [mark, *["and more of it"] * 1200], [mark, *["  and more of it"] * 1200]):
            held = most_held(name, texts)
            assert held < 900, f"{held} lines were held behind {texts[0]!r}"


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("more", ["x", " ", "(", "'", '"', "1", "-", ",", "<", "again"])
def test_a_long_line_takes_linear_time(name: str, more: str) -> None:
    """100,000 characters behind every mark; were it quadratic, the run's own time limit would end it."""
    for mark in MARKS:
        line = (f"{mark} " if more == "again" else more) * (100_000 // (len(mark) + 1 if more == "again" else 1))
        covered(f"{mark}{line}\nend\n", name)
        by_name(name).recognises([f"{mark}{line}", "end"])


@pytest.mark.parametrize("name", NAMES)
def test_a_family_holds_few_of_many_lines(name: str) -> None:
    """As above, with all marks in turn."""
    assert most_held(name, MARKS * 10) < 900


def most_held(name: str, texts: list[str]) -> int:
    """Give how many lines a family had read and not given as units, at most."""
    read = 0

    def lines() -> Iterator[Line]:
        nonlocal read
        at = 0
        for text in texts:
            yield Line(at, f"{text}\n")
            at += len(text) + 1
            read += 1

    most = given_out = 0
    for unit in by_name(name).units(lines()):
        most = max(most, read - given_out)
        given_out += unit.text.count("\n")
    return most


@needs(REPORTS)
def test_every_sample_has_its_family_and_goes_through() -> None:
    found = {}
    for path in sorted(REPORTS.rglob("*")):
        if not path.is_file():
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        text = text[:60_000]  # the whole of it is for the long run
        if path.suffix == ".html":
            text = readable(text)
        found[path.relative_to(REPORTS).as_posix()] = complete(text, Limits(500, words))
    assert found == EXPECTED


@pytest.mark.long
@needs(REPORTS)
@pytest.mark.parametrize("tokens", [128, 256, 500])
def test_every_sample_goes_through_with_every_window(tokens: int) -> None:
    for path in REPORTS.rglob("*"):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            complete(readable(text) if path.suffix == ".html" else text, Limits(tokens, words))


def test_the_table_of_families() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert NAMES[-1] == "generic"
    assert FAMILIES[-1].recognises([])
    assert family_of([]).name == "generic"
    assert family_of(["plain words", "and more of them"]).name == "generic"
    with pytest.raises(InputError, match="no family of reports called 'awr'"):
        by_name("awr")


def test_the_documentation_names_every_family_in_its_order() -> None:
    page = (Path(__file__).parents[2] / "docs" / "chunking.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .+ \| ?(\w*) \|$", page.partition("## Diagnostic reports")[2], re.MULTILINE)
    assert [(name, mark == "experimental") for name, mark in rows] == [
        (family.name, family.experimental) for family in FAMILIES
    ]


def test_importing_the_table_imports_no_family() -> None:
    """The command line starts without them."""
    code = (
        "import sys, oraclerag.chunk.diagnostics.families as f\n"
        "print([g.name for g in f.FAMILIES if f'oraclerag.chunk.diagnostics.{g.name}' in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("wrapper", ["oracle-db  | ", "> ", "Apr  5 06:07:08 dbhost oracle[123]: ", "\ufeff"])
def test_a_wrapper_and_a_byte_order_mark_hide_nothing_and_shift_nothing(wrapper: str) -> None:
    report = ["Sat Apr  5 06:07:08 2031", "ORA-00060: deadlock", "", "Sat Apr  5 06:07:09 2031", "Completed: x"] * 5
    before = [wrapper, *([""] if wrapper == "\ufeff" else [wrapper]) * (len(report) - 1)]
    text = "".join(f"{prefix}{line}\n" for prefix, line in zip(before, report, strict=True))
    family, lines = recognised(text)
    assert family.name == "alert_log"
    found = list(lines)
    assert [line.text for line in found] == report
    assert "".join(line.raw for line in found) == text
    assert [line.start for line in found] == list(
        itertools.accumulate((len(line.raw) for line in found[:-1]), initial=0)
    )
    covered(text, "alert_log")


def test_a_stream_is_looked_at_and_read_on() -> None:
    """Parts come as they may; no more than what decides the family is read ahead."""
    read = 0

    def parts() -> Iterator[str]:
        nonlocal read
        for number in range(20_000):
            read += 1
            yield f"word {number}\nand a"

    family, lines = recognised(parts())
    assert family.name == "generic"
    assert read < 8000
    joined = "".join(line.raw for line in lines)
    assert joined == "".join(parts())


@given(st.lists(st.text(alphabet="ab\r\n\u2028\x0b", max_size=8), max_size=12))
@settings(max_examples=50, deadline=None)
def test_lines_end_at_line_feeds_wherever_the_text_was_parted(parts: list[str]) -> None:
    text = "".join(parts)
    found = list(split(parts))
    assert found == list(split(text))
    assert "".join(line.raw for line in found) == text
    assert all("\n" not in line.text for line in found)
    peeked, lines = first_lines(iter(found))
    assert list(lines) == peeked == found
    assert [unit.text for unit in families.units(iter(parts), by_name("generic"))] == [
        unit.text for unit in families.units(text)
    ]
