"""Vector functions and operators, and what models make of texts: embeddings, and scores of pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from oraclerag.local.engine import chain_functions, text_generation, vector_chunks
from oraclerag.local.engine.plan import Access, EmbedParameter
from oraclerag.local.engine.scope import Column
from oraclerag.local.engine.tree import Bind, Embedding, Node, Output, walk
from oraclerag.local.engine.words import quote, quote_text
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser

_METRICS = {
    "COSINE": "<=>",
    "DOT": "<#>",
    "EUCLIDEAN": "<->",
    "L2": "<->",
    "EUCLIDEAN_SQUARED": "squared",
    "L2_SQUARED": "squared",
    "MANHATTAN": "<+>",
    "HAMMING": "ora.hamming_distance",
    "JACCARD": "ora.jaccard_distance",
}
_PAIR = "DATA1,DATA2"
_FORMATS = frozenset({"FLOAT32", "FLOAT64", "INT8", "BINARY", "*"})


def _vector(node: Node) -> Node:
    """Read a bind or a text as a vector; PostgreSQL could not choose among its vector types."""
    return Node(node, "::vector", type="vector") if node.kind in ("bind", "string", "null") else node


def distance(left: Node, operator: str, right: Node) -> Node:
    """Give the distance of two vectors by an operator of pgvector or a function of schema ``ora``."""
    if operator == "squared":
        return Node("vector_l2_squared_distance(", _vector(left), ", ", _vector(right), ")", type="double")
    if operator.startswith("ora."):
        return Node(f"{operator}(", _vector(left), ", ", _vector(right), ")", type="double")
    return Node("(", _vector(left), f" {operator} ", _vector(right), ")", kind="distance", type="double")


def _vector_distance(parser: ExpressionParser, name: str) -> Node:
    parser.need("(")
    left = parser.expression()
    if not parser.at(","):
        raise OraError(938, f"not enough arguments for function '{name}'", parser.token.position)
    parser.need(",")
    right = parser.expression()
    metric = "COSINE"
    if parser.accept(","):
        token = parser.token
        metric = token.upper
        if metric == "CUSTOM":
            raise OraError(51971, "custom distance functions work through an index only", token.position)
        if metric not in _METRICS:
            raise OraError(51964, f"Invalid vector distance metric {token.text}", token.position)
        parser.position += 1
    if parser.at(","):
        raise OraError(939, f"too many arguments for function '{name}'", parser.token.position)
    parser.need(")")
    return distance(left, _METRICS[metric], right)


def _short_distance(operator: str) -> Callable[[ExpressionParser, str], Node]:
    def read(parser: ExpressionParser, name: str) -> Node:
        position = parser.token.position
        values = parser.arguments()
        if len(values) != 2:
            raise OraError(909, f"The number of arguments for function '{name}' is invalid.", position)
        node = distance(values[0], operator, values[1])
        return Node("(-", node, ")", type="double") if name == "INNER_PRODUCT" else node

    return read


def _to_vector(parser: ExpressionParser, name: str) -> Node:
    position = parser.token.position
    parser.need("(")
    if parser.at(")"):
        raise OraError(909, f"The number of arguments for function '{name}' is invalid.", position)
    value = parser.expression()
    dimensions = ""
    whole = False
    if parser.accept(","):
        if not parser.accept("*"):
            dimensions = f"({parser.integer()})"
        if parser.accept(","):
            token = parser.token
            if token.upper not in _FORMATS:
                raise OraError(51802, f"Invalid vector format {token.text}", token.position)
            parser.position += 1
            if token.upper == "BINARY":
                parser.unsupported("vectors of format BINARY")
            whole = token.upper == "INT8"
            if parser.accept(",") and not parser.accept("DENSE"):
                parser.unsupported("sparse vectors")
    parser.need(")")
    node = Node("(", value, f")::vector{dimensions}", type="vector")
    return Node("ora.as_int8(", node, ")", type="vector") if whole else node


def _serialize(parser: ExpressionParser, name: str) -> Node:  # noqa: ARG001
    parser.need("(")
    value = parser.expression()
    target = "ora.varchar2"
    if parser.accept("RETURNING"):
        token = parser.token
        if token.upper not in ("VARCHAR2", "CLOB"):
            raise OraError(51809, "a vector can be returned as VARCHAR2 or CLOB only", token.position)
        parser.position += 1
        target = "ora.clob" if token.upper == "CLOB" else target
        if parser.accept("("):
            parser.integer()
            if parser.token.upper in ("BYTE", "CHAR"):
                parser.position += 1
            parser.need(")")
    parser.need(")")
    return Node("ora.from_vector(", _vector(value), f")::{target}", type="clob" if target == "ora.clob" else "text")


def _one_vector(function: str) -> Callable[[ExpressionParser, str], Node]:
    def read(parser: ExpressionParser, name: str) -> Node:
        position = parser.token.position
        values = parser.arguments()
        if len(values) != 1:
            raise OraError(909, f"The number of arguments for function '{name}' is invalid.", position)
        return Node(f"{function}(", _vector(values[0]), ")", type="text" if name.endswith("FORMAT") else "number")

    return read


class FormatOf(Node):
    """VECTOR_DIMENSION_FORMAT: what the column was declared with, FLOAT32 for other expressions."""

    __slots__ = ("vector",)

    def __init__(self, vector: Node) -> None:
        super().__init__(vector, type="text")
        self.vector = vector

    def write(self, output: Output) -> None:
        """Write the call, with the column where it is one of a table."""
        vector = self.vector
        output.pieces.append("ora.vector_format(")
        vector.write(output)
        source = vector.source if isinstance(vector, Column) else None
        if source is not None and source.schema and isinstance(vector, Column):
            table = quote_text(f"{quote(source.schema)}.{quote(source.table)}")
            output.pieces.append(f", {table}, {quote_text(vector.chain[-1])}")
        output.pieces.append(")")


def _format(parser: ExpressionParser, name: str) -> Node:
    position = parser.token.position
    values = parser.arguments()
    if len(values) != 1:
        raise OraError(909, f"The number of arguments for function '{name}' is invalid.", position)
    return FormatOf(_vector(values[0]))


class EmbedCall(Node):
    """The embedding of a column's text: a call that announces the text. ``vector`` stands for it once it is known."""

    __slots__ = ("model", "text", "vector")

    def __init__(self, model: str, dimensions: int, text: Node) -> None:
        super().__init__(f"ora.embed({quote_text(model)}, {dimensions}, ", text, ")", type="vector")
        self.model = model
        self.text = text
        self.vector = ""

    def write(self, output: Output) -> None:
        """Write the call, or what stands for it."""
        if self.vector:
            output.pieces.append(self.vector)
        else:
            super().write(output)


