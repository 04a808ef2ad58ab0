"""The statement log: one JSON line per round trip, with what ran and how much, never with values."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oraclerag.local.interface import BindType

logger = logging.getLogger(__name__)

# The new password, or its hash, and the old one; what is not closed goes to the end.
_WORD = r"""("[^"]*"?|'[^']*'?|[^\s;]+)"""
_SECRET = re.compile(rf"(\bIDENTIFIED\s+BY\s+(?:VALUES\s+)?){_WORD}(?:(\s+REPLACE\s+){_WORD})?", re.IGNORECASE)
# What CREATE_CREDENTIAL is given: in JSON, and where JSON is made of names and values.
_HELD = re.compile(
    r"""((?:["'](?:access_token|private_key|password)["']\s*(?:[:,]|VALUE\b)|\bpassword\s*=>)\s*)("[^"]*"?|'[^']*'?)""",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Trip:
    """One round trip: the call, and for statements the text, bind types, rows bound and rows that came of it.

    ``rows`` were fetched in this trip, changed, or are 0; ``error`` is the ORA number, 0 for success.
    """

    call: str
    sql: str | None = None
    binds: Sequence[BindType] = ()
    bound: int = 0
    rows: int = 0
    error: int = 0


class StatementLog:
    """Appends trips to a file, or to none, and counts them. Safe for threads; every line is flushed."""

    def __init__(self, path: Path | None) -> None:
        self._file = path.open("a", encoding="utf-8") if path is not None else None
        self._lock = threading.Lock()
        self._trips = 0

    @property
    def round_trips(self) -> int:
        """Number of requests that were answered so far, over all sessions."""
        return self._trips

    def add(self, session: int, trip: Trip) -> None:
        """Record a trip of a session."""
        with self._lock:
            self._trips += 1
            if self._file is not None:
                try:
                    self._file.write(json.dumps(self._line(session, trip), ensure_ascii=False) + "\n")
                    self._file.flush()
                except OSError as error:  # a full disk: no reason to end sessions
                    logger.warning("the statement log ends here: %s", error.strerror)
                    self._give_up()

    def _line(self, session: int, trip: Trip) -> dict[str, Any]:
        line: dict[str, Any] = {"trip": self._trips, "session": session, "call": trip.call}
        if trip.sql is not None:
            line["sql"] = _HELD.sub(r"\1***", _SECRET.sub(_without_passwords, trip.sql))
            line["binds"] = [_describe(bind) for bind in trip.binds]
            line["bound"] = trip.bound
            line["rows"] = trip.rows
        if trip.error:
            line["error"] = trip.error
        return line

    def close(self) -> None:
        """Close the file; later trips are only counted."""
        with self._lock:
            self._give_up()

    def _give_up(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):  # what could not be written cannot be written now either
                file.close()


def _without_passwords(match: re.Match[str]) -> str:
    return f"{match[1]}***" + (f"{match[3]}***" if match[3] else "")


def _describe(bind: BindType) -> str:
    text = bind.type.name
    if bind.size and bind.type.name in ("VARCHAR", "CHAR", "RAW", "LONG", "LONG_RAW"):
        text += f"({bind.size})"
    return f"{text}[{bind.elements}]" if bind.elements else text
