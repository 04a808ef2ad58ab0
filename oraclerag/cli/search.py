"""``search``: watch the read path."""

from __future__ import annotations

from typing import Annotated

import typer

from oraclerag.cli.options import Groups, Json, Manager, Owner, Tenant, opened, output, scope

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("search")(search)


def search(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    owner: Owner = None,
    group: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    k: Annotated[int | None, typer.Option("-k", metavar="N", help="How many hits (default: search.k).")] = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", metavar="NAME", help="Only this source; repeatable.")
    ] = None,
    filter_: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", metavar="FIELD=VALUE", help="project, sprint, collection or metadata.NAME; repeatable."
        ),
    ] = None,
    show_sql: Annotated[bool, typer.Option("--show-sql", help="Print the statement too (stderr).")] = False,
    json: Json = False,
) -> None:
    """Find what is nearest to a question.

    Only what the asker may see: everybody's, their own (--owner, --group), or everything (--manager).
    """
    screen = output(json)
    conditions = _conditions(filter_ or [])
    with opened() as rag:
        result = rag.search(
            question, scope=scope(tenant, owner, group, manager=manager), k=k, source=source or None, filter=conditions
        )
    if show_sql:
        screen.say(result.statement)
    if result.truncated:
        screen.say("The question is longer than the model reads; only its beginning was searched for.")
    if json:
        screen.data(result)
        return
    if not result.hits:
        screen.say("Nothing that this scope may see was found.")
        return
    screen.hits(result)
    how = "approximate" if result.approximate else "exact"
    screen.say(f"{len(result)} {'hit' if len(result) == 1 else 'hits'} in {result.seconds * 1000:.0f} ms ({how}).")


def _conditions(texts: list[str]) -> dict[str, str]:
    conditions: dict[str, str] = {}
    for text in texts:
        field, equals, value = text.partition("=")
        if not equals or not field:
            raise typer.BadParameter(f"--filter takes FIELD=VALUE, not {text!r}.")
        if field in conditions:
            raise typer.BadParameter(f"--filter names {field!r} twice.")
        conditions[field] = value
    return conditions
