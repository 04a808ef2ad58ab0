"""The body of a row trigger as a PL/pgSQL function."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from oraclerag.local.engine import plsql_tree as tree
from oraclerag.local.engine.column_types import read_type
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.lexer import tokenize
from oraclerag.local.engine.long_names import stored
from oraclerag.local.engine.plan import BindParameter, Names, Parameter
from oraclerag.local.engine.plsql_parser import compile_error
from oraclerag.local.engine.plsql_tree import Span, Statement, Target
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.translate import Parser, translate
from oraclerag.local.engine.tree import Output
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

_PLACEHOLDER = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(\d+)")
_RESULT = ["IF tg_op = 'DELETE' THEN", 'RETURN "old";', "END IF;", 'RETURN "new";']
_PREDICATES = {"INSERTING": "INSERT", "UPDATING": "UPDATE", "DELETING": "DELETE"}
_OWN_ERROR = "OR000"  # the state of every error that has a number of ours, which stands in its detail
_DETAIL = '" detail"'
_CONDITIONS = {
    "OTHERS": "OTHERS",
    "NO_DATA_FOUND": "no_data_found",
    "TOO_MANY_ROWS": "too_many_rows",
    "DUP_VAL_ON_INDEX": "unique_violation",
    "ZERO_DIVIDE": "division_by_zero",
}


@dataclass(frozen=True, slots=True)
class TriggerContext:
    """What the body may rely on: whose rights it has, the table, the timing, the names for the row's two states."""

    owner: str
    schema: str
    table: str
    timing: str  # BEFORE, AFTER or INSTEAD OF
    new: str = "NEW"
    old: str = "OLD"


