"""What the engine asks PostgreSQL's catalog about Oracle's objects, kept until the next DDL statement."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from psycopg.conninfo import make_conninfo
from psycopg.pq.abc import PGresult

from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.commands import Command, ConnectionLost, Statement
from oraclerag.local.engine.describe import NO_NOTE, ColumnNote
from oraclerag.local.engine.grants import Grants
from oraclerag.local.engine.long_names import LongNames, stored
from oraclerag.local.engine.oids import Oids
from oraclerag.local.engine.pipeline import Connection
from oraclerag.local.engine.set_form import Target
from oraclerag.local.interface import OraError, VectorFormat

_T = TypeVar("_T")

_OWN_TYPES = "SELECT typname, oid::int4 FROM pg_type WHERE oid IN ({})".format(
    ", ".join(f"'{name}'::regtype" for name in ("ora.varchar2", "ora.clob", "ora.blob", "ora.odate", "vector"))
)
_COLUMNS = """
SELECT a.attname::text, a.atttypid::int4, c.relkind::text
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'v', 'm', 'p') AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_BASES = """
SELECT DISTINCT bn.nspname::text, b.relname::text, s.name IS NOT NULL
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_rewrite w ON w.ev_class = c.oid
JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass
  AND d.refobjid <> c.oid
JOIN pg_class b ON b.oid = d.refobjid AND b.relkind IN ('r', 'v') JOIN pg_namespace bn ON bn.oid = b.relnamespace
LEFT JOIN ora.synonyms s ON s.owner = ora.name_of(n.nspname) AND s.name = ora.name_of(c.relname)
WHERE n.nspname = $1 AND c.relname = $2 AND bn.nspname <> 'ora'
"""
_REPLACED = """
SELECT 1 FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2 AND t.tgtype & 64 <> 0 LIMIT 1
"""
_PRIVILEGES = """
SELECT grantee, privilege, kind, owner, object, column_name FROM ora.privileges
WHERE (grantor = 'SYS' AND object = '') = $1::bool
"""
_NOTE = """
SELECT NOT a.attnotnull, i.vector_format::int4, i.length_unit = 'CHAR',
  substring(i.declared FROM '^RAW\\((\\d+)\\)$')::int4, i.declared LIKE 'FLOAT%'
FROM pg_attribute a LEFT JOIN ora.column_info i ON i.rel = a.attrelid AND i.number = a.attnum
WHERE a.attrelid = $1::oid AND a.attnum = $2::int2
"""
_ALWAYS = """
SELECT a.attname::text
FROM ora.column_info i JOIN pg_attribute a ON a.attrelid = i.rel AND a.attnum = i.number AND NOT a.attisdropped
JOIN pg_class c ON c.oid = i.rel JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2 AND i.identity = 'ALWAYS'
"""
# A generated column depends on others, a unique index over an expression on who knows which.
_TARGET = """
SELECT c.relkind = 'r' AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated <> ''),
  EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal),
  EXISTS (SELECT FROM pg_constraint f WHERE f.conrelid = c.oid AND f.confrelid = c.oid AND f.contype = 'f'),
  ARRAY(SELECT COALESCE(ora.name_of(a.attname), '*') FROM pg_index i CROSS JOIN unnest(i.indkey) k (number)
    LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number AND k.number > 0
    WHERE i.indrelid = c.oid AND i.indisunique)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2
"""
_MODEL = (
    "SELECT digest, dimensions,"
    " (SELECT string_agg(upper(i.value ->> 0), ',' ORDER BY i.key) FROM jsonb_each(metadata -> 'input') AS i)"
    " FROM ora.model WHERE owner = $1 AND name = $2"
)
_TEXT_INDEX = """
SELECT t.sync FROM ora.text_indexes t JOIN pg_class c ON c.oid = t.rel JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2 AND t.column_name = $3
"""
_DATA = "SELECT data FROM ora.model WHERE owner = $1 AND name = $2 AND digest = $3"


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or a view with the names and Oracle types of its columns."""

    is_view: bool
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Bases:
    """What a view reads, as (schema, name); ``synonym``: it is none, but a synonym of the one that it reads."""

    synonym: bool
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the database: its key for the models' cache, the dimension of its vectors, the name of its input.

    A reranker has two inputs, ``DATA1,DATA2``, and a score for a vector of one number.
    """

    digest: str
    dimensions: int
    input: str = "DATA"


