"""Runs a compiled PL/SQL block: variables live here, every expression and statement is run by the session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oraclerag.local.engine import packages
from oraclerag.local.engine import plsql_tree as tree
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.packages import Routine
from oraclerag.local.engine.plsql_compile import EXCEPTIONS, Compiled, Program, Source, out_target
from oraclerag.local.engine.plsql_names import Cursor, ExceptionName, Frame, UserException, Variable
from oraclerag.local.engine.plsql_parser import compile_error
from oraclerag.local.engine.plsql_tree import Span, Statement, Target
from oraclerag.local.engine.plsql_values import (
    VariableType,
    bind_type,
    coerced,
    converted,
    family,
    type_of,
    variable_type,
)
from oraclerag.local.engine.reader import unsupported
from oraclerag.local.interface import BindType, OraError, OraType, StatementKind

_NOT_FOUND = 1403


class _Leave(Exception):
    def __init__(self, label: str | None, *, exits: bool) -> None:
        super().__init__()
        self.label = label
        self.exits = exits


class _Return(Exception):
    pass


class Interpreter:
    """One execution of a block. ``binds`` is changed in place."""

    def __init__(
        self, program: Program, host: Host, binds: dict[str, Any], types: dict[str, BindType], depth: int
    ) -> None:
        self.program = program
        self.reader = program.reader
        self.host = host
        self.binds = binds
        self.types = types
        self.depth = depth
        self.committed = False
        self._own_savepoints: set[str] = set()
        self._error: OraError | None = None
        self._rows = 0
        self._any_sql = False
        self.line = 1

    def run(self) -> None:
        """Run the block."""
        try:
            self._block(self.program.block, None)
        except _Return:
            return

    # Blocks

    def _block(self, block: tree.Block, outer: Frame | None) -> None:
        frame = Frame(outer)
        for declaration in block.declarations:
            self._declare(declaration, frame, block.numbers)
        try:
            self._statements(block.body, frame)
        except OraError as error:
            handler = self._handler(block, frame, error)
            if handler is None:
                raise
            before, self._error = self._error, error
            try:
                self._statements(handler.body, frame)
            finally:
                self._error = before

    def _handler(self, block: tree.Block, frame: Frame, error: OraError) -> tree.Handler | None:
        if error.number in {1013, 3113}:  # a cancel or a lost connection ends the call
            return None
        for handler in block.handlers:
            for name in handler.names:
                if name == "OTHERS" or self._is_exception(name, frame, error):
                    return handler
        return None

    def _is_exception(self, name: str, frame: Frame, error: OraError) -> bool:
        try:
            declared = frame.find(name)
        except OraError:
            return EXCEPTIONS.get(name) == error.number
        if isinstance(error, UserException):
            return error.declaration is declared
        return isinstance(declared, ExceptionName) and declared.number == error.number

    def _declare(self, declaration: tree.Declaration, frame: Frame, numbers: dict[str, int]) -> None:
        name = declaration.name
        if declaration.kind == "exception":
            frame.names[name] = ExceptionName(numbers.get(name))
            return
        if declaration.query is not None:
            frame.names[name] = Cursor(declaration.query)
            return
        if declaration.type is None:
            return
        variable = self._variable(declaration.type, frame, declaration.token)
        variable.not_null = declaration.not_null
        if declaration.default is not None:
            self._store(variable, None, *self._typed(declaration.default, frame))
        frame.names[name] = variable

    def _variable(self, declared: tree.TypeName, frame: Frame, token: int) -> Variable:
        if not declared.of:
            try:
                return Variable(variable_type(self.reader.text(declared.text)))
            except OraError as error:
                if error.number == 6550:
                    message = error.message.partition("\n")[2]
                    raise compile_error(self.reader.sql, self.reader.tokens[token].position, message) from error
                raise
        names = declared.of
        if declared.row:
            columns = self._table_columns(names, token)
            types = {name: kind for name, kind in columns.items() if kind is not None}
            return Variable(fields=dict.fromkeys(columns), field_types=types)
        if len(names) == 1:
            found = frame.find(names[0])
            if isinstance(found, Variable) and found.fields is None:
                return Variable(found.type)
        columns = self._table_columns(names[:-1], token)
        if names[-1] not in columns:
            raise self._compile_error(token, f"PLS-00302: component '{names[-1]}' must be declared")
        return Variable(columns[names[-1]])

    def _table_columns(self, names: Sequence[str], token: int) -> dict[str, VariableType | None]:
        schema = names[0] if len(names) == 2 else self.host.schema
        rows = self.host.values(
            "SELECT column_name, data_type, data_length, char_length, char_used, data_precision, data_scale"
            " FROM all_tab_cols WHERE owner = :o AND table_name = :t ORDER BY column_id",
            [schema, names[-1]],
            [bind_type(schema), bind_type(names[-1])],
        )
        if not rows and self.host.names.columns(schema, names[-1]) is not None:
            known = self.host.names.columns(schema, names[-1]) or ()
            return {name: (VariableType(kind) if (kind := family(text)) else None) for name, text in known}
        if not rows:
            raise self._compile_error(token, f"PLS-00201: identifier '{'.'.join(names)}' must be declared")
        found: dict[str, VariableType | None] = {}
        for name, text, size, characters, used, precision, scale in rows:
            kind = family(text)
            chars = used == "C"
            length = (characters if chars else size) if kind in {OraType.VARCHAR, OraType.CHAR, OraType.RAW} else None
            whole = None if precision is None else int(precision)
            found[name] = None if kind is None else VariableType(kind, length, chars, whole, int(scale or 0))
        return found

    def _compile_error(self, token: int, message: str) -> OraError:
        return compile_error(self.reader.sql, self.reader.tokens[token].position, message)

    # Statements

    def _statements(self, statements: Sequence[Statement], frame: Frame) -> None:
        for statement in statements:
            self.line = self.reader.sql.count("\n", 0, self.reader.tokens[statement.token].position) + 1
            self._statement(statement, frame)

    def _statement(self, statement: Statement, frame: Frame) -> None:  # noqa: C901 - one arm per kind of statement
        match statement:
            case tree.Block():
                self._block(statement, frame)
            case tree.If():
                for condition, body in statement.arms:
                    if self._condition(condition, frame):
                        return self._statements(body, frame)
                return self._statements(statement.otherwise or (), frame)
            case tree.Case():
                return self._case(statement, frame)
            case tree.Loop():
                self._loop(statement, frame)
            case tree.ForRange():
                self._for_range(statement, frame)
            case tree.ForQuery():
                self._for_query(statement, frame)
            case tree.Leave(_, exits, label, condition):
                if condition is None or self._condition(condition, frame):
                    raise _Leave(label, exits=exits)
            case tree.Assign(_, target, value):
                self._assign(target, *self._typed(value, frame), frame)
            case tree.Execute():
                self._execute(statement, frame)
            case tree.Raise(_, name):
                raise self._raised(name, frame)
            case tree.Return():
                raise _Return
            case tree.Control(_, word, text):
                self._control(word, self.reader.text(text))
            case tree.Sql():
                self._sql(statement, frame)
            case tree.Call():
                self._call(statement, frame)
            case tree.CursorStatement():
                self._cursor(statement, frame)
        return None

    def _case(self, statement: tree.Case, frame: Frame) -> None:
        selector = self._value(statement.selector, frame) if statement.selector is not None else None
        for span, body in statement.arms:
            if statement.selector is None:
                matches = self._condition(span, frame)
            else:
                value = self._value(span, frame)
                matches = selector is not None and value == selector
            if matches:
                return self._statements(body, frame)
        if statement.otherwise is None:
            raise OraError(6592, "CASE not found while executing CASE statement")
        return self._statements(statement.otherwise, frame)

    def _pass(self, body: Sequence[Statement], frame: Frame, label: str | None) -> bool:
        """Run a loop's body once; False: leave the loop."""
        self.host.heed_client()
        try:
            self._statements(body, frame)
        except _Leave as leave:
            if leave.label not in {None, label}:
                raise
            return not leave.exits
        return True

    def _loop(self, loop: tree.Loop, frame: Frame) -> None:
        while loop.condition is None or self._condition(loop.condition, frame):
            if not self._pass(loop.body, frame, loop.label):
                break

    def _for_range(self, loop: tree.ForRange, frame: Frame) -> None:
        low, high = (int(self._number(span, frame)) for span in (loop.low, loop.high))
        numbers = range(high, low - 1, -1) if loop.reverse else range(low, high + 1)
        inner = Frame(frame)
        for number in numbers:
            inner.names[loop.variable] = Variable(VariableType(OraType.NUMBER, integer=True), number)
            if not self._pass(loop.body, inner, loop.label):
                break

    def _number(self, span: Span, frame: Frame) -> Any:
        value = converted(self._value(span, frame), None, OraType.NUMBER, self.host)
        if value is None:
            raise OraError(6502, "PL/SQL: numeric or value error: NULL loop bound")
        return value

    def _for_query(self, loop: tree.ForQuery, frame: Frame) -> None:
        query = loop.query
        if query is None:
            cursor = frame.cursor(loop.cursor or "")
            query = cursor.query
        compiled = self.program.queries[query]
        names = [column.name for column in self.host.describe(compiled.text)]
        inner = Frame(frame)
        for row in self._run_query(compiled, frame):
            inner.names[loop.variable] = Variable(fields=dict(zip(names, row, strict=True)))
            if not self._pass(loop.body, inner, loop.label):
                break

    def _raised(self, name: str | None, frame: Frame) -> OraError:
        if name is None:
            if self._error is None:
                return OraError(6510, "PL/SQL: unhandled user-defined exception")
            return self._error
        if name in EXCEPTIONS:
            messages = {1403: "no data found", 1422: "exact fetch returns more than requested number of rows"}
            number = EXCEPTIONS[name]
            return OraError(number, messages.get(number, f"PL/SQL: {name.lower().replace('_', ' ')}"))
        declared = frame.find(name)
        if isinstance(declared, ExceptionName) and declared.number is not None:
            return OraError(declared.number, f"exception {name}")
        return UserException(declared, name)

    def _control(self, word: str, text: str) -> None:
        words = text.upper().split()
        if word == "COMMIT":
            self.committed = True
        elif word == "SAVEPOINT":
            self._own_savepoints.add(words[1])
        elif word == "ROLLBACK" and not ("TO" in words and words[-1] in self._own_savepoints):
            self.committed = True  # the savepoint before the block may be gone
        self.host.run(text)

    # SQL

    def _sql(self, statement: tree.Sql, frame: Frame) -> None:
        compiled = self.program.statements[statement.token]
        if statement.verb in {"SELECT", "WITH"}:
            self._into(statement.into, self._run_query(compiled, frame), frame)
            return
        values, types = self._inputs(compiled, frame)
        returns = [self._return_type(target, frame) for target in statement.returning]
        result = self.host.dml(compiled.text, [values], [*types, *returns])
        self._rows, self._any_sql = sum(result.counts), True
        if statement.returning:
            self._returned(result.returned, statement.returning, frame)

    def _returned(self, returned: Sequence[Sequence[Sequence[Any]]], targets: Sequence[Target], frame: Frame) -> None:
        columns = returned[0] if returned else []
        if columns and len(columns[0]) > 1:
            raise OraError(1422, "exact fetch returns more than requested number of rows")
        for target, found in zip(targets, columns, strict=False):
            if found:
                self._assign(target, found[0], None, frame)

    def _return_type(self, target: Target, frame: Frame) -> BindType:
        if target.kind == "bind":
            return self.types[target.name]
        variable = frame.variable(target.name)
        kind = variable.field_types.get(target.field) if target.field else variable.type
        return BindType(kind.family if kind is not None else OraType.VARCHAR, 32767)

    def _run_query(self, compiled: Compiled, frame: Frame) -> list[tuple[Any, ...]]:
        values, types = self._inputs(compiled, frame)
        rows = self.host.values(compiled.text, values, types)
        self._rows, self._any_sql = len(rows), True
        return rows

    def _into(self, targets: Sequence[Target], rows: Sequence[tuple[Any, ...]], frame: Frame) -> None:
        if not rows:
            raise OraError(_NOT_FOUND, "no data found")
        if len(rows) > 1:
            raise OraError(1422, "exact fetch returns more than requested number of rows")
        self._assign_row(targets, rows[0], frame)

    def _assign_row(self, targets: Sequence[Target], row: Sequence[Any], frame: Frame) -> None:
        if len(targets) == 1 and targets[0].kind == "variable" and targets[0].field is None:
            variable = frame.variable(targets[0].name)
            if variable.fields is not None:
                if len(variable.fields) != len(row):
                    raise (
                        OraError(913, "too many values")
                        if len(row) > len(variable.fields)
                        else OraError(947, "not enough values")
                    )
                for name, value in zip(variable.fields, row, strict=True):
                    self._store(variable, name, value, None)
                return
        if len(targets) != len(row):
            raise OraError(947, "not enough values") if len(row) < len(targets) else OraError(913, "too many values")
        for target, value in zip(targets, row, strict=True):
            self._assign(target, value, None, frame)

    def _cursor(self, statement: tree.CursorStatement, frame: Frame) -> None:
        cursor = frame.cursor(statement.cursor)
        if statement.verb == "OPEN":
            if cursor.rows is not None:
                raise OraError(6511, "PL/SQL: cursor already open")
            cursor.rows = self._run_query(self.program.queries[cursor.query], frame)
            cursor.position, cursor.found = 0, None
            return
        if cursor.rows is None:
            raise OraError(1001, "invalid cursor")
        if statement.verb == "CLOSE":
            cursor.rows = None
            return
        cursor.found = cursor.position < len(cursor.rows)
        if cursor.found:
            cursor.position += 1
            self._assign_row(statement.into, cursor.rows[cursor.position - 1], frame)

    def _execute(self, statement: tree.Execute, frame: Frame) -> None:
        text = self._value(statement.text, frame)
        if not text:
            raise OraError(6535, "statement string in EXECUTE IMMEDIATE is NULL or 0 length")
        shape = self.host.shape(text)
        given = [(mode, self._typed(span, frame) if mode != "OUT" else (None, None), target)
                 for mode, span, target in statement.using]  # fmt: skip
        if shape.kind is StatementKind.PLSQL:
            self._execute_block(text, shape.binds, given, frame)
            return
        if any(mode != "IN" for mode, _, _ in given):
            raise unsupported("OUT arguments of EXECUTE IMMEDIATE other than of a PL/SQL block")
        values = [value for _, (value, _), _ in given]
        types = [bind_type(value, kind) for _, (value, kind), _ in given]
        wanted = len(shape.binds) - len(statement.returning)
        if shape.kind in {StatementKind.QUERY, StatementKind.DML} and len(values) != wanted:
            raise (
                OraError(1008, "not all variables bound")
                if len(values) < wanted
                else OraError(1006, "bind variable does not exist")
            )
        if shape.kind is StatementKind.QUERY:
            rows = self.host.values(text, values, types)
            if statement.into:
                self._into(statement.into, rows, frame)
        elif shape.kind is StatementKind.DML:
            returns = [self._return_type(target, frame) for target in statement.returning]
            result = self.host.dml(text, [values], [*types, *returns])
            self._rows, self._any_sql = sum(result.counts), True
            self._returned(result.returned, statement.returning, frame)
        elif shape.kind is StatementKind.DDL:
            self.committed = True
            self.host.run(text)
        else:
            self._control(text.split()[0].upper() if text.split() else "", text)

    def _execute_block(
        self,
        text: str,
        names: Sequence[str],
        given: Sequence[tuple[str, tuple[Any, OraType | None], Target | None]],
        frame: Frame,
    ) -> None:
        from oraclerag.local.engine.plsql import compile_block

        if len(names) != len(given):
            raise OraError(1008, "not all variables bound")
        binds = {name: value for name, (_, (value, _), _) in zip(names, given, strict=True)}
        types = {
            name: self._return_type(target, frame) if target is not None else bind_type(value, kind)
            for name, (_, (value, kind), target) in zip(names, given, strict=True)
        }
        inner = Interpreter(compile_block(text, self.host), self.host, binds, types, self.depth + 1)
        try:
            inner.run()
        finally:
            self.committed = self.committed or inner.committed
        for name, (_, _, target) in zip(names, given, strict=True):
            if target is not None:
                self._assign(target, binds[name], None, frame)

    # Calls

    def _call(self, call: tree.Call, frame: Frame) -> None:
        name = packages.normal_name(call.name)
        if name == "RAISE_APPLICATION_ERROR":
            raise self._application_error(call, frame)
        typed = [self._typed(argument.value, frame) for argument in call.arguments]
        names = tuple(argument.name for argument in call.arguments)
        routine, arguments = self._choose(packages.ROUTINES[name], names, typed, call.token)
        outs = self._run_routine(routine, arguments)
        for place, argument in enumerate(call.arguments):
            parameter = argument.name or routine.parameters[place]
            if parameter in outs:
                target = out_target(self.reader, argument)
                if target is not None:  # the compiler has seen that it is one
                    self._assign(target, outs[parameter], None, frame)

    def _application_error(self, call: tree.Call, frame: Frame) -> OraError:
        number = int(self._number(call.arguments[0].value, frame))
        message = converted(self._value(call.arguments[1].value, frame), None, OraType.VARCHAR, self.host) or ""
        if not -20999 <= number <= -20000:
            return OraError(21000, f"error number argument to raise_application_error of {number} is out of range")
        return OraError(-number, message)

    def _choose(
        self,
        forms: Sequence[Routine],
        names: Sequence[str | None],
        typed: Sequence[tuple[Any, OraType | None]],
        token: int,
    ) -> tuple[Routine, dict[str, Any]]:
        kinds = [type_of(value) for name, (value, _) in zip(names, typed, strict=True) if name is None]
        routine = packages.choose(forms, kinds, [name for name in names if name is not None])
        if routine is None:
            raise self._compile_error(token, "PLS-00306: wrong number or types of arguments in call")
        arguments: dict[str, Any] = {}
        for place, (name, (value, kind)) in enumerate(zip(names, typed, strict=True)):
            parameter = name or routine.parameters[place]
            wanted = routine.types.get(parameter)
            arguments[parameter] = value if wanted is None else converted(value, kind, wanted, self.host)
        return routine, arguments

    def _run_routine(self, routine: Routine, arguments: dict[str, Any]) -> dict[str, Any]:
        if not self.host.in_transaction:
            return dict(routine.run(self.host, arguments) or {})
        outs = dict(routine.run(self.host, arguments) or {})
        self.committed = self.committed or not self.host.in_transaction
        return outs

    # Expressions

    def _condition(self, span: Span, frame: Frame) -> bool:
        compiled = self.program.conditions[span]
        value = self._compiled(compiled, frame)
        return value is True or (compiled.single is None and value == 1)

    def _value(self, span: Span, frame: Frame) -> Any:
        return self._compiled(self.program.expressions[span], frame)

    def _typed(self, span: Span, frame: Frame) -> tuple[Any, OraType | None]:
        """Evaluate an expression; the type is known where it is a variable or a bind."""
        compiled = self.program.expressions[span]
        if compiled.single is not None:
            return self._source(compiled.single, frame)
        return self._compiled(compiled, frame), None

    def _compiled(self, compiled: Compiled, frame: Frame) -> Any:
        if compiled.single is not None:
            return self._source(compiled.single, frame)[0]
        values, types = self._inputs(compiled, frame)
        return self.host.values(compiled.text, values, types)[0][0]

    def _inputs(self, compiled: Compiled, frame: Frame) -> tuple[list[Any], list[BindType]]:
        found = [self._source(source, frame) for source in compiled.sources]
        return [value for value, _ in found], [bind_type(value, kind) for value, kind in found]

    def _source(self, source: Source, frame: Frame) -> tuple[Any, OraType | None]:
        match source.kind:
            case "constant":
                return source.value, None
            case "bind":
                return self.binds[source.name], self.types[source.name].type
            case "variable":
                return self._variable_value(source, frame)
            case "error":
                return self._error_value(source.name), None
            case "implicit":
                return self._implicit(source.name), None
            case "cursor":
                return self._cursor_attribute(source, frame), None
            case "call":
                typed = [self._source(a.single, frame) if a.single is not None else (self._compiled(a, frame), None)
                         for a in source.arguments]  # fmt: skip
                routine, arguments = self._choose(packages.FUNCTIONS[source.name], source.named, typed, source.token)
                return self._run_routine(routine, arguments)[""], None

    def _variable_value(self, source: Source, frame: Frame) -> tuple[Any, OraType | None]:
        variable = frame.variable(source.name)
        if source.field is None:
            if variable.fields is not None:
                raise self._compile_error(source.token, f"PLS-00382: expression is of wrong type: {source.name}")
            return variable.value, variable.type.family if variable.type is not None else None
        if variable.fields is None or source.field not in variable.fields:
            raise self._compile_error(source.token, f"PLS-00302: component '{source.field}' must be declared")
        kind = variable.field_types.get(source.field)
        return variable.fields[source.field], kind.family if kind is not None else None

    def _error_value(self, name: str) -> Any:
        error = self._error
        if error is None:
            return 0 if name == "SQLCODE" else "ORA-0000: normal, successful completion"
        if isinstance(error, UserException):
            return 1 if name == "SQLCODE" else "User-Defined Exception"
        if name == "SQLERRM":
            return f"ORA-{error.number:05d}: {error.message}"
        return 100 if error.number == _NOT_FOUND else -error.number

    def _implicit(self, name: str) -> Any:
        if name == "ISOPEN":
            return False
        if not self._any_sql:
            return None
        return {"ROWCOUNT": self._rows, "FOUND": self._rows > 0, "NOTFOUND": self._rows == 0}[name]

    def _cursor_attribute(self, source: Source, frame: Frame) -> Any:
        cursor = frame.cursor(source.name)
        if source.field == "ISOPEN":
            return cursor.rows is not None
        if cursor.rows is None:
            raise OraError(1001, "invalid cursor")
        if source.field == "ROWCOUNT":
            return cursor.position
        if cursor.found is None:
            return None
        return cursor.found if source.field == "FOUND" else not cursor.found

    # Assignment

    def _assign(self, target: Target, value: Any, kind: OraType | None, frame: Frame) -> None:
        if target.kind == "bind":
            self.binds[target.name] = converted(value, kind, self.types[target.name].type, self.host)
            return
        variable = frame.variable(target.name)
        self._store(variable, target.field, value, kind)

    def _store(self, variable: Variable, name: str | None, value: Any, kind: OraType | None) -> None:
        if variable.fields is not None:
            if name is None or name not in variable.fields:
                raise OraError(6550, f"line {self.line}, column 1:\nPLS-00302: component '{name}' must be declared")
            declared = variable.field_types.get(name)
            variable.fields[name] = value if declared is None else coerced(value, kind, declared, self.host)
            return
        found = value if variable.type is None else coerced(value, kind, variable.type, self.host)
        if found is None and variable.not_null:
            raise OraError(6502, "PL/SQL: numeric or value error: NULL in a variable declared NOT NULL")
        variable.value = found
