"""A column for PostgreSQL: its clause, its sequence, its length check, its notes."""

from __future__ import annotations

from dataclasses import dataclass, field

from oraclerag.local.engine.column_types import ColumnType
from oraclerag.local.engine.ddl import notes, questions
from oraclerag.local.engine.ddl.definitions import ColumnDefinition
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.long_names import derived
from oraclerag.local.engine.reader import literal, qualified
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError


@dataclass(slots=True)
class BuiltColumn:
    """PostgreSQL's column clause with what comes before and after the statement it stands in."""

    clause: str
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)


def build(host: Host, schema: str, table: str, number: int, column: ColumnDefinition) -> BuiltColumn:
    """Make a column; ``number`` is the attribute number it is going to have."""
    kind = column.required_type
    built = BuiltColumn(f"{quote(column.name)} {kind.storage}")
    sequence: str | None = None
    required = column.nullable is False
    if column.generated is not None:
        built.clause += f" GENERATED ALWAYS AS ({column.generated}) STORED"
    elif column.identity is not None:
        sequence = qualified(schema, f"ISEQ$$_{host.ask('SELECT nextval($1)::int', 'ora.system_names')[0][0]}")
        built.before.append(f"CREATE SEQUENCE {sequence} {column.identity.options.clauses()}")
        built.after.append(f"ALTER SEQUENCE {sequence} OWNED BY {qualified(schema, table)}.{quote(column.name)}")
        built.clause += f" DEFAULT nextval({literal(sequence)}::regclass)"
        required = True
        if column.identity.kind == "BY DEFAULT ON NULL":
            built.after += default_on_null(
                schema, table, number, column.name, f"nextval({literal(sequence)}::regclass)"
            )
    elif column.default is not None and column.default.upper() != "NULL":
        built.clause += f" DEFAULT ({column.default})"
        if column.default_on_null:
            required = True
            built.after += default_on_null(schema, table, number, column.name, column.default)
    if required:
        name = column.not_null_name
        if name is not None and questions.constraint_exists(host, schema, name):
            raise OraError(2264, "name already used by an existing constraint")
        built.clause += f" CONSTRAINT {quote(name or questions.system_name(host))} NOT NULL"
    check = length_check(column.name, number, kind, host.max_string_size)
    if check is not None:
        built.checks.append(check)
    note = notes.column(schema, table, number, column, sequence)
    if note is not None:
        built.after.append(note)
    return built


def length_check_name(number: int) -> str:
    """Give the name of a column's length check: by number, so that it survives a rename."""
    return f"LEN${number}"


def length_check(column: str, number: int, kind: ColumnType, limit: int) -> str | None:
    """Give the table constraint that bounds a column's length, or None."""
    condition = kind.check(column, number, limit)
    return None if condition is None else f"CONSTRAINT {quote(length_check_name(number))} CHECK ({condition})"


def default_on_null_name(table: str, number: int) -> str:
    """Give the name of the trigger function behind DEFAULT ON NULL.

    It begins with a blank, so that PostgreSQL, which fires triggers in the order of their names, runs it first.
    """
    return derived(" ", table, f"$DEFAULT{number}")


def default_on_null(schema: str, table: str, number: int, column: str, default: str) -> list[str]:
    """Give the trigger that turns an explicit NULL into the default."""
    function = qualified(schema, default_on_null_name(table, number))
    trigger = quote(f" DEFAULT${number}")
    body = f'BEGIN IF "new".{quote(column)} IS NULL THEN "new".{quote(column)} := {default}; END IF; RETURN "new"; END'
    return [
        f"CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS {literal(body)}",
        (
            f"CREATE OR REPLACE TRIGGER {trigger} BEFORE INSERT ON {qualified(schema, table)} FOR EACH ROW"
            f" EXECUTE FUNCTION {function}()"
        ),
    ]
