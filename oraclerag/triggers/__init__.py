"""Triggers that announce changes of a source's tables by themselves, whoever makes them.

A source's ``tables`` say which entities a changed row concerns. Columns of the row itself make one announcement, in the
lane of changes; a query (the tasks of a renamed sprint) fans out in the bulk lane, unless what changed decides who may
see them. All of it is part of the transaction that makes the change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import oracledb

from oraclerag.config import table_entries
from oraclerag.database import Database, driver_types, translated
from oraclerag.errors import ConfigurationError, SourceError, StatementFailed
from oraclerag.source import Source, SourceProblem
from oraclerag.source.dictionary import Dictionary, Named
from oraclerag.source.reads import TableName
from oraclerag.statements import Statements, qualified, quoted
from oraclerag.triggers.effects import Effect, effects
from oraclerag.triggers.entry import read_entry
from oraclerag.triggers.table import read_table, table_named
from oraclerag.triggers.watch import watched
from oraclerag.triggers.write import MARK, trigger_name, trigger_text

__all__ = ["Effect", "Installed", "Trigger", "TriggerPlan", "apply", "installed", "plan", "problems", "script"]

_DIGEST = re.compile(re.escape(MARK) + r"([0-9a-f]{16})")


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger of a source: its name and table as ``OWNER.NAME``, and the statement that creates it.

    ``state``: "new", "changed" (there is another one, or one that is disabled or invalid) or "same".
    """

    source: str
    name: str
    table: str
    state: Literal["new", "changed", "same"]
    statement: str


@dataclass(frozen=True, slots=True)
class TriggerPlan:
    """What ``source triggers`` would do: triggers, and those of ours that nothing wants any more (``OWNER.NAME``).

    ``effects`` tell what will not fire, what stops and what gets slower. ``grants`` are what owners of tables need who
    do not own the queue.
    """

    triggers: tuple[Trigger, ...]
    unwanted: tuple[str, ...]
    grants: tuple[str, ...]
    effects: tuple[Effect, ...]

    @property
    def statements(self) -> tuple[str, ...]:
        """All of it as SQL: those that drop first, then those that create, none with a final slash."""
        drops = tuple(f"DROP TRIGGER {_sql_name(name)}" for name in self.unwanted)
        return drops + tuple(trigger.statement for trigger in self.triggers)

    @property
    def changes(self) -> int:
        """How many triggers would be created, replaced or dropped."""
        return len(self.unwanted) + sum(trigger.state != "same" for trigger in self.triggers)


@dataclass(frozen=True, slots=True)
class Installed:
    """A trigger that this toolkit wrote, as the dictionary has it; ``digest`` says what it was made from."""

    owner: str
    name: str
    table: str
    works: bool
    digest: str | None


def plan(database: Database, sources: Sequence[Source], *, everything: bool = False) -> TriggerPlan:
    """Give the triggers of the sources, and which of ours they no longer want.

    With ``everything`` the sources are all that there are, so triggers of any other source are unwanted. Tables and
    queries are described in the database. Raises ConfigurationError or SourceError where an entry cannot become one.
    """
    with database.connect() as connection, driver_types(connection):
        there = {f"{one.owner}.{one.name}": one for one in installed(connection, database.schema)}
        dictionary = Dictionary(connection)
        tables: dict[Named, None] = {}
        lobs = False
        triggers = []
        for source in sources:
            for named, name, text, has_lobs in _triggers(connection, dictionary, database.schema, source):
                tables[named] = None
                lobs = lobs or has_lobs
                full = f"{named.owner}.{name}"
                triggers.append(Trigger(source.name, full, str(named), _state(there.get(full), text), text))
    wanted = {trigger.name for trigger in triggers}
    if len(wanted) < len(triggers):
        raise ConfigurationError("Two entries under tables mean the same table: a synonym, or its owner written once.")
    mine = tuple(f"RAG_{source.name.upper()}$" for source in sources)
    unwanted = [full for full, one in there.items() if full not in wanted and (everything or one.name.startswith(mine))]
    owners = sorted({named.owner for named in tables} - {database.schema})
    grants = [f'GRANT INSERT ON {quoted(database.schema)}.RAG_ENQUEUE TO "{owner}"' for owner in owners]
    found = effects(list(tables), lobs=lobs) if tables else ()
    return TriggerPlan(tuple(triggers), tuple(sorted(unwanted)), tuple(grants), found)


def apply(database: Database, planned: TriggerPlan) -> None:
    """Drop what nothing wants and create what is new or changed.

    Every statement commits by itself. Raises StatementFailed where one cannot be compiled, which leaves it invalid: the
    table cannot be changed until it is dropped or compiles.
    """
    with database.connect() as connection, connection.cursor() as cursor:
        for name in planned.unwanted:
            with translated():
                cursor.execute(f"DROP TRIGGER {_sql_name(name)}")
        for trigger in planned.triggers:
            if trigger.state == "same":
                continue
            with translated():
                cursor.execute(trigger.statement)
                warning = cursor.warning
            if warning is not None:
                with translated():  # an invalid trigger stops every change of its table (ORA-04098)
                    cursor.execute(f"DROP TRIGGER {_sql_name(trigger.name)}")
                raise StatementFailed(
                    f"The trigger {trigger.name} did not compile ({str(warning).partition(chr(10))[0]}); it was "
                    f"dropped again, so that its table can be changed.",
                    hint="The owner of the table needs INSERT on RAG_ENQUEUE and READ on what a query reads, granted "
                    "directly and not through a role. `oraclerag source triggers --sql` prints it to try by hand.",
                )


