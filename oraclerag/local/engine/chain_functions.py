"""UTL_TO_EMBEDDING and UTL_TO_EMBEDDINGS of DBMS_VECTOR_CHAIN over binds, by a model that JSON names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oraclerag.local.engine import texts
from oraclerag.local.engine.cells import vector_elements
from oraclerag.local.engine.plan import ChainParameter
from oraclerag.local.engine.tree import Bind, Embedding, Node
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser

ROWS = ("DBMS_VECTOR_CHAIN.UTL_TO_EMBEDDINGS", "DBMS_VECTOR.UTL_TO_EMBEDDINGS")
COLUMN = "COLUMN_VALUE"

Embed = Callable[[str, Sequence[str]], Sequence[bytes]]
"""Gives the pgvectors of texts by a model, OWNER.NAME."""


def embedding(parser: ExpressionParser, name: str) -> Node:
    """Read a call of UTL_TO_EMBEDDING: one vector."""
    return Embedding(_read(parser, name, rows=False))


def embeddings(parser: ExpressionParser, name: str) -> Node:
    """Read a call of UTL_TO_EMBEDDINGS in FROM: rows of a CLOB of JSON each."""
    array = Embedding(_read(parser, name, rows=True))
    return Node(f'(SELECT embedded::ora.clob AS "{COLUMN}" FROM unnest(', array, ") AS embedded)")


def _read(parser: ExpressionParser, name: str, *, rows: bool) -> ChainParameter:
    parser.need("(")
    data = parser.expression()
    if not isinstance(data, Bind):
        parser.unsupported(f"{name} of anything but a bind")
    parser.need(",")
    wrapped = parser.at("JSON") and parser.peek().upper == "("
    if wrapped:
        parser.position += 2
    settings = parser.expression()
    if wrapped:
        parser.need(")")
    parser.need(")")
    owner = parser.names.user
    if isinstance(settings, Bind):
        return ChainParameter(data.value, owner, rows, settings_bind=settings.value)
    if settings.kind != "string":
        parser.unsupported(f"{name} with parameters that are neither a bind nor a literal")
    return ChainParameter(data.value, owner, rows, settings=settings.value)


def compute(
    parameter: ChainParameter, places: Mapping[str, int], rows: Sequence[Sequence[Any]], embed: Embed
) -> list[bytes | list[bytes] | None]:
    """Give the value of each bind row: a pgvector, or the JSON texts of the rows of UTL_TO_EMBEDDINGS.

    ORA-40284 when there is no such model, ORA-06553 when the data are no VECTOR_ARRAY_T; ORA-03001 for another
    provider than the database.
    """
    for name in filter(None, (parameter.bind, parameter.settings_bind)):
        if name not in places:
            raise OraError(1008, f"not all variables bound: :{name}")
    wanted: dict[str, dict[str, None]] = {}
    asked = []
    for row in rows:
        bound = parameter.settings if parameter.settings_bind is None else row[places[parameter.settings_bind]]
        model = _model(bound, parameter.owner)
        pieces = _pieces(row[places[parameter.bind]], rows=parameter.rows)
        wanted.setdefault(model, {}).update(dict.fromkeys(text for _, text in pieces or ()))
        asked.append((model, pieces))
    found = {
        (model, text): vector
        for model, distinct in wanted.items()
        for text, vector in zip(distinct, embed(model, list(distinct)), strict=True)
    }
    if not parameter.rows:
        return [found[model, pieces[0][1]] if pieces else None for model, pieces in asked]
    return [[_row(key, text, found[model, text]) for key, text in pieces or ()] for model, pieces in asked]


def _model(settings: Any, owner: str) -> str:
    if isinstance(settings, str):
        try:
            settings = json.loads(settings)
        except ValueError:
            raise OraError(40441, "JSON syntax error") from None
    if not isinstance(settings, dict) or not isinstance(settings.get("model"), str):
        raise OraError(3001, "unimplemented feature: parameters without a model (nor would Oracle take them)")
    provider = settings.get("provider", "database")
    if str(provider).lower() != "database":
        raise OraError(3001, f"unimplemented feature: embeddings by the provider {provider}")
    schema, _, name = settings["model"].upper().rpartition(".")
    if schema not in ("", owner):
        raise OraError(3001, "unimplemented feature: a model of another user in the parameters of DBMS_VECTOR_CHAIN")
    return f"{owner}.{name}"


def _pieces(data: Any, *, rows: bool) -> list[tuple[str, str]] | None:
    """Give numbers and texts of what is to be embedded; None for no text."""
    if not rows:
        return [("", str(data))] if data not in (None, "") else None
    if not isinstance(data, list):
        raise OraError(6553, "PLS-306: wrong number or types of arguments in call to 'UTL_TO_EMBEDDINGS'")
    pieces = []
    for place, chunk in enumerate(data, 1):
        try:
            fields = json.loads(chunk)
            text = fields["chunk_data"]
        except (ValueError, TypeError, KeyError):
            raise OraError(
                3001, f"unimplemented feature: element {place} is no chunk as UTL_TO_CHUNKS gives it"
            ) from None
        if not isinstance(text, str) or not text:
            raise OraError(3001, f"unimplemented feature: the chunk in element {place} has no text")
        pieces.append((str(fields.get("chunk_id", place)), text))
    return pieces


def _row(key: str, text: str, vector: bytes) -> bytes:
    shown = texts.vector_text(vector_elements(vector))
    return json.dumps({"embed_id": key, "embed_data": text, "embed_vector": shown}, ensure_ascii=False).encode()
