"""What the wire and the engine of the local database agree on, and nothing else.

The wire speaks Oracle Net and knows no SQL; the engine knows SQL and no packets. The wire holds an
:class:`EngineSession` per connection; the engine calls back through :class:`Client` (has the client asked to
stop?) and :class:`LobStore` (give this large value a locator).

Type numbers are those of the protocol (``oracledb`` calls them ``DB_TYPE_…``).
"""

from __future__ import annotations

import enum
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class OraType(enum.IntEnum):
    """Oracle data types by their number on the wire."""

    VARCHAR = 1
    NUMBER = 2
    LONG = 8
    ROWID = 11
    DATE = 12
    RAW = 23
    LONG_RAW = 24
    CHAR = 96
    BINARY_FLOAT = 100
    BINARY_DOUBLE = 101
    CURSOR = 102
    OBJECT = 109
    CLOB = 112
    BLOB = 113
    JSON = 119
    VECTOR = 127
    TIMESTAMP = 180
    TIMESTAMP_TZ = 181
    INTERVAL_DS = 183
    TIMESTAMP_LTZ = 231
    BOOLEAN = 252


class VectorFormat(enum.IntEnum):
    """Storage format of a VECTOR column as a describe reports it."""

    FLEXIBLE = 0
    FLOAT32 = 2
    FLOAT64 = 3
    INT8 = 4
    BINARY = 5


class OraError(Exception):
    """An error as Oracle numbers it.

    ``message`` is the text without the ``ORA-nnnnn: `` prefix; ``position`` is the 0-based offset in the statement
    (0 when there is none).
    """

    def __init__(self, number: int, message: str, position: int = 0) -> None:
        super().__init__(f"ORA-{number:05d}: {message}")
        self.number = number
        self.message = message
        self.position = position


class StatementKind(enum.Enum):
    """How a client treats a statement; it decides by the first word."""

    QUERY = "query"
    DML = "dml"
    PLSQL = "plsql"
    DDL = "ddl"
    OTHER = "other"  # COMMIT, ROLLBACK, SAVEPOINT, SET, LOCK, EXPLAIN, …: no binds, no result


@dataclass(frozen=True, slots=True)
class StatementShape:
    """What the wire must know of a statement before it can read the binds.

    ``binds`` holds the names in the order in which the client sends values: one entry per occurrence in SQL, one per
    distinct name in PL/SQL. ``returning`` is the index of the first bind of ``RETURNING … INTO``, or None.
    """

    kind: StatementKind
    binds: tuple[str, ...] = ()
    returning: int | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result as it is described to the client.

    ``size`` is in bytes, ``chars`` in characters (0 where the type has no length). NUMBER without precision has
    ``precision=0, scale=-127``.
    """

    name: str
    type: OraType
    precision: int = 0
    scale: int = 0
    size: int = 0
    chars: int = 0
    nullable: bool = True
    vector_dimensions: int = 0
    vector_format: VectorFormat = VectorFormat.FLEXIBLE


class JsonNull(enum.Enum):
    """The value null of JSON as a whole document, which is not SQL's NULL: its one member is ``JSON_NULL``."""

    JSON_NULL = "null"


JSON_NULL = JsonNull.JSON_NULL


@dataclass(frozen=True, slots=True)
class BindType:
    """How the client declared a bind: type, buffer size in bytes, array elements (0: scalar)."""

    type: OraType
    size: int = 0
    elements: int = 0


class CellForm(enum.Enum):
    """How the client wants a column; it says so in the define step, only for CLOB, BLOB, JSON and VECTOR."""

    VALUE = "value"  # scalars; JSON as OSON, VECTOR as image
    LONG = "long"  # inline text or bytes, framed as LONG / LONG RAW
    LOCATOR = "locator"  # CLOB, BLOB (VECTOR: its text) through a locator


class LobStore(Protocol):
    """The wire's table of large values of one session."""

    def put(self, value: str | bytes) -> bytes:
        """Keep a value and give the complete column cell (lengths, locator) that stands for it on the wire."""
        ...


class Rows(Protocol):
    """The result of a query, read from the database as the client asks for it."""

    columns: tuple[Column, ...]

    def write(self, out: bytearray, count: int, forms: Sequence[CellForm], lobs: LobStore) -> int:
        """Append up to ``count`` rows to ``out``, each as the byte 7 and its cells; give the number written.

        Fewer than ``count`` means the end. No row is read ahead: under FOR UPDATE a row that is read is locked.
        """
        ...

    def close(self) -> None:
        """Forget the result; what was locked stays locked until the transaction ends."""
        ...


