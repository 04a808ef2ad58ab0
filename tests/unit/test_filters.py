"""Filters: what is written for each condition, what is refused, and that no key and no value becomes part of the SQL.

``python -m tests.unit.test_filters`` writes the golden file anew; read the difference before you keep it.
"""

from __future__ import annotations

import datetime as dt
import enum
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag import Scope
from oraclerag.errors import InputError
from oraclerag.filters import predicate
from oraclerag.search.predicate import conditions
from oraclerag.search.request import request


class Colour(enum.StrEnum):
    RED = "red"


class Point(enum.IntEnum):
    ONE = 1


ROWS = "EXISTS (SELECT 1 FROM JSON_TABLE(c.METADATA, '$.\"a\"[*]' COLUMNS (V {kind} PATH '$.{method}')) f WHERE {condition})"
IN_TEXTS = ROWS.format(kind="VARCHAR2(4000)", method="stringOnly()", condition="{condition}")


@pytest.mark.parametrize(
    ("wanted", "sql", "binds"),
    [
        ({"project": "7"}, "c.PROJECT_ID = :filter0", ["7"]),
        ({"project": {"$ne": "7"}}, "CASE WHEN (c.PROJECT_ID = :filter0) THEN 1 ELSE 0 END = 0", ["7"]),
        ({"sprint": {"$in": ["3", "4", "3"]}}, "c.SPRINT_ID IN (:filter0, :filter1)", ["3", "4"]),
        ({"source_id": {"$like": r"1\_%"}}, r"c.SOURCE_ID LIKE :filter0 ESCAPE '\'", [r"1\_%"]),
        ({"collection": None}, "CASE WHEN (c.COLLECTION IS NOT NULL) THEN 1 ELSE 0 END = 0", []),
        ({"source_type": {"$between": ["a", "f"]}}, "c.SOURCE_TYPE BETWEEN :filter0 AND :filter1", ["a", "f"]),
        ({"module": "AP"}, "JSON_EXISTS(c.METADATA, '$.\"module\"[*]?(@.stringOnly() == $v)' PASSING :filter0 AS \"v\")", ["AP"]),
        ({"metadata.project": "AP"}, "JSON_EXISTS(c.METADATA, '$.\"project\"[*]?(@.stringOnly() == $v)' PASSING :filter0 AS \"v\")", ["AP"]),
        ({"user.age": {"$gte": 5}}, "JSON_EXISTS(c.METADATA, '$.\"user\".\"age\"[*]?(@.numberOnly() >= $v)' PASSING :filter0 AS \"v\")", [5]),
        ({'"a.b"': True}, "JSON_EXISTS(c.METADATA, '$.\"a.b\"[*]?(@.booleanOnly() == true)')", []),
        ({'"it\'s"': False}, "JSON_EXISTS(c.METADATA, '$.\"it''s\"[*]?(@.booleanOnly() == false)')", []),
        ({"a": {"$exists": True}}, "JSON_EXISTS(c.METADATA, '$.\"a\"?(@.type() != \"null\")')", []),
        (
            {"oracle_error_code": "ORA-01652"},
            "JSON_EXISTS(c.METADATA, '$.oracle_error_code?(@.stringOnly() == $code)' PASSING :filter0 AS \"code\")",
            ["ORA-01652"],
        ),
        (
            {"a": {"$in": ["x", 1, "y"]}},
            "JSON_EXISTS(c.METADATA, '$.\"a\"[*]?(@.stringOnly() == $v0 || @.stringOnly() == $v1)' PASSING :filter0 AS \"v0\", :filter1 AS \"v1\") OR JSON_EXISTS(c.METADATA, '$.\"a\"[*]?(@.numberOnly() == $v0)' PASSING :filter2 AS \"v0\")",
            ["x", "y", 1],
        ),
        (
            {"a": {"$between": [1, 2.5]}},
            "JSON_EXISTS(c.METADATA, '$.\"a\"[*]?(@.numberOnly() >= $low && @.numberOnly() <= $high)' PASSING :filter0 AS \"low\", :filter1 AS \"high\")",
            [1, 2.5],
        ),
        ({"a": {"$lt": "m"}}, IN_TEXTS.format(condition="f.V < :filter0"), ["m"]),
        ({"a": {"$like": "%x"}}, IN_TEXTS.format(condition=r"f.V LIKE :filter0 ESCAPE '\'"), ["%x"]),
        (
            {"occurred_at": {"$lte": dt.date(2026, 1, 31)}},
            "c.OCCURRED_AT <= TO_TIMESTAMP(:filter0, 'YYYY-MM-DD HH24:MI:SS.FF')",
            ["2026-01-31 23:59:59.999999999"],
        ),
        (
            {"occurred_at": {"$gt": "2026-01-31T01:30+02:00"}},
            "c.OCCURRED_AT > TO_TIMESTAMP(:filter0, 'YYYY-MM-DD HH24:MI:SS.FF')",
            ["2026-01-30 23:30:00.000000000"],
        ),
        ({"a": {"$in": []}}, "1 = 0", []),
        ({"a": {"$nin": []}}, "CASE WHEN (1 = 0) THEN 1 ELSE 0 END = 0", []),
    ],
    ids=str,
)  # fmt: skip
def test_conditions(wanted: dict[str, Any], sql: str, binds: list[Any]) -> None:
    found = predicate(wanted)
    assert found.text == f"({sql})"
    assert found.binds == {f"filter{number}": value for number, value in enumerate(binds)}


