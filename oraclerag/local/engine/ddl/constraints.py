"""Constraints against the state of the schema: what Oracle refuses, and PostgreSQL's clause for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from oraclerag.local.engine.ddl import notes, questions
from oraclerag.local.engine.ddl.definitions import Constraint
from oraclerag.local.engine.ddl.questions import ForeignKey, Key
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.long_names import derived
from oraclerag.local.engine.reader import qualified
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

NULLS = "$NULLS"  # suffix of the index that makes partly NULL keys unique, as Oracle has it


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """What a constraint must know of a column."""

    storage: str
    not_null: bool
    declared: str | None = None

    @property
    def base(self) -> str:
        """PostgreSQL's type without length."""
        return self.storage.split("(", 1)[0]

    @property
    def is_lob(self) -> bool:
        """Whether values of the column have no order."""
        return self.base in {"clob", "blob", "jsonb", "vector"}

    @property
    def is_key_type(self) -> bool:
        """Whether the column can be part of a primary or unique key."""
        return not self.is_lob and not (self.base == "timestamptz" and "LOCAL" not in (self.declared or ""))


@dataclass(slots=True)
class TableState:
    """A table as it is, or as it is about to be created."""

    schema: str
    name: str
    columns: dict[str, KeyColumn]
    keys: list[Key] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, host: Host, schema: str, table: str) -> TableState:
        """Read a table that exists."""
        columns = {
            c.name: KeyColumn(c.storage, c.not_null, c.declared)
            for c in questions.columns(host, schema, table).values()
        }
        foreign = questions.foreign_keys(host, schema, table, incoming=False)
        return cls(schema, table, columns, questions.keys(host, schema, table), foreign)


@dataclass(frozen=True, slots=True)
class BuiltConstraint:
    """PostgreSQL's clause for a constraint, and the statements that follow when the table has it."""

    name: str
    clause: str
    after: tuple[str, ...] = ()


def build(host: Host, table: TableState, constraint: Constraint) -> BuiltConstraint:
    """Check a constraint, make its clause, and take its effect into ``table`` for the constraints after it."""
    name = constraint.name
    if name is None:
        name = questions.system_name(host)
    elif name in table.taken or questions.constraint_exists(host, table.schema, name):
        raise OraError(2264, "name already used by an existing constraint")
    table.taken.add(name)
    head = f"CONSTRAINT {quote(name)} "
    if constraint.kind == "CHECK":
        _check_inline(table, constraint)
        note = notes.check_source(table.schema, table.name, name, constraint.source)
        return BuiltConstraint(name, f"{head}CHECK ({constraint.check})", (note,))
    for column in constraint.columns:
        if column not in table.columns:
            raise OraError(904, f'"{column}": invalid identifier')
    if constraint.kind == "FOREIGN KEY":
        return BuiltConstraint(name, head + _foreign_key(host, table, constraint, name))
    return _key(host, table, constraint, name, head)


def _check_inline(table: TableState, constraint: Constraint) -> None:
    for column, known in table.columns.items():
        if known.base == "vector" and column in constraint.words:
            raise OraError(3001, "unimplemented feature: CHECK on a VECTOR column (nor does Oracle)")
    if constraint.inline is not None:
        for other in table.columns:
            if other != constraint.inline and other in constraint.words:
                raise OraError(2438, "Column check constraint cannot reference other columns")


def _key(host: Host, table: TableState, constraint: Constraint, name: str, head: str) -> BuiltConstraint:
    kind = "p" if constraint.kind == "PRIMARY KEY" else "u"
    for column in constraint.columns:
        if not table.columns[column].is_key_type:
            raise OraError(2329, f'column "{column}" of this datatype cannot be unique or a primary key')
    if kind == "p" and any(key.kind == "p" for key in table.keys):
        raise OraError(2260, "table can have only one primary key")
    if any(key.columns == constraint.columns for key in table.keys):
        raise OraError(2261, "such unique or primary key already exists in the table")
    _refuse_taken_index(host, table, name)
    table.keys.append(Key(name, kind, constraint.columns))
    columns = ", ".join(map(quote, constraint.columns))
    clause = f"{head}{constraint.kind} ({columns}){constraint.deferrable}"
    if kind == "p" or len(constraint.columns) == 1 or constraint.deferrable:
        return BuiltConstraint(name, clause)
    if all(table.columns[column].not_null for column in constraint.columns):
        return BuiltConstraint(name, clause)
    return BuiltConstraint(name, clause, (partly_null(table.schema, table.name, name, constraint.columns),))


