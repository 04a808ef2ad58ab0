"""What a SELECT reads: its tables, and which of their columns go where, found by its words.

The database would say it of a view only, and a view takes a right to create one. So the text is taken apart as far as
this question needs: query blocks, what stands in FROM, and the names that are used in every part. A name that could be
a column counts as one. What is not understood is listed, never passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = [
    "DECIDES",
    "JOINS",
    "Block",
    "Mention",
    "Reads",
    "TableName",
    "bind_spans",
    "columns_read",
    "is_query",
    "reads",
]

DECIDES = "*"
"""What a column feeds that stands in WHERE, in an inner join or in an inline view: which rows there are."""

JOINS = "+"
"""What a column feeds that stands in the condition of an outer join."""

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|--[^\n]*|/\*.*?\*/)
  | (?P<text>n?q'(?:\[.*?\]|\{.*?\}|\(.*?\)|<.*?>|(?P<mark>[^\s\[{(<]).*?(?P=mark))'|n?'(?:[^']|'')*')
  | (?P<quoted>"[^"]*")
  | (?P<number>\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+)
  | (?P<bind>:\s*(?:"[^"]+"|\w[\w$\#]*))
  | (?P<word>[^\W\d_][\w$\#]*)
  | (?P<symbol>.)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_QUERY = re.compile(r"(?:\s|\(|--[^\n]*|/\*.*?\*/)*(?:SELECT|WITH)\b", re.IGNORECASE | re.DOTALL)
_SET = {"UNION", "INTERSECT", "MINUS", "EXCEPT"}
_CLAUSES = {
    "WHERE", "CONNECT", "START", "GROUP", "HAVING", "ORDER", "FETCH", "OFFSET", "FOR", "MODEL", "WINDOW", "QUALIFY",
}  # fmt: skip
_JOIN = {"NATURAL", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "OUTER", "JOIN", "APPLY"}
_NO_ALIAS = _CLAUSES | _SET | _JOIN | {
    "ON", "USING", "PARTITION", "SUBPARTITION", "SAMPLE", "VERSIONS", "PIVOT", "UNPIVOT", "MATCH_RECOGNIZE", "AS",
}  # fmt: skip
_TABLE_OF_JSON = {"JSON_TABLE", "XMLTABLE"}


@dataclass(frozen=True, slots=True)
class TableName:
    """A name where a table stands: as the dictionary holds it, upper case unless it was quoted."""

    owner: str | None
    name: str

    def __str__(self) -> str:
        return self.name if self.owner is None else f"{self.owner}.{self.name}"


@dataclass(frozen=True, slots=True)
class Block:
    """A query block: what its FROM names, by alias (None: an inline view or a query of WITH)."""

    parent: int | None
    names: dict[str, TableName | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that may be a column, with what stands before its dots; ``name`` None is a star.

    ``feeds`` is the column of the result that it makes ("" where that has no name), DECIDES or JOINS.
    """

    qualifier: tuple[str, ...]
    name: str | None
    feeds: str
    block: int


@dataclass(slots=True)
class Reads:
    """What a SELECT reads. ``unclear`` says in words what was not understood."""

    blocks: list[Block] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    tables: dict[TableName, None] = field(default_factory=dict)
    unclear: list[str] = field(default_factory=list)

    def seen_from(self, block: int) -> Iterator[Block]:
        """Give a block and those around it, innermost first."""
        at: int | None = block
        while at is not None:
            yield self.blocks[at]
            at = self.blocks[at].parent


def reads(select: str) -> Reads:
    """Take a SELECT apart. Never fails: what is no SELECT at all is unclear."""
    tokens = []
    for match in _TOKEN.finditer(select):
        kind, text = match.lastgroup, match.group()
        if kind == "mark":
            kind = "text"
        if kind not in (None, "skip"):
            value = text[1:-1] if kind == "quoted" else text.upper()
            tokens.append(_Token(str(kind), value))
    reader = _Reader(tokens)
    reader.query(0, len(tokens), None, DECIDES, top=True, withs=frozenset())
    return reader.found


def is_query(text: str) -> bool:
    """Whether a text is a query, and no list of columns."""
    return _QUERY.match(text) is not None


def bind_spans(select: str) -> list[tuple[int, int, str]]:
    """Give where binds stand in a text, and their names, upper case unless quoted; strings and comments hold none."""
    found = []
    for match in _TOKEN.finditer(select):
        if match.lastgroup == "bind":
            name = match.group()[1:].strip()
            found.append((match.start(), match.end(), name[1:-1] if name.startswith('"') else name.upper()))
    return found