GOLDEN = Path(__file__).parent / "golden" / "filters.sql"
WHOLE: dict[str, dict[str, Any]] = {
    "of the manual": {
        "erp_version": "EBS R12.2.10", "oracle_error_code": {"$in": ["ORA-01652", "ORA-30036"]},
        "occurred_at": {"$gte": dt.date(2026, 1, 1)},
        "$or": [{"priority": {"$gte": 3}}, {"tags": {"$contains": ["db", "urgent"]}}, {"user.age": None}],
    },
    "a time": {"due": {"$lte": dt.date(2026, 1, 31)}},
    "a list of times and a boolean": {"due": {"$nin": [dt.datetime(2026, 1, 31, 8, 30), dt.date(2026, 2, 1), True]}},  # noqa: DTZ001
    "a long list of a column": {"project": {"$in": [f"{number}" for number in range(51)]}},
    "a long list of a field": {"file": {"$in": [f"{number}" for number in range(51)]}},
    "order and patterns of texts": {"name": {"$gt": "a", "$like": "%b", "$between": ["c", "d"]}, '"it\'s"': {"$ne": "x"}},
}  # fmt: skip


def golden() -> str:
    return "".join(f"-- {name}\n{predicate(wanted).text}\n\n" for name, wanted in WHOLE.items())


def test_golden() -> None:
    assert golden() == GOLDEN.read_text("utf-8")


def test_an_empty_filter_is_none() -> None:
    assert not predicate({})
    assert predicate({}).conditions == 0


def test_conditions_are_joined_with_brackets_around_each() -> None:
    wanted = {"project": "1", "$or": [{"a": True, "b": True}, {"$not": {"c": True}}], "$and": [{"d": True}]}
    is_true = "(JSON_EXISTS(c.METADATA, '$.\"{}\"[*]?(@.booleanOnly() == true)'))".format
    inner = f"(({is_true('a')} AND {is_true('b')}) OR (CASE WHEN {is_true('c')} THEN 1 ELSE 0 END = 0))"
    assert predicate(wanted).text == f"{is_true('d')} AND {inner} AND (c.PROJECT_ID = :filter0)"


def test_a_search_joins_a_filter_behind_its_scope_in_brackets_of_its_own() -> None:
    asked = request("x", Scope(tenant="acme"), {"filter": {"$or": [{"project": "1"}, {"project": "2"}]}}, k=1, max_k=1)
    *others, last = conditions(asked)[0]
    assert others
    assert last == "((c.PROJECT_ID = :filter0) OR (c.PROJECT_ID = :filter1))"


def test_a_time_in_metadata_is_an_instant_and_a_day_has_all_of_it() -> None:
    found = predicate({"due": {"$between": [dt.date(2024, 9, 30), dt.date(2024, 10, 1)]}})
    assert list(found.binds.values()) == [
        "2024-09-30 00:00:00.000000000 +00:00",
        "2024-10-01 23:59:59.999999999 +00:00",
    ]
    assert "DEFAULT NULL ON CONVERSION ERROR" in found.text
    equal = predicate({"due": {"$date": "2024-10-01T05:30:00.5+05:30"}})
    assert list(equal.binds.values()) == ["2024-10-01 00:00:00.500000000 +00:00"]


