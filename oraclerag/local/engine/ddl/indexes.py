"""CREATE, ALTER and DROP INDEX for B-tree, function-based and multivalue indexes; DROP and ALTER for vector ones."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, replace

from oraclerag.local.engine.ddl import notes, questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.ddl.questions import StoredColumn
from oraclerag.local.engine.ddl.table_options import PhysicalOptions, read_physical_option
from oraclerag.local.engine.ddl.text_indexes import create_text_index, is_text_index
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.lexer import tokenize
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.translate import expression
from oraclerag.local.engine.words import RESERVED, quote
from oraclerag.local.interface import OraError

_MOST_COLUMNS = 32
_ITEM_METHODS = {"STRING", "STRINGONLY", "NUMBER", "NUMBERONLY", "DATE", "TIMESTAMP", "BOOLEAN"}


@dataclass(frozen=True, slots=True)
class IndexItem:
    """One position of an index: a plain column, or an expression with Oracle's and PostgreSQL's text."""

    column: str | None
    source: str
    expression: str
    descending: bool

    @property
    def clause(self) -> str:
        """PostgreSQL's item; NULLs sort last in Oracle ascending, first descending, as here."""
        head = quote(self.column) if self.column is not None else f"({self.expression})"
        return head + (" DESC" if self.descending else "")


def create_index(reader: Reader, host: Host, *, unique: bool, bitmap: bool = False) -> Action:
    """Read CREATE [UNIQUE|BITMAP] INDEX behind the keyword."""
    guard, (owner, name), (table_owner, table) = _head(reader)
    schema = owner or host.schema
    table_schema = table_owner or host.schema
    alias = None
    if reader.peek().kind in {"word", "quoted"} and reader.word() != "USING":
        alias = reader.identifier(906, "missing left parenthesis")
    read = _items(reader, host, alias or table)
    if reader.sees("INDEXTYPE") and not unique and not bitmap:
        column = read[0].column if len(read) == 1 else None
        return create_text_index(reader, host, (schema, name), (table_schema, table), column, guard=guard)
    options = PhysicalOptions()
    _index_options(reader, options)
    if bitmap:
        raise unsupported("bitmap indexes (nor does Oracle Free)", reader.position)

    def run() -> None:
        if not index_is_free(host, schema, name, guard=guard):
            return
        if schema != table_schema:
            raise unsupported("an index in another schema than its table's")
        questions.require_table(host, table_schema, table)
        _check_items(host, table_schema, table, read)
        known = questions.columns(host, table_schema, table)
        items = [replace(item, source=_printed(item.source, known)) if item.column is None else item for item in read]
        host.change(_statements(schema, name, table, items, options, unique=unique))

    return run


def _printed(source: str, columns: Container[str]) -> str:
    """Print an expression nearly as the dictionary does: columns quoted, function names in upper case."""
    pieces: list[str] = []
    last = 0
    for token in tokenize(source):
        pieces.append(source[last : token.position])
        if token.kind == "word":
            pieces.append(quote(token.value) if token.value in columns else token.upper)
        else:
            pieces.append(token.text)
        last = token.end
    return "".join(pieces)


def _head(reader: Reader) -> tuple[bool, tuple[str | None, str], tuple[str | None, str]]:
    if reader.sees("IF", "EXISTS"):
        reader.fail(11543, "incorrect IF EXISTS clause for CREATE statement")
    guard = reader.accept("IF", "NOT", "EXISTS")
    name = reader.name(953, "missing or invalid index name")
    reader.expect("ON", number=969, message="missing ON keyword")
    if reader.accept("CLUSTER"):
        raise unsupported("cluster indexes", reader.position)
    return guard, name, reader.name()


def index_is_free(host: Host, schema: str, name: str, *, guard: bool) -> bool:
    """Tell whether an index of this name can be made.

    Oracle keeps the names of indexes apart from those of tables; PostgreSQL does not.
    """
    kind = questions.object_kind(host, schema, name)
    if kind in {None, "SYNONYM"}:
        return True
    if kind != "INDEX":
        raise unsupported(f"an index named as a {kind.lower() if kind else ''} is ({name})")
    if guard:
        return False
    raise OraError(955, "name is already used by an existing object")


