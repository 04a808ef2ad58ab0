"""``init``: a configuration file to begin with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from oraclerag.cli.options import Json, configuration, output

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("init")(init)


def init(
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="Where (default: oraclerag.toml here).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    json: Json = False,
) -> None:
    """Write a commented oraclerag.toml.

    Every setting stands there with its default as a comment; secrets belong into the environment.
    """
    from oraclerag.config.starter import write

    screen = output(json)
    path = file or configuration.get() or Path(os.environ.get("ORACLERAG_CONFIG") or "oraclerag.toml")
    replaced = path.exists()
    write(path, force=force)
    if json:
        screen.data({"file": str(path), "replaced": replaced})
    else:
        screen.say(f"{path} was {'replaced' if replaced else 'written'}; nothing in it is set yet.")
        screen.say("Next: `oraclerag source init TABLE` proposes a source for a table, `oraclerag provision` the rest.")
