"""CREATE and DROP VIEW, and views that stand in the way of a change of their table."""

from __future__ import annotations

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.translate import view_query
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError


def create_view(reader: Reader, host: Host, *, replace: bool, force: bool) -> Action:
    """Read CREATE VIEW behind the keyword."""
    if reader.sees("IF", "NOT", "EXISTS") and replace:
        reader.fail(11541, "REPLACE and IF NOT EXISTS cannot be in the same statement")
    guard = reader.accept("IF", "NOT", "EXISTS")
    owner, name = reader.name()
    schema = owner or host.schema
    names = reader.columns() if reader.sees("(") else ()
    reader.expect("AS")
    start = reader.index
    end, read_only, check = _query_end(reader)
    source = reader.text((start, end))
    try:
        query, _ = view_query(source, host.names, named=bool(names))
    except OraError as error:
        if force:
            raise unsupported(f"FORCE VIEW with errors ({error})") from error
        raise

    def run() -> None:
        questions.require_schema(host, schema)
        kind = questions.object_kind(host, schema, name)
        if kind is not None and not (kind == "VIEW" and replace):
            if guard:
                return
            raise OraError(955, "name is already used by an existing object")
        _check_names(host, source, names)
        columns = f" ({', '.join(map(quote, names))})" if names else ""
        suffix = " WITH CASCADED CHECK OPTION" if check else ""
        target = qualified(schema, name)
        statements = [f"CREATE VIEW {target}{columns} AS {query}{suffix}"]
        statements.append(
            "INSERT INTO ora.view_texts (rel, source, read_only)"
            f" VALUES ({literal(target)}::regclass, {literal(source)}, {read_only})"
        )
        if read_only:
            statements += _read_only(target)
        if kind == "VIEW":
            statements = _replaced(host, schema, name, statements)
        host.change(statements)

    return run


def _query_end(reader: Reader) -> tuple[int, bool, bool]:
    """Find where the query ends: before WITH READ ONLY or WITH CHECK OPTION at the statement's end."""
    first = reader.index
    last = len(reader.tokens) - 1
    tail = [token.upper for token in reader.tokens[first:last]]
    reader.index = last
    if tail[-1:] == [";"]:
        raise OraError(3048, "SQL reserved word ';' is not syntactically valid here", reader.tokens[last - 1].position)
    if tail[-3:] == ["WITH", "READ", "ONLY"]:
        return last - 3, True, False
    if tail[-3:] == ["WITH", "CHECK", "OPTION"]:
        return last - 3, False, True
    if tail[-5:-1] == ["WITH", "CHECK", "OPTION", "CONSTRAINT"]:
        return last - 5, False, True
    return last, False, False


def _check_names(host: Host, source: str, names: tuple[str, ...]) -> None:
    """Check a column list against the query."""
    if names and len(names) != len(host.describe(source)):
        raise OraError(1730, "invalid number of column names specified")
    if len(set(names)) < len(names):
        raise OraError(957, "duplicate column name")


def _read_only(target: str) -> list[str]:
    """PostgreSQL would let a simple view be updated: a trigger refuses with ORA-42399."""
    return [
        (
            f'CREATE TRIGGER " READONLY" INSTEAD OF INSERT OR UPDATE OR DELETE ON {target} FOR EACH ROW'
            " EXECUTE FUNCTION ora.refuse_read_only()"
        )
    ]


def dependents(host: Host, schema: str, name: str) -> list[tuple[str, str, str]]:
    """Give the views over a table or view, nearest first: schema, name, PostgreSQL's definition."""
    rows = host.ask(
        "WITH RECURSIVE d(oid, depth) AS (SELECT $1::regclass::oid, 0 UNION"
        " SELECT r.ev_class, d.depth + 1 FROM d JOIN pg_depend p ON p.refobjid = d.oid"
        " AND p.refclassid = 'pg_class'::regclass AND p.classid = 'pg_rewrite'::regclass"
        " JOIN pg_rewrite r ON r.oid = p.objid WHERE r.ev_class <> d.oid AND d.depth < 20)"
        " SELECT n.nspname::text, c.relname::text, pg_get_viewdef(c.oid) FROM"
        " (SELECT oid, max(depth) depth FROM d WHERE depth > 0 GROUP BY oid) x JOIN pg_class c ON c.oid = x.oid"
        " JOIN pg_namespace n ON n.oid = c.relnamespace ORDER BY x.depth",
        qualified(schema, name),
    )
    return [(row[0], row[1], row[2]) for row in rows]


