"""Hands out one page over HTTP, in a thread of its own, to whoever asks; nobody who asks can do the worker harm.

A request has five seconds, eight kilobytes and no body. There are 32 connections; one more closes the oldest, so that
who sends slowly keeps nobody out. A hundred are taken in a second, and every answer ends its connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http import HTTPStatus

from oraclerag import log
from oraclerag.errors import ConfigurationError
from oraclerag.metrics.exposition import CONTENT_TYPE

__all__ = ["Address", "serving"]

_log = logging.getLogger(__name__)

PATH = "/metrics"

_SECONDS = 5.0  # from the first byte to the last
_ENDING = 10.0  # seconds for the thread to end: a page that is being written waits two for the database
_LINGER = 1.0  # seconds for who has been answered to close
_GOOD = 1.0  # seconds for which a page is handed out again
_MOST_HEAD = 8192  # bytes of a request
_MOST = 32  # connections at a time
_BETWEEN = 0.01  # seconds between two of them
_WAITING = 128  # connections that the system keeps until they are taken
_PLAIN = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the page is: the name or number of an interface of this machine, and a port (0: any that is free)."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{PATH}"


@contextlib.contextmanager
def serving(page: Callable[[], str], address: Address) -> Iterator[Address]:
    """Serve what ``page`` gives inside the block; gives the address. Raises ConfigurationError where it is not free."""
    listening = _listening(address)
    here = Address(address.host, listening.getsockname()[1])
    server = _Server(page, listening)
    thread = threading.Thread(target=server.run, name="oraclerag-metrics", daemon=True)
    thread.start()
    log.event(_log, logging.INFO, "serving", f"Metrics are at {here}.")
    try:
        yield here
    finally:
        server.stop()
        thread.join(_ENDING)


def _listening(address: Address) -> socket.socket:
    try:
        family, _, _, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(place[:2], family=family, backlog=_WAITING)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no name of a host"
        raise ConfigurationError(
            f"Nobody can listen at {address.host} port {address.port}: {reason}.",
            hint="--metrics-port names a port that is free, --metrics-host an interface of this machine.",
        ) from error


class _Server:
    def __init__(self, page: Callable[[], str], listening: socket.socket) -> None:
        self._page = page
        self._listening = listening
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        self._open: dict[asyncio.Task[None], None] = {}  # oldest first
        self._told = False
        self._writing = asyncio.Lock()
        self._written = float("-inf")
        self._last = ""

    def run(self) -> None:
        with contextlib.closing(self._loop), self._listening:
            self._loop.run_until_complete(self._serve())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())

    def stop(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            self._loop.call_soon_threadsafe(self._ended.set)

    async def _serve(self) -> None:
        self._listening.setblocking(False)
        accepting = self._loop.create_task(self._accept())
        await self._ended.wait()
        left = [accepting, *self._open]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _accept(self) -> None:
        """Take connections, few in a second: the others wait in the system, where they cost the worker nothing."""
        while True:
            try:
                connection, _ = await self._loop.sock_accept(self._listening)
            except OSError:  # no file can be opened at present, or who came has gone
                await asyncio.sleep(_LINGER)
                continue
            if len(self._open) >= _MOST:
                oldest = next(iter(self._open))
                del self._open[oldest]
                oldest.cancel()
            task = self._loop.create_task(self._answered(connection))
            self._open[task] = None
            task.add_done_callback(functools.partial(self._close, connection))
            await asyncio.sleep(_BETWEEN)

    def _close(self, connection: socket.socket, task: asyncio.Task[None]) -> None:
        """Close the connection of a task; one that was cancelled before it began has not done it itself."""
        self._open.pop(task, None)
        connection.close()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._tell(error)

    def _tell(self, error: BaseException) -> None:
        """Say of a mistake of ours where it is, once: whoever asks decides how often it is made."""
        if not self._told:
            self._told = True
            name = type(error).__name__
            message = f"A request for the page of metrics ended unforeseen ({name})."
            log.event(_log, logging.ERROR, "crashed", message, error_code=name, where=log.where(error.__traceback__))

    async def _answered(self, connection: socket.socket) -> None:
        with contextlib.suppress(TimeoutError, OSError):
            reader, writer = await asyncio.open_connection(sock=connection, limit=_MOST_HEAD)
            try:
                writer.transport.set_write_buffer_limits(0)  # drained is sent
                async with asyncio.timeout(_SECONDS):
                    writer.write(await self._answer(reader))
                    await writer.drain()
                    writer.write_eof()
                # An unread byte at the close would make the system throw away what has been sent.
                async with asyncio.timeout(_LINGER):
                    for _ in range(8):
                        if not await reader.read(_MOST_HEAD):
                            break
            finally:
                writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader) -> bytes:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return _response(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        except asyncio.IncompleteReadError:
            return _response(HTTPStatus.BAD_REQUEST)
        words = head.split(b"\r\n", 1)[0].split(b" ")
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            return _response(HTTPStatus.BAD_REQUEST)
        method, target, _ = words
        if target.partition(b"?")[0] != PATH.encode():
            return _response(HTTPStatus.NOT_FOUND)
        if method not in (b"GET", b"HEAD"):
            return _response(HTTPStatus.METHOD_NOT_ALLOWED, "Allow: GET, HEAD\r\n")
        try:
            text = await self._text()
        except Exception as error:  # noqa: BLE001 - whatever it is, it ends this request and nothing else
            self._tell(error)
            return _response(HTTPStatus.INTERNAL_SERVER_ERROR)
        return _response(HTTPStatus.OK, content_type=CONTENT_TYPE, body=text, with_body=method == b"GET")

    async def _text(self) -> str:
        """Give the page as it was within the last second: who asks more often costs the worker next to nothing."""
        async with self._writing:
            if self._loop.time() - self._written >= _GOOD:
                self._last = await self._loop.run_in_executor(None, self._page)
                self._written = self._loop.time()
                self._told = False
            return self._last


def _response(
    status: HTTPStatus, more: str = "", *, content_type: str = _PLAIN, body: str | None = None, with_body: bool = True
) -> bytes:
    content = (f"{status.phrase}\n" if body is None else body).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(content)}\r\nCache-Control: no-store\r\nConnection: close\r\n{more}\r\n"
    )
    return head.encode() + (content if with_body else b"")
