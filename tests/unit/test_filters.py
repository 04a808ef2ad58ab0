"""A filter is equality on known fields; everything else is refused by name."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.errors import InputError
from oraclerag.filters import predicate


@pytest.mark.parametrize(
    ("wanted", "sql", "binds"),
    [
        ({}, "", {}),
        ({"project": "7"}, "(c.PROJECT_ID = :filter0)", {"filter0": "7"}),
        (
            {"sprint": "3", "collection": "work"},
            "(c.SPRINT_ID = :filter0) AND (c.COLLECTION = :filter1)",
            {"filter0": "3", "filter1": "work"},
        ),
        ({"source_type": "task"}, "(c.SOURCE_TYPE = :filter0)", {"filter0": "task"}),
        ({"metadata.module": "AP"}, "(JSON_VALUE(c.METADATA, '$.\"module\"') = :filter0)", {"filter0": "AP"}),
        (
            {"metadata.points": 5},
            "(JSON_VALUE(c.METADATA, '$.\"points\"' RETURNING NUMBER) = :filter0)",
            {"filter0": 5},
        ),
        (
            {"metadata.is_open": True},
            "(JSON_VALUE(c.METADATA, '$.\"is_open\"' RETURNING BOOLEAN) = :filter0)",
            {"filter0": True},
        ),
    ],
)
def test_predicate(wanted: dict[str, Any], sql: str, binds: dict[str, Any]) -> None:
    assert predicate(wanted) == (sql, binds)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"tenant": "x"}, "no field 'tenant'"),
        ({"owner": "x"}, "no field 'owner'"),
        ({"metadata": "x"}, "no field 'metadata'"),
        ({"metadata.a.b": "x"}, "no field"),
        ({"metadata.a' OR 1=1 --": "x"}, "no field"),
        ({"project": ""}, "must not be empty"),
        ({"project": None}, "takes one text"),
        ({"project": ["a", "b"]}, "takes one text"),
        ({"project": 7}, "takes one text"),
        ({"project": "a\0"}, "NUL"),
        ({"project": "ñ" * 501}, "1,000 bytes"),
        ({"project": "\udfff"}, "valid text"),
        ({"metadata.a": None}, "takes a text"),
        ({"metadata.a": {"$gt": 3}}, "takes a text"),
        ({"metadata.a": float("nan")}, "finite"),
        ({3: "x"}, "must be a text"),
        ({f"metadata.f{n}": "x" for n in range(33)}, "32 are the most"),
        ("project = 7", "must be a mapping"),
    ],
    ids=str,
)
def test_refused(wanted: Any, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        predicate(wanted)


KEYS = st.text(max_size=20) | st.text("abc._'", max_size=8).map("metadata.".__add__)


@given(st.dictionaries(KEYS, st.text(max_size=9)))
def test_what_is_accepted_holds_no_text_of_the_caller_but_names(wanted: dict[str, str]) -> None:
    try:
        sql, binds = predicate(wanted)
    except InputError:
        return
    assert set(re.findall(r":(\w+)", sql)) == set(binds)
    assert list(binds.values()) == list(wanted.values())
    assert re.fullmatch(r"[A-Za-z0-9_.:,$'\"() =]*", sql)
    paths = sum(key.startswith("metadata.") for key in wanted)
    assert sql.count("'") == sql.count('"') == 2 * paths
