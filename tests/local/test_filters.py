"""Filters on a database: the same rows as a plain evaluation of the same filter in Python gives.

One table of documents with everything that is awkward; each round asks many random filters of it in one statement.
"""

from __future__ import annotations

import datetime as dt
import operator
import random
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import oracledb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag.database import bind_types
from oraclerag.filters import predicate
from tests.local.conftest import Account

pytestmark = pytest.mark.one_size

DAY = dt.date(2024, 10, 1)
EAST = dt.timezone(dt.timedelta(hours=5, minutes=30))
LONG = "x" * 4001
TEXTS = [
    "a",
    "b",
    "A",
    "ab",
    "a%b",
    "a_b",
    "\\",
    "'",
    '"',
    "é",
    "n/a",
    "1",
    "true",
    "2024-09-01",
    "\uff5e",
    "😀",
    "x" * 999,
]
NUMBERS = [0, 1, -1, 2, 1.5, 0.1, 10, 1e20, -2.5, 123456789012345678901234567890, Decimal("1.50")]
MOMENTS = [
    "2024-09-01", "2024-10-01", "2024-10-01T00:00:00Z", "2024-10-01T01:30:00+02:00", "2024-10-01T23:59:59.999999",
    "2024-10-02T00:00:00", "2024-10-02", "2024-10-01 12:30", "2024-10-01T05:30+0530", "2024-10-01T00:00:00.000001Z",
    "2024-10-01T00:00-05", "2024-02-31", "2024-13-01", "2024-10-01T24:00:00", "2024-10-01T12:60", "20241001",
    "2024-10-1", "0000-01-01", "9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+05:00", "2024-10-01T00:00:00Z\n",
    "2024-10-01T00:00:00+15:00", " 2024-10-01", "2024-10-01T", "2024-10-01T00:00:00.Z", "9/1/2024",
]  # fmt: skip
SCALARS = [*TEXTS, *NUMBERS, *MOMENTS, True, False, None, "", LONG]
FIELDS: dict[str, tuple[str, ...]] = {
    "a": ("a",), "metadata.a": ("a",), "due": ("due",), "tags": ("tags",), "user.age": ("user", "age"),
    "user.name.first": ("user", "name", "first"), "metadata.project": ("project",), '"x y"': ("x y",),
    '"d.o.t"': ("d.o.t",), "user.\"it's\"": ("user", "it's"), "é": ("é",), '"$d"': ("$d",), "oracle_error_code":
    ("oracle_error_code",), "A": ("A",), "1": ("1",), "last-seen": ("last-seen",),
}  # fmt: skip


def documents() -> list[dict[str, Any] | None]:
    """Give what METADATA holds: every scalar in a field, in a list and beneath another field, and more."""
    found: list[dict[str, Any] | None] = [None, {}]
    for number, scalar in enumerate(SCALARS):
        other = SCALARS[number * 7 % len(SCALARS)]
        found += [
            {
                "a": scalar,
                "due": other,
                "user": {"age": scalar, "it's": other},
                "x y": scalar,
                "$d": other,
                "é": scalar,
            },
            {
                "tags": [scalar, other],
                "a": other,
                "user": {"name": {"first": scalar}},
                "d.o.t": other,
                "project": scalar,
            },
        ]
        if number % 4 == 0:
            found += [
                {"user": [{"age": scalar}, {"age": other}, scalar], "due": [scalar, "n/a", other], "1": scalar},
                {"tags": [scalar], "oracle_error_code": [scalar, other], "A": scalar, "last-seen": other},
            ]
    found += [
        {"user": None}, {"user": "x"}, {"user": {"age": None}}, {"user": {"name": "x"}}, {"user": {"name": {}}},
        {"tags": []}, {"tags": [None]}, {"tags": {"a": 1}}, {"tags": ["db", "oracle"]}, {"a": {}}, {"a": [{}]},
        {"d": {"o": {"t": "a"}}, "d.o.t": "b"}, {"a": [1, "1", True]}, {"due": ["2024-09-01", "2024-10-02"]},
        {"oracle_error_code": "a"}, {"oracle_error_code": ["a", "b"]}, {"user": [{"name": [{"first": "a"}]}]},
    ]  # fmt: skip
    return found


