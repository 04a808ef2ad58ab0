"""``resolution``: incidents that were resolved, kept so that the next one finds them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import (
    DocId,
    Environment,
    ErpVersion,
    Groups,
    Json,
    Manager,
    Module,
    Owner,
    Script,
    Tenant,
    confirmed,
    moment,
    opened,
    output,
    scope,
)

if TYPE_CHECKING:
    import datetime as dt

    from oraclerag.console import Output
    from oraclerag.records import Resolution

__all__ = ["group"]

group = typer.Typer(
    name="resolution", help="Resolved incidents: add, list, show, validate, remove.", no_args_is_help=True
)

Number = Annotated[int, typer.Argument(metavar="ID", help="The number of the resolution.")]
By = Annotated[str | None, typer.Option("--validated-by", metavar="NAME", help="Who has seen that it works.")]
At = Annotated[str | None, typer.Option("--at", metavar="TIME", help="When: 2026-03-31T14:00 (UTC; default: now).")]


@group.command()
def add(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What happened, in a line.")],
    fix: Annotated[str, typer.Option("--fix", metavar="TEXT", help="What was done; @FILE reads a file, - stdin.")],
    symptom: Annotated[
        str | None, typer.Option("--symptom", metavar="TEXT", help="What was seen (@FILE and - as well).")
    ] = None,
    analysis: Annotated[
        str | None, typer.Option("--analysis", metavar="TEXT", help="Why it was so (@FILE and - as well).")
    ] = None,
    error: Annotated[
        list[str] | None,
        typer.Option("--error", metavar="CODE", help="An error code that the texts do not name; repeatable."),
    ] = None,
    type_: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help='What resolved it, such as "Configuration Fix".')
    ] = None,
    own_type: Annotated[bool, typer.Option("--own-type", help="--type is one of your own.")] = False,
    doc_id: DocId = None,
    env: Environment = None,
    module: Module = None,
    erp_version: ErpVersion = None,
    script: Script = None,
    validated_by: By = None,
    at: At = None,
    collection: Annotated[
        str, typer.Option("--collection", metavar="NAME", help="What it belongs to.")
    ] = "resolutions",
    visibility: Annotated[
        str, typer.Option("--visibility", help="Who finds it: shared (the tenant) or owner (the owner and managers).")
    ] = "shared",
    owner: Annotated[str | None, typer.Option("--owner", metavar="ID", help="The person or team it is of.")] = None,
    tenant: Tenant = None,
    replace: Annotated[
        int | None, typer.Option("--replace", metavar="ID", help="Put it in the place of this one.")
    ] = None,
    json: Json = False,
) -> None:
    """Keep what resolved an incident; a worker indexes it."""
    from oraclerag.records import Resolution

    if [symptom, analysis, fix].count("-") > 1:
        raise typer.BadParameter("Standard input (-) can be read once.")
    resolution = Resolution(
        id=replace,
        title=title,
        symptom=_text(symptom),
        analysis=_text(analysis),
        fix=_text(fix) or "",
        error_codes=tuple(error or ()),
        resolution_type=type_,
        other_resolution_types=(type_,) if own_type and type_ else (),
        oracle_doc_id=doc_id,
        environment=env,
        module=module,
        version=erp_version,
        script=script,
        validated_by=validated_by,
        validated_at=moment(at, "--at"),
        collection=collection,
        visibility=visibility,  # type: ignore[arg-type]  # the record says what is wrong with another
        owner=owner,
        tenant=tenant,
    )
    with opened() as rag:
        kept = rag.record_resolution(resolution)
    _done(output(json), kept, "replaced" if replace is not None else "kept", json=json)


@group.command("list")
def list_(
    validated: Annotated[
        bool | None, typer.Option("--validated/--unvalidated", help="Only those that somebody validated, or nobody.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many, the youngest first.")] = 50,
    owner: Owner = None,
    group_: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Show the youngest resolutions."""
    from oraclerag.console import one_line

    screen = output(json)
    with opened() as rag:
        found = rag.resolutions.list(
            scope=scope(tenant, owner, group_, manager=manager), validated=validated, limit=limit
        )
    if json:
        screen.data(found)
    elif not found:
        screen.say("There is none that this scope may see.")
    else:
        screen.table(
            ("#", "validated", "by", "type", "environment", "title"),
            (
                (
                    one.id,
                    f"{one.validated_at:%Y-%m-%d}" if one.validated_at else "-",
                    one.validated_by or "-",
                    one.resolution_type or "-",
                    one.environment or "-",
                    one_line(one.title),
                )
                for one in found
            ),
            right=("#",),
        )


@group.command()
def show(
    number: Number,
    owner: Owner = None,
    group_: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Show one resolution with its texts."""
    screen = output(json)
    with opened() as rag:
        found = rag.resolutions.get(number, scope=scope(tenant, owner, group_, manager=manager))
    if json:
        screen.data(found)
        return
    screen.write(f"[RESOLUTION #{found.id}] {found.title}")
    facts = {
        "errors": ", ".join(found.error_codes) or None,
        "type": found.resolution_type,
        "document": found.oracle_doc_id,
        "environment": found.environment,
        "module": found.module,
        "version": found.version,
        "script": found.script,
        "owner": found.owner,
        "visibility": found.visibility,
        "collection": found.collection,
        "recorded": _printed(found.recorded_at),
        "validated": None if found.validated_at is None else f"{_printed(found.validated_at)} by {found.validated_by}",
        **found.metadata,
    }
    screen.facts({name: value for name, value in facts.items() if value is not None})
    for name, text in (("Symptom", found.symptom), ("Analysis", found.analysis), ("Fix", found.fix)):
        if text:
            screen.write(f"\n{name}:\n{text}")


@group.command()
def validate(
    number: Number,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who has seen that it works.")],
    at: At = None,
    owner: Owner = None,
    group_: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Note who validated a resolution, and when."""
    with opened() as rag:
        kept = rag.resolutions.validate(
            number, by=by, at=moment(at, "--at"), scope=scope(tenant, owner, group_, manager=manager)
        )
    _done(output(json), kept, "validated", json=json)


@group.command()
def remove(
    number: Number,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    owner: Owner = None,
    group_: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Take a resolution away; it is nowhere else."""
    from oraclerag.console import one_line

    asked = scope(tenant, owner, group_, manager=manager)
    with opened() as rag:
        found = rag.resolutions.get(number, scope=asked)
        if not yes:
            what = f"Resolution {number} ({one_line(found.title, 60)}) would be gone for good."
            confirmed(f"{what} Go on?", f"{what} Without a terminal nobody can agree.")
        rag.resolutions.remove(number, scope=asked)
    _done(output(json), found, "removed", json=json)


def _done(screen: Output, resolution: Resolution, what: str, *, json: bool) -> None:
    if json:
        screen.data(resolution)
    else:
        screen.say(f"Resolution {resolution.id} is {what}. A worker applies it to the index.")


def _text(value: str | None) -> str | None:
    """Give a text as it was typed, from ``@FILE`` or from standard input."""
    from oraclerag.errors import InputError

    if value == "-":
        return sys.stdin.read()
    if value is None or not value.startswith("@"):
        return value
    try:
        return Path(value[1:]).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{value[1:]!r} cannot be read as a text in UTF-8.") from error


def _printed(when: dt.datetime | None) -> str | None:
    return None if when is None else f"{when:%Y-%m-%d %H:%M} UTC"