@dataclass(slots=True)
class TriggerBody:
    """Translates one body. ``text`` gives the PL/pgSQL function body."""

    reader: Reader
    host: Host
    context: TriggerContext
    variables: dict[str, str] = field(default_factory=dict)
    exceptions: dict[str, int] = field(default_factory=dict)
    reads_others: bool = False
    updating: set[int] = field(default_factory=set)
    """The numbers of the columns that the body asks UPDATING('…') of."""
    names: Names = field(init=False)

    def __post_init__(self) -> None:
        self.names = self.host.definer_names(self.context.owner)

    def text(self, block: tree.Block, condition: Span | None) -> str:
        """Give the whole body; ``condition`` is that of the WHEN clause."""
        lines = self._block(block)
        if condition is not None:
            tested = self._expression(condition, bare_rows=True)
            lines = [f"IF ({tested}) THEN", *lines, "END IF;"]
        tail = ["RETURN NULL;"] if self.context.timing == "AFTER" else _RESULT
        return "\n".join(["#variable_conflict use_column", "BEGIN", *lines, *tail, "END"])

    def _fail(self, token: int, message: str) -> OraError:
        return compile_error(self.reader.sql, self.reader.tokens[token].position, message)

    def _block(self, block: tree.Block) -> list[str]:
        before = dict(self.variables), dict(self.exceptions)
        declared = [line for declaration in block.declarations for line in self._declaration(declaration, block)]
        lines = self._statements(block.body)
        handlers = self._handlers(block)
        if any(_DETAIL in line for line in handlers):
            declared.append(f"{_DETAIL} text;")
        self.variables, self.exceptions = before
        if not declared and not handlers:
            return lines
        head = ["DECLARE", *declared] if declared else []
        return [*head, "BEGIN", *lines, *(["EXCEPTION", *handlers] if handlers else []), "END;"]

    def _handlers(self, block: tree.Block) -> list[str]:
        """Give the handlers; those of exceptions with a number come together, as they share PostgreSQL's state."""
        lines: list[str] = []
        numbered: list[tuple[list[int], list[str]]] = []
        others = ["RAISE;"]
        for handler in block.handlers:
            body = self._statements(handler.body)
            names = [_CONDITIONS[name] for name in handler.names if name in _CONDITIONS and name not in self.exceptions]
            numbers = [self.exceptions[name] for name in handler.names if name in self.exceptions]
            for name in handler.names:
                if name not in _CONDITIONS and name not in self.exceptions:
                    raise unsupported(f"the exception {name} in a trigger")
            if numbers:
                numbered.append((numbers, body))
            if "OTHERS" in names:
                others = body
            if names:
                lines += [f"WHEN {' OR '.join(names)} THEN", *body]
        if not numbered:
            return lines
        arms = [f"WHEN SQLSTATE '{_OWN_ERROR}' THEN", f"GET STACKED DIAGNOSTICS {_DETAIL} = PG_EXCEPTION_DETAIL;"]
        for place, (numbers, body) in enumerate(numbered):
            tested = ", ".join(f"'{number}'" for number in numbers)
            arms += [f"{'ELSIF' if place else 'IF'} {_DETAIL} IN ({tested}) THEN", *body]
        return [*arms, "ELSE", *others, "END IF;", *lines]

    def _exception(self, declaration: tree.Declaration, block: tree.Block) -> None:
        number = block.numbers.get(declaration.name)
        if number is None or not (number == 4091 or 20000 <= number <= 20999):
            what = "without a number" if number is None else f"of ORA-{number:05d}"
            raise unsupported(f"exceptions {what} in a trigger", self.reader.tokens[declaration.token].position)
        self.exceptions[declaration.name] = number

    def _declaration(self, declaration: tree.Declaration, block: tree.Block) -> list[str]:
        if declaration.kind == "exception":
            self._exception(declaration, block)
            return []
        if declaration.kind != "variable" or declaration.type is None:
            raise unsupported(f"{declaration.kind}s in a trigger", self.reader.tokens[declaration.token].position)
        kind = self._type(declaration.type, declaration.token)
        default = f" := {self._expression(declaration.default)}" if declaration.default is not None else ""
        name = self.variables[declaration.name] = quote(f"v.{declaration.name}")
        return [f"{name} {kind}{default};"]

    def _type(self, declared: tree.TypeName, token: int) -> str:
        names = declared.of
        if declared.row:
            return f"{self._table(names, token)}%ROWTYPE"
        if len(names) > 1:
            return f"{self._table(names[:-1], token)}.{quote(names[-1])}%TYPE"
        if names:
            raise unsupported("%TYPE of a variable in a trigger", self.reader.tokens[token].position)
        text = self.reader.text(declared.text)
        if text.upper() in {"PLS_INTEGER", "BINARY_INTEGER", "SIMPLE_INTEGER"}:
            return "numeric"
        kind = Reader(text)
        found = read_type(kind, 32767)
        kind.expect_end(6550, "line 1, column 1:\nPLS-00103: unexpected symbol in a declaration")
        return found.storage

    def _table(self, names: Sequence[str], token: int) -> str:
        schema = names[0] if len(names) == 2 else self.host.schema
        if self.names.columns(schema, names[-1]) is None:
            raise self._fail(token, f"PLS-00201: identifier '{'.'.join(names)}' must be declared")
        return qualified(schema, names[-1])

    def _statements(self, statements: Sequence[Statement]) -> list[str]:
        return [line for statement in statements for line in self._statement(statement)]

    def _statement(self, statement: Statement) -> list[str]:
        match statement:
            case tree.Null():
                return ["NULL;"]
            case tree.Block():
                lines = self._block(statement)
                return lines if lines[-1] == "END;" else ["BEGIN", *lines, "END;"]
            case tree.If(_, arms, otherwise) | tree.Case(_, None, arms, otherwise):
                return self._if(arms, otherwise, is_case=isinstance(statement, tree.Case))
            case tree.Assign(_, target, value):
                return [f"{self._target(target)} := {self._expression(value)};"]
            case tree.Sql():
                return self._sql(statement)
            case tree.Call():
                return self._call(statement)
            case tree.ForQuery(_, variable, query, None, body, None) if query is not None:
                return self._for(variable, query, body)
            case tree.Return():
                return _RESULT
            case tree.Raise(_, None):
                return ["RAISE;"]
            case tree.Control(_, word, _) if word in {"COMMIT", "ROLLBACK", "SAVEPOINT"}:
                return [f"PERFORM ora.raise(4092, 'cannot {word} in a trigger');"]
        kind = type(statement).__name__
        raise unsupported(f"{kind} statements in a trigger", self.reader.tokens[statement.token].position)

    def _if(
        self, arms: Sequence[tuple[Span, list[Statement]]], otherwise: list[Statement] | None, *, is_case: bool
    ) -> list[str]:
        lines: list[str] = []
        for place, (condition, body) in enumerate(arms):
            # In brackets: PL/pgSQL takes the THEN of a CASE inside for its own.
            lines.append(f"{'ELSIF' if place else 'IF'} ({self._expression(condition)}) THEN")
            lines += self._statements(body)
        if otherwise is not None:
            lines += ["ELSE", *self._statements(otherwise)]
        elif is_case:
            lines += ["ELSE", "PERFORM ora.raise(6592, 'CASE not found while executing CASE statement');"]
        return [*lines, "END IF;"]

    def _for(self, variable: str, query: Span, body: list[Statement]) -> list[str]:
        before = dict(self.variables)
        text, tables = self._query(query)
        name = self.variables[variable] = quote(f"v.{variable}")
        lines = self._statements(body)
        self.variables = before
        loop = ["DECLARE", f"{name} record;", "BEGIN", f"FOR {name} IN {text} LOOP", *lines, "END LOOP;", "END;"]
        return [*self._mutating(tables), *loop]

    def _query(self, span: Span) -> tuple[str, Sequence[tuple[str, str]]]:
        return self._translated(self._substituted(span), span[0])

    def _sql(self, statement: tree.Sql) -> list[str]:
        if statement.returning:
            raise unsupported("RETURNING in a trigger", self.reader.tokens[statement.token].position)
        text, tables = self._translated(" ".join(self._substituted(span) for span in statement.text), statement.token)
        lines = self._mutating(tables)
        if statement.into:
            targets = ", ".join(self._target(target) for target in statement.into)
            return [*lines, f"{text} INTO STRICT {targets};"]
        return [*lines, f"{text};"]

    def _mutating(self, tables: Sequence[tuple[str, str]]) -> list[str]:
        """A row trigger may not see what the statement changes (ORA-04091); its own table before a plain INSERT."""
        if self.context.timing == "INSTEAD OF":
            return []
        own = (self.context.schema, self.context.table)
        touched = {table for name in tables for table in self._behind(*name)}
        lines = []
        if own in touched:
            raised = f"table {own[0]}.{own[1]} is mutating, trigger/function may not see it".replace("'", "''")
            raise_it = f"PERFORM ora.raise(4091, '{raised}');"
            lines = [raise_it] if self.context.timing == "AFTER" else ["IF tg_op <> 'INSERT' THEN", raise_it, "END IF;"]
        if others := sorted(touched - {own}):
            self.reads_others = True
            named = ", ".join(f"{literal(qualified(*table))}::regclass" for table in others)
            lines.append(f"PERFORM ora.refuse_mutating(tg_relid, tg_op, {named});")
        return lines

    def _behind(self, schema: str, name: str) -> list[tuple[str, str]]:
        """Give a table, or the tables that a view or synonym reads."""
        rows = self.host.ask(
            "WITH RECURSIVE r(oid) AS (SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = $1 AND c.relname = $2 UNION SELECT d.refobjid FROM r JOIN pg_rewrite w"
            " ON w.ev_class = r.oid JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid"
            " AND d.refclassid = 'pg_class'::regclass)"
            " SELECT n.nspname::text, c.relname::text FROM r JOIN pg_class c ON c.oid = r.oid AND c.relkind = 'r'"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname NOT IN ('ora', 'pg_catalog')",
            stored(schema),
            stored(name),
        )
        return [(row[0], row[1]) for row in rows]

    def _call(self, call: tree.Call) -> list[str]:
        if call.name != "RAISE_APPLICATION_ERROR" or not 2 <= len(call.arguments) <= 3:
            raise unsupported(f"calls of {call.name} in a trigger", self.reader.tokens[call.token].position)
        number, message = (self._expression(argument.value) for argument in call.arguments[:2])
        return [f"PERFORM ora.raise((-({number}))::int4, ({message})::text);"]

    def _target(self, target: Target) -> str:
        if target.kind == "variable":
            if target.name not in self.variables:
                raise self._fail(target.token, f"PLS-00201: identifier '{target.name}' must be declared")
            name = self.variables[target.name]
            return name if target.field is None else f"{name}.{quote(target.field)}"
        if target.name == self.context.old and target.field is not None:
            raise OraError(4085, "cannot change the value of an OLD reference variable")
        if target.name != self.context.new or target.field is None:
            raise self._fail(target.token, f"PLS-00049: bad bind variable '{target.name}'")
        if self.context.timing != "BEFORE":
            raise OraError(4084, "cannot change NEW values for this trigger type")
        self._check_column(target.field, target.token)
        return f'"new".{quote(target.field)}'

    def _check_column(self, name: str, token: int) -> None:
        known = self.names.columns(self.context.schema, self.context.table)
        if known is not None and name not in {column for column, _ in known}:
            raise self._fail(token, f"PLS-00049: bad bind variable 'NEW.{name}'")

    # Expressions

    def _expression(self, span: Span, *, bare_rows: bool = False) -> str:
        text = self._substituted(span, bare_rows=bare_rows)
        try:
            parser = Parser(tokenize(text), self.names, text)
            node = parser.expression()
            if parser.token.kind != "end":
                parser.unexpected()
            self.names.permit(parser.needs())
        except OraError as error:
            raise self._not_compiled(error, span[0]) from error
        output = Output()
        node.write(output)
        return self._filled(output.text(), output.parameters)

    def _translated(self, text: str, token: int) -> tuple[str, Sequence[tuple[str, str]]]:
        try:
            plan = translate(text, self.names)
        except OraError as error:
            raise self._not_compiled(error, token) from error
        if plan.embeds:
            raise unsupported("VECTOR_EMBEDDING in a trigger", self.reader.tokens[token].position)
        for schema, table in plan.tables:
            if self.names.columns(schema, table) is None:
                raise self._fail(token, f'PL/SQL: ORA-00942: table or view "{schema}"."{table}" does not exist')
        return self._filled(plan.text, plan.parameters), plan.tables

    def _not_compiled(self, error: OraError, token: int) -> OraError:
        if error.number in {3001, 6550}:
            return error
        return self._fail(token, f"PL/SQL: ORA-{error.number:05d}: {error.message}")

    def _filled(self, text: str, parameters: Sequence[Parameter]) -> str:
        """Write row columns, variables and predicates where the translation has parameters."""
        names: list[str] = []
        for parameter in parameters:
            if not isinstance(parameter, BindParameter):
                raise unsupported("VECTOR_EMBEDDING and UTL_TO_GENERATE_TEXT in a trigger")
            names.append(self._binding(parameter.name))
        return _PLACEHOLDER.sub(lambda m: names[int(m.group(1)) - 1] if m.group(1) else m.group(), text)

    def _binding(self, name: str) -> str:
        kind, _, rest = name.partition(" ")
        if kind == "op":
            return f"(tg_op = '{rest}')"
        if kind == "updating":
            return f"ora.updating(tg_relid, tg_op, '{rest}')"
        if kind in {"new", "old"}:
            return f'"{kind}".{quote(rest)}'
        variable, _, part = rest.partition(".")
        return self.variables[variable] + (f".{quote(part)}" if part else "")

    def _updating(self, index: int, span: Span) -> int:
        """Give the number of the column of ``UPDATING('column')``, 0 for one that is not there: never true."""
        tokens = self.reader.tokens
        inside = tokens[index + 2 : min(index + 4, span[1])]
        what = tokens[index].upper
        if what != "UPDATING" or len(inside) < 2 or inside[0].kind != "string" or inside[1].upper != ")":
            raise unsupported(f"{what}(…) with anything but a column's name in quotes", tokens[index].position)
        if self.context.timing == "INSTEAD OF":
            raise unsupported("UPDATING('column') in a trigger on a view", tokens[index].position)
        rows = self.host.ask(
            "SELECT a.attnum::int FROM pg_attribute a WHERE a.attrelid = $1::regclass"
            " AND upper(ora.name_of(a.attname)) = upper($2) AND a.attnum > 0 AND NOT a.attisdropped",
            qualified(self.context.schema, self.context.table),
            inside[0].value,
        )
        number = int(rows[0][0]) if rows else 0
        self.updating.add(number)
        return number

    def _substituted(self, span: Span, *, bare_rows: bool = False) -> str:
        """Give the source with everything that is not SQL as a quoted bind, such as ``:"new COLUMN"``."""
        tokens = self.reader.tokens
        pieces: list[str] = []
        last = tokens[span[0]].position
        index = span[0]
        while index < span[1]:
            name, width = self._special(index, span, bare_rows=bare_rows)
            if name is None:
                index += 1
                continue
            pieces += [self.reader.sql[last : tokens[index].position], f':"{name}"']
            index += width
            last = tokens[index - 1].end
        pieces.append(self.reader.sql[last : tokens[span[1] - 1].end])
        return "".join(pieces)

    def _special(self, index: int, span: Span, *, bare_rows: bool) -> tuple[str | None, int]:
        tokens = self.reader.tokens
        token = tokens[index]
        rows = {self.context.new: "new", self.context.old: "old"}
        dotted = index + 2 < span[1] and tokens[index + 1].upper == "."
        if token.kind == "bind" or (bare_rows and token.kind == "word" and token.value in rows):
            row = rows.get(token.value)
            if row is None or not dotted:
                raise self._fail(index, f"PLS-00049: bad bind variable '{token.value}'")
            self._check_column(tokens[index + 2].value, index)
            return f"{row} {tokens[index + 2].value}", 3
        if token.kind != "word" or (index > span[0] and tokens[index - 1].upper == "."):
            return None, 1
        if token.upper in _PREDICATES:
            if index + 1 < span[1] and tokens[index + 1].upper == "(":
                return f"updating {self._updating(index, span)}", 4
            return f"op {_PREDICATES[token.upper]}", 1
        if token.upper in {"SQLCODE", "SQLERRM"} or (index + 1 < span[1] and tokens[index + 1].upper == "%"):
            raise unsupported(f"{token.upper} in a trigger", token.position)
        if token.value in self.variables:
            return (f"var {token.value}.{tokens[index + 2].value}", 3) if dotted else (f"var {token.value}", 1)
        return None, 1
