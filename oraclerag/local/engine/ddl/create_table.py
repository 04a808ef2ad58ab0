"""CREATE TABLE, with definitions or AS SELECT."""

from __future__ import annotations

from oraclerag.local.engine.column_types import ColumnType, normal_storage
from oraclerag.local.engine.ddl import columns, constraints, notes, questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.ddl.constraints import KeyColumn, TableState
from oraclerag.local.engine.ddl.definitions import ColumnDefinition, Constraint, DefinitionReader
from oraclerag.local.engine.ddl.space import row_movement
from oraclerag.local.engine.ddl.table_options import PhysicalOptions, read_table_options
from oraclerag.local.engine.ddl.view_states import recompile
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, qualified
from oraclerag.local.interface import Column, OraError, OraType, VectorFormat

_MOST_COLUMNS = 1000


def create_table(reader: Reader, host: Host) -> Action:
    """Read CREATE TABLE behind the keyword."""
    if reader.sees("IF", "EXISTS"):
        reader.fail(11543, "incorrect IF EXISTS clause for CREATE statement")
    guard = reader.accept("IF", "NOT", "EXISTS")
    owner, name = reader.name()
    schema = owner or host.schema
    if reader.sees("LIKE"):
        reader.fail(922, "missing or invalid option")
    names: tuple[str, ...] = ()
    definitions: list[ColumnDefinition] = []
    table_constraints: list[Constraint] = []
    if reader.sees("("):
        if _is_name_list(reader):
            names = reader.columns()
        else:
            definitions, table_constraints = _read_definitions(reader, host)
    elif not reader.sees("AS"):
        word = reader.word()
        if not word.isalpha():
            reader.expect("(")
    options = read_table_options(reader)
    if reader.accept("AS"):
        if definitions:
            raise OraError(3001, "unimplemented feature: CREATE TABLE AS SELECT with column definitions")
        query = reader.sql[reader.position :]
        return lambda: _create_as(host, schema, name, names, query, options, guard=guard)
    reader.expect_end()
    if names:
        raise OraError(2263, "need to specify the datatype for this column")
    if not definitions:
        reader.expect("(")
    _check_definitions(definitions, options)
    return lambda: _create(host, schema, name, definitions, table_constraints, options, guard=guard)


def _is_name_list(reader: Reader) -> bool:
    """Whether the brackets hold names only, and a query follows."""
    depth, ahead = 0, 0
    while reader.peek(ahead).kind != "end":
        token = reader.peek(ahead)
        depth += (token.upper == "(") - (token.upper == ")")
        if depth == 0:
            break
        if depth > 1 or not (token.kind in {"word", "quoted"} or token.upper in {"(", ","}):
            return False
        if token.kind in {"word", "quoted"} and reader.peek(ahead + 1).upper not in {",", ")"}:
            return False
        ahead += 1
    return True


def _read_definitions(reader: Reader, host: Host) -> tuple[list[ColumnDefinition], list[Constraint]]:
    definitions, found = DefinitionReader(reader, host), list[ColumnDefinition]()
    table_constraints: list[Constraint] = []
    reader.expect("(")
    while True:
        if definitions.starts_constraint():
            table_constraints.append(definitions.constraint())
        else:
            found.append(definitions.column())
        if reader.accept(","):
            continue
        reader.expect(")", number=3062, message="a comma or a right parenthesis is expected")
        return found, table_constraints


def _check_definitions(definitions: list[ColumnDefinition], options: PhysicalOptions) -> None:
    names = [column.name for column in definitions]
    if len(set(names)) < len(names):
        raise OraError(957, "duplicate column name")
    if len(names) > _MOST_COLUMNS:
        raise OraError(1792, "maximum number of columns in a table or view is 1000")
    if sum(column.identity is not None for column in definitions) > 1:
        raise OraError(30669, "table can have only one identity column")
    if options.tablespace == "SYSTEM" and any(c.type and c.type.name in {"JSON", "VECTOR"} for c in definitions):
        raise OraError(43853, "SECUREFILE lobs cannot be used in non-ASSM tablespace 'SYSTEM'")


def _create(
    host: Host,
    schema: str,
    name: str,
    definitions: list[ColumnDefinition],
    table_constraints: list[Constraint],
    options: PhysicalOptions,
    *,
    guard: bool,
) -> None:
    if not _is_free(host, schema, name, guard=guard):
        return
    host.change(table_statements(host, schema, name, definitions, table_constraints, options))
    recompile(host)


def _is_free(host: Host, schema: str, name: str, *, guard: bool) -> bool:
    """Tell whether a table of this name can be made; ORA-00955 unless guarded by IF NOT EXISTS."""
    questions.require_schema(host, schema)
    if questions.object_kind(host, schema, name) is None:
        return True
    if guard:
        return False
    raise OraError(955, "name is already used by an existing object")


