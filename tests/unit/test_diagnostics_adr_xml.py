"""Logs of the ADR in XML. Fixtures written here after the documented format: no real sample was at hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import adr_xml
from tests.unit.diagnostics import covered

ALERT = """<msg time='2031-04-05T06:10:30.555+02:00' org_id='oracle' comp_id='rdbms'
 msg_id='dbgripsto_sweep_staged_obj:15900:70631439' type='INCIDENT_ERROR' group='sweep'
 level='1' host_id='dbnode1.example.com' host_addr='192.0.2.10' pid='6161'
 con_uid='1' con_id='3' con_name='PDBX'>
 <txt>Errors in file /u01/app/oracle/diag/rdbms/syn1/SYN1/trace/SYN1_ora_6161.trc  (incident=9001):
 </txt>
</msg>
<msg time='2031-04-05T06:10:30.565+02:00' org_id='oracle' comp_id='rdbms'
 pid='6161' con_uid='1' con_id='3' con_name='PDBX'>
 <txt>ORA-00600: internal error code, arguments: [syn_arg_1], [&lt;none&gt;], [], []
 </txt>
</msg>
<msg time='2031-04-05T06:10:31.002+02:00' org_id='oracle' comp_id='rdbms'
 type='UNKNOWN' level='16' host_id='dbnode1.example.com'
 host_addr='192.0.2.10' pid='812'>
 <txt>Thread 1 advanced to log sequence 4244 (LGWR switch)\x07
 </txt>
</msg>
"""
LISTENER = """<msg time='2031-04-05T06:07:10.001+02:00' org_id='oracle' comp_id='tnslsnr'
 type='UNKNOWN' level='16' host_addr='192.0.2.10' version='1'>
 <txt>05-APR-2031 06:07:10 * (CONNECT_DATA=(SERVICE_NAME=svc)) * (ADDRESS=(PORT=5)) * establish * svc * 542
 </txt>
</msg>
<msg time='2031-04-05T06:07:10.002+02:00' org_id='oracle' comp_id='tnslsnr'
 type='UNKNOWN' level='16' host_addr='192.0.2.10'>
 <txt>TNS-00542: SSL Handshake failed
 </txt>
</msg>
"""


def test_messages_of_one_process_that_belong_together_are_joined() -> None:
    assert adr_xml.recognises(ALERT.split("\n"))
    incident, switch = covered(adr_xml.units, ALERT)
    assert "[&lt;none&gt;]" in incident.text
    assert incident.metadata == {
        "timestamp": "2031-04-05T06:10:30.555+02:00",
        "container": "PDBX",
        "instance": "SYN1",
    }
    assert incident.section == ("2031-04-05",)
    assert "container" not in switch.metadata


def test_messages_of_two_processes_are_not() -> None:
    assert len(covered(adr_xml.units, ALERT.replace("\n pid='6161'", "\n pid='6162'"))) == 3


def test_a_line_of_the_listener_has_the_text_of_its_code() -> None:
    (found,) = covered(adr_xml.units, LISTENER)
    assert found.metadata["oracle_error_code"] == ["TNS-00542"]
    assert found.metadata["service"] == "svc"
    assert found.section == ("2031-04-05 06h",)


@pytest.mark.parametrize("text", ["", "\n", "<msg ", ALERT[:300], ALERT[300:], f"x\n{LISTENER}"])
def test_cut_files_are_covered(text: str) -> None:
    covered(adr_xml.units, text)


@given(
    st.lists(st.sampled_from([*ALERT.split("\n"), *LISTENER.split("\n"), "", "x\r", "</txt>", "<txt>"]), max_size=40)
)
def test_any_text_is_covered(lines: list[str]) -> None:
    covered(adr_xml.units, "\n".join(lines))