def _items(reader: Reader, host: Host, table: str) -> list[IndexItem]:
    reader.expect("(")
    items: list[IndexItem] = []
    while True:
        position = reader.position
        span = reader.span({"ASC", "DESC"})
        descending = reader.accept("DESC")
        if not descending:
            reader.accept("ASC")
        source = reader.text(span)
        tokens = reader.tokens[span[0] : span[1]]
        if len(tokens) == 3 and tokens[1].upper == "." and tokens[0].value == table:
            tokens = tokens[2:]
        if len(tokens) == 1 and tokens[0].kind in {"word", "quoted"}:
            items.append(IndexItem(_column(tokens[0].kind, tokens[0].value, position), source, "", descending))
        elif not tokens:
            raise OraError(936, "missing expression", position)
        else:
            if any(token.kind == "bind" for token in tokens):
                raise OraError(1027, "bind variables not allowed for data definition operations", position)
            items.append(IndexItem(None, source, expression(source, host.names), descending))
        if reader.accept(","):
            continue
        reader.expect(")")
        break
    if len(items) > _MOST_COLUMNS:
        raise OraError(1793, "maximum number of index columns is 32")
    return items


def _column(kind: str, value: str, position: int) -> str:
    if kind == "word" and value in RESERVED:
        raise OraError(3050, f"invalid identifier: '{value}' is a reserved word", position)
    return value


def _index_options(reader: Reader, options: PhysicalOptions) -> None:
    while not reader.at_end:
        position, word = reader.position, reader.word()
        if read_physical_option(reader, options):
            continue
        if reader.accept("COMPUTE", "STATISTICS") or reader.accept_one(
            {"ONLINE", "VISIBLE", "USABLE", "SORT", "NOSORT"}
        ):
            options.once(word, position)
            continue
        if reader.accept("COMPRESS"):
            options.once(word, position)
            if reader.accept("ADVANCED"):
                reader.accept("LOW") or reader.accept("HIGH")
            elif reader.peek().kind == "number":
                reader.integer()
        elif word == "INDEXTYPE":
            reader.fail(29833, "indextype does not exist")
        elif word in {"LOCAL", "GLOBAL"}:
            reader.fail(14016, "underlying table of a LOCAL partitioned index must be partitioned")
        elif word in {"INVISIBLE", "UNUSABLE", "REVERSE", "INDEXING", "ANNOTATIONS", "PARAMETERS"}:
            raise unsupported(f"{word} indexes", position)
        else:
            reader.expect_end(2158, "invalid CREATE INDEX option")


def _check_items(host: Host, schema: str, table: str, items: list[IndexItem]) -> None:
    stored = questions.columns(host, schema, table)
    for item in items:
        if item.column is None:
            continue
        column = stored.get(item.column)
        if column is None:
            raise OraError(904, f'"{item.column}": invalid identifier')
        base = column.storage.split("(", 1)[0]
        if base in {"clob", "blob", "jsonb", "vector"}:
            names = {"jsonb": "JSON"}
            raise OraError(2327, f"cannot create index on expression with datatype {names.get(base, base.upper())}")
    _check_length(host, qualified(schema, table), stored, items)
    clauses = [item.clause for item in items]
    if len({item.column or item.source.upper() for item in items}) < len(items):
        raise OraError(957, "duplicate column name")
    wanted = ", ".join(clauses)
    for definition in questions.index_definitions(host, schema, table).values():
        if _same_columns(definition, wanted):
            raise OraError(1408, "such column list already indexed")


_KEY_BYTES = 6398  # of an index in blocks of 8 KB
_LENGTH = re.compile(r"(varchar2|char)\((\d+)\)")


