"""``diagnose``: a report of Oracle, what is known of it, and the way out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import (
    Environment,
    ErpVersion,
    Groups,
    Json,
    Manager,
    MinScore,
    Module,
    Owner,
    Script,
    Tenant,
    megabytes,
    opened,
    output,
    scope,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oraclerag.console import Output
    from oraclerag.diagnose import Diagnosis, Findings, Match

__all__ = ["register"]

_ERRORS, _WAITS = 10, 5  # that are shown


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("diagnose")(diagnose)


def diagnose(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The report; - for standard input.")],
    env: Environment = None,
    module: Module = None,
    erp_version: ErpVersion = None,
    script: Script = None,
    owner: Owner = None,
    group: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    analysis: Annotated[
        Path | None,
        typer.Option("--analysis", metavar="FILE", help="JSON: summary, root_cause, error_codes, waits, symptoms."),
    ] = None,
    cases: Annotated[int, typer.Option("--cases", metavar="N", help="Resolved incidents, at most.")] = 3,
    notes: Annotated[int, typer.Option("--notes", metavar="N", help="Other texts about it, at most.")] = 5,
    fallback: Annotated[
        bool, typer.Option("--fallback", help="Where nothing names the error, what is nearest by meaning.")
    ] = False,
    min_score: MinScore = None,
    store: Annotated[
        bool | None,
        typer.Option("--store/--no-store", help="Take the report in, so that it is found later (default: of a file)."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="What its folder is called; with -, what it is.")
    ] = None,
    visibility: Annotated[
        str,
        typer.Option("--visibility", help="Who finds it: shared (the tenant) or owner (--owner, managers)."),
    ] = "shared",
    send_report: Annotated[
        bool, typer.Option("--send-report", help="A language model elsewhere may be shown excerpts of the report.")
    ] = False,
    encoding: Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="Without a byte order mark (default: utf-8).")
    ] = None,
    max_size: Annotated[
        float,
        typer.Option("--max-size", metavar="MB", min=0.000001, max=10_000, help="A report that is larger is not read."),
    ] = 100.0,
    json: Json = False,
) -> None:
    """Find the way out of what a report says.

    Errors and waits of a trace, log or report; the same error before, in this environment first, validated fixes before
    others; what notes say; and the command that keeps what resolved it.
    """
    screen = output(json)
    with opened() as rag:
        found = rag.diagnose(
            sys.stdin.buffer if file == "-" else Path(file),
            scope=scope(tenant, owner, group, manager=manager),
            env=env,
            module=module,
            version=erp_version,
            script=script,
            analysis=None if analysis is None else _text(analysis),
            name=name,
            store=store,
            visibility=visibility,  # type: ignore[arg-type]  # ingest says what is wrong with another
            send_report=send_report,
            cases=cases,
            notes=notes,
            fallback=fallback,
            min_score=min_score,
            encoding=encoding,
            max_bytes=megabytes(max_size),
        )
    if json:
        screen.data(found)
    else:
        show(screen, found)


def show(screen: Output, found: Diagnosis) -> None:
    """Print a diagnosis."""
    _findings(screen, found.found)
    for title, matches in (("Cases", found.cases), ("Notes", found.notes), ("Other reports", found.reports)):
        _matches(screen, title, matches)
    if found.missing:
        known = "" if found.cases or found.notes else "; --fallback looks for what is nearest by meaning"
        screen.say(f"\nNo case and no note that this scope may see names {' or '.join(found.missing)}{known}.")
    screen.write("\n== The way out")
    screen.write(found.path.text)
    if found.path.references:
        screen.write("\n" + found.path.references)
    for remark in found.remarks:
        screen.say(remark)
    if found.stored is not None:
        screen.say(f"The report is kept as {found.stored}; a worker indexes it.")
    if found.command is not None:
        screen.write(f"\n== Once it is resolved\n{found.command}")


def _findings(screen: Output, found: Findings) -> None:
    facts = {
        "report": f"{found.family}, {found.lines:,} {'line' if found.lines == 1 else 'lines'}",
        **{name: ", ".join(values[:4]) + (" …" if len(values) > 4 else "") for name, values in found.facts.items()},
    }
    screen.facts(facts)
    if found.errors:
        screen.write("")
        screen.table(
            ("error", "times", "line", "message"),
            ((one.code, f"{one.count:,}", f"{one.line:,}", _message(one.code, one.message))
             for one in found.errors[:_ERRORS]),
            right=("times", "line"),
        )  # fmt: skip
        if len(found.errors) > _ERRORS:
            screen.say(f"… and {len(found.errors) - _ERRORS:,} more codes.")
    if found.waits:
        screen.write("")
        screen.table(
            ("wait", "times", "seconds", "share"),
            (
                (
                    one.event,
                    "-" if one.count is None else f"{one.count:,}",
                    "-" if one.seconds is None else f"{one.seconds:,.3f}",
                    "-" if one.share is None else f"{one.share:.1f} %",
                )
                for one in found.waits[:_WAITS]
            ),
            right=("times", "seconds", "share"),
        )
    if not found.errors and not found.waits:
        screen.say("It names no error and no wait.")


def _matches(screen: Output, title: str, matches: Sequence[Match]) -> None:
    from oraclerag.console import one_line

    if not matches:
        return
    screen.write(f"\n== {title}")
    rows: list[tuple[object, ...]] = []
    for match in matches:
        rows.append((match.hit.source, f"{match.hit.score:.3f}", one_line(match.hit.title or match.hit.content)))
        rows.append(("", "", "; ".join(match.reasons)))
    screen.table(("source", "score", "title, and why it is here"), rows, right=("score",))


def _message(code: str, message: str) -> str:
    from oraclerag.console import one_line

    return one_line(message.partition(": ")[2] or message.removeprefix(code))


def _text(path: Path) -> str:
    from oraclerag.errors import InputError

    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{str(path)!r} cannot be read as a text in UTF-8.") from None
