"""Oracle SQL to PostgreSQL: the entry points."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from oraclerag.local.engine.block import Bare, Query, first_block, output_columns
from oraclerag.local.engine.lexer import Token, tokenize
from oraclerag.local.engine.merge import Parser
from oraclerag.local.engine.plan import BindParameter, GenerateParameter, Names, Plan, Verb
from oraclerag.local.engine.tree import Node, Output
from oraclerag.local.interface import OraError, StatementKind, StatementShape

T = TypeVar("T")

__all__ = ["Parser", "expression", "shape", "translate", "view_query"]

_KINDS = {
    **dict.fromkeys(("SELECT", "WITH", "("), StatementKind.QUERY),
    **dict.fromkeys(("INSERT", "UPDATE", "DELETE", "MERGE"), StatementKind.DML),
    **dict.fromkeys(("BEGIN", "DECLARE", "CALL", "<<"), StatementKind.PLSQL),
    **dict.fromkeys(
        (
            "CREATE",
            "ALTER",
            "DROP",
            "TRUNCATE",
            "RENAME",
            "GRANT",
            "REVOKE",
            "COMMENT",
            "ANALYZE",
            "AUDIT",
            "NOAUDIT",
            "PURGE",
        ),
        StatementKind.DDL,
    ),
}
_VERBS = {"INSERT": Verb.INSERT, "UPDATE": Verb.UPDATE, "DELETE": Verb.DELETE, "MERGE": Verb.MERGE}


def shape(sql: str) -> StatementShape:
    """Tell kind and binds of a statement from its tokens alone; it need not be valid."""
    return shape_of(tokenize(sql))


def shape_of(tokens: list[Token]) -> StatementShape:
    """Tell kind and binds from the tokens of a statement."""
    kind = _KINDS.get(tokens[0].upper, StatementKind.OTHER)
    if kind in (StatementKind.DDL, StatementKind.OTHER):
        # Clients go by the first word, and send no values for RETURNING behind whatever stands before it.
        word = next((token.upper for token in tokens if token.kind == "word"), "")
        return StatementShape(kind, returning=_first_returned(tokens) if word in _VERBS else None)
    binds = [token.value for token in tokens if token.kind == "bind"]
    if kind is StatementKind.PLSQL:
        return StatementShape(kind, tuple(dict.fromkeys(binds)))
    return StatementShape(kind, tuple(binds), _first_returned(tokens) if kind is StatementKind.DML else None)


def _first_returned(tokens: list[Token]) -> int | None:
    """Give the number of binds before ``INTO`` of a RETURNING clause."""
    returning = False
    count = 0
    for token in tokens:
        if token.kind == "bind":
            count += 1
        elif token.upper in ("RETURNING", "RETURN"):
            returning = True
        elif returning and token.upper == "INTO":
            return count
    return None


def _parser(sql: str, names: Names) -> Parser:
    tokens = tokenize(sql)
    for token in tokens:
        if token.kind == "invalid":
            before = sql[max(0, token.position - 40) : token.position].rstrip()
            raise OraError(911, f"'{token.text}': invalid character after '{before}'", token.position)
    if "\0" in sql:
        raise OraError(3001, "unimplemented feature: the character CHR(0) in text", sql.index("\0"))
    return Parser(tokens, names, sql)


def _shallow(call: Callable[[], T]) -> T:
    """Run a translation; one that is nested more deeply than Python's stack is ORA-03001."""
    try:
        return call()
    except RecursionError:
        raise OraError(3001, "unimplemented feature: expressions nested this deeply") from None


def translate(sql: str, names: Names) -> Plan:
    """Translate a query or a DML statement; what Oracle refuses is refused with its number."""
    parser = _parser(sql, names)
    word = parser.token.upper
    if word in ("SELECT", "WITH", "("):
        return _shallow(lambda: _query_plan(parser))
    if word in _VERBS:
        return _shallow(lambda: _dml_plan(parser, _VERBS[word]))
    raise OraError(900, "invalid SQL statement", parser.token.position)


def _finish(parser: Parser, node: Node, *, alone: bool = False) -> Output:
    """Write a statement; ``alone``: it is a query that reads no table."""
    if parser.token.kind != "end":
        parser.unexpected()
    output = Output()
    node.write(output)
    parser.names.permit(parser.needs())
    if any(isinstance(parameter, GenerateParameter) for parameter in output.parameters) and not alone:
        # it would be asked for every row, and for none where there is none
        raise OraError(3001, "unimplemented feature: UTL_TO_GENERATE_TEXT in anything but a query of DUAL alone")
    return output


def _query_plan(parser: Parser) -> Plan:
    query = parser.query(top=True)
    block = first_block(query.body)
    headings: tuple[str | None, ...] | None = None
    if block is not None and not block.star:
        block.named = False
        headings = tuple(item.name for item in block.items)
    output = _finish(parser, Bare(query), alone=not parser.tables)
    return Plan(
        StatementKind.QUERY,
        Verb.SELECT,
        output.text(),
        tuple(output.parameters),
        headings=headings,
        locks=parser.locks,
        lock_wait=parser.lock_wait,
        lock_seconds=parser.lock_seconds,
        embeds=parser.embeds,
        accuracy=parser.accuracy,
        probes=parser.probes,
        ef_search=parser.ef_search,
        tables=tuple(dict.fromkeys(parser.tables)),
    )


def _dml_plan(parser: Parser, verb: Verb) -> Plan:
    read = {
        Verb.INSERT: parser.insert,
        Verb.UPDATE: parser.update,
        Verb.DELETE: parser.delete,
        Verb.MERGE: parser.merge,
    }
    output = _finish(parser, read[verb]())
    return Plan(
        StatementKind.DML,
        verb,
        output.text(),
        tuple(output.parameters),
        values=parser.values.span if parser.values is not None else None,
        returning=parser.returning,
        embeds=parser.embeds,
        tables=tuple(dict.fromkeys(parser.tables)),
        columns=tuple(parser.target_columns),
        where=parser.where.span[0] if parser.where is not None else 0,
        keys=tuple(output.parameters.index(BindParameter(bind.value, bind.rowid)) for bind in parser.keys),
        embed_update=parser.two_statements(),
    )


def expression(sql: str, names: Names, *, condition: bool = False) -> str:
    """Translate an expression of DDL: a DEFAULT, a CHECK condition (``condition``), the key of an index. No binds."""
    parser = _parser(sql, names)
    parser.binds_allowed = False
    node = _shallow(parser.expression)
    if parser.token.kind != "end":
        parser.unexpected()
    if condition and node.type != "boolean" and node.kind not in ("column", "condition", "other"):
        raise OraError(920, "invalid relational operator", parser.token.position)
    text = _shallow(lambda: parser.text(node))
    parser.names.permit(parser.needs())
    return text


def view_query(sql: str, names: Names, *, named: bool = False) -> tuple[str, tuple[str, ...]]:
    """Translate the query of CREATE VIEW and CREATE TABLE AS; give its text and the column names.

    ``named``: the statement has a column list, so that expressions need no alias and no names are given.
    """
    parser = _parser(sql, names)
    parser.binds_allowed = False
    query: Query = _shallow(parser.query)
    if parser.token.kind != "end":
        parser.unexpected()
    columns = () if named else output_columns(query, 0)
    text = _shallow(lambda: parser.text(Bare(query)))
    parser.names.permit(parser.needs())
    return text, tuple(name for name, _ in columns)
