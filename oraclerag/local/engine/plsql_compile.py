"""Checks a PL/SQL block before it runs, and turns its expressions and statements into SQL with binds.

Every expression becomes ``SELECT … FROM dual`` with the variables as binds, so that it has SQL's semantics and errors.
Names are resolved here: a variable is replaced by a bind; in a SQL statement a column of its tables comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from oraclerag.local.engine import packages
from oraclerag.local.engine import plsql_tree as tree
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.plan import Plan
from oraclerag.local.engine.plsql_parser import compile_error
from oraclerag.local.engine.plsql_tree import Argument, Span, Statement, Target
from oraclerag.local.engine.reader import Reader, unsupported
from oraclerag.local.engine.translate import translate
from oraclerag.local.interface import OraError

EXCEPTIONS = {
    "NO_DATA_FOUND": 1403,
    "TOO_MANY_ROWS": 1422,
    "DUP_VAL_ON_INDEX": 1,
    "ZERO_DIVIDE": 1476,
    "VALUE_ERROR": 6502,
    "INVALID_NUMBER": 1722,
    "INVALID_CURSOR": 1001,
    "CURSOR_ALREADY_OPEN": 6511,
    "CASE_NOT_FOUND": 6592,
    "LOGIN_DENIED": 1017,
    "TIMEOUT_ON_RESOURCE": 51,
    "STORAGE_ERROR": 6500,
    "PROGRAM_ERROR": 6501,
    "NOT_LOGGED_ON": 1012,
    "ROWTYPE_MISMATCH": 6504,
}
"""The exceptions that PL/SQL names itself."""

SourceKind = Literal["bind", "variable", "error", "implicit", "cursor", "call", "constant"]
NameKind = Literal["variable", "cursor", "exception"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the value of a bind of the compiled SQL comes from.

    ``name`` is a bind, a variable (``field``: of a record), SQLCODE or SQLERRM, ROWCOUNT or FOUND of SQL%, a cursor
    (``field``: its attribute), a function (with ``arguments``), or nothing beside ``value``.
    """

    kind: SourceKind
    name: str = ""
    field: str | None = None
    value: Any = None
    arguments: tuple[Compiled, ...] = ()
    named: tuple[str | None, ...] = ()
    token: int = 0


@dataclass(frozen=True, slots=True)
class Compiled:
    """SQL text with its bind sources, one per occurrence; ``single``: the expression is one source, no SQL needed."""

    text: str
    sources: tuple[Source, ...]
    single: Source | None = None


