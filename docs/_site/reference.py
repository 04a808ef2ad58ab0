"""The pages of the reference: made from the code, so that they cannot say anything else."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer.main

import oraclerag
from oraclerag import errors
from oraclerag.cli import app

_GENERATED = "This page is made from the code.\n\n"


def pages() -> dict[str, str]:
    """Give the pages of the reference by their names."""
    return {
        "commands": _commands(),
        "rag": f"# Rag\n\n{_GENERATED}::: oraclerag.Rag\n\n::: oraclerag.Scope\n\n::: oraclerag.SearchOptions\n",
        "records": _records(),
        "errors": _errors(),
        "integrations": "# Integrations\n\n"
        + _GENERATED
        + "".join(f"::: oraclerag.integrations.{name}\n\n" for name in ("fastapi", "langchain", "mcp", "alembic")),
    }


def _records() -> str:
    shown = sorted(set(oraclerag.__all__) - {"Rag", "Scope", "SearchOptions", "OracleRagError", "__version__"})
    return f"# Records\n\n{_GENERATED}" + "".join(f"::: oraclerag.{name}\n\n" for name in shown)


def _errors() -> str:
    rows = ["| Code | Class | Again? | What | What to do |", "| --- | --- | --- | --- | --- |"]
    for depth, kind in _tree(errors.OracleRagError, 0):
        what = (inspect.getdoc(kind) or "").partition("\n")[0]
        name = "&nbsp;" * 4 * depth + kind.__name__
        cells = (f"`{kind.code}`", name, "yes" if kind.retryable else "no", what, kind.default_hint or "")
        rows.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return (
        f"# Errors\n\n{_GENERATED}Every error is a subclass of the one above it that is indented less. `retryable` "
        "says whether the same call may succeed later, `hint` what to do; here stands the hint where none is given.\n\n"
        + "\n".join(rows)
        + "\n"
    )


def _tree(kind: type[errors.OracleRagError], depth: int) -> Iterator[tuple[int, type[errors.OracleRagError]]]:
    yield depth, kind
    for under in kind.__subclasses__():
        if under.__module__ == errors.__name__:
            yield from _tree(under, depth + 1)


def _commands() -> str:
    parts = [f"# Commands\n\n{_GENERATED}`oraclerag --config FILE` before any verb names the configuration.\n"]
    parts += [_command(words, command) for words, command in _leaves(("oraclerag",), typer.main.get_group(app))]
    return "\n".join(parts)


def _leaves(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    under = getattr(command, "commands", None)
    if under is None:
        yield words, command
        return
    context = typer.Context(command)
    for name in command.list_commands(context):
        if not under[name].hidden:
            yield from _leaves((*words, name), under[name])


def _command(words: tuple[str, ...], command: Any) -> str:
    context = typer.Context(command, info_name=" ".join(words))
    usage = " ".join([*words, *command.collect_usage_pieces(context)])
    lines = [f"## {' '.join(words[1:])}", "", f"```text\n{usage}\n```", "", inspect.cleandoc(command.help or ""), ""]
    rows = [found for parameter in command.params if (found := parameter.get_help_record(context)) is not None]
    if rows:
        lines += ["| Option | |", "| --- | --- |", *(f"| `{name}` | {_cell(text)} |" for name, text in rows), ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
