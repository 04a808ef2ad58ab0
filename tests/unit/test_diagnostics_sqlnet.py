"""Logs and traces of SQL*Net. The fixtures are written here after the documented formats, of the trace there is no sample."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk import Limits, chunks
from oraclerag.chunk.diagnostics import sqlnet, sqlnet_trace
from oraclerag.cutting import Cutting
from tests.real_files import REPORTS, needs
from tests.unit.diagnostics import covered, words

SAMPLE = REPORTS / "sqlnet_10.1_windows.log"

LOG = f"""

{"*" * 71}

Fatal NI connect error 12514, connecting to:
 (DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=192.0.2.10))(CONNECT_DATA=(SID=synsid)(CID=(PROGRAM=sqlplus)(USER=appx))))

  VERSION INFORMATION:
\tTNS for Linux: Version 19.0.0.0.0 - Production
  Version 19.99.0.0.0
  Time: 05-APR-2031 06:07:08
  Tracing not turned on.
  Tns error struct:
    ns main err code: 12564
\x20\x20\x20\x20
    TNS-12564: TNS:connection refused
    ns secondary err code: 0
    nt OS err code: 0


{"*" * 71}

Fatal NI connect error 12170.

  Time: 05-APR-2031 06:07:09
"""
TRACE = """2031-04-05 06:07:08.900001 : --- TRACE CONFIGURATION INFORMATION FOLLOWS ---
2031-04-05 06:07:08.900002 : New trace level is 16
2031-04-05 06:07:08.900003 : --- TRACE CONFIGURATION INFORMATION ENDS ---
2031-04-05 06:07:08.900010 : nsopen:entry
2031-04-05 06:07:08.900020 : nspsend:entry
2031-04-05 06:07:08.900030 : nspsend:packet dump
2031-04-05 06:07:08.900040 : nspsend:00 20 00 00 4F 52 41 2D  |....ORA-|
2031-04-05 06:07:08.900050 : nspsend:30 30 39 34 32 3A 20 00  |00942:..|
2031-04-05 06:07:08.900060 : nspsend:normal exit
2031-04-05 06:07:08.900070 : nserror:nsres: id=0, op=65, ns=12541, ns2=12560; nt[0]=511, nt[1]=111, nt[2]=0; ora[0]=0
2031-04-05 06:07:08.900080 : nsopen:error exit
"""


def test_a_block_is_a_unit_and_its_first_number_is_what_failed() -> None:
    assert sqlnet.recognises(LOG.split("\n"))
    _, first, second = covered(sqlnet.units, LOG)
    assert first.text.startswith("*" * 71)
    assert first.text.rstrip().endswith("nt OS err code: 0")
    assert first.metadata == {
        "oracle_error_code": ["TNS-12514"],
        "timestamp": "2031-04-05T06:07:08",
        "instance": "synsid",
    }
    assert second.section == ("Fatal NI connect error 12170",)
    made = list(chunks(LOG, Limits(500, words), Cutting("diagnostics")))
    assert made[0].metadata["oracle_error_code"] == ["TNS-12514", "TNS-12564", "TNS-12170"]
    assert made[0].metadata["oracle_error_primary"] == "TNS-12514"


def test_below_a_time_stamp_it_is_an_alert_log() -> None:
    assert not sqlnet.recognises(["Sat Apr  5 06:07:08 2031", *LOG.split("\n")])


def test_a_trace_has_its_configuration_its_connections_and_their_errors() -> None:
    assert sqlnet_trace.recognises(TRACE.split("\n"))
    assert sqlnet_trace.recognises(["Trace file /u01/x.trc", "TNSLSNR for Linux: Version 19.0.0.0.0 - Production"])
    assert not sqlnet_trace.recognises(
        ["Trace file /u01/x.trc", "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0"]
    )
    configuration, calls, packet, errors = covered(sqlnet_trace.units, TRACE)
    assert configuration.section == ("configuration",)
    assert {calls.section, packet.section, errors.section} == {("connection 1",)}
    assert [unit.codes for unit in (calls, packet, errors)] == [True, False, True]
    assert errors.metadata["oracle_error_code"] == ["TNS-12541", "TNS-12560", "TNS-00511"]


@pytest.mark.parametrize(
    "stamp", ["[16-NOV-2031 09:30:57:060] ", "[000001 12-OCT-2029 10:03:39:116] ", "(2864) [10-AUG-2028 01:02:03:004] "]
)
def test_older_stamps(stamp: str) -> None:
    lines = [f"{stamp}nsopen: entry", f"{stamp}nserror: nsres: ns=12537"] * 5
    assert sqlnet_trace.recognises(lines)
    found = covered(sqlnet_trace.units, "\n".join(lines))
    assert len(found) == 5
    assert found[0].metadata["oracle_error_code"] == ["TNS-12537"]
    assert found[0].metadata["timestamp"].endswith(("060", "116", "004"))


def test_a_call_without_end_is_given_in_runs() -> None:
    text = TRACE + "2031-04-05 06:07:08.900090 : nsprecv:reading from transport...\n" * 500
    assert max(unit.text.count("\n") for unit in covered(sqlnet_trace.units, text)) <= 41


@given(st.lists(st.sampled_from([*LOG.split("\n"), *TRACE.split("\n"), "x", "\r", "漢\u2028"]), max_size=60))
def test_any_text_is_covered(lines: list[str]) -> None:
    covered(sqlnet.units, "\n".join(lines))
    covered(sqlnet_trace.units, "\n".join(lines))


@needs(SAMPLE)
def test_sample() -> None:
    text = SAMPLE.read_text("utf-8", errors="replace")
    found = [unit for unit in covered(sqlnet.units, text) if unit.section]
    assert [unit.metadata["oracle_error_code"] for unit in found] == [["TNS-12560"]] * 5
    assert {unit.metadata["instance"] for unit in found} == {"ses"}
    assert found[0].metadata["timestamp"] == "2009-02-03T18:50:10"
    assert all("TNS-00530" in unit.text for unit in found)
