"""What ALTER SESSION sets: for statements (zone, formats, isolation) and for PostgreSQL, beyond a rollback."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace

from oraclerag.local.engine import control
from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.commands import Statement
from oraclerag.local.engine.decode import Formats
from oraclerag.local.engine.long_names import digest_of
from oraclerag.local.engine.pipeline import Connection
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

_STANDARD = 4000


@dataclass(slots=True)
class Environment:
    """What a session's settings mean for its statements; ``string_limit`` is MAX_STRING_SIZE in bytes."""

    string_limit: int
    zone: dt.tzinfo = dt.UTC
    formats: Formats = field(default_factory=Formats)
    serializable: bool = False


def connection_options(user: str, string_limit: int) -> str:
    """Give the settings that a session's connection starts with, as libpq's ``options``."""
    settings = {
        "client_min_messages": "notice",
        "timezone": "UTC",
        "search_path": f"{quote(user)},ora,public",
        "application_name": digest_of(user),  # DROP USER asks who is connected
        "ora.user": user,
        "ora.schema": user,
        "ora.max_string_size": "STANDARD" if string_limit == _STANDARD else "EXTENDED",
        "ivfflat.iterative_scan": "off",
        "hnsw.iterative_scan": "off",
    }
    escaped = {name: value.replace("\\", "\\\\").replace(" ", "\\ ") for name, value in settings.items()}
    return " ".join(f"-c {name}={value}" for name, value in escaped.items())


class SessionSettings:
    """The settings of one session."""

    def __init__(self, connection: Connection, environment: Environment) -> None:
        self._connection = connection
        self._environment = environment
        self._in_transaction: dict[str, str] = {}

    def alter(self, name: str, value: str) -> None:
        """Set a parameter of ALTER SESSION (but CURRENT_SCHEMA); ORA-02248 for one that Oracle has not."""
        environment = self._environment
        if name == "TIME_ZONE":
            zone, setting = control.time_zone(value)
            self.set("TimeZone", setting)
            environment.zone = zone
        elif name == "ISOLATION_LEVEL":
            if value not in {"SERIALIZABLE", "READ COMMITTED"}:
                raise OraError(2183, "valid options: ISOLATION_LEVEL { SERIALIZABLE | READ COMMITTED }")
            environment.serializable = value == "SERIALIZABLE"
            level = "repeatable read" if environment.serializable else "read committed"
            self.set("default_transaction_isolation", level)
        elif (form := control.format_of(name)) is not None:
            environment.formats = replace(environment.formats, **{form: value})
            self.set(f"ora.{name.lower()}", value)
        else:
            control.check_parameter(name, value)

    def set_schema(self, name: str) -> None:
        """Make ``name`` the current schema."""
        self.set("search_path", f"{quote(name)}, ora, public")
        self.set("ora.schema", name)

    def set(self, name: str, value: str) -> None:
        """Change a setting of PostgreSQL for the session."""
        values = [name.encode(), value.encode()]
        statement = Statement(b"SELECT set_config($1, $2, false)", values, [pg.TEXT, pg.TEXT], [0, 0])
        if self._connection.idle:
            self._connection.pipeline([statement])
        else:
            self._connection.guarded([statement])
            self._in_transaction[name] = value

    def committed(self) -> None:
        """Be told that a transaction has been committed."""
        self._in_transaction.clear()

    def rolled_back(self) -> None:
        """Set again what a rollback has taken back: ALTER SESSION is no part of a transaction."""
        settings, self._in_transaction = self._in_transaction, {}
        for name, value in settings.items():
            self.set(name, value)
