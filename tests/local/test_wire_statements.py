"""Statements with the real driver against a canned engine: queries, DML, PL/SQL, errors."""

from __future__ import annotations

import datetime as dt
import decimal
from array import array
from collections.abc import Iterator
from typing import Any

import oracledb
import pytest

from oraclerag.local.wire.cursors import CursorTable
from tests.local.wire_backend import (
    ALL_TYPES,
    BIG_MOMENT,
    DOCUMENT,
    MOMENT,
    STRING_SETTINGS,
    VECTOR,
    Served,
    collect_dropped_sockets,
)


@pytest.fixture(scope="module", params=STRING_SETTINGS)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with Served(STRING_SETTINGS[request.param]) as served:
        yield served


dropped_sockets = pytest.fixture(collect_dropped_sockets)


@pytest.fixture
def connection(served: Served) -> Iterator[oracledb.Connection]:
    served.engine.inserted.clear()
    with served.connect() as connection:
        yield connection


@pytest.fixture
def cursor(connection: oracledb.Connection) -> Iterator[oracledb.Cursor]:
    with connection.cursor() as cursor:
        yield cursor


# queries


def test_every_scalar_type_arrives_and_so_does_null(cursor: oracledb.Cursor) -> None:
    cursor.execute("select all_types from t")
    full, empty = cursor.fetchall()
    wanted = [value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value for _, value in ALL_TYPES]
    assert list(full) == [float(value) if isinstance(value, decimal.Decimal) else value for value in wanted]
    assert set(empty) == {None}
    assert [column.type.name for column, _ in ALL_TYPES] == [
        info.type_code.name.removeprefix("DB_TYPE_") for info in cursor.description or ()
    ]


@pytest.mark.parametrize(("array_size", "prefetch"), [(100, 2), (1, 1), (7, 0), (1000, 1001), (50, 3)])
def test_rows_come_in_portions(cursor: oracledb.Cursor, array_size: int, prefetch: int) -> None:
    cursor.arraysize, cursor.prefetchrows = array_size, prefetch
    cursor.execute("select big 1003 from t")
    rows = cursor.fetchall()
    assert [row[0] for row in rows] == list(range(1003))
    assert rows[5] == (5, "name 5", BIG_MOMENT, 5)
    assert cursor.rowcount == 1003
    cursor.execute("select big 1003 from t")
    assert cursor.fetchone()[0] == 0
    assert len(cursor.fetchmany(10)) == 10


def test_a_result_is_given_up_at_its_end_and_when_it_is_replaced(served: Served, cursor: oracledb.Cursor) -> None:
    cursor.execute("select big 3 from t")
    cursor.fetchall()
    assert served.engine.rows[-1].closed
    cursor.execute("select big 1000 from t")
    unfinished = served.engine.rows[-1]
    assert not unfinished.closed
    cursor.execute("select big 1000 from t")
    assert unfinished.closed


def test_a_cursor_the_driver_drops_is_closed(served: Served) -> None:
    with served.connect(stmtcachesize=1) as connection:
        with connection.cursor() as cursor:
            cursor.execute("select big 1000 from t")
            unfinished = served.engine.rows[-1]
        with connection.cursor() as cursor:
            cursor.execute("select 1 from dual")
        with connection.cursor() as cursor:
            cursor.execute("select none from t")
        connection.ping()
        assert unfinished.closed


def test_no_rows_and_columns_without_length(cursor: oracledb.Cursor) -> None:
    cursor.execute("select none from t")
    assert cursor.fetchall() == []
    cursor.execute("select nothing from t")
    assert cursor.fetchall() == [(None, 1), (None, 2)]


def test_numbers_fetched_as_text(cursor: oracledb.Cursor) -> None:
    cursor.outputtypehandler = lambda cur, info: cur.var(oracledb.DB_TYPE_VARCHAR, arraysize=cur.arraysize)
    cursor.execute("select 1.1 from dual")
    assert cursor.fetchone() == ("1.1",)


def test_a_query_is_described_without_running_it(cursor: oracledb.Cursor) -> None:
    cursor.parse("select big 10 from t")
    assert [column[0] for column in cursor.description or ()] == ["ID", "NAME", "D", "AMT"]
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-03001: "):
        cursor.parse("insert into t values (:1)")


def test_vectors(cursor: oracledb.Cursor) -> None:
    for _ in range(2):  # first with the define step, then without
        cursor.execute("select vectors from t")
        rows = cursor.fetchall()
        assert rows[0][1] == VECTOR
        assert rows[1][1] is None
        assert len(rows[2][1]) == 1536
        info = (cursor.description or [])[1]
        assert info.vector_format is oracledb.VECTOR_FORMAT_FLOAT32
        assert info.vector_dimensions is None


