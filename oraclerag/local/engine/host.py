"""What DDL, PL/SQL and packages need of the session that runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from oraclerag.local.engine.plan import Names
from oraclerag.local.engine.privileges import Rights
from oraclerag.local.interface import BindType, EmbeddingModels, EngineSession


class Host(EngineSession, Protocol):
    """The engine's session from the inside.

    ``user`` is who logged in, with ``rights``, ``schema`` the current schema; both upper case as Oracle keeps them.
    """

    user: str
    schema: str
    max_string_size: int  # 4000 (STANDARD) or 32767 (EXTENDED)
    models: EmbeddingModels
    rights: Rights

    @property
    def names(self) -> Names:
        """Catalog questions for translation, in this session's schema."""
        ...

    def definer_names(self, owner: str) -> Names:
        """Catalog questions for what runs with the rights of its owner: views and triggers."""
        ...

    def ask(self, statement: str, *parameters: str | bytes | int | None) -> list[tuple[Any, ...]]:
        """Run one PostgreSQL statement of the engine's own (``$1``, ``$2``, …) and give its rows.

        Runs in the session's transaction if one is open, else by itself; integers, booleans, text and bytea come
        back as Python values, everything else as text. Names come back as Oracle knows them; one that is compared with
        PostgreSQL's catalog goes there as :func:`oraclerag.local.engine.long_names.stored` gives it.
        """
        ...

    def heed_client(self) -> None:
        """Raise ORA-01013 when the client asks to stop: for work that waits for no statement."""
        ...

    def change(self, statements: Sequence[str]) -> None:
        """Run the PostgreSQL statements of one DDL statement: commit, all of them in one transaction, commit.

        A table in use by another transaction is ORA-00054 after a short wait; cached plans of all sessions stay right.
        """
        ...

    def values(self, sql: str, binds: Sequence[Any], types: Sequence[BindType]) -> list[tuple[Any, ...]]:
        """Run an Oracle query to its end and give its rows as Python values, for PL/SQL.

        NUMBER comes as int or Decimal, DATE and TIMESTAMP as datetime, RAW and BLOB as bytes, CLOB as str, JSON as
        dict or list, VECTOR as array, BOOLEAN as bool: the types that binds have.
        """
        ...

    def begin(self) -> None:
        """Begin a transaction if none is open."""
        ...

    def savepoint(self, name: str) -> None:
        """Set a savepoint of the engine's own (lower-case name: no clash with Oracle's)."""
        ...

    def rollback_to(self, name: str) -> None:
        """Roll back to it, keeping it."""
        ...

    def release(self, name: str) -> None:
        """Forget it."""
        ...