DOCUMENTS = documents()
COLUMNS = [
    {"project": (None, "a", "A", "1")[number % 4], "collection": (None, "a%b", "b")[number % 3],
     "occurred_at": (None, dt.datetime(2024, 10, 1), dt.datetime(2024, 10, 1, 23, 59, 59, 999999),  # noqa: DTZ001
                     dt.datetime(2024, 10, 2), dt.datetime(2024, 9, 30, 22, 0, 0, 1))[number % 5]}  # noqa: DTZ001
    for number in range(len(DOCUMENTS))
]  # fmt: skip


# ---- the plain evaluation

ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le, "$eq": operator.eq,
}  # fmt: skip
NEGATIONS = {"$ne": "$eq", "$nin": "$in"}
ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII
)


def holds(wanted: Mapping[str, Any], row: int) -> bool:
    """Tell whether a filter holds for a row."""
    return all(_holds(key, inner, row) for key, inner in wanted.items())


def _holds(key: str, inner: Any, row: int) -> bool:
    if key == "$and":
        return all(holds(part, row) for part in inner)
    if key == "$or":
        return any(holds(part, row) for part in inner)
    if key == "$not":
        return not holds(inner, row)
    return _field(targets(key, row), inner)


def _field(found: list[Any], inner: Any) -> bool:
    if not isinstance(inner, dict) or "$date" in inner:
        inner = {"$eq": inner}
    return all(_operator(found, name, value) for name, value in inner.items())


def _operator(found: list[Any], name: str, value: Any) -> bool:
    if name == "$not":
        return not _field(found, value)
    if name in NEGATIONS:
        return not _operator(found, NEGATIONS[name], value)
    if name == "$exists":
        return value is any(target is not None for target in found)
    if name == "$eq" and value is None:
        return all(target is None for target in found)
    if name == "$in":
        return any(_operator(found, "$eq", one) for one in value)
    if name == "$contains":
        values = value if isinstance(value, list) else [value]
        return all(_operator(found, "$eq", one) for one in values)
    elements = [element for target in found for element in (target if isinstance(target, list) else [target])]
    if name == "$between":
        low, high = value
        return any(_compares(one, "$gte", low) and _compares(one, "$lte", high) for one in elements)
    if name == "$like":
        return any(isinstance(one, str) and one != "" and len(one) < 4000 and _like(value, one) for one in elements)
    return any(_compares(one, name, value) for one in elements)


def targets(key: str, row: int) -> list[Any]:
    """Give what a key leads to."""
    if key in COLUMNS[row]:
        return [COLUMNS[row][key]]
    found: list[Any] = [DOCUMENTS[row]]
    for step in FIELDS[key]:
        inside = [one for item in found for one in (item if isinstance(item, list) else [item])]
        found = [one[step] for one in inside if isinstance(one, dict) and step in one]
    return found


def _compares(element: Any, name: str, value: Any) -> bool:
    compares = ORDERS[name]
    if isinstance(value, dict):
        value = dt.date.fromisoformat(value["$date"])
    if isinstance(value, dt.date):
        at = instant(element)
        if at is None:
            return False
        first, last = span(value)
        return first <= at <= last if name == "$eq" else compares(at, last if name in ("$gt", "$lte") else first)
    if isinstance(element, bool) or isinstance(value, bool):
        return isinstance(element, bool) and isinstance(value, bool) and element is value
    if isinstance(element, str) and isinstance(value, str):
        return element != "" and (name == "$eq" or len(element) < 4000) and compares(element, value)
    if isinstance(element, (int, float, Decimal)) and isinstance(value, (int, float, Decimal)):
        return compares(Decimal(str(element)), Decimal(str(value)))
    return False


