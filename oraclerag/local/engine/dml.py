"""Parser of INSERT, UPDATE and DELETE."""

from __future__ import annotations

import re

from oraclerag.local.engine.block import Bare, Block, Query, Rows, Subquery, first_block
from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.operands import READ_FROM_TEXT, Operand
from oraclerag.local.engine.plan import Access, EmbedUpdate, Names, Plan, Verb
from oraclerag.local.engine.query import QueryParser
from oraclerag.local.engine.scope import Column, Scope, Source
from oraclerag.local.engine.tree import Bind, DataType, Node, Output, join
from oraclerag.local.engine.words import RESERVED, quote
from oraclerag.local.interface import OraError, StatementKind

_DUPLICATES = re.compile(r"IGNORE_ROW_ON_DUPKEY_INDEX\s*\(\s*[\w.\"$#]+\s*\(([^)]*)\)\s*\)", re.IGNORECASE)


class _Marked(Node):
    """A node that remembers where its text stands in the statement."""

    __slots__ = ("span",)

    def __init__(self, *parts: str | Node) -> None:
        super().__init__(*parts)
        self.span = (0, 0)

    def write(self, output: Output) -> None:
        start = sum(map(len, output.pieces))
        super().write(output)
        self.span = (start, sum(map(len, output.pieces)))


