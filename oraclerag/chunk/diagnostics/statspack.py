"""Statspack reports: like AWR reports as text, with a hash value where those have a SQL_ID."""

from __future__ import annotations

import re

from oraclerag.chunk.diagnostics.awr_text import units

__all__ = ["recognises", "units"]

_REPORT = re.compile(r"STATSPACK report for")
_REPORT_WITHIN = 30


def recognises(lines: list[str]) -> bool:
    """Whether this is a Statspack report."""
    return any(_REPORT.match(line.lstrip()) for line in lines[:_REPORT_WITHIN])
