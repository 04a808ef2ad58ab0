"""A source proposed for a table: what to read, and how its columns are meant, each guess with its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from oraclerag.config import RESERVED_SOURCES
from oraclerag.errors import InputError
from oraclerag.propose import children as below
from oraclerag.propose import columns as asked
from oraclerag.propose import parents as above
from oraclerag.propose.described import Column, Surroundings, Table, TableId
from oraclerag.propose.names import Aliases, label, slug, sql_name, table_name, words
from oraclerag.propose.text import Line, template
from oraclerag.records import Visibility

__all__ = ["Guess", "Proposal", "propose"]

_MOST_COLUMNS = 40
"""Columns of the table that go into the text; a row of 300 is no text."""

_METADATA = 5
_NAMES = 2  # of a person


@dataclass(frozen=True, slots=True)
class Guess:
    """A setting that was guessed, and why. ``taken`` is False for another value that is only named."""

    setting: str
    value: str
    reason: str
    taken: bool = True


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
    return _Maker(around, name or _source_name(around.table.name), key, visibility).made()


class _Maker:
    """One proposal while it is made."""

    def __init__(self, around: Surroundings, name: str, key: Sequence[str], visibility: Visibility | None) -> None:
        self._around = around
        self._table: Table = around.table
        self._name = name
        self._visibility = visibility
        self._guesses: list[Guess] = []
        self._left_out: dict[str, str] = {}
        self._notes: list[str] = []
        self._more: list[str] = []  # items of the SELECT that are no column
        self._said: set[str] = set()  # columns that are part of one of these
        self._key = self._found_key(key)
        own = [column.name for column in self._table.columns]
        single = len(self._key) == 1 and ("SOURCE_ID" not in own or self._key == ("SOURCE_ID",))
        self._aliases = Aliases(["source_id"] if single else [])
        self._alias: dict[str, str] = {self._key[0]: "source_id"} if single else {}
        for column in self._key:
            self._alias.setdefault(column, self._aliases.of(column))

    def made(self) -> Proposal:
        around, table = self._around, self._table
        usable = self._usable()
        for column in usable:
            self._alias.setdefault(column.name, self._aliases.of(column.name))
        settings: dict[str, Any] = {}
        self._meanings(settings)
        joined = above.joins(around, self._aliases)
        self._left_out |= joined.left_out
        text = self._of_text(usable, settings, {column for join in joined.joins for column in join.reference.columns})
        key = [self._alias[column] for column in self._key]
        taken = {*self._alias.values(), *(alias for join in joined.joins for alias in join.aliases)}
        found = below.children(around, dict(zip(self._key, key, strict=True)), taken)
        self._left_out |= found.left_out
        self._guesses += [Guess("children", child.name, child.reason) for child in found.children]
        self._guesses += [Guess("select", join.shown, join.reason) for join in joined.joins]
        if table.kind == "VIEW":
            self._notes.append(
                "Which rows of its tables a row of the view is made of is not known: [source.NAME.tables] is empty, so "
                "changes are announced by the program, or found by a reindex."
            )
        else:
            tenant = settings.get("tenant")
            settings["tables"] = self._entries(joined.joins, found.children, tenant)
        needed = {settings.get(name) for name in ("tenant", "owner", "project", "sprint", "url", "occurred_at")}
        needed |= {settings.get("title"), *settings.get("metadata", []), *key, *(line.name for line in text)}
        shown = [column for column in table.columns if self._alias.get(column.name, column) in needed]
        settings["select"] = _select(around, shown, self._alias, self._more, joined.joins)
        if key != ["source_id"]:
            settings["key"] = key
        if found.children:
            settings["children"] = {
                child.name: {"select": child.select, "order_by": child.order_by} for child in found.children
            }
        if self._visibility is not None:
            settings["visibility"] = self._visibility
        self._about_rights(settings)
        lines = [*text, *(line for join in joined.joins for line in join.lines)]
        if not lines and not found.children and "title" not in settings:
            raise InputError(f"{table.name} has no column that makes a text.", hint="Index a view or a query of it.")
        return Proposal(
            self._name,
            f"{table.id[0]}.{table.id[1]}",
            MappingProxyType(settings),
            template(settings.get("title"), lines, [(one.name, one.title, one.lines) for one in found.children]),
            tuple(self._guesses),
            MappingProxyType(self._left_out),
            () if self._visibility is not None else ("visibility",),
            tuple(self._notes),
        )

    def _found_key(self, named: Sequence[str]) -> tuple[str, ...]:
        table = self._table
        if named:
            for name in named:
                if table.column(name) is None:
                    raise InputError(f"{table.name} has no column {name}, which --key names.")
            key = tuple(named)
            if key != table.primary_key and key not in table.unique:
                self._guesses.append(
                    Guess("key", ", ".join(key), "you said so; nothing in the dictionary says that it is unique")
                )
        elif table.primary_key:
            key = table.primary_key
            self._guesses.append(Guess("key", ", ".join(key), "it is the primary key"))
        elif table.unique:
            key = table.unique[0]
            self._guesses.append(
                Guess("key", ", ".join(key), "there is no primary key; this is unique and always has a value")
            )
            self._guesses += [Guess("key", ", ".join(other), "unique too", taken=False) for other in table.unique[1:]]
        elif table.kind == "VIEW":
            raise InputError(
                f"{table.name} is a view, and the dictionary does not say what identifies one of its rows.",
                hint="Name the columns: --key ID, or --key ORDER_ID,LINE_NO.",
            )
        else:
            raise InputError(
                f"{table.name} has no primary key, and no unique key whose columns always have a value: nothing names "
                f"one of its rows.",
                hint="Name columns that are unique (--key ID), or give the table a key: ALTER TABLE … ADD PRIMARY KEY.",
            )
        for name in key:
            column = table.column(name)
            if column is None or not asked.can_be_key(column):
                kind = column.kind if column is not None else "unknown"
                raise InputError(f"The key of {table.name} has the column {name}, a {kind}: that cannot be an id.")
        return key

    def _usable(self) -> list[Column]:
        usable = []
        for column in self._table.columns:
            reason = asked.withheld(column) or asked.unfit(column)
            if reason is None:
                usable.append(column)
            elif column.name not in self._key:
                self._left_out[column.name] = reason
        return usable

    def _meanings(self, settings: dict[str, Any]) -> None:
        """Find the columns that a setting names."""
        columns = [column for column in self._table.columns if column.name in self._alias]
        texts = [column for column in columns if asked.is_text(column)]
        self._take_title(settings, texts)
        self._take(settings, "url", asked.ranked("url", texts, self._table.name))
        self._take(settings, "tenant", asked.ranked("tenant", columns))
        self._guesses += [
            Guess("tenant", self._alias[column.name], f"{reason}: is that who the data belongs to?", taken=False)
            for column, reason in asked.ranked("maybe tenant", columns)
        ]
        self._take(settings, "owner", self._owners(columns))
        for name in ("project", "sprint"):
            self._take(settings, name, asked.ranked(name, columns))
        times = [column for column in columns if asked.is_time(column)]
        moments = asked.ranked("occurred_at", times, self._table.name)
        if not moments and len(times) == 1:
            moments = [(times[0], "it is the only time of a row")]
        self._take(settings, "occurred_at", moments)
        facts = [column for column, _ in asked.ranked("metadata", columns, self._table.name)][:_METADATA]
        facts = [column for column in facts if not asked.is_long(column)]
        if facts:
            settings["metadata"] = [self._alias[column.name] for column in facts]
            self._guesses.append(
                Guess("metadata", ", ".join(settings["metadata"]), "their names say that one filters by them")
            )

    def _take_title(self, settings: dict[str, Any], texts: Sequence[Column]) -> None:
        """Find what a hit is called: a column, or the two names of a person."""
        said = asked.descriptive(self._table)
        if said is not None and len(said[0]) == _NAMES:
            settings["title"] = self._aliases.of("full_name")
            first, last = (sql_name(column.name) for column in said[0])
            self._more.append(f"trim(t.{first} || ' ' || t.{last}) as {settings['title']}")
            self._guesses.append(Guess("title", settings["title"], said[1]))
            self._said.update(column.name for column in said[0])
            return
        found = asked.ranked("title", (column for column in texts if asked.can_be_title(column)), self._table.name)
        short = [column for column in texts if not asked.is_long(column) and column.name not in self._key]
        if not found and short:
            found = [(short[0], "it is the first short text; nothing is called title, subject or name")]
        self._take(settings, "title", found)

    def _owners(self, columns: Sequence[Column]) -> list[tuple[Column, str]]:
        """Give the columns that may say whose a row is: by name, and by a foreign key to a table of people."""
        if len(self._key) == 1 and asked.of_people(self._table.name):
            key = [column for column in columns if column.name == self._key[0]]
            return [(column, "the rows seem to be people, each of whom owns what is said of them") for column in key]
        named = asked.ranked("owner", columns, "")
        known = {column.name for column, _ in named}
        people = {
            one.columns[0]: one.parent[1]
            for one in self._around.parents
            if len(one.columns) == 1 and asked.of_people(one.parent[1])
        }
        by_name = [
            (column, f"{reason}" + (f", and refers to {people[column.name]}" if column.name in people else ""))
            for column, reason in named
        ]
        by_name.sort(key=lambda one: one[0].name not in people)
        return by_name + [
            (column, f"{column.name} refers to {people[column.name]}, whose rows seem to be people")
            for column in columns
            if column.name in people and column.name not in known
        ]

    def _take(self, settings: dict[str, Any], setting: str, found: Sequence[tuple[Column, str]]) -> None:
        if not found:
            return
        settings[setting] = self._alias[found[0][0].name]
        self._guesses.append(Guess(setting, settings[setting], found[0][1]))
        self._guesses += [
            Guess(setting, self._alias[column.name], reason, taken=False) for column, reason in found[1:4]
        ]

    def _of_text(self, usable: Sequence[Column], settings: Mapping[str, Any], references: set[str]) -> list[Line]:
        """Choose the columns that make the text: prose first, then what is short."""
        of_rights = {settings.get(name) for name in ("tenant", "url")}
        chosen: list[Column] = []
        for column in usable:
            alias = self._alias[column.name]
            if alias in of_rights or column.name in self._key or alias == settings.get("title"):
                continue
            if column.name in references or column.name in self._said:
                continue  # what it refers to is in the text, or it is
            if not asked.is_text(column) and words(column.name)[-1:] == ["id"]:
                self._left_out.setdefault(column.name, "a number that stands for something else says nothing in a text")
                continue
            chosen.append(column)
        chosen.sort(key=lambda column: (not asked.is_long(column), not asked.is_text(column)))  # stable
        for column in chosen[_MOST_COLUMNS:]:
            self._left_out[column.name] = f"a text of more than {_MOST_COLUMNS} columns is found by nothing"
        return [
            Line(self._alias[column.name], label(column), prose=asked.is_long(column), day=asked.is_time(column))
            for column in chosen[:_MOST_COLUMNS]
        ]

    def _entries(
        self, joins: Sequence[above.Join], children: Sequence[below.Child], tenant: str | None
    ) -> dict[str, str | list[str]]:
        """Say whose changes concern which rows, for the triggers."""
        table, schema = self._table, self._around.schema
        key = ", ".join(sql_name(column) for column in self._key)
        own = table_name(table.id, schema)
        real = next((column for column, alias in self._alias.items() if alias == tenant), None) if tenant else None
        gives = key if real is None else f"{key}, {sql_name(real)}"
        entries: dict[str, str | list[str]] = {own: key}
        queries: dict[TableId, list[str]] = {}
        for join in joins:
            pairs = zip(join.reference.columns, join.reference.parent_columns, strict=True)
            where = " and ".join(f"{sql_name(column)} = :{sql_name(parent)}" for column, parent in pairs)
            queries.setdefault(join.reference.parent, []).append(f"select {gives} from {own} where {where}")
        for parent, texts in queries.items():
            entries[table_name(parent, schema)] = texts[0] if len(texts) == 1 else texts
        for child in children:
            name = table_name(child.reference.child, schema)
            described = self._around.related[child.reference.child]
            if real is None or (tenant is not None and described.column(tenant.upper()) is not None):
                text = ", ".join(sql_name(child.holds[column]) for column in self._key)
            else:
                where = " and ".join(f"{sql_name(column)} = :{sql_name(child.holds[column])}" for column in self._key)
                text = f"select {gives} from {own} where {where}"
            before = entries.get(name)
            entries[name] = text if before is None else [*([before] if isinstance(before, str) else before), text]
        return entries

    def _about_rights(self, settings: Mapping[str, Any]) -> None:
        if self._visibility == "owner" and "owner" not in settings:
            raise InputError(
                f'No column of {self._table.name} seems to say whose a row is, which visibility "owner" needs.',
                hint="Leave --visibility out, and write owner = … where the proposal stands.",
            )
        if "tenant" in settings:
            self._notes.append(
                "With a tenant column the installation has several tenants: every enqueue and every search must name "
                "one. Take the line out where all rows belong to one."
            )
        if "title" not in settings:
            self._notes.append("No column is a title: hits are shown by their source and id.")
        if any(asked.is_long(column) and "LOB" in column.kind for column in self._table.columns):
            self._notes.append('It has long texts: chunker = "passages" cuts them by sections and sentences.')


def _source_name(table: str) -> str:
    """Make a source's name of a table's."""
    found = slug(table, longest=30)
    return f"{found[:24]}_row" if found in RESERVED_SOURCES else found


def _select(
    around: Surroundings,
    columns: Sequence[Column],
    aliases: Mapping[str, str],
    more: Sequence[str],
    joins: Sequence[above.Join],
) -> str:
    """Write the SELECT over all rows, a few columns a line."""
    items = []
    for column in columns:
        name, alias = sql_name(column.name), aliases[column.name]
        items.append(f"t.{name}" if name == alias else f"t.{name} as {alias}")
    items += [*more, *(item for join in joins for item in join.items)]
    lines, line = [], "select"
    for number, item in enumerate(items):
        item += "," if number + 1 < len(items) else ""
        if len(line) + len(item) > 100:
            lines.append(line)
            line = "  "
        line += (" " if line.strip() else "") + item
    lines += [line, f"from {table_name(around.table.id, around.schema)} t"]
    return "\n".join([*lines, *(join.clause for join in joins)])
