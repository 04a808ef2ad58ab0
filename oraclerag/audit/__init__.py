"""Is the index equal to the sources? Every entity is rendered again and compared, without embedding anything.

What must hold once the queue is empty, as a command: the chunks of every entity are what rendering its present state
under the settings in force gives.
"""

from __future__ import annotations

from oraclerag.audit.run import audit

__all__ = ["audit"]
