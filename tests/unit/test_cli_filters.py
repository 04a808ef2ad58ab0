"""A filter on the command line: FIELD=VALUE, JSON, both, and what is neither."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
import typer

from oraclerag.cli.filters import conditions


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        ([], {}),
        (["project=7", "metadata.module=A=B"], {"project": "7", "metadata.module": "A=B"}),
        (['{"points": {"$gte": 5.10}}'], {"points": {"$gte": Decimal("5.10")}}),
        (
            ["project=7", ' {"due": {"$lt": {"$date": "2026-01-31"}}}', "{}"],
            {"$and": [{"project": "7"}, {"due": {"$lt": {"$date": "2026-01-31"}}}]},
        ),
        (["{}"], {}),
        (['{"a": 1}', '{"a": 2}'], {"$and": [{"a": 1}, {"a": 2}]}),
    ],
    ids=str,
)
def test_read(texts: list[str], wanted: dict[str, Any]) -> None:
    assert conditions(texts, "--filter") == wanted


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["project"], "takes FIELD=VALUE or a JSON object, not 'project'"),
        (["=x"], "takes FIELD=VALUE"),
        (["a=1", "a=2"], "names 'a' twice"),
        (['{"a": '], "begins as one and is none (at character 7)"),
        (['{"a": 1} x'], "begins as one and is none"),
        (['{"a": 1, "a": 2}'], "has a key twice"),
        (['{"a": NaN}'], "NaN is no number"),
        (['{"a": ' * 10_000], "begins as one and is none"),
        (['{"a": ' + "1" * 5000 + "}"], "begins as one and is none"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refused(texts: list[str], says: str) -> None:
    with pytest.raises(typer.BadParameter, match=re.escape(says)):
        conditions(texts, "--prefer")
