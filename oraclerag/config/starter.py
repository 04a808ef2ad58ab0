"""The file that ``oraclerag init`` writes: the settings a newcomer needs, each with its default as a comment.

Names, defaults and bounds are those of the table of settings, the sentences those of docs/settings.md; nothing is
written twice.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from oraclerag.config.settings import Settings
from oraclerag.errors import InputError
from oraclerag.statements import root

__all__ = ["SECTIONS", "sentences", "text", "write"]

SECTIONS = {
    "database": "Where the database is, and who connects. The environment may say it as well: ORACLE_DSN, ORACLE_USER.",
    "embedding": "The model that turns texts into vectors. `oraclerag provision` fetches and builds ALL_MINILM_L6_V2 "
    "by itself; the default is loaded from Oracle's own file (docs/models.md).",
    "worker": "Whatever keeps the index up to date: `oraclerag worker`.",
    "search": "`oraclerag search`, rag.search",
    "ask": "`oraclerag ask`, rag.ask: what of the sources an answer is made from",
    "generate": "Who writes the answers.",
    "searches": "The log of what was asked.",
}
"""Sections of the file in their order, with a sentence."""

# What stands where a setting has no default; all of them together are a valid configuration.
_EXAMPLES: dict[str, Any] = {
    "database.dsn": "localhost:1521/FREEPDB1",
    "database.user": "rag_app",
    "generate.base_url": "http://localhost:11434/v1",
    "generate.model": "llama3.2",
    "searches.keep_days": 365,
}

_BEGIN = """\
# Settings of oraclerag, written by `oraclerag init`. A line such as #name = value shows a default (or an example, where
# it says so): take the # away to set it. The environment wins over this file. Passwords and keys belong there:
# ORACLE_PASSWORD, ORACLE_WALLET_PASSWORD, and the variables that settings called api_key_env name.
# Every setting, its variable and its bounds: docs/settings.md.
"""
_SOURCE = """\
# What is indexed. `oraclerag source init TABLE --write` proposes a source for a table of yours and adds it here; by
# hand it looks like this. Who may see a row has no default: "shared", everybody of the tenant, or "owner", the person
# in that column, and managers.
#[source.task]
#select = "select id as source_id, title, body, owner_id from task"
#template = "{{ title }}\\n{{ body }}"
#title = "title"
#visibility = "owner"
#owner = "owner_id"
#[source.task.tables]
#task = "id"
"""

_LINK = re.compile(r"\[([^\]]+)\]\(([^)#]*)(?:#[^)]*)?\)")
_WIDTH = 118


def text() -> str:
    """Give the text of the file."""
    return "\n".join(_lines())


def write(file: Path, *, force: bool = False) -> None:
    """Write the file; raises InputError where there is one already, unless ``force`` says that it may go."""
    if file.exists() and not force:
        raise InputError(
            f"{str(file)!r} is there already; nothing was written.",
            hint="Name another one with --file, or replace it with --force.",
        )
    with file.open("w" if force else "x", encoding="utf-8", newline="\n") as out:
        out.write(text())


def sentences() -> dict[str, str]:
    """Give what docs/settings.md says of every setting, without Markdown's links."""
    found = {}
    for line in (root("docs") / "settings.md").read_text("utf-8").partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|", 4)]
        if cells[0].startswith("`"):
            found[cells[0].strip("`")] = _LINK.sub(_plain, cells[4])
    return found


def _plain(link: re.Match[str]) -> str:
    shown, target = link.groups()
    return f"docs/{target}" if shown == target else shown


def _lines() -> Iterator[str]:
    said = sentences()
    fields = {item.metadata["path"]: item for item in dataclasses.fields(Settings) if item.metadata}
    yield _BEGIN
    yield from _setting("tenant", fields["tenant"], said)
    for section, sentence in SECTIONS.items():
        yield ""
        yield from _comment(sentence)
        yield f"[{section}]"
        for path, item in fields.items():
            if path.rpartition(".")[0] == section:
                yield from _setting(path, item, said)
    yield ""
    yield _SOURCE.rstrip("\n")
    yield ""


def _setting(path: str, item: dataclasses.Field[Any], said: dict[str, str]) -> Iterator[str]:
    """Give the lines of a setting: what it is, and its default; a secret is only named."""
    name, low, high = path.rpartition(".")[2], item.metadata["low"], item.metadata["high"]
    about = said.get(path, "")
    more = [] if low is None else [f"{low:g} to {high:.0f}"]
    if not item.repr:
        more.append(f"not here: {item.metadata['env']} in the environment")
    value = item.default
    if value is None and path in _EXAMPLES:
        value = _EXAMPLES[path]
        more.append("no default, an example")
    bounds = f" ({'; '.join(more)})" if more else ""
    if not item.repr or value is None:
        yield from _comment(f"{name}: {about}{bounds}" if about or bounds else f"{name}")
        return
    if about or bounds:
        yield from _comment(f"{about}{bounds}".strip())
    shown = f"{value:g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
    yield f"#{name} = {shown}"


def _comment(words: str) -> Iterator[str]:
    line = "#"
    for word in words.split():
        if len(line) + len(word) >= _WIDTH:
            yield line
            line = "#"
        line += f" {word}"
    yield line
