"""The log: events with fields, through the standard logging module, and how the command line writes them.

An event is one line. What happened is its ``action``, where is its ``component`` (the module); the rest are fields of
the record (``extra``), so that a program's own handlers and formatters see them. Fields name things (tenant, source,
id) and count them (chunks, tokens, milliseconds); source text, prompts and secrets are never among them, and what came
from data has its control characters escaped.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import logging
import sys
import traceback
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, get_args

__all__ = ["FORMATS", "Format", "JsonLines", "Level", "TextLines", "event", "now", "shown", "where"]

Format = Literal["text", "json"]
Level = Literal["debug", "info", "warning", "error"]
FORMATS: Sequence[str] = get_args(Format)

FIELDS = (
    "tenant", "collection", "source_type", "source_id", "lane", "rows", "indexed", "unchanged", "deleted", "postponed",
    "dead", "given_back", "gone", "total", "chunks", "tokens", "attempts", "milliseconds", "seconds", "error_code",
    "hint", "where", "workers", "worker", "exit_code",
)  # fmt: skip
"""What an event may say beside component and action, in the order in which it is written."""

# Control and format characters, surrogates, unassigned ones, separators of lines and paragraphs: what a terminal, or
# a reader of lines, would obey.
_UNSEEN = ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")


def event(logger: logging.Logger, level: int, action: str, message: str, **fields: Any) -> None:
    """Log one event; a field that is None is left out.

    The component is the part of the logger's name after the package's. ``message`` is a sentence for people; it and
    texts in fields are escaped here, so whatever formatter comes last, they stay on one line.
    """
    if not logger.isEnabledFor(level):
        return
    unknown = fields.keys() - set(FIELDS)
    if unknown:
        raise KeyError(f"{min(unknown)} is no field of an event")
    extra = {name: _plain(value) for name in FIELDS if (value := fields.get(name)) is not None}
    component = logger.name.removeprefix("oraclerag.").partition(".")[0]
    logger.log(level, "%s", escaped(message), extra={"component": component, "action": action, **extra}, stacklevel=2)


def now(moment: float | None = None) -> str:
    """Give a time (seconds since 1970; default: this one) in UTC as ISO 8601 with milliseconds and ``Z``."""
    at = dt.datetime.now(dt.UTC) if moment is None else dt.datetime.fromtimestamp(moment, dt.UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def where(trace: TracebackType | None) -> str:
    """Say where an exception went through, innermost first: files, lines and functions, no code and no values."""
    frames = reversed(traceback.extract_tb(trace))
    return " < ".join(f"{'/'.join(Path(f.filename).parts[-2:])}:{f.lineno} {f.name}" for f in frames)


def escaped(text: str) -> str:
    r"""Write control characters and their like as ``\x1b`` or ``\u202e``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(char) if unicodedata.category(char) in _UNSEEN else char for char in text)


def _escaped(char: str) -> str:
    code = ord(char)
    if char in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _plain(value: object) -> object:
    if isinstance(value, bool | int | float):
        return value
    return escaped(str(value))


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    """Give the fields of an event; of anything else that was logged, where it comes from and what was raised."""
    found = {name: getattr(record, name) for name in ("component", "action", *FIELDS) if hasattr(record, name)}
    if record.exc_info and record.exc_info[0] is not None:
        # The text of an exception may repeat data; its type and its way do not.
        found["error_code"] = record.exc_info[0].__name__
        found["where"] = escaped(where(record.exc_info[2]))
    return found


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON in ASCII: time (UTC), level, logger, pid, message, then its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Give the line."""
        line = {
            "time": now(record.created),
            "level": record.levelname,
            "logger": record.name,
            "pid": record.process,
            "message": escaped(record.getMessage()),
        }
        return json.dumps(line | _fields(record), default=str)


class TextLines(logging.Formatter):
    """Writes a record as one line for people: time (UTC), level, component and action, message, ``name=value``."""

    def format(self, record: logging.LogRecord) -> str:
        """Give the line."""
        fields = _fields(record)
        name = ".".join(str(fields.pop(part)) for part in ("component", "action") if part in fields) or record.name
        values = [f"{field}={escaped(_quoted(value))}" for field, value in fields.items()]
        return " ".join([now(record.created), f"{record.levelname:<7}", name, escaped(record.getMessage()), *values])


def _quoted(value: object) -> str:
    text = str(value)
    return text if text and not any(char in ' "=' for char in text) else json.dumps(text, ensure_ascii=False)


_FORMATTERS: dict[str, type[logging.Formatter]] = {"text": TextLines, "json": JsonLines}


@contextlib.contextmanager
def shown(form: Format, level: Level) -> Iterator[logging.Formatter]:
    """Write the log on stderr inside the block: ours from ``level`` on, what others log from WARNING on.

    Gives the formatter, for whoever must write a line past the handler.
    """
    root, ours = logging.getLogger(), logging.getLogger("oraclerag")
    formatter = _FORMATTERS[form]()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    before = ours.level
    root.addHandler(handler)
    ours.setLevel(level.upper())
    try:
        yield formatter
    finally:
        ours.setLevel(before)
        root.removeHandler(handler)