def problems(database: Database, source: Source) -> list[SourceProblem]:
    """Give what is wrong with the triggers of a source; all of it are warnings.

    An entry that cannot become one; and, where some are there, those that are missing, do not work, are not wanted, or
    were made of other settings.
    """
    if not source.settings.tables:
        return []
    try:
        planned = plan(database, [source])
    except (ConfigurationError, SourceError) as error:
        return [SourceProblem(source.name, "NO_TRIGGER", error.message, error.hint, "warning")]
    there = [trigger for trigger in planned.triggers if trigger.state != "new"]
    if not there and not planned.unwanted:
        return []  # the program announces what it changes, or they come later
    remedy = f"`oraclerag source triggers {source.name} --apply` creates, replaces and drops them."
    words = {
        "new": ("TRIGGER_MISSING", "has an entry, but no trigger announces its changes"),
        "changed": ("TRIGGER_STALE", "has a trigger that is disabled, invalid, or made of other settings or columns"),
    }
    found = [
        SourceProblem(source.name, words[trigger.state][0], f"The table {trigger.table} {words[trigger.state][1]}.",
                      remedy, "warning")
        for trigger in planned.triggers
        if trigger.state != "same"
    ]  # fmt: skip
    return found + [
        SourceProblem(source.name, "TRIGGER_UNWANTED", f"Nothing wants the trigger {name} any more.", remedy, "warning")
        for name in planned.unwanted
    ]


def script(planned: TriggerPlan) -> str:
    """Give the plan as a script for SQL*Plus."""
    lines = ["-- Triggers that enqueue changes, written by `oraclerag source triggers --sql`."]
    lines += [f"-- {effect.kind}: {effect.text}" for effect in planned.effects]
    lines += ["WHENEVER OSERROR EXIT FAILURE", "WHENEVER SQLERROR EXIT FAILURE", "SET DEFINE OFF", ""]
    for grant in planned.grants:
        lines += ["-- By the owner of the queue, or a DBA. A role does not do inside a trigger.", f"{grant};", ""]
    for statement in planned.statements:
        lines += [statement, "/", ""]
    return "\n".join(lines)


def installed(connection: oracledb.Connection, schema: str) -> list[Installed]:
    """Give the triggers of ours on the queue of a schema, those of other users too where the dictionary shows them."""
    with connection.cursor() as cursor, driver_types(connection), translated():
        cursor.execute(Statements("triggers", "NONE")["installed"])
        rows = cursor.fetchall()
    found = []
    for owner, name, table_owner, table, status, validity, body in rows:
        if body is None or f"INTO {quoted(schema)}.RAG_ENQUEUE " not in body:
            continue
        digest = _DIGEST.search(body)
        works = status == "ENABLED" and validity in ("VALID", None)
        found.append(Installed(owner, name, f"{table_owner}.{table}", works, digest[1] if digest else None))
    return found


def _state(one: Installed | None, text: str) -> Literal["new", "changed", "same"]:
    if one is None:
        return "new"
    digest = _DIGEST.search(text)
    return "same" if one.works and digest is not None and one.digest == digest[1] else "changed"


def _triggers(
    connection: oracledb.Connection, dictionary: Dictionary, schema: str, source: Source
) -> Iterator[tuple[Named, str, str, bool]]:
    """Give for every entry the table, the trigger's name and text, and whether a LOB of it matters."""
    entered = {}
    for written, texts in table_entries(source.settings).items():
        place = f"The table {written} of source {source.name!r}"
        entered[written] = (table_named(dictionary, dictionary.find(TableName(*qualified(written))), place), texts)
    known = {(named.owner, named.name) for named, _ in entered.values()}
    for written, (named, texts) in entered.items():
        table = read_table(connection, named, f"The table {written.upper()} of source {source.name!r}")
        entries = [read_entry(connection, dictionary, schema, source, table, text) for text in texts]
        for entry in entries:
            _refuse_unannounced(table.place, entry.reads or (), table.changed_by - known)
        columns = tuple(dict.fromkeys(name for entry in entries for name in entry.columns))
        watch = watched(dictionary, source, table, columns)
        name = trigger_name(source.name, named.name)
        lobs = any(not table.columns[column].compared for column in watch.columns)
        yield named, name, trigger_text(name, table, watch, entries), lobs


def _refuse_unannounced(place: str, read: Iterable[Named], unknown: frozenset[tuple[str, str]]) -> None:
    """Refuse a query over a table whose DELETE brings rows of this one along, unless that table announces itself."""
    for named in read:
        if (named.owner, named.name) in unknown:
            raise ConfigurationError(
                f"{place} has a query that reads {named}, whose DELETE deletes rows of this table: it cannot be read "
                f"then (ORA-04091).",
                hint=f"Write an entry for {named.name} too: what is deleted along with its rows is announced by it.",
            )


def _sql_name(full: str) -> str:
    owner, _, name = full.partition(".")
    return f'"{owner}"."{name}"'
