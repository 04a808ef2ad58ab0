"""Notices when PostgreSQL dies under the local database, and says so.

A connection that does nothing is held open: PostgreSQL ends it when one of its processes is killed (then it recovers
by itself, and all sessions were ended) or when it dies as a whole.
"""

from __future__ import annotations

import logging
import select
import socket
import threading
from collections.abc import Callable

from psycopg import pq

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.1
_NO_ANSWERS = 5  # one alone may be the moment between two


class Lifeline:
    """Watches on a thread of its own until it is closed.

    ``died`` is called, once, when PostgreSQL is no more; ``last_words`` gives what it wrote before.
    """

    def __init__(self, conninfo: str, died: Callable[[], None], last_words: Callable[[], str]) -> None:
        self._conninfo = conninfo.encode()
        self._died = died
        self._last_words = last_words
        self._wake, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._watch, name="postgres-lifeline", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching."""
        self._wake.send(b"\0")
        self._thread.join()
        self._wake.close()
        self._woken.close()

    def _watch(self) -> None:
        while True:
            connection = pq.PGconn.connect(self._conninfo)
            try:
                if connection.status == pq.ConnStatus.OK:
                    woken = self._woken.fileno()
                    if woken in select.select([connection.socket, woken], [], [])[0]:
                        return
            finally:
                connection.finish()
            if not self._outlives_it():
                return

    def _outlives_it(self) -> bool:
        """Wait until PostgreSQL answers again; False when it is dead, or nobody wants to know any more."""
        silent = 0
        while silent < _NO_ANSWERS:
            if select.select([self._woken], [], [], _POLL_SECONDS)[0]:
                return False
            found = pq.PGconn.ping(self._conninfo)
            if found == pq.Ping.OK:
                logger.warning("PostgreSQL lost a process and has recovered: all sessions were ended (ORA-03113)")
                return True
            silent = silent + 1 if found == pq.Ping.NO_RESPONSE else 0
        logger.error(
            "PostgreSQL has ended without being asked to: all sessions were ended (ORA-03113). %s", self._last_words()
        )
        self._died()
        return False
