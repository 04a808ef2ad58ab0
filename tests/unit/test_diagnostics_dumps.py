"""Dumps in trace files: incidents, error stacks, hang analysis, state dumps, deadlocks.

The fixtures are written after the documented formats; their values are invented.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.trace_units import HEADER, MARKS, of_line, sample, sections, units

INCIDENT = """Dump file /u01/app/oracle/diag/rdbms/syn1/SYN1/incident/incdir_9001/SYN1_ora_6161_i9001.trc
Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production
Instance name: SYN1

*** 2031-04-05T06:10:30.556000+02:00 (PDBX(3))
[TOC00000]
Jump to table of contents
Dump continued from file: /u01/app/oracle/diag/rdbms/syn1/SYN1/trace/SYN1_ora_6161.trc
[TOC00001]
ORA-07445: exception encountered: core dump [synfunc()+42] [SIGSEGV] [ADDR:0x10] [PC:0x7F01] [Address not mapped] []
[TOC00001-END]
[TOC00002]
========= Dump for incident 9001 (ORA 7445 [synfunc]) ========
----- Beginning of Customized Incident Dump(s) -----
Exception [type: SIGSEGV, Address not mapped to object] [ADDR:0x10] [PC:0x7F01, synfunc()+42] [flags: 0x0, count: 1]
----- Current SQL Statement for this session (sql_id=9z8y7x6w5v4u3) -----
select 'ORA-00942' x from t_syn
----- PL/SQL Stack -----
0x7f00aa10        12  package body SYN.PKG
[TOC00003]
----- Call Stack Trace -----
calling              call     entry                argument values in hex
location             type     point                (? means dubious value)
-------------------- -------- -------------------- ----------------------------
ksedst1()+95         call     skdstdst()           7FFC00000000 ? 000000000 ?
dbkedDefDump()+2344  call     ksedst1()            000000000 000000001
8                                                  000000000 ?
synfunc()+42         signal   __sighandler()       00000000B 7FFC00000010
----- End of Call Stack Trace -----
----- Process State Dump -----
  ----------------------------------------
  SO: 0x99aa00, type: process (2), map: 0x99bb00
      state: LIVE (0x4532), flags: 0x1
      waiting for 'db file sequential read'
    ----------------------------------------
    SO: 0x96cc00, type: session (4), map: 0x97dd00
    (session) sid: 77 ser: 4242
      Bind Info value="ORA-02291: of another"
----- Memory Dump -----
Dump of memory from 0x0000000012340000 to 0x0000000012340040
012340000 4F52412D 30303630 303A2069 6E746572  [ORA-00600: inter]
"""


def test_the_summary_of_an_incident_is_one_section_with_its_error_and_its_statement() -> None:
    found = units(INCIDENT)
    summary = [unit for unit in found if unit.section == ("error dump", "summary")]
    assert "".join(unit.text for unit in summary).startswith("\n*** 2031-04-05T06:10:30")
    for part in ("ORA-07445", "Exception [type", "select 'ORA-00942'", "package body SYN.PKG"):
        assert of_line(found, part).section == ("error dump", "summary")
    assert of_line(found, "ORA-07445").codes
    assert of_line(found, "Dump for incident 9001").metadata["oracle_error_code"] == ["ORA-07445"]
    assert of_line(found, "select 'ORA-00942'").metadata["sql_id"] == "9z8y7x6w5v4u3"
    assert not of_line(found, "select 'ORA-00942'").codes
    assert of_line(found, "package body").codes
    assert of_line(found, "ORA-07445").metadata["instance"] == "SYN1"
    assert of_line(found, "ORA-07445").metadata["container"] == "PDBX"


def test_what_is_dumped_names_no_error_of_this_session() -> None:
    found = units(INCIDENT)
    for part in ("ORA-02291", "[ORA-00600"):
        assert not of_line(found, part).codes
    assert {section[1] for section in sections(found) if section[0] == "error dump"} == {
        "summary",
        "Call Stack Trace",
        "Process State Dump",
        "Memory Dump",
    }


def test_the_call_stack_has_the_problem_as_its_head_and_is_cut_between_frames() -> None:
    frame = "dbkedDefDump()+2344  call     ksedst1()            000000000 000000001\n"
    frame += "8                                                  000000000 ?\n"
    found = units(INCIDENT.replace("synfunc()+42         signal", frame * 100 + "synfunc()+42         signal"))
    stack = [unit for unit in found if unit.section[-1] == "Call Stack Trace"]
    assert len(stack) > 5
    assert {unit.head for unit in stack} == {"ORA 7445 [synfunc] · SELECT T_SYN"}
    assert not any(unit.text.startswith("8 ") for unit in stack)


@pytest.mark.parametrize(
    "start",
    [
        "dbkedDefDump(): Starting a non-incident diagnostic dump (flags=0x0, level=3, mask=0x0)\n",
        "ksedmp: internal or fatal error\n",
    ],
)
def test_an_error_stack_in_an_ordinary_trace_begins_anew(start: str) -> None:
    first = f"{start}ORA-00942: table or view does not exist\n----- Call Stack Trace -----\nksedst1()+95 call x\n"
    second = f"\n*** 2031-04-05 06:11:00.000\n{start}ORA-00600: internal error code, arguments: [x], [y], [z]\n"
    found = units(HEADER + MARKS + first + second)
    assert [section[1] for section in sections(found) if section[0] == "error dump"] == [
        "summary",
        "Call Stack Trace",
        "summary",
    ]
    assert of_line(found, "ORA-00600").codes
    assert of_line(found, "ORA-00600").metadata["timestamp"] == "2031-04-05T06:11:00.000"


HANG = """
*** 2031-04-05T06:20:00.100000+02:00
===============================================================================
HANG ANALYSIS:
  instances (db_name.oracle_sid): syn1.syn1
  oradebug_node_dump_level: 3
