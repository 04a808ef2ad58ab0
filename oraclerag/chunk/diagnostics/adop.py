"""Logs of patching E-Business Suite: adop with its phases, adpatch and the workers that run its jobs.

``[START …]`` and ``[END …]`` nest, and their names are the path of the section. An error's lines have no bracket before
them; what says it (``AutoPatch error:``, ``[UNEXPECTED]``) and what follows it to the next bracket are one unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from oraclerag.chunk.diagnostics import erp
from oraclerag.chunk.diagnostics.dates import iso
from oraclerag.chunk.diagnostics.gathering import Gathering
from oraclerag.chunk.diagnostics.lines import Line
from oraclerag.chunk.diagnostics.unit import Unit

__all__ = ["recognises", "units"]

_SPAN = re.compile(
    r"\s{0,40}(?:\[EVENT\]\s{0,8})?\[(?P<edge>START|END) {1,4}(?P<when>\d{4}/\d\d/\d\d \d\d:\d\d:\d\d)\]"
    r" ?(?P<what>.{0,200})",
    re.ASCII,
)
_LEVEL = re.compile(r"\s{0,40}\[(?P<level>STATEMENT|PROCEDURE|EVENT|WARNING|ERROR|UNEXPECTED)\]", re.ASCII)
_EXIT = re.compile(r"(?:\[?\w{0,12}\]? ?)?adop exiting with status = \d", re.ASCII)
_KEY = re.compile(r"\s{0,20}(?:ADOP Session ID|Session ID|Phase|Cycle|Node|Log file|Status) ?: ", re.ASCII)
_ERROR = re.compile(r"(?:AutoPatch|AD Administration|AutoConfig|adogjf\(\)) error:|ATTENTION: All workers ", re.ASCII)
_FAILED = re.compile(
    r"FAILED: file (?P<file>\S{1,80}) on worker {1,3}\d{1,3} for product {1,3}(?P<product>\w{2,8})", re.ASCII
)
_TIME = re.compile(r"(?:Start |End )?[Tt]ime is: (?P<when>.{10,40})$")
_RULE = re.compile(r"[-=*+#]{10,200}[ \t]*$", re.ASCII)
_DEEPEST = 8


def recognises(lines: list[str]) -> bool:
    """Whether phases or levels stand in brackets, or AutoPatch or a worker says how it went."""
    found = 0
    for line in lines:
        if _EXIT.match(line) or _ERROR.match(line) or _FAILED.match(line):
            return True
        level = _LEVEL.match(line)
        own = level is not None and level["level"] not in ("ERROR", "WARNING")  # those are of many programs
        found += bool(own or _SPAN.match(line) or _TIME.match(line))
        if found == 2:
            return True
    return False


def units(lines: Iterable[Line]) -> Iterator[Unit]:
    """Give the lines of the log; an error with all that is said of it."""
    unit = Gathering()
    path: list[str] = []
    error = False
    for line in lines:
        text = line.text
        span, level = _SPAN.match(text), _LEVEL.match(text)
        failed, wrong = _FAILED.match(text), _ERROR.match(text)
        alone = failed or wrong or _EXIT.match(text) or _TIME.match(text)
        if level is not None:
            # AutoPatch says its error behind adop's line about it.
            error = level["level"] in ("ERROR", "UNEXPECTED", "WARNING")
        if span is not None or level is not None or (alone and not (wrong and error)):
            yield from unit.unit()
            error = error if level is not None and span is None else wrong is not None
        elif not error and text.strip() and not text.startswith((" ", "\t")) and not _KEY.match(text):
            yield from unit.unit()
        if unit.full:
            yield from unit.unit()
        if span is not None and span["edge"] == "START":
            path.append(span["what"].strip() or "phase")
        unit.section = tuple(path[:_DEEPEST])
        if span is not None and span["edge"] == "END":
            _close(path, span["what"].strip())
        if failed is not None:
            unit.metadata["failed_file"] = failed["file"]
            if (module := erp.by_product(failed["product"])) is not None:
                unit.metadata["erp_module"] = module
        printed = (span and span["when"]) or ((stamp := _TIME.match(text)) and stamp["when"])
        if printed and (when := iso(printed)) is not None:
            unit.metadata["timestamp"] = when
        unit.add(line)
    yield from unit.unit()


def _close(path: list[str], what: str) -> None:
    """End a phase, and those in it that never said their end; one that never began ends nothing."""
    if what in path:
        while path.pop() != what:
            pass
