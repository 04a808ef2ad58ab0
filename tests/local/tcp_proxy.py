"""A TCP proxy between clients and the local database that fails at a chosen round trip.

It knows no protocol: a round trip is what a client sends until the server answers, which is all that Oracle Net does
between the login and the farewell.
"""

from __future__ import annotations

import contextlib
import enum
import selectors
import socket
import struct
import threading
from dataclasses import dataclass, field
from types import TracebackType

_RECEIVE_SIZE = 256 * 1024
_RESET = struct.pack("ii", 1, 0)  # linger for no time: to close the socket is a RST


class Fault(enum.Enum):
    """What happens at a round trip.

    Before: the request does not reach the server. After: it does and is carried out, but the client never hears of it.
    A cut tells both ends, a hole nobody, as when a firewall forgets a connection.
    """

    CUT_BEFORE = "cut before"
    CUT_AFTER = "cut after"
    HOLE_BEFORE = "hole before"
    HOLE_AFTER = "hole after"


_BEFORE = frozenset({Fault.CUT_BEFORE, Fault.HOLE_BEFORE})
_HOLES = frozenset({Fault.HOLE_BEFORE, Fault.HOLE_AFTER})


@dataclass(eq=False, slots=True)
class _Line:
    """One client's connection. ``asked``: the client waits for an answer; ``due``: what happens at this round trip."""

    client: socket.socket
    server: socket.socket
    asked: bool = False
    due: Fault | None = None
    dark: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    def close(self, *, reset: bool) -> None:
        for end in (self.client, self.server):
            if reset:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            end.close()
        self.ended.set()


class Proxy:
    """Listens on a free port of the loopback address and hands on to the server of ``dsn``; a context manager.

    ``dsn`` is then what clients connect to; ``trips`` counts round trips since :meth:`fail_at`, over all connections;
    ``hit`` says whether the one that was to fail has come.
    """

    def __init__(self, dsn: str) -> None:
        address, _, service = dsn.partition("/")
        host, _, port = address.partition(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.dsn = f"127.0.0.1:{self._listener.getsockname()[1]}/{service}"
        self.trips = 0
        self.hit = False
        self._wanted = 0
        self._fault: Fault | None = None
        self._reset = False
        self._dark = False
        self._guard = threading.Lock()
        self._lines: set[_Line] = set()
        self._threads: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, name="proxy")
        self._accepting.start()

    def fail_at(self, trip: int, fault: Fault, *, reset: bool = False) -> None:
        """Begin to count anew, and fail once at the round trip of that number: the first is 1, and 0 never comes.

        ``reset``: a cut is a RST to both ends instead of a FIN.
        """
        with self._guard:
            self.trips, self.hit = 0, False
            self._wanted, self._fault, self._reset = trip, fault, reset

    def go_dark(self) -> None:
        """Swallow everything from now on, of new connections too: the network is gone and tells nobody."""
        self._dark = True

    def notice(self) -> None:
        """Hang up on the server for all clients, as if it had noticed that they are dead."""
        with self._guard:
            lines = list(self._lines)
        for line in lines:
            with contextlib.suppress(OSError):  # closed meanwhile
                line.server.shutdown(socket.SHUT_RDWR)
        for line in lines:
            line.ended.wait()

    def close(self) -> None:
        """Hang up on everybody and end all threads."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listener.close()
        self.notice()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Proxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            server = socket.create_connection(self._target)
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line = _Line(client, server)
            with self._guard:
                self._lines.add(line)
            thread = threading.Thread(target=self._serve, args=(line,), name="proxy-line")
            self._threads.append(thread)
            thread.start()

    def _serve(self, line: _Line) -> None:
        reset = False
        try:
            reset = self._hand_on(line)
        except OSError:  # an end was closed or reset
            pass
        finally:
            with self._guard:
                self._lines.discard(line)
            line.close(reset=reset)

    def _hand_on(self, line: _Line) -> bool:
        """Hand on until an end hangs up or the line fails; gives whether it is to be reset."""
        with selectors.DefaultSelector() as selector:
            selector.register(line.client, selectors.EVENT_READ)
            selector.register(line.server, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    from_client = key.fileobj is line.client
                    source, target = (line.client, line.server) if from_client else (line.server, line.client)
                    if from_client and (line.dark or self._dark):
                        selector.unregister(source)  # whatever it says, and that it hangs up, goes nowhere
                        line.dark = True
                        continue
                    data = source.recv(_RECEIVE_SIZE)
                    if not data:
                        return False
                    fault = self._meets(line, from_client=from_client)
                    line.dark = line.dark or self._dark or fault in _HOLES
                    if fault is not None and not line.dark:
                        return self._reset
                    if not line.dark:
                        target.sendall(data)

    def _meets(self, line: _Line, *, from_client: bool) -> Fault | None:
        """Give the fault that data meets, if any."""
        begins, answered = from_client and not line.asked, line.asked and not from_client
        line.asked = from_client
        if begins:
            with self._guard:
                self.trips += 1
                if self.trips == self._wanted:
                    line.due, self.hit = self._fault, True
        fault = line.due
        if (begins and fault in _BEFORE) or answered:
            line.due = None
            return fault
        return None
