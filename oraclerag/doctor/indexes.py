"""Checks of what makes a search fast: the vector index and the memory it needs, the text index."""

from __future__ import annotations

from oraclerag import index
from oraclerag.doctor.finding import Verdict, fail, ok, unknown, warn
from oraclerag.doctor.look import Check, Look
from oraclerag.model.active import active_model

__all__ = ["CHECKS"]

_HNSW_OVERHEAD = 1.3  # memory of the graph beside its vectors
_FLOAT = 4  # bytes of a number


def vector_index(look: Look) -> list[Verdict]:
    """Look whether there is one, whether it is usable, and whether it is still what it was built as."""
    look.index = found = index.status(look.database)
    if problems := index.shortcomings(found):
        return [fail(problem.message, problem.hint) for problem in problems]
    state = f"{found.organization} {found.state}, " if found.exists else ""
    detail = f"{state}{found.chunks:,} chunks with a vector in {found.column}"
    if found.recommendation is not None:
        what, _, command = found.recommendation.partition(": ")
        return [warn(f"{detail}; {what}", f"Run {command}.")]
    return [ok(f"{detail}{'' if found.exists else '; no index, search is exact'}")]


def vector_memory(look: Look) -> Verdict:
    """Look how large the pool is that an HNSW index lives in."""
    found = look.index
    assert found is not None  # noqa: S101 - the check of the index is before
    with look.database.connect() as connection:
        dimensions = active_model(connection, look.schema).dimensions
    hnsw = found.organization == "HNSW"
    needed = found.chunks * dimensions * _FLOAT * _HNSW_OVERHEAD if hnsw else 0.0
    size = look.first_allowed("vector_pool", "vector_parameter")
    if size is None or size[0] is None:
        return unknown(
            "This database user may look neither at V$VECTOR_MEMORY_POOL nor at V$PARAMETER.",
            f"GRANT SELECT ON SYS.V_$VECTOR_MEMORY_POOL TO {look.user()}, as SYS or ADMIN.",
        )
    pool = float(size[0])
    detail = f"{_mega(pool)} of vector memory"
    if not hnsw:
        return ok(f"{detail}; {'an IVF index' if found.exists else 'exact search'} needs none")
    if look.row(look.sql["cloud_service"]) not in (None, (None,)):
        return ok(f"{detail}; an Autonomous Database sizes it by itself, the HNSW index takes about {_mega(needed)}")
    if pool < needed:
        return fail(
            f"{detail}, and the HNSW index over {found.chunks:,} chunks takes about {_mega(needed)}.",
            f"ALTER SYSTEM SET VECTOR_MEMORY_SIZE = {_mega(2.1 * needed).replace(' MB', 'M').replace(',', '')} "
            "SCOPE = SPFILE, as SYS in the root container, and restart; or `oraclerag index rebuild --type ivf`.",
        )
    if pool < 2.1 * needed:  # a repopulation holds two graphs for a while
        return warn(
            f"{detail}; the HNSW index takes about {_mega(needed)}, and twice that while it is populated anew",
            "Raise VECTOR_MEMORY_SIZE before there are more chunks (see docs/vector-index.md).",
        )
    return ok(f"{detail}; the HNSW index takes about {_mega(needed)}")


def _mega(size: float) -> str:
    return f"{-(-size // 2**20):,.0f} MB"


def text_index(look: Look) -> Verdict:
    """Look whether Oracle Text is there, and whether its index is usable and knows everything."""
    found = index.text_status(look.database)
    if not found.installed:
        return ok("Oracle Text is not installed: a hybrid search looks for its words in the nearest texts")
    if not found.exists:
        return ok("Oracle Text is there, and no text index (`oraclerag index build --lexical` builds one)")
    if not found.usable:
        return fail(
            f"The text index {found.name} is {found.state}, which blocks changes of RAG_CHUNK.",
            "Run `oraclerag index rebuild --lexical`, or `oraclerag index drop --lexical`.",
        )
    if found.pending:
        return warn(
            f"The text index does not know {found.pending:,} changed chunks yet.",
            "Run `oraclerag index sync`, if it stays.",
        )
    return ok(f"{found.name} VALID" + ("" if found.pending is None else ", knows every chunk"))


CHECKS = (
    Check(
        "vector_index", "Is the vector index usable, and is it still what it was built as?", vector_index,
        after=("model",), reads=("RAG_CHUNK",),
    ),
    Check(
        "vector_memory", "Is there memory enough for an HNSW index?", vector_memory, after=("vector_index",),
    ),
    Check(
        "text_index", "Is Oracle Text there, and does its index know every chunk?", text_index, after=("schema",),
    ),
)  # fmt: skip
