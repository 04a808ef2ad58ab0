"""Statements that steer a transaction or the session: COMMIT, SAVEPOINT, SET TRANSACTION, LOCK TABLE, ALTER SESSION."""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from dataclasses import dataclass

from oraclerag.local.engine.words import RESERVED
from oraclerag.local.interface import OraError

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(r"\s*('(?:[^']|'')*'|\"[^\"]+\"|[A-Za-z_][\w$#]*|[\d.]+|[+-]?\d+|\S)")
_OFFSET = re.compile(r"([+-])(\d{1,2}):(\d{1,2})\Z")
_LOCK_MODES = frozenset(
    {"ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE", "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE"},
)
_FORMATS = {
    "NLS_DATE_FORMAT": "date",
    "NLS_TIMESTAMP_FORMAT": "timestamp",
    "NLS_TIMESTAMP_TZ_FORMAT": "timestamp_tz",
}
_ONLY = {
    "NLS_LANGUAGE": {"AMERICAN", "ENGLISH"},
    "NLS_DATE_LANGUAGE": {"AMERICAN", "ENGLISH"},
    "NLS_TERRITORY": {"AMERICA"},
    "NLS_NUMERIC_CHARACTERS": {".,"},
    "NLS_SORT": {"BINARY"},
    "NLS_COMP": {"BINARY"},
    "NLS_LENGTH_SEMANTICS": {"BYTE"},
    "NLS_CALENDAR": {"GREGORIAN"},
    "GROUP_BY_POSITION_ENABLED": {"FALSE"},
    "CONTAINER": set(),
    "EDITION": set(),
}
# They change how Oracle finds a result, not the result.
_WITHOUT_EFFECT = re.compile(
    r"(_?OPTIMIZER_\w+|STATISTICS_LEVEL|CURSOR_SHARING|SQL_TRACE|TRACEFILE_IDENTIFIER|TIMED_STATISTICS|WORKAREA_SIZE_POLICY"
    r"|PARALLEL_\w+|DDL_LOCK_TIMEOUT|PLSQL_\w+|QUERY_REWRITE_\w+|RESULT_CACHE_MODE|SESSION_CACHED_CURSORS|SORT_AREA_SIZE"
    r"|HASH_AREA_SIZE|NLS_CURRENCY|NLS_ISO_CURRENCY|NLS_DUAL_CURRENCY|NLS_TIME_FORMAT|NLS_TIME_TZ_FORMAT)\Z"
)


@dataclass(frozen=True, slots=True)
class Commit:
    """COMMIT."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """ROLLBACK, of everything or to a savepoint."""

    savepoint: str | None = None


@dataclass(frozen=True, slots=True)
class Savepoint:
    """SAVEPOINT."""

    name: str


@dataclass(frozen=True, slots=True)
class SetTransaction:
    """SET TRANSACTION: None where the session's default holds."""

    serializable: bool | None = None
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class LockTable:
    """LOCK TABLE; ``wait`` is None to wait for ever, 0 for NOWAIT, else seconds."""

    schema: str | None
    table: str
    mode: str
    wait: int | None


@dataclass(frozen=True, slots=True)
class AlterSession:
    """ALTER SESSION SET: names and values in order; values without their quotes."""

    settings: tuple[tuple[str, str], ...]


Control = Commit | Rollback | Savepoint | SetTransaction | LockTable | AlterSession


class _Tokens:
    def __init__(self, sql: str) -> None:
        self.items = _TOKEN.findall(_COMMENT.sub(" ", sql))
        self.place = 0

    def peek(self) -> str:
        return self.items[self.place].upper() if self.place < len(self.items) else ""

    def accept(self, *words: str) -> bool:
        if [item.upper() for item in self.items[self.place : self.place + len(words)]] == list(words):
            self.place += len(words)
            return True
        return False

    def name(self, number: int, message: str) -> str:
        item = self.items[self.place] if self.place < len(self.items) else ""
        if not (item[:1].isalpha() or item[:1] == '"'):
            raise OraError(number, message)
        if item.upper() in RESERVED:
            raise OraError(number, message)
        self.place += 1
        return item[1:-1] if item[0] == '"' else item.upper()

    def end(self, number: int, message: str) -> None:
        if self.place < len(self.items):
            raise OraError(number, message)


def read(sql: str) -> Control | None:
    """Read a statement of this kind; None when it is of another one."""
    tokens = _Tokens(sql)
    if tokens.peek() != "CREATE" and tokens.items[-1:] == [";"]:  # a trigger ends with one
        raise OraError(911, "';': invalid character")
    if tokens.accept("COMMIT"):
        return _commit(tokens)
    if tokens.accept("ROLLBACK"):
        return _rollback(tokens)
    if tokens.accept("SAVEPOINT"):
        name = tokens.name(3050, "invalid identifier: a savepoint needs a name that is no reserved word")
        tokens.end(900, "invalid SQL statement")
        return Savepoint(name)
    if tokens.accept("SET", "TRANSACTION"):
        return _set_transaction(tokens)
    if tokens.accept("LOCK", "TABLE"):
        return _lock_table(tokens)
    if tokens.accept("ALTER", "SESSION"):
        return _alter_session(tokens)
    return None


def _commit(tokens: _Tokens) -> Commit:
    tokens.accept("WORK")
    if tokens.accept("COMMENT"):
        tokens.place += 1
    if tokens.accept("WRITE"):
        while tokens.peek() in {"WAIT", "NOWAIT", "IMMEDIATE", "BATCH"}:
            tokens.place += 1
    tokens.end(2185, "a token other than WORK follows COMMIT")
    return Commit()


