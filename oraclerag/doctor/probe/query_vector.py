"""Is the vector of a question computed once, or once for every row that it is compared with?

Seen by time: what a form of the statement takes longer than one with the vector as a bind is the embedding, and how
long one takes is known.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Mapping
from typing import Any

import oracledb

from oraclerag.database import Database, translated
from oraclerag.doctor.look import Look
from oraclerag.doctor.probe.measurement import Measured, Probe
from oraclerag.doctor.probe.scratch import Scratch
from oraclerag.model.active import active_model

__all__ = ["PROBE", "judged"]

ROWS = 200
_TRIES = 3
_QUESTION = "Which payments are late, and why?"
_SEPARATE = (
    'Set search.query_embedding = "separate" (ORACLERAG_QUERY_EMBEDDING): the vector is then computed before, in a '
    "round trip of its own."
)


def measure(look: Look, table: Scratch | None) -> Measured:
    """Time a search in the forms that it can have."""
    with look.database.connect() as connection:
        model = active_model(connection, look.schema)
    if model.provider is not None or table is None or table.dimensions is None:
        return Measured("unknown", "The database does not embed: vectors are bound.")
    names = {"model": model.sql_name, "scratch": table.sql_name}
    embed = look.sql.with_names("embed", model=model.sql_name)
    vector = _filled(look.database, look.sql.with_names("fill", scratch=table.sql_name), embed)
    question, given = {"text": _QUESTION}, {"question_vector": vector}
    times = {
        "embedding": _timed(look.database, embed, question),
        "bound": _timed(look.database, look.sql.with_names("nearest_bound", **names), given),
        "exact inline": _timed(look.database, look.sql.with_names("nearest_inline", **names), question),
        "exact subquery": _timed(look.database, look.sql.with_names("nearest_subquery", **names), question),
        "approximate inline": _timed(look.database, look.sql.with_names("nearest_approximate", **names), question),
    }
    return judged(times, ROWS)


def judged(times: Mapping[str, float], rows: int) -> Measured:
    """Say from times in seconds how often each form computes the vector."""
    one = max(times["embedding"], 1e-6)
    often = {
        form: max((times[form] - times["bound"]) / one, 0.0)
        for form in ("exact inline", "exact subquery", "approximate inline")
    }
    once = {form: count < max(rows / 10, 2) for form, count in often.items()}
    told = ", ".join(f"{form} {'once' if once[form] else 'for every row'}" for form in often)
    figures: dict[str, float | int | str] = {"rows": rows}
    figures |= {f"{name} ms": round(seconds * 1000, 2) for name, seconds in times.items()}
    figures |= {f"{form} times": round(count, 1) for form, count in often.items()}
    answer = f"The question's vector is computed: {told}."
    # what a search sends: EXACT with a subquery, APPROX inline
    if once["exact subquery"] and once["approximate inline"]:
        return Measured("ok", answer, None, figures)
    return Measured("warn", answer, _SEPARATE, figures)


def _filled(database: Database, insert: str, embed: str) -> array[float]:
    """Fill the table with one vector over and over; gives it."""
    with database.transaction() as connection, connection.cursor() as cursor, translated():
        cursor.execute(embed, text=_QUESTION)
        row = cursor.fetchone()
        assert row is not None  # noqa: S101 - dual has one row
        vector: array[float] = row[0]
        cursor.setinputsizes(vector=oracledb.DB_TYPE_VECTOR)
        cursor.executemany(insert, [{"id": number, "vector": vector} for number in range(ROWS)])
    return vector


def _timed(database: Database, statement: str, binds: Mapping[str, Any]) -> float:
    """Give the least time of a statement, in seconds, after it was run once."""
    taken = []
    with database.connect() as connection, connection.cursor() as cursor, translated():
        for _ in range(_TRIES + 1):
            begin = time.perf_counter()
            cursor.execute(statement, binds)
            cursor.fetchall()
            taken.append(time.perf_counter() - begin)
    return min(taken[1:])


PROBE = Probe(
    "query_vector", "Is the vector of a question computed once?", measure, writes=True
)  # fmt: skip
