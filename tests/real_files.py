"""Reports and pages of others, which tests go through where they are at hand.

They are not ours to publish, so none is in the repository: they lie in ``tests/samples``, which git ignores, or in the
folder that ORACLERAG_SAMPLES names.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = ["PAGES", "REPORTS", "needs"]

_SAMPLES = Path(os.environ.get("ORACLERAG_SAMPLES") or Path(__file__).with_name("samples"))

REPORTS = _SAMPLES / "diagnostics"
"""What Oracle's programs have written."""

PAGES = _SAMPLES / "kb"
"""Folders of Markdown."""


def needs(path: Path) -> pytest.MarkDecorator:
    """Skip a test where a file or folder is not at hand."""
    return pytest.mark.skipif(not path.exists(), reason=f"{path.name} is not at hand")
