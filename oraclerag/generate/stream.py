"""An answer that is read while it is written."""

from __future__ import annotations

from collections.abc import Generator as Pieces
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from oraclerag.errors import InputError
from oraclerag.records import Generation

__all__ = ["Stream"]


class Stream(Iterator[str]):
    """An answer as it is written: iterating gives its pieces, and behind the last one ``generation`` is all of it.

    Whoever stops before the end closes it, or uses it in a ``with`` block; the connection is given up then. Iterating
    raises what the generator raises; the error's ``partial`` is the text that had come.
    """

    def __init__(self, pieces: Pieces[str, None, Generation]) -> None:
        self._pieces = pieces
        self._generation: Generation | None = None

    def __next__(self) -> str:
        try:
            return next(self._pieces)
        except StopIteration as end:
            if end.value is not None:
                self._generation = end.value
            raise

    @property
    def generation(self) -> Generation:
        """The whole answer. Raises InputError before the end."""
        if self._generation is None:
            raise InputError("The answer is not complete: it was not read to its end.")
        return self._generation

    def close(self) -> None:
        """Stop the answer where it is."""
        self._pieces.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
