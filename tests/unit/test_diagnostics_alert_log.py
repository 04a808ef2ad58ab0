"""Alert logs: entries under their stamps, what is stamped apart joined. Fixtures after the documented formats, invented."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag import error_codes
from oraclerag.chunk import Limits, chunks
from oraclerag.chunk.diagnostics import alert_log
from oraclerag.chunk.diagnostics.lines import split
from oraclerag.chunk.diagnostics.pack.shorten import shortened
from oraclerag.chunk.diagnostics.unit import Unit
from oraclerag.cutting import Cutting
from tests.real_files import REPORTS, needs
from tests.unit.diagnostics import covered, words

OLD = """Sat Apr  5 06:07:08 CET 2031
Errors in file /u01/app/oracle/admin/syn1/bdump/syn1_j001_5151.trc:
ORA-12012: error on auto execute of job 42
ORA-01438: value larger than specified precision allowed for this column
ORA-06512: at "APPX.CLOSE_PKG", line 321
Sat Apr  5 06:08:08 2031
WARNING: inbound connection timed out (ORA-3136)
Sat Apr  5 06:10:00 2031
ORA-1537 signalled during: alter tablespace syn add datafile '/u02/oradata/SYN1/syn01.dbf' size 10m
...
"""
NEW = """2031-04-05T06:09:00.000100+02:00
PDBX(3):ORA-01555 caused by SQL statement below (SQL ID: 0a1b2c3d4e5f6, Query Duration=812 sec, SCN: 0x0005f4c2aa):
2031-04-05T06:09:00.000200+02:00
Thread 1 advanced to log sequence 4244 (LGWR switch),  current SCN: 99887766
2031-04-05T06:09:00.000400+02:00
PDBX(3):SELECT *
FROM appx.big_syn
2031-04-05T06:10:30.555001+02:00
Errors in file /u01/app/oracle/diag/rdbms/syn1/SYN1/trace/SYN1_ora_6161.trc  (incident=9001) (PDBNAME=PDBX):
2031-04-05T06:10:30.556001+02:00
ORA-00600: internal error code, arguments: [syn_arg_1], [600], [ORA-01403: no data found
], [], [], [], [], [], [], [], [], []
2031-04-05T06:10:30.557001+02:00
Incident details in: /u01/app/oracle/diag/rdbms/syn1/SYN1/incident/incdir_9001/SYN1_ora_6161_i9001.trc
2031-04-05T06:10:30.558001+02:00
Use ADRCI or Support Workbench to package the incident.
2031-04-05T06:11:00.000001+02:00
ORA-00060: deadlock detected, more info in file
2031-04-05T06:11:00.000002+02:00
 /u01/app/oracle/diag/rdbms/syn1/SYN1/trace/SYN1_ora_7.trc.
2031-04-05T06:12:41.900001+02:00


***********************************************************************

Fatal NI connect error 12170.
2031-04-05T06:12:41.900003+02:00

  VERSION INFORMATION:
	TNS for Linux: Version 19.0.0.0.0 - Production
2031-04-05T06:12:41.900005+02:00
  Tns error struct:
    ns main err code: 12535
    nt OS err code: 0
2031-04-05T06:12:49.900005+02:00
opiodr aborting process unknown ospid (6161) as a result of ORA-609
"""
STARTUP = """2031-04-05T06:11:30.900001+02:00
Shutting down instance (abort)
Instance shutdown complete
2031-04-05T06:11:31.900001+02:00
Starting ORACLE instance (normal) (OS id: 12)
LICENSE_MAX_USERS = 0
System parameters with non-default values:
  processes                = 300
  control_files            = "/u02/oradata/SYN1/control01.ctl"
                             "/u03/oradata/SYN1/control02.ctl"
  event                    = "10949 trace name context forever, ORA-00942"
