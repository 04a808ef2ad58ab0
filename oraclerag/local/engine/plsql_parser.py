"""Reads PL/SQL: anonymous blocks, CALL, and the bodies of triggers.

What is no PL/SQL is ORA-06550 with PLS-00103; what is, but is not supported, is ORA-03001 naming it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NoReturn

from oraclerag.local.engine import plsql_tree as tree
from oraclerag.local.engine.plsql_tree import Argument, Declaration, Span, Statement, Target, TypeName
from oraclerag.local.engine.reader import Reader, unsupported
from oraclerag.local.engine.words import RESERVED
from oraclerag.local.interface import OraError

_SQL = frozenset({"SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE"})
_NOT_IN_BLOCKS = frozenset({"CREATE", "ALTER", "DROP", "TRUNCATE", "GRANT", "REVOKE", "COMMENT", "RENAME"})
_OPENING = {"(": 1, ")": -1}


def compile_error(sql: str, position: int, message: str) -> OraError:
    """Give ORA-06550 with line and column of an offset."""
    line = sql.count("\n", 0, position) + 1
    column = position - (sql.rfind("\n", 0, position) + 1) + 1
    return OraError(6550, f"line {line}, column {column}:\n{message}", position)


class PlsqlParser:
    """Reads one block; ``reader`` is shared with whoever reads what stands around it."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._label: str | None = None  # of the statement that is being read

    def program(self) -> tree.Block:
        """Read an anonymous block or CALL to its end."""
        reader = self.reader
        if reader.accept("CALL"):
            call = self._call(reader.index)
            if not reader.at_end:
                reader.fail(3048, "SQL reserved word is not syntactically valid following the call")
            return tree.Block(0, body=[call])
        block = self.block()
        self._need(";")
        if reader.accept("/"):
            self._unexpected("/", position=reader.tokens[reader.index - 1].position)
        if not reader.at_end:
            self._unexpected(reader.peek().text)
        return block

    def block(self) -> tree.Block:
        """Read ``[DECLARE …] BEGIN … END [name]``, up to the closing semicolon."""
        reader = self.reader
        block = tree.Block(reader.index)
        if reader.accept("DECLARE"):
            self.declarations(block)
        self._need("BEGIN")
        block.body = self._statements({"END", "EXCEPTION"})
        if reader.accept("EXCEPTION"):
            while reader.accept("WHEN"):
                names = [self._name()]
                while reader.accept("OR"):
                    names.append(self._name())
                self._need("THEN")
                block.handlers.append(tree.Handler(tuple(names), self._statements({"WHEN", "END"})))
            if not block.handlers:
                self._unexpected(reader.peek().text, "WHEN")
        self._need("END")
        if reader.peek().kind in {"word", "quoted"} and not reader.sees("END"):
            reader.advance()
        return block

    def declarations(self, block: tree.Block) -> None:
        """Read declarations up to BEGIN."""
        reader = self.reader
        while not reader.sees("BEGIN"):
            start = reader.index
            word = reader.word()
            if word in {"PROCEDURE", "FUNCTION", "TYPE", "SUBTYPE"}:
                raise unsupported(f"{word} inside a PL/SQL block", reader.position)
            if reader.accept("PRAGMA"):
                self._pragma(block)
                continue
            if reader.accept("CURSOR"):
                name = self._name()
                if reader.sees("("):
                    raise unsupported("cursors with parameters", reader.position)
                self._need("IS")
                query = self._until({";"})
                self._need(";")
                block.declarations.append(Declaration(name, "cursor", query=query, token=start))
                continue
            name = self._name()
            if reader.accept("EXCEPTION"):
                self._need(";")
                block.declarations.append(Declaration(name, "exception", token=start))
                continue
            block.declarations.append(self._variable(name, start))

    def _variable(self, name: str, start: int) -> Declaration:
        reader = self.reader
        constant = reader.accept("CONSTANT")
        kind = self._type()
        not_null = reader.accept("NOT", "NULL")
        default = None
        if reader.accept(":=") or reader.accept("DEFAULT"):
            default = self._until({";"})
        self._need(";")
        return Declaration(name, "variable", kind, constant, not_null, default, token=start)

    def _type(self) -> TypeName:
        reader = self.reader
        first = reader.index
        if reader.accept("REF"):
            raise unsupported("REF CURSOR variables", reader.position)
        if reader.accept("TABLE") or reader.accept("VARRAY"):
            raise unsupported("collections", reader.position)
        names: list[str] = []
        ahead = 0
        while reader.peek(ahead).kind in {"word", "quoted"}:
            names.append(reader.peek(ahead).value)
            ahead += 1
            if reader.peek(ahead).upper != ".":
                break
            ahead += 1
        if reader.peek(ahead).upper == "%" and names:
            word = reader.peek(ahead + 1).upper
            if word not in {"TYPE", "ROWTYPE"}:
                self._unexpected(reader.peek(ahead + 1).text, "TYPE")
            reader.index += ahead + 2
            return TypeName((first, reader.index), tuple(names), word == "ROWTYPE")
        return TypeName(self._until({";", ":=", "DEFAULT", "NOT"}))

    def _pragma(self, block: tree.Block) -> None:
        reader = self.reader
        word = reader.advance().upper
        if word == "AUTONOMOUS_TRANSACTION":
            raise unsupported("PRAGMA AUTONOMOUS_TRANSACTION", reader.position)
        if word != "EXCEPTION_INIT":
            raise unsupported(f"PRAGMA {word}", reader.position)
        self._need("(")
        name = self._name()
        self._need(",")
        try:
            number = reader.signed()
        except OraError:
            self._unexpected(reader.peek().text, "a number")
        self._need(")")
        self._need(";")
        block.numbers[name] = abs(number)

    def _statements(self, stops: Collection[str]) -> list[Statement]:
        reader = self.reader
        found: list[Statement] = []
        while reader.word() not in stops:
            found.append(self._statement())
        if not found:
            self._unexpected(reader.peek().text)
        return found

    def _statement(self) -> Statement:
        reader = self.reader
        start, word = reader.index, reader.word()
        if word in _NOT_IN_BLOCKS or reader.at_end:
            self._unexpected(reader.peek().text)
        self._label = None
        if reader.accept("<<"):
            self._label = self._name()
            self._need(">>")
            word = reader.word()
        read = _READERS.get(word)
        statement = read(self, start) if read is not None else self._other(start)
        self._need(";")
        return statement

    def _other(self, start: int) -> Statement:
        """Read an assignment or a procedure call."""
        reader = self.reader
        depth = 0
        ahead = 0
        while reader.peek(ahead).kind != "end" and reader.peek(ahead).upper != ";":
            upper = reader.peek(ahead).upper
            if depth == 0 and upper == ":=":
                target = self._target()
                self._need(":=")
                value = self._until({";"})
                return tree.Assign(start, target, value)
            depth += _OPENING.get(upper, 0)
            ahead += 1
        return self._call(start)

    def _call(self, start: int) -> tree.Call:
        reader = self.reader
        if reader.peek().kind not in {"word", "quoted"} or reader.word() in RESERVED:
            self._unexpected(reader.peek().text)
        names = [reader.advance().value]
        while reader.accept("."):
            names.append(self._name())
        arguments: list[Argument] = []
        if reader.accept("("):
            while not reader.accept(")"):
                name = None
                if reader.peek(1).upper == "=>":
                    name = self._name()
                    reader.advance()
                arguments.append(Argument(name, self._until({",", ")"})))
                if not reader.accept(",") and not reader.sees(")"):
                    self._unexpected(reader.peek().text, ")")
        return tree.Call(start, ".".join(names), arguments)

    def _target(self) -> Target:
        reader = self.reader
        token = reader.peek()
        index = reader.index
        if token.kind == "bind":
            reader.advance()
            field = self._name() if reader.accept(".") else None  # :NEW.column of a trigger
            return Target("bind", token.value, field, index)
        name = self._name()
        if reader.sees("("):
            raise unsupported("elements of collections", reader.position)
        field = self._name() if reader.accept(".") else None
        return Target("variable", name, field, index)

    def _targets(self) -> list[Target]:
        found = [self._target()]
        while self.reader.accept(","):
            found.append(self._target())
        return found

    def _name(self) -> str:
        token = self.reader.peek()
        if token.kind != "quoted" and (token.kind != "word" or token.upper in {"BEGIN", "END", "THEN", "IS"}):
            self._unexpected(token.text, "an identifier")
        return self.reader.advance().value

    def _until(self, stops: Collection[str]) -> Span:
        """Take tokens up to one of these outside brackets; at least one."""
        reader = self.reader
        first, depth, cases = reader.index, 0, 0
        while True:
            token = reader.peek()
            if token.kind == "end":
                self._unexpected("end-of-file", *stops)
            upper = token.upper
            if depth == 0 and cases == 0 and upper in stops:
                break
            if upper == ")" and depth == 0:
                self._unexpected(")")
            if upper == ";":
                self._unexpected(";", ")")
            depth += _OPENING.get(upper, 0)
            if upper == "CASE":
                cases += 1
            elif upper == "END" and cases:
                cases -= 1
            reader.advance()
        if reader.index == first:
            self._unexpected(token.text, "an expression")
        return first, reader.index

    def _need(self, word: str) -> None:
        if not self.reader.accept(word):
            self._unexpected(self.reader.peek().text, word)

    def _unexpected(self, text: str, *expected: str, position: int | None = None) -> NoReturn:
        reader = self.reader
        found = text or "end-of-file"
        message = f'PLS-00103: Encountered the symbol "{found}"'
        if expected:
            message += f" when expecting one of the following: {' '.join(sorted(expected))}"
        raise compile_error(reader.sql, reader.position if position is None else position, message)

    def read_begin(self, _start: int) -> Statement:
        """Read a nested block."""
        return self.block()

    def read_null(self, start: int) -> Statement:
        """Read NULL."""
        self.reader.advance()
        return tree.Null(start)

    def read_if(self, start: int) -> Statement:
        """Read IF."""
        reader = self.reader
        arms: list[tuple[Span, list[Statement]]] = []
        otherwise = None
        word = "IF"
        while reader.accept(word):
            condition = self._until({"THEN"})
            self._need("THEN")
            arms.append((condition, self._statements({"ELSIF", "ELSE", "END"})))
            word = "ELSIF"
        if reader.accept("ELSE"):
            otherwise = self._statements({"END"})
        self._need("END")
        self._need("IF")
        return tree.If(start, arms, otherwise)

    def read_case(self, start: int) -> Statement:
        """Read CASE as a statement."""
        reader = self.reader
        reader.advance()
        selector = None if reader.sees("WHEN") else self._until({"WHEN"})
        arms: list[tuple[Span, list[Statement]]] = []
        otherwise = None
        while reader.accept("WHEN"):
            condition = self._until({"THEN"})
            self._need("THEN")
            arms.append((condition, self._statements({"WHEN", "ELSE", "END"})))
        if reader.accept("ELSE"):
            otherwise = self._statements({"END"})
        self._need("END")
        self._need("CASE")
        return tree.Case(start, selector, arms, otherwise)

    def _loop_body(self) -> list[Statement]:
        self._need("LOOP")
        body = self._statements({"END"})
        self._need("END")
        self._need("LOOP")
        if self.reader.peek().kind in {"word", "quoted"}:
            self.reader.advance()
        return body

    def read_loop(self, start: int) -> Statement:
        """Read LOOP."""
        label = self._label
        return tree.Loop(start, None, self._loop_body(), label)

    def read_while(self, start: int) -> Statement:
        """Read WHILE."""
        label = self._label
        self.reader.advance()
        condition = self._until({"LOOP"})
        return tree.Loop(start, condition, self._loop_body(), label)

    def read_for(self, start: int) -> Statement:
        """Read FOR over a range, a query or a cursor."""
        reader, label = self.reader, self._label
        reader.advance()
        variable = self._name()
        self._need("IN")
        if reader.sees("(", "SELECT") or reader.sees("(", "WITH"):
            reader.advance()
            query = self._until({")"})
            self._need(")")
            return tree.ForQuery(start, variable, query, None, self._loop_body(), label)
        reverse = reader.accept("REVERSE")
        if reader.peek(1).upper == "LOOP" and reader.peek().kind in {"word", "quoted"}:
            return tree.ForQuery(start, variable, None, self._name(), self._loop_body(), label)
        low = self._until({".."})
        self._need("..")
        high = self._until({"LOOP"})
        return tree.ForRange(start, variable, low, high, reverse, self._loop_body(), label)

    def read_forall(self, _start: int) -> Statement:
        """Refuse FORALL."""
        raise unsupported("FORALL", self.reader.position)

    def read_goto(self, _start: int) -> Statement:
        """Refuse GOTO."""
        raise unsupported("GOTO", self.reader.position)

    def read_leave(self, start: int) -> Statement:
        """Read EXIT or CONTINUE."""
        reader = self.reader
        exits = reader.advance().upper == "EXIT"
        target = None if reader.sees("WHEN") or reader.sees(";") else self._name()
        condition = self._until({";"}) if reader.accept("WHEN") else None
        return tree.Leave(start, exits, target, condition)

    def read_raise(self, start: int) -> Statement:
        """Read RAISE."""
        self.reader.advance()
        return tree.Raise(start, None if self.reader.sees(";") else self._name())

    def read_return(self, start: int) -> Statement:
        """Read RETURN."""
        self.reader.advance()
        return tree.Return(start)

    def read_control(self, start: int) -> Statement:
        """Read a transaction statement."""
        word = self.reader.word()
        return tree.Control(start, word, self._until({";"}))

    def read_execute(self, start: int) -> Statement:
        """Read EXECUTE IMMEDIATE."""
        reader = self.reader
        reader.advance()
        self._need("IMMEDIATE")
        text = self._until({";", "INTO", "USING", "RETURNING", "RETURN", "BULK"})
        into: list[Target] = []
        if reader.sees("BULK"):
            raise unsupported("BULK COLLECT", reader.position)
        if reader.accept("INTO"):
            into = self._targets()
        using: list[tuple[str, Span, Target | None]] = []
        if reader.accept("USING"):
            while True:
                mode = "IN"
                if reader.accept("IN", "OUT"):
                    mode = "IN OUT"
                elif reader.accept("OUT"):
                    mode = "OUT"
                else:
                    reader.accept("IN")
                mark = reader.index
                target = self._target() if mode != "IN" else None
                reader.index = mark
                using.append((mode, self._until({",", ";", "RETURNING", "RETURN"}), target))
                if not reader.accept(","):
                    break
        returning: list[Target] = []
        if reader.accept("RETURNING") or reader.accept("RETURN"):
            self._need("INTO")
            returning = self._targets()
        return tree.Execute(start, text, into, using, returning)

    def read_sql(self, start: int) -> Statement:
        """Read a static SQL statement and cut out INTO."""
        reader = self.reader
        verb = reader.word()
        first, last = self._sql_span()
        depth = 0
        for k in range(first, last):
            upper = reader.tokens[k].upper
            depth += _OPENING.get(upper, 0)
            if depth != 0:
                continue
            if upper == "BULK" and reader.tokens[k + 1].upper == "COLLECT":
                raise unsupported("BULK COLLECT", reader.tokens[k].position)
            if upper == "INTO" and verb in {"SELECT", "WITH"}:
                reader.index = k + 1
                into = self._targets()
                rest = reader.index
                if rest != last and reader.word() not in _AFTER_INTO:
                    self._unexpected(reader.peek().text, "FROM")
                reader.index = last
                return tree.Sql(start, verb, ((first, k), (rest, last)), into, [])
            if upper in {"RETURNING", "RETURN"} and verb not in {"SELECT", "WITH"}:
                mark = next((n for n in range(k, last) if reader.tokens[n].upper == "INTO"), None)
                if mark is None:
                    reader.index = k
                    self._unexpected(reader.peek().text, "INTO")
                reader.index = mark + 1
                targets = self._targets()
                if reader.index != last:
                    self._unexpected(reader.peek().text, ";")
                return tree.Sql(start, verb, ((first, mark),), [], targets)
        if verb in {"SELECT", "WITH"}:
            position = reader.tokens[first].position
            raise compile_error(reader.sql, position, "PLS-00428: an INTO clause is expected in this SELECT statement")
        return tree.Sql(start, verb, ((first, last),), [], [])

    def _sql_span(self) -> Span:
        reader = self.reader
        first = reader.index
        while not reader.sees(";"):
            if reader.at_end:
                self._unexpected("end-of-file", ";")
            reader.advance()
        return first, reader.index

    def read_cursor(self, start: int) -> Statement:
        """Read OPEN, FETCH or CLOSE."""
        reader = self.reader
        word = reader.advance().upper
        name = self._name()
        if word == "OPEN":
            if reader.sees("FOR") or reader.sees("("):
                raise unsupported("OPEN … FOR and cursor parameters", reader.position)
            return tree.CursorStatement(start, "OPEN", name, [])
        if word == "CLOSE":
            return tree.CursorStatement(start, "CLOSE", name, [])
        if reader.sees("BULK"):
            raise unsupported("BULK COLLECT", reader.position)
        self._need("INTO")
        return tree.CursorStatement(start, "FETCH", name, self._targets())


