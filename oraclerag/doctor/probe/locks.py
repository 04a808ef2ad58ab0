"""Which rows does a fetch lock? Two sessions on one table tell."""

from __future__ import annotations

from collections.abc import Sequence

from oraclerag.database import translated
from oraclerag.doctor.look import Look
from oraclerag.doctor.probe.measurement import Measured, Probe
from oraclerag.doctor.probe.scratch import Scratch

__all__ = ["PROBE"]

_FIRST = 1_000  # ids that no other probe writes
_ROWS = 10
_FETCHED = 3


def measure(look: Look, table: Scratch | None) -> Measured:
    """Fetch some of the rows in one session, and see in another which are free."""
    assert table is not None  # noqa: S101 - it writes
    ids = list(range(_FIRST, _FIRST + _ROWS))
    statement = look.sql.with_names("lock_in_order", scratch=table.sql_name)
    with look.database.transaction() as connection, connection.cursor() as cursor, translated():
        cursor.executemany(look.sql.with_names("fill_ids", scratch=table.sql_name), [{"id": number} for number in ids])
    with look.database.connect() as one, one.cursor() as cursor, translated():
        cursor.arraysize = cursor.prefetchrows = _FETCHED
        cursor.execute(statement, first=_FIRST)
        fetched = [row[0] for row in cursor.fetchmany(_FETCHED)]
        with look.database.connect() as other, other.cursor() as second:
            second.arraysize = second.prefetchrows = _ROWS + 1
            second.execute(statement, first=_FIRST)
            free = [row[0] for row in second.fetchall()]
            other.rollback()
        one.rollback()
    return judged(ids, fetched, free)


def judged(ids: Sequence[int], fetched: Sequence[int], free: Sequence[int]) -> Measured:
    """Say what is locked: all but what another session gets."""
    locked = sorted(set(ids) - set(free))
    figures = {"rows": len(ids), "fetched": len(fetched), "locked": len(locked)}
    if locked == sorted(fetched):
        return Measured("ok", f"A fetch of {len(fetched)} of {len(ids)} rows locks these {len(locked)}.", None, figures)
    return Measured(
        "fail" if len(locked) < len(fetched) else "warn",
        f"A fetch of {len(fetched)} of {len(ids)} rows locks {len(locked)}.",
        "Workers then hold one another up, or claim the same: run one worker, and report it with this record.",
        figures,
    )


PROBE = Probe("fetch_locks", "Which rows does a fetch of a claim lock?", measure, writes=True)
