"""A database answers as another one did: every call of a run is recorded on one and repeated on the other.

The demo on the local database is recorded, and repeated in an empty schema of an Oracle Database: where rows, types or
error numbers differ, the local database is wrong, or the demo relies on what Oracle does not do.
"""

from oraclerag.replay.comparison import Difference
from oraclerag.replay.recording import Call, Outcome, Recording, recording_pool
from oraclerag.replay.report import write_report
from oraclerag.replay.run import Replayed, replay
from oraclerag.replay.scratch import clear, contents, lent

__all__ = [
    "Call",
    "Difference",
    "Outcome",
    "Recording",
    "Replayed",
    "clear",
    "contents",
    "lent",
    "recording_pool",
    "replay",
    "write_report",
]
