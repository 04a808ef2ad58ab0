"""The local database as a process of its own, in which embedding a batch costs nothing: what is left is our work.

A few texts at a time (the check of a model, a question) are embedded as ever.
"""

from __future__ import annotations

import contextlib
import sys
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

from oraclerag.local import LocalDatabase, models
from oraclerag.local.__main__ import main
from tests.benchmarks.own_process import started_by

__all__ = ["free_model_database"]

_VECTOR = array("f", [384**-0.5] * 384)
_FEW = 8


class FreeModels(models.OnnxModels):
    """Gives the same vector for every text of a batch."""

    def embed(self, digest: str, load: Callable[[], bytes], texts: Sequence[str]) -> list[array[float]]:
        """Embed a few texts; give a constant for many."""
        if len(texts) < _FEW:
            return super().embed(digest, load, texts)
        return [_VECTOR] * len(texts)


def free_model_database(directory: Path) -> contextlib.AbstractContextManager[LocalDatabase]:
    """Start it, and stop it at the end of the block."""
    return started_by(__name__, directory)


if __name__ == "__main__":
    models.OnnxModels = FreeModels  # type: ignore[misc]
    sys.exit(main())
