"""CREATE, ALTER and DROP TRIGGER: row triggers of tables, and INSTEAD OF triggers of views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.long_names import derived
from oraclerag.local.engine.plsql_parser import PlsqlParser
from oraclerag.local.engine.plsql_tree import Block, Span
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.trigger_body import TriggerBody, TriggerContext
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

_EVENTS = ("INSERT", "UPDATE", "DELETE")


@dataclass(slots=True)
class _Head:
    """What stands before the body."""

    timing: str
    events: list[str]
    columns: tuple[str, ...]
    table: tuple[str | None, str]
    new: str = "NEW"
    old: str = "OLD"
    row: bool = False
    enabled: bool = True
    condition: Span | None = None


def create_trigger(reader: Reader, host: Host, *, replace: bool) -> Action:
    """Read CREATE TRIGGER behind the keyword."""
    guard = reader.accept("IF", "NOT", "EXISTS")
    owner, name = reader.name(4072, "invalid trigger type")
    schema = owner or host.schema
    head = _head(reader)
    start = reader.position
    block = _body(reader)
    source = reader.sql[start:]
    if head.timing != "INSTEAD OF" and not head.row:
        _refuse_statement_trigger(reader, block, head)

    def run() -> None:
        _create(reader, host, schema, name, head, block, source, replace=replace, guard=guard)

    return run


def _head(reader: Reader) -> _Head:
    position = reader.position
    if reader.accept("INSTEAD", "OF"):
        timing = "INSTEAD OF"
    else:
        found = reader.accept_one({"BEFORE", "AFTER"})
        if found is None:
            if reader.sees("FOR"):
                raise unsupported("compound triggers", position)
            reader.fail(4071, "missing BEFORE, AFTER or INSTEAD OF keyword")
        timing = found
    events, columns = _events(reader, position)
    reader.expect("ON", number=969, message="missing ON keyword")
    if reader.word() in {"SCHEMA", "DATABASE", "PLUGGABLE", "NESTED"}:
        raise unsupported(f"triggers on {reader.word()}", reader.position)
    head = _Head(timing, events, columns, reader.name())
    if reader.accept("REFERENCING"):
        while reader.word() in {"NEW", "OLD", "PARENT"}:
            which = reader.advance().upper
            reader.accept("AS")
            alias = reader.identifier(4079, "invalid trigger specification")
            if which == "NEW":
                head.new = alias
            elif which == "OLD":
                head.old = alias
            else:
                raise unsupported("REFERENCING PARENT", reader.position)
    if reader.accept("FOR", "EACH"):
        reader.expect("ROW", number=4079, message="invalid trigger specification")
        head.row = True
    if reader.word() in {"FOLLOWS", "PRECEDES", "FORWARD", "REVERSE", "CROSSEDITION"}:
        raise unsupported(f"triggers with {reader.word()}", reader.position)
    if reader.accept("DISABLE"):
        head.enabled = False
    else:
        reader.accept("ENABLE")
    if reader.sees("WHEN"):
        if timing == "INSTEAD OF":
            reader.fail(25004, "WHEN clause is not allowed in INSTEAD OF triggers")
        reader.advance()
        head.condition = reader.parenthesised()
    return head


def _events(reader: Reader, position: int) -> tuple[list[str], tuple[str, ...]]:
    events: list[str] = []
    columns: tuple[str, ...] = ()
    while True:
        event = reader.accept_one(_EVENTS)
        if event is None:
            if reader.peek().kind == "word" and not events:
                raise unsupported(f"triggers on the event {reader.word()}", position)
            reader.fail(4073, "column list not valid for this trigger type")
        events.append(event)
        if event == "UPDATE" and reader.accept("OF"):
            names = [reader.column()]
            while reader.accept(","):
                names.append(reader.column())
            columns = tuple(names)
        if not reader.accept("OR"):
            return list(dict.fromkeys(events)), columns


def _body(reader: Reader) -> Block:
    if reader.sees("CALL") or reader.sees("COMPOUND"):
        raise unsupported(f"{reader.word()} triggers", reader.position)
    parser = PlsqlParser(reader)
    block = parser.block()
    reader.expect(";", number=6550, message="line 1, column 1:\nPLS-00103: Encountered end-of-file, expecting ;")
    reader.expect_end(6550, "line 1, column 1:\nPLS-00103: Encountered a symbol behind the trigger's END")
    return block


def _refuse_statement_trigger(reader: Reader, block: Block, head: _Head) -> None:
    for token in reader.tokens[block.token :]:
        if token.kind == "bind" and token.value in {head.new, head.old}:
            raise OraError(4082, "NEW or OLD references not allowed in table level triggers")
    raise unsupported("statement triggers (without FOR EACH ROW)")


def _function_name(name: str) -> str:
    """Give the name of a trigger's function: it begins with a blank, so that no statement can call it."""
    return derived(" ", name, "")


