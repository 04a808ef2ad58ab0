"""Sources without a database: keys as text, fingerprints, what a document must be, functions."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
from types import MappingProxyType
from typing import Any, cast

import oracledb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.config import ChildSettings, Settings, SourceSettings
from oraclerag.errors import ConfigurationError, ConnectionFailed, EntityError, SourceError, UnknownSource
from oraclerag.model.active import ActiveModel
from oraclerag.model.tokens import TokenBound
from oraclerag.records import Document, fingerprint_half
from oraclerag.source import FunctionSource, SelectSource, find, from_settings, tenants_mapped
from oraclerag.source.keys import Key, KeyColumn

NUMBER, TEXT, RAW = oracledb.DB_TYPE_NUMBER, oracledb.DB_TYPE_VARCHAR, oracledb.DB_TYPE_RAW
CONNECTION = cast("oracledb.Connection", None)
SETTINGS = SourceSettings(name="task", select="select 1 as source_id from dual", visibility="shared", template="x")
MODEL = ActiveModel("M", "M_12345678", "RAG", "EMBEDDING", 384, 256, "", "", TokenBound())


def key(*kinds: oracledb.DbType) -> Key:
    return Key(tuple(KeyColumn(f"C{number}", kind) for number, kind in enumerate(kinds)))


# -- keys -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kinds", "text", "values"),
    [
        ((NUMBER,), "42", (decimal.Decimal(42),)),
        ((NUMBER,), "-7", (decimal.Decimal(-7),)),
        ((NUMBER,), ".5", (decimal.Decimal("0.5"),)),
        ((NUMBER,), "1.25", (decimal.Decimal("1.25"),)),
        ((TEXT,), "a/b", ("a/b",)),
        ((RAW,), "00FF", (b"\x00\xff",)),
        ((oracledb.DB_TYPE_DATE,), "2026-03-31T10:20:30", (dt.datetime.fromisoformat("2026-03-31T10:20:30"),)),
        ((TEXT, NUMBER), "acme/42", ("acme", decimal.Decimal(42))),
        ((NUMBER, TEXT), "42/a/b", (decimal.Decimal(42), "a/b")),
    ],
)
def test_an_id_is_bound_in_the_type_of_its_column_and_gives_the_same_text(
    kinds: tuple[oracledb.DbType, ...], text: str, values: tuple[Any, ...]
) -> None:
    found = key(*kinds)
    assert found.values(text) == values
    assert found.text({f"c{number}": value for number, value in enumerate(values)}) == text


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        ((NUMBER,), "x"), ((NUMBER,), "042"), ((NUMBER,), "1e3"), ((NUMBER,), "1,5"), ((NUMBER,), "5.0"), ((NUMBER,), "-0x"),
        ((NUMBER,), "٤٢"), ((RAW,), "0f"), ((RAW,), "F"), ((oracledb.DB_TYPE_DATE,), "yesterday"),
        ((TEXT, NUMBER), "acme"), ((TEXT, NUMBER), "/42"), ((TEXT, NUMBER), "acme/42/1"),
    ],
)  # fmt: skip
def test_a_text_that_no_row_can_have_is_no_key(kinds: tuple[oracledb.DbType, ...], text: str) -> None:
    assert key(*kinds).values(text) is None


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**12), max_value=10**12))
def test_the_text_of_a_number_leads_back_to_it(number: decimal.Decimal) -> None:
    column = KeyColumn("C", NUMBER)
    assert column.value(column.text(number)) == number


def test_a_condition_is_padded_so_that_few_statements_arise() -> None:
    condition, binds, _ = key(NUMBER).condition("q", [(1,), (2,), (3,)])
    assert condition == 'q."C0" IN (:k0_0, :k1_0, :k2_0, :k3_0)'
    assert list(binds.values()) == [1, 2, 3, 3]
    condition, _, kinds = key(TEXT, oracledb.DB_TYPE_TIMESTAMP).condition("q", [("a", 1)])
    assert condition == '(q."C0", q."C1") IN ((:k0_0, :k0_1))'
    assert list(kinds) == ["k0_1"]


def test_a_key_needs_its_columns_in_a_type_that_has_a_text() -> None:
    with pytest.raises(SourceError, match="'source_id'"):
        Key.of(["source_id"], {"ID": NUMBER}, "The select")
    with pytest.raises(SourceError, match="CLOB"):
        Key.of(["id"], {"ID": oracledb.DB_TYPE_CLOB}, "The select")


# -- fingerprints -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"select": "select 2 as source_id from dual"}, {"template": "y"}, {"title": "t"}, {"tenant": "t"},
        {"metadata": ("a",)}, {"collection": "work"}, {"visibility": "owner"}, {"time_zone": "Europe/Madrid"},
        {"children": MappingProxyType({"c": ChildSettings("select 1", "ID")})},
    ],
)  # fmt: skip
def test_what_the_index_depends_on_is_in_the_fingerprint(change: dict[str, Any]) -> None:
    before = SelectSource(SETTINGS).fingerprint(MODEL)
    after = SelectSource(dataclasses.replace(SETTINGS, **change)).fingerprint(MODEL)
    assert len(before) == 64
    assert fingerprint_half(before, "settings") != fingerprint_half(after, "settings")
    assert fingerprint_half(before, "model") == fingerprint_half(after, "model")


def test_another_default_tenant_is_another_fingerprint_but_only_without_a_mapped_one() -> None:
    def of(settings: SourceSettings, tenant: str) -> str:
        return SelectSource(settings, default_tenant=tenant).fingerprint(MODEL)

    assert of(SETTINGS, "main") != of(SETTINGS, "other")
    mapped = dataclasses.replace(SETTINGS, tenant="t")
    assert of(mapped, "main") == of(mapped, "other")


@pytest.mark.parametrize("change", [{"physical_name": "M_2"}, {"column": "EMBEDDING_2"}, {"passage_prefix": "p: "}])
def test_another_model_changes_its_half_only(change: dict[str, Any]) -> None:
    source = SelectSource(SETTINGS)
    before, after = source.fingerprint(MODEL), source.fingerprint(dataclasses.replace(MODEL, **change))
    assert fingerprint_half(before, "settings") == fingerprint_half(after, "settings")
    assert fingerprint_half(before, "model") != fingerprint_half(after, "model")


def test_tables_and_egress_change_no_text() -> None:
    changed = dataclasses.replace(SETTINGS, tables={"task": "id"}, egress=False)
    assert SelectSource(changed).fingerprint(MODEL) == SelectSource(SETTINGS).fingerprint(MODEL)


# -- documents --------------------------------------------------------------------------------------------------------


def complete(document: Document, **settings: Any) -> Document:
    return SelectSource(dataclasses.replace(SETTINGS, **settings)).completed(document)


def test_a_document_is_completed_from_the_settings() -> None:
    document = complete(Document("x", owner="", tenant=""), collection="work")
    assert (document.tenant, document.visibility, document.collection, document.owner) == (
        "main",
        "shared",
        "work",
        None,
    )


@pytest.mark.parametrize(
    ("moment", "zone", "utc"),
    [
        ("2026-07-01T12:00:00", "UTC", "2026-07-01T12:00:00"),
        ("2026-07-01T12:00:00", "Europe/Madrid", "2026-07-01T10:00:00"),
        ("2026-01-01T12:00:00", "Europe/Madrid", "2026-01-01T11:00:00"),
        ("2026-07-01T12:00:00+05:30", "Europe/Madrid", "2026-07-01T06:30:00"),
        ("9999-12-31T23:59:59", "America/New_York", "9999-12-31T23:59:59"),  # "never" has no time in UTC
        ("0001-01-01T00:00:00", "Asia/Tokyo", "0001-01-01T00:00:00"),
    ],
)
def test_times_are_kept_in_utc(moment: str, zone: str, utc: str) -> None:
    document = complete(Document("x", occurred_at=dt.datetime.fromisoformat(moment)), time_zone=zone)
    assert document.occurred_at == dt.datetime.fromisoformat(utc)


@pytest.mark.parametrize(
    "document",
    [
        Document("x", owner="o" * 129),
        Document("x", url="u" * 2001),
        Document("x", project="é" * 65),
        Document("x", owner=cast("str", 7)),
        Document("x", owner="\ud800"),
        Document("x", url="a\udc00"),
        Document("x", metadata={"a": "\ud800"}),
        Document("x", metadata={"a": float("nan")}),
        Document("x", metadata={"a": object()}),
        Document("x", metadata=cast("Any", ["a"])),
        Document("x", visibility=cast("Any", "public")),
        Document("x", tenant="acme"),
    ],
)
def test_a_value_that_would_have_to_be_cut_is_refused(document: Document) -> None:
    with pytest.raises(EntityError):
        complete(document)


# -- functions --------------------------------------------------------------------------------------------------------


def function(read: Any, **more: Any) -> FunctionSource:
    return FunctionSource("note", read, visibility="shared", **more)


def test_a_function_gives_documents_and_what_it_leaves_out_is_gone() -> None:
    source = function(lambda connection, ids: {"1": Document("one"), "2": None})
    assert source.read(CONNECTION, ["1", "2", "3"]) == {
        "1": dataclasses.replace(Document("one"), tenant="main", visibility="shared")
    }


def test_the_ids_at_fault_are_found() -> None:
    calls: list[int] = []

    def read(_: object, ids: list[str]) -> dict[str, Document]:
        calls.append(len(ids))
        if "13" in ids:
            raise ValueError("secret")
        return {key: Document(key) for key in ids}

    result = function(read).read_each(CONNECTION, [str(number) for number in range(32)])
    assert len(result.documents) == 31
    assert list(result.failures) == ["13"]
    assert "secret" not in result.failures["13"].message
    assert len(calls) <= 12


def test_a_function_that_fails_for_every_id_is_at_fault_itself() -> None:
    def read(_: object, ids: list[str]) -> dict[str, Document]:
        raise KeyError(ids[0])

    with pytest.raises(SourceError, match="fails for every id"):
        function(read).read_each(CONNECTION, ["1", "2", "3"])
    assert list(function(read).read_each(CONNECTION, ["1"]).failures) == ["1"]


@pytest.mark.parametrize(
    "given",
    [None, [], {"9": Document("x")}, {1: Document("x")}, {"1": "x"}, {"1": Document(cast("str", None))}],
)
def test_a_function_that_gives_something_else_is_refused(given: Any) -> None:
    with pytest.raises(SourceError):
        function(lambda connection, ids: given).read_each(CONNECTION, ["1"])


def test_an_outage_is_nobodys_fault() -> None:
    def read(_: object, ids: list[str]) -> dict[str, Document]:
        raise ConnectionFailed

    with pytest.raises(ConnectionFailed):
        function(read).read_each(CONNECTION, ["1", "2"])


def test_a_function_is_known_by_its_version() -> None:
    one, two = function(lambda connection, ids: {}), function(lambda connection, ids: {}, version="2")
    assert one.fingerprint(MODEL) != two.fingerprint(MODEL)


@pytest.mark.parametrize("name", ["Note", "1note", "n" * 31, "no te"])
def test_the_name_of_a_function_source_is_checked(name: str) -> None:
    with pytest.raises(ConfigurationError, match="name"):
        FunctionSource(name, lambda connection, ids: {}, visibility="shared")


# -- all of them ------------------------------------------------------------------------------------------------------


def test_sources_of_the_settings_know_the_default_tenant() -> None:
    mapped = dataclasses.replace(SETTINGS, name="article", tenant="t")
    sources = from_settings(Settings(tenant="acme", sources=(SETTINGS,)))
    assert sources["task"].default_tenant == "acme"
    assert not tenants_mapped(sources)
    assert tenants_mapped(from_settings(Settings(sources=(SETTINGS, mapped))))
    with pytest.raises(UnknownSource, match="configured: task"):
        find(sources, "tusk")
