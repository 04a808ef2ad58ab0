"""ALTER TABLE: add, modify, rename and drop columns, add, rename and drop constraints, rename the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from oraclerag.local.engine.column_types import ColumnType, normal_storage
from oraclerag.local.engine.ddl import columns, constraints, notes, questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.ddl.constraints import KeyColumn, TableState
from oraclerag.local.engine.ddl.definitions import ColumnDefinition, Constraint, DefinitionReader
from oraclerag.local.engine.ddl.questions import StoredColumn
from oraclerag.local.engine.ddl.table_options import PhysicalOptions, read_physical_option
from oraclerag.local.engine.ddl.view_states import around_type_change, invalidate, recompile
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

_UNSUPPORTED = frozenset(
    """
    MOVE SHRINK SPLIT MERGE EXCHANGE COALESCE ALLOCATE DEALLOCATE READ INMEMORY FLASHBACK COMPRESS CLUSTERING
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
        return _modify(reader, host, schema, table)
    if reader.accept("RENAME"):
        return _rename(reader, host, schema, table)
    if reader.accept("DROP"):
        return _drop(reader, host, schema, table)
    if reader.accept("ENABLE") or reader.accept("DISABLE"):
        if reader.accept("ROW"):
            reader.expect("MOVEMENT")
            reader.expect_end(1735, "invalid ALTER TABLE option")
            return lambda: None
        if reader.accept("ALL", "TRIGGERS"):
            reader.expect_end(1735, "invalid ALTER TABLE option")
            return lambda: host.change(_switch_triggers(schema, table, word))
        if reader.word() in {"CONSTRAINT", "PRIMARY", "UNIQUE", "VALIDATE", "NOVALIDATE", "TABLE"}:
            raise unsupported(f"ALTER TABLE … {word} {reader.word()}", position)
        reader.fail(2000, "missing TRIGGERS keyword")
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
    with _primary_key_number(pending):
        host.change([*before, *statements])
    recompile(host)


@contextmanager
def _primary_key_number(added: Iterable[Constraint]) -> Iterator[None]:
    """Inside, duplicates under a new primary key are ORA-02437, not ORA-02299 as under a unique key."""
    try:
        yield
    except OraError as error:
        if error.number == 2299 and any(constraint.kind == "PRIMARY KEY" for constraint in added):
            raise OraError(2437, "cannot validate - primary key violated") from error
        raise