===============================================================================

Chains most likely to have caused the hang:
 [a] Chain 1 Signature: 'SQL*Net message from client'<='enq: TX - row lock contention'
     Chain 1 Signature Hash: 0x1a2b3c4d
===============================================================================
Non-intersecting chains:

-------------------------------------------------------------------------------
Chain 1:
-------------------------------------------------------------------------------
    Oracle session identified by:
    {
                instance: 1 (syn1.syn1)
              session id: 77
          current sql_id: 424242424
    }
    is waiting for 'enq: TX - row lock contention' with wait info:
    {
                      p1: 'name|mode'=0x54580006
    }
    and is blocked by
 => Oracle session identified by:
    {
                instance: 1 (syn1.syn1)
              session id: 88
          current sql_id: 0
    }
    which is waiting for 'SQL*Net message from client' with wait info:

State of ALL nodes
([nodenum]/cnode/sid/sess_srno/session/ospid/state/[adjlist]):
[33]/1/34/59277/0x99708ef0/38033/NLEAF/[46]

*** 2031-04-05T06:20:00.200000+02:00
===============================================================================
END OF HANG ANALYSIS
===============================================================================

*** 2031-04-05T06:20:00.300000+02:00
Oradebug command 'dump hanganalyze 3' console output: <none>
"""


def test_a_chain_is_a_section_headed_by_its_signature() -> None:
    found = units(HEADER + MARKS + HANG)
    assert [section[1] for section in sections(found) if section[0] == "hang analysis"] == [
        "summary",
        "signatures",
        "chains",
        "chain 1",
        "nodes",
    ]
    chain = of_line(found, "session id: 77")
    assert chain.text.count("Oracle session identified by") == 2
    assert chain.head == "Chain 1: 'SQL*Net message from client'<='enq: TX - row lock contention'"
    assert chain.metadata["wait_event"] == ["enq: TX - row lock contention", "SQL*Net message from client"]
    assert chain.metadata["sql_hash"] == "424242424"
    assert "sql_id" not in chain.metadata
    signatures = of_line(found, "[a] Chain 1 Signature")
    assert signatures.metadata["wait_event"] == ["SQL*Net message from client", "enq: TX - row lock contention"]
    assert found[-1].section == ("messages",)


def test_the_old_form_of_a_hang_analysis() -> None:
    text = """==============
HANG ANALYSIS:
==============
Open chains found:
Chain 1 : <cnode/sid/sess_srno/proc_ptr/ospid/wait_event> :
    <0/88/12/0x99aa00/7042/SQL*Net message from client>
 -- <0/77/4242/0x99bb00/7041/enq: TX - row lock contention>
Other chains found:
Chain 2 : <cnode/sid/sess_srno/proc_ptr/ospid/wait_event> :
    <0/99/7/0x99cc00/7043/rdbms ipc message>
