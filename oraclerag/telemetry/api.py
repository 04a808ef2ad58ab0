"""Whether the API of OpenTelemetry is there to be told anything."""

from __future__ import annotations

import functools
import importlib
import os
import sys

__all__ = ["SCOPE", "loaded"]

SCOPE = "oraclerag"
"""The name of what is instrumented."""

# What these name is made by the API itself, when it is first asked: then it is loaded by us too.
_NAMED = any(os.environ.get(f"OTEL_PYTHON_{kind}_PROVIDER") for kind in ("TRACER", "METER"))


def loaded(module: str) -> bool:
    """Whether a module of the API is loaded.

    A program that exports traces has imported ``opentelemetry.trace`` before it asks us anything, so what is not in
    ``sys.modules`` is not looked for: the API alone would take longer to import than most searches take.
    """
    return sys.modules.get(module) is not None or (_NAMED and _imported(module))


@functools.cache
def _imported(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True
