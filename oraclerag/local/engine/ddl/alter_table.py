"""ALTER TABLE: add, modify, rename and drop columns, add, rename and drop constraints, rename the table."""

from __future__ import annotations

from oraclerag.local.engine.column_types import normal_storage
from oraclerag.local.engine.ddl import columns, constraints, notes, questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.ddl.constraints import KeyColumn, TableState, primary_key_number
from oraclerag.local.engine.ddl.definitions import ColumnDefinition, Constraint, DefinitionReader
from oraclerag.local.engine.ddl.drop_parts import drop
from oraclerag.local.engine.ddl.modify_columns import modify
from oraclerag.local.engine.ddl.space import row_movement, shrink
from oraclerag.local.engine.ddl.table_options import PhysicalOptions, read_physical_option
from oraclerag.local.engine.ddl.view_states import invalidate, recompile
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.long_names import derived
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

_UNSUPPORTED = frozenset(
    """
    MOVE SPLIT MERGE EXCHANGE COALESCE ALLOCATE DEALLOCATE READ INMEMORY FLASHBACK COMPRESS CLUSTERING
    UPGRADE TRUNCATE ANNOTATIONS
    """.split()  # noqa: SIM905
)


def alter_table(reader: Reader, host: Host) -> Action:
    """Read ALTER TABLE behind the keyword."""
    if reader.sees("IF", "NOT", "EXISTS"):
        reader.fail(11544, "incorrect IF NOT EXISTS clause for ALTER or DROP statement")
    guard = reader.accept("IF", "EXISTS")
    owner, table = reader.name()
    schema = owner or host.schema
    action = _clause(reader, host, schema, table)

    def run() -> None:
        if guard and questions.object_kind(host, schema, table) != "TABLE":
            return
        questions.require_table(host, schema, table)
        action()

    return run


def _clause(reader: Reader, host: Host, schema: str, table: str) -> Action:
    position, word = reader.position, reader.word()
    if reader.accept("ADD"):
        return _add(reader, host, schema, table)
    if reader.accept("MODIFY"):
        return modify(reader, host, schema, table)
    if reader.accept("RENAME"):
        return _rename(reader, host, schema, table)
    if reader.accept("DROP"):
        return drop(reader, host, schema, table)
    if reader.accept("ENABLE") or reader.accept("DISABLE"):
        if reader.accept("ROW"):
            reader.expect("MOVEMENT")
            reader.expect_end(1735, "invalid ALTER TABLE option")
            return lambda: host.change(row_movement(schema, table, enabled=word == "ENABLE"))
        if reader.accept("ALL", "TRIGGERS"):
            reader.expect_end(1735, "invalid ALTER TABLE option")
            return lambda: host.change(_switch_triggers(schema, table, word))
        if reader.word() in {"CONSTRAINT", "PRIMARY", "UNIQUE", "VALIDATE", "NOVALIDATE", "TABLE"}:
            raise unsupported(f"ALTER TABLE … {word} {reader.word()}", position)
        reader.fail(2000, "missing TRIGGERS keyword")
    if reader.accept("SHRINK"):
        return shrink(reader, host, schema, table)
    if word in _UNSUPPORTED or (word == "SET" and reader.peek(1).upper == "UNUSED"):
        raise unsupported(f"ALTER TABLE … {word}", position)
    options = PhysicalOptions()
    if read_physical_option(reader, options):
        while read_physical_option(reader, options):
            pass
        reader.expect_end(1735, "invalid ALTER TABLE option")
        note = notes.storage(schema, table, options)
        forget = f"DELETE FROM ora.storage_note WHERE relation = {literal(qualified(schema, table))}::regclass"
        return lambda: host.change([forget, *note])
    raise OraError(1735, "invalid ALTER TABLE option", reader.position)


def _switch_triggers(schema: str, table: str, word: str) -> list[str]:
    """Enable or disable all triggers of a table; those behind DEFAULT ON NULL stay (their names begin with a blank)."""
    relation = literal(qualified(schema, table))
    switch = (
        "DO $do$ DECLARE t name; BEGIN FOR t IN SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
        f" AND tgrelid = {relation}::regclass AND tgname NOT LIKE ' %' LOOP"
        f" EXECUTE format('ALTER TABLE %s {word} TRIGGER %I', {relation}, t); END LOOP; END $do$"
    )
    return [switch, f"UPDATE ora.triggers SET enabled = {word == 'ENABLE'} WHERE rel = {relation}::regclass"]