def _create(
    reader: Reader,
    host: Host,
    schema: str,
    name: str,
    head: _Head,
    block: Block,
    source: str,
    *,
    replace: bool,
    guard: bool,
) -> None:
    questions.require_schema(host, schema)
    table_schema, table = head.table[0] or host.schema, head.table[1]
    kind = questions.object_kind(host, table_schema, table)
    if kind not in {"TABLE", "VIEW"}:
        raise questions.missing(table_schema, table)
    if (kind == "VIEW") != (head.timing == "INSTEAD OF"):
        if kind == "VIEW":
            raise OraError(25001, "cannot create this trigger type on this type of view")
        raise OraError(25002, "cannot create INSTEAD OF triggers on tables")
    target = qualified(table_schema, table)
    _check_columns(host, table_schema, table, head.columns)
    before: list[str] = []
    existing = _find(host, schema, name)
    if existing is not None:
        if guard:
            return
        if not replace:
            raise OraError(4081, f"trigger '{name}' already exists")
        if existing != (table_schema, table):
            raise OraError(4095, f"trigger '{name}' already exists on another table, cannot replace it")
        before = _drop_statements(host, schema, name, existing)
    context = TriggerContext(schema, table_schema, table, head.timing, head.new, head.old)
    translated = TriggerBody(reader, host, context)
    body = translated.text(block, head.condition)
    function = qualified(schema, _function_name(name))
    events = [
        f"UPDATE OF {', '.join(map(quote, head.columns))}" if event == "UPDATE" and head.columns else event
        for event in head.events
    ]
    relation = "VIEW" if kind == "VIEW" else "TABLE"
    condition = "NULL" if head.condition is None else literal(reader.text(head.condition))
    each = "INSTEAD OF" if head.timing == "INSTEAD OF" else f"{head.timing} EACH ROW"
    values = ", ".join(map(literal, (schema, name, each, " OR ".join(head.events), source)))
    statements = [
        *before,
        (
            f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql"
            f" SET search_path = {quote(host.schema)}, ora, public AS {literal(body)}"
        ),
        (
            f"CREATE TRIGGER {quote(name)} {head.timing} {' OR '.join(events)} ON {target} FOR EACH ROW"
            f" EXECUTE FUNCTION {function}()"
        ),
        *_notes_of_updates(host, name, (table_schema, table), sorted(translated.updating)),
        *(
            [_note_of_cascade(name, target)]
            if translated.reads_others and {"UPDATE", "DELETE"} & {*head.events}
            else []
        ),
        (
            "INSERT INTO ora.triggers (owner, name, kind, event, body, condition, rel, enabled)"
            f" VALUES ({values}, {condition}, {literal(target)}::regclass, {head.enabled})"
        ),
    ]
    if not head.enabled:
        statements.append(f"ALTER {relation} {target} DISABLE TRIGGER {quote(name)}")
    host.change(statements)


def _find(host: Host, schema: str, name: str) -> tuple[str, str] | None:
    """Give schema and table of a trigger, or None when there is none of that name."""
    rows = host.ask(
        "SELECT n.nspname::text, c.relname::text FROM ora.triggers t JOIN pg_class c ON c.oid = t.rel"
        " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE t.owner = $1 AND t.name = $2",
        schema,
        name,
    )
    return (rows[0][0], rows[0][1]) if rows else None


