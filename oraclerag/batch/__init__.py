"""What a batch is made of, beside its flow, which is ``drain``.

``state`` is what a worker remembers from batch to batch and what a batch has done so far, ``provided`` the vectors that
a provider makes for it, ``events`` what is told of it: to the log, and as measurements.
"""

from __future__ import annotations

from oraclerag.batch.events import tell, tell_failed, tell_paused, tell_written
from oraclerag.batch.provided import Provided, refusal
from oraclerag.batch.state import Tally, WorkerState

__all__ = ["Provided", "Tally", "WorkerState", "refusal", "tell", "tell_failed", "tell_paused", "tell_written"]
