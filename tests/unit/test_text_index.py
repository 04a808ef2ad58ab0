"""The text index where its creation fails: nothing is left that would block changes of the table."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import oracledb
import pytest

from oraclerag import index
from oraclerag.errors import InputError, PrivilegeMissing, StatementFailed
from oraclerag.index import lexical


class Failure:
    def __init__(self, full_code: str, text: str) -> None:
        self.full_code = full_code
        self.text = text

    def __str__(self) -> str:
        return f"{self.full_code}: {self.text}"


def failure(code: str, text: str = "something") -> oracledb.DatabaseError:
    return oracledb.DatabaseError(Failure(code, text))


REFUSED = failure(
    "ORA-29855",
    "error occurred in the execution of ODCIINDEXCREATE routine\nORA-20000: Oracle Text error:\nDRG-10700: x",
)


class FakeDatabase:
    """A dictionary with one index: each CREATE leaves what ``creations`` says, a state or an error and a FAILED index."""

    schema = "RAG"

    def __init__(self, *creations: Any, state: str | None = None, installed: int = 1, user: str = "RAG") -> None:
        self.creations = list(creations)
        self.state = state
        self.installed = installed
        self.user = user
        self.done: list[str] = []
        self.row: Any = None
        self.call_timeout = 0

    @contextlib.contextmanager
    def connect(self) -> Iterator[FakeDatabase]:
        yield self

    def cursor(self) -> FakeDatabase:
        return self

    def is_healthy(self) -> bool:
        return True

    def __enter__(self) -> FakeDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def execute(self, statement: str, **_: Any) -> None:
        if "INSTALLED" in statement:
            self.row = (self.installed, self.user, self.state)
        elif "CTX_USER_PENDING" in statement:
            self.row = (3,)
        elif statement.startswith("DROP"):
            self.done.append("drop")
            if self.state is None:
                raise failure("ORA-01418")
            self.state = None
        elif statement.startswith("CREATE"):
            self.done.append("create with SYNC" if "SYNC" in statement else "create")
            result = self.creations.pop(0)
            if isinstance(result, oracledb.DatabaseError):
                self.state = "FAILED"
                raise result
            self.state = result

    def fetchone(self) -> Any:
        return self.row


@pytest.fixture(autouse=True)
def unrestricted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "require_unrestricted", lambda *_: None)


def build(database: Any, said: list[str], *, replace: bool = False) -> index.TextIndexStatus:
    make = index.rebuild_text if replace else index.build_text
    return make(database, said=said.append)


def test_what_failed_is_dropped_and_said() -> None:
    database, said = FakeDatabase(REFUSED, REFUSED), list[str]()
    with pytest.raises(StatementFailed, match=r"could not be built \(ORA-29855, DRG-10700: x\)") as raised:
        build(database, said)
    assert "CTXAPP" in str(raised.value.hint)
    assert database.done == ["create with SYNC", "drop", "create", "drop"]
    assert database.state is None
    assert sum("would block changes: dropped" in line for line in said) == 2


def test_where_sync_is_refused_the_database_keeps_it_up_to_date() -> None:
    database, said = FakeDatabase(REFUSED, "VALID"), list[str]()
    assert build(database, said).usable
    assert database.done == ["create with SYNC", "drop", "create"]
    assert "by itself" in said[-1]


@pytest.mark.parametrize("state", ["FAILED", "LOADING", "UNUSABLE"])
def test_a_failed_index_that_was_there_is_replaced(state: str) -> None:
    database, said = FakeDatabase("VALID", state=state), list[str]()
    assert index.text_status(database).recommendation  # type: ignore[arg-type]
    assert build(database, said).usable
    assert database.done == ["drop", "create with SYNC"]
    assert any(state in line for line in said)


def test_one_that_is_usable_is_left_alone_and_rebuilt_on_request() -> None:
    database = FakeDatabase("VALID", state="VALID")
    assert build(database, []).pending == 3
    assert database.done == []
    build(database, [], replace=True)
    assert database.done == ["drop", "create with SYNC"]


def test_a_right_that_is_missing_is_not_tried_again() -> None:
    database = FakeDatabase(failure("ORA-01031", "insufficient privileges"))
    with pytest.raises(PrivilegeMissing):
        build(database, [])
    assert database.done == ["create with SYNC", "drop"]


def test_without_oracle_text_nothing_is_tried() -> None:
    database = FakeDatabase(installed=0)
    with pytest.raises(InputError, match="Oracle Text is not installed"):
        build(database, [])
    assert database.done == []
    assert not index.text_status(database).installed  # type: ignore[arg-type]


def test_who_does_not_own_it_is_not_told_what_waits() -> None:
    assert index.text_status(FakeDatabase(state="VALID", user="READER")).pending is None  # type: ignore[arg-type]