def columns_read(
    found: Reads, is_table: Callable[[TableName], bool], columns: Collection[str]
) -> Mapping[str, set[str]] | None:
    """Give the columns of a table that a SELECT may use, each with what they feed.

    ``is_table`` says which names mean the table. None where that cannot be said: it is not named in the SELECT, as
    when a view reads it, or something around it was not understood.
    """
    if found.unclear or not any(map(is_table, found.tables)):
        return None
    used: dict[str, set[str]] = {}
    for mention in found.mentions:
        for name in _of_table(found, mention, is_table, columns):
            if mention.name is None and mention.feeds not in (DECIDES, JOINS):
                used.setdefault(name, set()).add(name)
            else:
                used.setdefault(name, set()).add(mention.feeds)
    return used


def _of_table(
    found: Reads, mention: Mention, is_table: Callable[[TableName], bool], columns: Collection[str]
) -> Iterator[str]:
    """Give the columns of the table that a mention may mean."""
    around = list(found.seen_from(mention.block))
    if not mention.qualifier:
        if any(name is not None and is_table(name) for block in around for name in block.names.values()):
            if mention.name is None:
                yield from columns
            elif mention.name in columns:
                yield mention.name
        return
    chain = [*mention.qualifier, *([] if mention.name is None else [mention.name])]
    # alias.column, or owner.table.column; what follows a column is an attribute or a member of its JSON
    for at, alias in enumerate(mention.qualifier[:2]):
        block = next((block for block in around if alias in block.names), None)
        if block is None:
            continue
        named = block.names[alias]
        if named is not None and is_table(named):
            if at + 1 == len(chain):
                yield from columns
            elif chain[at + 1] in columns:
                yield chain[at + 1]
        return
    yield from (name for name in chain if name in columns)


class _Token(NamedTuple):
    kind: str
    value: str


