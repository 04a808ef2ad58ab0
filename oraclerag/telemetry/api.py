"""Whether anybody is told anything by OpenTelemetry."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from types import ModuleType
from typing import Literal

__all__ = ["SCOPE", "exports"]

SCOPE = "oraclerag"
"""The name of what is instrumented."""

# What these name is made by the API itself, when it is first asked: then it is loaded by us too.
_NAMED = any(os.environ.get(f"OTEL_PYTHON_{kind}_PROVIDER") for kind in ("TRACER", "METER"))

_PROVIDERS = {"opentelemetry.trace": "get_tracer_provider", "opentelemetry.metrics": "get_meter_provider"}
# What stands for the provider until there is one; it passes nothing on.
_UNSET = frozenset({"ProxyTracerProvider", "_ProxyMeterProvider"})


def exports(module: Literal["opentelemetry.trace", "opentelemetry.metrics"]) -> bool:
    """Whether the program has said where to what a module of the API makes goes: it has set a provider.

    A program that exports has imported the API before it asks us anything, so what is not in ``sys.modules`` is not
    looked for: the API alone would take longer to import than most searches take. Other libraries import it without
    any provider, and what is made then reaches nobody.
    """
    api = sys.modules.get(module) or (_imported(module) if _NAMED else None)
    provider = getattr(api, _PROVIDERS[module], None)  # None as long as another thread is importing it
    return provider is not None and type(provider()).__name__ not in _UNSET


@functools.cache
def _imported(module: str) -> ModuleType | None:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None
