"""What a row of the table of statements says, and the tables that every row finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

ACCEPTED = 0

FIXTURE = (
    "CREATE TABLE t (id NUMBER PRIMARY KEY, a NUMBER, b VARCHAR2(10), d DATE, ts TIMESTAMP, c CLOB, j JSON, n NUMBER(3) NOT NULL)",
    "CREATE TABLE u (id NUMBER PRIMARY KEY, t_id NUMBER REFERENCES t, b VARCHAR2(10))",
    "CREATE TABLE tv (id NUMBER PRIMARY KEY, v VECTOR(3, FLOAT32), g VARCHAR2(10))",
    "CREATE SEQUENCE s",
    """INSERT INTO t VALUES (1, 5, 'x', DATE '2024-03-01', TIMESTAMP '2024-03-01 10:20:30.5', 'some text',
    '{"a":1,"x":[1,2],"items":[{"n":1},{"n":2}]}', 1)""",
    "INSERT INTO t (id, b, n) VALUES (2, 'y', 2)",
    "INSERT INTO t (id, a, n) VALUES (3, 7, 3)",
    "INSERT INTO u VALUES (1, 1, 'x')",
    "INSERT INTO u VALUES (2, 1, 'z')",
    "INSERT INTO tv VALUES (1, '[1,0,0]', 'g')",
    "INSERT INTO tv VALUES (2, '[0,1,0]', 'h')",
    "INSERT INTO tv (id) VALUES (3)",
)


@dataclass(frozen=True, slots=True)
class Refused:
    """A statement that Oracle refuses with ORA-``error``.

    ``unsure``: that it is refused is documented or seen, the number is not; ``error`` is then the likeliest one.

    ``differs`` says what the local database does instead and why; it then gives ``gives`` (ACCEPTED: no error).
    ``also`` must be part of the message, for the numbers of PL/SQL.
    """

    sql: str
    error: int
    setup: Sequence[str] = ()
    binds: dict[str, Any] = field(default_factory=dict)
    gives: int | None = None
    differs: str = ""
    also: str = ""
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class Works:
    """A statement that Oracle runs: ``result`` is its rows, or how many it wrote; ``then`` gives ``rows`` afterwards.

    ``differs`` says why the local database refuses it with ORA-``gives``.
    """

    sql: str
    result: Sequence[tuple[Any, ...]] | int | None = None
    setup: Sequence[str] = ()
    binds: dict[str, Any] | list[Any] = field(default_factory=dict)
    then: str = ""
    rows: Sequence[tuple[Any, ...]] = ()
    gives: int | None = None
    differs: str = ""
