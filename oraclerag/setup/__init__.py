"""What a new database needs: what is not there yet (``rehearse``), and the scripts for a DBA (``scripts``)."""

from __future__ import annotations

from oraclerag.setup.rehearse import Step, rehearse
from oraclerag.setup.scripts import Names, Script, scripts, whole, write

__all__ = ["Names", "Script", "Step", "rehearse", "scripts", "whole", "write"]
