"""Options that several verbs have, and the Rag that a verb works with."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from oraclerag.config import Settings
    from oraclerag.console import Output
    from oraclerag.rag import Rag
    from oraclerag.scope import Scope

__all__ = [
    "FAILED",
    "UNHEALTHY",
    "Collections",
    "DocId",
    "Environment",
    "ErpVersion",
    "Fallback",
    "Filters",
    "Groups",
    "HowMany",
    "Hybrid",
    "Json",
    "Logged",
    "Manager",
    "MinScore",
    "Module",
    "Months",
    "Order",
    "Owner",
    "Prefer",
    "Script",
    "Since",
    "SourceName",
    "SourceNames",
    "Tenant",
    "Until",
    "Wait",
    "Yes",
]

FAILED = 1
UNHEALTHY = 3

configuration: ContextVar[Path | None] = ContextVar("configuration", default=None)
"""The file that ``--config`` names."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Tenant = Annotated[str | None, typer.Option("--tenant", metavar="TENANT", help="Whose data.")]
SourceName = Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only this source.")]
Owner = Annotated[str | None, typer.Option("--owner", metavar="ID", help="The person who asks.")]
Groups = Annotated[list[str] | None, typer.Option("--group", metavar="ID", help="A team of theirs; repeatable.")]
Manager = Annotated[bool, typer.Option("--manager", help="Ask as a manager: everything of the tenant.")]

# What bounds a search.
HowMany = Annotated[int | None, typer.Option("-k", metavar="N", help="How many hits (default: search.k).")]
Filters = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="FIELD=VALUE", help="A column, a field of the metadata, or JSON; repeatable."),
]
Collections = Annotated[
    list[str] | None, typer.Option("--collection", metavar="NAME", help="Only this collection; repeatable.")
]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Not before (UTC, ISO 8601).")]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Not after; a date has its day.")]
Months = Annotated[int | None, typer.Option("--months", metavar="N", help="Not older than so many months.")]
SourceNames = Annotated[
    list[str] | None, typer.Option("--source", metavar="NAME", help="Only this source; repeatable.")
]
Logged = Annotated[
    bool | None, typer.Option("--log/--no-log", help="Whether the search log has it (default: searches.log).")
]
MinScore = Annotated[
    float | None, typer.Option("--min-score", metavar="SCORE", help="The least similarity of a hit, up to 1.")
]

# How what is found is chosen and ordered.
Fallback = Annotated[bool, typer.Option("--fallback", help="Where no text names the error code, search without it.")]
Prefer = Annotated[
    list[str] | None, typer.Option("--prefer", metavar="FIELD=VALUE", help="Put what has this first; repeatable.")
]
Order = Annotated[str, typer.Option("--order", metavar="ORDER", help="similarity or authority.")]
Hybrid = Annotated[bool, typer.Option("--hybrid", help="The question's words count beside its meaning.")]

# What a report or an incident does not say of itself.
Environment = Annotated[str | None, typer.Option("--env", metavar="ID", help="The environment, such as PROD-US-01.")]
Module = Annotated[str | None, typer.Option("--module", metavar="NAME", help="The module, such as AP.")]
ErpVersion = Annotated[str | None, typer.Option("--erp-version", metavar="TEXT", help='Such as "EBS R12.2.10".')]
Script = Annotated[str | None, typer.Option("--script", metavar="ID", help="What reported it, such as SYS-03.")]
DocId = Annotated[str | None, typer.Option("--doc-id", metavar="ID", help="Oracle's document, such as 1082394.1.")]


def _waited(seconds: float) -> float:
    from oraclerag.wipe import refuse_wait

    refuse_wait(seconds)
    return seconds


# What takes away.
Wait = Annotated[
    float,
    typer.Option("--wait", metavar="SECONDS", help="How long to wait for what workers hold.", callback=_waited),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do it; without, only what would go is shown.")]


def output(json: bool) -> Output:
    """Give the place to print to."""
    from oraclerag.console import Output

    return Output(json=json)


def settings(**overrides: Any) -> Settings:
    """Load the settings; options that were given win."""
    from oraclerag.config import Settings

    return Settings.load(configuration.get(), **{name: value for name, value in overrides.items() if value is not None})


@contextlib.contextmanager
def opened(**overrides: Any) -> Iterator[Rag]:
    """Give a Rag and close it at the end."""
    from oraclerag.rag import Rag

    with Rag(settings(**overrides)) as rag:
        yield rag


def megabytes(size: float) -> int:
    """Give the bytes of ``--max-size``; older versions of Typer's parser let a NaN pass the bounds."""
    if not size > 0:
        raise typer.BadParameter(f"--max-size takes a number of megabytes above 0, not {size}.")
    return int(size * 1_000_000)


def scope(tenant: str | None, owner: str | None, groups: list[str] | None, *, manager: bool) -> Scope:
    """Make the scope of the options."""
    from oraclerag.scope import Scope

    return Scope(tenant=tenant, owner=owner, groups=tuple(groups or ()), manager=manager)


def day_or_moment(text: str | None, option: str) -> dt.datetime | dt.date | None:
    """Read the time that an option gives; one without hours is a date."""
    if text is None:
        return None
    try:
        return dt.date.fromisoformat(text) if len(text) == len("2026-01-31") else dt.datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{option} takes a date or a time in ISO 8601, not {text!r}.") from None


def moment(text: str | None, option: str) -> dt.datetime | None:
    """Read the time that an option gives."""
    try:
        return None if text is None else dt.datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no time, such as 2026-03-31T14:00.", param_hint=option) from None


_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def age(text: str) -> dt.timedelta:
    """Read how long ago: a number and a unit."""
    found = re.fullmatch(r"(\d{1,6})([smhd])", text.strip())
    if found is None:
        raise typer.BadParameter(f"{text!r} is no age; a number and s, m, h or d: 12h, 7d.")
    return dt.timedelta(**{_UNITS[found[2]]: int(found[1])})


def confirmed(question: str, refusal: str, hint: str = "Say --yes where that is meant.") -> None:
    """Ask on a terminal, and end the verb where the answer is no; where nobody can answer, ``refusal`` is raised."""
    from oraclerag.errors import InputError

    if not answerable():
        raise InputError(refusal, hint=hint)
    typer.confirm(question, abort=True, err=True)


def answerable() -> bool:
    """Whether somebody can answer a question."""
    return sys.stdin.isatty()


@contextlib.contextmanager
def each_source(screen: Output, label: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show how far work on one source after the other is; gives what takes a source, how many are done, of how many."""
    with contextlib.ExitStack() as current:
        shown: list[tuple[str, int, Callable[[int], None]]] = []  # at most one

        def update(source: str, done: int, total: int) -> None:
            if not shown or shown[0][0] != source:
                current.close()
                shown[:] = [(source, 0, current.enter_context(screen.progress(f"{label} {source}", total)))]
            _, before, advance = shown[0]
            advance(done - before)
            shown[0] = (source, done, advance)

        yield update


@contextlib.contextmanager
def ended_by_signals(screen: Output, is_told: Callable[[], bool], tell: Callable[[], object]) -> Iterator[None]:
    """Have SIGINT and SIGTERM call ``tell`` inside the block; a second one ends the process at once."""

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the interpreter's signature
        if is_told():
            raise KeyboardInterrupt
        tell()
        screen.say("Ending after this batch; once more ends at once.")

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