class Scope:
    """The names that are declared in a block and those around it."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, NameKind] = {}
        self.constants: set[str] = set()

    def kind(self, name: str) -> NameKind | None:
        """Tell what a name is."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def is_constant(self, name: str) -> bool:
        """Whether a name is a constant or a loop variable, which cannot be assigned to."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return name in scope.constants
            scope = scope.parent
        return False


@dataclass(slots=True)
class Program:
    """A checked block with everything that was compiled, by span."""

    reader: Reader
    block: tree.Block
    expressions: dict[Span, Compiled] = field(default_factory=dict)
    conditions: dict[Span, Compiled] = field(default_factory=dict)
    statements: dict[int, Compiled] = field(default_factory=dict)
    queries: dict[Span, Compiled] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    targets: set[int] = field(default_factory=set)


class Compiler:
    """Checks and compiles one block for a session."""

    def __init__(self, reader: Reader, block: tree.Block, host: Host) -> None:
        self.reader = reader
        self.host = host
        self.program = Program(reader, block)
        self._loops: list[str | None] = []

    def compile(self) -> Program:
        """Check everything; ORA-06550 for what does not compile."""
        self._block(self.program.block, Scope())
        for index, token in enumerate(self.reader.tokens):
            if token.kind == "bind" and index not in self.program.targets:
                self.program.read.add(token.value)
        return self.program

    def fail(self, token: int, message: str) -> OraError:
        """Give ORA-06550 at a token."""
        position = self.reader.tokens[token].position
        error = compile_error(self.reader.sql, position, message)
        where = error.message.partition("\n")[0]
        return OraError(6550, f"{error.message}\nORA-06550: {where}\nPL/SQL: Statement ignored", position)

    def _undeclared(self, token: int, name: str) -> OraError:
        return self.fail(token, f"PLS-00201: identifier '{name}' must be declared")

    # Blocks and statements

    def _block(self, block: tree.Block, outer: Scope) -> None:
        scope = Scope(outer)
        for declaration in block.declarations:
            if declaration.default is not None:
                self.expression(declaration.default, scope)
            if declaration.query is not None:
                self.query(declaration.query, scope)
            if declaration.name in scope.names:
                raise self.fail(declaration.token, "PLS-00371: at most one declaration is permitted")
            scope.names[declaration.name] = declaration.kind
            if declaration.constant:
                scope.constants.add(declaration.name)
        for name in block.numbers:
            if scope.kind(name) != "exception":
                raise self._undeclared(block.token, name)
        self._statements(block.body, scope)
        for handler in block.handlers:
            for name in handler.names:
                if name != "OTHERS" and name not in EXCEPTIONS and scope.kind(name) != "exception":
                    raise self._undeclared(handler.body[0].token, name)
            self._statements(handler.body, scope)

    def _statements(self, statements: Sequence[Statement], scope: Scope) -> None:
        for statement in statements:
            self._statement(statement, scope)

    def _case(self, statement: tree.Case, scope: Scope) -> None:
        if statement.selector is not None:
            self.expression(statement.selector, scope)
        for span, body in statement.arms:
            if statement.selector is None:
                self.condition(span, scope)
            else:
                self.expression(span, scope)
            self._statements(body, scope)
        self._statements(statement.otherwise or (), scope)

    def _statement(self, statement: Statement, scope: Scope) -> None:
        match statement:
            case tree.Block():
                self._block(statement, scope)
            case tree.If(_, arms, otherwise):
                for condition, body in arms:
                    self.condition(condition, scope)
                    self._statements(body, scope)
                self._statements(otherwise or (), scope)
            case tree.Case():
                self._case(statement, scope)
            case tree.Loop() | tree.ForRange() | tree.ForQuery():
                self._loop(statement, scope)
            case tree.Leave(token, _, label, condition):
                if not self._loops or (label is not None and label not in self._loops):
                    raise self.fail(token, "PLS-00376: illegal EXIT/CONTINUE statement; it must appear inside a loop")
                if condition is not None:
                    self.condition(condition, scope)
            case tree.Assign(_, target, value):
                self._target(target, scope)
                self.expression(value, scope)
            case tree.Execute():
                self._execute(statement, scope)
            case tree.Raise(token, name):
                if name is not None and name not in EXCEPTIONS and scope.kind(name) != "exception":
                    raise self._undeclared(token, name)
            case tree.Sql():
                self._sql(statement, scope)
            case tree.Call():
                self._call(statement, scope)
            case tree.CursorStatement(token, _, cursor, into):
                if scope.kind(cursor) != "cursor":
                    raise self._undeclared(token, cursor)
                for fetched in into:
                    self._target(fetched, scope)

    def _loop(self, statement: tree.Loop | tree.ForRange | tree.ForQuery, scope: Scope) -> None:
        inner = Scope(scope)
        if isinstance(statement, tree.Loop):
            if statement.condition is not None:
                self.condition(statement.condition, scope)
        elif isinstance(statement, tree.ForRange):
            self.expression(statement.low, scope)
            self.expression(statement.high, scope)
            inner.names[statement.variable] = "variable"
            inner.constants.add(statement.variable)
        else:
            if statement.query is not None:
                self.query(statement.query, scope)
            elif scope.kind(statement.cursor or "") != "cursor":
                raise self._undeclared(statement.token, statement.cursor or "")
            inner.names[statement.variable] = "variable"
        self._loops.append(statement.label)
        self._statements(statement.body, inner)
        self._loops.pop()

    def _execute(self, statement: tree.Execute, scope: Scope) -> None:
        self.expression(statement.text, scope)
        for target in [*statement.into, *statement.returning]:
            self._target(target, scope)
        for mode, span, receiver in statement.using:
            if receiver is not None:
                self._target(receiver, scope)
                if mode == "IN OUT" and receiver.kind == "bind":
                    self.program.read.add(receiver.name)
            if mode != "OUT":
                self.expression(span, scope)

    def _target(self, target: Target, scope: Scope) -> None:
        if target.kind == "bind":
            self.program.written.add(target.name)
            self.program.targets.add(target.token)
            return
        kind = scope.kind(target.name)
        if kind != "variable":
            raise self._undeclared(target.token, target.name)
        if scope.is_constant(target.name):
            message = f"PLS-00363: expression '{target.name}' cannot be used as an assignment target"
            raise self.fail(target.token, message)

    def _call(self, call: tree.Call, scope: Scope) -> None:
        name = packages.normal_name(call.name)
        if name == "RAISE_APPLICATION_ERROR":
            if not 2 <= len(call.arguments) <= 3:
                raise self._wrong_arguments(call.token, name)
            for argument in call.arguments:
                self.expression(argument.value, scope)
            return
        forms = packages.ROUTINES.get(name)
        if forms is None:
            if name in packages.FUNCTIONS:
                raise self.fail(call.token, f"PLS-00221: '{name}' is not a procedure or is undefined")
            if packages.is_unsupported(name):
                raise unsupported(f"the procedure {name}", self.reader.tokens[call.token].position)
            if self.reader.tokens[0].upper == "CALL":
                raise OraError(6576, "not a valid function or procedure name")
            raise self._undeclared(call.token, name.partition(".")[0] if "." not in name else name)
        named = [argument.name for argument in call.arguments if argument.name is not None]
        positional = len(call.arguments) - len(named)
        fitting = [form for form in forms if form.fits(positional, named)]
        if not fitting:
            raise self._wrong_arguments(call.token, name)
        for place, argument in enumerate(call.arguments):
            parameter = argument.name or fitting[0].parameters[place]
            if parameter in fitting[0].outs:
                self._out_argument(argument, scope)
            self.expression(argument.value, scope)

    def _wrong_arguments(self, token: int, name: str) -> OraError:
        short = name.rpartition(".")[2]
        return self.fail(token, f"PLS-00306: wrong number or types of arguments in call to '{short}'")

    def _out_argument(self, argument: Argument, scope: Scope) -> None:
        target = self.out_target(argument)
        if target is None:
            text = self.reader.text(argument.value)
            raise self.fail(argument.value[0], f"PLS-00363: expression '{text}' cannot be used as an assignment target")
        self._target(target, scope)

    def out_target(self, argument: Argument) -> Target | None:
        """Give the target that an argument is, if it is one."""
        return out_target(self.reader, argument)

    # SQL

    def _sql(self, statement: tree.Sql, scope: Scope) -> None:
        for target in [*statement.into, *statement.returning]:
            self._target(target, scope)
        tokens = [token for span in statement.text for token in self.reader.tokens[slice(*span)]]
        hidden = self._columns(tokens)
        if statement.verb == "INSERT":
            values = next((k for k, token in enumerate(tokens) if token.upper == "VALUES"), None)
        else:
            values = None
        parts: list[str] = []
        sources: list[Source] = []
        for span in statement.text:
            split = span[0] + values if values is not None else span[1]
            for first, last, names in ((span[0], split, hidden), (split, span[1], frozenset[str]())):
                if first >= last:
                    continue
                piece, found = self._substitute((first, last), scope, names, len(sources))
                parts.append(piece)
                sources += found
        text = " ".join(parts)
        if statement.returning:
            text += " INTO " + ", ".join(f":R{k}" for k in range(len(statement.returning)))
        compiled = Compiled(text, tuple(sources))
        self._check_sql(text, statement.token)
        self.program.statements[statement.token] = compiled

    def query(self, span: Span, scope: Scope) -> Compiled:
        """Compile the query of a cursor or a FOR loop."""
        hidden = self._columns(self.reader.tokens[slice(*span)])
        text, sources = self._substitute(span, scope, hidden, 0)
        self._check_sql(text, span[0])
        compiled = Compiled(text, tuple(sources))
        self.program.queries[span] = compiled
        return compiled

    def _columns(self, tokens: Sequence[Token]) -> frozenset[str]:
        """Give the column names of every table that a statement names: they hide variables."""
        found: set[str] = set()
        names = self.host.names
        for token in tokens:
            if token.kind in {"word", "quoted"}:
                columns = names.columns(self.host.schema, token.value)
                found.update(name for name, _ in columns or ())
        return frozenset(found)

    def _check_sql(self, text: str, token: int) -> None:
        """Translate a static statement; what is refused or missing does not compile."""
        try:
            plan = translate(text, self.host.names)
        except OraError as error:
            if error.number == 3001:
                raise
            raise self.fail(token, f"PL/SQL: ORA-{error.number:05d}: {error.message}") from error
        self._check_tables(plan, token)

    def _check_tables(self, plan: Plan, token: int) -> None:
        for schema, table in plan.tables:
            if self.host.names.columns(schema, table) is None:
                message = f'PL/SQL: ORA-00942: table or view "{schema}"."{table}" does not exist'
                raise self.fail(token, message)

    # Expressions

    def expression(self, span: Span, scope: Scope) -> Compiled:
        """Compile an expression."""
        compiled = self._expression(span, scope, "SELECT {} FROM dual")
        self.program.expressions[span] = compiled
        return compiled

    def condition(self, span: Span, scope: Scope) -> Compiled:
        """Compile a condition; it gives 1 or 0."""
        compiled = self._expression(span, scope, "SELECT CASE WHEN {} THEN 1 ELSE 0 END FROM dual")
        self.program.conditions[span] = compiled
        return compiled

    def _expression(self, span: Span, scope: Scope, frame: str) -> Compiled:
        text, sources = self._substitute(span, scope, frozenset(), 0)
        if len(sources) == 1 and text == ":B0":
            return Compiled("", (), sources[0])
        constant = self._constant(span)
        if constant is not None:
            return Compiled("", (), constant)
        framed = frame.format(text)
        try:
            translate(framed, self.host.names)
        except OraError as error:
            if error.number == 3001:
                raise
            if error.number == 904:
                name = error.message.partition(":")[0].replace('"', "")
                raise self._undeclared(span[0], name) from error
            raise self.fail(span[0], f"PL/SQL: ORA-{error.number:05d}: {error.message}") from error
        return Compiled(framed, tuple(sources))

    def _constant(self, span: Span) -> Source | None:
        """Give the value of an expression that is one literal, so that no query is needed."""
        tokens = self.reader.tokens[slice(*span)]
        if len(tokens) != 1:
            return None
        token = tokens[0]
        if token.kind == "string":
            return Source("constant", value=token.value or None)
        if token.kind == "number" and token.text.isdigit():
            return Source("constant", value=int(token.text))
        if token.upper in {"TRUE", "FALSE", "NULL"}:
            return Source("constant", value={"TRUE": True, "FALSE": False}.get(token.upper))
        return None

    def _substitute(self, span: Span, scope: Scope, hidden: frozenset[str], start: int) -> tuple[str, list[Source]]:
        """Replace what is no SQL by binds ``:B<n>``, numbered from ``start``."""
        tokens = self.reader.tokens
        pieces: list[str] = []
        sources: list[Source] = []
        last = tokens[span[0]].position
        index = span[0]
        while index < span[1]:
            source, width = self._source(index, span, scope, hidden)
            if source is None:
                index += 1
                continue
            pieces.append(self.reader.sql[last : tokens[index].position])
            pieces.append(f":B{start + len(sources)}")
            sources.append(source)
            index += width
            last = tokens[index - 1].end
        pieces.append(self.reader.sql[last : tokens[span[1] - 1].end])
        return "".join(pieces), sources

    def _source(self, index: int, span: Span, scope: Scope, hidden: frozenset[str]) -> tuple[Source | None, int]:
        """Tell what a token stands for if it is no SQL, and how many tokens belong to it."""
        tokens = self.reader.tokens
        token = tokens[index]
        if token.kind == "bind":
            return Source("bind", token.value, token=index), 1
        if token.kind not in {"word", "quoted"} or (index > span[0] and tokens[index - 1].upper == "."):
            return None, 1
        after = tokens[index + 1] if index + 1 < span[1] else None
        behind = after.upper if after is not None else ""
        if behind == "%":
            return self._attribute(index, scope)
        if token.upper in {"SQLCODE", "SQLERRM"} and behind not in {"(", "."}:
            return Source("error", token.upper), 1
        if scope.kind(token.value) == "variable" and token.value not in hidden and behind not in {"(", "=>"}:
            if behind == "." and index + 2 < span[1]:
                return Source("variable", token.value, tokens[index + 2].value, token=index), 3
            return Source("variable", token.value, token=index), 1
        if behind == ".":
            return self._package_item(index, span, scope)
        return None, 1

    def _attribute(self, index: int, scope: Scope) -> tuple[Source | None, int]:
        tokens = self.reader.tokens
        name, attribute = tokens[index].value, tokens[index + 2].upper
        if attribute not in {"ROWCOUNT", "FOUND", "NOTFOUND", "ISOPEN"}:
            raise self.fail(index, f"PLS-00208: identifier '{attribute}' is not a legal cursor attribute")
        if name == "SQL":
            return Source("implicit", attribute), 3
        if scope.kind(name) != "cursor":
            raise self._undeclared(index, name)
        return Source("cursor", name, attribute), 3

    def _package_item(self, index: int, span: Span, scope: Scope) -> tuple[Source | None, int]:
        """Find a package's function or constant; other dotted names are SQL's."""
        tokens = self.reader.tokens
        names = [tokens[index].value]
        end = index + 1
        while end + 1 < span[1] and tokens[end].upper == "." and tokens[end + 1].kind in {"word", "quoted"}:
            names.append(tokens[end + 1].value)
            end += 2
        name = packages.normal_name(".".join(names))
        if name in packages.CONSTANTS:
            return Source("constant", value=packages.CONSTANTS[name]), end - index
        forms = packages.FUNCTIONS.get(name)
        if forms is None:
            return None, 1
        arguments: list[Argument] = []
        if end < span[1] and tokens[end].upper == "(":
            arguments, end = self._arguments(end, span)
        named = [argument.name for argument in arguments if argument.name is not None]
        if not any(form.fits(len(arguments) - len(named), named) for form in forms):
            raise self._wrong_arguments(index, name)
        compiled = tuple(self.expression(argument.value, scope) for argument in arguments)
        return (
            Source("call", name, arguments=compiled, named=tuple(a.name for a in arguments), token=index),
            end - index,
        )

    def _arguments(self, opening: int, span: Span) -> tuple[list[Argument], int]:
        tokens = self.reader.tokens
        arguments: list[Argument] = []
        depth, first = 1, opening + 1
        index = first
        while depth and index < span[1]:
            upper = tokens[index].upper
            depth += (upper == "(") - (upper == ")")
            if (depth == 1 and upper == ",") or depth == 0:
                if index > first:
                    arguments.append(self._argument(first, index))
                first = index + 1
            index += 1
        return arguments, index

    def _argument(self, first: int, last: int) -> Argument:
        tokens = self.reader.tokens
        if last - first > 2 and tokens[first + 1].upper == "=>":
            return Argument(tokens[first].value, (first + 2, last))
        return Argument(None, (first, last))


def out_target(reader: Reader, argument: Argument) -> Target | None:
    """Give the bind, variable or record field that an argument of an OUT parameter is."""
    tokens = reader.tokens[slice(*argument.value)]
    first = argument.value[0]
    if len(tokens) == 1 and tokens[0].kind == "bind":
        return Target("bind", tokens[0].value, None, first)
    if len(tokens) == 1 and tokens[0].kind in {"word", "quoted"}:
        return Target("variable", tokens[0].value, None, first)
    if len(tokens) == 3 and tokens[1].upper == ".":
        return Target("variable", tokens[0].value, tokens[2].value, first)
    return None


def walk(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Give all statements of a body, nested ones too."""
    for statement in statements:
        yield statement
        for name in ("body", "otherwise"):
            yield from walk(getattr(statement, name, None) or ())
        for _, body in getattr(statement, "arms", ()):
            yield from walk(body)
        for handler in getattr(statement, "handlers", ()):
            yield from walk(handler.body)