class Dictionary:
    """Answers from the catalog, through a connection of its own that all sessions share.

    ``epoch`` grows with every DDL statement; whoever keeps something that depends on the catalog compares it.
    """

    def __init__(self, conninfo: str) -> None:
        self._lock = threading.Lock()
        # Sessions wait for this connection: it must not wait for one of them.
        self._conninfo = make_conninfo(conninfo, options="-c lock_timeout=2s -c statement_timeout=30s")
        self._connection = Connection(self._conninfo)
        self._answers: dict[tuple[str, ...], Any] = {}
        self.epoch = 0
        self.long_names = LongNames(self._long_name)
        found = {name: int(oid) for name, oid in self._rows(self._connection.simple(_OWN_TYPES.encode()))}
        self._predefined = tuple(self._ask(_PRIVILEGES, "t"))
        self.own = Oids(found["varchar2"], found["clob"], found["blob"], found["odate"], found["vector"])

    def changed(self) -> None:
        """Forget everything: the catalog has changed."""
        with self._lock:
            self.epoch += 1
            self._answers = {}

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()

    def send(self, commands: Sequence[Command]) -> None:
        """Run statements of the engine's own in one transaction that every session sees at once."""
        self._pipeline(commands)

    def columns(self, schema: str, table: str) -> tuple[tuple[str, str], ...] | None:
        """Give names and Oracle types of a table's or view's columns, or None; the dictionary is everybody's."""
        # The engine's own tables are beside the dictionary's views, but in lower case.
        for owner in (schema, "ora") if table == table.upper() else (schema,):
            relation = self.relation(owner, table)
            if relation is not None:
                return relation.columns
        return None

    def relation(self, schema: str, table: str) -> Relation | None:
        """Find a table or view."""

        def find() -> Relation | None:
            rows = self._ask(_COLUMNS, stored(schema), stored(table))
            if not rows:
                return None
            return Relation(rows[0][2] == "v", tuple((name, self.type_name(int(oid))) for name, oid, _ in rows))

        return self._kept(("relation", schema, table), find)

    def bases(self, schema: str, view: str) -> Bases:
        """Tell what a view reads; the dictionary's views are left out."""

        def find() -> Bases:
            rows = self._ask(_BASES, stored(schema), stored(view))
            return Bases(any(row[2] == "t" for row in rows), tuple((str(row[0]), str(row[1])) for row in rows))

        return self._kept(("bases", schema, view), find)

    def is_replaced(self, schema: str, view: str) -> bool:
        """Whether DML on a view is done by INSTEAD OF triggers."""
        return self._kept(("replaced", schema, view), lambda: bool(self._ask(_REPLACED, stored(schema), stored(view))))

    def grants(self) -> Grants:
        """Give who holds which privileges."""
        return self._kept(("grants",), lambda: Grants((*self._predefined, *self._ask(_PRIVILEGES, "f"))))

    def text_index(self, schema: str, table: str, column: str) -> str | None:
        """Tell how the CONTEXT index over a column is synchronised: COMMIT or MANUAL; None where there is none."""

        def find() -> str | None:
            rows = self._ask(_TEXT_INDEX, stored(schema), stored(table), column)
            return str(rows[0][0]) if rows else None

        return self._kept(("text index", schema, table, column), find)

    def type_name(self, oid: int) -> str:
        """Give Oracle's name of a type, or the empty string."""
        own = self.own
        names = {own.varchar2: "VARCHAR2", own.clob: "CLOB", own.blob: "BLOB", own.odate: "DATE", own.vector: "VECTOR"}
        if oid in pg.INTEGERS:
            return "NUMBER"
        return names.get(oid) or pg.NAMES.get(oid, "")

    def note(self, table: int, attribute: int) -> ColumnNote:
        """Give what is known of a table column beside its type."""

        def find() -> ColumnNote:
            rows = self._ask(_NOTE, str(table), str(attribute))
            if not rows:
                return NO_NOTE
            nullable, form, chars, length, is_float = rows[0]
            return ColumnNote(
                nullable == "t",
                None if form is None else VectorFormat(int(form)),
                chars == "t",
                None if length is None else int(length),
                is_float == "t",
            )

        return self._kept(("note", str(table), str(attribute)), find)

    def always_identities(self, schema: str, table: str) -> frozenset[str]:
        """Give the columns GENERATED ALWAYS AS IDENTITY."""
        return self._kept(
            ("identities", schema, table),
            lambda: frozenset(str(name) for (name,) in self._ask(_ALWAYS, stored(schema), stored(table))),
        )

    def target(self, schema: str, table: str) -> Target:
        """Tell what rows of an array of DML on a table or view may notice of one another."""

        def find() -> Target:
            rows = self._ask(_TARGET, stored(schema), stored(table))
            if not rows:
                return Target()
            plain, triggers, itself, unique = rows[0]
            columns = frozenset(name.strip('"') for name in unique[1:-1].split(",") if name)
            return Target(plain == "t", triggers == "t", itself == "t", columns)

        return self._kept(("target", schema, table), find)

    def model(self, owner: str, name: str) -> Model | None:
        """Find a model."""

        def find() -> Model | None:
            rows = self._ask(_MODEL, owner, name)
            return Model(str(rows[0][0]), int(rows[0][1]), str(rows[0][2] or "DATA")) if rows else None

        return self._kept(("model", owner, name), find)

    def model_data(self, owner: str, name: str, digest: str) -> bytes:
        """Give the bytes of a model; LookupError when it has gone meanwhile."""
        values = [part.encode() for part in (owner, name, digest)]
        result = self._pipeline([Statement(_DATA.encode(), values, (pg.TEXT,) * 3, (0, 0, 0))])[0]
        data = result.get_value(0, 0) if result.ntuples else None
        if data is None:
            raise LookupError(name)
        return data

    def credential(self, owner: str, name: str) -> str | None:
        """Give what a credential holds, as JSON; None where there is none. It is never kept."""
        rows = self._ask("SELECT held FROM ora.credentials WHERE owner = $1 AND name = $2", owner, name)
        return str(rows[0][0]) if rows else None

    def password(self, user: str) -> str | None:
        """Give a user's password, or None when there is no such user."""
        rows = self._ask("SELECT password FROM ora.users WHERE name = $1", user)
        return str(rows[0][0]) if rows else None

    def _long_name(self, digest: str) -> str | None:
        rows = self._ask("SELECT name FROM ora.long_names WHERE stored = $1", digest)
        return str(rows[0][0]) if rows else None

    def _kept(self, key: tuple[str, ...], find: Callable[[], _T]) -> _T:
        answers = self._answers
        if key not in answers:
            answer = find()
            # Only in the table of this epoch: an answer from before a change must not outlive it.
            answers[key] = answer
            return answer
        known: _T = answers[key]
        return known

    def _ask(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        encoded = [value.encode() for value in values]
        asked = Statement(statement.encode(), encoded, (0,) * len(values), (0,) * len(values), result_format=0)
        name = self.long_names.name
        return [
            tuple(None if cell is None else name(cell) for cell in row)
            for row in self._rows(self._pipeline([asked])[0])
        ]

    def _pipeline(self, commands: Sequence[Command]) -> list[PGresult]:
        """Run commands that may be run twice: PostgreSQL ends all connections when one of its processes is killed."""
        with self._lock:
            try:
                return self._connection.pipeline(commands)
            except ConnectionLost:
                self._connection.close()
            try:
                self._connection = Connection(self._conninfo)
                return self._connection.pipeline(commands)
            except ConnectionLost:
                raise OraError(1034, "The Oracle instance is not available for use.") from None

    @staticmethod
    def _rows(result: PGresult) -> list[tuple[Any, ...]]:
        rows = []
        for place in range(result.ntuples):
            cells = (result.get_value(place, column) for column in range(result.nfields))
            rows.append(tuple(None if cell is None else cell.decode() for cell in cells))
        return rows
