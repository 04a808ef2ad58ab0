"""A proposal as the block of a configuration file: settings, and their reasons as comments."""

from __future__ import annotations

import json
from collections.abc import Iterator

from oraclerag.propose.names import plain_text
from oraclerag.propose.proposal import COLUMNS, Proposal

__all__ = ["block", "template_path"]

_WIDTH = 118
_LEFT_OUT = 40  # lines


def template_path(name: str) -> str:
    """Give where the template of a source stands, beside the configuration."""
    return f"templates/{name}.j2"


def block(proposal: Proposal) -> str:
    """Write the ``[source.NAME]`` of a proposal; it is valid TOML, and what must be decided is a comment in it."""
    return "\n".join(_lines(proposal)) + "\n"


def _lines(proposal: Proposal) -> Iterator[str]:
    settings, name = proposal.settings, proposal.name
    yield from _comment(
        f"Proposed by `oraclerag source init` for {proposal.table}, from the data dictionary. What has a reason above "
        f"it is a guess: look at it."
    )
    yield f"[source.{name}]"
    yield from _reasons(proposal, "key")
    yield from _reasons(proposal, "select")
    yield f"select = {_text(settings['select'])}"
    if "key" in settings:
        yield f"key = {_list(settings['key'])}"
    yield f"template = {_short(template_path(name))}"
    yield ""
    if proposal.open:
        yield from _comment(
            "Who may see a row stands in no dictionary. Choose one; until then `oraclerag source check`, and every "
            "other command that reads this file, says so and ends."
        )
        yield '#visibility = "shared"  # everybody of the tenant'
        if "owner" in settings:
            yield f'#visibility = "owner"   # the person in {plain_text(settings["owner"])}, and managers'
        else:
            yield '#visibility = "owner"   # a person, and managers; say in which column with owner = "…"'
    else:
        yield f"visibility = {_short(settings['visibility'])}"
    for setting in COLUMNS:
        yield from _reasons(proposal, setting)
        if setting in settings:
            yield f"{setting} = {_short(settings[setting])}"
    yield from _reasons(proposal, "metadata")
    if "metadata" in settings:
        yield f"metadata = {_list(settings['metadata'])}"
    for note in proposal.notes:
        yield from _comment(note)
    for what, reason in list(proposal.left_out.items())[:_LEFT_OUT]:
        yield from _comment(f"Left out: {what}: {reason}.")
    if len(proposal.left_out) > _LEFT_OUT:
        yield from _comment(f"Left out: {len(proposal.left_out) - _LEFT_OUT} more.")
    yield from _tables(proposal)


def _tables(proposal: Proposal) -> Iterator[str]:
    children = proposal.settings.get("children", {})
    for child, parts in children.items():
        yield ""
        reason = next(one.reason for one in proposal.guesses if one.setting == "children" and one.value == child)
        yield from _comment(f"{reason[0].upper()}{reason[1:]}.")
        yield f"[source.{proposal.name}.children.{child}]"
        yield f"select = {_text(parts['select'])}"
        yield f"order_by = {_short(parts['order_by'])}"
    entries = proposal.settings.get("tables", {})
    if entries:
        yield ""
        yield from _comment("Whose changes concern which rows: columns with the id, or queries over the changed row.")
        yield f"[source.{proposal.name}.tables]"
        for table, entry in entries.items():
            key = table if table.replace("_", "").isalnum() and table.isascii() else _short(table)
            yield f"{key} = {_list(entry) if isinstance(entry, list) else _short(entry)}"


def _reasons(proposal: Proposal, setting: str) -> Iterator[str]:
    for guess in proposal.guesses:
        if guess.setting == setting and guess.taken:
            what = (
                f"{guess.value}: "
                if setting == "select"
                else f"key {guess.value}: "
                if setting == "key"
                else f"{setting}: "
            )
            yield from _comment(f"{what}{guess.reason}.")
    too = " too" if proposal.reasons(setting) else ""
    for guess in proposal.others(setting):
        yield from _comment(f"{setting} could be {guess.value}{too}: {guess.reason}.")


def _comment(text: str) -> Iterator[str]:
    """Give a comment of TOML, at as many lines as it takes."""
    line = "#"
    for word in plain_text(text).split(" "):
        if len(line) + len(word) >= _WIDTH and line != "#":
            yield line
            line = "#"
        line += f" {word}"
    yield line


def _short(text: str) -> str:
    """Give a text as TOML has it: a string of JSON is one, but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(texts: list[str]) -> str:
    return f"[{', '.join(map(_short, texts))}]"


def _text(text: str) -> str:
    """Give a text of several lines: only the ends of lines stand as they are."""
    if "\n" not in text and len(text) < _WIDTH - 10:
        return _short(text)
    lines = (_short(line)[1:-1].replace('\\"', '"') for line in text.split("\n"))
    inside = "\n".join(lines)
    return f'"""\n{inside}\n"""' if '"""' not in inside else _short(text)
