"""CREATE VECTOR INDEX: IVF becomes ivfflat, HNSW becomes hnsw.

Defaults are Oracle's where they are documented, and are cut to what pgvector can build.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.ddl.indexes import index_is_free
from oraclerag.local.engine.ddl.questions import StoredColumn
from oraclerag.local.engine.ddl.table_options import PhysicalOptions
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

GRAPH = "INMEMORY_NEIGHBOR_GRAPH_HNSW"
PARTITIONS = "NEIGHBOR_PARTITIONS_IVF"
_INDEXED_DIMENSIONS = 2000  # pgvector's limit
_OPERATORS = {
    "COSINE": "vector_cosine_ops",
    "EUCLIDEAN": "vector_l2_ops",
    "EUCLIDEAN_SQUARED": "vector_l2_ops",
    "L2_SQUARED": "vector_l2_ops",
    "DOT": "vector_ip_ops",
    "MANHATTAN": "vector_l1_ops",
}
_BITWISE = frozenset({"HAMMING", "JACCARD"})
_RANGES = {
    "neighbors": (2, 2048),
    "efconstruction": (1, 65535),
    "neighbor partitions": (1, 10_000_000),
    "samples_per_partition": (1, 2**31),
    "min_vectors_per_partition": (0, 2**31),
}
_OF_GRAPH = frozenset({"neighbors", "efconstruction"})


@dataclass(slots=True)
class VectorIndex:
    """A vector index as declared; ``parameters`` in lower case as in PARAMETERS."""

    schema: str
    name: str
    table_schema: str
    table: str
    column: str
    subtype: str = ""
    distance: str | None = None
    accuracy: int | None = None
    parameters: dict[str, int] = field(default_factory=dict)
    included: tuple[str, ...] = ()


def create_vector_index(reader: Reader, host: Host) -> Action:
    """Read CREATE VECTOR INDEX behind the keywords."""
    guard = reader.accept("IF", "NOT", "EXISTS")
    owner, name = reader.name(953, "missing or invalid index name")
    reader.expect("ON", number=969, message="missing ON keyword")
    table_owner, table = reader.name()
    reader.expect("(")
    column = reader.column()
    if reader.sees(","):
        reader.fail(3001, "unimplemented feature: vector indexes over more than one column")
    reader.expect(")")
    index = VectorIndex(owner or host.schema, name, table_owner or host.schema, table, column)
    if reader.accept("INCLUDE"):
        if reader.sees("(") and reader.peek(2).text == "(":
            raise OraError(
                51980, "expressions are not allowed in the INCLUDE clause of a vector index", reader.position
            )
        index.included = reader.columns()
    reader.accept("GLOBAL")
    reader.expect("ORGANIZATION")
    if reader.accept("INMEMORY"):
        reader.accept("NEIGHBOR")
        reader.expect("GRAPH")
        index.subtype = GRAPH
    else:
        reader.accept("NEIGHBOR")
        reader.expect("PARTITIONS")
        index.subtype = PARTITIONS
    _clauses(reader, index)

    def run() -> None:
        if not index_is_free(host, index.schema, index.name, guard=guard):
            return
        host.change(statements(host, index))

    return run


def _clauses(reader: Reader, index: VectorIndex) -> None:
    """Take the clauses behind ORGANIZATION; DISTANCE and TARGET ACCURACY come in either order."""
    options = PhysicalOptions()
    while not reader.at_end:
        position, word = reader.position, reader.word()
        if reader.accept("WITH", "TARGET", "ACCURACY"):
            once = index.accuracy is None
            index.accuracy = reader.integer()
            if not once:
                reader.fail(922, "missing or invalid option")
            if not 0 < index.accuracy <= 100:
                raise OraError(51937, "invalid value for TARGET ACCURACY", position)
        elif reader.accept("WITH", "DISTANCE") or reader.accept("DISTANCE"):
            _distance(reader, index)
        elif reader.sees("PARAMETERS"):
            options.once(word, position)
            reader.advance()
            _parameters(reader, index)
        elif reader.accept("PARALLEL"):
            options.once(word, position)
            if reader.peek().kind == "number":
                reader.integer()
        elif reader.accept("ONLINE") or reader.accept("NOPARALLEL"):
            options.once(word, position)
        elif reader.sees("LOCAL") or reader.sees("QUANTIZATION") or reader.sees("RESCORE") or reader.sees("DUPLICATE"):
            raise unsupported(f"vector indexes with {reader.word()}", position)
        else:
            reader.expect_end()


def _distance(reader: Reader, index: VectorIndex) -> None:
    position, metric = reader.position, reader.word()
    if index.distance is not None:
        reader.fail(922, "missing or invalid option")
    if metric == "CUSTOM":
        raise unsupported("vector indexes with DISTANCE CUSTOM", position)
    if metric not in _OPERATORS and metric not in _BITWISE:
        reader.fail(922, "missing or invalid option")
    reader.advance()
    index.distance = metric


def _parameters(reader: Reader, index: VectorIndex) -> None:
    reader.expect("(")
    reader.expect("TYPE", number=51938, message="invalid PARAMETERS clause: TYPE expected")
    kind = reader.advance().upper
    if kind not in {"HNSW", "IVF"} or (kind == "HNSW") != (index.subtype == GRAPH):
        raise OraError(51917, "vector index TYPE does not fit its ORGANIZATION", reader.position)
    while reader.accept(","):
        position = reader.position
        if reader.accept("NEIGHBOR", "PARTITIONS"):
            name = "neighbor partitions"
        else:
            name = reader.advance().upper.lower()
        name = {"m": "neighbors", "sample_per_partition": "samples_per_partition"}.get(name, name)
        bounds = _RANGES.get(name)
        if bounds is None or (name in _OF_GRAPH) != (index.subtype == GRAPH):
            raise OraError(51938, f"invalid parameter {name} in the PARAMETERS clause of a vector index", position)
        value = reader.integer(51938, f"invalid value for parameter {name} in the PARAMETERS clause")
        if not bounds[0] <= value <= bounds[1]:
            raise OraError(
                51938,
                f"invalid value {value} for parameter {name}: it must be from {bounds[0]} to {bounds[1]}",
                position,
            )
        index.parameters[name] = value
    reader.expect(")")


def statements(host: Host, index: VectorIndex, *, replacing: str = "") -> list[str]:
    """Check a vector index against its table and give PostgreSQL's statements.

    ``replacing`` names the index that is dropped in the same change.
    """
    questions.require_table(host, index.table_schema, index.table)
    if index.schema != index.table_schema:
        raise unsupported("a vector index in another schema than its table's")
    stored = questions.columns(host, index.table_schema, index.table)
    column = stored.get(index.column)
    if column is None:
        raise OraError(904, f'"{index.column}": invalid identifier')
    if not column.storage.startswith("vector"):
        raise OraError(51900, "cannot create a vector index on a column that is not of type VECTOR")
    _check_included(index, stored)
    if index.distance in _BITWISE:
        raise OraError(51909, f"distance metric {index.distance} needs another vector format")
    existing = host.ask(
        "SELECT i.relname::text FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid"
        " JOIN ora.vector_indexes v ON v.idx = x.indexrelid"
        " WHERE x.indrelid = $1::regclass AND x.indkey[0] IN (0, $2::int) AND ora.name_of(i.relname) <> $3 LIMIT 1",
        qualified(index.table_schema, index.table),
        column.number,
        replacing,
    )
    if existing:
        raise OraError(1408, "such column list already indexed")
    target, operand = _operand(host, index, column)
    operators = _OPERATORS[index.distance or "COSINE"]
    made = f"CREATE INDEX {quote(index.name)} ON {target} USING {_method(index, operand, operators)}"
    included = "ARRAY[" + ", ".join(map(literal, index.included)) + "]::text[]"
    return [
        made,
        (
            "INSERT INTO ora.vector_indexes (idx, subtype, distance, accuracy, parameters, included)"
            f" VALUES ({literal(qualified(index.schema, index.name))}::regclass, {literal(index.subtype)},"
            f" {literal(index.distance or 'COSINE')}, {index.accuracy or 'NULL'},"
            f" {literal(json.dumps(index.parameters))}::jsonb, {included})"
        ),
    ]


def _check_included(index: VectorIndex, stored: dict[str, StoredColumn]) -> None:
    if len(index.included) > 31:
        raise OraError(51977, "too many included columns in a vector index: the maximum is 31")
    for name in index.included:
        if name not in stored:
            raise OraError(904, f'"{name}": invalid identifier')
        if stored[name].storage.partition("(")[0] in {"clob", "blob", "vector"}:
            raise OraError(51979, f'column "{name}" has a data type that a vector index cannot include')
        if stored[name].generated:
            raise OraError(51981, f'virtual column "{name}" cannot be included in a vector index')


def _operand(host: Host, index: VectorIndex, column: StoredColumn) -> tuple[str, str]:
    """Give table and indexed expression: the column, or its cast where the column leaves the dimension open."""
    target = qualified(index.table_schema, index.table)
    name = quote(index.column)
    if column.storage == "vector":
        found = host.ask(f"SELECT DISTINCT vector_dims({name}) FROM {target} WHERE {name} IS NOT NULL LIMIT 2")
        if not found:
            raise unsupported("a vector index on an empty column without a dimension")
        if len(found) > 1:
            raise OraError(51902, "vectors of different dimension counts cannot be in one vector index")
        dimensions = int(found[0][0])
        operand = f"({name}::vector({dimensions}))"
    else:
        dimensions = int(column.storage.removeprefix("vector(").removesuffix(")"))
        operand = name
    if dimensions > _INDEXED_DIMENSIONS:
        raise unsupported(f"vector indexes over more than {_INDEXED_DIMENSIONS} dimensions")
    return target, operand


def _method(index: VectorIndex, operand: str, operators: str) -> str:
    if index.subtype == GRAPH:
        neighbors = max(2, min(100, index.parameters.get("neighbors", 32)))
        construction = max(2 * neighbors, min(1000, index.parameters.get("efconstruction", 300)))
        return f"hnsw ({operand} {operators}) WITH (m = {neighbors}, ef_construction = {construction})"
    lists = min(32768, index.parameters.get("neighbor partitions", 10))
    return f"ivfflat ({operand} {operators}) WITH (lists = {lists})"
