"""Large values with the real driver: locators, inline, temporary LOBs, their lifetime, their cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import oracledb
import pytest

from oraclerag.local.wire.lobs import LobTable
from tests.local.wire_backend import BLOB_DATA, CLOB_TEXT, DOCUMENT, SETTINGS, VECTOR, Served


@pytest.fixture(scope="module", params=SETTINGS)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with Served(SETTINGS[request.param]) as served:
        yield served


@pytest.fixture
def connection(served: Served) -> Iterator[oracledb.Connection]:
    served.engine.inserted.clear()
    with served.connect() as connection:
        yield connection


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> list[LobTable]:
    """The LOB tables of the sessions that are opened from now on."""
    made: list[LobTable] = []
    original = LobTable.__init__

    def remember(self: LobTable) -> None:
        original(self)
        made.append(self)

    monkeypatch.setattr(LobTable, "__init__", remember)
    return made


def test_locators(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    for _ in range(2):
        cursor.execute("select lobs from t")
        (_, text, data), (_, short, _), (_, none, nothing) = cursor.fetchall()
        assert text.size() == len(CLOB_TEXT.encode("utf-16-be")) // 2
        assert text.read() == CLOB_TEXT
        assert text.read(1, 5) == CLOB_TEXT[:5]
        assert text.getchunksize() == 8132
        assert data.read() == BLOB_DATA
        assert data.read(10, 5) == BLOB_DATA[9:14]
        assert data.read(len(BLOB_DATA) + 1) == b""
        assert short.read() == "short"
        assert none is nothing is None


def test_offsets_count_utf16_units(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("select echo :1", [connection.createlob(oracledb.DB_TYPE_CLOB, "a😀bc")])
    (lob,) = cursor.fetchone()
    assert lob.size() == 5
    assert lob.read(2, 2) == "😀"
    assert lob.read(4) == "bc"


def test_inline(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    for _ in range(2):
        cursor.execute("select lobs from t", fetch_lobs=False)
        assert cursor.fetchall() == [(1, CLOB_TEXT, BLOB_DATA), (2, "short", b"sh"), (3, None, None)]


def test_inline_by_a_type_handler(connection: oracledb.Connection) -> None:
    kinds = {oracledb.DB_TYPE_CLOB: oracledb.DB_TYPE_LONG, oracledb.DB_TYPE_BLOB: oracledb.DB_TYPE_LONG_RAW}

    def handler(cursor: oracledb.Cursor, info: Any) -> Any:
        kind = kinds.get(info.type_code)
        return cursor.var(kind, arraysize=cursor.arraysize) if kind else None

    cursor = connection.cursor()
    cursor.outputtypehandler = handler
    cursor.arraysize = 1
    cursor.execute("select lobs from t")
    assert cursor.fetchall() == [(1, CLOB_TEXT, BLOB_DATA), (2, "short", b"sh"), (3, None, None)]


@pytest.mark.parametrize("kind", [oracledb.DB_TYPE_LONG, oracledb.DB_TYPE_CLOB], ids=lambda kind: str(kind.name))
def test_vectors_as_text(connection: oracledb.Connection, kind: oracledb.DbType) -> None:
    def handler(cursor: oracledb.Cursor, info: Any) -> Any:
        is_vector = info.type_code is oracledb.DB_TYPE_VECTOR
        return cursor.var(kind, arraysize=cursor.arraysize) if is_vector else None

    cursor = connection.cursor()
    cursor.outputtypehandler = handler
    cursor.execute("select vectors from t")
    _, text = cursor.fetchone()
    assert json.loads(text if isinstance(text, str) else text.read()) == VECTOR.tolist()


def test_json_as_text(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    cursor.outputtypehandler = lambda cur, info: cur.var(str, arraysize=cur.arraysize)
    cursor.execute("select json from t")
    assert json.loads(cursor.fetchone()[0]) == json.loads(json.dumps(DOCUMENT, default=float))


def test_temporary_lobs(connection: oracledb.Connection) -> None:
    lob = connection.createlob(oracledb.DB_TYPE_CLOB, "abc☃")
    assert lob.read() == "abc☃"
    lob.write("XY", 2)
    assert lob.read() == "aXY☃"
    lob.write("end", 7)
    assert lob.read() == "aXY☃  end"
    lob.trim(2)
    assert (lob.read(), lob.size()) == ("aX", 2)
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-22926: "):
        lob.trim(3)
    lob.open()
    assert lob.isopen()
    lob.close()
    assert not lob.isopen()
    cursor = connection.cursor()
    cursor.execute("select echo :1", [lob])
    assert cursor.fetchone()[0].read() == "aX"
    data = connection.createlob(oracledb.DB_TYPE_BLOB)
    for start in range(0, len(BLOB_DATA), 10000):
        data.write(BLOB_DATA[start : start + 10000], start + 1)
    assert data.read() == BLOB_DATA
    data.write(b"x", len(BLOB_DATA) + 3)
    assert data.read(len(BLOB_DATA) + 1) == b"\0\0x"


def test_values_of_temporary_lobs_reach_the_engine(served: Served, connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    text = connection.createlob(oracledb.DB_TYPE_CLOB, CLOB_TEXT)
    cursor.execute("insert into t values (:1, :2)", [text, connection.createlob(oracledb.DB_TYPE_BLOB, b"")])
    assert served.engine.inserted == [(CLOB_TEXT, b"")]


def test_long_plsql_strings_and_lob_out_binds(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    out = cursor.var(oracledb.DB_TYPE_CLOB)
    cursor.execute("begin :o := :a; end;", o=out, a="z" * 100000)
    assert out.getvalue().read() == "z" * 100000


def test_a_locator_outlives_commit_and_cursor(connection: oracledb.Connection) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select lobs from t")
        lob = cursor.fetchone()[1]
        cursor.execute("insert into t values (1)")
    connection.commit()
    assert lob.read() == CLOB_TEXT


def test_writing_a_fetched_value_is_refused(connection: oracledb.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("select lobs from t")
    lob = cursor.fetchone()[1]
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-03001: .*UPDATE"):
        lob.write("x")
    with pytest.raises(oracledb.DatabaseError, match=r"^ORA-03001: .*UPDATE"):
        lob.trim(1)
    assert lob.read() == CLOB_TEXT


def test_lobs_go_when_the_client_drops_them(served: Served, tables: list[LobTable]) -> None:
    with served.connect() as connection:
        cursor = connection.cursor()
        out = cursor.var(oracledb.DB_TYPE_CLOB)
        for _ in range(3):
            cursor.execute("select lobs from t")
            kept = cursor.fetchall()[0][1]
            cursor.execute("update t set a = 1 returning c into :o", o=out)
            connection.createlob(oracledb.DB_TYPE_CLOB, "dropped at once")
        cursor.close()
        del cursor, out
        connection.ping()
        assert len(tables[0]) == 1
        assert kept.read() == CLOB_TEXT
        del kept
        connection.ping()
        assert len(tables[0]) == 0


def test_values_of_many_packets(served: Served, connection: oracledb.Connection) -> None:
    data = bytes(range(251)) * 20000
    cursor = connection.cursor()
    cursor.setinputsizes(None, oracledb.DB_TYPE_BLOB)
    cursor.execute("insert into t values (:1, :2)", [1, data])
    assert served.engine.inserted == [(1, data)]
    lob = connection.createlob(oracledb.DB_TYPE_BLOB, data)
    assert lob.read() == data
