"""Enqueue what the index lacks: entities it does not have, has from other settings, or has though they are gone.

The database compares and enqueues; nothing of it travels. What is enqueued is in lane 1, behind the changes of users,
in slices that are committed: an interrupted backfill is simply run again. It also puts a source's settings in force:
from then on, workers that were deployed with other ones leave the source alone.
"""

from __future__ import annotations

from oraclerag.backfill.coverage import coverage
from oraclerag.backfill.dry_run import Sample, estimate
from oraclerag.backfill.run import backfill, backfill_at_start

__all__ = ["Sample", "backfill", "backfill_at_start", "coverage", "estimate"]