class DmlParser(QueryParser):
    """Reads INSERT, UPDATE and DELETE.

    ``returning`` is the number of RETURNING targets, ``target_columns`` the columns an INSERT lists or an UPDATE sets,
    ``values`` the VALUES tuple of an INSERT of one row, ``where`` the WHERE clause of an UPDATE or DELETE of one table
    and ``keys`` the binds that columns must equal in it, except columns that are set. ``target`` is the table that is
    changed, and ``changes`` what is done with it: object privileges with the columns they are for.
    """

    def __init__(self, tokens: list[Token], names: Names, source: str = "") -> None:
        super().__init__(tokens, names, source)
        self.hint = next((token.value for token in tokens if token.kind == "hint"), None)
        self.returning = 0
        self.target_columns: list[str] = []
        self.values: _Marked | None = None
        self.where: _Marked | None = None
        self.keys: list[Bind] = []
        self.embed_update: tuple[Node, Node, str] | None = None
        self.target: Source | None = None
        self.changes: list[tuple[str, list[str]]] = []
        self.merging = False
        self.reads_target = False
        self._target_place = -1

    def _target(self, scope: Scope) -> tuple[Node, Source]:
        """Read the table a statement changes, with its alias."""
        if self.at("("):
            self.unsupported("a query as the target of a DML statement")
        if self.at("TABLE") and self.peek().upper == "(":
            self.unsupported("TABLE(...) as the target of a DML statement")
        position = self.token.position
        self._target_place = len(self.tables)
        parts = self.named_table(scope)
        self.target = scope.sources[-1]
        if scope.sources[-1].schema == "SYS":
            raise OraError(1031, "insufficient privileges", position)
        return Node(*parts), scope.sources[-1]

    def _target_column(self, source: Source, *, qualified: bool = True) -> str:
        """Read a column of the target; an alias before it is checked and dropped."""
        token = self.token
        if token.kind == "bind":
            raise OraError(1747, "invalid user.table.column, table.column, or column specification", token.position)
        name = self.identifier()
        if qualified:
            qualifiers = []
            while self.accept("."):
                qualifiers.append(name)
                name = self.identifier()
            if qualifiers and qualifiers[-1] not in (source.alias, source.table):
                raise OraError(904, f'"{".".join(qualifiers)}"."{name}": invalid identifier', token.position)
        if source.columns is not None and name not in source.columns:
            raise OraError(904, f'"{name}": invalid identifier', token.position)
        return name

    def _value(self, wanted: DataType) -> Node:
        """Read DEFAULT or an expression that goes into a column of a known type."""
        if self.at("DEFAULT") and self.peek().upper in (",", ")", "WHERE", "RETURNING", "RETURN", "", "WHEN", "DELETE"):
            self.position += 1
            return Node("DEFAULT")
        node = self.expression()
        if self.token.kind == "bind" and node.kind == "bind":
            self.position += 1  # an indicator variable behind its bind
        return Operand(node, Node(type=wanted)) if wanted in READ_FROM_TEXT else Operand(node)

    def _returning(self) -> Node | None:
        if self.token.upper not in ("RETURNING", "RETURN"):
            return None
        self.position += 1
        values: list[Node] = []
        if self.at("INTO"):
            raise OraError(936, "missing expression", self.token.position)
        while True:
            if self.at("(") and not self._query_ahead():
                self._refuse_list()
            values.append(self._returned())
            if not self.accept(","):
                break
        if self.at("BULK"):
            self.unsupported("BULK COLLECT")
        self.need("INTO")
        targets = 0
        while True:
            if self.token.kind != "bind":
                self.position -= 1 if targets else 0  # then it is the comma before it that is out of place
                self.unexpected()
            self.position += 1
            targets += 1
            if not self.accept(","):
                break
        if targets != len(values):
            number, word = (947, "not enough values") if targets < len(values) else (913, "too many values")
            raise OraError(number, word, self.token.position)
        self.returning = targets
        return Node(" RETURNING ", *join(values))

    def _refuse_list(self) -> None:
        """Refuse a bracketed list behind RETURNING, which is ORA-00907 at its first comma."""
        depth = 0
        for ahead in range(len(self.tokens) - self.position):
            upper = self.peek(ahead).upper
            depth += (upper == "(") - (upper == ")")
            if depth == 1 and upper == ",":
                raise OraError(907, "missing right parenthesis", self.peek(ahead).position)
            if depth == 0:
                return

    def _returned(self) -> Node:
        if (
            self.token.upper in ("OLD", "NEW")
            and self.peek().kind in ("word", "quoted")
            and self.peek().upper not in RESERVED
        ):
            prefix = self.token.upper.lower()
            if self.peek().upper != "INTO":
                self.position += 1
                return Node(f"{prefix}.{quote(self.identifier())}")
        known = len(self.aggregates)
        node = self.expression()
        if len(self.aggregates) > known:
            raise OraError(934, "Group function is not allowed here.", self.token.position)
        return Operand(node)

    def _changed_rows(self, target: Node, source: Source, block: Block) -> list[str | Node]:
        """Give the WHERE clause of UPDATE and DELETE; a bound on ROWNUM picks the rows first."""
        where = block.where
        if block.top is None:
            if not where:
                return []
            if len(block.scope.sources) == 1:
                self.keys = [key for node in where if (key := self._key(node)) is not None]
            self.where = _Marked(" WHERE ", *join(where, " AND "))
            return [self.where]
        alias = quote(source.alias or "")
        condition: list[str | Node] = [" WHERE ", *join(where, " AND ")] if where else []
        return [
            f" WHERE {alias}.ctid = ANY (ARRAY(SELECT {alias}.ctid FROM ",
            target,
            *condition,
            " LIMIT ora.row_count(",
            block.top,
            ")))",
        ]

    def _key(self, node: Node) -> Bind | None:
        """Give the bind of ``column = :bind``, if the column is not set."""
        sides = [part.inner for part in node.parts if isinstance(part, Operand)]
        if node.value != "=" or len(sides) != 2:
            return None
        column, bind = sides if isinstance(sides[1], Bind) else sides[::-1]
        if isinstance(column, Column) and isinstance(bind, Bind):
            # All its names: those behind the first may be keys inside a JSON column.
            return bind if set(self.target_columns).isdisjoint(column.chain) else None
        return None

    def _condition(self, scope: Scope) -> Block:
        block = Block(scope)
        if self.accept("WHERE"):
            self._where(block)
        return block

    def _sets(self, source: Source, seen: list[str]) -> list[tuple[str, Node]]:
        """Read the assignments behind SET, as columns (quoted, a list in parentheses) and values."""
        found: list[tuple[str, Node]] = []
        types = source.columns or {}
        while True:
            if self.token.kind == "end":
                raise OraError(936, "missing expression", self.token.position)
            if self.at("("):
                found.append(self._row_set(source, seen))
            else:
                name = self._target_column(source)
                seen.append(name)
                self.need("=")
                known = len(self.aggregates)
                value = self._value(types.get(name, ""))
                if len(self.aggregates) > known:
                    raise OraError(934, "Group function is not allowed here.", self.token.position)
                found.append((quote(name), value))
            if not self.accept(","):
                break
        if len(set(seen)) < len(seen):
            raise OraError(957, f"duplicate column name {max(seen, key=seen.count)}", self.token.position)
        return found

    def _row_set(self, source: Source, seen: list[str]) -> tuple[str, Node]:
        self.need("(")
        columns = [self._target_column(source)]
        while self.accept(","):
            columns.append(self._target_column(source))
        self.need(")")
        self.need("=")
        seen += columns
        position = self.token.position
        if not self.at("("):
            self.missing("(")
        self.position += 1
        query = self.query()
        self.need(")")
        block = first_block(query.body)
        if block is not None and not block.star and len(block.items) != len(columns):
            number, word = (947, "not enough values") if len(block.items) < len(columns) else (913, "too many values")
            raise OraError(number, word, position)
        return f"({', '.join(quote(column) for column in columns)})", Subquery(query)

    def insert(self) -> Node:
        """Read an INSERT statement."""
        self.position += 1
        if self.token.upper in ("ALL", "FIRST") and self.peek().upper in ("INTO", "WHEN"):
            self.unsupported("multi-table INSERT")
        self.need("INTO")
        scope = Scope()
        target, source = self._target(scope)
        target = Node(*target.parts)
        columns = self._insert_columns(source)
        listed = f" ({', '.join(quote(column) for column in columns)})" if columns else ""
        self.target_columns = columns
        self.changes.append(("INSERT", columns))
        parts: list[str | Node] = ["INSERT INTO ", target, listed]
        selected = False
        if self.at("VALUES"):
            self.position += 1
            parts += [" VALUES ", *self._insert_values(source, columns)]
        elif self.at("SELECT") or self.at("WITH") or self.at("("):
            position = self.token.position
            query = self.query()
            self._check_width(query, source, columns, position)
            parts += [" ", Node(Bare(query))]
            selected = True
        elif self.at("SET") or self.at("BY"):
            self.unsupported(f"INSERT ... {self.token.upper}")
        else:
            self.missing("VALUES")
        parts += self._duplicates()
        if selected and self.token.upper in ("RETURNING", "RETURN"):
            self.unexpected()
        self.scope = scope
        returning = self._returning()
        if returning is not None:
            parts.append(returning)
        if self.at("LOG"):
            self.unsupported("LOG ERRORS")
        return Node(*parts)

    def _insert_columns(self, source: Source) -> list[str]:
        if not self.at("(") or self.peek().upper in ("SELECT", "WITH", "("):
            return []
        self.position += 1
        columns = [self._target_column(source)]
        while not self.at(")"):
            self.need(",")
            columns.append(self._target_column(source))
        self.need(")")
        if len(set(columns)) < len(columns):
            raise OraError(957, f"duplicate column name {max(columns, key=columns.count)}", self.token.position)
        return columns

    def _insert_values(self, source: Source, columns: list[str]) -> list[str | Node]:
        rows: list[Node] = []
        known = source.columns or {}
        names = columns or list(known)
        width = len(columns) or (len(known) if source.columns is not None else 0)
        scope = Scope()
        self.scope = scope
        self.sequences = {}
        while True:
            position = self.token.position
            self.need("(")
            if self.at(")"):
                raise OraError(936, "missing expression", self.token.position)
            values: list[Node] = []
            while True:
                wanted: DataType = known.get(names[len(values)], "") if len(values) < len(names) else ""
                values.append(self._value(wanted))
                if self.at(")"):
                    break
                self.need(",")
            self.need(")")
            if width and len(values) != width:
                number, word = (947, "not enough values") if len(values) < width else (3094, "too many values")
                raise OraError(number, word, position)
            self.sequences = {}
            rows.append(Node("(", *join(values), ")"))
            if not self.accept(","):
                break
        for reference in scope.references:
            name = ".".join(f'"{part}"' for part in reference.chain)
            raise OraError(984, f"Column name {name} not allowed here.", reference.position)
        if self.aggregates:
            raise OraError(934, "Group function is not allowed here.", self.token.position)
        if self.rownums:
            raise OraError(976, "Specified pseudocolumn or operator not allowed here.", self.token.position)
        if len(rows) == 1:
            self.values = _Marked(rows[0])
            return [self.values]
        return list(join(rows))

    def _check_width(self, query: Query, source: Source, columns: list[str], position: int) -> None:
        block = first_block(query.body)
        width = len(columns) or (len(source.columns) if source.columns is not None else 0)
        if isinstance(query.body, Rows):
            count = query.body.width
        elif block is None or block.star:
            return
        else:
            count = len(block.items)
        if width and count != width:
            number, word = (947, "not enough values") if count < width else (913, "too many values")
            raise OraError(number, word, position)

    def _duplicates(self) -> list[str | Node]:
        if self.hint is None:
            return []
        if "CHANGE_DUPKEY_ERROR_INDEX" in self.hint.upper():
            self.unsupported("hint CHANGE_DUPKEY_ERROR_INDEX")
        found = _DUPLICATES.search(self.hint)
        if found is None:
            return [" ON CONFLICT DO NOTHING"]
        columns = [column.strip() for column in found.group(1).split(",")]
        names = [column[1:-1] if column.startswith('"') else column.upper() for column in columns]
        return [f" ON CONFLICT ({', '.join(quote(name) for name in names)}) DO NOTHING"]

    def update(self) -> Node:
        """Read an UPDATE statement."""
        self.position += 1
        scope = Scope()
        self.scope = scope
        if self.at("SET"):
            raise OraError(903, "invalid table name", self.token.position)
        target, source = self._target(scope)
        self.need("SET")
        sets = self._sets(source, self.target_columns)
        self.changes.append(("UPDATE", self.target_columns))
        assignments: list[str | Node] = []
        for number, (columns, value) in enumerate(sets):
            assignments += [", " if number else "", f"{columns} = ", value]
        parts: list[str | Node] = ["UPDATE ", target, " SET ", *assignments]
        if self.rownums:
            self.unsupported("ROWNUM in SET")
        if self.accept("FROM"):
            parts += [" FROM ", *self._joined(scope)]
            while self.accept(","):
                parts += [", ", *self._joined(scope)]
        block = self._condition(scope)
        parts += self._changed_rows(target, source, block)
        returning = self._returning()
        values = [value.inner if isinstance(value, Operand) else value for _, value in sets]
        simple = len(scope.sources) == 1 and block.top is None and returning is None
        if simple and len(self.embed_calls) == 1 and self.embed_calls[0] in values:
            self.embed_update = target, Node(*assignments), source.alias or ""
        return Node(*parts, *([returning] if returning is not None else []))

    def two_statements(self) -> EmbedUpdate | None:
        """Give an UPDATE that embeds as two statements, once it has been read and written as one."""
        if self.embed_update is None:
            return None
        target, assignments, alias = self.embed_update
        call, name = self.embed_calls[0], quote(alias)
        reading = Output()
        condition = [self.where] if self.where is not None else []
        select = Node(f"SELECT {name}.ctid, (", call.text, ")::text FROM ", target, *condition)
        Node(select, f" FOR NO KEY UPDATE OF {name}").write(reading)
        call.vector = 'given."vector"'
        writing = Output()
        given = ' FROM unnest($1::tid[], $2::vector[]) AS given ("row", "vector")'
        Node("UPDATE ", target, " SET ", assignments, f'{given} WHERE {name}.ctid = given."row"').write(writing)
        call.vector = ""
        if writing.parameters:
            return None
        read = Plan(StatementKind.QUERY, Verb.SELECT, reading.text(), tuple(reading.parameters))
        return EmbedUpdate(call.model, read, writing.text())

    def delete(self) -> Node:
        """Read a DELETE statement."""
        self.position += 1
        scope = Scope()
        self.scope = scope
        self.accept("FROM")
        if self.at("(") or self.token.kind not in ("word", "quoted"):
            self._target(scope)
        target, source = self._target(scope)
        if self.accept("FROM"):  # the first name is a table beside the others, not one of their aliases
            self._joined(scope)
            if self.at("AS"):
                self.unexpected()
            if source.columns is None:
                raise OraError(942, f'table or view "{source.schema}"."{source.table}" does not exist')
            self.unsupported("DELETE t FROM u")
        parts: list[str | Node] = ["DELETE FROM ", target]
        if self.accept("USING"):
            parts += [" USING ", *self._joined(scope)]
            while self.accept(","):
                parts += [", ", *self._joined(scope)]
        self.changes.append(("DELETE", []))
        block = self._condition(scope)
        parts += self._changed_rows(target, source, block)
        returning = self._returning()
        return Node(*parts, *([returning] if returning is not None else []))

    def needs(self) -> list[Access]:
        """Give what the statement does with which objects, once it has been written.

        Whoever names a column of the target behind WHERE, SET or RETURNING needs SELECT on it: SQL92_SECURITY is TRUE.
        """
        found = self.accesses
        for place, (schema, table) in enumerate(self.tables):
            if place != self._target_place:
                found.append(Access(schema, table, "SELECT" if (schema, table) in self.locked else "READ"))
        target = self.target
        if target is not None:
            for privilege, columns in self.changes:
                named = columns or (list(target.columns or ()) if privilege != "DELETE" else [])
                found.append(Access(target.schema, target.table, privilege, columns=tuple(named)))
            if self.reads_target or self.returning or (target.read and not self.merging):
                found.append(Access(target.schema, target.table, "SELECT"))
        return found