def _model_using(parser: ExpressionParser, function: str) -> tuple[str, str, int]:
    """Read ``(model USING``: the model's owner and name, and where that stands."""
    parser.need("(")
    token = parser.token
    if token.kind not in ("word", "quoted"):
        raise OraError(904, f"the model of {function} must be named by an identifier", token.position)
    chain = [parser.identifier()]
    while parser.accept("."):
        chain.append(parser.identifier())
    if len(chain) > 2:
        parser.unexpected()
    parser.need("USING")
    if parser.at("*"):
        parser.unsupported(f"{function}(... USING *)")
    owner, model = chain if len(chain) == 2 else (parser.names.user, chain[0])
    return owner, model, token.position


def _embedding(parser: ExpressionParser, name: str) -> Node:
    """Read VECTOR_EMBEDDING: a parameter over a bind or literal, else a call that announces texts."""
    owner, model, named_at = _model_using(parser, name)
    value = parser.expression()
    parser.need("AS")
    position, attribute = parser.token.position, parser.identifier()
    parser.need(")")
    dimensions = parser.names.model_dimensions(owner, model)
    if dimensions is None:
        raise OraError(40284, "model does not exist", named_at)
    if parser.names.model_input(owner, model) == _PAIR:
        raise OraError(40290, "model incompatible with data mining function", named_at)
    if attribute != parser.names.model_input(owner, model):
        message = f"unimplemented feature: the model {model} has no input {attribute} (nor would Oracle take it)"
        raise OraError(3001, message, position)
    parser.accesses.append(Access(owner, model, "SELECT", "MINING MODEL"))
    qualified = f"{owner}.{model}"
    if value.kind == "null":
        return Node("NULL::vector", type="vector")
    if value.kind == "string":
        return Embedding(EmbedParameter(qualified, None, value.value))
    if isinstance(value, Bind):
        return Embedding(EmbedParameter(qualified, value.value))
    parser.embeds = True
    call = EmbedCall(qualified, dimensions, Node("ora.s(", value, ")"))
    parser.embed_calls.append(call)
    if any(isinstance(node, Column) or node.kind == "subquery" for node in walk(value)):
        return call
    return Node("(SELECT ", call, ")", type="vector")