def _recreate(host: Host, views: list[tuple[str, str, str]], statements: list[str]) -> list[str]:
    """Drop views, run statements, and make the views again as they were, with their notes and triggers."""
    before: list[str] = []
    after: list[str] = []
    for schema, name, _ in reversed(views):
        before.append(f"DROP VIEW {qualified(schema, name)}")
    for schema, name, definition in views:
        target = qualified(schema, name)
        after.append(f"CREATE VIEW {target} AS {definition.rstrip().rstrip(';')}")
        after += _notes_and_triggers(host, target)
    return [*before, *statements, *after]


def _notes_and_triggers(host: Host, target: str) -> list[str]:
    """Give the statements that bring back what hangs on a view: its text, its triggers and their notes."""
    texts = host.ask("SELECT source, read_only FROM ora.view_texts WHERE rel = $1::regclass", target)
    triggers = host.ask(
        "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal", target
    )
    notes = host.ask(
        "SELECT owner, name, kind, event, body, condition, enabled::text FROM ora.triggers WHERE rel = $1::regclass",
        target,
    )
    relation = f"{literal(target)}::regclass"
    statements = [
        f"INSERT INTO ora.view_texts (rel, source, read_only) VALUES ({relation}, {literal(source)}, {read_only})"
        for source, read_only in texts
    ]
    statements += [row[0] for row in triggers]
    for row in notes:
        values = ", ".join("NULL" if value is None else literal(value) for value in row)
        statements.append(
            "INSERT INTO ora.triggers (rel, owner, name, kind, event, body, condition, enabled)"
            f" VALUES ({relation}, {values})"
        )
    return statements


def around_type_change(host: Host, schema: str, table: str, statements: list[str]) -> list[str]:
    """Take the views over a table away while a column changes its type, which PostgreSQL refuses under a view."""
    return _recreate(host, dependents(host, schema, table), statements)


def _replaced(host: Host, schema: str, name: str, statements: list[str]) -> list[str]:
    """Replace a view by a new one; views over it are made again. Its own triggers go, as in Oracle."""
    drop = f"DROP VIEW {qualified(schema, name)}"
    functions = [
        f"DROP FUNCTION IF EXISTS {row[0]}"
        for row in host.ask(
            "SELECT p.oid::regprocedure::text FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid"
            " JOIN pg_namespace n ON n.oid = p.pronamespace"
            " WHERE t.tgrelid = $1::regclass AND NOT t.tgisinternal AND n.nspname <> 'ora'",
            qualified(schema, name),
        )
    ]
    return _recreate(host, dependents(host, schema, name), [drop, *functions, *statements])


def drop_view(reader: Reader, host: Host) -> Action:
    """Read DROP VIEW behind the keyword."""
    if reader.sees("IF", "NOT", "EXISTS"):
        reader.fail(11544, "incorrect IF NOT EXISTS clause for ALTER or DROP statement")
    guard = reader.accept("IF", "EXISTS")
    owner, name = reader.name()
    schema = owner or host.schema
    reader.accept("CASCADE", "CONSTRAINTS")
    reader.expect_end(3049, f"SQL keyword '{reader.word()}' is not syntactically valid here")

    def run() -> None:
        if questions.object_kind(host, schema, name) != "VIEW":
            if guard:
                return
            raise questions.missing(schema, name)
        refuse_dependents(host, schema, name)
        host.change([f"DROP VIEW {qualified(schema, name)}", *drop_trigger_functions(host, schema, name)])

    return run


def refuse_dependents(host: Host, schema: str, name: str) -> None:
    """In Oracle a view whose table goes becomes invalid; here it must be dropped first."""
    views = dependents(host, schema, name)
    if views:
        listed = ", ".join(f'"{view[0]}"."{view[1]}"' for view in views)
        raise unsupported(f'dropping "{schema}"."{name}" under a view ({listed}): drop the view first')


def drop_trigger_functions(host: Host, schema: str, name: str) -> list[str]:
    """Give the statements that drop the functions behind a relation's triggers once the relation is gone."""
    rows = host.ask(
        "SELECT DISTINCT p.oid::regprocedure::text FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid"
        " JOIN pg_namespace n ON n.oid = p.pronamespace"
        " WHERE t.tgrelid = $1::regclass AND NOT t.tgisinternal AND n.nspname NOT IN ('ora', 'pg_catalog')",
        qualified(schema, name),
    )
    return [f"DROP FUNCTION IF EXISTS {row[0]}" for row in rows]