def test_a_long_list_of_a_column_is_one_bind() -> None:
    values = [f"id {number}" for number in range(10_000)]
    found = predicate({"project": {"$in": values}})
    assert found.binds == {"filter0": values}
    assert len(found.text) < 200


@pytest.mark.parametrize(
    "values", [range(10_000), [f"id {number}" for number in range(10_000)], range(51)], ids=["numbers", "texts", "few"]
)
def test_a_long_list_for_a_field_is_cut_into_lists_of_a_number_that_others_have(values: Any) -> None:
    found = predicate({"a": {"$in": list(values)}})
    assert set(found.binds.values()) == set(values)
    assert len(found.binds) in (64, 16_384)
    assert all(len(part.split(",")) <= 1000 for part in re.findall(r"IN \(([^)]*)\)", found.text))


def test_more_values_than_are_allowed() -> None:
    with pytest.raises(InputError, match="more than 10,000 values"):
        predicate({"a": {"$in": list(range(6_000))}, "project": {"$nin": [f"{number}" for number in range(4_001)]}})


def test_texts_do_not_depend_on_the_order_of_keys() -> None:
    one = {"project": "1", "b": {"$gt": 1, "$lt": 5}, "a": 2, "$or": [{"x": 1}], "$not": {"y": 2}, "metadata.a": "t"}
    other = {
        key: dict(reversed(list(value.items()))) if isinstance(value, dict) else value
        for key, value in reversed(one.items())
    }
    assert predicate(one) == predicate(other)


def test_binds_have_the_name_of_the_argument() -> None:
    assert predicate({"a": 1, "b": 2}, name="prefer").binds == {"prefer0": 1, "prefer1": 2}
    with pytest.raises(InputError, match=re.escape("prefer: a.$in takes a list")):
        predicate({"a": {"$in": 3}}, name="prefer")


@pytest.mark.parametrize(
    ("wanted", "conditions"),
    [
        ({"a": 1}, 1), ({"a": 1, "project": "x"}, 2), ({"a": {"$ne": 1}}, 0), ({"$or": [{"a": 1}, {"a": 1}]}, 0.769),
        ({"a": {"$in": [1, 2]}}, 0.769), ({"a": {"$in": list(range(100))}}, 0), ({"a": {"$in": []}}, 1), ({"a": {"$nin": []}}, 0),
        ({"$or": [{"a": 1, "b": 1}, {"c": 1, "d": 1}]}, 1.769), ({"$or": [{"a": 1}, {"$not": {"b": 1}}]}, 0),
    ],
    ids=str,
)  # fmt: skip
def test_how_much_a_filter_narrows(wanted: dict[str, Any], conditions: float) -> None:
    assert predicate(wanted).conditions == pytest.approx(conditions, abs=1e-3)


@pytest.mark.parametrize(
    ("given_", "bound"),
    [
        (Colour.RED, "red"), (np.str_("x"), "x"), (np.int64(7), 7), (np.float64(0.5), 0.5), (np.float32(0.5), 0.5),
        (Point.ONE, 1), (Decimal("1.50"), Decimal("1.50")), (-0.0, 0), (10**37, 10**37), (1e125, 1e125), (Decimal(0), 0),
    ],
    ids=repr,
)  # fmt: skip
def test_values_of_other_kinds(given_: Any, bound: Any) -> None:
    (value,) = predicate({"a": given_}).binds.values()
    assert value == bound
    assert type(value) is type(bound)
    assert predicate({"a": np.True_}) == predicate({"a": True})


class NotATime(dt.datetime):
    """Stands for pandas.NaT, which is a datetime too."""

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def nested(depth: int) -> dict[str, Any]:
    wanted: dict[str, Any] = {"a": 1}
    for _ in range(depth):
        wanted = {"$not": wanted}
    return wanted


