"""Arrays of rows of which some fail: what is done, what is told, whoever else is at work."""

from __future__ import annotations

from typing import Any

import pytest

from oraclerag.local.engine import arrays
from tests.local.conftest import Account


def test_a_row_that_was_good_may_fail_when_it_is_tried_again(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two attempts another session commits the same key: that row is told as well, and all others are done."""
    with account.connect() as connection, account.connect() as other:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE one (id NUMBER(9) PRIMARY KEY)")
        cursor.execute("INSERT INTO one VALUES (20)")
        connection.commit()
        taken = iter([25, 5, None])
        guarded = arrays.ArrayDml._guarded

        def beaten(self: Any, start: int, end: int) -> Any:
            key = next(taken, None)
            if key is not None:
                with other.cursor() as quicker:
                    quicker.execute("INSERT INTO one VALUES (:1)", [key])
                other.commit()
            return guarded(self, start, end)

        monkeypatch.setattr(arrays.ArrayDml, "_guarded", beaten)
        cursor.executemany("INSERT INTO one VALUES (:1)", [[number] for number in range(40)], batcherrors=True)
        told = [(error.offset, error.full_code) for error in cursor.getbatcherrors()]
        assert told == [(5, "ORA-00001"), (20, "ORA-00001"), (25, "ORA-00001")]
        connection.commit()
        cursor.execute("SELECT COUNT(*), MIN(id), MAX(id) FROM one")
        assert cursor.fetchone() == (40, 0, 39)
