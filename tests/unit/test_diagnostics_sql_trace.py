"""Raw SQL trace: whose line it is, what may not be parted, what is text and looks like records. Values are invented."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics import trace_file
from oraclerag.chunk.diagnostics.lines import Line, split
from oraclerag.chunk.diagnostics.traces import sql_trace
from tests import reports
from tests.unit.trace_units import HEADER, MARKS, of_line, sample, sections, units

INSERT = "SQL trace", "sqlid=0a1b2c3d4e5f6 INSERT T_SYN"
SELECT = "SQL trace", "sqlid=9z8y7x6w5v4u3 SELECT T_OTHER"
SEPARATOR = "=====================\n"


def parsing(
    cursor: int, sql: str, sqlid: str = "0a1b2c3d4e5f6", *, length: int | None = None, mark: bool = True
) -> str:
    size = len(sql.encode()) if length is None else length
    head = f"PARSING IN CURSOR #{cursor} len={size} dep=0 uid=91 oct=2 lid=91 tim=5 hv=12 ad='7f00' sqlid='{sqlid}'"
    return f"{SEPARATOR}{head}\n{sql}\n" + ("END OF STMT\n" if mark else "")


def call(kind: str, cursor: int, plan: int = 0) -> str:
    return f"{kind} #{cursor}:c=200,e=1500,p=1,cr=2,cu=4,mis=0,r=0,dep=0,og=1,plh={plan},tim=5001600\n"


def wait(cursor: int, event: str = "db file sequential read", mark: int = 1) -> str:
    return f"WAIT #{cursor}: nam='{event}' ela= 812 file#=7 block#={mark} blocks=1 obj#=70001 tim=5001000\n"


BINDS = """BINDS #14:

 Bind#0
  oacdty=01 mxl=32(20) mxlc=00 mal=00 scl=00 pre=00
  oacflg=00 fl2=1000000 frm=01 csi=873 siz=32 off=0
  kxsbbbfp=7f00bb20  bln=32  avl=17  flg=05
