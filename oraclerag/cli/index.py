"""``index``: build, rebuild, status of the vector index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import Json, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.index import IndexStatus

__all__ = ["group"]

group = typer.Typer(name="index", help="The vector index: build, rebuild, status.", no_args_is_help=True)

Accuracy = Annotated[
    int | None, typer.Option("--accuracy", metavar="PERCENT", help="Target accuracy (default: search.target_accuracy).")
]
Partitions = Annotated[
    int | None, typer.Option("--partitions", metavar="N", help="Number of centroids (default: the database decides).")
]
Force = Annotated[bool, typer.Option("--force", help="Also below 1,000 chunks, where exact search is better.")]


@group.command()
def build(accuracy: Accuracy = None, partitions: Partitions = None, force: Force = False, json: Json = False) -> None:
    """Build the index if there is none."""
    screen = output(json)
    with opened() as rag:
        _show(screen, rag.build_index(accuracy=accuracy, partitions=partitions, force=force))


@group.command()
def rebuild(accuracy: Accuracy = None, partitions: Partitions = None, force: Force = False, json: Json = False) -> None:
    """Drop it and build it again; searches are exact meanwhile."""
    screen = output(json)
    with opened() as rag:
        _show(screen, rag.build_index(accuracy=accuracy, partitions=partitions, force=force, replace=True))


@group.command()
def status(json: Json = False) -> None:
    """Show whether there is one and whether it is usable."""
    screen = output(json)
    with opened() as rag:
        _show(screen, rag.index_status())


def _show(screen: Output, found: IndexStatus) -> None:
    if screen.json:
        screen.data(found)
        return
    screen.facts(
        {
            "index": found.name if found.exists else "none; search is exact",
            "state": found.state,
            "kind": found.organization,
            "column": found.column,
            "chunks": f"{found.chunks:,}",
        }
    )