def _rollback(tokens: _Tokens) -> Rollback:
    tokens.accept("WORK")
    savepoint = None
    if tokens.accept("TO"):
        tokens.accept("SAVEPOINT")
        savepoint = tokens.name(2181, "invalid option to ROLLBACK WORK")
    tokens.end(2181, "invalid option to ROLLBACK WORK")
    return Rollback(savepoint)


def _set_transaction(tokens: _Tokens) -> SetTransaction:
    serializable: bool | None = None
    read_only = False
    if tokens.accept("READ", "ONLY"):
        serializable, read_only = True, True
    elif tokens.accept("ISOLATION", "LEVEL", "SERIALIZABLE"):
        serializable = True
    elif tokens.accept("ISOLATION", "LEVEL", "READ", "COMMITTED"):
        serializable = False
    elif tokens.peek() == "ISOLATION":
        raise OraError(2179, "valid options: ISOLATION LEVEL { SERIALIZABLE | READ COMMITTED }")
    elif not tokens.accept("READ", "WRITE") and tokens.peek() != "NAME":
        raise OraError(900, "invalid SQL statement")
    if tokens.accept("NAME"):
        tokens.place += 1
    word = tokens.peek()
    tokens.end(3048 if word == "NO" else 3049, f"SQL keyword '{word}' is not syntactically valid here")
    return SetTransaction(serializable, read_only)


def _lock_table(tokens: _Tokens) -> LockTable:
    schema: str | None = None
    table = tokens.name(903, "invalid table name")
    if tokens.accept("."):
        schema, table = table, tokens.name(903, "invalid table name")
    if not tokens.accept("IN"):
        if tokens.peek() in {",", "PARTITION", "SUBPARTITION"}:
            raise OraError(3001, "unimplemented feature: LOCK TABLE of several tables or partitions")
        raise OraError(905, "missing keyword")
    words = []
    while tokens.peek() and not tokens.accept("MODE"):
        words.append(tokens.peek())
        tokens.place += 1
    mode = " ".join(words)
    if mode not in _LOCK_MODES:
        raise OraError(1737, "valid modes: [ROW] SHARE, [[SHARE] ROW] EXCLUSIVE, SHARE UPDATE")
    wait: int | None = None
    if tokens.accept("NOWAIT"):
        wait = 0
    elif tokens.accept("WAIT"):
        wait = int(tokens.peek()) if tokens.peek().isdigit() else 0
        tokens.place += 1
    tokens.end(900, "invalid SQL statement")
    return LockTable(schema, table, "ROW SHARE" if mode == "SHARE UPDATE" else mode, wait)


def _alter_session(tokens: _Tokens) -> AlterSession:
    if tokens.peek() in {"ENABLE", "DISABLE", "FORCE"}:
        tokens.place += 1
        if tokens.accept("PARALLEL") or tokens.accept("RESUMABLE"):
            return AlterSession(())
        raise OraError(3001, f"unimplemented feature: ALTER SESSION … {tokens.peek()}")
    if not tokens.accept("SET"):
        raise OraError(2248, "invalid option for ALTER SESSION")
    settings = []
    while tokens.peek():
        name = tokens.name(2248, "invalid option for ALTER SESSION")
        if not tokens.accept("="):
            raise OraError(2246, f"missing EVENTS text or value of {name}")
        if not tokens.peek():
            raise OraError(922, "missing or invalid option")
        value = ""
        if tokens.place < len(tokens.items):
            value = tokens.items[tokens.place]
            tokens.place += 1
        if name == "ISOLATION_LEVEL" and value.upper() == "READ" and tokens.accept("COMMITTED"):
            value = "READ COMMITTED"
        quoted = len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]
        settings.append((name, value[1:-1].replace("''", "'") if quoted else value.upper()))
    if not settings:
        raise OraError(2248, "invalid option for ALTER SESSION")
    return AlterSession(tuple(settings))


def format_of(name: str) -> str | None:
    """Give the field of :class:`~oraclerag.local.engine.decode.Formats` that a parameter sets, or None."""
    return _FORMATS.get(name)


def without_effect(name: str) -> bool:
    """Whether ALTER SESSION takes a parameter that steers how Oracle works, and does nothing."""
    return _WITHOUT_EFFECT.match(name) is not None


def check_parameter(name: str, value: str) -> None:
    """Refuse a parameter that Oracle has not (ORA-02248) or whose value changes results as this database cannot."""
    if name in _ONLY:
        if value.upper() not in _ONLY[name]:
            only = " or ".join(sorted(_ONLY[name])) or "the default"
            raise OraError(3001, f"unimplemented feature: {name} other than {only}")
    elif not _WITHOUT_EFFECT.match(name):
        raise OraError(2248, "invalid option for ALTER SESSION")


def time_zone(value: str) -> tuple[dt.tzinfo, str]:
    """Give a session time zone for Python and, as PostgreSQL's TimeZone takes it, for PostgreSQL."""
    match = _OFFSET.match(value.strip())
    if match is not None:
        offset = dt.timedelta(hours=int(match[2]), minutes=int(match[3]))
        if not dt.timedelta(0) <= offset <= dt.timedelta(hours=15) or int(match[3]) > 59:
            raise OraError(1874, "time zone hour must be between -15 and 15")
        # POSIX counts west of Greenwich, so the sign turns.
        posix = "-" if match[1] == "+" else "+"
        zone = dt.timezone(-offset if match[1] == "-" else offset)
        return zone, f"<{match[1]}{match[2]:0>2}:{match[3]:0>2}>{posix}{match[2]}:{match[3]:0>2}"
    if value.upper() in {"DBTIMEZONE", "LOCAL", "UTC"}:
        return dt.UTC, "UTC"
    try:
        return zoneinfo.ZoneInfo(value), value
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise OraError(1882, "timezone region not found") from None