def instant(element: Any) -> Decimal | None:
    """Give the seconds since the year 1 of a time or a text in ISO 8601; without a zone it is UTC."""
    if isinstance(element, dt.datetime):
        element = element.isoformat()
    found = ISO.fullmatch(element) if isinstance(element, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        at = dt.datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))  # noqa: DTZ001
    except ValueError:
        return None
    offset = 0
    if zone not in (None, "Z"):
        hours, minutes = int(zone[1:3]), int(zone[3:].strip(":") or 0)
        if hours > 14:
            return None
        offset = (hours * 60 + minutes) * (-60 if zone[0] == "-" else 60)
    return at.toordinal() * 86400 + at.hour * 3600 + at.minute * 60 + at.second - offset + Decimal(f"0.{fraction or 0}")


def span(value: dt.date) -> tuple[Decimal, Decimal]:
    """Give the first and the last instant of a time, or of a day."""
    if isinstance(value, dt.datetime):
        at = instant(value)
        assert at is not None
        return at, at
    begin = Decimal(value.toordinal() * 86400)
    return begin, begin + 86400 - Decimal("1e-6")


def _like(pattern: str, text: str) -> bool:
    pieces = re.findall(r"\\.|.", pattern, re.DOTALL)
    signs = {"%": ".*", "_": "."}
    return (
        re.fullmatch("".join(signs.get(piece) or re.escape(piece[-1]) for piece in pieces), text, re.DOTALL) is not None
    )


# ---- random filters

TIMES: list[Any] = [
    DAY, dt.date(2024, 9, 30), dt.date(1, 1, 1), dt.date.max, dt.datetime(2024, 10, 1), dt.datetime(2024, 10, 1, 5, 30, tzinfo=EAST),  # noqa: DTZ001
    dt.datetime(2024, 10, 1, 12, 30, tzinfo=dt.UTC), {"$date": "2024-10-01"}, {"$date": "2024-09-01"},
]  # fmt: skip
ORDERED: list[list[Any]] = [[*TEXTS, *MOMENTS[:3]], NUMBERS, TIMES]
MANY: list[Any] = [*TEXTS, *range(-3, 60), *(f"t{number}" for number in range(60)), DAY, True]
LETTERS = ["a", "b", "%", "_", r"\%", r"\_", "\\\\", "é", "'"]
OPERATORS = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$between", "$exists", "$like", "$contains"]


def asked(draw: random.Random, kinds: list[list[Any]], operators: list[str]) -> Any:
    """Give what may be asked of a field whose values are of these kinds."""

    def value() -> Any:
        return draw.choice(draw.choice(kinds))

    def operand(name: str) -> Any:
        if name == "$exists":
            return draw.choice([True, False])
        if name == "$like":
            return "".join(draw.choice(LETTERS) for _ in range(draw.choice([1, 2, 3])))
        if name == "$between":
            kind = draw.choice([kind for kind in kinds if kind in ORDERED])
            return [draw.choice(kind), draw.choice(kind)]
        if name in ("$in", "$nin"):
            if len(kinds) > 1 and draw.choice([False, False, True]):
                return MANY
            return [draw.choice([None, value(), value()]) for _ in range(draw.choice([0, 1, 2, 3]))]
        if name == "$contains":
            return [value() for _ in range(draw.choice([1, 2]))] if draw.choice([True, False]) else value()
        if name in ("$eq", "$ne"):
            return draw.choice([None, value(), value(), value()])
        return draw.choice(draw.choice([kind for kind in kinds if kind in ORDERED]))

    form = draw.choice(["value", "operator", "operator", "two", "not"])
    if form == "value":
        return operand("$eq")
    found = {name: operand(name) for name in (draw.choice(operators), draw.choice(operators))[: 1 + (form == "two")]}
    return {"$not": found} if form == "not" else found


