"""Which differences the statements of a server have touched: how many different statements, and when first.

Neither statements nor values are kept, only a number that tells them apart while the server runs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from oraclerag.local.engine.differences import TELLING_TYPES, Reading, touched_by
from oraclerag.local.engine.lexer import Token, tokenize

_COUNTED = 100_000  # statements per difference: beyond, the number stays
_PAUSE_SECONDS = 0.5


class Touched:
    """The differences touched since the server began, told to ``keep`` soon after there is something new.

    ``keep`` gets, per key of a difference, ``statements`` and ``first`` (seconds since 1970).
    """

    def __init__(self, keep: Callable[[Mapping[str, Mapping[str, float]]], None] | None = None) -> None:
        self._keep = keep
        self._guard = threading.Lock()
        self._statements: dict[str, set[int]] = {}
        self._first: dict[str, float] = {}
        self._timer: threading.Timer | None = None
        self._closed = False

    def read(self, sql: str, tokens: Sequence[Token]) -> None:
        """Look at a statement that is read for the first time."""
        self._add(touched_by(Reading(sql, tokens)), sql)

    def translated(self, sql: str, types: frozenset[str]) -> None:
        """Look at the types of the columns that a statement's tables have."""
        telling = types & TELLING_TYPES
        if telling:
            self._add(touched_by(Reading(sql, tokenize(sql), telling)), sql)

    def happened(self, key: str, sql: str) -> None:
        """Note a difference that is seen when it happens."""
        self._add((key,), sql)

    def summary(self) -> dict[str, dict[str, float]]:
        """Give what has been touched so far."""
        with self._guard:
            return {
                key: {"statements": len(statements), "first": self._first[key]}
                for key, statements in self._statements.items()
            }

    def close(self) -> None:
        """Tell for the last time."""
        with self._guard:
            self._closed = True
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            self._tell()

    def _add(self, keys: Iterable[str], sql: str) -> None:
        number = hash(sql)
        new = False
        with self._guard:
            for key in keys:
                known = self._statements.setdefault(key, set())
                self._first.setdefault(key, time.time())
                if number not in known and len(known) < _COUNTED:
                    known.add(number)
                    new = True
            if not new or self._keep is None or self._timer is not None or self._closed:
                return
            # A moment later: the statements of one start are one write.
            self._timer = threading.Timer(_PAUSE_SECONDS, self._later)
            self._timer.daemon = True
            self._timer.start()

    def _later(self) -> None:
        with self._guard:
            if self._timer is None:
                return
            self._timer = None
        self._tell()

    def _tell(self) -> None:
        if self._keep is not None:
            self._keep(self.summary())
