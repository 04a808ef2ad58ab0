"""Spans and measurements: for OpenTelemetry, where the program has set a provider, and for a listener of this process.

Without either nothing is made and nothing is imported. ``spans`` are steps as traces have them, ``instruments`` what
is measured.

Attributes name and count things of the installation (models, sources, plans, codes of errors). A question, a text, a
key, a tenant, an owner or the value of a filter is never among them, and no message of an error.
"""

from __future__ import annotations

from oraclerag.telemetry.instruments import INSTRUMENTS, Instrument, Listener, add, listening, observe
from oraclerag.telemetry.spans import Attributes, Span, enclosing, error_type, span, spanned, step, stepping

__all__ = [
    "INSTRUMENTS",
    "Attributes",
    "Instrument",
    "Listener",
    "Span",
    "add",
    "enclosing",
    "error_type",
    "listening",
    "observe",
    "span",
    "spanned",
    "step",
    "stepping",
]
