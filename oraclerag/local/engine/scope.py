"""Which table a column name means: the tables of a query block, and the blocks around it."""

from __future__ import annotations

from collections.abc import Iterable

from oraclerag.local.engine.tree import DataType, Node, Output
from oraclerag.local.engine.words import quote, quote_text
from oraclerag.local.interface import OraError

Columns = dict[str, DataType]

_TYPES: dict[str, DataType] = {
    "VARCHAR2": "text",
    "NVARCHAR2": "text",
    "CHAR": "text",
    "NCHAR": "text",
    "CLOB": "clob",
    "NCLOB": "clob",
    "NUMBER": "number",
    "FLOAT": "number",
    "BINARY_DOUBLE": "double",
    "BINARY_FLOAT": "double",
    "DATE": "date",
    "RAW": "raw",
    "BLOB": "blob",
    "JSON": "json",
    "VECTOR": "vector",
    "BOOLEAN": "boolean",
    "ROWID": "rowid",
}


def data_type(oracle_type: str) -> DataType:
    """Give the type of a column from its name in the dictionary."""
    found = _TYPES.get(oracle_type)
    if found is not None:
        return found
    if oracle_type.startswith("TIMESTAMP"):
        return "timestamp with time zone" if "ZONE" in oracle_type else "timestamp"
    return "interval" if oracle_type.startswith("INTERVAL") else ""


class Source:
    """Something in FROM, or the target of a DML statement.

    ``columns`` is None when they are not known (no such table, or a view over one). ``lockable`` says whether FOR
    UPDATE can lock rows through it. ``twice`` is a name that several columns of an inline view have. ``read`` says that
    an expression of the statement names one of its columns, known when the statement has been written.
    """

    __slots__ = ("alias", "columns", "lockable", "read", "schema", "table", "twice")

    def __init__(
        self,
        alias: str | None,
        columns: Columns | None,
        *,
        schema: str = "",
        table: str = "",
        lockable: bool = True,
        twice: str | None = None,
    ) -> None:
        self.alias = alias
        self.columns = columns
        self.schema = schema
        self.table = table
        self.lockable = lockable
        self.twice = twice
        self.read = False


class Scope:
    """The sources of one query block; ``parent`` is the block around it, whose columns it may use.

    ``merged`` are the columns of USING and NATURAL joins, which belong to no single table, with the ORA number that
    a qualifier before them raises. ``texts`` are the CONTAINS of the block by their labels.
    """

    __slots__ = ("aliases", "merged", "parent", "references", "sources", "texts")

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.sources: list[Source] = []
        self.references: list[Column] = []
        self.merged: dict[str, int] = {}
        self.aliases: dict[str, Node] = {}
        self.texts: dict[str, Node] = {}

    def source(self, alias: str) -> Source | None:
        """Find a source of this block by its alias or table name."""
        for source in self.sources:
            if source.alias == alias:
                return source
        return None

    @property
    def known(self) -> bool:
        """Whether the columns of every source are known."""
        return all(source.columns is not None for source in self.sources)

    def column_types(self) -> Iterable[tuple[str, DataType]] | None:
        """Give what ``*`` stands for, or None when that is not known."""
        if not self.known:
            return None
        return [pair for source in self.sources for pair in (source.columns or {}).items()]