def _check_length(host: Host, table: str, stored: dict[str, StoredColumn], items: list[IndexItem]) -> None:
    """Refuse texts that together may become longer than a key of Oracle's (ORA-01450)."""
    lengths = {
        item.column: int(match[2])
        for item in items
        if item.column is not None and (match := _LENGTH.match(stored[item.column].storage)) is not None
    }
    if 4 * sum(lengths.values()) <= _KEY_BYTES:
        return
    in_chars = host.ask(
        "SELECT a.attname::text FROM ora.column_info i"
        " JOIN pg_attribute a ON a.attrelid = i.rel AND a.attnum = i.number"
        " WHERE i.rel = $1::regclass AND i.length_unit = 'CHAR'",
        table,
    )
    for (name,) in in_chars:
        if name in lengths:
            lengths[name] = min(4 * lengths[name], host.max_string_size)
    if sum(lengths.values()) > _KEY_BYTES:
        raise OraError(1450, f"maximum key length ({_KEY_BYTES}) exceeded")


def _same_columns(definition: str, wanted: str) -> bool:
    """Compare PostgreSQL's print of an index with ours, where names are always quoted."""
    return definition.replace('"', "") == wanted.replace('"', "")


def _statements(
    schema: str, name: str, table: str, items: list[IndexItem], options: PhysicalOptions, *, unique: bool
) -> list[str]:
    listed = ", ".join(item.clause for item in items)
    target = qualified(schema, table)
    # A unique index takes (1, NULL) twice for a duplicate; only entirely NULL keys may repeat.
    suffix = ""
    if unique and len(items) > 1:
        some = " OR ".join(f"({quote(i.column) if i.column is not None else i.expression}) IS NOT NULL" for i in items)
        suffix = f" NULLS NOT DISTINCT WHERE {some}"
    statements = [f"CREATE {'UNIQUE ' if unique else ''}INDEX {quote(name)} ON {target} ({listed}){suffix}"]
    index = literal(qualified(schema, name))
    statements += [
        "INSERT INTO ora.index_expressions (idx, number, source)"
        f" VALUES ({index}::regclass, {k}, {literal(item.source)})"
        for k, item in enumerate(items, 1)
        if item.column is None
    ]
    return [*statements, *notes.storage(schema, name, options)]


def create_multivalue_index(reader: Reader, host: Host) -> Action:
    """Read CREATE MULTIVALUE INDEX behind the keywords: ``ON table alias (alias.column.path.item_method())``.

    It becomes a GIN index over what the path finds. No query needs it to be right.
    """
    guard, (owner, name), (table_owner, table) = _head(reader)
    schema = owner or host.schema
    alias = reader.identifier() if not reader.sees("(") else table
    reader.expect("(")
    if reader.word() == "JSON_TABLE":
        raise unsupported("multivalue indexes over JSON_TABLE", reader.position)
    start = reader.position
    if reader.identifier(904, "invalid identifier") != alias:
        raise OraError(904, "invalid identifier", start)
    reader.expect(".", number=904, message="invalid identifier")
    column = reader.column()
    steps: list[str] = []
    while reader.accept("."):
        token = reader.advance()
        if token.kind not in {"word", "quoted"}:
            raise OraError(1747, "invalid user.table.column, table.column, or column specification", token.position)
        steps.append(token.text.strip('"'))
    if not steps or steps[-1].upper() not in _ITEM_METHODS or not reader.accept("(", ")"):
        raise unsupported("multivalue indexes without an item method such as .string()", start)
    source = reader.sql[start : reader.position].rstrip()
    reader.expect(")")
    _index_options(reader, PhysicalOptions())
    path = "$" + "".join(f'."{step}"' for step in steps[:-1])

    def run() -> None:
        if not index_is_free(host, schema, name, guard=guard):
            return
        table_schema = table_owner or host.schema
        questions.require_table(host, table_schema, table)
        stored = questions.columns(host, table_schema, table).get(column)
        if stored is None:
            raise OraError(904, f'"{alias}"."{column}": invalid identifier')
        if stored.storage != "jsonb":
            raise unsupported("multivalue indexes over a column that is not JSON")
        found = f"jsonb_path_query_array({quote(column)}, {literal(path)}::jsonpath)"
        host.change(
            [
                f"CREATE INDEX {quote(name)} ON {qualified(table_schema, table)} USING gin (({found}))",
                (
                    "INSERT INTO ora.index_expressions (idx, number, source)"
                    f" VALUES ({literal(qualified(schema, name))}::regclass, 1, {literal(source)})"
                ),
            ]
        )

    return run