"""
    found = units(text)
    first = of_line(found, "0/77/4242")
    assert first.section == ("hang analysis", "chain 1")
    assert first.metadata["wait_event"] == ["SQL*Net message from client", "enq: TX - row lock contention"]
    assert of_line(found, "0/99/7").section == ("hang analysis", "chain 2")


def test_a_long_chain_is_cut_between_its_sessions() -> None:
    session = HANG[HANG.index(" => Oracle session") : HANG.index("\nState of ALL")]
    found = units(HANG.replace("\nState of ALL", session * 50 + "\nState of ALL"))
    chain = [unit for unit in found if unit.section[-1] == "chain 1"]
    assert len(chain) > 5
    assert all(unit.text.startswith(" => Oracle session") for unit in chain[1:])
    assert len({unit.head for unit in chain}) == 1


STATE = """
*** 2031-04-05T06:21:00.100000+02:00
===================================================
SYSTEM STATE (level=10, with short stacks)
------------
System global information:
     processes: base 0x99aa00, size 300
Dumping the Process Summary
       1: PSEUDO process
       2: PMON ospid 7001 sid 1 ser 100, waiting for 'pmon timer'
      41: USER ospid 7041 sid 77 ser 4242, waiting for 'enq: TX - row lock contention'
          Cmd: Update
          Blocked by inst: 1, sid: 88, ser: 12
          Final Blocker inst: 1, sid: 88, ser: 12
Done Dumping the Process Summary

*** 2031-04-05T06:21:00.200000+02:00
PROCESS 2: PMON
  ----------------------------------------
  SO: 0x99aa00, type: process (2), map: 0x99bb00
      state: LIVE (0x4532), flags: 0x1
  Short stack dump: ORA-00072: process "VKTM" is not active

*** 2031-04-05T06:21:00.300000+02:00
PROCESS 41:
  ----------------------------------------
  SO: 0x99aa00, type: process (2), map: 0x99bb00
    ----------------------------------------
    SO: 0x96cc00, type: session (4), map: 0x97dd00
    (session) sid: 77 ser: 4242 trans: (nil), creator: 0x99aa00
      last wait for 'db file sequential read'
END OF SYSTEM STATE
*** 2031-04-05T06:21:01.000000+02:00
Oradebug command 'dump systemstate 10' console output: <none>
"""


def test_a_system_state_is_its_summary_and_its_processes() -> None:
    found = units(HEADER + MARKS + STATE)
    assert [section[1] for section in sections(found) if section[0] == "system state"] == [
        "head",
        "summary",
        "PROCESS 2 PMON",
        "PROCESS 41",
    ]
    summary = of_line(found, "Final Blocker")
    assert summary.metadata["wait_event"] == ["pmon timer", "enq: TX - row lock contention"]
    assert summary.section == ("system state", "summary")
    assert "wait_event" not in of_line(found, "last wait for").metadata
    assert of_line(found, "PROCESS 41:").metadata["timestamp"] == "2031-04-05T06:21:00.300000+02:00"
    assert found[-1].section == ("messages",)


def test_the_remarks_of_who_dumps_are_no_errors() -> None:
    assert not any(unit.codes for unit in units(STATE) if unit.section[0] == "system state")


def test_a_row_of_the_summary_keeps_who_blocks_it() -> None:
    row = STATE[STATE.index("      41: USER") : STATE.index("Done Dumping")]
    found = units(STATE.replace("Done Dumping", row * 50 + "Done Dumping"))
    summary = [unit for unit in found if unit.section[-1] == "summary"]
    assert len(summary) > 5
    assert all(unit.text.startswith("      41: USER") for unit in summary[1:])


DEADLOCK = """
*** 2031-04-05T06:30:00.000100+02:00 (PDBX(3))
2031-04-05 06:30:00.000*:ksq.c@12954:ksqdld_hdr_dump():
DEADLOCK DETECTED ( ORA-00060 )
See Note 60.1 at My Oracle Support for Troubleshooting ORA-60 Errors
[Transaction Deadlock]

The following deadlock is not an ORACLE error. It is a
deadlock due to user error in the design of an application
Deadlock graph:
                                          ------------Blocker(s)-----------  ------------Waiter(s)------------
Resource Name                             process session holds waits serial  process session holds waits serial
TX-00010002-0000AAAA-00000003-00000000         41      77     X          4242      42      88     X           12
TX-00030004-0000BBBB-00000003-00000000         42      88     X            12      41      77     X         4242

