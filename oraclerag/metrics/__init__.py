"""A worker's page of metrics, in the text format of Prometheus, and who serves it.

``recorder`` counts what this process does, ``figures`` reads from the database what waits (``refreshed`` in the
background), ``page`` writes both in the format of ``exposition``, ``server`` hands it out.
"""

from __future__ import annotations

from oraclerag.metrics.page import Page, served
from oraclerag.metrics.server import Address

__all__ = ["Address", "Page", "served"]
