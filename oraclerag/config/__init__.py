"""The configuration: ``settings`` (one table of all of them), ``sources`` (what is indexed), ``reading``, ``rules``.

Nothing here talks to a database.
"""

from __future__ import annotations

from oraclerag.config.settings import Settings
from oraclerag.config.sources import RESERVED_SOURCES, ChildSettings, SourceSettings, parse_source, table_entries

__all__ = ["RESERVED_SOURCES", "ChildSettings", "Settings", "SourceSettings", "parse_source", "table_entries"]