"""


def test_a_wait_its_binds_and_the_call_that_closes_them_are_one_unit_of_their_statement() -> None:
    text = HEADER + MARKS + parsing(14, "insert into t_syn (id) values (:b1)") + call("PARSE", 14)
    text += BINDS + '  value="x"\n' + wait(14) + call("EXEC", 14, 77) + "ERROR #14:err=1 tim=5001601\n"
    found = units(text)
    unit = of_line(found, "WAIT #14")
    assert unit.text.startswith("BINDS #14")
    assert "EXEC #14" in unit.text
    assert "ERROR #14" in unit.text
    assert unit.section == INSERT
    assert unit.metadata["sql_id"] == "0a1b2c3d4e5f6"
    assert unit.metadata["wait_event"] == "db file sequential read"
    assert unit.metadata["plan_hash"] == "77"
    assert unit.metadata["oracle_error_code"] == ["ORA-00001"]
    assert unit.metadata["instance"] == "SYN1"
    assert unit.metadata["container"] == "PDBX"
    assert unit.metadata["db_module"] == "invoice load"
    assert unit.metadata["timestamp"] == "2031-04-05T06:07:08.000150+02:00"


def test_lines_belong_to_the_latest_statement_of_the_number_they_name() -> None:
    text = wait(14, mark=1) + parsing(14, "insert into t_syn values (1)") + call("EXEC", 14)
    text += "CLOSE #14:c=3,e=3,dep=0,type=3,tim=5001700\n" + wait(22, mark=2)
    text += BINDS + "  value=2\n" + call("EXEC", 14) + wait(14, mark=3)
    text += parsing(14, "select 1 from t_other", "9z8y7x6w5v4u3") + wait(14, mark=4) + call("FETCH", 14)
    found = units(text)
    assert sections(found) == [
        ("SQL trace", "unknown cursor #14"),
        INSERT,
        ("SQL trace", "unknown cursor #22"),
        INSERT,
        SELECT,
    ]
    assert of_line(found, "block#=1 ").metadata.get("sql_id") is None
    assert of_line(found, "block#=3 ").metadata["sql_id"] == "0a1b2c3d4e5f6"
    assert of_line(found, "block#=4 ").metadata["sql_id"] == "9z8y7x6w5v4u3"


def test_depth_does_not_part_numbers_and_recursive_statements_stay_in_the_order_of_the_file() -> None:
    text = parsing(1, "insert into t_syn values (1)") + parsing(2, "select 1 from t_other", "9z8y7x6w5v4u3")
    text += call("FETCH", 2) + call("EXEC", 1)
    assert sections(units(text)) == [INSERT, SELECT, INSERT]


def test_cursor_zero_is_the_session() -> None:
    found = units(parsing(14, "insert into t_syn values (1)") + wait(0, "log file sync"))
    assert found[-1].section == ("SQL trace", "session")
    assert "sql_id" not in found[-1].metadata


def test_records_without_a_number_belong_to_the_last_call() -> None:
    text = parsing(14, "insert into t_syn values (1)") + call("EXEC", 14) + "XCTEND rlbk=0, rd_only=0, tim=5002100\n"
    text += "LOBREAD: type=PERSISTENT LOB,bytes=10,c=5,e=6,p=0,cr=1,cu=0,tim=7\n"
    unit = of_line(units(text), "XCTEND")
    assert unit.section == INSERT
    assert unit.text.startswith("EXEC #14")
    assert unit.text.endswith("tim=7\n")


def test_the_lines_of_a_plan_stay_together_and_a_falling_number_begins_another() -> None:
    def plan(row: int, name: str) -> str:
        return f"STAT #14 id={row} cnt=1 pid={row - 1} pos=1 obj=0 op='{name} (cr=2 pr=0 pw=0 str=1 time=1 us)'\n"

    first, second = plan(1, "SORT") + plan(2, "TABLE T") + plan(3, "INDEX I"), plan(1, "OTHER")
    found = units(parsing(14, "insert into t_syn values (1)") + call("EXEC", 14) + first + second)
    assert [unit.text for unit in found[-2:]] == [first, second]
    assert {unit.section for unit in found} == {INSERT}


def test_a_malformed_plan_line_stays_with_the_line_before_it() -> None:
    good = "STAT #14 id=1 cnt=1 pid=0 pos=1 obj=0 op='FOR UPDATE  (cr=4 pr=0 pw=0 str=1 time=399 us)'\n"
    bad = "STAT #1 (cr=0 pr=0 pw=0 str=1 time=29 us)'\n"
    found = units(call("EXEC", 14) + good + bad + "XCTEND rlbk=0, rd_only=0, tim=6\n")
    assert of_line(found, bad).section == ("SQL trace", "unknown cursor #14")
    assert of_line(found, bad).text.startswith(good)


LOOKS_LIKE_RECORDS = f"""select 'ORA-00942' x from t_other /*
END OF STMT
WAIT #3: nam='x' ela= 1
{SEPARATOR}PARSING IN CURSOR #9 len=1 dep=0
*** 2031-01-01T00:00:00.000000+00:00
Deadlock graph:
*/
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("sql", [LOOKS_LIKE_RECORDS, LOOKS_LIKE_RECORDS + "-- Größe\n", "begin\n null;\nend;\n"])
def test_the_text_of_a_statement_is_taken_by_its_length(sql: str, end: str) -> None:
    text = parsing(14, sql, "9z8y7x6w5v4u3") + call("EXEC", 14)
    found = units(text.replace("\n", end))
    assert len(found) == 2
    statement, execution = found
    assert statement.text.count("END OF STMT") == text.count("END OF STMT")
    assert not statement.codes
    assert execution.text.startswith("EXEC #14")
    assert execution.section == statement.section


@pytest.mark.parametrize("length", [1, 10, 100, 400, 5000, 900_000])
def test_a_length_of_another_character_set_gives_way_to_the_mark(length: int) -> None:
    text = parsing(14, "insert into t_syn\nvalues (1)", length=length) + wait(14) + call("EXEC", 14)
    text += parsing(14, "select 1 from t_other", "9z8y7x6w5v4u3", length=length) + call("FETCH", 14)
    found = units(text)
    assert sections(found) == [INSERT, SELECT]
    assert of_line(found, "WAIT #14").metadata["wait_event"] == "db file sequential read"