def endless() -> dict[str, Any]:
    wanted: dict[str, Any] = {}
    wanted["$not"] = wanted
    return wanted


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ("project = 7", "filter must be a mapping"),
        ({3: "x"}, "every key must be a text"),
        ({"": "x"}, "'' is no field"),
        ({"tenant": "x"}, "tenant cannot be filtered: the scope says who asks"),
        ({"owner": "x"}, "owner cannot be filtered"),
        ({"visibility": "x"}, "visibility cannot be filtered"),
        ({"title": "x"}, "metadata.title"),
        ({"metadata": "x"}, "name a field of it"),
        ({"a' OR 1=1 --": "x"}, "is no field"),
        ({'"a': "x"}, "is no field"),
        ({'"a"b': "x"}, "a dot or the end must follow"),
        ({'"a\\"': "x"}, "is no field"),
        ({'"a\0"': "x"}, "is no field"),
        ({'"\ud800"': "x"}, "is no field"),
        ({"a..b": "x"}, "is no field"),
        ({"a.": "x"}, "is no field"),
        ({"a[0]": "x"}, "a dot or the end must follow"),
        ({".".join("abcdefghijklmnopq"): "x"}, "17 names; 16 are the most"),
        ({"a" * 256: "x"}, "longer than 255 bytes"),
        ({"project": ""}, "project must not be empty"),
        ({"project": ["a", "b"]}, '{"$in": […]}'),
        ({"project": 7}, "project takes a text, not int"),
        ({"project": {"$contains": "a"}}, "about lists"),
        ({"occurred_at": 7}, "takes a date or a time"),
        ({"occurred_at": "yesterday"}, "ISO 8601"),
        ({"occurred_at": {"$like": "2026%"}}, "about texts"),
        ({"a": "a\0"}, "NUL"),
        ({"a": "ñ" * 501}, "1,000 bytes"),
        ({"a": "\udfff"}, "valid text"),
        ({"a": ""}, "must not be empty"),
        ({"a": {"$gt": ""}}, "must not be empty"),
        ({"a": [1]}, "not a list"),
        ({"a": {"b": 1}}, "user.age"),
        ({"a": {}}, "not an object"),
        ({"a": {"$gt": 1, "b": 2}}, "not an object"),
        ({"a": float("nan")}, "finite"),
        ({"a": float("inf")}, "finite"),
        ({"a": Decimal("sNaN")}, "finite"),
        ({"a": 10**200}, "below 1e126"),
        ({"a": 10**10_000}, "below 1e126"),
        ({"a": 1e126}, "between 1e-130 and 1e126"),
        ({"a": 1e-200}, "between 1e-130 and 1e126"),
        ({"a": 10**38 + 1}, "38 digits"),
        ({"a": b"x"}, "not bytes"),
        ({"a": np.datetime64("2026-01-01")}, "not datetime64"),
        ({"a": np.array([1])}, "not ndarray"),
        ({"a": 1j}, "not complex"),
        ({"a": NotATime(2026, 1, 1)}, "NaT"),
        ({"a": dt.datetime(9999, 12, 31, 23, tzinfo=dt.timezone(-dt.timedelta(hours=5)))}, "end of the calendar"),
        ({"a": {"$date": "2024-02-31"}}, "ISO 8601"),
        ({"a": {"$date": 5}}, "takes a date or a time, not int"),
        ({"a": {"$gt": None}}, "takes no None"),
        ({"a": {"$gt": True}}, "have no order"),
        ({"a": {"$between": [1]}}, "a list of two"),
        ({"a": {"$between": [1, "x"]}}, "not one of each"),
        ({"a": {"$between": [True, False]}}, "have no order"),
        ({"a": {"$in": "abc"}}, "takes a list of values, not str"),
        ({"a": {"$in": [1, [2]]}}, "a.$in[1] takes one value"),
        ({"a": {"$in": [dt.date(2024, 1, 1) + dt.timedelta(days=n) for n in range(101)]}}, "more than 100 times"),
        ({"a": {"$exists": 1}}, "takes True or False"),
        ({"a": {"$like": "50\\"}}, "a backslash stands before"),
        ({"a": {"$like": r"\a"}}, "a backslash stands before"),
        ({"a": {"$contains": []}}, "at least one"),
        ({"a": {"$regex": "x"}}, "no operator '$regex'; there are $eq"),
        ({"a": {"$or": [1]}}, "stands around fields"),
        ({"$gt": 5}, "no '$gt' between conditions"),
        ({"$nor": [{}]}, "no '$nor' between conditions"),
        ({"$and": []}, "takes a list of at least one filter"),
        ({"$or": {"a": 1}}, "takes a list of at least one filter"),
        ({"$or": [{}]}, "filter: $or[0]: takes at least one condition"),
        ({"$or": ["x"]}, "filter: $or[0]: takes a mapping"),
        ({"$not": {}}, "takes at least one condition"),
        ({f"f{n}": "x" for n in range(101)}, "more than 100 conditions"),
        ({"$or": [{f"f{n}": "x" for n in range(51)}] * 2}, "more than 100 conditions"),
        ({"a": {"$contains": [f"x{n}" for n in range(101)]}}, "more than 100 conditions"),
        (nested(40), "more than 32 deep"),
        (endless(), "more than 32 deep"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_refused(wanted: Any, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)) as refused:
        predicate(wanted)
    assert str(refused.value).startswith("filter")
    assert len(str(refused.value)) < 600


