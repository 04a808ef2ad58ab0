"""A source proposed for a table: what to read, and how its columns are meant, each guess with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from oraclerag.config import RESERVED_SOURCES
from oraclerag.errors import InputError
from oraclerag.propose import children as below
from oraclerag.propose import columns as asked
from oraclerag.propose import parents as above
from oraclerag.propose.described import Surroundings, Table
from oraclerag.propose.entries import entries
from oraclerag.propose.guess import Guess
from oraclerag.propose.keys import found_key
from oraclerag.propose.meaning import Meaning
from oraclerag.propose.names import slug, sql_name, table_name
from oraclerag.propose.text import template
from oraclerag.records import Visibility
from oraclerag.statements import qualified

__all__ = ["COLUMNS", "Proposal", "propose"]

COLUMNS = ("title", "url", "tenant", "owner", "project", "sprint", "occurred_at")
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed ``[source.NAME]``; ``settings`` are its keys but for the template, which is ``template``.

    ``left_out`` are columns and tables that are not in it, with the reason. ``open`` are decisions that nobody but you
    can make: the source is refused until they are made. ``notes`` are worth a thought.
    """

    name: str
    table: str
    settings: Mapping[str, Any]
    template: str
    guesses: tuple[Guess, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    open: tuple[Literal["visibility"], ...] = ("visibility",)
    notes: tuple[str, ...] = ()

    def reasons(self, setting: str) -> list[str]:
        """Give why a setting is what it is."""
        return [guess.reason for guess in self.guesses if guess.setting == setting and guess.taken]

    def others(self, setting: str) -> list[Guess]:
        """Give what a setting could be as well."""
        return [guess for guess in self.guesses if guess.setting == setting and not guess.taken]


def propose(
    around: Surroundings,
    *,
    name: str | None = None,
    key: Sequence[str] = (),
    visibility: Visibility | None = None,
) -> Proposal:
    """Propose a source for a table, from its description alone.

    ``key`` names the columns that identify a row, as the dictionary has them; needed for a view, and for a table
    without a key. Raises InputError where there is none, or it cannot be one.
    """
    table = around.table
    columns, guesses = found_key(table, key)
    meaning = Meaning(around, columns)
    settings = meaning.settings
    joined = above.joins(around, meaning.aliases)
    text = meaning.text({column for join in joined.joins for column in join.reference.columns})
    names = [meaning.alias[column] for column in columns]
    taken = {*meaning.alias.values(), *(alias for join in joined.joins for alias in join.aliases)}
    found = below.children(around, dict(zip(columns, names, strict=True)), taken)
    if table.kind != "VIEW":
        settings["tables"] = entries(around, columns, meaning.tenant, joined.joins, found.children)
    settings["select"] = _select(around, meaning, [*names, *(line.name for line in text)], joined.joins)
    if names != ["source_id"]:
        settings["key"] = names
    if found.children:
        settings["children"] = {one.name: {"select": one.select, "order_by": one.order_by} for one in found.children}
    if visibility is not None:
        settings["visibility"] = visibility
    if visibility == "owner" and "owner" not in settings:
        raise InputError(
            f'No column of {table.name} seems to say whose a row is, which visibility "owner" needs.',
            hint="Leave --visibility out, and write owner = … where the proposal stands.",
        )
    lines = [*text, *(line for join in joined.joins for line in join.lines)]
    if not lines and not found.children and "title" not in settings:
        raise InputError(f"{table.name} has no column that makes a text.", hint="Index a view or a query of it.")
    guesses += meaning.guesses
    guesses += [Guess("children", child.name, child.reason) for child in found.children]
    guesses += [Guess("select", join.shown, join.reason) for join in joined.joins]
    return Proposal(
        name or _source_name(table.name),
        f"{table.id[0]}.{table.id[1]}",
        MappingProxyType(settings),
        template(settings.get("title"), lines, [(one.name, one.title, one.lines) for one in found.children]),
        tuple(guesses),
        MappingProxyType(meaning.left_out | dict(joined.left_out) | dict(found.left_out)),
        () if visibility is not None else ("visibility",),
        tuple(_notes(table, columns, settings)),
    )


def _notes(table: Table, key: Sequence[str], settings: Mapping[str, Any]) -> Iterator[str]:
    """Give what is worth a thought."""
    if table.kind == "VIEW":
        yield (
            "Which rows of its tables a row of the view is made of is not known: there are no entries under tables, so "
            "changes are announced by the program, or found by a reindex."
        )
    if foreign := [name for name in settings.get("tables", {}) if qualified(name)[0] is not None]:
        yield (
            f"Triggers on tables of another owner ({', '.join(foreign)}) take CREATE ANY TRIGGER; or their owner runs "
            f"what `oraclerag source triggers --sql` prints."
        )
    for name in key:
        column = table.column(name)
        if column is not None and (reason := asked.withheld(column)):
            yield f"The key {name} is shown with every hit, and {reason}."
    if "tenant" in settings:
        yield (
            "With a tenant column the installation has several tenants: every enqueue and every search must name one. "
            "Take the line out where all rows belong to one."
        )
    if "title" not in settings:
        yield "No column is a title: hits are shown by their source and id."
    if any(column.family in ("CLOB", "NCLOB") for column in table.columns):
        yield 'It has long texts: chunker = "passages" cuts them by sections and sentences.'


def _source_name(table: str) -> str:
    """Make a source's name of a table's."""
    found = slug(table, longest=30)
    return f"{found[:24]}_row" if found in RESERVED_SOURCES else found


def _select(around: Surroundings, meaning: Meaning, wanted: Sequence[str], joins: Sequence[above.Join]) -> str:
    """Write the SELECT over all rows, a few columns a line; ``wanted`` are aliases beside those that settings name."""
    settings = meaning.settings
    named = {settings[name] for name in COLUMNS if name in settings} | set(settings.get("metadata", []))
    items = []
    for column in around.table.columns:
        name, alias = sql_name(column.name), meaning.alias.get(column.name)
        if alias is not None and alias in {*named, *wanted}:
            items.append(f"t.{name}" if name == alias else f"t.{name} as {alias}")
    items += [*meaning.more, *(item for join in joins for item in join.items)]
    lines, line = [], "select"
    for number, item in enumerate(items):
        item += "," if number + 1 < len(items) else ""
        if len(line) + len(item) > _WIDTH:
            lines.append(line)
            line = "  "
        line += (" " if line.strip() else "") + item
    lines += [line, f"from {table_name(around.table.id, around.schema)} t"]
    return "\n".join([*lines, *(join.clause for join in joins)])
