"""Everything that can be wrong with an installation, each with what to type; ``status`` is the short list of it.

A check looks at one thing and gives a verdict (``finding``); ``examination`` makes them all, in the order in which one
would look, and is ended by none. ``session`` and ``instance`` look at the database, ``installation`` and ``rights`` at
what was set up, ``embedding`` and ``indexes`` at what a search needs, ``backlog`` at the queue, ``contents`` at what is
indexed, ``outside`` at who else is asked. ``probe`` measures what documentation does not say.
"""

from __future__ import annotations

from oraclerag.doctor.examination import CHECKS, examine
from oraclerag.doctor.finding import DoctorReport, Finding
from oraclerag.doctor.look import MAX_LAG, Check
from oraclerag.doctor.probe import Measurement, measure, write_record

__all__ = ["CHECKS", "MAX_LAG", "Check", "DoctorReport", "Finding", "Measurement", "examine", "measure", "write_record"]
