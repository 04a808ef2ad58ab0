"""Parser of what ends a query: OFFSET, FETCH with its accuracy, FOR UPDATE."""

from __future__ import annotations

from oraclerag.local.engine import refusals
from oraclerag.local.engine.block import Block, Query
from oraclerag.local.engine.from_clause import FromParser
from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.plan import LockWait, Names
from oraclerag.local.engine.scope import Column
from oraclerag.local.engine.tree import Node, walk
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError


class RowLimitParser(FromParser):
    """Reads row limits and locks; what the session must heed of them is kept in its attributes."""

    def __init__(self, tokens: list[Token], names: Names, source: str = "") -> None:
        super().__init__(tokens, names, source)
        self.lock_wait = LockWait.WAIT
        self.lock_seconds = 0
        self.locks = False
        self.locked: set[tuple[str, str]] = set()
        self.accuracy: int | None = None
        self.probes: int | None = None
        self.ef_search: int | None = None

    def _limits(self, query: Query) -> None:
        if self.at("OFFSET"):
            self.position += 1
            query.offset = self._count(self.operand())
            self._rows_word()
        if not self.at("FETCH"):
            return
        self.position += 1
        mode = self.token.upper if self.token.upper in ("APPROX", "APPROXIMATE", "EXACT") else ""
        self.position += 1 if mode else 0
        if self.token.upper not in ("FIRST", "NEXT"):
            self.missing("FIRST")
        self.position += 1
        query.approximate = mode.startswith("APPROX")
        if query.approximate:
            self.accuracy = 0
        if self.token.upper in ("ROW", "ROWS"):
            query.limit = Node("1")
        else:
            query.limit = self._count(self.operand())
        if self.token.upper in ("PERCENT", "PARTITIONS", "PARTITION"):
            self.unsupported(f"FETCH with {self.token.upper}")
        self._rows_word()
        if self.accept("WITH", "TIES"):
            query.ties = True
        elif not self.accept("ONLY"):
            self.missing("ONLY")
        if self.at("WITH", "TARGET"):
            self.position += 2
            self.need("ACCURACY")
            self._accuracy()

    def _rows_word(self) -> None:
        if self.token.upper not in ("ROW", "ROWS"):
            self.missing("ROWS")
        self.position += 1

    def _count(self, node: Node) -> Node:
        for inner in walk(node):
            if isinstance(inner, Column):
                raise OraError(904, f'"{inner.chain[-1]}": invalid identifier', inner.position)
        return Node(node.value) if node.kind == "integer" else Node("ora.row_count(", node, ")")

    def _accuracy(self) -> None:
        if self.accept("PARAMETERS"):
            self.accuracy = None
            self.need("(")
            if self.accept("EFSEARCH"):
                self.ef_search = max(1, min(self.integer(), 1000))
            elif self.accept("NEIGHBOR", "PARTITION", "PROBES"):
                self.probes = max(1, min(self.integer(), 32768))
            else:
                self.unexpected()
            self.need(")")
            return
        position = self.token.position
        accuracy = self.integer()
        self.accept("PERCENT")
        if not 1 <= accuracy <= 100:
            raise OraError(51937, "the target accuracy must be between 1 and 100", position)
        self.accuracy = accuracy

    def _for_update(self, query: Query) -> None:
        position = self.token.position
        self.position += 1
        self.need("UPDATE")
        query.locking = True
        self.locks = True
        block = query.body if isinstance(query.body, Block) else None
        refusals.check_lock(query, block, position)
        if block is None:
            raise OraError(1786, "FOR UPDATE of this query expression is not allowed", position)
        of: list[str] = []
        if self.accept("OF"):
            while True:
                alias = self._locked_source(block)
                if alias is not None and alias not in of:
                    of.append(alias)
                if not self.accept(","):
                    break
        lockable = any(source.lockable and source.table != "DUAL" for source in block.scope.sources)
        self.locked = {(source.schema, source.table) for source in block.scope.sources if not of or source.alias in of}
        query.lock_text = " FOR UPDATE" if lockable else ""
        if of:
            query.lock_text += f" OF {', '.join(quote(alias) for alias in of)}"
        if self.accept("NOWAIT"):
            self.lock_wait = LockWait.NOWAIT
            query.lock_text += " NOWAIT" if lockable else ""
        elif self.accept("SKIP"):
            self.need("LOCKED")
            self.lock_wait = LockWait.SKIP_LOCKED
            query.lock_text += " SKIP LOCKED" if lockable else ""
        elif self.accept("WAIT"):
            if self.at("-"):
                raise OraError(30005, "missing or invalid WAIT interval", self.token.position)
            self.lock_seconds = self.integer()
            self.lock_wait = LockWait.SECONDS

    def _locked_source(self, block: Block) -> str | None:
        position = self.token.position
        chain = [self.identifier()]
        while self.accept("."):
            chain.append(self.identifier())
        column = Column(chain, block.scope, position)
        block.scope.references.remove(column)
        column.resolve()
        source = column.own_source()
        if source is None and not block.scope.known:
            return None
        if source is None:
            raise OraError(904, f'"{chain[-1]}": invalid identifier', position)
        return source.alias
