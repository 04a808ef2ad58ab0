"""``verify-oracle``: the demo, recorded on the local database and repeated on a real one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import UNHEALTHY, Json, output, settings

if TYPE_CHECKING:
    from oraclerag.config import Settings
    from oraclerag.console import Output
    from oraclerag.replay import Recording, Replayed

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("verify-oracle")(verify_oracle)


def verify_oracle(
    dsn: Annotated[str | None, typer.Option("--dsn", metavar="DSN", help="The database (default: ORACLE_DSN).")] = None,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="USER", help="Its user, with an empty schema (default: ORACLE_USER)."),
    ] = None,
    report: Annotated[
        Path, typer.Option("--report", "-o", metavar="FILE", help="Where the report goes, as Markdown.")
    ] = Path("verified.md"),
    model: Annotated[
        Path | None, typer.Option("--model", metavar="FILE", help="An ONNX file as `model build` writes it.")
    ] = None,
    json: Json = False,
) -> None:
    """Check on an Oracle Database what the local one says.

    Runs the demo on a local database of its own, repeats every statement in the empty schema of a user, reports where
    rows, types or error numbers differ, and empties the schema again. The password is that of ORACLE_PASSWORD.
    """
    screen = output(json)
    chosen = settings(dsn=dsn, user=user)
    replayed = _verify(chosen, report, model, screen)
    if json:
        screen.data({"report": str(report), "result": replayed})
    else:
        screen.facts(
            {
                "repeated": f"{replayed.calls:,} calls, {replayed.statements:,} different statements",
                "different": len(replayed.differences),
                "report": str(report),
            }
        )
        if replayed.differences:
            first = replayed.differences[0]
            screen.facts(
                {
                    "first": f"call {first.number}, {first.what}",
                    "statement": " ".join(first.statement.split())[:300],
                    "local database": first.recorded,
                    "here": first.replayed,
                }
            )
    if replayed.differences:
        raise typer.Exit(UNHEALTHY)


def _verify(chosen: Settings, report: Path, model: Path | None, screen: Output) -> Replayed:
    """Record, repeat, report; the schema that was lent is emptied whatever happens."""
    import oracledb

    from oraclerag.database import connect_arguments, translated
    from oraclerag.errors import InputError, OracleRagError
    from oraclerag.replay import clear, contents, replay, write_report

    def connect() -> oracledb.Connection:
        connection = oracledb.connect(**connect_arguments(chosen))
        connection.call_timeout = round(chosen.call_timeout * 1000)
        return connection

    with translated(), connect() as connection:
        user, version = connection.username, f"Oracle Database {connection.version}"
        found = contents(connection)
    if found:
        kind, name = found[0]
        raise InputError(
            f"The schema {user} is not empty: it holds {kind.lower()} {name} and {len(found) - 1} more.",
            hint="Name a user with an empty schema, for it is emptied afterwards; sql/setup/create_user.sql makes one.",
        )
    recording = _recorded(user.upper(), model, screen)
    try:
        with translated(), screen.progress("repeating", len(recording.calls)) as update:
            replayed = replay(recording, connect, on_call=lambda _: update(1))
    finally:
        with translated(), connect() as connection:
            left = clear(connection)
    write_report(report, replayed, version=version)
    if left:
        kind, name = left[0]
        raise OracleRagError(
            f"The report is written, but the schema {user} could not be emptied: {kind.lower()} {name} is left.",
            hint="Drop the user.",
        )
    return replayed


def _recorded(user: str, model: Path | None, screen: Output) -> Recording:
    """Run the demo on a local database that is there for it alone, under the same name of the user."""
    from oraclerag.cli.local import local_errors
    from oraclerag.config import Settings
    from oraclerag.console import Output
    from oraclerag.database import binary_order, connect_arguments
    from oraclerag.demo.run import MODEL, Demo, write_configuration
    from oraclerag.local import LocalDatabase
    from oraclerag.rag import Rag
    from oraclerag.replay import Recording, recording_pool

    screen.say("Recording the demo on a local database.")
    recording = Recording()
    with local_errors(), LocalDatabase(in_process=True) as local, tempfile.TemporaryDirectory() as folder:
        account = {"dsn": local.dsn, "user": user, "password": local.create_user(user)}
        file = write_configuration(Path(folder), **account)
        own = {"config_dir": None, "wallet_location": None, "wallet_password": None, "tenant": "main"}
        its_settings = Settings.load(file, **account, **own, schema=user, embedding_model=MODEL)
        pool = recording_pool(
            recording, min=1, max=4, increment=1, session_callback=binary_order, **connect_arguments(its_settings)
        )
        try:
            with Rag(its_settings, pool=pool) as rag:
                Demo(rag, Output(json=True), file, model=model).run()
        finally:
            pool.close(force=True)
    return recording