def test_json(cursor: oracledb.Cursor) -> None:
    for _ in range(2):
        cursor.execute("select json from t")
        assert [row[0] for row in cursor] == [DOCUMENT, None, [1, 2, 3], "scalar"]


# binds


NUMBERS: list[int | decimal.Decimal] = [
    *(0, 1, -1, 99, 100, 101, -99, -100, 1234500, 12345678901234567890, -(10**37), 10**38 - 1),
    *(decimal.Decimal(text) for text in ("0.1", "-0.00123", "123456.789", "1e-120", "1e100", "-123456789.0123456789")),
]


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_numbers_go_there_and_back(cursor: oracledb.Cursor, number: int | decimal.Decimal) -> None:
    cursor.outputtypehandler = lambda cur, info: cur.var(decimal.Decimal, arraysize=cur.arraysize)
    cursor.execute("select echo :1", [number])
    assert cursor.fetchone() == (number,)


@pytest.mark.parametrize(
    ("value", "declared"),
    [
        ("x", None),
        ("é☃😀" * 100, None),
        ("y" * 32767, None),
        ("nchar ☃", oracledb.DB_TYPE_NVARCHAR),
        (b"raw" * 10, None),
        (True, None),
        (False, None),
        (2.5, oracledb.DB_TYPE_BINARY_DOUBLE),
        (-2.5, oracledb.DB_TYPE_BINARY_FLOAT),
        (MOMENT.replace(microsecond=0), None),
        (MOMENT, oracledb.DB_TYPE_TIMESTAMP),
        (MOMENT, oracledb.DB_TYPE_TIMESTAMP_TZ),
        (MOMENT, oracledb.DB_TYPE_TIMESTAMP_LTZ),
        (dt.timedelta(days=1, seconds=3), None),
        (dt.timedelta(days=-1, microseconds=-7), None),
        (array("f", [1, 2.5, -3]), None),
        (array("d", [1, -2]), None),
        (array("b", [1, -2, 3]), None),
        (array("B", [1, 255]), None),
        ({"k": [1, "a", None]}, oracledb.DB_TYPE_JSON),
    ],
    ids=repr,
)
def test_values_go_there_and_back(cursor: oracledb.Cursor, value: Any, declared: Any) -> None:
    if declared is not None:
        cursor.setinputsizes(declared)
    cursor.execute("select echo :1", [value])
    assert cursor.fetchone() == (value,)


def test_every_type_takes_null(cursor: oracledb.Cursor) -> None:
    for kind in (
        oracledb.DB_TYPE_VARCHAR,
        oracledb.DB_TYPE_NUMBER,
        oracledb.DB_TYPE_DATE,
        oracledb.DB_TYPE_BOOLEAN,
        oracledb.DB_TYPE_RAW,
        oracledb.DB_TYPE_VECTOR,
        oracledb.DB_TYPE_JSON,
        oracledb.DB_TYPE_CLOB,
        oracledb.DB_TYPE_TIMESTAMP_TZ,
    ):
        cursor.setinputsizes(kind)
        cursor.execute("select echo :1", [None])
        assert cursor.fetchone() == (None,)


def test_repeated_names_and_changing_types(cursor: oracledb.Cursor) -> None:
    cursor.execute("select echo :a, :b, :a", {"a": 1, "b": "two"})
    assert cursor.fetchone() == (1, "two", 1)
    for value in (5, "now text", 6, b"bytes", None):
        cursor.execute("select echo :x", [value])
        assert cursor.fetchone() == (value,)


def test_long_values_move_behind_the_others(served: Served, cursor: oracledb.Cursor) -> None:
    text, data = "ü☃" * 40000, b"x" * 100000
    cursor.execute("insert into t values (:1, :2, :3)", [text, 1, data])
    cursor.setinputsizes(None, oracledb.DB_TYPE_VECTOR, None, oracledb.DB_TYPE_JSON)
    cursor.execute("insert into t values (:1, :2, :3, :4)", [text, array("f", [1.0] * 20000), 7, {"a": "b" * 50000}])
    assert served.engine.inserted[0] == (text, 1, data)
    assert served.engine.inserted[1] == (text, array("f", [1.0] * 20000), 7, {"a": "b" * 50000})


@pytest.mark.parametrize("length", [1000, 1001, 8000, 8192])  # four bytes per character are declared
def test_strings_around_the_longest_find_their_place(served: Served, cursor: oracledb.Cursor, length: int) -> None:
    for _ in range(2):
        cursor.execute("insert into t values (:1, :2)", ["x" * length, 1])
        assert served.engine.inserted.pop() == ("x" * length, 1)
    assert served.engine.types[0].size == 4 * length


