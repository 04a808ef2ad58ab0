"""``security``: row security, with which the database itself keeps tenants apart."""

from __future__ import annotations

from typing import Annotated

import typer

from oraclerag.cli.options import UNHEALTHY, Json, opened, output

__all__ = ["group"]

group = typer.Typer(name="security", help="Row security (VPD): the database keeps tenants apart.", no_args_is_help=True)

Sql = Annotated[bool, typer.Option("--sql", help="Print the script for SQL*Plus instead; a DBA runs it.")]


@group.command()
def install(
    worker: Annotated[
        str, typer.Option("--worker", metavar="USER", help="The workers' database user, from whom nothing is hidden.")
    ],
    reader: Annotated[
        list[str] | None,
        typer.Option(
            "--reader", metavar="NAME", help="User or role that searches; repeatable (RAG_SEARCHER, RAG_RECORDER)."
        ),
    ] = None,
    sql: Sql = False,
    json: Json = False,
) -> None:
    """Put a policy on every table with texts or keys; for a DBA."""
    screen = output(json)
    readers = {"readers": tuple(reader)} if reader else {}
    with opened() as rag:
        if sql:
            screen.write(rag.security_script(worker=worker, **readers).rstrip("\n"))
            return
        done = rag.install_security(worker=worker, **readers)
    if screen.json:
        screen.data({"tables": done.tables})
        return
    screen.facts({"policies": ", ".join(done.tables), "sees every row": worker.upper()})
    screen.say("Next, as a user that searches: oraclerag security verify")


@group.command()
def verify(json: Json = False) -> None:
    """Look what this database user sees of two made-up tenants.

    Exit code 3 where a policy is missing or rows can be seen that should not be. Nothing is kept.
    """
    screen = output(json)
    with opened() as rag:
        report = rag.verify_security()
    if screen.json:
        screen.data({"isolated": report.isolated, "tables": report.tables, "problems": report.problems})
    else:
        screen.table(
            ("table", "policy", "looked at"),
            (
                (
                    one.table,
                    "enabled" if one.enabled else "none",
                    "with rows of its own" if one.tried else "by reading" if one.enabled else "-",
                )
                for one in report.tables
            ),
        )
    screen.problems(report.problems)
    if not report.isolated:
        raise typer.Exit(UNHEALTHY)


@group.command()
def uninstall(sql: Sql = False, json: Json = False) -> None:
    """Take the policies away, and what they need; for a DBA."""
    screen = output(json)
    with opened() as rag:
        if sql:
            screen.write(rag.security_script().rstrip("\n"))
            return
        rag.uninstall_security()
    if screen.json:
        screen.data({"tables": []})
    else:
        screen.say("Done: the predicate of every read alone keeps tenants apart now.")
