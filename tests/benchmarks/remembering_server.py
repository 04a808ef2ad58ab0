"""The local database as a process of its own that remembers, from run to run, what it has embedded.

Some thousand texts take minutes. Their vectors are kept in the system's temporary folder; everything else is done anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

from oraclerag.local import LocalDatabase, models
from oraclerag.local.__main__ import main
from tests.benchmarks.own_process import started_by

__all__ = ["FILE", "RememberingModels", "remembering_database"]

FILE = Path(tempfile.gettempdir()) / "oraclerag-benchmarks" / "vectors-384"
"""Records of a key (16 bytes) and a vector of 384 FLOAT32."""

_KEY = 16
_RECORD = _KEY + 384 * 4


class RememberingModels(models.OnnxModels):
    """Embeds a text of a batch once for all runs."""

    def __init__(self) -> None:
        super().__init__()
        FILE.parent.mkdir(mode=0o700, exist_ok=True)
        data = FILE.read_bytes() if FILE.is_file() else b""
        starts = range(0, len(data) - _RECORD + 1, _RECORD)  # a last one that was not written in full is left out
        self._known = {data[at : at + _KEY]: data[at + _KEY : at + _RECORD] for at in starts}
        os.truncate(FILE, len(starts) * _RECORD) if data else FILE.touch(mode=0o600)

    def embed(self, digest: str, load: Callable[[], bytes], texts: Sequence[str]) -> list[array[float]]:
        """Embed what is not known; the questions of a search among it."""
        keys = [self.key(digest, text) for text in texts]
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        made = super().embed(digest, load, list(unknown.values()))
        if any(len(vector) != 384 for vector in made):  # the tiny models of other benchmarks
            return super().embed(digest, load, texts)
        found = {key: vector.tobytes() for key, vector in zip(unknown, made, strict=True)}
        with FILE.open("ab") as file:
            file.write(b"".join(key + vector for key, vector in found.items()))
        self._known |= found
        return [array("f", self._known[key]) for key in keys]

    @staticmethod
    def key(digest: str, text: str) -> bytes:
        """Name a text and the model that reads it."""
        return hashlib.blake2b(f"{digest} {text}".encode(), digest_size=_KEY).digest()


def remembering_database(directory: Path) -> contextlib.AbstractContextManager[LocalDatabase]:
    """Start it, and stop it at the end of the block."""
    return started_by(__name__, directory)


if __name__ == "__main__":
    models.OnnxModels = RememberingModels  # type: ignore[assignment,misc]
    sys.exit(main())
