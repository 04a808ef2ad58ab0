"""A small catalog for tests of the translation: some tables, a sequence, a model."""

from __future__ import annotations

from oraclerag.local.engine.plan import Names

TABLES: dict[str, tuple[tuple[str, str], ...]] = {
    "T": (
        ("ID", "NUMBER"),
        ("A", "NUMBER"),
        ("B", "VARCHAR2"),
        ("D", "DATE"),
        ("TS", "TIMESTAMP(6)"),
        ("C", "CLOB"),
        ("J", "JSON"),
        ("N", "NUMBER"),
    ),
    "U": (("ID", "NUMBER"), ("T_ID", "NUMBER"), ("B", "VARCHAR2")),
    "TV": (("ID", "NUMBER"), ("V", "VECTOR"), ("G", "VARCHAR2")),
}


def names() -> Names:
    """Give the questions a translation may ask; the model is RAG.M with 3 dimensions."""
    return Names(
        user="RAG",
        model_dimensions=lambda owner, name: 3 if (owner, name) == ("RAG", "M") else None,
        columns=lambda schema, table: TABLES.get(table) if schema == "RAG" else None,
    )
