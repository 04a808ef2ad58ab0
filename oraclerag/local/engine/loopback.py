"""A JSON request to an address on this machine, and nowhere else: no proxy, no redirect, no more than so many bytes.

The session's thread waits for the answer and asks its client all the while whether to stop.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from oraclerag.local.engine.texts import json_text
from oraclerag.local.interface import OraError

__all__ = ["MAX_ANSWER", "Answer", "post"]

MAX_ANSWER = 16 * 1024 * 1024
"""The most bytes of an answer that are read."""

_LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))
_LOCALHOST = ("127.0.0.1", "::1")  # whatever a file of hosts says
_PATIENCE = 0.02  # seconds between two looks at the client
_PARTING = 1.0  # seconds; who is still connecting then goes on alone


@dataclass(slots=True)
class Answer:
    """What came back: a status, and the body up to the limit."""

    status: int
    body: bytes = field(repr=False)


class _Request:
    """One request in a thread of its own, so that whoever waits for it can give it up."""

    def __init__(self, host: str, port: int, path: str, headers: dict[str, str], body: bytes, seconds: float) -> None:
        self.done = threading.Event()
        self.answer: Answer | None = None
        self.error: OSError | http.client.HTTPException | None = None
        self._connection = http.client.HTTPConnection(host, port, timeout=seconds)
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(
            target=self._run, args=(path, headers, body), name="oraclerag-loopback", daemon=True
        )
        self._thread.start()

    def _run(self, path: str, headers: dict[str, str], body: bytes) -> None:
        try:
            self._connection.connect()
            self._socket = self._connection.sock  # the connection forgets it when an answer is to be its last
            self._connection.request("POST", path, body, headers)
            with contextlib.closing(self._connection.getresponse()) as response:
                self.answer = Answer(response.status, response.read(MAX_ANSWER + 1))
        except (OSError, http.client.HTTPException) as error:
            self.error = error
        finally:
            self._connection.close()
            self.done.set()

    def give_up(self) -> None:
        """End the connection; the thread, which waits for it, ends too."""
        if self._socket is not None:
            with contextlib.suppress(OSError):  # closed
                self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(_PARTING)


def post(url: str, tree: Any, *, token: str | None, seconds: float, heed: Callable[[], None]) -> Answer:
    """Send JSON to an address on loopback and give what it answers within ``seconds``.

    ``heed`` raises when the client asks to stop. Raises OraError: 3001 for an address that is not on this machine,
    29276 for one that does not answer in time, 29273 for one that cannot be reached.
    """
    parts, addresses = _addresses(url)
    path = parts.path or "/"
    if parts.query:
        path += f"?{parts.query}"
    headers = {"Host": parts.netloc, "Content-Type": "application/json", "Accept": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    body = json_text(tree).encode()
    deadline = time.monotonic() + seconds
    refused: Exception | None = None
    for address in addresses:
        request = _Request(address, parts.port or 80, path, headers, body, seconds)
        try:
            while not request.done.wait(_PATIENCE):
                heed()
                if time.monotonic() > deadline:
                    raise OraError(29276, "transfer timeout")
        finally:
            request.give_up()
        if request.answer is not None:
            return request.answer
        refused = request.error
        if isinstance(refused, TimeoutError):
            raise OraError(29276, "transfer timeout")
        if not isinstance(refused, ConnectionRefusedError):
            break
    nobody = isinstance(refused, ConnectionRefusedError)
    cause = "ORA-12541: No listener" if nobody else "ORA-29259: end-of-input reached"
    raise OraError(29273, f"HTTP request failed\n{cause}")


def _addresses(url: str) -> tuple[urllib.parse.SplitResult, tuple[str, ...]]:
    """Take an address apart, and give what to connect to. Only this machine, and no name is looked up."""
    try:
        parts = urllib.parse.urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise OraError(29261, "bad argument: the url is none") from None
    if parts.scheme != "http":
        raise OraError(3001, "unimplemented feature: a url that does not begin with http://")
    if not url.isascii() or not url.isprintable() or " " in url or "@" in parts.netloc:
        raise OraError(29261, "bad argument: the url is none")
    if host == "localhost":
        return parts, _LOCALHOST
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host)
        if any(address in network for network in _LOOPBACK):
            return parts, (host,)
    raise OraError(3001, "unimplemented feature: a url that is not of this machine (localhost, 127.0.0.1, ::1)")