def condition(draw: random.Random) -> dict[str, Any]:
    key = draw.choice([*FIELDS, "a", "tags", "due", "user.age", "project", "collection", "occurred_at"])
    if key == "occurred_at":
        return {key: asked(draw, [TIMES], OPERATORS[:-2])}
    if key in COLUMNS[0]:
        return {key: asked(draw, [ORDERED[0]], OPERATORS[:-1])}
    return {key: asked(draw, [*ORDERED, [True, False]], OPERATORS)}


def joined(draw: random.Random, depth: int) -> dict[str, Any]:
    form = draw.choice(["one", "one", "two", "$or", "$and", "$not"]) if depth else "one"
    if form == "one":
        return condition(draw)
    if form == "two":
        return joined(draw, depth - 1) | joined(draw, depth - 1)
    if form == "$not":
        return {"$not": joined(draw, depth - 1)}
    return {form: [joined(draw, depth - 1) for _ in range(draw.choice([1, 2, 3]))]}


# ---- the tests


@pytest.fixture(scope="module")
def cursor(module_account: Account) -> Iterator[oracledb.Cursor]:
    with oracledb.connect(user=module_account.user, password=module_account.password, dsn=module_account.dsn) as made:
        cursor = made.cursor()
        cursor.execute(
            "CREATE TABLE shelf (ROW_NO NUMBER, METADATA JSON, PROJECT_ID VARCHAR2(128 BYTE), "
            "COLLECTION VARCHAR2(128 BYTE), OCCURRED_AT TIMESTAMP(6))"
        )
        cursor.setinputsizes(None, oracledb.DB_TYPE_JSON, None, None, oracledb.DB_TYPE_TIMESTAMP)
        cursor.executemany(
            "INSERT INTO shelf VALUES (:1, :2, :3, :4, :5)",
            [
                (number, document, columns["project"], columns["collection"], columns["occurred_at"])
                for number, (document, columns) in enumerate(zip(DOCUMENTS, COLUMNS, strict=True))
            ],
        )
        yield cursor


def found(cursor: oracledb.Cursor, wanted: list[dict[str, Any]]) -> list[set[int]]:
    """Ask filters of the table, all in one statement, and give the rows of each."""
    parts: list[str] = []
    binds: dict[str, Any] = {}
    for number, one in enumerate(wanted):
        made = predicate(one, name=f"f{number}_")
        parts.append(f"SELECT {number}, c.ROW_NO FROM shelf c WHERE {made.text}")
        binds |= made.binds
    types = bind_types(binds)
    if types:
        cursor.setinputsizes(**types)
    cursor.execute(" UNION ALL ".join(parts), binds)
    rows: list[set[int]] = [set() for _ in wanted]
    for number, row in cursor:
        rows[number].add(row)
    return rows


def expected(wanted: Mapping[str, Any]) -> set[int]:
    return {row for row in range(len(DOCUMENTS)) if holds(wanted, row)}


def agrees(cursor: oracledb.Cursor, seed: int) -> None:
    draw = random.Random(seed)
    wanted = [joined(draw, 3) for _ in range(25)]
    for one, rows in zip(wanted, found(cursor, wanted), strict=True):
        right = expected(one)
        assert rows == right, (one, [(DOCUMENTS[row], COLUMNS[row]) for row in rows ^ right][:3])


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_filter_means_on_the_database_what_it_means(cursor: oracledb.Cursor, seed: int) -> None:
    agrees(cursor, seed)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_filter_means_on_the_database_what_it_means_long(cursor: oracledb.Cursor, seed: int) -> None:
    agrees(cursor, seed)