NOTE: remote asm mode is local (mode 0x1)
2031-04-05T06:11:35.900001+02:00
PMON started with pid=2, OS id=42
2031-04-05T06:12:31.900001+02:00
Completed: ALTER DATABASE OPEN
2031-04-05T06:12:32.900001+02:00
Thread 1 advanced to log sequence 4245 (LGWR switch)
"""


def cut(text: str) -> list[Unit]:
    assert alert_log.recognises([line.text for line in split(text)])
    return covered(alert_log.units, text)


def codes(unit: Unit) -> list[str]:
    return error_codes.metadata(unit.text).get("oracle_error_code", []) if unit.codes else []


def test_old_entries_have_their_own_times_and_all_codes() -> None:
    found = cut(OLD)
    assert [(unit.metadata["timestamp"], codes(unit)) for unit in found] == [
        ("2031-04-05T06:07:08", ["ORA-12012", "ORA-01438", "ORA-06512"]),
        ("2031-04-05T06:08:08", ["ORA-03136"]),
        ("2031-04-05T06:10:00", ["ORA-01537"]),
    ]
    assert {unit.section for unit in found} == {("2031-04-05",)}
    assert {unit.metadata["instance"] for unit in found} == {"syn1"}
    assert found[2].text.endswith("size 10m\n...\n")


def test_what_is_stamped_apart_is_joined_with_what_stands_between() -> None:
    undo, incident, deadlock, network, last = cut(NEW)
    assert undo.text.endswith("FROM appx.big_syn\n")
    assert (undo.metadata["sql_id"], undo.metadata["container"]) == ("0a1b2c3d4e5f6", "PDBX")
    assert undo.metadata["timestamp"] == "2031-04-05T06:09:00.000100+02:00"
    assert incident.text.startswith("2031-04-05T06:10:30.555001")
    assert incident.text.endswith("to package the incident.\n")
    assert (incident.metadata["instance"], incident.metadata["container"]) == ("SYN1", "PDBX")
    assert deadlock.text.endswith("SYN1_ora_7.trc.\n")
    assert network.text.endswith("nt OS err code: 0\n")
    assert network.metadata["oracle_error_code"] == ["TNS-12170"]
    assert network.head == "Fatal NI connect error 12170."
    assert codes(last) == ["ORA-00609"]


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("PMON (ospid: 4711): terminating the instance due to error 472", "ORA-00472"),
        ("LGWR: terminating instance due to error 340", "ORA-00340"),
        ("Global Enqueue Services Deadlock detected. More info in file", "ORA-00060"),
    ],
)
def test_errors_that_are_said_without_their_codes(said: str, code: str) -> None:
    found = cut(f"Sat Apr  5 06:07:08 2031\n{said}\nSat Apr  5 06:07:09 2031\nx\n")
    assert found[0].metadata["oracle_error_code"] == [code]


@pytest.mark.parametrize(
    ("between", "later"),
    [
        ("", "2031-04-05T06:09:03.000100+02:00\nPDBX(3):SELECT 1\n"),  # more than two seconds
        ("", "2031-04-05T06:09:00.000400+02:00\nPDBY(4):SELECT 1\n"),  # another container
        (
            "2031-04-05T06:09:00.000200+02:00\nPDBY(4):anything\n",
            "2031-04-05T06:09:00.000400+02:00\nPDBX(3):SELECT 1\n",
        ),
        (
            "".join(f"2031-04-05T06:09:00.00020{at}+02:00\nnote {at}\n" for at in range(4)),
            "2031-04-05T06:09:00.000400+02:00\nPDBX(3):SELECT 1\n",
        ),
    ],
)
def test_what_is_too_far_away_or_of_another_container_is_not_joined(between: str, later: str) -> None:
    text = "".join(NEW.splitlines(keepends=True)[:2]) + between + later
    found = cut(text)
    assert "SELECT" not in found[0].text
    assert "SELECT 1" in found[-1].text


def test_what_continues_a_message_of_a_container_may_have_no_prefix_and_other_fractions() -> None:
    text = "2031-04-05T06:09:00.000+02:00\nPDBX(3):Errors in file /u01/x.trc:\n2031-04-05T06:09:00.000100+02:00\nORA-00600: x\n"
    (found,) = covered(alert_log.units, text)
    assert found.metadata["container"] == "PDBX"


def test_lines_of_another_container_under_one_stamp_are_another_entry() -> None:
    stamp = "2031-04-05T06:09:00.000100+02:00\n"
    first, second, _ = cut(f"{stamp}PDBX(3):one\ngoes on\nPDBY(4):two\n{stamp}three\n")
    assert (first.metadata["container"], second.metadata["container"]) == ("PDBX", "PDBY")
    assert first.metadata["timestamp"] == second.metadata["timestamp"] == stamp.strip()
    assert first.text.endswith("goes on\n")


def test_startups_and_their_parameters_are_sections_and_parameters_name_no_errors() -> None:
    found = cut(STARTUP)
    sections = list(dict.fromkeys(unit.section[1:] for unit in found))
    assert sections == [("shutdown",), ("startup",), ("startup", "parameters"), ()]
    parameters = [unit for unit in found if unit.section[-1] == "parameters"]
    assert len(parameters) == 4
    assert not any(unit.codes for unit in parameters)
    assert parameters[2].text.count("control0") == 2


def test_a_run_of_equal_entries_is_a_unit_and_a_chunk_says_it_once() -> None:
    noise = [
        f"Sat Apr  5 06:{at // 60:02}:{at % 60:02} 2031\nWARNING: inbound timed out (ORA-3136)\n" for at in range(900)
    ]
    text = "".join([*noise, OLD])
    found = cut(text)
    assert [unit.metadata.get("occurrences") for unit in found][:2] == [500, 400]
    made = list(chunks(text, Limits(128, words), Cutting("diagnostics")))
    assert len(made) < 6
    assert made[0].start == 0
    assert made[0].text.startswith(f"{noise[0]}...\nSat Apr  5 06:")
    assert all(chunk.text == shortened(text[chunk.start : chunk.end]) for chunk in made)
    assert sum(chunk.text.count("WARNING") for chunk in made) < 12


def test_three_equal_entries_are_not_shortened_and_others_never() -> None:
    entry = "Sat Apr  5 06:00:00 2031\nWARNING\n"
    assert shortened(entry * 3) == entry * 3
    assert shortened(entry * 4) == f"{entry}...\n{entry}"
    other = "".join(f"Sat Apr  5 06:00:00 2031\nWARNING {at}\n" for at in range(9))
    assert shortened(other) == other


def test_an_undecodable_log_and_one_that_begins_in_an_entry_are_read_by_their_stamps() -> None:
    text = (
        "tail of an entry\nORA-00942\nSat Apr  5 06:07:08 2031\nORA-12012: \ufffd\ufffd\ufffd\nSat Apr  5 06:07:09 2031"
    )
    found = cut(text)
    assert "timestamp" not in found[0].metadata
    assert found[1].metadata["timestamp"] == "2031-04-05T06:07:08"


def test_an_entry_without_end_is_given_in_parts() -> None:
    text = f"{OLD}Sat Apr  5 07:00:00 2031\nSat Apr  5 07:00:01 2031\n" + "Dumping something\n" * 2000
    assert max(len(unit.text.splitlines()) for unit in cut(text)) <= 400


@given(
    st.lists(
        st.sampled_from(
            [*OLD.splitlines(), *NEW.splitlines(), *STARTUP.splitlines(), "", "x", "PDBY(4):", "漢\u2028\x85\r"]
        ),
        max_size=60,
    )
)
def test_any_text_is_covered(lines: list[str]) -> None:
    covered(alert_log.units, "\n".join(lines))


@needs(REPORTS)
@pytest.mark.parametrize(
    ("name", "stamps", "zone"), [("alert_10g_short.log", 10, "CST"), ("alert_11g_short.log", 10, "")]
)
def test_samples(name: str, stamps: int, zone: str) -> None:
    text = (REPORTS / name).read_text("utf-8", errors="replace")
    found = cut(text)
    assert (
        len(found)
        == stamps
        == sum(zone in line and line[-4:].isdigit() for line in text.splitlines() if line[3:4] == " ")
    )
    assert found[0].metadata["timestamp"] == "2017-11-24T22:01:56"
    assert len({unit.section for unit in found}) == 5
