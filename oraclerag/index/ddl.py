"""The statements that make the vector index. Names and numbers are literals that were checked: DDL takes no binds."""

from __future__ import annotations

from oraclerag.index.design import Design
from oraclerag.model.columns import index_name
from oraclerag.statements import identifier, quoted

__all__ = ["create", "drop", "rebuild_online"]


def create(schema: str, column: str, design: Design) -> str:
    """Give the CREATE VECTOR INDEX of a design over ``column`` of RAG_CHUNK."""
    owner = quoted(schema, "schema")
    included = f" INCLUDE ({', '.join(map(identifier, design.included))})" if design.included else ""
    organization = "INMEMORY NEIGHBOR GRAPH" if design.kind == "HNSW" else "NEIGHBOR PARTITIONS"
    indexed = f"{owner}.RAG_CHUNK ({identifier(column, 'vector column')})"
    lines = [
        f"CREATE VECTOR INDEX {owner}.{index_name(column)} ON {indexed}{included}",
        f"ORGANIZATION {organization} DISTANCE COSINE WITH TARGET ACCURACY {design.accuracy}",
    ]
    if design.partitions is not None:
        lines.append(f"PARAMETERS (TYPE IVF, NEIGHBOR PARTITIONS {design.partitions})")
    options = [f"PARALLEL {design.parallel}"] if design.parallel is not None else []
    options += ["ONLINE"] if design.online else []
    if options:
        lines.append(" ".join(options))
    return "\n".join(lines)


def rebuild_online(schema: str, column: str, parallel: int | None) -> str:
    """Give the ALTER INDEX by which 26ai builds an IVF index anew beside the old one, with its parameters."""
    degree = "" if parallel is None else f" PARALLEL {parallel}"
    return f"ALTER INDEX {quoted(schema, 'schema')}.{index_name(column)} REBUILD ONLINE{degree}"


def drop(schema: str, column: str) -> str:
    """Give the DROP INDEX."""
    return f"DROP INDEX {quoted(schema, 'schema')}.{index_name(column)}"
