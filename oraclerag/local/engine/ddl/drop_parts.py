"""ALTER TABLE … DROP: columns and constraints."""

from __future__ import annotations

from oraclerag.local.engine.ddl import columns, constraints, questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.ddl.questions import StoredColumn
from oraclerag.local.engine.ddl.view_states import invalidate, recompile
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.long_names import derived, stored
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError


def drop(reader: Reader, host: Host, schema: str, table: str) -> Action:
    """Read DROP behind the keyword."""
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
        hidden = qualified(schema, derived("", name, constraints.NULLS))
        statements += [f"DROP INDEX IF EXISTS {hidden}", f"{target} DROP CONSTRAINT {quote(name)}"]
        if kind == "p":
            statements += _implied_not_null(host, schema, table, key.columns)
    elif kind == "n":
        column = host.ask(
            "SELECT a.attname::text FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid"
            " AND a.attnum = k.conkey[1] WHERE k.conrelid = $1::regclass AND k.conname = $2",
            qualified(schema, table),
            stored(name),
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
        stored(name),
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