def table_statements(
    host: Host,
    schema: str,
    name: str,
    definitions: list[ColumnDefinition],
    table_constraints: list[Constraint],
    options: PhysicalOptions,
) -> list[str]:
    """Give PostgreSQL's statements for a new table."""
    key_columns = {
        column
        for constraint in [*table_constraints, *(c for d in definitions for c in d.constraints)]
        if constraint.kind == "PRIMARY KEY"
        for column in constraint.columns
    }
    state = TableState(
        schema,
        name,
        {
            c.name: KeyColumn(
                normal_storage(c.required_type.storage),
                c.nullable is False or c.name in key_columns,
                c.required_type.name,
            )
            for c in definitions
        },
    )
    before: list[str] = []
    after: list[str] = []
    clauses: list[str] = []
    checks: list[str] = []
    for number, column in enumerate(definitions, 1):
        built = columns.build(host, schema, name, number, column)
        before += built.before
        after += built.after
        clauses.append(built.clause)
        checks += built.checks
    ordered = [c for d in definitions for c in d.constraints] + table_constraints
    for constraint in sorted(ordered, key=lambda c: c.kind == "FOREIGN KEY"):
        made = constraints.build(host, state, constraint)
        clauses.append(made.clause)
        after += made.after
    body = ", ".join([*clauses, *checks])
    after += notes.storage(schema, name, options)
    if options.row_movement:
        after += row_movement(schema, name, enabled=True)
    return [*before, f"CREATE TABLE {qualified(schema, name)} ({body})", *after]


def _create_as(
    host: Host, schema: str, name: str, names: tuple[str, ...], query: str, options: PhysicalOptions, *, guard: bool
) -> None:
    """Make a table from the described columns of a query and fill it; what fails leaves nothing behind."""
    if not _is_free(host, schema, name, guard=guard):
        return
    described = host.describe(query)
    if names and len(names) != len(described):
        raise OraError(1730, "invalid number of column names specified")
    definitions = [
        ColumnDefinition(names[k] if names else column.name, _column_type(column), nullable=column.nullable or None)
        for k, column in enumerate(described)
    ]
    for definition, column in zip(definitions, described, strict=True):
        if not names and not _is_plain(column.name):
            raise OraError(998, "must name this expression with a column alias")
        definition.nullable = None if column.nullable else False
    _check_definitions(definitions, options)
    host.change(table_statements(host, schema, name, definitions, [], options))
    try:
        host.dml(f"INSERT INTO {qualified(schema, name)} {query}", [()], [])
        host.commit()
    except OraError:
        host.rollback()
        host.change([f"DROP TABLE {qualified(schema, name)}"])
        raise
    recompile(host)


def _is_plain(heading: str) -> bool:
    """Whether a heading is a name and not the text of an expression."""
    return heading.replace("_", "a").replace("$", "a").replace("#", "a").isalnum() and heading[0].isalpha()


_FORMATS = {
    VectorFormat.FLEXIBLE: "*",
    VectorFormat.FLOAT32: "FLOAT32",
    VectorFormat.FLOAT64: "FLOAT64",
    VectorFormat.INT8: "INT8",
    VectorFormat.BINARY: "BINARY",
}
_SIMPLE = {
    OraType.DATE: ColumnType("DATE", "ora.odate"),
    OraType.CLOB: ColumnType("CLOB", "ora.clob"),
    OraType.BLOB: ColumnType("BLOB", "ora.blob"),
    OraType.JSON: ColumnType("JSON", "jsonb"),
    OraType.BOOLEAN: ColumnType("BOOLEAN", "boolean"),
    OraType.BINARY_DOUBLE: ColumnType("BINARY_DOUBLE", "float8"),
    OraType.BINARY_FLOAT: ColumnType("BINARY_FLOAT", "float4"),
    OraType.INTERVAL_DS: ColumnType("INTERVAL DAY(2) TO SECOND(6)", "interval(6)"),
}


def _column_type(column: Column) -> ColumnType:
    """Give the type of a new column from a described one."""
    simple = _SIMPLE.get(column.type)
    if simple is not None:
        return simple
    if column.type is OraType.VARCHAR:
        chars = bool(column.chars) and column.chars < column.size
        length = column.chars if chars else column.size
        return ColumnType("VARCHAR2", f"ora.varchar2({length or 4000})", length or 4000, chars)
    if column.type is OraType.CHAR:
        length = column.chars or column.size or 1
        return ColumnType("CHAR", f"char({length})", length)
    if column.type is OraType.NUMBER:
        if column.precision == 0:
            return ColumnType("NUMBER", "numeric")
        return ColumnType("NUMBER", f"numeric({column.precision},{column.scale})")
    if column.type is OraType.RAW:
        return ColumnType("RAW", "bytea", column.size or 2000)
    if column.type in {OraType.TIMESTAMP, OraType.TIMESTAMP_TZ, OraType.TIMESTAMP_LTZ}:
        digits = min(column.scale, 6) if column.scale > 0 else 6
        zone = {OraType.TIMESTAMP: "", OraType.TIMESTAMP_TZ: " WITH TIME ZONE"}
        name = f"TIMESTAMP({digits}){zone.get(column.type, ' WITH LOCAL TIME ZONE')}"
        return ColumnType(name, f"timestamp{'' if column.type is OraType.TIMESTAMP else 'tz'}({digits})")
    if column.type is OraType.VECTOR:
        count = column.vector_dimensions or None
        return ColumnType(
            "VECTOR", f"vector({count})" if count else "vector", None, False, count, _FORMATS[column.vector_format]
        )
    raise OraError(3001, f"unimplemented feature: CREATE TABLE AS SELECT with a column of type {column.type.name}")
