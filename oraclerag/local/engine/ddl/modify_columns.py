"""ALTER TABLE … MODIFY: types, defaults, identities and nullability of columns."""

from __future__ import annotations

from oraclerag.local.engine.column_types import ColumnType, normal_storage
from oraclerag.local.engine.ddl import columns, constraints, notes, questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.ddl.constraints import TableState, primary_key_number
from oraclerag.local.engine.ddl.definitions import ColumnDefinition, DefinitionReader
from oraclerag.local.engine.ddl.questions import StoredColumn
from oraclerag.local.engine.ddl.view_states import around_type_change
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError


def modify(reader: Reader, host: Host, schema: str, table: str) -> Action:
    """Read MODIFY behind the keyword."""
    if reader.word() in {"CONSTRAINT", "PRIMARY", "UNIQUE", "LOB", "PARTITION", "DEFAULT", "NESTED", "VARRAY"}:
        raise unsupported(f"ALTER TABLE … MODIFY {reader.word()}", reader.position)
    definitions = DefinitionReader(reader, host)
    changes: list[ColumnDefinition] = []
    bracket = reader.accept("(")
    while True:
        changes.append(definitions.modification())
        if not (bracket and reader.accept(",")):
            break
    if bracket:
        reader.expect(")")
    reader.expect_end(1735, "invalid ALTER TABLE option")

    def run() -> None:
        stored = questions.columns(host, schema, table)
        state = TableState.read(host, schema, table)
        statements: list[str] = []
        retyped = False
        for change in changes:
            column = stored.get(change.name)
            if column is None:
                raise OraError(904, f'"{change.name}": invalid identifier')
            if change.type is not None:
                _check_retype(host, schema, table, column, change.type)
                retyped = True
            statements += _modify_column(host, schema, table, column, change)
            for constraint in change.constraints:
                made = constraints.build(host, state, constraint)
                statements += [f"ALTER TABLE {qualified(schema, table)} ADD {made.clause}", *made.after]
        if retyped:
            statements = around_type_change(host, schema, table, statements)
        with primary_key_number(constraint for change in changes for constraint in change.constraints):
            host.change(statements)

    return run


def _parameters(storage: str) -> tuple[int, ...]:
    inside = storage.partition("(")[2].partition(")")[0]
    return tuple(int(part) for part in inside.split(",")) if inside else ()


def _family(storage: str) -> str:
    return normal_storage(storage).partition("(")[0]


def _check_retype(host: Host, schema: str, table: str, column: StoredColumn, kind: ColumnType) -> None:
    """Raise what Oracle raises for a change of type that the data does not allow."""
    old, new = _family(column.storage), _family(kind.storage)
    if "vector" in {old, new} and old != new:
        raise OraError(22858, "invalid alteration of datatype")
    if old == "vector" and _parameters(column.storage) != _parameters(kind.storage):
        raise OraError(51859, "the definition of a VECTOR column cannot be changed")
    if old in {"clob", "blob", "jsonb"} and new != old:
        raise OraError(22859, "invalid modification of columns")
    if new in {"clob", "blob", "jsonb"} and new != old:
        raise OraError(22858, "invalid alteration of datatype")
    covered = host.ask(
        "SELECT 1 FROM ora.vector_indexes v JOIN pg_index x ON x.indexrelid = v.idx"
        " WHERE x.indrelid = $1::regclass AND $2 = ANY (v.included) LIMIT 1",
        qualified(schema, table),
        column.name,
    )
    if covered:
        raise OraError(51989, f"column {column.name} is included in a vector index and cannot be modified")
    name = quote(column.name)
    filled = bool(host.ask(f"SELECT 1 FROM {qualified(schema, table)} WHERE {name} IS NOT NULL LIMIT 1"))
    if old != new:
        if filled and {old, new} != {"char", "varchar2"} and not (old == "odate" and new.startswith("timestamp")):
            raise OraError(1439, "column to be modified must be empty to change datatype")
        return
    before, after = _parameters(column.storage), _parameters(kind.storage)
    if new == "numeric" and filled and after:
        whole, fraction = after[0] - after[1], after[1]
        if not before or before[0] - before[1] > whole or before[1] > fraction:
            raise OraError(1440, "column to be modified must be empty to decrease precision or scale")
    if new in {"varchar2", "char"} and kind.length is not None:
        measure = "char_length" if kind.chars else "octet_length"
        longer = host.ask(
            f"SELECT 1 FROM {qualified(schema, table)} WHERE {measure}({name}::text) > {kind.length} LIMIT 1"
        )
        if longer:
            raise OraError(1441, "cannot decrease column length because some value is too big")


