"""``ingest``: files as sources, prose and what Oracle itself wrote."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oraclerag.cli.options import (
    FAILED,
    DocId,
    Environment,
    ErpVersion,
    Json,
    Module,
    Tenant,
    megabytes,
    moment,
    opened,
    output,
)

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.ingest import FileKind, IngestedFile, IngestReport
    from oraclerag.rag import Rag

__all__ = ["group"]

group = typer.Typer(name="ingest", help="Files as sources: docs, diagnostics.", no_args_is_help=True)

_AT_ONCE = 100  # entities that --wait announces and works off in one go
_LISTED = 20  # files of each kind that are named without --verbose

Paths = Annotated[
    list[str], typer.Argument(metavar="PATH...", help="Folders, files, patterns in quotes, or - for standard input.")
]
Collection = Annotated[
    str | None,
    typer.Option("--collection", metavar="NAME", help="What they belong to (default: docs, or diagnostics)."),
]
FileOwner = Annotated[str | None, typer.Option("--owner", metavar="ID", help="The person or team they are of.")]
FileVisibility = Annotated[
    str, typer.Option("--visibility", help="Who finds them: shared (the tenant) or owner (the owner and managers).")
]
Script = Annotated[str | None, typer.Option("--script", metavar="ID", help="What wrote them, such as SYS-03.")]
Root = Annotated[
    Path | None, typer.Option("--root", metavar="FOLDER", help="Names begin at this folder (default: the one given).")
]
Name = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="What that folder is called; with -, what the text is.")
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", metavar="NAME", help="Of files without a byte order mark (default: utf-8).")
]
MaxSize = Annotated[
    float,
    typer.Option("--max-size", metavar="MB", min=0.000001, max=10_000, help="Files that are larger are not read."),
]
OccurredAt = Annotated[
    str | None, typer.Option("--occurred-at", metavar="TIME", help="Of when they are: 2026-03-31T14:00 (UTC).")
]
Prune = Annotated[bool, typer.Option("--prune", help="Remove what has left the folder since it was ingested.")]
Yes = Annotated[bool, typer.Option("--yes", help="With --prune: also where that is more than half of it.")]
Wait = Annotated[bool, typer.Option("--wait", help="Index them now instead of leaving that to a worker.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print a line for every file.")]


def _command(kind: FileKind, text: str) -> Callable[..., None]:
    """Make the verb for a kind of files; both have the same options."""

    def command(
        paths: Paths, collection: Collection = None, tenant: Tenant = None, owner: FileOwner = None,
        visibility: FileVisibility = "shared", env: Environment = None, module: Module = None,
        erp_version: ErpVersion = None, script: Script = None, doc_id: DocId = None,
        occurred_at: OccurredAt = None, root: Root = None, name: Name = None, encoding: Encoding = None,
        max_size: MaxSize = 100.0, prune: Prune = False, yes: Yes = False, wait: Wait = False,
        verbose: Verbose = False, json: Json = False,
    ) -> None:  # fmt: skip
        known: dict[str, Any] = {
            "environment": env, "module": module, "version": erp_version, "script": script, "oracle_doc_id": doc_id,
        }  # fmt: skip
        given = {
            "kind": kind, "collection": collection, "tenant": tenant, "owner": owner, "visibility": visibility,
            "occurred_at": moment(occurred_at, "--occurred-at"), "root": root, "name": name, "encoding": encoding,
            "max_bytes": megabytes(max_size), "prune": prune, "force": yes,
        }  # fmt: skip
        _ingest(paths, known, given, wait=wait, verbose=verbose, json=json)

    command.__doc__ = text
    return command


group.command("docs")(
    _command(
        "docs",
        """Take in prose: Markdown, text, HTML and PDF.

        It is cut into passages. Files that did not change are left alone, changed ones are replaced. Of a folder
        everything below it is taken that ends as documents do; files that are named are taken whatever they are called.
        """,
    )
)
group.command("diagnostics")(
    _command(
        "diagnostics",
        """Take in traces, reports and logs of Oracle.

        What they are is found by their content, and they are cut at their own marks. Secrets that they show are masked
        before anything is stored.
        """,
    )
)


def _ingest(
    paths: Sequence[str],
    known: dict[str, Any],
    given: dict[str, Any],
    *,
    wait: bool,
    verbose: bool,
    json: bool,
) -> None:
    from oraclerag.envelope import Envelope
    from oraclerag.errors import OracleRagError

    screen = output(json)
    envelope = Envelope(**known)
    with opened() as rag:
        with contextlib.ExitStack() as current:
            advance: list[Callable[[int], None]] = []  # at most one; how many there are is known with the first

            def told(file: IngestedFile, done: int, total: int) -> None:  # noqa: ARG001 - it counts for itself
                if not advance:
                    advance.append(current.enter_context(screen.progress("ingesting", total)))
                advance[0](1)
                if verbose:
                    screen.say(_line(file))

            report = rag.ingest(paths, envelope=envelope, stdin=sys.stdin.buffer, on_file=told, **given)
        if not json:
            _show(screen, report, verbose=verbose)
        try:
            indexed = _index(screen, rag, report) if wait else None
        except OracleRagError:
            if json:  # what was taken in stays so
                screen.data({"ingest": report, "drain": None})
            raise
    if json:
        screen.data({"ingest": report, "drain": indexed})
    elif indexed is None and report.keys:
        screen.say("A worker indexes them: `oraclerag worker --once`, or --wait the next time.")
    if not report.ok:
        raise typer.Exit(FAILED)


def _index(screen: Output, rag: Rag, report: IngestReport) -> object:
    from oraclerag.records import DrainReport

    keys, total = report.keys, DrainReport()
    with screen.progress("indexing", len(keys)) as update:
        for begin in range(0, len(keys), _AT_ONCE):
            part = keys[begin : begin + _AT_ONCE]
            total += rag.index_now(part, timeout=86_400)
            update(len(part))
    if keys:
        rag.finish()
    return total


def _show(screen: Output, report: IngestReport, *, verbose: bool) -> None:
    from oraclerag.console import visible

    facts: dict[str, object] = {
        name: f"{getattr(report, name):,}" for name in ("new", "changed", "unchanged", "removed", "skipped", "failed")
    }
    if report.replaced:
        facts["replaced"] = f"{report.replaced:,} characters that could not be decoded"
    if report.masked:
        facts["masked"] = f"{report.masked:,} secrets"
    screen.facts(facts)
    if verbose:
        return
    for outcome in ("failed", "skipped"):
        files = [file for file in report.files if file.outcome == outcome]
        for file in files[:_LISTED]:
            screen.say(_line(file))
        if len(files) > _LISTED:
            screen.say(f"… and {len(files) - _LISTED:,} more that were {outcome}; --verbose names them all.")
    for file in [file for file in report.files if file.replaced][:_LISTED]:
        replaced = f"{file.replaced:,} characters replaced; --encoding says in which encoding it is."
        screen.say(f"{visible(file.name)}: {replaced}")


def _line(file: IngestedFile) -> str:
    from oraclerag.console import visible

    name = visible(file.name)  # one line, whatever it is called
    more = [file.reason] if file.reason else []
    more += [f"{file.replaced:,} characters replaced"] if file.replaced else []
    more += [f"{file.masked:,} secrets masked"] if file.masked else []
    return f"{file.outcome} {name}{': ' if more else ''}{', '.join(more)}"
