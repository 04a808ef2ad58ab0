"""The form of a statement over arrays: only where no row can notice the others."""

from __future__ import annotations

import pytest

from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.oids import Oids
from oraclerag.local.engine.plan import BindParameter, Names, Plan
from oraclerag.local.engine.set_form import Target, all_different, array, set_form
from oraclerag.local.engine.translate import translate

OWN = Oids(varchar2=9001, clob=9002, blob=9003, odate=9004, vector=9005)
PLAIN = Target(is_table=True, has_triggers=False, refers_to_itself=False, unique=frozenset({"ID"}))
COLUMNS = (("ID", "NUMBER"), ("NAME", "VARCHAR2"), ("DATA", "JSON"))


def plan(sql: str) -> Plan:
    return translate(sql, Names("S", lambda _owner, _name: 3, lambda _schema, _table: COLUMNS))


def form_of(sql: str, target: Target = PLAIN) -> str | None:
    made = plan(sql)
    found = set_form(made, [pg.NUMERIC] * len(made.parameters), OWN, target)
    return None if found is None else found.text


GIVEN = 'unnest($1::numeric[], $2::numeric[]) AS given ("$1", "$2")'
ID, PLACE = ' RETURNING "ID"', ' RETURNING given."$"'
NUMBERED = 'unnest($1::numeric[], $2::numeric[]) WITH ORDINALITY AS given ("$1", "$2", "$")'


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "insert into t (id, name) values (:1, :2)",
            f'INSERT INTO "T" ("ID", "NAME") SELECT given."$1", given."$2" FROM {GIVEN}',
        ),
        (
            "insert into t (id, name) values (:1, ':2' || :2) returning id into :3",
            f'INSERT INTO "T" ("ID", "NAME") SELECT given."$1", ora.cat(\':2\'::text, ora.s(given."$2")) FROM {GIVEN}{ID}',
        ),
        (
            "update t set name = :1 where id = :2",
            f'UPDATE "T" SET "NAME" = given."$1" FROM {NUMBERED} WHERE "ID" = given."$2"{PLACE}',
        ),
        (
            "delete from t x where :1 = x.id and x.name = :2",
            f'DELETE FROM "T" AS "X" USING {NUMBERED} WHERE given."$1" = "X"."ID" AND "X"."NAME" = given."$2"{PLACE}',
        ),
    ],
)
def test_forms(sql: str, expected: str) -> None:
    assert form_of(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "insert into t (id, name) values (default, :1)",
        "insert into t (id, name) values ((select max(id) from t), :1)",
        "insert into t (id, name) select id, :1 from t",
        "insert /*+ IGNORE_ROW_ON_DUPKEY_INDEX(t, t_pk) */ into t (id) values (:1)",
        "insert into t (id) values (1)",
        "update t set id = :1 where name = :2",  # a unique column: the order of the rows decides
        "update t set name = :1 where name = :2",  # the next row may look for what this one wrote
        "update t set name = :1 where id > :2",
        "update t set name = :1 where id = :2 or id = 3",
        "update t set name = :1 where id = 3",
        "update t set name = :1",
        "update t set name = :1 where id = :2 returning id into :3",
        "update t set name = :1 where id = :2 and id in (select id from u)",
        "update t set name = :1 where id = :2 and rownum < 2",
        "update t set data = :1 where t.data.id = :2",
        "update t set name = :1 from u where t.id = :2",
        "delete from t where id < :1",
        "delete from t",
    ],
)
def test_what_has_none(sql: str) -> None:
    assert form_of(sql) is None


@pytest.mark.parametrize(
    ("target", "insert", "update"),
    [
        (Target(is_table=False, has_triggers=False, refers_to_itself=False, unique=frozenset()), True, False),
        (Target(is_table=True, has_triggers=True, refers_to_itself=False, unique=frozenset()), True, False),
        (Target(is_table=True, has_triggers=False, refers_to_itself=True, unique=frozenset()), False, False),
        (Target(is_table=True, has_triggers=False, refers_to_itself=False, unique=frozenset({"*"})), True, False),
        (Target(), False, False),
    ],
)
def test_the_target_has_its_say(target: Target, insert: bool, update: bool) -> None:
    assert (form_of("insert into t (id) values (:1)", target) is not None) is insert
    assert (form_of("update t set name = :1 where id = :2", target) is not None) is update


def test_a_type_without_arrays() -> None:
    made = plan("insert into t (id) values (:1)")
    assert made.parameters == (BindParameter("1"),)
    assert set_form(made, [424_242], OWN, PLAIN) is None


def test_arrays_in_text() -> None:
    assert array(pg.NUMERIC, False, [b"1", None, b"-2.5"]) == (b"{1,NULL,-2.5}", False)
    assert array(pg.INTERVAL, False, [b"1 days", b'a"\\b', None]) == (b'{"1 days","a\\"\\\\b",NULL}', False)


def test_arrays_in_binary() -> None:
    head = (1).to_bytes(4, "big")
    one = (1).to_bytes(4, "big") + (2).to_bytes(4, "big") + b"ab"
    assert array(pg.TEXT, True, [b"ab", None]) == (
        head + (1).to_bytes(4, "big") + pg.TEXT.to_bytes(4, "big") + (2).to_bytes(4, "big") + one[:4] + one[4:]
        + b"\xff\xff\xff\xff",
        True,
    )  # fmt: skip
    packed, binary = array(pg.JSONB, False, [b"{}"])
    assert binary
    assert packed.endswith((3).to_bytes(4, "big") + b"\1{}")


@pytest.mark.parametrize(
    ("oid", "binary", "items", "different"),
    [
        (pg.NUMERIC, False, [b"1", b"2", b"10"], True),
        (pg.NUMERIC, False, [b"1", b"2", b"1"], False),
        (pg.NUMERIC, False, [b"1", b"1.0"], False),
        (pg.NUMERIC, False, [b"1", b"01"], False),
        (pg.NUMERIC, False, [b"0", b"-0"], False),
        (pg.NUMERIC, False, [b"1", None], False),
        (OWN.varchar2, True, [b"a", b"b"], True),
        (pg.BPCHAR, True, [b"a", b"a "], False),
        (OWN.odate, True, [bytes(8), bytes(7) + b"\1"], True),
        (pg.FLOAT8, False, [b"0", b"1"], False),
    ],
)
def test_values_that_are_surely_different(oid: int, binary: bool, items: list[bytes | None], different: bool) -> None:
    assert all_different(oid, binary, items, OWN) is different
