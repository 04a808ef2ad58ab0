"""Names of more than 63 bytes: what stands for them in PostgreSQL, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oraclerag.local.engine import long_names
from oraclerag.local.engine.long_names import LongNames, derived, digest_of, stored, written

LONG = "N" * 64


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters='"\0'), min_size=1, max_size=128))
@example("N" * 63)
@example(LONG)
@example("é" * 31)
@example("é" * 32)
@example("😀" * 15)
@example("😀" * 16)
def test_what_is_stored_fits_and_leads_back(name: str) -> None:
    kept = stored(name)
    assert len(kept.encode()) <= long_names.POSTGRES_BYTES
    assert (kept == name) == (len(name.encode()) <= long_names.POSTGRES_BYTES)
    assert LongNames(lambda _: None).name(kept) == name
    assert LongNames(lambda _: None).text(f'no "{kept}" in {kept}$') == f'no "{name}" in {name}$'
    assert stored(kept) == kept


@pytest.mark.parametrize("length", [1, 57, 58, 62, 63, 64, 128])
def test_a_derived_name_keeps_what_is_put_around(length: int) -> None:
    first, other = "a" * length, "a" * (length - 1) + "b"
    made = derived(" ", first, "$NULLS")
    assert len(made.encode()) <= long_names.POSTGRES_BYTES
    assert made.startswith(" ")
    assert made.endswith("$NULLS")
    assert made != derived(" ", other, "$NULLS")
    assert LongNames(lambda _: None).text(made) == f" {first}$NULLS"


def test_what_this_process_has_not_seen_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = digest_of(LONG)
    monkeypatch.setattr(long_names, "_seen", {})
    asked: list[str] = []

    def find(text: str) -> str | None:
        asked.append(text)
        return LONG if text == digest else None

    names = LongNames(find)
    assert [names.name(digest), names.text(f"({digest})")] == [LONG, f"({LONG})"]
    assert asked == [digest]
    other = f"~{'0' * 32}~"  # of nobody's name: a user may call a table so
    assert names.name(other) == other
    assert names.name("~") == names.text("~") == "~"


def test_what_ddl_writes_is_found_in_its_statements() -> None:
    assert written([f'CREATE TABLE "S"."{stored(LONG)}" ("A" numeric)', 'DROP TABLE "T"', "SELECT '~'"]) == {
        digest_of(LONG): LONG
    }


def test_only_so_many_names_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_names, "_seen", {})
    monkeypatch.setattr(long_names, "_KEPT", 3)
    digests = [digest_of(f"{number}{LONG}") for number in range(5)]
    assert [LongNames(lambda _: None).name(digest) == digest for digest in digests] == [True, True, False, False, False]
