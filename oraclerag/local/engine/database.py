"""The database behind the listener: its users, its models, what all sessions share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import psycopg
from psycopg import sql as compose

from oraclerag.local.engine.dictionary import Dictionary
from oraclerag.local.engine.embedding import Embedder
from oraclerag.local.engine.grants import ADMINISTRATOR, DEVELOPER
from oraclerag.local.engine.lexer import tokenize
from oraclerag.local.engine.long_names import stored
from oraclerag.local.engine.plan import Names, Plan
from oraclerag.local.engine.privileges import Rights
from oraclerag.local.engine.session import Session
from oraclerag.local.engine.touched import Touched
from oraclerag.local.engine.translate import shape_of, translate
from oraclerag.local.interface import Client, EmbeddingModels, OraError, StatementShape

STANDARD, EXTENDED = 4000, 32767
"""MAX_STRING_SIZE in bytes."""

_GRANTOR = "SYSTEM"
_KEPT_PLANS = 2000
_INTERNAL_SCHEMAS = frozenset({"ora", "public", "pg_catalog", "information_schema", "pg_toast"})


class Database:
    """An Oracle database on a PostgreSQL database that has the catalog (``conninfo`` from ``Cluster.start``).

    Implements :class:`oraclerag.local.interface.Engine`. ``max_string_size`` is ``STANDARD`` or ``EXTENDED``; ``keep``
    is told which differences from Oracle statements touched (:class:`oraclerag.local.engine.touched.Touched`).
    """

    def __init__(
        self,
        conninfo: str,
        models: EmbeddingModels,
        *,
        max_string_size: int = STANDARD,
        keep: Callable[[Mapping[str, Mapping[str, float]]], None] | None = None,
    ) -> None:
        if max_string_size not in {STANDARD, EXTENDED}:
            raise ValueError(
                f"max_string_size is {STANDARD} (STANDARD) or {EXTENDED} (EXTENDED), not {max_string_size}"
            )
        self.conninfo = conninfo
        self.models = models
        self.max_string_size = max_string_size
        self.dictionary = Dictionary(conninfo)
        self.embedder = Embedder(models, self.dictionary)
        self.touched = Touched(keep)
        self.shape = lru_cache(maxsize=_KEPT_PLANS)(self._read)
        self._plans: dict[tuple[str, str, str], tuple[int, Plan]] = {}  # with the epoch of the dictionary
        self._lock = threading.Lock()

    def create_user(self, name: str, password: str, *, grants: Sequence[str] = DEVELOPER) -> None:
        """Create a user with a schema of the same name, and roles and system privileges.

        Of one that exists the password is changed, and nothing else.
        """
        name = name.upper()
        with psycopg.connect(self.conninfo, autocommit=True) as connection, connection.transaction():
            schema = stored(name)
            connection.execute(compose.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(compose.Identifier(schema)))
            if schema != name:
                connection.execute("INSERT INTO ora.long_names VALUES (%s, %s) ON CONFLICT DO NOTHING", (schema, name))
            new = connection.execute(
                "INSERT INTO ora.users (name, password) VALUES (%s, %s)"
                " ON CONFLICT (name) DO UPDATE SET password = excluded.password RETURNING xmax = 0",
                (name, password),
            ).fetchone()
            connection.cursor().executemany(
                "INSERT INTO ora.privileges (grantee, privilege, kind, grantor, grantable) VALUES (%s, %s,"
                " CASE WHEN EXISTS (SELECT FROM ora.roles r WHERE r.name = %s) THEN 'ROLE' ELSE 'SYSTEM' END, %s, %s)"
                " ON CONFLICT DO NOTHING",
                [(name, granted, granted, _GRANTOR, granted in ADMINISTRATOR) for granted in grants if new == (True,)],
            )
        self.dictionary.changed()

    def password(self, user: str) -> str | None:
        """Give a user's password, or None when there is no such user."""
        return self.dictionary.password(user.upper())

    def open(self, user: str, client: Client) -> Session:
        """Open a session of an authenticated user; ORA-01045 without CREATE SESSION."""
        user = user.upper()
        if not self._may_log_in(user):
            raise OraError(1045, f"Login denied. User {user} does not have CREATE SESSION privilege.")
        return Session(self, user, client)

    def _may_log_in(self, user: str) -> bool:
        if Rights(user, self.dictionary).may("CREATE SESSION"):
            return True
        self.dictionary.changed()  # it may have been granted by another server of these data
        return Rights(user, self.dictionary).may("CREATE SESSION")

    def _read(self, sql: str) -> StatementShape:
        tokens = tokenize(sql)
        self.touched.read(sql, tokens)
        return shape_of(tokens)

    def close(self) -> None:
        """Close the database's own connection; sessions close theirs."""
        self.touched.close()
        self.dictionary.close()

    def names(self, schema: str, rights: Rights) -> Names:
        """Give the catalog questions of translation for a current schema and whoever asks."""
        embedder = self.embedder
        return Names(
            schema,
            embedder.dimensions,
            rights.columns,
            self.max_string_size,
            rights.permit,
            embedder.input,
            self.dictionary.text_index,
        )

    def plan(self, sql: str, schema: str, rights: Rights) -> Plan:
        """Translate a statement, or give the plan that was made since the last DDL: what it does is permitted then."""
        key = (rights.key, schema, sql)
        epoch = self.dictionary.epoch
        known = self._plans.get(key)
        if known is not None and known[0] == epoch:
            return known[1]
        plan = translate(sql, self.names(schema, rights))
        self._refuse_internals(plan)
        columns = (column for table in plan.tables for column in self.dictionary.columns(*table) or ())
        self.touched.translated(sql, frozenset(kind for _, kind in columns))
        with self._lock:
            # A plan that was made while the catalog changed carries the epoch of before and is not used again.
            self._plans.pop(key, None)
            self._plans[key] = (epoch, plan)
            if len(self._plans) > _KEPT_PLANS:
                del self._plans[next(iter(self._plans))]
        return plan

    def _refuse_internals(self, plan: Plan) -> None:
        """Hide what is PostgreSQL's or the engine's: quoted names in lower case would find it (ORA-00942)."""
        for schema, table in plan.tables:
            lower = table != table.upper()
            if schema in _INTERNAL_SCHEMAS or (lower and self.dictionary.columns(schema, table) is None):
                raise OraError(942, f'table or view "{schema}"."{table}" does not exist')

    def statement_shape(self, sql: str) -> StatementShape:
        """Tell kind and binds of a statement."""
        return self.shape(sql)