def test_many_different_statements_reuse_cursor_numbers(cursor: oracledb.Cursor) -> None:
    for number in range(1500):
        cursor.execute(f"select echo :x /* {number} */", [number])
        assert cursor.fetchone() == (number,)


@pytest.fixture
def open_cursors(monkeypatch: pytest.MonkeyPatch) -> list[CursorTable]:
    """The cursor tables of the sessions that are opened from now on."""
    made: list[CursorTable] = []
    original = CursorTable.__init__

    def remember(self: CursorTable) -> None:
        original(self)
        made.append(self)

    monkeypatch.setattr(CursorTable, "__init__", remember)
    return made


def test_no_kind_of_statement_leaves_cursors_behind(served: Served, open_cursors: list[CursorTable]) -> None:
    with served.connect(stmtcachesize=5) as connection:
        for number in range(12):
            with connection.cursor() as cursor:
                cursor.execute(f"create table t{number} (a number)")
                cursor.execute(f"select echo :1 /* {number} */", [number])
                for failing in (
                    "select * from missing /* {} */",
                    "select sleep 60 from dual /* {} */",
                    "create bad {}",
                ):
                    # Long enough for the break to be answered on a busy machine: the driver drops the connection else.
                    connection.call_timeout = 250 if "sleep" in failing else 0
                    if "sleep" not in failing or number % 6 == 0:
                        with pytest.raises(oracledb.DatabaseError):
                            cursor.execute(failing.format(number))
                connection.call_timeout = 0
        connection.ping()
        assert len(open_cursors[0]) <= 7


def test_too_many_open_cursors(connection: oracledb.Connection) -> None:
    cursors = [connection.cursor() for _ in range(1001)]
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-01000: "):  # noqa: PT012
        for number, cursor in enumerate(cursors):
            cursor.execute(f"select big 1000 from t /* {number} */")
    connection.ping()


# DML


def _in_transaction(connection: oracledb.Connection) -> bool:
    return bool(connection.transaction_in_progress)


