"""How a process is told to end: SIGINT or SIGTERM once ends it after its batch, twice at once."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType, TracebackType

__all__ = ["Ending"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LOOK_FOR_PARENT = 1.0  # seconds


class Ending:
    """Says when to end, as ``threading.Event`` would; inside the ``with`` block signals say it.

    The first signal writes ``line()`` on stderr and calls ``on_told`` where that is set, the second raises
    KeyboardInterrupt, so that a batch is given back, and the third does what signals do. With ``parent``, a process id,
    it is also time to end when that process is gone.

    Not an Event: a signal is handled between any two steps of the main thread, which may just have locked the Event to
    wait on it. For the same reason the line is written past every buffer and handler.
    """

    def __init__(self, line: Callable[[], str | None], *, parent: int | None = None) -> None:
        self.on_told: Callable[[], None] | None = None
        self._line = line
        self._parent = parent
        self._told = False
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)

    def __enter__(self) -> Ending:
        self._before = {number: signal.signal(number, self._signalled) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._read)
        os.close(self._write)

    def is_set(self) -> bool:
        """Whether to end."""
        return self._told or (self._parent is not None and os.getppid() != self._parent)

    def wait(self, timeout: float) -> bool:
        """Wait so many seconds, or until it is time to end; gives whether it is."""
        end = time.monotonic() + timeout
        while not self.is_set() and (left := end - time.monotonic()) > 0:
            select.select([self._read], [], [], left if self._parent is None else min(left, _LOOK_FOR_PARENT))
        return self.is_set()

    def tell(self) -> None:
        """Make it time to end."""
        self._told = True
        with contextlib.suppress(BlockingIOError):  # full: it is readable already
            os.write(self._write, b".")
        if self.on_told is not None:
            self.on_told()

    def _signalled(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the interpreter's signature
        if self._told:
            for each in _SIGNALS:
                signal.signal(each, signal.SIG_DFL)
            raise KeyboardInterrupt
        line = self._line()
        if line is not None:
            with contextlib.suppress(OSError):  # nobody reads it
                os.write(sys.__stderr__.fileno() if sys.__stderr__ is not None else 2, (line + "\n").encode())
        self.tell()
