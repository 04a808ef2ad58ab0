"""What the columns of a table mean for a source: which one is the title, whose a row is, what belongs into the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oraclerag.propose import columns as asked
from oraclerag.propose.described import Column, Surroundings
from oraclerag.propose.guess import Guess
from oraclerag.propose.names import Aliases, label, sql_name, words
from oraclerag.propose.text import Line

__all__ = ["Meaning"]

_MOST_COLUMNS = 40
"""Columns of the table that go into the text; a row of 300 is no text."""

_METADATA = 5
_NAMES = 2  # of a person


class Meaning:
    """The settings that name a column, with ``guesses`` and ``left_out``; ``alias`` gives what a column is called.

    ``more`` are items of the SELECT that are no column of the table.
    """

    def __init__(self, around: Surroundings, key: Sequence[str]) -> None:
        self._around = around
        self._table = around.table
        self._key = tuple(key)
        self._said: set[str] = set()  # columns that an item of `more` says
        self.settings: dict[str, Any] = {}
        self.guesses: list[Guess] = []
        self.left_out: dict[str, str] = {}
        self.more: list[str] = []
        own = [column.name for column in self._table.columns]
        single = len(key) == 1 and ("SOURCE_ID" not in own or self._key == ("SOURCE_ID",))
        self.aliases = Aliases(["source_id"] if single else [])
        self.alias: dict[str, str] = {self._key[0]: "source_id"} if single else {}
        for column in self._key:
            self.alias.setdefault(column, self.aliases.of(column))
        self._usable = self._fit()
        for one in self._usable:
            if one.name not in self.alias:
                self.alias[one.name] = self.aliases.of(one.name)
        self._find()

    @property
    def tenant(self) -> tuple[str, str] | None:
        """The column of the tenant, with what it is called; None where there is none."""
        tenant = self.settings.get("tenant")
        return next(((column, alias) for column, alias in self.alias.items() if alias == tenant), None)

    def text(self, references: set[str]) -> list[Line]:
        """Choose the columns that make the text: prose first, then what is short.

        ``references`` are columns that refer to what is in the text by itself.
        """
        elsewhere = {self.settings.get(name) for name in ("tenant", "url", "title")}
        chosen: list[Column] = []
        for column in self._usable:
            if self.alias[column.name] in elsewhere or column.name in {*self._key, *references, *self._said}:
                continue
            if not asked.is_text(column) and words(column.name)[-1:] == ["id"]:
                if self.alias[column.name] not in self.settings.values():
                    self.left_out[column.name] = "a number that stands for something else says nothing in a text"
                continue
            chosen.append(column)
        chosen.sort(key=lambda column: (not asked.is_long(column), not asked.is_text(column)))  # stable
        for column in chosen[_MOST_COLUMNS:]:
            self.left_out[column.name] = f"a text of more than {_MOST_COLUMNS} columns is found by nothing"
        return [
            Line(self.alias[column.name], label(column), prose=asked.is_long(column), day=asked.is_time(column))
            for column in chosen[:_MOST_COLUMNS]
        ]

    def _fit(self) -> list[Column]:
        usable = []
        for column in self._table.columns:
            reason = asked.withheld(column) or asked.unfit(column)
            if reason is None:
                usable.append(column)
            elif column.name not in self._key:
                self.left_out[column.name] = reason
        return usable

    def _find(self) -> None:
        columns = [column for column in self._table.columns if column.name in self.alias]
        texts = [column for column in columns if asked.is_text(column)]
        self._take_title(texts)
        self._take("url", asked.ranked("url", texts, self._table.name))
        self._take("tenant", asked.ranked("tenant", columns))
        self.guesses += [
            Guess("tenant", self.alias[column.name], f"{reason}, if that is who the data belongs to", taken=False)
            for column, reason in asked.ranked("maybe tenant", columns)
        ]
        self._take("owner", self._owners(columns))
        for name in ("project", "sprint"):
            self._take(name, asked.ranked(name, columns))
        times = [column for column in columns if asked.is_time(column)]
        moments = asked.ranked("occurred_at", times, self._table.name)
        if not moments and len(times) == 1:
            moments = [(times[0], "it is the only time of a row")]
        self._take("occurred_at", moments)
        facts = [column for column, _ in asked.ranked("metadata", columns, self._table.name)]
        facts = [column for column in facts if not asked.is_long(column)][:_METADATA]
        if facts:
            self.settings["metadata"] = [self.alias[column.name] for column in facts]
            said = ", ".join(self.settings["metadata"])
            self.guesses.append(Guess("metadata", said, "their names say that one filters by them"))

    def _take_title(self, texts: Sequence[Column]) -> None:
        """Find what a hit is called: a column, or the two names of a person."""
        said = asked.descriptive(self._table)
        if said is not None and len(said[0]) == _NAMES:
            title = self.settings["title"] = self.aliases.of("full_name")
            first, last = (sql_name(column.name) for column in said[0])
            self.more.append(f"trim(t.{first} || ' ' || t.{last}) as {title}")
            self.guesses.append(Guess("title", title, said[1]))
            self._said.update(column.name for column in said[0])
            return
        found = asked.ranked("title", (column for column in texts if asked.can_be_title(column)), self._table.name)
        short = [column for column in texts if not asked.is_long(column) and column.name not in self._key]
        if not found and short:
            found = [(short[0], "it is the first short text; nothing is called title, subject or name")]
        self._take("title", found)

    def _owners(self, columns: Sequence[Column]) -> list[tuple[Column, str]]:
        """Give the columns that may say whose a row is: by name, and by a foreign key to a table of people."""
        if len(self._key) == 1 and asked.of_people(self._table.name):
            key = [column for column in columns if column.name == self._key[0]]
            return [(column, "the rows seem to be people, each of whom owns what is said of them") for column in key]
        named = asked.ranked("owner", columns)
        known = {column.name for column, _ in named}
        people = {
            one.columns[0]: one.parent[1]
            for one in self._around.parents
            if len(one.columns) == 1 and asked.of_people(one.parent[1])
        }
        by_name = [
            (column, reason + (f", and refers to {people[column.name]}" if column.name in people else ""))
            for column, reason in named
        ]
        by_name.sort(key=lambda one: one[0].name not in people)
        return by_name + [
            (column, f"{column.name} refers to {people[column.name]}, whose rows seem to be people")
            for column in columns
            if column.name in people and column.name not in known
        ]

    def _take(self, setting: str, found: Sequence[tuple[Column, str]]) -> None:
        if not found:
            return
        self.settings[setting] = self.alias[found[0][0].name]
        self.guesses.append(Guess(setting, self.settings[setting], found[0][1]))
        self.guesses += [Guess(setting, self.alias[column.name], reason, taken=False) for column, reason in found[1:4]]
