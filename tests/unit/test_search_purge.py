"""A slice of a purge that meets a worker in the other order is run again, whole, and not for ever."""

from __future__ import annotations

from typing import Any

import pytest

from oraclerag.errors import Contention
from oraclerag.searches.purge import _slice


class Connection:
    """Fails so often at its second statement; keeps what was run in each transaction."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.rowcount = 0
        self.ran: list[str] = []
        self.rolled_back = 0
        self.committed: list[list[str]] = []

    def cursor(self) -> Connection:
        return self

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, text: str, binds: dict[str, Any]) -> None:
        assert binds == {"last_id": 3}
        self.ran.append(text)
        self.rowcount = len(text)
        if text == "searches" and self.failures:
            self.failures -= 1
            raise Contention

    def rollback(self) -> None:
        self.rolled_back += 1
        self.ran.clear()

    def commit(self) -> None:
        self.committed.append([*self.ran])


def run(failures: int) -> tuple[list[int], Connection]:
    connection = Connection(failures)
    return _slice(connection, ["hits", "searches"], {"last_id": 3}), connection  # type: ignore[arg-type]


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_it_is_run_again(failures: int) -> None:
    counts, connection = run(failures)
    assert counts == [4, 8]
    assert connection.committed == [["hits", "searches"]]
    assert connection.rolled_back == failures


def test_it_is_given_up_after_three() -> None:
    with pytest.raises(Contention):
        run(3)
