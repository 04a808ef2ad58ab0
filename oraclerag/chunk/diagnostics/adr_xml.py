"""Logs of the ADR in XML (``log.xml``): the alert log's and the listener's, a message after the other.

Such a file has no root element and may hold characters that XML forbids, so no parser of XML reads it: a message is the
lines from ``<msg`` to the next. Messages that belong together are joined as in the alert log, where the same process
wrote them.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from oraclerag.chunk.diagnostics import alert_log, listener
from oraclerag.chunk.diagnostics.alert_entries import Entry, joined
from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_OPEN = "<msg "
_TIME = re.compile(r"<msg time='([^']{19,40})'", re.ASCII)
_ATTRIBUTE = re.compile(r"\b(comp_id|pid|con_id|con_name)='([^']{0,200})'", re.ASCII)
_RETURNED = re.compile(r" \* [1-9]\d{0,4}[ \t]{0,8}$", re.ASCII)
_NET_CODE = re.compile(r"\s{0,8}TNS-\d{5}:", re.ASCII)
_LINES = 100
_CHARACTERS = 16_000


def recognises(lines: list[str]) -> bool:
    """Whether a message begins near the top."""
    return any(_TIME.match(line) for line in lines[:50])


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the messages."""
    entries = _entries(lines)
    first = next(entries, None)
    if first is None:
        return
    component, entry = first
    rest = (entry for _, entry in entries)
    if component == "tnslsnr":
        yield from map(_of_listener, joined(itertools.chain((entry,), rest), _wanted))
    else:
        yield from alert_log.sectioned(joined(itertools.chain((entry,), rest)))


def _entries(lines: Iterable[Line]) -> Iterator[tuple[str | None, Entry]]:
    """Read messages with the component that wrote each; a long one is given in parts."""
    entry, component, tag, text = Entry(), None, False, False
    for line in lines:
        raw = line.text
        begins = raw.startswith(_OPEN)
        if begins or len(entry.lines) >= _LINES or entry.characters >= _CHARACTERS:
            if entry.lines:
                yield component, entry
            entry = Entry(when=entry.when, prefix=entry.prefix, writer=entry.writer)
        if begins:
            found = _TIME.match(raw)
            entry = Entry(when=iso(found[1]) if found else None, begins=True)
            tag, text = True, False
        if tag:
            component = _described(entry, raw, component)
            tag = not raw.rstrip().endswith(">")
            entry.add(line, "")
            continue
        said = raw
        if not text and (at := raw.find("<txt>")) >= 0:
            text, said = True, raw[at + 5 :]
        closed = text and "</txt>" in said
        if closed:
            said = said[: said.index("</txt>")]
        entry.add(line, html.unescape(said) if text else "")
        text = text and not closed
    if entry.lines:
        yield component, entry


def _described(entry: Entry, tag: str, component: str | None) -> str | None:
    """Take the attributes of a line of an opening tag; give the component."""
    for name, value in _ATTRIBUTE.findall(tag[:4000]):
        if name == "comp_id":
            component = value
        elif name == "pid":
            entry.writer = value
        elif name == "con_name" or entry.prefix is None:
            entry.prefix = value or None
    return component


def _wanted(entry: Entry) -> re.Pattern[str] | None:
    """Give what belongs to a line of the listener that returned a code: its text, in the next message."""
    return _NET_CODE if _RETURNED.search(entry.last[-16:]) and len(entry.lines) < _LINES else None


def _of_listener(entry: Entry) -> Unit:
    said: dict[str, Any] = {}
    for text in entry.texts:
        if " * " in text:
            said |= listener.described(text)
    if entry.when is not None:
        said["timestamp"] = entry.when
    return Unit.of(entry.lines, (listener.hour(entry.when),) if entry.when else (), metadata=said)