def _refuse_taken_index(host: Host, table: TableState, name: str) -> None:
    """The index of a key takes the key's name; in PostgreSQL it shares a namespace with tables."""
    if name == table.name or questions.object_kind(host, table.schema, name) not in {None, "SYNONYM"}:
        if questions.index(host, table.schema, name) is not None:
            raise OraError(955, "name is already used by an existing object")
        raise OraError(3001, f"unimplemented feature: a key named as a table, view or sequence is ({name})")


def partly_null(schema: str, table: str, name: str, columns: tuple[str, ...]) -> str:
    """Give the index under which keys with some NULLs are unique too; only all-NULL keys may repeat in Oracle."""
    hidden = derived("", name, NULLS)
    listed = ", ".join(map(quote, columns))
    some = " OR ".join(f"{quote(column)} IS NULL" for column in columns)
    not_all = " OR ".join(f"{quote(column)} IS NOT NULL" for column in columns)
    target = qualified(schema, table)
    return (
        f"CREATE UNIQUE INDEX {quote(hidden)} ON {target} ({listed}) NULLS NOT DISTINCT WHERE ({some}) AND ({not_all})"
    )


def _foreign_key(host: Host, table: TableState, constraint: Constraint, name: str) -> str:
    owner, parent = constraint.parent
    schema = owner or table.schema
    if (schema, parent) == (table.schema, table.name):
        columns: Mapping[str, KeyColumn] = table.columns
        keys = table.keys
    else:
        questions.require_table(host, schema, parent)
        state = TableState.read(host, schema, parent)
        columns, keys = state.columns, state.keys
    target = constraint.parent_columns
    if not target:
        primary = next((key for key in keys if key.kind == "p"), None)
        if primary is None:
            raise OraError(2268, "referenced table does not have a primary key")
        target = primary.columns
    for column in target:
        if column not in columns:
            raise OraError(904, f'"{column}": invalid identifier')
    if len(target) != len(constraint.columns):
        raise OraError(2256, "number of referencing columns must match referenced columns")
    if not any(sorted(key.columns) == sorted(target) for key in keys):
        raise OraError(2270, "no matching unique or primary key for this column-list")
    for own, other in zip(constraint.columns, target, strict=True):
        if table.columns[own].base != columns[other].base:
            raise OraError(2267, "column type incompatible with referenced column type")
    if any(key.columns == constraint.columns and key.parent == (schema, parent) for key in table.foreign_keys):
        raise OraError(2275, "such a referential constraint already exists in the table")
    action = {" ON DELETE CASCADE": "c", " ON DELETE SET NULL": "n"}.get(constraint.on_delete, "a")
    table.foreign_keys.append(ForeignKey(name, table.schema, table.name, constraint.columns, (schema, parent), action))
    own_list, other_list = ", ".join(map(quote, constraint.columns)), ", ".join(map(quote, target))
    return (
        f"FOREIGN KEY ({own_list}) REFERENCES {qualified(schema, parent)} ({other_list})"
        f"{constraint.on_delete}{constraint.deferrable}"
    )


@contextmanager
def primary_key_number(added: Iterable[Constraint]) -> Iterator[None]:
    """Inside, duplicates under a new primary key are ORA-02437, not ORA-02299 as under a unique key."""
    try:
        yield
    except OraError as error:
        if error.number == 2299 and any(constraint.kind == "PRIMARY KEY" for constraint in added):
            raise OraError(2437, "cannot validate - primary key violated") from error
        raise
