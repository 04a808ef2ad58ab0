"""Views over what changes: made again around a change of type, invalid while what they read is gone.

PostgreSQL does not change or drop what a view reads. Oracle does, and the view is invalid until its text compiles
again; here an invalid view is dropped, and its text remembered.
"""

from __future__ import annotations

from dataclasses import dataclass

from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import literal, qualified, unsupported
from oraclerag.local.engine.translate import view_query
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

_SEPARATOR = "\x01"  # between the names of a column list; no name can hold it


@dataclass(frozen=True, slots=True)
class View:
    """A view as it was written; ``names`` is its column list."""

    schema: str
    name: str
    source: str
    names: tuple[str, ...] = ()
    read_only: bool = False
    check: bool = False

    def statements(self, host: Host) -> list[str]:
        """Translate the view; raises what is wrong with its query."""
        query, _ = view_query(self.source, host.definer_names(self.schema), named=bool(self.names))
        target = qualified(self.schema, self.name)
        columns = f" ({', '.join(map(quote, self.names))})" if self.names else ""
        suffix = " WITH CASCADED CHECK OPTION" if self.check else ""
        made = [
            f"CREATE VIEW {target}{columns} AS {query}{suffix}",
            (
                "INSERT INTO ora.view_texts (rel, source, names, read_only, checked)"
                f" VALUES ({literal(target)}::regclass, {self.values})"
            ),
        ]
        if self.read_only:  # PostgreSQL would let a simple view be updated: a trigger refuses with ORA-42399
            made.append(
                f'CREATE TRIGGER " READONLY" INSTEAD OF INSERT OR UPDATE OR DELETE ON {target} FOR EACH ROW'
                " EXECUTE FUNCTION ora.refuse_read_only()"
            )
        return made

    @property
    def values(self) -> str:
        """Its source, column list and options as PostgreSQL values."""
        return f"{literal(self.source)}, {literal(_SEPARATOR.join(self.names))}, {self.read_only}, {self.check}"


def remember(view: View) -> str:
    """Keep an invalid view."""
    return (
        "INSERT INTO ora.invalid_views (owner, name, source, names, read_only, checked)"
        f" VALUES ({literal(view.schema)}, {literal(view.name)}, {view.values})"
    )


def forget(schema: str, name: str) -> str:
    """Take an invalid view away, if there is one of that name."""
    return f"DELETE FROM ora.invalid_views WHERE owner = {literal(schema)} AND name = {literal(name)}"


def invalidate(host: Host, schema: str, name: str) -> list[str]:
    """Give the statements that drop the views over a table or view and remember them as invalid."""
    statements: list[str] = []
    for owner, view, _ in dependents(host, schema, name):
        target = qualified(owner, view)
        rows = host.ask(
            "SELECT v.source, v.names, v.read_only, v.checked, count(t.name) FROM ora.view_texts v"
            " LEFT JOIN ora.triggers t ON t.rel = v.rel WHERE v.rel = $1::regclass GROUP BY v.rel",
            target,
        )
        for source, names, read_only, checked, triggers in rows:
            if triggers:
                raise unsupported(f'"{owner}"."{view}", a view with triggers, losing what it reads: drop it first')
            columns = tuple(names.split(_SEPARATOR)) if names else ()
            statements.insert(0, remember(View(owner, view, source, columns, read_only=read_only, check=checked)))
        if not rows:
            raise unsupported(f'the synonym "{owner}"."{view}" losing its table: drop it first')
        statements.insert(0, f"DROP VIEW {target}")
    return statements


def recompile(host: Host) -> None:
    """Make the invalid views of the current schema that are right again; those that are not stay invalid."""
    found = True
    while found:
        found = False
        rows = host.ask(
            "SELECT name, source, names, read_only, checked FROM ora.invalid_views WHERE owner = $1 ORDER BY name",
            host.schema,
        )
        for name, source, names, read_only, checked in rows:
            columns = tuple(names.split(_SEPARATOR)) if names else ()
            view = View(host.schema, name, source, columns, read_only=read_only, check=checked)
            try:
                host.change([forget(host.schema, name), *view.statements(host)])
                found = True
            except OraError:
                continue


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
    texts = host.ask(
        "SELECT source, names, read_only::text, checked::text FROM ora.view_texts WHERE rel = $1::regclass", target
    )
    triggers = host.ask(
        "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal", target
    )
    notes = host.ask(
        "SELECT owner, name, kind, event, body, condition, enabled::text FROM ora.triggers WHERE rel = $1::regclass",
        target,
    )
    relation = f"{literal(target)}::regclass"
    statements = [
        "INSERT INTO ora.view_texts (rel, source, names, read_only, checked)"
        f" VALUES ({relation}, {literal(source)}, {literal(names)}, {read_only}, {checked})"
        for source, names, read_only, checked in texts
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


def replaced(host: Host, schema: str, name: str, statements: list[str]) -> list[str]:
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


def drop_trigger_functions(host: Host, schema: str, name: str) -> list[str]:
    """Give the statements that drop the functions behind a relation's triggers once the relation is gone."""
    rows = host.ask(
        "SELECT DISTINCT p.oid::regprocedure::text FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid"
        " JOIN pg_namespace n ON n.oid = p.pronamespace"
        " WHERE t.tgrelid = $1::regclass AND NOT t.tgisinternal AND n.nspname NOT IN ('ora', 'pg_catalog')",
        qualified(schema, name),
    )
    return [f"DROP FUNCTION IF EXISTS {row[0]}" for row in rows]