def _modify(reader: Reader, host: Host, schema: str, table: str) -> Action:
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
        with _primary_key_number(constraint for change in changes for constraint in change.constraints):
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
        raise unsupported("a change of a VECTOR column's dimensions")
    if old in {"clob", "blob", "jsonb"} and new != old:
        raise OraError(22859, "invalid modification of columns")
    if new in {"clob", "blob", "jsonb"} and new != old:
        raise OraError(22858, "invalid alteration of datatype")
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
            host.change(
                [
                    f"{target} RENAME CONSTRAINT {quote(old)} TO {quote(new)}",
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
    host.change([*views, f"ALTER {kind} {qualified(schema, old)} RENAME TO {quote(new)}"])
    recompile(host)


def _drop(reader: Reader, host: Host, schema: str, table: str) -> Action:
    target = f"ALTER TABLE {qualified(schema, table)}"
    if reader.accept("COLUMN"):
        return _drop_columns(reader, host, schema, table, (reader.column(),))
    if reader.sees("("):
        return _drop_columns(reader, host, schema, table, reader.columns())
    if reader.accept("CONSTRAINT"):
        if reader.sees("IF", "EXISTS"):
            reader.fail(1735, "invalid ALTER TABLE option")
        name = reader.identifier(2250, "missing or invalid constraint name")
        cascade = _cascade(reader)
        return lambda: _drop_constraint(host, schema, table, name, cascade=cascade)
    if reader.accept("PRIMARY", "KEY"):
        cascade = _cascade(reader)

        def drop_primary() -> None:
            key = next((key for key in questions.keys(host, schema, table) if key.kind == "p"), None)
            if key is None:
                raise OraError(2441, "Cannot drop nonexistent primary key")
            _drop_constraint(host, schema, table, key.name, cascade=cascade)

        return drop_primary
    if reader.accept("UNIQUE"):
        names = reader.columns()
        cascade = _cascade(reader)

        def drop_unique() -> None:
            found = (key for key in questions.keys(host, schema, table) if key.kind == "u" and key.columns == names)
            key = next(found, None)
            if key is None:
                raise OraError(2442, "Cannot drop nonexistent unique key")
            _drop_constraint(host, schema, table, key.name, cascade=cascade)

        return drop_unique
    if reader.word() in {"PARTITION", "SUBPARTITION", "UNUSED", "SUPPLEMENTAL"}:
        raise unsupported(f"{target} DROP {reader.word()}", reader.position)
    raise OraError(2000, "missing COLUMN keyword", reader.position)


def _cascade(reader: Reader) -> bool:
    cascade = reader.accept("CASCADE")
    if not (reader.accept("DROP", "INDEX") or reader.sees("KEEP")):
        reader.expect_end(1735, "invalid ALTER TABLE option")
    elif reader.sees("KEEP"):
        raise unsupported("KEEP INDEX", reader.position)
    return cascade


def _drop_constraint(host: Host, schema: str, table: str, name: str, *, cascade: bool) -> None:
    kind = questions.constraint_kind(host, schema, table, name)
    if kind is None or name.startswith("LEN$"):
        raise OraError(2443, "Cannot drop constraint - nonexistent constraint")
    target = f"ALTER TABLE {qualified(schema, table)}"
    statements: list[str] = []
    if kind in {"p", "u"}:
        key = next(key for key in questions.keys(host, schema, table) if key.name == name)
        references = _references(host, schema, table, name)
        if references and not cascade:
            raise OraError(2273, "this unique/primary key is referenced by some foreign keys")
        statements += [f"ALTER TABLE {owner} DROP CONSTRAINT {quote(k)}" for owner, k in references]
        hidden = qualified(schema, name[: 63 - len(constraints.NULLS)] + constraints.NULLS)
        statements += [f"DROP INDEX IF EXISTS {hidden}", f"{target} DROP CONSTRAINT {quote(name)}"]
        if kind == "p":
            statements += _implied_not_null(host, schema, table, key.columns)
    elif kind == "n":
        column = host.ask(
            "SELECT a.attname::text FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid"
            " AND a.attnum = k.conkey[1] WHERE k.conrelid = $1::regclass AND k.conname = $2",
            qualified(schema, table),
            name,
        )[0][0]
        primary = next((key for key in questions.keys(host, schema, table) if key.kind == "p"), None)
        if primary is not None and column in primary.columns:
            raise unsupported("dropping the NOT NULL of a primary key column")
        statements.append(f"{target} DROP CONSTRAINT {quote(name)}")
    else:
        relation = literal(qualified(schema, table))
        statements.append(f"{target} DROP CONSTRAINT {quote(name)}")
        statements.append(
            f"DELETE FROM ora.check_note WHERE relation = {relation}::regclass AND name = {literal(name)}"
        )
    host.change(statements)


def _references(host: Host, schema: str, table: str, name: str) -> list[tuple[str, str]]:
    """Give the foreign keys that stand on a key, each with its qualified table."""
    rows = host.ask(
        "SELECT n.nspname::text, c.relname::text, f.conname::text FROM pg_constraint k JOIN pg_constraint f"
        " ON f.contype = 'f' AND f.conindid = k.conindid JOIN pg_class c ON c.oid = f.conrelid"
        " JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE k.conrelid = $1::regclass AND k.conname = $2 AND k.contype IN ('p', 'u')",
        qualified(schema, table),
        name,
    )
    return [(qualified(row[0], row[1]), row[2]) for row in rows]


def _implied_not_null(host: Host, schema: str, table: str, key_columns: tuple[str, ...]) -> list[str]:
    """Take away what PostgreSQL's primary key made NOT NULL beyond what was declared (its names are lower case)."""
    rows = host.ask(
        "SELECT a.attname::text FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid"
        " AND a.attnum = k.conkey[1] WHERE k.conrelid = $1::regclass AND k.contype = 'n'"
        " AND k.conname LIKE '%\\_not\\_null%'",
        qualified(schema, table),
    )
    target = f"ALTER TABLE {qualified(schema, table)}"
    return [f"{target} ALTER COLUMN {quote(row[0])} DROP NOT NULL" for row in rows if row[0] in key_columns]


def _drop_columns(reader: Reader, host: Host, schema: str, table: str, names: tuple[str, ...]) -> Action:
    cascade = reader.accept("CASCADE", "CONSTRAINTS") or reader.accept("CASCADE", "CONSTRAINT")
    reader.accept("INVALIDATE")
    if reader.accept("CHECKPOINT"):
        reader.integer()
    reader.expect_end(1735, "invalid ALTER TABLE option")

    def run() -> None:
        stored = questions.columns(host, schema, table)
        for name in names:
            if name not in stored:
                raise OraError(904, f'"{name}": invalid identifier')
        if len(set(names)) == len(stored):
            raise OraError(12983, "cannot drop all columns in a table")
        statements: list[str] = []
        for key in questions.keys(host, schema, table):
            if not set(names) & set(key.columns):
                continue
            references = _references(host, schema, table, key.name)
            if references and not cascade:
                raise OraError(12992, "cannot drop parent key column")
            if not set(key.columns) <= set(names) and not cascade:
                raise OraError(12991, "column is referenced in a multi-column constraint")
            statements += [f"ALTER TABLE {owner} DROP CONSTRAINT {quote(k)}" for owner, k in references]
            if key.kind == "p":
                kept = tuple(column for column in key.columns if column not in names)
                statements.append(f"ALTER TABLE {qualified(schema, table)} DROP CONSTRAINT {quote(key.name)}")
                statements += _implied_not_null(host, schema, table, kept)
        if not cascade:
            _refuse_shared_constraints(host, schema, table, names, stored)
        for name in names:
            if stored[name].identity or stored[name].generated:
                function = qualified(schema, columns.default_on_null_name(table, stored[name].number))
                statements.append(f"DROP FUNCTION IF EXISTS {function}() CASCADE")
        drops = ", ".join(f"DROP COLUMN {quote(name)}" for name in names)
        views = invalidate(host, schema, table)
        host.change([*views, *statements, f"ALTER TABLE {qualified(schema, table)} {drops}"])
        recompile(host)

    return run


def _refuse_shared_constraints(
    host: Host, schema: str, table: str, names: tuple[str, ...], stored: dict[str, StoredColumn]
) -> None:
    """Raise ORA-12991 for a check or foreign key over a dropped and a kept column."""
    dropped = {stored[name].number for name in names}
    rows = host.ask(
        "SELECT array_to_string(conkey, ',') FROM pg_constraint WHERE conrelid = $1::regclass"
        " AND contype IN ('c', 'f') AND conname NOT LIKE 'LEN$%'",
        qualified(schema, table),
    )
    for row in rows:
        used = {int(part) for part in str(row[0] or "").split(",") if part}
        if used & dropped and not used <= dropped:
            raise OraError(12991, "column is referenced in a multi-column constraint")
