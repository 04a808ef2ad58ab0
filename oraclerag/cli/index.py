"""``index``: build, rebuild, status, accuracy of the vector index; and the text index of hybrid searches."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import Json, Tenant, opened, output, scope

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.index import AccuracyReport, IndexOptions, IndexStatus, TextIndexStatus

__all__ = ["group"]

group = typer.Typer(name="index", help="The vector index and the text index.", no_args_is_help=True)

Kind = Annotated[str | None, typer.Option("--type", metavar="TYPE", help="ivf (default) or hnsw.")]
Accuracy = Annotated[
    int | None, typer.Option("--accuracy", metavar="PERCENT", help="Target accuracy (default: search.target_accuracy).")
]
Partitions = Annotated[
    int | None, typer.Option("--partitions", metavar="N", help="Number of centroids (default: √rows, of 100 at least).")
]
Include = Annotated[
    bool | None,
    typer.Option("--include/--no-include", help="Cover the columns of a scope (default: where it can be, 23.7)."),
]
Online = Annotated[bool, typer.Option("--online/--no-online", help="Changes go on meanwhile (26ai).")]
Parallel = Annotated[int | None, typer.Option("--parallel", metavar="N", help="Degree of the build.")]
Lexical = Annotated[
    bool, typer.Option("--lexical", help="The text index of hybrid searches (Oracle Text), instead; alone.")
]
Force = Annotated[bool, typer.Option("--force", help="Also below 1,000 chunks, where exact search is better.")]


@group.command()
def build(
    kind: Kind = None,
    accuracy: Accuracy = None,
    partitions: Partitions = None,
    include: Include = None,
    online: Online = False,
    parallel: Parallel = None,
    force: Force = False,
    lexical: Lexical = False,
    json: Json = False,
) -> None:
    """Build the index if there is none."""
    screen = output(json)
    options = _options(kind, accuracy, partitions, include, parallel, online=online, force=force)
    if lexical:
        _make_text(screen, options, replace=False)
        return
    with opened() as rag:
        _show(screen, rag.build_index(said=screen.say, **options))


@group.command()
def rebuild(
    kind: Kind = None,
    accuracy: Accuracy = None,
    partitions: Partitions = None,
    include: Include = None,
    online: Online = False,
    parallel: Parallel = None,
    force: Force = False,
    lexical: Lexical = False,
    json: Json = False,
) -> None:
    """Drop it and build it again; searches are exact meanwhile.

    With --online (26ai) it is built anew beside itself and stays in use.
    """
    screen = output(json)
    options = _options(kind, accuracy, partitions, include, parallel, online=online, force=force)
    if lexical:
        _make_text(screen, options, replace=True)
        return
    with opened() as rag:
        _show(screen, rag.rebuild_index(said=screen.say, **options))


@group.command()
def status(json: Json = False) -> None:
    """Show the indexes, and what to do with them."""
    screen = output(json)
    with opened() as rag:
        found, text = rag.index_status(), rag.text_index_status()
    if json:
        screen.data({**dataclasses.asdict(found), "text": dataclasses.asdict(text)})
        return
    _show(screen, found)
    _show_text(screen, text)


@group.command()
def sync(json: Json = False) -> None:
    """Have the text index learn what it does not know yet."""
    screen = output(json)
    with opened() as rag:
        _show_text(screen, rag.sync_text_index())


@group.command()
def drop(lexical: Lexical = False, json: Json = False) -> None:
    """Drop the text index (--lexical).

    Hybrid searches then look for words in the nearest texts.
    """
    if not lexical:
        raise typer.BadParameter("index drop drops the text index: say --lexical.")
    screen = output(json)
    with opened() as rag:
        dropped = rag.drop_text_index()
    if json:
        screen.data({"dropped": dropped})
    else:
        screen.say("The text index is dropped." if dropped else "There is no text index.")


@group.command()
def accuracy(
    questions: Annotated[
        Path | None, typer.Option("--questions", metavar="FILE", help="Ask these, one a line (- for standard input).")
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", help="How many stored questions, or chunks (default: 50).")
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many hits of each.")] = 10,
    filter_share: Annotated[
        list[float] | None,
        typer.Option(
            "--filter-share", metavar="SHARE", help="Also among this share of the chunks, as 0.01; repeatable."
        ),
    ] = None,
    accuracy: Accuracy = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Compare approximate searches with exact ones (recall@k).

    Asks what was asked last in the tenant, else words of its chunks.
    """
    screen = output(json)
    given = _questions(questions) if questions is not None else None
    with opened() as rag, contextlib.ExitStack() as stack:
        advance: list[Callable[[int], None]] = []

        def progress(_done: int, total: int) -> None:
            if not advance:
                advance.append(stack.enter_context(screen.progress("Asking", total)))
            advance[0](1)

        report = rag.index_accuracy(
            scope=scope(tenant, None, None, manager=True),
            questions=given,
            sample=sample,
            k=k,
            shares=tuple(filter_share or ()),
            accuracy=accuracy,
            on_progress=progress,
        )
    if json:
        screen.data(report)
        return
    _show_accuracy(screen, report)