def test_bytes_that_were_no_characters_count_one_each() -> None:
    sql = "select 1 from t_other /* \ufffd\ufffd\nEND OF STMT\n*/"
    text = parsing(14, sql, "9z8y7x6w5v4u3", length=len(sql)) + call("EXEC", 14)
    assert len(units(text)) == 2


def test_a_statement_without_its_end_mark_ends_at_the_next_one() -> None:
    text = parsing(14, "insert into t_syn values (1)", mark=False) + parsing(
        15, "select 1 from t_other", "9z8y7x6w5v4u3"
    )
    found = units(text + call("EXEC", 15))
    assert sections(found) == [INSERT, SELECT]


@pytest.mark.parametrize("length", [10, 1000])
def test_a_statement_that_the_file_cuts_is_kept_as_it_is(length: int) -> None:
    found = units(HEADER + parsing(14, "insert into t_syn\nvalues (1)", length=length, mark=False)[:-5])
    assert found[-1].section == ("SQL trace", "sqlid=0a1b2c3d4e5f6 INSERT T_SYN")
    assert found[-1].text.endswith("val" + "ues")


def test_what_is_cut_in_the_middle_of_a_number_names_no_cursor() -> None:
    text = parsing(14, "insert into t_syn values (1)") + call("EXEC", 14) + "EXEC #1"
    found = units(text)
    assert found[-1].section == INSERT
    assert found[-1].text.endswith("EXEC #1")


def test_bind_values_may_look_like_records_and_name_codes() -> None:
    value = "  value=\"ORA-02291: no\nWAIT #14: nam='x' ela= 1\nEXEC #9:c=0,e=0\nend of value\"\n"
    text = parsing(14, "insert into t_syn values (:b1)") + BINDS.replace("avl=17", "avl=64") + value + call("EXEC", 14)
    found = units(text)
    unit = of_line(found, "ORA-02291")
    assert unit.text == BINDS.replace("avl=17", "avl=64") + value + call("EXEC", 14)
    assert not unit.codes


def test_a_value_without_its_closing_quote_does_not_swallow_the_file() -> None:
    text = parsing(14, "insert into t_syn values (:b1)") + BINDS + '  value="never closed\n'
    text += "".join(wait(14, mark=number) for number in range(20)) + wait(22, mark=99)
    assert of_line(units(text), "block#=99 ").section == ("SQL trace", "unknown cursor #22")


def test_a_mark_between_a_bind_and_its_value_parts_nothing() -> None:
    text = parsing(14, "insert into t_syn values (:b1)") + BINDS + "*** 2031-04-05T06:07:09.000000+02:00 (PDBX(3))\n"
    text += '  value="x"\n' + call("EXEC", 14)
    unit = of_line(units(text), "BINDS #14")
    assert unit.text.endswith(call("EXEC", 14))


def test_two_records_in_one_line_are_two() -> None:
    text = parsing(14, "insert into t_syn values (1)") + call("FETCH", 14).rstrip("\n") + wait(22) + call("EXEC", 14)
    found = units(text)
    assert sections(found) == [INSERT, ("SQL trace", "unknown cursor #22"), INSERT]
    assert of_line(found, "WAIT #22").text == wait(22)


def test_a_statement_that_was_refused_has_its_text_and_its_code() -> None:
    text = (
        "PARSE ERROR #22:len=46 dep=0 uid=91 oct=3 lid=91 tim=5004000 err=942\nselect 'ORA-00001'\n\n  from t_absent\n"
    )
    found = units(parsing(14, "insert into t_syn values (1)") + text + wait(14))
    unit = of_line(found, "t_absent")
    assert unit.text == text
    assert unit.metadata["oracle_error_code"] == ["ORA-00942"]
    assert not unit.codes
    assert unit.section == ("SQL trace", "unknown cursor #22")


@pytest.mark.parametrize(
    ("record", "codes"),
    [
        ("ERROR #14:err=1 tim=7\n", ["ORA-00001"]),
        ("ERROR #14:err=27403 tim=7\n", ["ORA-27403"]),
        ("ERROR #14:err=0 tim=7\n", None),
    ],
)
def test_the_code_of_a_failed_call_is_a_bare_number(record: str, codes: list[str] | None) -> None:
    unit = of_line(units(parsing(14, "insert into t_syn values (1)") + call("EXEC", 14) + record), "ERROR")
    assert unit.metadata.get("oracle_error_code") == codes


