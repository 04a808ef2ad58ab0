"""``source init``: sources proposed for tables that are there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from oraclerag.cli.options import FAILED, Json, configuration, output, settings

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.propose import Cost, Proposed

__all__ = ["init"]

# Of the sample, on a screen.
_LINES = 60
_CHARACTERS = 1000


def init(
    tables: Annotated[
        list[str], typer.Argument(metavar="TABLE...", help="NAME or OWNER.NAME, as the dictionary has it.")
    ],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Of the source (default: the table's).")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="COLUMNS", help="What identifies a row, where no key does: A or A,B.")
    ] = None,
    visibility: Annotated[
        Literal["shared", "owner"] | None,
        typer.Option("--visibility", help="Who may see a row; left open where you do not say it."),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Add it to oraclerag.toml, and the template beside it.")
    ] = False,
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=1, max=1000, help="Rows that are read at most.")] = 50,
    json: Json = False,
) -> None:
    """Propose a source for a table, from the dictionary.

    Shows select, template and settings with the reason of every guess, one row as it would be indexed, and what all of
    them would cost. What nobody can guess, who may see a row, is left open.
    """
    from oraclerag.database import Database
    from oraclerag.errors import InputError, OracleRagError
    from oraclerag.propose import add, propose

    if len(tables) > 1 and (name is not None or key is not None):
        raise typer.BadParameter("--name and --key are for one TABLE; give one.")
    screen = output(json)
    file = configuration.get() or Path(os.environ.get("ORACLERAG_CONFIG") or "oraclerag.toml")
    loaded = settings(sources=())  # one that was proposed before may wait for its decision
    database = Database(loaded)
    found: list[tuple[Proposed, str | None]] = []
    failed: list[tuple[str, OracleRagError]] = []
    try:
        for table in tables:
            try:
                one = propose(
                    database,
                    loaded,
                    table,
                    name=name,
                    key=key.split(",") if key is not None else (),
                    visibility=visibility,
                    rows=rows,
                )
                path = str(add(file, one.proposal)) if write and one.trial.green else None
            except InputError as error:
                if len(tables) == 1:
                    raise
                failed.append((table, error))
                continue
            found.append((one, path))
            if not json:
                _show(screen, one, file, path, write=write)
    finally:
        database.close()
    if json:
        screen.data([_record(one, path) for one, path in found])
    for table, failure in failed:
        screen.say(f"{table}: {failure.message}")
        if failure.hint:
            screen.say(f"  remedy: {failure.hint}")
    if failed or not all(one.trial.green for one, _ in found):
        raise typer.Exit(FAILED)


def _record(one: Proposed, path: str | None) -> dict[str, object]:
    proposal = one.proposal
    return {
        "name": proposal.name,
        "table": proposal.table,
        "open": proposal.open,
        "settings": proposal.settings,
        "template": proposal.template,
        "guesses": proposal.guesses,
        "left_out": proposal.left_out,
        "notes": proposal.notes,
        "toml": one.toml,
        "sample": {"id": one.trial.id, "title": one.trial.title, "text": one.trial.text, "chunks": one.trial.chunks},
        "cost": one.trial.cost,
        "problems": one.trial.problems,
        "checked": one.trial.checked,
        "written": path,
    }


def _show(screen: Output, one: Proposed, file: Path, path: str | None, *, write: bool) -> None:
    from oraclerag.propose import template_path

    proposal, trial = one.proposal, one.trial
    screen.write(one.toml)
    screen.write(f"# {template_path(proposal.name)}")
    screen.write(proposal.template)
    if trial.text is not None:
        screen.write(f"# One row as it would be indexed, {proposal.name}:{trial.id}, {_of(trial.chunks, 'chunk')}")
        lines = trial.text.split("\n")
        for line in lines[:_LINES]:
            screen.write(f"| {line[:_CHARACTERS]}{'…' if len(line) > _CHARACTERS else ''}")
        if len(lines) > _LINES:
            screen.write(f"| … {len(lines) - _LINES:,} more lines")
    elif not trial.problems:
        screen.write("# The table has no rows; nothing could be rendered.")
    if trial.cost is not None:
        screen.write("")
        _cost(screen, trial.cost)
    for problem in trial.problems:
        screen.write(f"{problem.severity}: {problem.message}")
        if problem.hint:
            screen.write(f"  remedy: {problem.hint}")
    if trial.failed:
        screen.write(f"Rows of the sample that could not be rendered: {trial.failed}.")
    if trial.cost is not None and not trial.checked:
        screen.write("There are too many rows to count here what must be unique; `oraclerag source check` does.")
    if write and not trial.green:
        screen.say("Nothing was written: what is wrong comes first.")
        return
    if path is not None:
        screen.say(f"{file} has [source.{proposal.name}] now, and its template is {path}.")
        following = "`oraclerag source check`"
    else:
        screen.say("Nothing was written; --write adds it to the configuration.")
        following = "it can be used"
    if proposal.open:
        screen.say(
            f'Still open: who may see a row. Say visibility = "shared" or "owner" in [source.{proposal.name}] before '
            f"{following}."
        )


def _cost(screen: Output, cost: Cost) -> None:
    if not cost.rows:
        screen.facts({"rows": "0"})
        return
    minutes = "unknown" if cost.minutes is None else "< 0.1" if cost.minutes < 0.1 else f"{cost.minutes:,.1f}"
    screen.facts(
        {
            "rows": f"{cost.rows:,} ({cost.counted})",
            "chunks": "unknown" if cost.chunks is None else f"about {cost.chunks:,}",
            "tokens": "unknown" if cost.tokens is None else f"about {cost.tokens:,}",
            "minutes": minutes,
        }
    )
    screen.write(f"From {_of(cost.sampled, 'row')} that the database gave first; {cost.basis}.")


def _of(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