def _prediction(parser: ExpressionParser, name: str) -> Node:
    """Read PREDICTION(model USING text AS DATA1, text AS DATA2) of a reranker: the pair is announced as one text."""
    owner, model, named_at = _model_using(parser, name)
    given: dict[str, Node] = {}
    while True:
        value = parser.expression()
        parser.need("AS")
        position, attribute = parser.token.position, parser.identifier()
        if attribute in given:
            raise OraError(957, "duplicate column name", position)
        given[attribute] = value
        if not parser.accept(","):
            break
    parser.need(")")
    if parser.names.model_dimensions(owner, model) is None:
        raise OraError(40284, "model does not exist", named_at)
    if parser.names.model_input(owner, model) != _PAIR:
        raise OraError(40290, "model incompatible with data mining function", named_at)
    if set(given) != set(_PAIR.split(",")):
        raise OraError(3001, "unimplemented feature: PREDICTION of other attributes than DATA1 and DATA2", position)
    parser.accesses.append(Access(owner, model, "SELECT", "MINING MODEL"))
    parser.embeds = True
    pair = Node("ora.pair(ora.s(", given["DATA1"], ")::text, ora.s(", given["DATA2"], ")::text)")
    score = Node(f"(ora.embed({quote_text(f'{owner}.{model}')}, 1, ", pair, ")::real[])[1]::float8", type="double")
    columns = any(
        isinstance(node, Column) or node.kind == "subquery" for value in given.values() for node in walk(value)
    )
    return score if columns else Node("(SELECT ", score, ")", type="double")


CALLS: dict[str, Callable[[ExpressionParser, str], Node]] = {
    "VECTOR_DISTANCE": _vector_distance,
    "COSINE_DISTANCE": _short_distance("<=>"),
    "L2_DISTANCE": _short_distance("<->"),
    "L1_DISTANCE": _short_distance("<+>"),
    "INNER_PRODUCT": _short_distance("<#>"),
    "HAMMING_DISTANCE": _short_distance("ora.hamming_distance"),
    "JACCARD_DISTANCE": _short_distance("ora.jaccard_distance"),
    "TO_VECTOR": _to_vector,
    "VECTOR": _to_vector,
    "FROM_VECTOR": _serialize,
    "VECTOR_SERIALIZE": _serialize,
    "VECTOR_NORM": _one_vector("ora.vector_norm"),
    "VECTOR_DIMS": _one_vector("ora.vector_dims"),
    "VECTOR_DIMENSION_COUNT": _one_vector("ora.vector_dims"),
    "VECTOR_DIMENSION_FORMAT": _format,
    "VECTOR_EMBEDDING": _embedding,
    "PREDICTION": _prediction,
    "DBMS_VECTOR_CHAIN.UTL_TO_EMBEDDING": chain_functions.embedding,
    "DBMS_VECTOR.UTL_TO_EMBEDDING": chain_functions.embedding,
    "VECTOR_CHUNKS": vector_chunks.call,
    **text_generation.CALLS,
}