def drop_index(reader: Reader, host: Host) -> Action:
    """Read DROP INDEX behind the keyword."""
    if reader.sees("IF", "NOT", "EXISTS"):
        reader.fail(11544, "incorrect IF NOT EXISTS clause for ALTER or DROP statement")
    guard = reader.accept("IF", "EXISTS")
    owner, name = reader.name(953, "missing or invalid index name")
    schema = owner or host.schema
    reader.accept("ONLINE")
    force = reader.accept("FORCE")
    reader.expect_nothing()

    def run() -> None:
        index = questions.index(host, schema, name)
        if index is None:
            if guard:
                return
            raise OraError(1418, "specified index does not exist")
        if index.of_key:
            raise OraError(2429, "cannot drop index used for enforcement of unique/primary key")
        if force and not index.vector and not is_text_index(host, schema, name):
            raise OraError(29862, "cannot specify FORCE option for dropping non-domain index")
        host.change([f"DROP INDEX {qualified(schema, name)}"])

    return run


def alter_index(reader: Reader, host: Host) -> Action:
    """Read ALTER INDEX behind the keyword."""
    guard = reader.accept("IF", "EXISTS")
    owner, name = reader.name(953, "missing or invalid index name")
    schema = owner or host.schema
    target = qualified(schema, name)
    if reader.accept("RENAME"):
        reader.expect("TO")
        new = reader.identifier(953, "missing or invalid index name")
        reader.expect_end(2243, "invalid ALTER INDEX option")

        def change() -> None:
            if questions.object_kind(host, schema, new) is not None:
                raise OraError(955, "name is already used by an existing object")
            host.change([f"ALTER INDEX {target} RENAME TO {quote(new)}"])

    elif reader.accept("REBUILD"):
        options = PhysicalOptions()
        while not reader.at_end:
            position, word = reader.position, reader.word()
            if read_physical_option(reader, options):
                continue
            if reader.accept("ONLINE") or reader.accept("COMPUTE", "STATISTICS"):
                options.once(word, position)
                continue
            raise unsupported(f"ALTER INDEX … REBUILD {reader.word()}", reader.position)

        def change() -> None:
            host.change(rebuild(schema, name))

    elif reader.accept("COALESCE"):
        reader.expect_end(2243, "invalid ALTER INDEX option")

        def change() -> None:
            index = questions.index(host, schema, name)
            if index is not None and index.vector:
                raise unsupported("ALTER INDEX … COALESCE of a vector index")

    elif reader.accept("NOPARALLEL") or reader.accept("LOGGING") or reader.accept("NOLOGGING"):
        reader.expect_end(2243, "invalid ALTER INDEX option")

        def change() -> None:
            return

    else:
        if reader.word() in {
            "VISIBLE",
            "INVISIBLE",
            "UNUSABLE",
            "SHRINK",
            "MONITORING",
            "PARALLEL",
            "MODIFY",
        }:
            raise unsupported(f"ALTER INDEX … {reader.word()}", reader.position)
        reader.fail(2243, "invalid ALTER INDEX option")

    def run() -> None:
        if questions.index(host, schema, name) is None:
            if guard:
                return
            raise OraError(1418, "specified index does not exist")
        change()

    return run


def rebuild(schema: str, name: str) -> list[str]:
    """Give the statements that build an index anew; a vector index is VALID again."""
    target = qualified(schema, name)
    return [
        f"REINDEX INDEX {target}",
        f"UPDATE ora.vector_indexes SET status = 'VALID' WHERE idx = {literal(target)}::regclass",
    ]
