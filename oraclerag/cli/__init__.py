"""The command line: verbs → methods of :class:`oraclerag.Rag`. No SQL, no logic.

Data goes to stdout, messages to stderr. Exit codes: 0 done, 1 failed (a sentence, the cause, the remedy), 2 usage,
3 unhealthy. Nothing heavy is imported before a verb runs, so that ``--help`` is fast.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from oraclerag import __version__
from oraclerag.cli import (
    ask,
    audit,
    backfill,
    chunk,
    demo,
    deploy,
    diagnose,
    doctor,
    evaluate,
    index,
    ingest,
    init,
    local,
    mcp,
    model,
    provision,
    queue,
    reembed,
    resolution,
    search,
    searches,
    security,
    source,
    status,
    tenant,
    verify_oracle,
    why,
    wipe,
    worker,
)
from oraclerag.cli.options import configuration
from oraclerag.errors import OracleRagError

__all__ = ["app", "main"]

# The order of --help is the order in which one meets the verbs.
_ORDER = (
    "demo", "local", "init", "provision", "migrate", "model", "source", "enqueue", "backfill", "reindex", "deploy",
    "worker", "queue", "ingest", "resolution", "chunk", "search", "prompt", "ask", "diagnose", "mcp", "searches",
    "index", "reembed", "audit", "why", "evaluate", "wipe", "tenant", "security", "status", "doctor",
    "verify-oracle",
)  # fmt: skip


class _Path(TyperGroup):
    """Lists the verbs in the order of the path."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))


app = typer.Typer(
    name="oraclerag",
    cls=_Path,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback with values would print secrets
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for part in (
    demo,
    init,
    provision,
    source,
    backfill,
    deploy,
    worker,
    chunk,
    search,
    ask,
    diagnose,
    mcp,
    reembed,
    audit,
    why,
    evaluate,
    wipe,
    status,
    doctor,
    verify_oracle,
):
    part.register(app)
for group in (local, model, source, queue, ingest, resolution, searches, index, tenant, security):
    app.add_typer(group.group)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"oraclerag {__version__}")
        raise typer.Exit


@app.callback()
def _start(
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Configuration file (default: oraclerag.toml here).")
    ] = None,
    version: Annotated[  # noqa: ARG001 - acts in its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Retrieval-augmented generation that lives inside Oracle Database 23ai/26ai."""
    configuration.set(config)


def main() -> None:
    """Run the command line and end the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a letter gets an escape, not a traceback
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="oraclerag")
    except OracleRagError as error:
        _fail(error)
    except BrokenPipeError:
        # the reader of our output went away (`… | head`); what is still buffered has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        place = f" ({str(error.filename)!r})" if error.filename else ""
        _fail(OracleRagError(f"{error.strerror or error}{place}."))


def _fail(error: OracleRagError) -> NoReturn:
    from oraclerag.console import Output

    Output().error(error)
    sys.exit(1)
