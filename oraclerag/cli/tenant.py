"""``tenant``: who there is, onboard, verify, export, remove."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import FAILED, UNHEALTHY, Json, Wait, Yes, each_source, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.records import OnboardReport, RemovalReport, SourceKey, TenantReport, TenantSummary

__all__ = ["group"]

group = typer.Typer(name="tenant", help="Tenants: list, onboard, verify, export, remove.", no_args_is_help=True)


def _tenant(name: str) -> str:
    from oraclerag.tenants.place import checked

    return checked(name)


Name = Annotated[
    str,
    typer.Argument(metavar="TENANT", help="The tenant's name, as it stands in the sources.", callback=_tenant),
]


@group.command("list")
def list_(json: Json = False) -> None:
    """List the tenants and what there is of each."""
    screen = output(json)
    with opened() as rag:
        found = rag.tenants.list()
    if json:
        screen.data(found)
        return
    columns = ("tenant", "entities", "chunks", "files", "resolutions", "waiting", "dead", "searches")
    screen.table(columns, ((one.tenant, *_numbers(one)) for one in found), right=columns[1:])


@group.command()
def onboard(
    tenant: Name,
    now: Annotated[bool, typer.Option("--now", help="Index it here and now, not by a worker.")] = False,
    json: Json = False,
) -> None:
    """Enqueue what the sources have of a new tenant.

    Nothing is registered: a tenant is what the sources say. Shows what they have of it, and whether a search finds it.
    """
    screen = output(json)
    with opened() as rag, each_source(screen, "backfill") as update:
        report = rag.tenants.onboard(tenant, now=now, on_progress=update)
    if json:
        screen.data(report)
    else:
        _show_onboarded(screen, report)
    if not any(one.total for one in report.sources):
        screen.say(f"No source has anything of {tenant!r} yet; `oraclerag ingest` and `resolution add` may name it.")
    if report.indexed is not None and (report.indexed.postponed or report.indexed.dead or report.indexed.paused):
        screen.say("`oraclerag queue list` shows what did not work.")
        raise typer.Exit(FAILED)
    screen.say(f"Next{'' if now else ', once the workers are through'}: oraclerag tenant verify {tenant}")


@group.command()
def verify(
    tenant: Name,
    phrase: Annotated[
        str | None, typer.Option("--phrase", metavar="TEXT", help="What is known to stand in one of its texts.")
    ] = None,
    expect: Annotated[
        str | None, typer.Option("--expect", metavar="SOURCE:ID", help="The entity that the phrase must find.")
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="Among how many hits.")] = 10,
    json: Json = False,
) -> None:
    """Look whether a tenant is whole, and found by nobody else.

    Counts what is missing, searches for a phrase with the tenant's scope and with those of up to 20 others. Exit code 3
    where anything is wrong.
    """
    screen = output(json)
    expected = None if expect is None else _key(expect)
    with opened() as rag:
        report = rag.tenants.verify(tenant, phrase=phrase, expect=expected, k=k)
    if json:
        screen.data(report)
    else:
        _show_verified(screen, report)
    screen.problems(report.problems)
    if not report.ok:
        raise typer.Exit(UNHEALTHY)


@group.command()
def export(
    tenant: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON lines; compressed where it ends with .gz.")],
    vectors: Annotated[bool, typer.Option("--vectors", help="Write the vectors too.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    json: Json = False,
) -> None:
    """Write everything that is held of a tenant to a file.

    A manifest beside it says how many rows of which table, and the SHA-256 of the file.
    """
    screen = output(json)
    with opened() as rag:
        report = rag.tenants.export(tenant, file, vectors=vectors, force=force)
    if json:
        screen.data(report)
        return
    screen.table(("table", "rows"), ((table, f"{rows:,}") for table, rows in report.rows.items()), right=("rows",))
    screen.facts(
        {"file": report.file, "bytes": f"{report.size:,}", "sha256": report.sha256, "manifest": report.manifest}
    )


@group.command()
def remove(
    tenant: Name,
    force: Annotated[bool, typer.Option("--force", help="Also while a source still has entities of it.")] = False,
    wait: Wait = 60.0,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Delete every row of a tenant, in every table.

    The index, files, resolutions, queue, search log, usage. Refused while a source still has entities of it, for they
    would come back. Nothing brings files and resolutions back: export the tenant before.
    """
    screen = output(json)
    with opened() as rag:
        report = rag.tenants.remove(tenant, force=force, dry_run=not yes, wait=wait)
    if json:
        screen.data(report)
    else:
        screen.table(("table", "rows"), ((table, f"{rows:,}") for table, rows in report.rows.items()), right=("rows",))
    _say_removed(screen, report)


def _numbers(one: TenantSummary) -> list[str]:
    numbers = (one.entities, one.chunks, one.files, one.resolutions, one.waiting, one.dead, one.searches)
    return [f"{number:,}" for number in numbers]


def _show_onboarded(screen: Output, report: OnboardReport) -> None:
    columns = ("source", "entities", "missing", "enqueued")
    rows = ((one.source, f"{one.total:,}", f"{one.missing:,}", f"{one.enqueued:,}") for one in report.sources)
    screen.table(columns, rows, right=columns[1:])
    found = f"finds {'it' if report.hits else 'nothing'}" if report.phrase is not None else "has nothing to find yet"
    facts = {"indexed": f"{report.summary.entities:,} entities, {report.summary.chunks:,} chunks", "a search": found}
    if report.without:
        facts["map no tenant"] = ", ".join(report.without)
    if report.uncounted:
        facts["cannot be counted"] = ", ".join(report.uncounted)
    screen.facts(facts)


def _show_verified(screen: Output, report: TenantReport) -> None:
    columns = ("source", "entities", "missing")
    rows = ((one.source, f"{one.total:,}", f"{one.missing:,}") for one in report.coverage)
    screen.table(columns, rows, right=columns[1:])
    counted = report.summary
    facts = {
        "indexed": f"{counted.entities:,} entities, {counted.chunks:,} chunks",
        "taken in": f"{counted.files:,} files, {counted.resolutions:,} resolutions",
        "queue": f"{counted.waiting:,} waiting, {counted.dead:,} given up",
    }
    if report.uncounted:
        facts["cannot be counted"] = ", ".join(report.uncounted)
    if report.phrase is not None:
        where = "not found" if report.rank is None else f"hit {report.rank}"
        facts["expected"] = f"{report.expected}: {where}" if report.expected else f"{report.hits:,} hits"
        facts["other scopes"] = f"{report.others:,} tried, {len(report.leaked):,} hits of this tenant"
    screen.facts(facts)


def _say_removed(screen: Output, report: RemovalReport) -> None:
    back = ", ".join(
        f"{name} ({'cannot be asked' if count is None else f'{count:,}'})"
        for name, count in report.returning.items()
        if count != 0
    )
    if back:
        screen.say(f"Sources that still have entities of it: {back}.")
    if report.announced:
        screen.say(f"{report.announced:,} entities are another tenant's by now; they are enqueued for it.")
    if not report.done:
        screen.say("Nothing was deleted. Say --yes where that is meant; `oraclerag tenant export` keeps a copy.")


def _key(text: str) -> SourceKey:
    from oraclerag.records import SourceKey

    source, colon, entity = text.partition(":")
    if not colon:
        raise typer.BadParameter(f"{text!r} is no key; a key is a source, a colon and an id: task:42.")
    return SourceKey(source, entity)
