"""LOBs without a client: offsets, growth, freeing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.local.interface import OraError
from oraclerag.local.wire.lobs import Lob, LobTable, TemporaryLob
from oraclerag.local.wire.values import LOCATOR_SIZE


@given(st.text(max_size=50), st.integers(1, 60), st.integers(0, 60))
def test_text_is_read_by_utf16_units(text: str, offset: int, amount: int) -> None:
    units = text.encode("utf-16-be")
    lob = Lob(text)
    assert lob.size == len(units) // 2
    data, count = lob.read(offset, amount)
    assert data == units[2 * (offset - 1) : 2 * (offset - 1 + amount)]
    assert count == len(data) // 2


@given(st.lists(st.tuples(st.integers(1, 40), st.binary(max_size=20)), max_size=10))
def test_writing_bytes_anywhere(writes: list[tuple[int, bytes]]) -> None:
    lob = TemporaryLob(is_text=False)
    model = b""
    for offset, data in writes:
        lob.write(offset, data)
        model = model[: offset - 1].ljust(offset - 1, b"\0") + data + model[offset - 1 + len(data) :]
        assert lob.value() == model
        assert lob.size == len(model)


def test_a_gap_in_text_is_filled_with_spaces() -> None:
    lob = TemporaryLob(is_text=True)
    lob.write(3, "x".encode("utf-16-be"))
    assert lob.value() == "  x"


def test_a_cell_leads_back_to_its_value() -> None:
    table = LobTable()
    cell = table.put("é😀")
    assert cell[:2] == b"\1\x28"
    locator = cell[-LOCATOR_SIZE:]
    assert table.get(locator).value() == "é😀"
    assert locator[6] & 0x80  # text travels as UTF-16
    assert locator[7] & 0x01  # the client gives notice when it drops it
    blob = table.put(b"x")[-LOCATOR_SIZE:]
    assert blob[4] & 0x01
    assert not blob[6] & 0x80
    table.free(locator + blob)
    assert len(table) == 0
    with pytest.raises(OraError, match="ORA-22922"):
        table.get(locator)
    table.free(locator)


def test_no_value_is_ever_found_by_chance() -> None:
    table = LobTable()
    table.put("x")
    for locator in (b"", bytes(LOCATOR_SIZE), b"\xff" * LOCATOR_SIZE):
        with pytest.raises(OraError, match="ORA-22922"):
            table.get(locator)