def test_nesting_as_deep_as_allowed() -> None:
    assert predicate(nested(31)).text.count("CASE WHEN") == 31


# ---- no key and no value becomes part of the SQL

HOSTILE = [
    "' OR 1=1 --", "'; DROP TABLE RAG_CHUNK --", '"', "\"]?(@ == 1)'", "$", "$.a", "@", "*/", "/*", "--", ":filter0", "\\", "\\'", "''",
    "\u2019", "\uff07", "\u201d", "\u02bc", "\0", "\ud800", "\n", "a\u0000b", "q'[x]'", "&x", "%s", "{0}", ") OR (1=1", "a?(1==1)", "a[*]",
    "$where", "$gt", "a.stringOnly()", "\u2028", "1", "NULL", "\x1f", "a\tb",
]  # fmt: skip
KEYS = st.sampled_from(HOSTILE) | st.text(max_size=12)
QUOTED = KEYS.map(lambda key: f'"{key}"')
SAFE_STEP = re.compile(r'"([^"\\\x00-\x1f]+)"')
STRUCTURE = re.compile(
    r"(?:JSON_EXISTS|JSON_TABLE|JSON_VALUE|EXISTS|SELECT|FROM|WHERE|PASSING|AS|CASE|WHEN|THEN|ELSE|END|AND|OR|LIKE|ESCAPE|IN"
    r"|BETWEEN|COLUMNS|PATH|VARCHAR2|NUMBER|IS|NOT|NULL|c\.[A-Z_]+|f\.V|w\.V|f|w|V|:filter\d+|[0-9]+|[<>=]+|[(), ]|\"v\d*\"|\"code\"|\"low\"|\"high\")*"
)


def outside_of_literals(sql: str) -> str:
    """Give the SQL without its text literals; a quote that is not closed stays."""
    return re.sub(r"'(?:[^']|'')*'", "", sql)


@given(
    st.dictionaries(
        KEYS | QUOTED | KEYS.map("metadata.".__add__),
        st.sampled_from([text for text in HOSTILE if text.isprintable()]) | st.integers() | st.booleans() | st.none()
        | st.dictionaries(KEYS | st.sampled_from(["$eq", "$ne", "$lt", "$in", "$like", "$exists"]), KEYS | st.lists(KEYS, max_size=60), max_size=2),
        min_size=1,
        max_size=3,
    )
)  # fmt: skip
def test_hostile_keys_and_values_change_nothing_or_are_refused(wanted: dict[str, Any]) -> None:
    try:
        found = predicate(wanted)
    except InputError:
        return
    rest = outside_of_literals(found.text)
    assert STRUCTURE.fullmatch(rest), rest
    assert rest.count("(") == rest.count(")")
    assert set(re.findall(r":(filter\d+)", rest)) == set(found.binds)
    for literal in re.findall(r"'((?:[^']|'')*)'", found.text):
        assert "\\" not in literal or literal == "\\"
        inside = literal.replace("''", "'")
        # what is in double quotes is a name; outside of them nothing is the caller's
        assert inside.count('"') % 2 == 0
        assert re.fullmatch(r"[$.\[\]*?()@!=<>|& \w\\]*", SAFE_STEP.sub("", inside), re.ASCII)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.sampled_from(["$and", "$or", "$not", "$in", "$eq", "a"]), inner, max_size=3), max_leaves=12))  # fmt: skip
def test_whatever_is_given_is_taken_or_refused_in_words(wanted: Any) -> None:
    try:
        found = predicate(wanted)
    except InputError:
        return
    json.dumps(found.binds, default=str)


if __name__ == "__main__":
    GOLDEN.write_text(golden(), "utf-8")
