"""Trace files: header, marks, several kinds in one file. The fixtures are written after the documented formats."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk import Limits, chunks
from oraclerag.chunk.diagnostics import families, trace_file
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.cutting import Cutting
from tests import reports
from tests.unit.trace_units import HEADER, MARKS, of_line, sample, sections, units

WAIT = "WAIT #14: nam='db file sequential read' ela= 812 file#=7 block#=130 blocks=1 obj#=70001 tim=5001000\n"
EXEC = "EXEC #14:c=200,e=1500,p=1,cr=2,cu=4,mis=0,r=0,dep=0,og=1,plh=0,tim=5001600\n"
PARSING = """=====================
PARSING IN CURSOR #14 len=28 dep=0 uid=91 oct=2 lid=91 tim=5 hv=12 ad='7f00' sqlid='0a1b2c3d4e5f6'
insert into t_syn values (1)
END OF STMT
"""
DEADLOCK = """
*** 2031-04-05T06:30:00.000100+02:00 (PDBX(3))
DEADLOCK DETECTED ( ORA-00060 )
[Transaction Deadlock]

Deadlock graph:
Resource Name                             process session holds waits serial  process session holds waits serial
TX-00010002-0000AAAA-00000003-00000000         41      77     X          4242      42      88     X           12
----- End of information for waiting sessions -----
"""
OPTIMIZER = """
Registered qb: SEL$1 0x7f00aa10 (PARSER)
---------------------
QUERY BLOCK SIGNATURE
---------------------
  signature (): qb_name=SEL$1 nbfros=1 flg=0
