"""Output of RMAN. Fixtures written here after the documented format: no real sample was at hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk import Limits, chunks
from oraclerag.chunk.diagnostics import rman
from oraclerag.cutting import Cutting
from tests.unit.diagnostics import covered, words

OUTPUT = f"""Recovery Manager: Release 19.0.0.0.0 - Production on Sat Apr 5 06:07:08 2031
Version 19.99.0.0.0

connected to target database: SYN1 (DBID=1122334455)

RMAN> connect catalog rcat/secret@cat

connected to recovery catalog database

RMAN> run {{
2> restore datafile 7;
3> }}
Starting restore at 05-APR-31
allocated channel: ORA_DISK_1
RMAN-00571: {"=" * 59}
RMAN-00569: {"=" * 15} ERROR MESSAGE STACK FOLLOWS {"=" * 15}
RMAN-00571: {"=" * 59}
RMAN-03002: failure of restore command at 04/05/2031 06:07:12
ORA-19870: error while restoring backup piece /u03/backup/syn_1.bkp
ORA-19505: failed to identify file "
/u03/backup/syn_1.bkp"
ORA-27037: unable to obtain file status
Linux-x86_64 Error: 2: No such file or directory
Additional information: 7

RMAN> list backup;

List of Backup Sets
===================

BS Key  Type LV Size       Device Type Elapsed Time Completion Time
------- ---- -- ---------- ----------- ------------ ---------------
1       Full    1.00G      DISK        00:00:10     05-APR-31
        BP Key: 1   Status: AVAILABLE
  List of Datafiles in backup set 1
2       Full    1.00G      DISK        00:00:10     06-APR-31
RMAN-06207: WARNING: 2 objects could not be deleted for DISK channel(s) due
RMAN-06208:          to mismatched status.

Recovery Manager complete.
"""


def test_a_stack_is_whole_in_the_operation_of_its_command() -> None:
    assert rman.recognises(OUTPUT.split("\n"))
    found = covered(rman.units, OUTPUT)
    stack = next(unit for unit in found if "RMAN-00571" in unit.text)
    assert stack.section == ("run { restore datafile 7; }", "restore")
    assert stack.text.startswith("RMAN-00571")
    assert stack.text.rstrip().endswith("Additional information: 7")
    assert stack.metadata == {"database": "SYN1", "timestamp": "2031-04-05T06:07:12", "oracle_error_cause": "ORA-27037"}
    (chunk,) = (made for made in chunks(OUTPUT, Limits(500, words), Cutting("diagnostics")) if "ORA-27037" in made.text)
    assert chunk.metadata["oracle_error_primary"] == "RMAN-03002"
    assert chunk.metadata["oracle_error_cause"] == "ORA-27037"


def test_rows_of_a_table_have_its_columns_and_what_is_indented_beneath() -> None:
    first, second = (unit for unit in covered(rman.units, OUTPUT) if unit.head)
    assert first.head == "BS Key Type LV Size Device Type Elapsed Time Completion Time"
    assert first.text.count("\n") == 3
    assert second.text.startswith("2 ")


def test_a_warning_in_two_codes_is_one_unit() -> None:
    assert any(unit.text.count("RMAN-0620") == 2 for unit in covered(rman.units, OUTPUT))


def test_a_password_is_in_no_path() -> None:
    assert not any("secret" in part for unit in covered(rman.units, OUTPUT) for part in unit.section)


@given(st.lists(st.sampled_from([*OUTPUT.split("\n"), "x", "\r", '"', "[", "12> ", "漢\u2028"]), max_size=60))
def test_any_text_is_covered(lines: list[str]) -> None:
    covered(rman.units, "\n".join(lines))
