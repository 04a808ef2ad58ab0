"""CREATE and DROP VIEW."""

from __future__ import annotations

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.ddl.grants import ungranted
from oraclerag.local.engine.ddl.view_states import (
    View,
    drop_trigger_functions,
    forget,
    invalidate,
    recompile,
    remember,
    replaced,
)
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, qualified
from oraclerag.local.interface import OraError

# What FORCE creates a view in spite of: names and privileges that are missing, nothing of the grammar.
_FORGIVEN = frozenset({904, 942, 980, 1031, 1775, 2289, 4063, 41900})


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
    view = View(schema, name, reader.text((start, end)), names, read_only=read_only, check=check)
    if not force:
        view.statements(host)  # a syntax error is raised before anything is committed

    def run() -> None:
        questions.require_schema(host, schema)
        kind = questions.object_kind(host, schema, name)
        if kind is not None and not (kind in {"VIEW", "INVALID VIEW"} and replace):
            if guard:
                return
            raise OraError(955, "name is already used by an existing object")
        try:
            _make(host, view, exists=kind == "VIEW")
        except OraError as error:
            if not force or error.number not in _FORGIVEN:
                raise
            before = [*invalidate(host, schema, name), f"DROP VIEW {qualified(schema, name)}"] if kind == "VIEW" else []
            host.change([*before, forget(schema, name), remember(view)])
        recompile(host)

    return run


def _make(host: Host, view: View, *, exists: bool) -> None:
    made = view.statements(host)
    _check_names(host, view.source, view.names)
    if exists:
        made = replaced(host, view.schema, view.name, made)
    host.change([forget(view.schema, view.name), *made])


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
        kind = questions.object_kind(host, schema, name)
        if kind == "INVALID VIEW":
            host.change([forget(schema, name), *ungranted(schema, name)])
            return
        if kind != "VIEW":
            if guard:
                return
            raise questions.missing(schema, name)
        functions = drop_trigger_functions(host, schema, name)
        host.change(
            [
                *invalidate(host, schema, name),
                f"DROP VIEW {qualified(schema, name)}",
                *functions,
                *ungranted(schema, name),
            ]
        )

    return run