class _Reader:
    """Walks over the tokens; every method gets a half-open range of them."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.found = Reads()
        self.closing: dict[int, int] = {}
        opened: list[int] = []
        for at, token in enumerate(tokens):
            if token == ("symbol", "("):
                opened.append(at)
            elif token == ("symbol", ")") and opened:
                self.closing[opened.pop()] = at

    def word(self, at: int, end: int) -> str:
        """Give the unquoted word or the symbol at a place, "" where there is none."""
        return self.tokens[at].value if at < end and self.tokens[at].kind in ("word", "symbol") else ""

    def close(self, at: int, end: int) -> int:
        return min(self.closing.get(at, end - 1), end - 1)

    def depth_zero(self, start: int, end: int) -> Iterator[int]:
        """Give the places outside brackets; an opening bracket is one, what it holds is not."""
        at = start
        while at < end:
            yield at
            at = self.close(at, end) + 1 if self.word(at, end) == "(" else at + 1

    def split(self, start: int, end: int, words: Collection[str]) -> Iterator[tuple[int, int]]:
        """Give the parts between certain words outside brackets."""
        for at in self.depth_zero(start, end):
            if self.word(at, end) in words:
                yield start, at
                start = at + 1
        yield start, end

    def is_query(self, start: int, end: int) -> bool:
        """Whether a bracket holds a query, and not a list, an expression or joined tables."""
        while self.word(start, end) == "(":
            after = self.close(start, end) + 1
            if after < end and self.word(after, end) not in _SET | _CLAUSES:
                return False
            end, start = (self.close(start, end), start + 1) if after >= end else (end, start + 1)
        return self.word(start, end) in ("SELECT", "WITH")

    # -- queries

    def query(self, start: int, end: int, parent: int | None, feeds: str, *, top: bool, withs: frozenset[str]) -> None:
        if self.word(start, end) == "WITH":
            start, withs = self.withs(start + 1, end, parent, withs)
        if self.word(start, end) == "(" and self.close(start, end) == end - 1:
            self.query(start + 1, end - 1, parent, feeds, top=top, withs=withs)
            return
        names: list[str] | None = None
        for first, last in self.split(start, end, _SET):
            begin = first + 1 if self.word(first, last) in ("ALL", "DISTINCT") else first
            if self.word(begin, last) == "(":
                inner = self.close(begin, last)
                self.query(begin + 1, inner, parent, feeds, top=top, withs=withs)
                rest = inner + 1
                if rest < last:  # ORDER BY or FETCH behind the last bracket
                    self.expression(rest, last, self.block(parent), DECIDES if top else feeds, withs)
                continue
            names = self.select(begin, last, parent, feeds, top=top, withs=withs, names=names)

    def withs(self, at: int, end: int, parent: int | None, outer: frozenset[str]) -> tuple[int, frozenset[str]]:
        """Read the queries of WITH; gives where the query itself begins, and the names."""
        names = set(outer)
        while at < end:
            if self.word(at, end) in ("FUNCTION", "PROCEDURE"):
                self.found.unclear.append("a function in WITH")
                return end, frozenset(names)
            names.add(self.tokens[at].value)
            while at < end and self.word(at, end) != "AS":
                at = self.close(at, end) + 1 if self.word(at, end) == "(" else at + 1
            if self.word(at + 1, end) != "(":
                self.found.unclear.append("a query of WITH")
                return end, frozenset(names)
            inner = self.close(at + 1, end)
            self.query(at + 2, inner, parent, DECIDES, top=False, withs=frozenset(names))
            at = inner + 1
            while at < end and self.word(at, end) not in (",", "SELECT", "("):  # SEARCH and CYCLE
                at += 1
            if self.word(at, end) != ",":
                break
            at += 1
        return at, frozenset(names)

    def block(self, parent: int | None) -> int:
        self.found.blocks.append(Block(parent))
        return len(self.found.blocks) - 1

    def select(
        self,
        start: int,
        end: int,
        parent: int | None,
        feeds: str,
        *,
        top: bool,
        withs: frozenset[str],
        names: list[str] | None,
    ) -> list[str]:
        """Read one query block; gives the names of its columns. A later branch of UNION has those of the first."""
        if self.word(start, end) != "SELECT":
            self.found.unclear.append(self.near(start, end))
            return names or []
        block = self.block(parent)
        start += 2 if self.word(start + 1, end) in ("DISTINCT", "UNIQUE", "ALL") else 1
        source = next((at for at in self.depth_zero(start, end) if self.word(at, end) in {"FROM"} | _CLAUSES), end)
        after = source
        if self.word(source, end) == "FROM":
            after = next((at for at in self.depth_zero(source, end) if self.word(at, end) in _CLAUSES), end)
            self.tables(source + 1, after, block, DECIDES if top else feeds, withs)
        items = list(self.split(start, source, {","}))
        own = [self.name_of(first, last) for first, last in items]
        for number, (first, last) in enumerate(items):
            name = own[number] if names is None or number >= len(names) else names[number]
            self.item(first, last, block, name if top else feeds, withs)
        self.expression(after, end, block, DECIDES if top else feeds, withs)
        return own if names is None else names

    def name_of(self, start: int, end: int) -> str:
        last = self.tokens[end - 1] if start < end else _Token("symbol", "")
        return last.value if last.kind in ("word", "quoted") else ""

    def item(self, start: int, end: int, block: int, feeds: str, withs: frozenset[str]) -> None:
        if end - start == 1 and self.word(start, end) == "*":
            self.found.mentions.append(Mention((), None, feeds, block))
            return
        # an alias names no column: it stands behind AS, or behind what is whole; behind a bare word it may be none
        before = self.tokens[end - 2] if end - start > 1 else _Token("symbol", "")
        is_alias = (
            before == ("word", "AS")
            or before.kind in ("quoted", "text", "number", "bind")
            or before.value == ")"
            or (before.kind == "word" and end - start > 2 and self.word(end - 3, end) == ".")
        )
        self.expression(start, end - 1 if is_alias else end, block, feeds, withs)

    def expression(self, start: int, end: int, block: int, feeds: str, withs: frozenset[str]) -> None:
        """Find names and queries; a word of the language counts as a name, and is no column of any table."""
        at = start
        while at < end:
            token = self.tokens[at]
            if token == ("symbol", "(") and self.is_query(at + 1, self.close(at, end)):
                inner = self.close(at, end)
                self.query(at + 1, inner, block, feeds, top=False, withs=withs)
                at = inner + 1
            elif token.kind in ("word", "quoted"):
                chain, at = self.chain(at, end)
                name = None if chain[-1] == "*" else chain[-1]
                self.found.mentions.append(Mention(tuple(chain[:-1]), name, feeds, block))
            else:
                at += 1

    def chain(self, at: int, end: int) -> tuple[list[str], int]:
        """Read ``a.b.c``; a star may be its last part."""
        parts = [self.tokens[at].value]
        at += 1
        while self.word(at, end) == "." and at + 1 < end:
            parts.append(self.tokens[at + 1].value)
            at += 2
        return parts, at

    # -- FROM

    def tables(self, at: int, end: int, block: int, feeds: str, withs: frozenset[str]) -> None:
        """Read what stands in FROM; in a join, its brackets too."""
        at = self.table(at, end, block, feeds, withs)
        while at < end:
            word = self.word(at, end)
            if word == ",":
                at = self.table(at + 1, end, block, feeds, withs)
            elif word in _JOIN:
                kinds = set()
                while self.word(at, end) in _JOIN:
                    kinds.add(self.word(at, end))
                    at += 1
                if "NATURAL" in kinds:
                    self.found.mentions.append(Mention((), None, feeds, block))
                at = self.table(at, end, block, feeds, withs)
                outer = kinds & {"LEFT", "RIGHT", "FULL", "OUTER"} and feeds == DECIDES
                if self.word(at, end) in ("ON", "USING"):
                    stop = self.condition_end(at + 1, end)
                    self.expression(at + 1, stop, block, JOINS if outer else feeds, withs)
                    at = stop
            else:
                self.found.unclear.append(self.near(at, end))
                return

    def condition_end(self, at: int, end: int) -> int:
        return next((place for place in self.depth_zero(at, end) if self.word(place, end) in _JOIN | {","}), end)

    def table(self, at: int, end: int, block: int, feeds: str, withs: frozenset[str]) -> int:
        """Read one table with its alias; gives the place behind it."""
        names = self.found.blocks[block].names
        if self.word(at, end) in ("LATERAL", "ONLY"):
            at += 1
        named: TableName | None = None
        alias = f" {at}"  # of what has none
        if self.word(at, end) == "(":
            inner = self.close(at, end)
            if self.is_query(at + 1, inner):
                self.query(at + 1, inner, block, feeds, top=False, withs=withs)
            else:
                self.tables(at + 1, inner, block, feeds, withs)
            at = inner + 1
        elif at < end and self.tokens[at].kind in ("word", "quoted"):
            text = self.tokens[at]
            chain, at = self.chain(at, end)
            if self.word(at, end) == "(" and text.value not in _NO_ALIAS:
                inner = self.close(at, end)
                if self.is_query(at + 1, inner):  # TABLE(SELECT …)
                    self.query(at + 1, inner, block, feeds, top=False, withs=withs)
                else:
                    self.expression(at + 1, inner, block, feeds, withs)
                    if chain[-1] not in _TABLE_OF_JSON:
                        self.found.unclear.append(f"the function {'.'.join(chain)} in FROM")
                at = inner + 1
            elif self.word(at, end) == "@":
                self.found.unclear.append(f"{'.'.join(chain)}@{self.name_of(at + 1, at + 2)}, in another database")
                at = next((place for place in range(at, end) if self.word(place, end) not in ("@", ".") and
                           self.word(place - 1, end) not in ("@", ".")), end)  # fmt: skip
            elif len(chain) > 1 or chain[0] not in withs:
                alias = chain[-1]
                named = TableName(chain[-2] if len(chain) > 1 else None, chain[-1])
                if named.name != "DUAL":
                    self.found.tables[named] = None
            else:
                alias = chain[0]
        else:
            self.found.unclear.append(self.near(at, end))
            return end
        at, given = self.behind(at, end, block, feeds, withs)
        names[given or alias] = named
        return at

    def behind(self, at: int, end: int, block: int, feeds: str, withs: frozenset[str]) -> tuple[int, str | None]:
        """Read what follows a table: partition, sample, PIVOT, and its alias."""
        alias = None
        while at < end:
            word = self.word(at, end)
            if word in ("PARTITION", "SUBPARTITION", "SAMPLE", "BLOCK", "SEED", "PIVOT", "UNPIVOT", "MATCH_RECOGNIZE"):
                while at < end and self.word(at, end) != "(":
                    at += 1
                inner = self.close(at, end)
                if word in ("PIVOT", "UNPIVOT", "MATCH_RECOGNIZE"):  # every column that it does not name counts too
                    self.found.mentions.append(Mention((), None, feeds, block))
                    self.expression(at + 1, inner, block, feeds, withs)
                    alias = None
                at = inner + 1
            elif (word == "AS" and self.word(at + 1, end) == "OF") or word == "VERSIONS":
                self.found.unclear.append("a flashback query")
                return end, alias
            elif word == "AS":
                at += 1
            elif alias is None and at < end and (
                self.tokens[at].kind == "quoted" or (self.tokens[at].kind == "word" and word not in _NO_ALIAS)
            ):  # fmt: skip
                alias = self.tokens[at].value
                at += 1
            else:
                return at, alias
        return at, alias

    def near(self, at: int, end: int) -> str:
        """Say where a text was not understood: the next words, and no value."""
        words = [token.value for token in self.tokens[at : min(at + 4, end)] if token.kind in ("word", "symbol")]
        return f"what stands near {' '.join(words)!r}" if words else "the end of the text"