def test_a_message_of_somebody_else_is_no_part_of_a_statement_and_may_be_nobodys_error() -> None:
    harmless = "An audit record could not be written due to an ORA-28035 error condition or a recursive ORA-0 error.\n"
    text = call("EXEC", 14) + f"\n{harmless}\n" + wait(14) + "ORA-00604: error occurred at recursive SQL level 1\n"
    found = units(text)
    assert of_line(found, harmless).section == ("SQL trace", "messages")
    assert not of_line(found, harmless).codes
    assert of_line(found, "ORA-00604").codes
    assert of_line(found, "WAIT #14").section == ("SQL trace", "unknown cursor #14")


def test_releases_before_11g_name_a_hash_and_the_module_in_a_record() -> None:
    text = "APPNAME mod='GLPPOS' mh=1 act='post' ah=2\n" + SEPARATOR
    text += "PARSING IN CURSOR #1 len=28 dep=0 uid=91 oct=3 lid=91 tim=1 hv=42 ad='1a'\nselect * from t_syn where x=1\n"
    text = (
        text.replace("len=28", "len=29")
        + "END OF STMT\n"
        + "EXEC #1:c=0,e=1,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=4,tim=2\n"
    )
    found = units(text)
    assert found[-1].section == ("SQL trace", "hv=42 SELECT T_SYN")
    assert found[-1].metadata["sql_hash"] == "42"
    assert found[-1].metadata["db_module"] == "GLPPOS"


def test_long_binds_and_many_waits_make_more_than_one_unit() -> None:
    bind = "".join(BINDS.split("\n\n", 1)[1])
    text = parsing(14, "insert into t_syn values (:b1)") + "BINDS #14:\n\n" + bind * 60 + call("EXEC", 14)
    text += "".join(wait(14, mark=number) for number in range(500)) + call("FETCH", 14)
    found = units(text)
    assert {unit.section for unit in found} == {INSERT}
    assert max(len(unit.text) for unit in found) < 2000


def test_a_statement_longer_than_may_be_held_is_cut_at_line_ends() -> None:
    sql = "begin\n" + "  null; -- WAIT #3: nam='x'\n" * 40_000 + "end;"
    found = units(parsing(14, sql) + call("EXEC", 14))
    assert max(len(unit.text) for unit in found) <= 40_000
    assert all(unit.text.endswith("\n") for unit in found)
    assert {unit.section for unit in found} == {
        ("SQL trace", "sqlid=0a1b2c3d4e5f6 begin null; null; null; null; null;")
    }
    assert not any(unit.codes for unit in found[:-1])


def test_it_is_recognised_without_a_header_by_two_kinds_of_records() -> None:
    assert trace_file.recognises([wait(1).strip(), call("EXEC", 1).strip()])
    assert sql_trace.recognises(["select 1", wait(1).strip(), call("EXEC", 1).strip()])
    assert not sql_trace.recognises([wait(1).strip(), wait(2).strip()])
    assert not sql_trace.recognises(["EXEC some_procedure", "FETCH NEXT", "ERROR #1: bad"])


def test_units_grow_with_the_trace_and_what_is_held_does_not() -> None:
    counts, largest = [], []
    for records in (600, 6000):
        sizes = [len(unit.text) for unit in trace_file.units(split(reports.sql_trace(records)))]
        counts.append(len(sizes))
        largest.append(max(sizes))
    assert counts[1] == pytest.approx(10 * counts[0], rel=0.05)
    assert largest[1] <= largest[0] + 10


