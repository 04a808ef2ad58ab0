"""What a trace file says about everything that follows: its header, and its ``***`` marks until the next of their kind.

A trace file is one process, not one session: module, action, service and container change in the middle of it.
"""

from __future__ import annotations

import re
from typing import Any

from oraclerag.chunk.diagnostics import erp
from oraclerag.chunk.diagnostics.dates import iso

__all__ = ["HEAD", "MARK", "Session", "is_mark"]

HEAD = re.compile(r"(?:Trace|Dump) file (?P<path>\S.*)$", re.ASCII)
_TIME = re.compile(
    r"\*\*\* (?P<ts>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)"
    r"(?: \((?P<con>[A-Za-z][A-Za-z0-9_$#]{0,127})?\((?P<con_id>\d+)\)\))?[ \t]*$",
    re.ASCII,
)
MARK = re.compile(
    r"\*\*\* (?P<key>SESSION ID|CLIENT ID|SERVICE NAME|MODULE NAME|ACTION NAME|CLIENT DRIVER|CONTAINER ID|CLIENT IP"
    r"|CONNECTION ID):\((?P<value>.*)\) (?P<ts>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\S*)",
    re.ASCII,
)
_NOTICE = re.compile(r"\*\*\* (?:TRACE CONTINU|TRACE FILE RECREATED|DUMP FILE SIZE IS LIMITED)")
_FIELD = re.compile(r"(?P<key>Instance name|Node name|Database name)(?: = |:)[ \t]*(?P<value>\S.*)$", re.ASCII)
# .../trace/<instance>_ora_<process>[_<identifier>].trc
_PATH_INSTANCE = re.compile(r"(?:.*[/\\])?(?P<instance>[A-Za-z0-9$#]{1,30})_[a-z0-9]{3,5}_\d+[^/\\]*\.trc$", re.ASCII)

_NAMES = {
    "Instance name": "instance",
    "Node name": "host",
    "Database name": "db_name",
    "MODULE NAME": "db_module",
    "ACTION NAME": "db_action",
    "SERVICE NAME": "db_service",
}
_VALUE = 256  # characters of a value that is kept


def is_mark(text: str) -> bool:
    """Whether a line says when, who, or that the file is continued, and nothing of a trace or dump itself."""
    if not text.startswith("*** "):
        return False
    return bool(_TIME.match(text) or MARK.match(text) or _NOTICE.match(text))


class Session:
    """The state of the session at a line of its trace."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}
        self._container_id: str | None = None

    @property
    def metadata(self) -> dict[str, Any]:
        """What is so far known to hold for the next line; a dictionary of the caller's own."""
        return dict(self._said)

    def header(self, text: str) -> None:
        """Take what a line of the header says."""
        if found := _FIELD.match(text):
            self._say(_NAMES[found["key"]], found["value"])
        elif (found := HEAD.match(text)) and (place := _PATH_INSTANCE.match(found["path"].rstrip()[-1000:])):
            self._say("instance", place["instance"])

    def mark(self, text: str) -> None:
        """Take what a ``***`` line says; any other line says nothing."""
        if not text.startswith("*** "):
            return
        if found := _TIME.match(text):
            self._say("timestamp", iso(found["ts"]) or found["ts"])
            if found["con_id"]:
                self._contain(found["con_id"], found["con"])
        elif found := MARK.match(text):
            self._say("timestamp", iso(found["ts"]) or found["ts"])
            if found["key"] == "CONTAINER ID":
                self._contain(found["value"], None)
            elif found["key"] in _NAMES:
                self._say(_NAMES[found["key"]], found["value"])

    def application(self, module: str, action: str) -> None:
        """Take what APPNAME says, the mark of module and action before 11g."""
        self._say("db_module", module)
        self._say("db_action", action)

    def _contain(self, number: str, name: str | None) -> None:
        if name is None and number == self._container_id:
            return  # its name is known already
        self._container_id = number
        self._say("container", name or number)

    def _say(self, name: str, value: str) -> None:
        value = value.strip()[:_VALUE]
        if value:
            self._said[name] = value
        else:
            self._said.pop(name, None)
        if name in ("db_module", "db_action"):
            self._business()

    def _business(self) -> None:
        """Say which module of E-Business Suite is at work: it marks its sessions ``e:SQLAP:cp:…``."""
        self._said.pop("erp_module", None)
        for name in ("db_action", "db_module"):
            if (module := erp.by_session(self._said.get(name, ""))) is not None:
                self._said["erp_module"] = module