"""
STACK = """
dbkedDefDump(): Starting a non-incident diagnostic dump (flags=0x0, level=3, mask=0x0)
----- Error Stack Dump -----
ORA-00942: table or view does not exist
----- Current SQL Statement for this session (sql_id=9z8y7x6w5v4u3) -----
select 'ORA-00001' from t_absent
----- Call Stack Trace -----
calling              call     entry                argument values in hex
"""


def test_the_header_says_the_instance_and_the_host_of_everything() -> None:
    found = units(HEADER.replace("Instance name", "Node name:\tsynhost\nInstance name") + MARKS + WAIT)
    assert found[0].section == ("trace header",)
    assert not found[0].codes
    assert found[1].section == ("trace header", "session")
    assert found[-1].metadata["instance"] == "SYN1"
    assert found[-1].metadata["host"] == "synhost"


@pytest.mark.parametrize(
    ("head", "instance"),
    [
        ("Trace file /u01/app/diag/rdbms/syn1/SYN2/trace/SYN2_ora_4711_EQUI.trc\n", "SYN2"),
        ("Dump file c:\\oracle\\admin\\syn\\udump\\syn3_j003_77.trc\n", "syn3"),
        ("Trace file lobs.trc\n", None),
    ],
)
def test_the_path_says_the_instance_where_no_line_does(head: str, instance: str | None) -> None:
    assert units(f"{head}\n{WAIT}")[-1].metadata.get("instance") == instance


@pytest.mark.parametrize(
    ("mark", "name", "value"),
    [
        ("*** 2013-07-03 16:25:16.197", "timestamp", "2013-07-03T16:25:16.197"),
        ("*** 2031-04-05T06:07:08.000123", "timestamp", "2031-04-05T06:07:08.000123"),
        ("*** 2031-04-05T06:07:08.000123+02:00 (PDBX(3))", "container", "PDBX"),
        ("*** 2031-04-05T06:07:08.000123+02:00 ((3))", "container", "3"),
        ("*** CONTAINER ID:(8) 2031-04-05T06:07:08.000150+02:00", "container", "8"),
        ("*** SERVICE NAME:(synsvc) 2031-04-05T06:07:08.000150+02:00", "db_service", "synsvc"),
        ("*** ACTION NAME:(post) 2031-04-05T06:07:08.000150+02:00", "db_action", "post"),
        ("*** MODULE NAME:(e:SQLAP:cp:sqlap/APXIIMPT) 2031-04-05T06:07:08.000150+02:00", "erp_module", "AP"),
    ],
)
def test_a_mark_holds_for_what_follows(mark: str, name: str, value: str) -> None:
    assert units(f"{HEADER}\n{mark}\n \n{WAIT}")[-1].metadata[name] == value


def test_a_mark_holds_until_the_next_of_its_kind() -> None:
    other = "\n*** MODULE NAME:(gl) 2031-04-05T06:08:00.000000+02:00\n\n"
    none = "\n*** MODULE NAME:() 2031-04-05T06:09:00.000000+02:00\n\n"
    waits = [WAIT.replace("130", f"{number}") for number in range(3)]
    found = units(HEADER + MARKS + PARSING + waits[0] + other + waits[1] + none + waits[2])
    modules = [of_line(found, wait).metadata.get("db_module") for wait in waits]
    assert modules == ["invoice load", "gl", None]
    assert {of_line(found, wait).metadata["container"] for wait in waits} == {"PDBX"}
    assert {of_line(found, wait).metadata["sql_id"] for wait in waits} == {"0a1b2c3d4e5f6"}


def test_one_file_is_several_kinds_one_after_the_other() -> None:
    text = HEADER + MARKS + PARSING + WAIT + DEADLOCK + EXEC + OPTIMIZER + STACK + WAIT.replace("130", "131")
    found = units(text)
    kinds = [section[0] for section in sections(found)]
    assert [kind for at, kind in enumerate(kinds) if at == 0 or kinds[at - 1] != kind] == [
        "trace header",
        "SQL trace",
        "deadlock",
        "SQL trace",
        "optimizer trace",
        "error dump",
        "SQL trace",
    ]
    assert of_line(found, EXEC).metadata["sql_id"] == "0a1b2c3d4e5f6"
    assert of_line(found, "block#=131").metadata["sql_id"] == "0a1b2c3d4e5f6"


def test_what_marks_a_section_belongs_to_it() -> None:
    found = units(HEADER + PARSING + DEADLOCK)
    assert of_line(found, "2031-04-05T06:30").text.startswith("\n*** 2031")
    assert of_line(found, "2031-04-05T06:30").section == ("deadlock", "deadlock 1")
    assert of_line(found, "PARSING").metadata.get("timestamp") is None


def test_messages_of_a_background_process_are_units_by_their_time() -> None:
    text = HEADER + "".join(
        f"\n*** 2031-04-05 14:0{number}:19.665\nWarning: log write elapsed time 597ms, size 1048KB\n"
        for number in range(5)
    )
    found = units(text)
    assert [unit.section for unit in found[1:]] == [("messages",)] * 5
    assert [unit.metadata["timestamp"] for unit in found[1:]] == [f"2031-04-05T14:0{n}:19.665" for n in range(5)]


@pytest.mark.parametrize(
    ("message", "codes"),
    [
        ("opiodr aborting process unknown ospid (4711) as a result of ORA-609", True),
        ("An audit record could not be written due to an ORA-28035 error condition at SQL level 2.", False),
    ],
)
def test_a_message_names_an_error_unless_it_is_nobodys(message: str, codes: bool) -> None:
    assert of_line(units(f"{HEADER}\n{message}\n"), message).codes is codes


@pytest.mark.parametrize(
    ("lines", "family"),
    [
        (["Trace file /x/SYN1_ora_1.trc", "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0"], "trace_file"),
        (["Dump file /x/syn1_ora_1.trc", "Oracle9i Enterprise Edition Release 9.2.0.8.0 - Production"], "trace_file"),
        ([WAIT.strip(), EXEC.strip()], "trace_file"),
        (OPTIMIZER.splitlines(), "trace_file"),
        (DEADLOCK.splitlines(), "trace_file"),
        (["HANG ANALYSIS:", "==============", "Open chains found:"], "trace_file"),
        (["SYSTEM STATE (level=10, with short stacks)", "------------", "PROCESS 41: "], "trace_file"),
        (["ksedmp: internal or fatal error", "ORA-00600: internal error code, arguments: [x]"], "trace_file"),
        (["", "TKPROF: Release 19.0.0.0.0 - Development on Sat Apr 5 06:30:00 2031", ""], "tkprof"),
        (["SQL> EXEC proc", "WAIT a moment", "STAT x", "BINDS"], None),
        (["Deadlock graph was not written", "HANG ANALYSIS is a word"], None),
        (["Trace file /x/listener.trc", "TNSLSNR for Linux: Version 19.0.0.0.0 - Production"], None),
    ],
)
def test_a_trace_is_recognised_by_what_it_says(lines: list[str], family: str | None) -> None:
    chosen = families.family_of(lines).name
    assert chosen == family if family else chosen not in ("trace_file", "tkprof")


def test_nothing_is_held_but_what_is_read_next() -> None:
    """Whatever comes without end - empty lines, one statement, one bind, one stack - is given in bounded pieces."""
    endless = {
        "blank": "\n",
        "mark": "*** 2031-04-05T06:07:08.000123+02:00\n",
        "rule": "=====================\n",
        "stack": "ksedst1()+95         call     skdstdst()           7FFC00000000 ? 000000000 ?\n",
        "message": "ftd (4) received from node 1 (4 4.0/0.0)\n",
        "value": "  value and so on\n",
    }
    begins = {"stack": STACK, "value": PARSING + 'BINDS #14:\n Bind#0\n  value="\n'}
    for name, line in endless.items():
        text = HEADER + begins.get(name, "") + line * 3000
        assert max(len(unit.text) for unit in units(text)) <= 40_000, name


KINDS = st.sampled_from(
    [HEADER, MARKS, PARSING, WAIT, EXEC, DEADLOCK, OPTIMIZER, STACK, "\n", "x\n", "-----\n", "\x00\n"]
)


@given(st.lists(KINDS, max_size=12), st.integers(0, 400), st.integers(0, 400))
def test_whatever_is_in_it_the_units_cover_it(kinds: list[str], left: int, right: int) -> None:
    text = "".join(kinds)
    units(text[left : max(len(text) - right, left)])


@given(st.lists(st.sampled_from((HEADER + MARKS + PARSING + WAIT + DEADLOCK + OPTIMIZER + STACK).splitlines(True))))
def test_lines_in_any_order_are_covered(lines: list[str]) -> None:
    units("".join(lines))


def test_the_same_text_gives_the_same_units() -> None:
    text = "".join(reports.sql_trace(300))
    assert units(text) == units(text)


def test_chunks_of_a_trace_keep_to_the_limit_and_every_wait_has_its_statement() -> None:
    text = "".join(reports.sql_trace(300))
    limits = Limits(128, lambda content: len(content) // 2 + 2)
    found = list(chunks(text, limits, Cutting(chunker="diagnostics")))
    assert all(limits.fits(chunk.content) for chunk in found)
    for chunk in found:
        if "WAIT #14" in chunk.text:
            assert "sqlid=" in chunk.content
            assert chunk.metadata["sql_id"]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("11.2.0.2_rac_deadlock_lmd0.trc", {"trace header", "messages", "deadlock"}),
        ("11.2.0.4_10053_EQUI.trc", {"trace header", "optimizer trace"}),
        ("19c_hanganalyze_HANGA.trc", {"trace header", "messages", "hang analysis"}),
        ("oravm1_lgwr_17884.trc", {"trace header", "messages"}),
        ("trctools/lobs.trc", {"trace header", "SQL trace"}),
        ("trctools/malformed_stat.trc", {"trace header", "SQL trace"}),
        ("trctools/no_timezone.trc", {"trace header", "SQL trace"}),
    ],
)
def test_samples(name: str, kinds: set[str]) -> None:
    text = sample(name)
    found = units(text)
    assert families.family_of(text.split("\n")[:200]).name == "trace_file"
    assert {unit.section[0] for unit in found} == kinds
    assert all(unit.metadata.get("timestamp") for unit in found[2:])


def test_the_sample_of_a_log_writer_has_one_unit_per_warning() -> None:
    found = units(sample("oravm1_lgwr_17884.trc"))
    assert sum("Warning: log write elapsed time" in unit.text for unit in found) == 144


def test_a_line_ends_at_a_line_feed_alone() -> None:
    found = list(
        trace_file.units([Line(0, "Trace file /x/SYN1_ora_1.trc\r\n"), Line(30, f"{WAIT[:-1]}\u2028\x0c\r\n")])
    )
    assert len(found) == 2
    assert found[1].metadata["wait_event"] == "db file sequential read"