_AFTER_INTO = frozenset(
    {"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "CONNECT", "START", "FETCH", "OFFSET", "FOR", "UNION", "MINUS"}
    | {"INTERSECT", "EXCEPT"}
)
_READERS = {
    "BEGIN": PlsqlParser.read_begin,
    "DECLARE": PlsqlParser.read_begin,
    "NULL": PlsqlParser.read_null,
    "IF": PlsqlParser.read_if,
    "CASE": PlsqlParser.read_case,
    "LOOP": PlsqlParser.read_loop,
    "WHILE": PlsqlParser.read_while,
    "FOR": PlsqlParser.read_for,
    "FORALL": PlsqlParser.read_forall,
    "GOTO": PlsqlParser.read_goto,
    "EXIT": PlsqlParser.read_leave,
    "CONTINUE": PlsqlParser.read_leave,
    "RAISE": PlsqlParser.read_raise,
    "RETURN": PlsqlParser.read_return,
    "EXECUTE": PlsqlParser.read_execute,
    "OPEN": PlsqlParser.read_cursor,
    "FETCH": PlsqlParser.read_cursor,
    "CLOSE": PlsqlParser.read_cursor,
    **dict.fromkeys(("COMMIT", "ROLLBACK", "SAVEPOINT", "LOCK", "SET"), PlsqlParser.read_control),
    **dict.fromkeys(_SQL, PlsqlParser.read_sql),
}