def _modify_column(host: Host, schema: str, table: str, column: StoredColumn, change: ColumnDefinition) -> list[str]:
    name = quote(column.name)
    target = f"ALTER TABLE {qualified(schema, table)}"
    statements: list[str] = []
    if change.type is not None:
        statements += _retype(host, schema, table, column, change.type)
    statements += _modify_identity(host, schema, table, column, change)
    if change.default is not None:
        if column.identity:
            raise OraError(30674, "identity column cannot have a default value")
        plain_null = change.default.upper() == "NULL"
        statements.append(
            f"{target} ALTER COLUMN {name} {'DROP DEFAULT' if plain_null else f'SET DEFAULT {change.default}'}"
        )
        statements.append(notes.default(schema, table, column.number, change.default_source))
        function = qualified(schema, columns.default_on_null_name(table, column.number))
        statements.append(f"DROP FUNCTION IF EXISTS {function}() CASCADE")
        if change.default_on_null:
            statements += columns.default_on_null(schema, table, column.number, column.name, change.default)
    required = change.nullable is False or (change.default_on_null and not column.not_null)
    if required:
        if column.not_null:
            raise OraError(1442, "column to be modified to NOT NULL is already NOT NULL")
        nulls = host.ask(f"SELECT 1 FROM {qualified(schema, table)} WHERE {name} IS NULL LIMIT 1")
        if nulls:
            raise OraError(2296, f'cannot enable NOT NULL on "{schema}"."{table}"."{column.name}" - null values found')
        constraint = change.not_null_name or questions.system_name(host)
        statements.append(f"{target} ADD CONSTRAINT {quote(constraint)} NOT NULL {name}")
    elif change.nullable is True:
        if not column.not_null:
            raise OraError(1451, "column to be modified to NULL cannot be modified to NULL")
        statements.append(f"{target} ALTER COLUMN {name} DROP NOT NULL")
    return statements


def _retype(host: Host, schema: str, table: str, column: StoredColumn, kind: ColumnType) -> list[str]:
    name = quote(column.name)
    target = f"ALTER TABLE {qualified(schema, table)}"
    statements = [f"{target} DROP CONSTRAINT IF EXISTS {quote(columns.length_check_name(column.number))}"]
    default = host.ask(
        "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = $1::regclass AND adnum = $2::int",
        qualified(schema, table),
        column.number,
    )
    changed_family = _family(column.storage) != _family(kind.storage)
    if default and changed_family:
        statements.append(f"{target} ALTER COLUMN {name} DROP DEFAULT")
    using = f" USING {name}::text::{kind.storage}" if changed_family else ""
    statements.append(f"{target} ALTER COLUMN {name} TYPE {kind.storage}{using}")
    if default and changed_family:
        statements.append(f"{target} ALTER COLUMN {name} SET DEFAULT ({default[0][0]})::{kind.storage}")
    check = columns.length_check(column.name, column.number, kind, host.max_string_size)
    if check is not None:
        statements.append(f"{target} ADD {check}")
    statements.append(notes.type_change(schema, table, column.number, kind))
    return statements


def _modify_identity(host: Host, schema: str, table: str, column: StoredColumn, change: ColumnDefinition) -> list[str]:
    identity = change.identity
    if identity is None:
        return []
    if not column.identity:
        raise OraError(30673, "column to be modified is not an identity column")
    rows = host.ask(
        "SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) FROM ora.column_info i"
        " JOIN pg_class c ON c.oid = i.sequence JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE i.rel = $1::regclass AND i.number = $2::int",
        qualified(schema, table),
        column.number,
    )
    sequence = rows[0][0]
    options = identity.options
    statements: list[str] = []
    clauses = options.clauses()
    if options.start is not None:
        clauses += f" RESTART WITH {options.start}"
    if clauses:
        statements.append(f"ALTER SEQUENCE {sequence} {clauses}")
    if options.start_limit:
        largest = f"(SELECT coalesce(max({quote(column.name)}), 0)::int8 + 1 FROM {qualified(schema, table)})"
        statements.append(f"SELECT setval({literal(sequence)}, {largest}, false)")
    kind = identity.kind
    relation = literal(qualified(schema, table))
    statements.append(
        f"UPDATE ora.column_info SET identity = {literal(kind)}"
        f" WHERE rel = {relation}::regclass AND number = {column.number}"
    )
    function = qualified(schema, columns.default_on_null_name(table, column.number))
    statements.append(f"DROP FUNCTION IF EXISTS {function}() CASCADE")
    if kind == "BY DEFAULT ON NULL":
        next_value = f"nextval({literal(sequence)}::regclass)"
        statements += columns.default_on_null(schema, table, column.number, column.name, next_value)
    return statements
