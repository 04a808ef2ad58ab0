"""Do the statements that matter use the index that was made for them? As EXPLAIN PLAN says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from oraclerag import index, plans
from oraclerag.claim import picking
from oraclerag.database import translated
from oraclerag.doctor.look import Look
from oraclerag.doctor.probe.measurement import Measured, Probe
from oraclerag.doctor.probe.scratch import Scratch
from oraclerag.errors import InputError
from oraclerag.model.active import active_model
from oraclerag.plans import PlanRow
from oraclerag.scope import Scope
from oraclerag.search.compose import compose
from oraclerag.search.request import SearchOptions, request

__all__ = ["PROBES", "with_literals"]

_FEW = 10_000  # chunks below which the optimizer may well prefer to read the table
_STATISTICS = "BEGIN DBMS_STATS.GATHER_TABLE_STATS('{owner}', '{table}'); END;"


def claim(look: Look, _: Scratch | None) -> Measured:
    """Explain what a claim picks rows with."""
    binds = {"lane": 0, "source_type": "task", "tenant_id": "-"}
    rows = _plan(look, picking(look.schema), binds)
    used = plans.uses(rows, "RAG_DIRTY_PICK_IDX")
    sorts = any(row.operation.startswith("SORT ORDER BY") for row in rows)
    figures = {"plan": _told(rows)}
    if used and not sorts:
        return Measured("ok", "A claim reads RAG_DIRTY_PICK_IDX in its order, and sorts nothing.", None, figures)
    return Measured(
        "fail",
        "A claim sorts what is due, and so locks all of it." if sorts else "A claim does not use RAG_DIRTY_PICK_IDX.",
        f"{_STATISTICS.format(owner=look.schema, table='RAG_DIRTY')} while rows wait; the hint in the statement is "
        "ignored where a SQL plan baseline or OPTIMIZER_IGNORE_HINTS says so.",
        figures,
    )


def codes(look: Look, _: Scratch | None) -> Measured:
    """Explain a search for what names an error code."""
    rows, chunks = _search(look, "ORA-00600", "EXACT")
    figures: dict[str, Any] = {"plan": _told(rows), "chunks": chunks}
    if plans.uses(rows, "RAG_CHUNK_ERROR_IDX"):
        return Measured("ok", "A search for an error code uses RAG_CHUNK_ERROR_IDX.", None, figures)
    if chunks < _FEW:
        return Measured("unknown", f"It does not, with {chunks:,} chunks, which tells nothing: reading them is cheap.",
                        "Look again when there are more.", figures)  # fmt: skip
    return Measured(
        "warn", f"A search for an error code among {chunks:,} chunks does not use RAG_CHUNK_ERROR_IDX.",
        _STATISTICS.format(owner=look.schema, table="RAG_CHUNK"), figures,
    )  # fmt: skip


def approximate(look: Look, _: Scratch | None) -> Measured:
    """Explain an approximate search."""
    if not index.status(look.database).usable:
        return Measured("unknown", "There is no usable vector index.", "`oraclerag index build`, then look again.")
    rows, chunks = _search(look, "late payments", "APPROX")
    access = plans.vector_access(rows, "RAG_CHUNK")
    figures: dict[str, Any] = {"plan": _told(rows), "chunks": chunks}
    if access.exact:
        return Measured(
            "warn", "An approximate search does not use the vector index.",
            _STATISTICS.format(owner=look.schema, table="RAG_CHUNK"), figures,
        )  # fmt: skip
    order = {None: "no filter", "PRE": "the scope before", "IN": "the scope within", "POST": "the scope behind"}
    return Measured(
        "ok", f"An approximate search uses {access.index} ({access.kind}), {order[access.filtering]}.", None, figures
    )


def _search(look: Look, question: str, kind: Any) -> tuple[list[PlanRow], int]:
    with look.database.connect() as connection:
        model = active_model(connection, look.schema)
    if model.provider is not None:
        raise InputError("The vector of a question is bound here, and there is no literal that its plan would be of.")
    scope = Scope(tenant=look.settings.tenant, manager=True)
    asked = request(question, scope, SearchOptions(), k=8, max_k=100)
    sent = compose(model, asked, question, kind=kind)
    count = look.row(look.sql["chunks"])
    return _plan(look, sent.text, sent.binds), int(count[0]) if count is not None else 0


def _plan(look: Look, statement: str, binds: Mapping[str, Any]) -> list[PlanRow]:
    """Explain a statement, with literals for its binds: their types matter to a plan."""
    with look.database.connect() as connection, connection.cursor() as cursor, translated():
        cursor.execute(f"EXPLAIN PLAN FOR {with_literals(statement, binds)}")
        cursor.execute(look.sql["plan"])
        return plans.read_display(line for (line,) in cursor)


def with_literals(statement: str, binds: Mapping[str, Any]) -> str:
    """Put numbers and texts of our own in the place of binds; what users say never comes here."""
    names = "|".join(sorted(map(re.escape, binds), key=len, reverse=True))
    return re.sub(rf":({names})\b", lambda found: _literal(binds[found[1]]), statement)


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    return repr(value) if isinstance(value, (int, float)) else "'" + str(value).replace("'", "''") + "'"


def _told(rows: Sequence[PlanRow]) -> str:
    return "; ".join(f"{row.operation} {row.name}".strip() for row in rows)


PROBES = (
    Probe("claim_index", "Does a claim use its index?", claim),
    Probe("code_index", "Does a search for an error code use the multivalue index?", codes),
    Probe(
        "vector_access", "Does an approximate search use the vector index, and when is the scope asked?", approximate
    ),
)
