"""Listener logs. Fixtures written here after the documented format: no real sample was at hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import listener
from tests.unit.diagnostics import covered

LOG = """TNSLSNR for Linux: Version 19.0.0.0.0 - Production on 05-APR-2031 06:00:00

Listening on: (DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=192.0.2.10)(PORT=1521)))
TIMESTAMP * CONNECT DATA [* PROTOCOL INFO] * EVENT [* SID] * RETURN CODE
05-APR-2031 06:07:08 * (CONNECT_DATA=(SERVICE_NAME=synsvc)(CID=(PROGRAM=a*b)(USER=appx))) * (PORT=1)) * establish * synsvc * 0
05-APR-2031 06:07:09 * service_update * SYN1 * 0
05-APR-2031 06:07:10 * service_update * SYN1 * 0
2031-04-05T06:07:11.001+02:00
05-ABR-2031 06:07:11 * (CONNECT_DATA=(SID=SYN1)(CID=(PROGRAM=)(USER=appz))) * (ADDRESS=(PORT=50003)) * establish * SYN1 * 12518
TNS-12518: TNS:listener could not hand off client connection
 TNS-12547: TNS:lost contact
  TNS-12560: TNS:protocol adapter error
   TNS-00517: Lost contact
    Linux Error: 32: Broken pipe
05-APR-2031 07:07:12:345 * <unknown connect data> * 12508
05-XYZ-2031 07:07:12 * ping * 0
"""


def test_a_line_has_its_errors_and_the_code_that_it_returned() -> None:
    assert listener.recognises(LOG.split("\n")[4:])
    assert listener.recognises(LOG.split("\n")[:1])
    *_, first, update, failed, unknown, ping = covered(listener.units, LOG)
    assert first.metadata == {"timestamp": "2031-04-05T06:07:08", "service": "synsvc"}
    assert update.metadata == {"timestamp": "2031-04-05T06:07:09", "instance": "SYN1", "occurrences": 2}
    assert failed.text.startswith("2031-04-05T06:07:11.001+02:00\n05-ABR")
    assert failed.text.endswith("Broken pipe\n")
    assert failed.metadata["oracle_error_code"] == ["TNS-12518"]
    assert failed.section == ("2031-04-05 06h",)
    assert unknown.metadata == {"timestamp": "2031-04-05T07:07:12.345", "oracle_error_code": ["TNS-12508"]}
    assert "timestamp" not in ping.metadata  # of a month in no language that is known


@given(st.lists(st.sampled_from([*LOG.split("\n"), "", "x", "\r", " TNS-1", "漢\u2028"]), max_size=40))
def test_any_text_is_covered(lines: list[str]) -> None:
    covered(listener.units, "\n".join(lines))