# Before the rows of an UPDATE it is written down which columns it names; " 0…" forgets those of the one before. They
# belong to the trigger by a digest of its name, as names of PostgreSQL are short.
def _note_name(name: str, number: int) -> str:
    return f" {number and 1} {sha256(name.encode()).hexdigest()[:16]} {number}"


def _notes_of_updates(host: Host, name: str, table: tuple[str, str], numbers: Sequence[int]) -> list[str]:
    """Give the statements that have UPDATING('column') answered, for the columns of these numbers."""
    columns = {column.number: column.name for column in questions.columns(host, *table).values()}
    return [
        f"CREATE TRIGGER {quote(_note_name(name, number))} BEFORE UPDATE"
        f"{f' OF {quote(columns[number])}' if number else ''} ON {qualified(*table)}"
        f" EXECUTE FUNCTION ora.note_updated({number or ''})"
        for number in ([0, *(number for number in numbers if number)] if numbers else [])
    ]


def _note_of_cascade(name: str, target: str) -> str:
    """Give the statement that has it written down whether a foreign key changes the rows."""
    return (
        f"CREATE TRIGGER {quote(f'{_note_name(name, 0)} cascade')} BEFORE UPDATE OR DELETE ON {target}"
        f" EXECUTE FUNCTION ora.note_cascade()"
    )


def _check_columns(host: Host, schema: str, table: str, names: Sequence[str]) -> None:
    """Refuse what UPDATE OF may not name."""
    if not names:
        return
    known = questions.columns(host, schema, table)
    for name in names:
        if name not in known:
            raise OraError(904, f'"{name}": invalid identifier')
        if known[name].storage in {"clob", "blob"}:
            raise OraError(25006, "cannot specify this column in UPDATE OF clause")
        if known[name].storage.partition("(")[0] in {"jsonb", "vector"}:
            raise unsupported("UPDATE OF with a column of JSON or VECTOR")


def _drop_statements(host: Host, schema: str, name: str, table: tuple[str, str]) -> list[str]:
    notes = host.ask(
        "SELECT tgname::text FROM pg_trigger WHERE tgrelid = $1::regclass AND tgname LIKE $2",
        qualified(*table),
        f" _ {sha256(name.encode()).hexdigest()[:16]} %",
    )
    return [
        *(f"DROP TRIGGER {quote(note)} ON {qualified(*table)}" for (note,) in notes),
        f"DROP TRIGGER {quote(name)} ON {qualified(*table)}",
        f"DROP FUNCTION {qualified(schema, _function_name(name))}()",
        f"DELETE FROM ora.triggers WHERE owner = {literal(schema)} AND name = {literal(name)}",
    ]


def drop_trigger(reader: Reader, host: Host) -> Action:
    """Read DROP TRIGGER behind the keyword."""
    guard = reader.accept("IF", "EXISTS")
    owner, name = reader.name(4072, "invalid trigger type")
    schema = owner or host.schema
    reader.expect_end()

    def run() -> None:
        table = _find(host, schema, name)
        if table is None:
            if guard:
                return
            raise OraError(4080, f"trigger '{name}' does not exist")
        host.change(_drop_statements(host, schema, name, table))

    return run


def alter_trigger(reader: Reader, host: Host) -> Action:
    """Read ALTER TRIGGER behind the keyword."""
    owner, name = reader.name(4072, "invalid trigger type")
    schema = owner or host.schema
    word = reader.accept_one({"ENABLE", "DISABLE", "COMPILE", "RENAME"})
    if word is None:
        reader.fail(922, "missing or invalid option")
    if word == "RENAME":
        raise unsupported("ALTER TRIGGER … RENAME", reader.position)
    reader.expect_end()

    def run() -> None:
        table = _find(host, schema, name)
        if table is None:
            raise OraError(4080, f"trigger '{name}' does not exist")
        if word != "COMPILE":
            host.change(
                [
                    f"ALTER TABLE {qualified(*table)} {word} TRIGGER {quote(name)}",
                    (
                        f"UPDATE ora.triggers SET enabled = {word == 'ENABLE'}"
                        f" WHERE owner = {literal(schema)} AND name = {literal(name)}"
                    ),
                ]
            )

    return run
