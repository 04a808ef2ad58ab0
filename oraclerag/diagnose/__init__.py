"""A report of Oracle → what it says, what is known of that, and the cited way out; then the way back into the index.

In the order of the flow (:mod:`run`): the report is read (:mod:`reading`); :mod:`findings` and :mod:`waits` say what
stands in it; :mod:`analysis` is what it is about, also made :mod:`by_model`; :mod:`matching` finds cases, notes and
other reports; :mod:`path` asks for the way out of it; :mod:`diagnosis` is what comes of all that, and :mod:`command`
keeps what resolved it.
"""

from __future__ import annotations

from oraclerag.diagnose.analysis import Analysis
from oraclerag.diagnose.diagnosis import Diagnosis
from oraclerag.diagnose.findings import Findings, FoundError
from oraclerag.diagnose.matching import Match
from oraclerag.diagnose.run import Around, Asked, diagnose
from oraclerag.diagnose.waits import FoundWait

__all__ = ["Analysis", "Around", "Asked", "Diagnosis", "Findings", "FoundError", "FoundWait", "Match", "diagnose"]