def test_counts_and_transactions(served: Served, connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    commits = served.engine.commits
    cursor.execute("update t set a = 1")
    assert cursor.rowcount == 3
    cursor.execute("delete from t")
    assert cursor.rowcount == 0
    assert _in_transaction(connection)
    connection.commit()
    assert not _in_transaction(connection)
    assert served.engine.commits == commits + 1
    cursor.execute("insert into t values (:a, :b)", {"a": 1, "b": "x"})
    assert cursor.rowcount == 1
    connection.rollback()
    assert not _in_transaction(connection)
    connection.autocommit = True
    for number in range(2):  # a full execute, then the short form
        cursor.execute("insert into t values (:a, :b)", {"a": number, "b": "x"})
        assert not _in_transaction(connection)
    assert served.engine.commits == commits + 3


def test_arrays_of_rows(served: Served, cursor: oracledb.Cursor) -> None:
    rows = [
        (number, f"n{number}", None if number % 3 else MOMENT.replace(microsecond=0), number / 4)
        for number in range(2000)
    ]
    for _ in range(2):
        served.engine.inserted.clear()
        cursor.executemany("insert into t values (:1, :2, :3, :4)", rows)
        assert cursor.rowcount == 2000
        assert served.engine.inserted == rows


def test_arrays_of_vectors(served: Served, cursor: oracledb.Cursor) -> None:
    rows = [(number, array("f", [number] * 384)) for number in range(50)]
    cursor.setinputsizes(None, oracledb.DB_TYPE_VECTOR)
    cursor.executemany("insert into t values (:1, :2)", rows)
    assert served.engine.inserted == rows


def test_arrays_without_binds_run_as_often_as_asked(served: Served, cursor: oracledb.Cursor) -> None:
    cursor.executemany("insert into t values (1)", 7)
    assert served.engine.inserted == [()] * 7


def test_batch_errors_and_row_counts(cursor: oracledb.Cursor) -> None:
    rows = [(number,) for number in range(8)]
    cursor.executemany("insert into picky values (:1)", rows, batcherrors=True, arraydmlrowcounts=True)
    errors = cursor.getbatcherrors()
    assert [(error.offset, error.code) for error in errors] == [(3, 1), (5, 1)]
    assert errors[0].message.startswith("ORA-00001: unique constraint (RAG.PICKY_PK) violated\n")
    assert cursor.rowcount == 6
    assert cursor.getarraydmlrowcounts() == [1, 1, 1, 0, 1, 0, 1, 1]
    cursor.executemany("update t set a = :1", rows[:4], arraydmlrowcounts=True)
    assert cursor.getarraydmlrowcounts() == [3, 3, 3, 3]


def test_batch_errors_keep_autocommit_from_committing(served: Served, connection: oracledb.Connection) -> None:
    connection.autocommit = True
    cursor = connection.cursor()
    commits = served.engine.commits
    cursor.executemany("insert into picky values (:1)", [(3,), (4,)], batcherrors=True)
    assert served.engine.commits == commits
    cursor.executemany("insert into picky values (:1)", [(4,)], batcherrors=True)
    assert served.engine.commits == commits + 1


def test_an_error_stops_an_array_and_tells_how_far_it_came(served: Served, cursor: oracledb.Cursor) -> None:
    with pytest.raises(oracledb.IntegrityError, match=r"^ORA-00001: "):
        cursor.executemany("insert into picky values (:1)", [(number,) for number in range(8)])
    assert cursor.rowcount == 3
    assert served.engine.inserted == [(0,), (1,), (2,)]


def test_returning(cursor: oracledb.Cursor) -> None:
    number, text = cursor.var(int), cursor.var(str)
    for _ in range(3):
        cursor.execute("insert into t (a) values (:a) returning id, name into :o, :s", a=1, o=number, s=text)
        assert number.getvalue() == [1000]
        assert text.getvalue() == ["row 0"]
    cursor.execute("update t set a = :a returning id, name into :o, :s", a=1, o=number, s=text)
    assert number.getvalue() == [1000, 1001, 1002]
    cursor.execute("delete from t returning id into :o", o=number)
    assert number.getvalue() == []


def test_returning_from_an_array(cursor: oracledb.Cursor) -> None:
    number = cursor.var(int, arraysize=3)
    cursor.setinputsizes(None, number)
    for _ in range(2):
        cursor.executemany("insert into t (a) values (:1) returning id into :2", [[value] for value in range(3)])
        assert number.values == [[1000]] * 3


def test_returning_a_clob(cursor: oracledb.Cursor) -> None:
    text = cursor.var(oracledb.DB_TYPE_CLOB)
    cursor.execute("update t set a = :a returning c into :o", a=1, o=text)
    assert [lob.read() for lob in text.getvalue()] == [f"clob {place} " * 100 for place in range(3)]


# PL/SQL


def test_out_and_in_out_binds(cursor: oracledb.Cursor) -> None:
    number, text = cursor.var(int), cursor.var(str)
    for value in (21, 22, 23):
        cursor.execute("begin :o := :a * 2; end;", o=number, a=value)
        assert number.getvalue() == 2 * value
    text.setvalue(0, "hey")
    for place in range(3):
        cursor.execute("begin :io := :io || '!'; end;", io=text)
        assert text.getvalue() == "hey" + "!" * (place + 1)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (oracledb.DB_TYPE_BOOLEAN, True),
        (oracledb.DB_TYPE_DATE, MOMENT.replace(microsecond=0)),
        (oracledb.DB_TYPE_TIMESTAMP, MOMENT),
        (oracledb.DB_TYPE_VECTOR, VECTOR),
        (oracledb.DB_TYPE_JSON, DOCUMENT),
        (oracledb.DB_TYPE_RAW, b"raw"),
        (oracledb.DB_TYPE_INTERVAL_DS, dt.timedelta(seconds=-1.5)),
        (oracledb.DB_TYPE_NVARCHAR, "out"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_out_binds_of_every_kind(cursor: oracledb.Cursor, kind: oracledb.DbType, wanted: Any) -> None:
    out = cursor.var(kind)
    cursor.execute("begin :x := f(); end;", x=out)
    assert out.getvalue() == wanted
    cursor.execute("begin :x := null; end;", x=out)
    assert out.getvalue() is None


def test_plsql_arrays(cursor: oracledb.Cursor) -> None:
    out = cursor.arrayvar(int, 10)
    cursor.execute("begin :x := f(); end;", x=out)
    assert out.getvalue() == [10, 20, 30]
    copy = cursor.arrayvar(str, 3)
    cursor.execute("begin :y := :x; end;", x=cursor.arrayvar(str, ["a", None, "c"]), y=copy)
    assert copy.getvalue() == ["a", None, "c"]


def test_blocks_over_many_rows(cursor: oracledb.Cursor) -> None:
    out = cursor.var(int, arraysize=4)
    cursor.setinputsizes(out, int)
    cursor.executemany("begin :1 := :2 * 2; end;", [[None, number] for number in range(4)])
    assert out.values == [0, 2, 4, 6]
    cursor.executemany("begin p(:a); end;", [[1], [2], [3]])
    cursor.execute("begin null; end;")


def test_a_ref_cursor_is_refused(cursor: oracledb.Cursor) -> None:
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-03001: .*REF CURSOR"):
        cursor.execute("begin open :c for select 1 from t; end;", c=cursor.var(oracledb.DB_TYPE_CURSOR))
    cursor.execute("select 1 from dual")


# errors


def test_errors_have_class_code_offset_and_the_session_lives_on(cursor: oracledb.Cursor) -> None:
    for _ in range(2):
        with pytest.raises(oracledb.DatabaseError) as caught:
            cursor.execute("select * from missing")
        (error,) = caught.value.args
        assert (error.code, error.full_code, error.offset) == (942, "ORA-00942", 14)
        assert error.message.startswith('ORA-00942: table or view "RAG"."MISSING" does not exist')
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-20001: boom\nORA-06512: at line 1"):
        cursor.execute("begin raise_application_error(-20001, 'boom'); end;")
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-00922: "):
        cursor.execute("create bad table")
    for _ in range(3):
        with pytest.raises(oracledb.IntegrityError):
            cursor.execute("insert into picky values (:1)", [3])
    cursor.execute("select 1 from dual")
    assert cursor.fetchall() == [(1,)]


def test_an_error_between_rows(cursor: oracledb.Cursor) -> None:
    for prefetch in (10, 1):
        cursor.prefetchrows = cursor.arraysize = prefetch
        with pytest.raises(oracledb.DatabaseError, match=r"^ORA-01476: "):  # noqa: PT012
            cursor.execute("select late fault from dual")
            cursor.fetchall()
        cursor.execute("select 1 from dual")
        assert cursor.fetchall() == [(1,)]


def test_a_fault_of_the_engine_is_ora_604_without_values(
    served: Served, connection: oracledb.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    cursor = connection.cursor()
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-00604: ") as caught:
        cursor.execute("select fault from dual where :1 = 1", ["hidden-value"])
    assert "ValueError" in str(caught.value)
    assert "hidden-value" not in str(caught.value)
    assert "hidden-value" not in caplog.text
    assert "wire_backend.py" in caplog.text
    cursor.execute("select 1 from dual")
    assert cursor.fetchall() == [(1,)]


def test_an_exception_of_the_client_leaves_the_session_in_step(connection: oracledb.Connection) -> None:
    def fail(_: Any) -> None:
        raise ValueError("not in the mood")

    cursor = connection.cursor()
    cursor.outputtypehandler = lambda cur, info: cur.var(info.type_code, arraysize=cur.arraysize, outconverter=fail)
    with pytest.raises(ValueError, match="not in the mood"):  # noqa: PT012
        cursor.execute("select 1 from dual")
        cursor.fetchall()
    cursor = connection.cursor()
    cursor.execute("select 1 from dual")
    assert cursor.fetchall() == [(1,)]


def test_the_current_schema(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    connection.current_schema = "other"
    cursor.execute("select schema from dual")
    assert cursor.fetchone() == ("OTHER",)
    connection.current_schema = "nobody"
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-01435: "):
        cursor.execute("select schema from dual")
    connection.current_schema = "third"  # the driver repeats its wish until it is granted
    cursor.execute("select schema from dual")
    assert cursor.fetchone() == ("THIRD",)


def test_an_error_at_closing_a_cursor_is_told_by_the_next_call(served: Served) -> None:
    with served.connect(stmtcachesize=0) as connection:
        with connection.cursor() as cursor:
            cursor.execute("select sticky from t")
        with pytest.raises(oracledb.DatabaseError, match=r"^ORA-01555: "):
            connection.ping()
        connection.ping()


def test_attributes_for_monitoring_are_accepted(connection: oracledb.Connection) -> None:
    connection.module, connection.action = "module", "action"
    connection.client_identifier, connection.clientinfo = "client", "info"
    connection.ping()


def test_scrollable_cursors_are_refused(connection: oracledb.Connection) -> None:
    cursor = connection.cursor(scrollable=True)
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-03001: .*scrollable"):
        cursor.execute("select big 10 from t")
    connection.ping()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.usefixtures("dropped_sockets")
def test_two_phase_commit_is_refused_and_ends_the_session(served: Served) -> None:
    connection = served.connect()
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-03115: "):
        connection.tpc_begin(connection.xid(1, "a", "b"))
    with pytest.raises(oracledb.DatabaseError):
        connection.ping()
