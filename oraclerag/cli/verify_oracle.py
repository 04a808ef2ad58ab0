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
    rows, types or error numbers differ, and drops what that made. The password is that of ORACLE_PASSWORD.
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
    """Record, repeat, report; what the repetition made in the schema that was lent is dropped whatever happens."""
    import oracledb

    from oraclerag.database import connect_arguments, translated
    from oraclerag.errors import OracleRagError
    from oraclerag.replay import clear, lent, replay, write_report

    def connect() -> oracledb.Connection:
        connection = oracledb.connect(**connect_arguments(chosen))
        connection.call_timeout = round(chosen.call_timeout * 1000)
        return connection

    with translated(), connect() as connection:
        user, version = lent(connection), f"Oracle Database {connection.version}"
    recording, made = _recorded(user, model, screen)
    with translated(), connect() as connection:
        lent(connection)  # that took a while
    try:
        with translated(), screen.progress("repeating", len(recording.calls)) as update:
            replayed = replay(recording, connect, on_call=lambda _: update(1))
        write_report(report, replayed, version=version)
    finally:
        with translated(), connect() as connection:
            left = clear(connection, made)
    if left:
        kind, name = left[0]
        raise OracleRagError(
            f"The report is written, but the schema {user} is not empty: "
            f"{kind.lower()} {name} and {len(left) - 1} more are left.",
            hint="Drop what is not wanted: the demo did not make it, or it could not be dropped.",
        )
    return replayed


def _recorded(user: str, model: Path | None, screen: Output) -> tuple[Recording, list[tuple[str, str]]]:
    """Run the demo on a local database that is there for it alone, under the same name of the user.

    Gives the recording, and type and name of everything that the demo has made.
    """
    import oracledb

    from oraclerag.cli.local import local_errors
    from oraclerag.config import Settings
    from oraclerag.console import Output
    from oraclerag.database import binary_order, connect_arguments
    from oraclerag.demo.configuration import MODEL, write_configuration
    from oraclerag.demo.run import Demo
    from oraclerag.local import LocalDatabase
    from oraclerag.rag import Rag
    from oraclerag.replay import Recording, contents, recording_pool
    from oraclerag.search import MAX_K

    screen.say("Recording the demo on a local database.")
    recording = Recording()
    with local_errors(), LocalDatabase(in_process=True) as local, tempfile.TemporaryDirectory() as folder:
        account = {"dsn": local.dsn, "user": user, "password": local.create_user(user)}
        file = write_configuration(Path(folder), **account)
        own = {"config_dir": None, "wallet_location": None, "wallet_password": None, "tenant": "main"}
        its_settings = Settings.load(file, **account, **own, schema=user, embedding_model=MODEL, max_k=MAX_K)
        pool = recording_pool(
            recording, min=1, max=4, increment=1, session_callback=binary_order, **connect_arguments(its_settings)
        )
        try:
            with Rag(its_settings, pool=pool) as rag:
                Demo(rag, Output(json=True), file, model=model).run()
        finally:
            pool.close(force=True)
        with oracledb.connect(**account) as connection:
            made = contents(connection)
    return recording, made