def _add(reader: Reader, host: Host, schema: str, table: str) -> Action:
    if reader.sees("IF", "NOT", "EXISTS") or reader.sees("PARTITION"):
        reader.fail(1735, "invalid ALTER TABLE option")
    definitions = DefinitionReader(reader, host)
    added: list[ColumnDefinition | Constraint] = []
    bracket = reader.accept("(")
    while True:
        if definitions.starts_constraint():
            added.append(definitions.constraint())
        else:
            added.append(definitions.column(adding=True))
        if bracket:
            if reader.accept(","):
                continue
            reader.expect(")")
        if reader.at_end:
            break
        if not reader.accept("ADD"):
            reader.expect_end(1735, "invalid ALTER TABLE option")
        bracket = reader.accept("(")
    return lambda: _run_add(host, schema, table, added)


def _run_add(host: Host, schema: str, table: str, added: list[ColumnDefinition | Constraint]) -> None:
    state = TableState.read(host, schema, table)
    stored = questions.columns(host, schema, table)
    filled = questions.has_rows(host, schema, table)
    number = questions.next_column_number(host, schema, table)
    target = f"ALTER TABLE {qualified(schema, table)}"
    before: list[str] = []
    statements: list[str] = []
    pending: list[Constraint] = []
    for item in added:
        if isinstance(item, Constraint):
            pending.append(item)
            continue
        if item.name in state.columns:
            raise OraError(1430, "column being added already exists in table")
        if item.identity is not None and any(column.identity for column in stored.values()):
            raise OraError(30669, "table can have only one identity column")
        if item.nullable is False and filled and item.default is None and item.identity is None:
            raise OraError(1758, "table must be empty to add mandatory (NOT NULL) column")
        kind = item.required_type
        state.columns[item.name] = KeyColumn(normal_storage(kind.storage), item.nullable is False, kind.name)
        built = columns.build(host, schema, table, number, item)
        number += 1
        before += built.before
        statements.append(f"{target} ADD COLUMN {built.clause}")
        statements += [f"{target} ADD {check}" for check in built.checks]
        statements += built.after
        pending += item.constraints
    for constraint in sorted(pending, key=lambda c: c.kind == "FOREIGN KEY"):
        made = constraints.build(host, state, constraint)
        statements += [f"{target} ADD {made.clause}", *made.after]
    with primary_key_number(pending):
        host.change([*before, *statements])
    recompile(host)


def _rename(reader: Reader, host: Host, schema: str, table: str) -> Action:
    target = f"ALTER TABLE {qualified(schema, table)}"
    if reader.accept("COLUMN"):
        old = reader.column()
        reader.expect("TO")
        new = reader.column()
        reader.expect_end(1735, "invalid ALTER TABLE option")

        def rename_column() -> None:
            stored = questions.columns(host, schema, table)
            if old not in stored:
                raise OraError(904, f'"{old}": invalid identifier')
            if new in stored:
                raise OraError(957, "duplicate column name")
            host.change([*invalidate(host, schema, table), f"{target} RENAME COLUMN {quote(old)} TO {quote(new)}"])
            recompile(host)

        return rename_column
    if reader.accept("CONSTRAINT"):
        old = reader.identifier(2250, "missing or invalid constraint name")
        reader.expect("TO")
        new = reader.identifier(2250, "missing or invalid constraint name")
        reader.expect_end(1735, "invalid ALTER TABLE option")

        def rename_constraint() -> None:
            if questions.constraint_kind(host, schema, table, old) is None:
                raise OraError(23292, f'The constraint "{old}" does not exist')
            if questions.constraint_exists(host, schema, new):
                raise OraError(2264, "name already used by an existing constraint")
            relation = literal(qualified(schema, table))
            hidden = qualified(schema, derived("", old, constraints.NULLS))
            host.change(
                [
                    f"{target} RENAME CONSTRAINT {quote(old)} TO {quote(new)}",
                    f"ALTER INDEX IF EXISTS {hidden} RENAME TO {quote(derived('', new, constraints.NULLS))}",
                    (
                        f"UPDATE ora.check_note SET name = {literal(new)}"
                        f" WHERE relation = {relation}::regclass AND name = {literal(old)}"
                    ),
                ]
            )

        return rename_constraint
    reader.expect("TO", number=14155, message="missing PARTITION or SUBPARTITION keyword")
    new = reader.identifier()
    reader.expect_end(1735, "invalid ALTER TABLE option")
    return lambda: rename_relation(host, schema, table, new, "TABLE")


def rename_relation(host: Host, schema: str, old: str, new: str, kind: str) -> None:
    """Rename a table, view or sequence of a schema; ORA-00955 when the name is taken."""
    if questions.object_kind(host, schema, new) is not None:
        raise OraError(955, "name is already used by an existing object")
    views = invalidate(host, schema, old) if kind != "SEQUENCE" else []
    granted = f"UPDATE ora.privileges SET object = {literal(new)} WHERE owner = {literal(schema)}"
    host.change(
        [
            *views,
            f"ALTER {kind} {qualified(schema, old)} RENAME TO {quote(new)}",
            f"{granted} AND object = {literal(old)}",
        ]
    )
    recompile(host)
