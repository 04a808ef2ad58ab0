"""Retrieval-augmented generation that lives inside Oracle Database 23ai/26ai."""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