@pytest.mark.parametrize("mark", [True, False])
def test_wrong_lengths_do_not_make_it_read_again_and_again(monkeypatch: pytest.MonkeyPatch, mark: bool) -> None:
    taken = 0
    take = sql_trace.SqlTrace.take

    def counted(self: sql_trace.SqlTrace, gap: Sequence[Line], line: Line) -> None:
        nonlocal taken
        taken += 1
        take(self, gap, line)

    monkeypatch.setattr(sql_trace.SqlTrace, "take", counted)
    text = parsing(14, "insert into t_syn\nvalues (1)", length=900_000, mark=mark) * 5_000
    found = list(trace_file.units(split(text)))
    assert taken < 8 * text.count("\n")
    assert len(found) >= 5_000


def test_units_come_while_the_trace_is_read() -> None:
    read = 0

    def parts() -> object:
        nonlocal read
        for part in reports.sql_trace(10_000):
            read += 1
            yield part

    stream = trace_file.units(split(parts()))  # type: ignore[arg-type]
    for _ in range(10):
        next(stream)
    assert read < 50


PIECES = st.sampled_from(
    [
        parsing(14, "insert into t_syn values (1)"),
        parsing(14, LOOKS_LIKE_RECORDS),
        parsing(22, "select 1", length=300),
        parsing(22, "select 1\nfrom dual", mark=False),
        parsing(1, "x" * 300, length=2),
        call("EXEC", 14),
        call("FETCH", 22),
        wait(14),
        wait(0),
        BINDS,
        '  value="a\n',
        '  value="b"\n',
        "STAT #14 id=1 cnt=1 pid=0 pos=1 obj=0 op='X (cr=0)'\n",
        "XCTEND rlbk=0, rd_only=0, tim=1\n",
        "PARSE ERROR #22:len=4 dep=0 uid=9 oct=3 lid=9 tim=1 err=942\n",
        "END OF STMT\n",
        "\n",
        MARKS,
        SEPARATOR,
        "ORA-00600: internal error code, arguments: [x\n",
        "\x00\x00",
        "\ufffd",
        "\r\n",
        "\u2028\x0c\x85",
        HEADER,
    ]
)


@given(st.lists(PIECES, max_size=25), st.integers(0, 200))
def test_whatever_is_in_it_the_units_cover_it(pieces: list[str], cut: int) -> None:
    text = "".join(pieces)
    units(text[: len(text) - cut])


@pytest.mark.parametrize(
    ("name", "parsed", "exact"),
    [
        ("12.2_rac_js122a1_ora_9850.trc", 31, True),
        ("12.2_rac_js122a1_ora_9854.trc", 9, True),
        ("19c_SESS3_binds.trc", 4, True),
        ("trctools/two_statements_one_cursor.trc", 3, False),  # their text was taken out
        ("trctools/broken_trace.trc", 2, False),
    ],
)
def test_samples(name: str, parsed: int, exact: bool) -> None:
    text = sample(name)
    found = units(text)
    statements = [unit for unit in found if "PARSING IN CURSOR #" in unit.text]
    assert len(statements) == text.count("\nPARSING IN CURSOR #") == parsed
    for unit in statements:
        assert unit.section[1].startswith(("sqlid=", "hv="))
        assert not unit.codes
        record = re.search(r"PARSING IN CURSOR #\d+ len=(\d+).*\n((?s:.*))\nEND OF STMT\n", unit.text)
        assert record is not None
        assert not exact or len(record[2].encode()) == int(record[1])
    for unit in found:
        assert bool(unit.metadata.get("wait_event")) == ("\nWAIT #" in f"\n{unit.text}")
        plans = re.findall(r"(?m)^STAT #(\d+) id=(\d+)", unit.text)
        assert len({cursor for cursor, _ in plans}) <= 1
        assert [int(row) for _, row in plans] == sorted({int(row) for _, row in plans})


def test_the_samples_that_are_hard() -> None:
    refused = of_line(units(sample("19c_SESS3_binds.trc")), "PARSE ERROR")
    assert refused.metadata["oracle_error_code"] == ["ORA-00942"]
    failed = units(sample("trctools/error.trc"))
    assert [unit.metadata["oracle_error_code"] for unit in failed if "ERROR #" in unit.text] == [["ORA-27403"]] * 2
    assert sections(units(sample("trctools/stray_close.trc")))[-1] == ("SQL trace", "unknown cursor #140641987987624")
    audit = of_line(units(sample("trctools/parse_error.trc")), "ORA-28035")
    assert not audit.codes