Rows waited on:
  Session 77: obj - rowid = 00011171 - AAARFxAAHAAAACHAAA
  (dictionary objn - 70001, file - 7, block - 135, slot - 0)
----- Information for waiting sessions -----
Session 77:
  sid: 77 ser: 4242 audsid: 31337 user: 91/APPX
    pdb: 3/PDBX
  current SQL:
  update t_syn set txt = 'ORA-00001' where id = :b2
Session 88:
  sid: 88 ser: 12 audsid: 31338 user: 91/APPX
  current SQL:
  update t_syn set txt = :b2 where id = :b1
----- End of information for waiting sessions -----
"""
OWN_SQL = """Current SQL statement for this session:
update t_syn set txt = :b1 where id = 7
"""


def test_a_deadlock_is_one_section_with_its_graph_and_every_session() -> None:
    found = units(HEADER + MARKS + DEADLOCK + OWN_SQL)
    parts = [unit for unit in found if unit.section[0] == "deadlock"]
    assert {unit.section for unit in parts} == {("deadlock", "deadlock 1")}
    assert parts[0].text.startswith("*** 2031-04-05T06:30")
    graph = of_line(found, "Deadlock graph")
    assert "DEADLOCK DETECTED" in graph.text
    assert "Rows waited on" in graph.text
    assert graph.metadata["oracle_error_code"] == ["ORA-00060"]
    for part in ("Session 77:\n", "Session 88:\n", "where id = 7"):
        unit = of_line(found, part)
        assert unit.section == ("deadlock", "deadlock 1")
        assert unit.head == "TX-00010002-0000AAAA-00000003-00000000 TX-00030004-0000BBBB-00000003-00000000"
    assert "current SQL" in of_line(found, "Session 88:\n").text
    assert not any(unit.codes for unit in parts)


OLDER = """*** 2009-04-05 06:30:00.100
*** DEADLOCK DETECTED
[Transaction Deadlock]
The following deadlock is not an ORACLE error. It is a
Deadlock graph:
                       ---------Blocker(s)--------  ---------Waiter(s)---------
Resource Name          process session holds waits  process session holds waits
TX-000a0011-00004204        39      45     X             40      46           X

session 45: DID 0001-0027-0000000A	session 46: DID 0001-0028-00000008

Rows waited on:
  Session 45: no row

----- Information for the OTHER waiting sessions -----
Session 46:
  sid: 46 ser: 15 audsid: 31337 user: 91/APPX
  current SQL:
  update t_syn set txt = 'x' where id = 1

----- End of information for the OTHER waiting sessions -----

Information for THIS session:

----- Current SQL Statement for this session (sql_id=0a1b2c3d4e5f6) -----
update t_syn set txt = 'y' where id = 2
===================================================
PROCESS STATE
-------------
Process global information:
"""


def test_the_form_of_11g_has_the_statement_of_this_session_behind_the_others() -> None:
    found = units(HEADER + MARKS + OLDER)
    assert [section for section in sections(found) if section[0] != "trace header"] == [
        ("deadlock", "deadlock 1"),
        ("process state", "head"),
    ]
    own = of_line(found, "where id = 2")
    assert own.metadata["sql_id"] == "0a1b2c3d4e5f6"
    assert own.head == "TX-000a0011-00004204"
    assert of_line(found, "*** DEADLOCK DETECTED").metadata["oracle_error_code"] == ["ORA-00060"]
    message = "\n*** 2009-04-05 06:31:00.100\nmessage of somebody else\n"
    found = units(HEADER + OLDER[: OLDER.index("====")] + message)
    assert found[-1].section == ("messages",)


def test_deadlocks_of_one_file_are_numbered() -> None:
    found = units(HEADER + MARKS + DEADLOCK + DEADLOCK.replace("00010002", "00050006"))
    assert [section for section in sections(found) if section[0] == "deadlock"] == [
        ("deadlock", "deadlock 1"),
        ("deadlock", "deadlock 2"),
    ]
    assert of_line(found, "TX-00050006").text.count("DEADLOCK DETECTED") == 1


def test_what_follows_a_deadlock_is_no_part_of_it() -> None:
    message = "\n*** 2031-04-05T06:31:00.000000+02:00\nmessage of somebody else\n"
    assert of_line(units(DEADLOCK + message), "somebody else").section == ("messages",)


CLUSTER = """
*** 2031-04-05 06:30:01.206
ENQUEUE DUMP REQUEST: from 1 spnum 12 on [0xe0007][0x8ba],[TX][ext 0x5,0x0] for reason 3 mtype 0
DUMP LOCAL BLOCKER/HOLDER: block level 3 res [0xe0007][0x8ba],[TX][ext 0x5,0x0]
----------resource 0xb0000001----------------------
resname       : [0xe0007][0x8ba],[TX][ext 0x5,0x0]
user session for deadlock lock 0xbc000001
  sid: 77 ser: 4242 audsid: 31337 user: 91/APPX
  current SQL:
  update t_syn set txt = :b1 where id = :b2
