"""The report that is to be diagnosed: a file, a stream or a text, brought to the text that is read."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass, field
from typing import BinaryIO

from oraclerag.chunk.diagnostics.secrets import masked
from oraclerag.errors import InputError
from oraclerag.ingest.find import STANDARD_INPUT, find
from oraclerag.ingest.text import Refused, known_encoding, read

__all__ = ["Given", "read_report"]

_LONGEST_PATH = 4096


@dataclass(frozen=True, slots=True)
class Given:
    """A report: its text, unpacked and decoded, secrets masked; its name in the index, if it is to have one.

    ``path`` and ``stream`` are what it can be ingested from.
    """

    text: str = field(repr=False)
    name: str | None
    path: str
    data: bytes | None = field(default=None, repr=False)

    @property
    def stream(self) -> BinaryIO | None:
        """What stands for standard input where the report is no file."""
        return None if self.data is None else io.BytesIO(self.data)


def read_report(
    report: str | os.PathLike[str] | BinaryIO, *, name: str | None, encoding: str | None, max_bytes: int
) -> Given:
    """Read a report: a path is a file, a str is the text itself, and what has ``read`` gives bytes.

    Unpacks gzip and makes HTML readable, as ingest does. Raises InputError where it cannot be read, and where a str
    seems to be meant as a path.
    """
    codec = None if encoding is None else known_encoding(encoding)
    data: bytes | None = None
    if isinstance(report, str):
        _refuse_path(report)
        data, codec = report.encode("utf-8", "replace"), "utf-8"
    elif not isinstance(report, os.PathLike):
        if not callable(getattr(report, "read", None)):
            raise InputError(f"A report is a path, a text or a binary stream, not {type(report).__name__}.")
        data = report.read(max_bytes + 1)
        if not isinstance(data, bytes):
            raise InputError("A report is read from a binary stream; a text is given as it is.")
    elif os.path.isdir(report):  # noqa: PTH112 - any PathLike
        raise InputError("A report is one file; this is a folder.")
    path = STANDARD_INPUT if data is not None else os.fspath(report)  # type: ignore[arg-type]  # no stream has no data
    given = find([path], "diagnostics", root=None, name=name or ("report" if data is not None else None))
    if len(given.files) != 1:
        raise InputError("A report is one file that can be read.")
    try:
        text = read(given.files[0], None if data is None else io.BytesIO(data), max_bytes=max_bytes, encoding=codec)
    except Refused as refused:
        raise InputError(f"The report cannot be diagnosed: {refused.reason}.") from None
    named = given.files[0].name if data is None or name is not None else None
    return Given(masked(text.body), named, path, data)


def _refuse_path(text: str) -> None:
    """Refuse a text that names a file: it would be diagnosed as a report of one line."""
    if not text.strip():
        raise InputError("The report is empty.")
    if len(text) <= _LONGEST_PATH and "\n" not in text and "\0" not in text and os.path.exists(text):  # noqa: PTH110
        raise InputError(
            "A report that is given as a text is the name of a file.", hint="A file is given as a Path: Path(…)."
        )