def _questions(file: Path) -> list[str]:
    from oraclerag.errors import InputError

    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The questions cannot be read: {error}.") from error
    return text.splitlines()


def _show_accuracy(screen: Output, report: AccuracyReport) -> None:
    screen.table(
        ("chunks", "questions", f"recall@{report.k}", "95 %", "short", "as searched", "exact", "why"),
        (
            (
                "all" if one.share is None else f"{100 * one.share:g} %",
                one.questions,
                _three(one.recall),
                f"{one.low:.3f} … {one.high:.3f}",
                one.short,
                _three(one.chosen),
                f"{one.exact} of {one.questions}",
                one.reason,
            )
            for one in report.recalls
        ),
        right=("chunks", "questions", "short"),
    )
    origin = {"given": "given questions", "asked": "questions asked last", "texts": "words of chunks"}[report.origin]
    built = report.index.built
    partitions = f", {built.partitions:,} partitions" if built is not None and built.partitions is not None else ""
    screen.say(
        f"Asked: {origin}; {report.index.organization}{partitions}, target {report.target} %. recall is that of the "
        "index (APPROX), as searched that of a search by default, exact how many of these looked at every chunk."
    )
    oracle = report.oracle
    if oracle.achieved is None:
        screen.say(f"{oracle.missing}.")
    else:
        screen.say(f"DBMS_VECTOR.INDEX_ACCURACY_QUERY: {oracle.achieved:.0f} % over {oracle.questions} questions.")


def _three(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _options(
    kind: str | None,
    accuracy: int | None,
    partitions: int | None,
    include: bool | None,
    parallel: int | None,
    *,
    online: bool,
    force: bool,
) -> IndexOptions:
    return {
        "kind": kind, "accuracy": accuracy, "partitions": partitions, "include": include, "online": online,
        "parallel": parallel, "force": force,
    }  # fmt: skip


def _make_text(screen: Output, options: IndexOptions, *, replace: bool) -> None:
    if any(value not in (None, False) for value in options.values()):
        raise typer.BadParameter("--lexical builds the text index, which takes none of the other options.")
    with opened() as rag:
        _show_text(screen, rag.build_text_index(said=screen.say, replace=replace))


def _show_text(screen: Output, found: TextIndexStatus) -> None:
    if screen.json:
        screen.data(found)
        return
    missing = "none" if found.installed else "none; Oracle Text is not installed"
    screen.facts(
        {
            "text index": found.name if found.exists else missing,
            "state": found.state,
            "not known yet": None if found.pending is None else f"{found.pending:,} changed chunks",
        }
    )
    if found.recommendation is not None:
        screen.say(f"Recommended: {found.recommendation}")


def _show(screen: Output, found: IndexStatus) -> None:
    if screen.json:
        screen.data(found)
        return
    facts: dict[str, object] = {
        "index": found.name if found.exists else "none; search is exact",
        "state": found.state,
        "type": found.organization,
        "column": found.column,
        "chunks": f"{found.chunks:,}",
    }
    if found.built is not None:
        built = found.built
        facts |= {
            "built over": f"{built.rows:,} chunks, {built.at:%Y-%m-%d %H:%M} UTC",
            "partitions": f"{built.partitions:,}" if built.partitions is not None else None,
            "accuracy": f"{built.accuracy} %",
            "covers": ", ".join(built.included) or None,
        }
    screen.facts(facts)
    for note in found.notes:
        screen.say(note)
    if found.recommendation is not None:
        screen.say(f"Recommended: {found.recommendation}")
