"""Records: keys are checked when they are made, identity is type and id, texts stay out of ``repr``."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from oraclerag import records
from oraclerag.errors import InputError
from oraclerag.records import Chunk, Document, DrainReport, Hit, SourceKey


def test_a_key_is_shown_as_type_and_id() -> None:
    assert str(SourceKey("task", "42")) == "task:42"


def test_the_tenant_is_no_part_of_the_identity() -> None:
    assert SourceKey("task", "42") == SourceKey("task", "42", tenant="acme")
    assert len({SourceKey("task", "42"), SourceKey("task", "42", tenant="acme")}) == 1
    assert SourceKey("task", "42") != SourceKey("task", "43")


@pytest.mark.parametrize(
    ("type_", "id_", "tenant"),
    [
        ("", "42", None),
        (7, "42", None),
        ("task", "", None),
        ("task", 42, None),
        ("t" * 31, "42", None),
        ("\ud800", "42", None),
        ("task", "x" * 401, None),
        ("task", "é" * 201, None),
        ("task", "42", ""),
        ("task", "42", "t" * 129),
        ("task", "42", 7),
        ("task", "42", "-"),
        ("task", "4\ud8002", None),
        ("task", "42", "\udc00"),
    ],
)
def test_an_unusable_key_is_refused(type_: str, id_: str, tenant: str | None) -> None:
    with pytest.raises(InputError):
        SourceKey(type_, id_, tenant)


def test_limits_are_inclusive_and_in_bytes() -> None:
    assert SourceKey("task", "é" * 200, "t" * 128).id == "é" * 200


def test_reports_add_up() -> None:
    one = DrainReport(claimed=3, indexed=2, postponed=1, embedded=5, paused=("a",), seconds=0.5)
    two = DrainReport(claimed=1, deleted=1, paused=("a", "b"), seconds=0.25)
    total = one + two
    assert total == DrainReport(
        claimed=4, indexed=2, deleted=1, postponed=1, embedded=5, paused=("a", "b"), seconds=0.75
    )


def test_every_counter_of_a_report_is_added() -> None:
    ones = DrainReport(
        **{f.name: ("x",) if f.name == "paused" else 1 for f in dataclasses.fields(DrainReport)}  # type: ignore[arg-type]
    )
    doubled = ones + ones
    for item in dataclasses.fields(DrainReport):
        assert getattr(doubled, item.name) == (("x",) if item.name == "paused" else 2), item.name


def test_score_is_one_minus_distance() -> None:
    hit = Hit(rank=1, chunk_id=1, source=SourceKey("task", "1"), chunk_number=0, content="t", distance=0.25)
    assert hit.score == 0.75
    assert hit.key == "task:1:0"


@pytest.mark.parametrize(
    "record",
    [
        Document(text="SECRET", title="SECRET", metadata={"a": "SECRET"}),
        Chunk(number=0, text="SECRET"),
        Hit(
            rank=1,
            chunk_id=1,
            source=SourceKey("task", "1"),
            chunk_number=0,
            content="SECRET",
            distance=0.1,
            title="SECRET",
            metadata={"a": "SECRET"},
        ),
    ],
)
def test_source_text_is_not_in_repr(record: object) -> None:
    assert "SECRET" not in repr(record)


def test_records_are_frozen_and_slotted() -> None:
    for name in records.__all__:
        cls: Any = getattr(records, name)
        if dataclasses.is_dataclass(cls):
            assert vars(cls)["__dataclass_params__"].frozen, name
            assert "__slots__" in vars(cls), name