DUMP LOCAL BLOCKER: initiate state dump for DEADLOCK

*** 2031-04-05 06:30:01.300
Submitting asynchronized dump request [28]. summary=[ges process stack dump (kjdglblkrdm1)].
Global Wait-For-Graph(WFG) at ddTS[0.1] :
BLOCKED 0xc0000001 3 wq 2 cvtops x1 TX 0xa0011.0x4204(ext 0x2,0x0)[27000-0002-0000000D] inst 2
BLOCKER 0xaf000001 3 wq 1 cvtops x28 TX 0xa0011.0x4204(ext 0x2,0x0)[24000-0001-0000039A] inst 1
BLOCKED 0xc0000002 3 wq 2 cvtops x1 TX 0xe0007.0x8ba(ext 0x5,0x0)[24000-0001-0000039A] inst 1
BLOCKER 0xbc000001 3 wq 1 cvtops x28 TX 0xe0007.0x8ba(ext 0x5,0x0)[27000-0002-0000000D] inst 2

*** 2031-04-05 06:30:02.335
* Cancel deadlock victim lockp 0xc0000001
"""


def test_a_cluster_names_no_code_and_the_sessions_belong_to_the_graph_below_them() -> None:
    found = units(HEADER + MARKS + CLUSTER + CLUSTER)
    assert [section for section in sections(found) if section[0] in ("deadlock", "messages")] == [
        ("deadlock", "deadlock 1"),
        ("messages",),
        ("deadlock", "deadlock 2"),
        ("messages",),
    ]
    graphs = [unit for unit in found if "Wait-For-Graph" in unit.text]
    assert [unit.text.count("BLOCKE") for unit in graphs] == [4, 4]
    assert {unit.section[1] for unit in graphs} == {"deadlock 1", "deadlock 2"}
    sessions = [unit for unit in found if "current SQL" in unit.text]
    assert {unit.head for unit in sessions} == {"[0xe0007][0x8ba],[TX]"}
    assert {tuple(unit.metadata["oracle_error_code"]) for unit in (*graphs, *sessions)} == {("ORA-00060",)}
    assert "oracle_error_code" not in of_line(found[: len(found) // 2], "resname").metadata


ALL = INCIDENT + HANG + STATE + DEADLOCK + OWN_SQL + CLUSTER


@given(st.lists(st.sampled_from(ALL.splitlines(True)), max_size=60))
def test_lines_in_any_order_are_covered(lines: list[str]) -> None:
    units("".join(lines))


@given(st.integers(0, len(ALL)), st.integers(0, len(ALL)))
def test_what_is_cut_anywhere_is_covered(left: int, right: int) -> None:
    units(ALL[min(left, right) : max(left, right)])


def test_the_sample_of_a_cluster() -> None:
    found = units(sample("11.2.0.2_rac_deadlock_lmd0.trc"))
    graph = of_line(found, "Global Wait-For-Graph")
    assert graph.text.count("\nBLOCKE") == 4
    assert graph.metadata["oracle_error_code"] == ["ORA-00060"]
    assert {unit.section[1] for unit in found if unit.section[0] == "deadlock"} == {"deadlock 1"}
    assert all(unit.metadata["instance"] == "oravm2" for unit in found[1:])


def test_the_sample_of_a_hang() -> None:
    found = units(sample("19c_hanganalyze_HANGA.trc"))
    chains = [section[1] for section in sections(found) if section[0] == "hang analysis" and "chain " in section[1]]
    assert chains == ["chain 1", "chain 2"]
    assert of_line(found, "[a] Chain 1 Signature").text.count(" Signature: ") == 2
    assert "oracle_error_code" not in {name for unit in found for name in unit.metadata}