class Column(Node):
    """A column as it was written: one to four names, resolved when the tables are known.

    ``target`` is the select item that stands behind it when the name turned out to be an alias. ``written`` are the
    names as the source spells them: the keys of a JSON column in dot notation keep their case.
    """

    __slots__ = ("_resolved", "chain", "position", "scope", "source", "target", "written")

    def __init__(self, chain: list[str], scope: Scope | None, position: int, written: list[str] | None = None) -> None:
        super().__init__(kind="column", name=chain[-1])
        self.chain = chain
        self.written = written or chain
        self.scope = scope
        self.position = position
        self.source: Source | None = None
        self.target: Node | None = None
        self._resolved = False
        if scope is not None:
            scope.references.append(self)

    def own_source(self) -> Source | None:
        """Give the source of its own block that it belongs to, or None when there is none or it is not sure."""
        scope = self.scope
        if scope is None:
            return None
        if len(self.chain) > 1:
            return _qualifier(scope, self.chain)
        name = self.chain[0]
        for source in scope.sources:
            if source.columns is not None and name in source.columns:
                return source
        return scope.sources[0] if len(scope.sources) == 1 and scope.sources[0].columns is None else None

    def own_type(self) -> DataType:
        """Give the type as far as the tables of its own block tell it, which may be asked before others are known."""
        source = self.own_source()
        name = self.chain[-1]
        return source.columns.get(name, "") if source is not None and source.columns is not None else ""

    def belongs_here(self) -> bool:
        """Whether it is a column of its own block (when that is not known: if it is not one of a block around it)."""
        scope = self.scope
        if scope is None or self.own_source() is not None:
            return True
        if len(self.chain) > 1 or scope.known:
            return False
        outer = scope.parent
        while outer is not None:
            if any(source.columns and self.chain[0] in source.columns for source in outer.sources):
                return False
            outer = outer.parent
        return True

    def resolve(self) -> None:
        """Find the source and the type; ORA-00904 when no table of that name is there."""
        if self._resolved or self.target is not None:
            return
        self._resolved = True
        scope = self.scope
        chain = self.chain
        while scope is not None:
            if len(chain) > 1:
                found = _qualifier(scope, chain)
                if found is not None:
                    self._take(found)
                    return
            else:
                holders = [
                    source for source in scope.sources if source.columns is not None and chain[0] in source.columns
                ]
                if holders:
                    self.source = holders[0]
                    self.source.read = True
                    self.type = (holders[0].columns or {})[chain[0]]
                    return
                if not scope.known:
                    return
            scope = scope.parent
        if self.scope is not None:
            name = ".".join(f'"{part}"' for part in chain)
            raise OraError(904, f"{name}: invalid identifier", self.position)

    def _take(self, source: Source) -> None:
        self.source = source
        source.read = True
        chain = self.chain
        at = 1 if source.alias == chain[0] else 2
        name = chain[at]
        if self.scope is not None and name in self.scope.merged and source in self.scope.sources:
            raise OraError(
                self.scope.merged[name], "column part of USING or NATURAL join cannot have qualifier", self.position
            )
        if source.columns is not None and name in source.columns:
            self.type = source.columns[name]
        elif source.columns is not None and name not in _PSEUDOCOLUMNS:
            raise OraError(
                904, ".".join(f'"{part}"' for part in chain[: at + 1]) + ": invalid identifier", self.position
            )
        if len(chain) > at + 1:
            if self.type not in ("json", "") or (self.type == "" and source.columns is not None):
                raise OraError(904, ".".join(f'"{part}"' for part in chain) + ": invalid identifier", self.position)
            self.type = "json"
            path = "$" + "".join(f'."{part}"' for part in self.written[at + 1 :])
            self.chain = chain[: at + 1]
            self.parts = ("JSON_QUERY(", Column(self.chain, None, self.position), f", {quote_text(path)})")
            self.value = path

    def write(self, output: Output) -> None:
        """Write the name as it was given, quoted; an alias as the expression behind it."""
        if self.target is not None:
            output.pieces.append("(")
            self.target.write(output)
            output.pieces.append(")")
            return
        self.resolve()
        if self.parts:
            super().write(output)
            return
        output.pieces.append(".".join([quote(name) for name in self.chain]))

    def canonical(self) -> str:
        """Give alias and name when the source is known, else the name alone."""
        if self.target is not None:
            return self.target.canonical()
        source = self.own_source()
        if source is None or source.alias is None:
            return ".".join(quote(name) for name in self.chain)
        rest = self.chain if len(self.chain) == 1 else self.chain[1 if source.alias == self.chain[0] else 2 :]
        return ".".join([quote(source.alias), *(quote(name) for name in rest)])


_PSEUDOCOLUMNS = frozenset({"ROWID", "LEVEL"})


def _qualifier(scope: Scope, chain: list[str]) -> Source | None:
    found = scope.source(chain[0])
    if found is not None:
        return found
    if len(chain) > 2:
        for source in scope.sources:
            if source.schema == chain[0] and source.table == chain[1] and source.alias == source.table:
                return source
    return None
