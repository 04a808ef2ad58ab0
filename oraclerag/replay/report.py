"""The report of a replay, as Markdown: what was seen on which database."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import oracledb

from oraclerag import __version__
from oraclerag.replay.run import Replayed

__all__ = ["write_report"]


def write_report(path: Path, replayed: Replayed, *, version: str) -> None:
    """Write what a replay found; ``version`` is the database's own word for itself. No account, no address."""
    differences = replayed.differences
    lines = [
        f"## Seen on {_cell(version)}",
        "",
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, oraclerag {__version__}, python-oracledb {oracledb.__version__}.",
        f"The demo, recorded on the local database and repeated: {replayed.calls:,} calls,",
        f"{replayed.statements:,} different statements.",
        "",
    ]
    if not differences:
        lines.append("No difference in rows, types or error numbers.")
    else:
        lines += [
            f"Answered otherwise: {len(differences)}. What follows the first may follow from it.",
            "",
            "| Call | Statement | What differs | Local database | Here |",
            "|---|---|---|---|---|",
        ]
        for found in differences:
            cells = (str(found.number), found.statement, found.what, found.recorded, found.replayed)
            lines.append(f"| {' | '.join(map(_cell, cells))} |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cell(text: str) -> str:
    """Show a text in one cell of a table, whatever is in it: control characters are escaped, nothing is markup."""
    shown = "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in " ".join(text.split()))
    for mark, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;"), ("`", "&#96;"), ("*", "&#42;")):
        shown = shown.replace(mark, entity)
    return shown.replace("_", "\\_").replace("[", "\\[")
