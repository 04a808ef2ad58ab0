"""``demo``: the whole path on the local database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.local import local_database, local_errors
from oraclerag.cli.options import Json, output

if TYPE_CHECKING:
    from oraclerag.local import LocalDatabase

__all__ = ["register"]

USER = "DEMO"
_NO_SUCH_USER = "ORA-01918"


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("demo")(demo)


def demo(
    directory: Annotated[
        Path | None, typer.Option("--directory", metavar="DIR", help="Of the local database (ORACLERAG_LOCAL_DIR).")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Other rows, in the form of oraclerag/demo/data.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", metavar="FILE", help="An ONNX file instead of all-MiniLM-L6-v2.")
    ] = None,
    weights: Annotated[
        Path | None, typer.Option("--from", metavar="PATH", help="Weights of all-MiniLM-L6-v2; no network.")
    ] = None,
    json: Json = False,
) -> None:
    """Run the whole path on the local database.

    The data are a task tracker of some hundred rows; nothing that is printed is prepared.
    """
    from oraclerag.config import Settings
    from oraclerag.demo.application import DATA
    from oraclerag.demo.configuration import MODEL, write_configuration
    from oraclerag.demo.run import Demo
    from oraclerag.rag import Rag
    from oraclerag.search import MAX_K

    screen = output(json)
    with local_errors():
        local = local_database(directory)
        if not json:
            screen.write("== A local database, a stand-in for Oracle\n   $ oraclerag local start")
        found = local.start()
        password = _fresh_user(local)
    folder = found.directory / "demo"
    file = write_configuration(folder, dsn=found.dsn or "", user=USER, password=password)
    if not json:
        screen.facts({"dsn": found.dsn, "user": f"{USER}, made anew", "configuration": file})
    # the demo's own file and nothing of the environment: it must not reach a database that is not its own
    settings = Settings.load(
        file,
        dsn=found.dsn,
        user=USER,
        password=password,
        schema=USER,
        config_dir=None,
        wallet_location=None,
        wallet_password=None,
        embedding_model=MODEL,
        tenant="main",
        max_k=MAX_K,
    )
    with Rag(settings) as rag:
        run = Demo(rag, screen, file, data=data or DATA, model=model, weights=weights)
        run.run()
    if json:
        screen.data(run.record)


def _fresh_user(local: LocalDatabase) -> str:
    """Make the demo's user anew, with everything in its schema; give its password."""
    import oracledb

    from oraclerag.database import code_of, translated

    with translated():
        try:
            local.drop_user(USER)
        except oracledb.DatabaseError as error:
            if code_of(error) != _NO_SUCH_USER:
                raise
        return local.create_user(USER)
