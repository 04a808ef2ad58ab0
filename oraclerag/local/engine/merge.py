"""Parser of MERGE; with it the parser of statements is complete."""

from __future__ import annotations

from oraclerag.local.engine.dml import DmlParser
from oraclerag.local.engine.operands import truth
from oraclerag.local.engine.scope import Column, Scope, Source
from oraclerag.local.engine.tree import Node, join, walk
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError


class Parser(DmlParser):
    """Reads whole statements; whoever embeds it sets :attr:`position`, calls what he needs and reads it back."""

    def merge(self) -> Node:
        """Read a MERGE statement."""
        self.position += 1
        self.need("INTO")
        scope = Scope()
        self.merging = True
        target, source = self._target(scope)
        if not self.accept("USING"):
            raise OraError(2012, "missing USING keyword", self.token.position)
        using = self._merge_source(scope)
        self.scope = scope
        self.need("ON")
        if not self.at("("):
            self.missing("ON")
        self.position += 1
        condition = truth(self.expression())
        self.need(")")
        parts: list[str | Node] = ["MERGE INTO ", target, " USING ", *using, " ON (", condition, ")"]
        keys = {node.chain[-1] for node in walk(condition) if isinstance(node, Column) and _belongs(node, source)}
        branches: set[bool] = set()
        while self.accept("WHEN"):
            matched = not self.accept("NOT")
            self.need("MATCHED")
            if not self.accept("THEN"):
                raise OraError(2000, "missing THEN keyword", self.token.position)
            if matched in branches:
                self.unexpected()
            branches.add(matched)
            if matched:
                parts += self._merge_update(source, keys)
            else:
                parts += self._merge_insert(scope, source)
        if not branches:
            self.missing("WHEN")
        if self.token.upper in ("RETURNING", "RETURN"):
            self.unsupported("RETURNING of MERGE")
        if self.at("LOG"):
            self.unsupported("LOG ERRORS")
        return Node(*parts)

    def _merge_source(self, scope: Scope) -> list[str | Node]:
        if self.at("(") and self.peek().upper not in ("SELECT", "WITH", "VALUES", "("):
            self.unexpected()
        known = len(scope.sources)
        parts = self._table(scope)
        if self.at("AS"):
            self.missing("ON")
        if scope.sources[known].alias is None:
            scope.sources[known].alias = "MERGE_SOURCE"
            parts.append(' AS "MERGE_SOURCE"')
        return parts

    def _merge_update(self, source: Source, keys: set[str]) -> list[str | Node]:
        self.need("UPDATE")
        self.need("SET")
        if self.token.kind == "end":
            raise OraError(921, "unexpected end of SQL command", self.token.position)
        seen: list[str] = []
        sets = self._sets(source, seen)
        self.changes.append(("UPDATE", seen))
        for column in seen:
            if column in keys:
                raise OraError(
                    38104,
                    f'Columns referenced in the ON Clause cannot be updated: "{source.alias}"."{column}"',
                    self.token.position,
                )
        where: tuple[str | Node, ...] = ()
        if self.accept("WHERE"):
            where = (" AND (", truth(self.expression()), ")")
            self.reads_target = True
        parts: list[str | Node] = []
        if self.accept("DELETE"):
            self.need("WHERE")
            self.changes.append(("DELETE", []))
            self.reads_target = True
            start = len(self.scope.references) if self.scope is not None else 0
            condition = truth(self.expression())
            self._after_update(source, sets, start)
            parts += [" WHEN MATCHED", *where, " AND (", condition, ") THEN DELETE"]
        parts += [" WHEN MATCHED", *where, " THEN UPDATE SET "]
        for number, (columns, value) in enumerate(sets):
            parts += [", " if number else "", f"{columns} = ", value]
        return parts

    def _after_update(self, source: Source, sets: list[tuple[str, Node]], start: int) -> None:
        """Let the condition of DELETE WHERE see the row as the update leaves it."""
        values: dict[str, Node] = dict(sets)
        for node in self.scope.references[start:] if self.scope is not None else []:
            if _belongs(node, source):
                value = values.get(quote(node.chain[-1]))
                if value is not None and value.parts == ("DEFAULT",):
                    self.unsupported("DELETE WHERE on a column that is set to DEFAULT")
                if value is not None:
                    node.target = value
        if any(columns.startswith("(") for columns, _ in sets):
            self.unsupported("DELETE WHERE behind SET of several columns")

    def _merge_insert(self, scope: Scope, source: Source) -> list[str | Node]:
        self.need("INSERT")
        columns = self._insert_columns(source)
        self.changes.append(("INSERT", columns))
        listed = f" ({', '.join(quote(column) for column in columns)})" if columns else ""
        self.need("VALUES")
        self.need("(")
        start = len(scope.references)
        types = source.columns or {}
        names = columns or list(types)
        position = self.token.position
        values: list[Node] = []
        while True:
            values.append(self._value(types.get(names[len(values)], "") if len(values) < len(names) else ""))
            if self.at(")"):
                break
            self.need(",")
        self.need(")")
        if columns and len(values) != len(columns):
            number, word = (947, "not enough values") if len(values) < len(columns) else (3094, "too many values")
            raise OraError(number, word, position)
        where: tuple[str | Node, ...] = ()
        self._refuse_target(scope, source, start, 38101)
        if self.accept("WHERE"):
            start = len(scope.references)
            where = (" AND (", truth(self.expression()), ")")
            self._refuse_target(scope, source, start, 38102)
        return [" WHEN NOT MATCHED", *where, f" THEN INSERT{listed} VALUES (", *join(values), ")"]

    def _refuse_target(self, scope: Scope, source: Source, start: int, number: int) -> None:
        for node in scope.references[start:]:
            if len(node.chain) > 1 and node.own_source() is source:
                place = "VALUES clause" if number == 38101 else "WHERE clause"
                name = f'"{node.chain[0]}"."{node.chain[-1]}"'
                raise OraError(number, f"Invalid column in the INSERT {place}: {name}", node.position)


def _belongs(node: Column, source: Source) -> bool:
    if len(node.chain) > 1:
        return node.own_source() is source
    scope = node.scope
    if scope is None or source.columns is None or node.chain[0] not in source.columns:
        return False
    return all(other is source or not other.columns or node.chain[0] not in other.columns for other in scope.sources)
