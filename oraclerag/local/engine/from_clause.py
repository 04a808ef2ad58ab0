"""Parser of FROM: tables, joins, inline views, JSON_TABLE."""

from __future__ import annotations

from oraclerag.local.engine import chain_functions, json_tables, refusals, vector_chunks
from oraclerag.local.engine.block import Block, Query, Rows, Subquery, first_block
from oraclerag.local.engine.expressions import ExpressionParser
from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.operands import truth
from oraclerag.local.engine.plan import Names
from oraclerag.local.engine.scope import Columns, Scope, Source, data_type
from oraclerag.local.engine.tree import Node
from oraclerag.local.engine.words import NO_TABLE_ALIAS, quote
from oraclerag.local.interface import OraError

_DUAL = "(SELECT 'X'::ora.varchar2 AS \"DUMMY\") AS "


class FromParser(ExpressionParser):
    """Reads tables into the sources of a block.

    ``tables`` are the tables named so far, ``common`` the names of WITH that are visible, innermost last.
    """

    def __init__(self, tokens: list[Token], names: Names, source: str = "") -> None:
        super().__init__(tokens, names, source)
        self.tables: list[tuple[str, str]] = []
        self.common: list[dict[str, Columns | None]] = []

    def query(self, *, top: bool = False) -> Query:
        """Read a query; the query parser provides it."""
        raise NotImplementedError

    def _name_list(self) -> list[str]:
        self.need("(")
        names = [self.identifier()]
        while self.accept(","):
            names.append(self.identifier())
        self.need(")")
        return names

    def _columns_of(self, query: Query) -> Columns | None:
        block = first_block(query.body)
        return block.columns() if block is not None else None

    def _from(self, block: Block) -> None:
        scope = block.scope
        while True:
            if block.from_parts:
                block.from_parts.append(", ")
            block.from_parts += self._joined(scope)
            if not self.accept(","):
                break
        if len(scope.sources) == 1:
            source = scope.sources[0]
            block.dual = source.table == "DUAL" and source.schema == "SYS"
            text = block.from_parts[0] if len(block.from_parts) == 1 else ""
            block.single = (text if isinstance(text, str) else "", source.alias)

    def _joined(self, scope: Scope) -> list[str | Node]:
        parts = self._table(scope)
        while True:
            known = len(scope.sources)
            natural = self.accept("NATURAL")
            if self.accept("CROSS", "JOIN"):
                parts += [" CROSS JOIN ", *self._table(scope)]
                continue
            if self.token.upper in ("CROSS", "OUTER") and self.peek().upper == "APPLY":
                outer = self.token.upper == "OUTER"
                self.position += 2
                query = self.at("(") or self.at("LATERAL")  # a JSON_TABLE is lateral by itself, a table cannot be
                parts += [" LEFT JOIN " if outer else " CROSS JOIN ", "LATERAL " if query else ""]
                parts += self._table(scope, lateral=query)
                parts += [" ON TRUE"] if outer else []
                continue
            kind = self._join_kind()
            if kind is None:
                if natural:
                    self.missing("JOIN")
                return parts
            right = self._table(scope)
            if natural:
                parts += [f" NATURAL{kind}", *right]
                left_names = {name for source in scope.sources[:known] for name in source.columns or ()}
                common = left_names & {name for source in scope.sources[known:] for name in source.columns or ()}
                scope.merged.update(dict.fromkeys(common, 25155))
            elif self.accept("USING"):
                columns = self._name_list()
                scope.merged.update(dict.fromkeys(columns, 25154))
                parts += [kind, *right, f" USING ({', '.join(quote(column) for column in columns)})"]
            else:
                if not self.accept("ON"):
                    raise OraError(2000, "missing ON or USING keyword", self.token.position)
                aggregates = len(self.aggregates)
                condition = truth(self.expression())
                refusals.check_where(len(self.aggregates) > aggregates, False, self.token.position)
                parts += [kind, *right, " ON ", condition]

    def _join_kind(self) -> str | None:
        word = self.token.upper
        if word == "JOIN":
            self.position += 1
            return " JOIN "
        if word == "INNER":
            self.position += 1
            self.need("JOIN")
            return " JOIN "
        if word in ("LEFT", "RIGHT", "FULL") and self.peek().upper in ("JOIN", "OUTER"):
            self.position += 1
            self.accept("OUTER")
            self.need("JOIN")
            return f" {word} JOIN "
        return None

    def _alias(self) -> str | None:
        token = self.token
        if token.kind == "quoted" or (token.kind == "word" and token.upper not in NO_TABLE_ALIAS):
            return self.identifier()
        return None

    def _table(self, scope: Scope, *, lateral: bool = False) -> list[str | Node]:
        if self.at("("):
            return self._parenthesized_table(scope, lateral=lateral)
        if self.at("LATERAL") and self.peek().upper == "(":
            self.position += 1
            return [*([] if lateral else ["LATERAL "]), *self._parenthesized_table(scope, lateral=True)]
        word = self.token.upper
        if word == "JSON_TABLE" and self.peek().upper == "(":
            return self._json_table(scope)
        if word == "VECTOR_CHUNKS" and self.peek().upper == "(":
            return self._vector_chunks(scope)
        if word in ("TABLE", "XMLTABLE", "CONTAINERS", "GRAPH_TABLE", "ONLY") and self.peek().upper == "(":
            self.unsupported(f"{word} in FROM")
        if (function := self._embeddings()) is not None:
            alias = self._alias()
            scope.sources.append(Source(alias, {chain_functions.COLUMN: "clob"}, lockable=False))
            return [function, f" AS {quote(alias)}" if alias else ""]
        parts = self.named_table(scope)
        if self.at("(") and self.tokens[self.position - 1].value == scope.sources[-1].table:
            self.unsupported(f"the function {scope.sources[-1].table} in FROM")
        return parts

    def _embeddings(self) -> Node | None:
        """Read UTL_TO_EMBEDDINGS of DBMS_VECTOR_CHAIN, if that is what comes."""
        ahead = [token.upper for token in self.tokens[self.position : self.position + 6]]
        skipped = 2 if ahead[:2] == ["SYS", "."] else 0
        name = "".join(ahead[skipped : skipped + 3])
        if name not in chain_functions.ROWS:
            return None
        self.position += skipped + 3
        return chain_functions.embeddings(self, name)

    def named_table(self, scope: Scope) -> list[str | Node]:
        """Read the name of a table or view with its alias; it becomes a source of ``scope``."""
        names = self.table_name()
        if names in (["DUAL"], ["SYS", "DUAL"]):
            dual = self._alias() or "DUAL"
            scope.sources.append(Source(dual, {"DUMMY": "text"}, schema="SYS", table="DUAL"))
            return [_DUAL + quote(dual)]
        self._refuse_table_clauses()
        if len(names) == 1:
            for common in reversed(self.common):
                if names[0] in common:
                    alias = self._alias()
                    scope.sources.append(Source(alias or names[0], common[names[0]], table=names[0], lockable=False))
                    return [quote(names[0]) + (f" AS {quote(alias)}" if alias else "")]
        schema, table = names if len(names) == 2 else (self.names.user, names[0])
        self.tables.append((schema, table))
        known = self.names.columns(schema, table)
        columns: Columns | None = {name: data_type(kind) for name, kind in known} if known is not None else None
        alias = self._alias()
        self._refuse_table_clauses()
        scope.sources.append(Source(alias or table, columns, schema=schema, table=table))
        text = quote(table)
        if len(names) == 2:
            text = f"ora.{text}" if schema == "SYS" else f"{quote(schema)}.{text}"
        return [text + (f" AS {quote(alias)}" if alias else "")]

    def _refuse_table_clauses(self) -> None:
        word = self.token.upper
        if word in ("PARTITION", "SUBPARTITION", "SAMPLE", "PIVOT", "UNPIVOT", "MATCH_RECOGNIZE", "MODEL", "VERSIONS"):
            following = self.peek().upper
            if following in ("(", "FOR", "BETWEEN", "BLOCK", "DIMENSION", "XML", "INCLUDE", "EXCLUDE"):
                self.unsupported(word)
        if word == "AS" and self.peek().upper == "OF":
            self.unsupported("AS OF (flashback query)")

    def _parenthesized_table(self, scope: Scope, *, lateral: bool) -> list[str | Node]:
        if self.peek().upper in ("SELECT", "WITH", "VALUES") or (self.peek().upper == "(" and self._query_ahead()):
            self.position += 1
            outer = self.scope
            self.scope = scope if lateral else scope.parent
            self.subqueries += 1
            query = self.query()
            self.subqueries -= 1
            self.scope = outer
            self.need(")")
            self._refuse_table_clauses()
            return [*self._inline_view(scope, query)]
        self.position += 1
        if self.token.kind not in ("word", "quoted", "symbol"):
            self.unexpected()
        parts = self._joined(scope)
        self.need(")")
        return ["(", *parts, ")"] if len(parts) > 1 else parts

    def _inline_view(self, scope: Scope, query: Query) -> list[str | Node]:
        alias = self._alias()
        columns = self._columns_of(query)
        listed = ""
        if isinstance(query.body, Rows):
            names = self._name_list() if alias is not None and self.at("(") else []
            if names and len(names) != query.body.width:
                raise OraError(32038, "number of column names does not match number of values", self.token.position)
            columns = dict.fromkeys(names, "") if names else None
            listed = f" ({', '.join(quote(name) for name in names)})" if names else ""
        self._refuse_table_clauses()
        block = query.body if isinstance(query.body, Block) else None
        lockable = block is not None and not (
            block.grouped or block.distinct or query.limited or query.order or block.top is not None
        )
        if lockable and block is not None:
            lockable = all(source.lockable for source in block.scope.sources)
        twice = refusals.name_given_twice(query)
        scope.sources.append(Source(alias, columns, lockable=lockable, twice=twice))
        return [Subquery(query), f" AS {quote(alias)}{listed}" if alias else ""]

    def _json_table(self, scope: Scope) -> list[str | Node]:
        self.position += 1
        outer = self.scope
        self.scope = scope
        node, columns = json_tables.table(self)
        self.scope = outer
        alias = self._alias()
        scope.sources.append(Source(alias, columns, lockable=False))
        return [node, f" AS {quote(alias)}" if alias else ""]

    def _vector_chunks(self, scope: Scope) -> list[str | Node]:
        self.position += 1
        outer = self.scope
        self.scope = scope
        node = vector_chunks.table(self)
        self.scope = outer
        alias = self._alias()
        scope.sources.append(Source(alias, dict(vector_chunks.COLUMNS), lockable=False))
        return [node, f" AS {quote(alias)}" if alias else ""]