NO_VALUE = {"a": {"$exists": False}}
CASES: list[tuple[dict[str, Any], dict[str, Any] | None]] = [
    # two filters that must agree, on all rows; None: the plain evaluation alone
    ({"a": {"$ne": "a"}}, {"$not": {"a": "a"}}),
    ({"a": {"$ne": "a"}}, {"a": {"$nin": ["a"]}}),
    ({"a": {"$nin": ["a", None]}}, {"a": {"$exists": True, "$ne": "a"}}),
    ({"a": None}, NO_VALUE),
    ({"a": {"$ne": None}}, {"a": {"$exists": True}}),
    ({"a": {"$not": {"$gt": 1}}}, {"$not": {"a": {"$gt": 1}}}),
    ({"due": {"$between": [dt.date(2024, 9, 30), DAY]}}, None),
    ({"tags": "oracle"}, {"tags": {"$contains": "oracle"}}),
    ({"tags": "oracle"}, {"tags": {"$in": ["oracle"]}}),
    ({"tags": {"$contains": ["oracle", "db"]}}, {"$and": [{"tags": "db"}, {"tags": "oracle"}]}),
    ({"$and": [{"user.age": 1, "$or": [{"a": 1}, {"due": 1.5}]}]}, None),
    ({"user.age": {"$ne": 1}}, {"$not": {"user.age": 1}}),
    ({'"d.o.t"': "b"}, None),
    ({"project": {"$nin": ["a", *(f"p{number}" for number in range(9_999))]}}, {"project": {"$ne": "a"}}),
    ({"a": {"$in": ["a", "é", *(f"x{number}" for number in range(1_000))]}}, {"a": {"$in": ["a", "é"]}}),
    ({"a": {"$in": [1.5, *range(100, 1_100)]}}, {"a": 1.5}),
    ({"a": {"$in": []}}, {"$and": [NO_VALUE, {"a": {"$exists": True}}]}),
    ({"a": {"$nin": []}}, {"$or": [NO_VALUE, {"a": {"$exists": True}}]}),
    ({"project": "' OR 1=1 --"}, {"a": {"$in": []}}),
    ({"a": "' OR '1'='1"}, {"a": {"$in": []}}),
]  # fmt: skip


def test_filters_that_mean_the_same_find_the_same(cursor: oracledb.Cursor) -> None:
    for one, other in CASES:
        rows = found(cursor, [one, other or one])
        assert rows[0] == rows[1] == expected(other or one), (one, other)


def test_hostile_names_and_values_find_what_has_them_and_nothing_else(cursor: oracledb.Cursor) -> None:
    names = [
        "it's",
        "x' --",
        "/*",
        "--",
        ":a",
        "@",
        "?(1==1)",
        "$",
        "a.b",
        "*",
        "&x",
        "%s",
        "\u2019",
        "q'[x]'",
        "\uff07",
        "; DROP",
    ]
    cursor.execute("CREATE TABLE names (ROW_NO NUMBER, METADATA JSON)")
    cursor.setinputsizes(None, oracledb.DB_TYPE_JSON)
    cursor.executemany(
        "INSERT INTO names VALUES (:1, :2)", [(number, {name: name}) for number, name in enumerate(names)]
    )
    for number, name in enumerate(names):
        for wanted in (
            {f'"{name}"': name},
            {f'"{name}"': {"$like": name.replace("%", r"\%")}},
            {f'"{name}"': {"$exists": True}},
        ):
            made = predicate(wanted)
            cursor.execute(f"SELECT c.ROW_NO FROM names c WHERE {made.text}", made.binds)
            assert cursor.fetchall() == [(number,)], wanted


def test_nesting_as_deep_as_allowed_runs(cursor: oracledb.Cursor) -> None:
    wanted: dict[str, Any] = {"a": 1}
    for _ in range(15):
        wanted = {"$not": {"$or": [wanted, {"due": 1}]}}
    assert found(cursor, [wanted]) == [expected(wanted)]
    widest = {"$or": [{"a": number} for number in range(100)]}
    assert found(cursor, [widest]) == [expected(widest)]