@dataclass(frozen=True, slots=True)
class RowError:
    """An error of one row of an array, with the 0-based offset of that row."""

    offset: int
    error: OraError


@dataclass(slots=True)
class DmlResult:
    """What an array DML did.

    ``counts``: affected rows per executed bind row. ``returned``: per executed bind row, per RETURNING bind, the list
    of values (Python values, already of the type the client bound). ``errors``: rows that failed, with batch errors.
    ``error``: what stopped the array; the rows before it stay done, as Oracle does it.
    """

    counts: list[int] = field(default_factory=list)
    returned: list[list[list[Any]]] = field(default_factory=list)
    errors: list[RowError] = field(default_factory=list)
    error: OraError | None = None


class Direction(enum.IntEnum):
    """Direction of a PL/SQL bind as the IO vector carries it."""

    OUT = 16
    IN = 32
    IN_OUT = 48


@dataclass(slots=True)
class BlockResult:
    """What a PL/SQL block left behind: bind directions, and per execution the values of the OUT and IN OUT binds."""

    directions: tuple[Direction, ...] = ()
    outs: list[list[Any]] = field(default_factory=list)


class Client(Protocol):
    """The client's connection as the engine sees it while PostgreSQL works."""

    def fileno(self) -> int:
        """Give the socket to wait on, or -1 when there is nothing to watch."""
        ...

    def interrupted(self) -> bool:
        """Read what has come in (called when the socket is readable); True means: stop the statement.

        True is also the answer when the client has gone. Requests that came early are kept by the wire.
        """
        ...


class EngineSession(Protocol):
    """One Oracle session. Every method raises :class:`OraError` and leaves the session usable."""

    @property
    def in_transaction(self) -> bool:
        """Whether there is uncommitted work."""
        ...

    def shape(self, sql: str) -> StatementShape:
        """Tell kind and binds of a statement from its tokens alone (it need not be valid)."""
        ...

    def describe(self, sql: str) -> tuple[Column, ...]:
        """Parse and describe a query without running it."""
        ...

    def query(self, sql: str, binds: Sequence[Any], types: Sequence[BindType]) -> Rows:
        """Run a query. ``binds`` and ``types`` follow ``shape(sql).binds``."""
        ...

    def dml(
        self,
        sql: str,
        rows: Sequence[Sequence[Any]],
        types: Sequence[BindType],
        *,
        batch_errors: bool = False,
    ) -> DmlResult:
        """Run an INSERT, UPDATE, DELETE or MERGE once per bind row.

        ``types`` has one entry per bind, those of RETURNING included (they say which type is wanted back); ``rows``
        hold the input binds only. A statement without binds gets ``rows=[()]``.
        """
        ...

    def block(self, sql: str, rows: Sequence[Sequence[Any]], types: Sequence[BindType]) -> BlockResult:
        """Run an anonymous PL/SQL block or CALL once per bind row."""
        ...

    def run(self, sql: str) -> None:
        """Run a statement without binds and result, such as DDL, COMMIT, SAVEPOINT or ALTER SESSION."""
        ...

    def commit(self) -> None:
        """Commit."""
        ...

    def rollback(self) -> None:
        """Roll back."""
        ...

    def set_schema(self, name: str) -> None:
        """Make ``name`` the current schema (the client may ask for it without a statement)."""
        ...

    def close(self) -> None:
        """Roll back and give up the connection."""
        ...


class Engine(Protocol):
    """The database behind the listener."""

    def open(self, user: str, client: Client) -> EngineSession:
        """Open a session for an authenticated user."""
        ...

    def password(self, user: str) -> str | None:
        """Give the password of a user (upper-case name), or None when there is no such user."""
        ...


class EmbeddingModels(Protocol):
    """Runs ONNX models that carry their tokenizer."""

    def check(self, data: bytes, metadata: dict[str, Any]) -> int:
        """Load a model and give its dimension; an :class:`OraError` says why it cannot be loaded."""
        ...

    def embed(self, digest: str, load: Callable[[], bytes], texts: Sequence[str]) -> list[array[float]]:
        """Embed texts, in order, on all cores.

        ``digest`` is the SHA-256 of the model, the key under which a loaded model is kept; ``load`` gives its bytes
        when it is not loaded. Each result is an ``array('f')``.
        """
        ...
