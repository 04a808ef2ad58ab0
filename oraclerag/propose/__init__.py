"""A source proposed for a table that is there, from the data dictionary; nothing is guessed silently.

``read`` describes a table and what its foreign keys lead to, ``proposal`` makes a source of the description alone, with
a reason for every guess; ``toml`` writes it down, ``trial`` renders rows with it and says what all would cost,
``write`` adds it to the configuration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.errors import InputError
from oraclerag.propose.guess import Guess
from oraclerag.propose.proposal import Proposal
from oraclerag.propose.proposal import propose as proposed
from oraclerag.propose.read import surroundings
from oraclerag.propose.toml import block, template_path
from oraclerag.propose.trial import Cost, Trial, trial
from oraclerag.propose.write import add
from oraclerag.records import Visibility
from oraclerag.schema.objects import ddl, ddl_files
from oraclerag.statements import qualified

__all__ = ["Cost", "Guess", "Proposal", "Proposed", "Trial", "add", "block", "propose", "template_path"]

ROWS = 50
"""Rows that are read to show one and to estimate the cost."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal, as ``toml`` with its template, and what it does with rows that are there."""

    proposal: Proposal
    toml: str
    trial: Trial


def propose(
    database: Database,
    settings: Settings,
    table: str,
    *,
    name: str | None = None,
    key: Sequence[str] = (),
    visibility: Visibility | None = None,
    rows: int = ROWS,
) -> Proposed:
    """Propose a source for a table or view: ``NAME`` or ``OWNER.NAME``, each plain or in ``"…"``.

    ``name`` is the source's (default: like the table), ``key`` its columns (default: the primary key), ``visibility``
    the decision that no dictionary knows (default: left open), ``rows`` (1 to 1,000) how many are read at most. Writes
    nothing. Raises InputError for a table that the user does not see, or of which nothing can be made.
    """
    if not 1 <= rows <= 1000:
        raise InputError(f"rows is {rows}, but must be 1 to 1,000.")
    columns = [_column(column) for column in key]
    with database.connect() as connection:
        around = surroundings(connection, table)
    owner, called = around.table.id
    if owner == database.schema and any(called == one.name for file in ddl_files() for one in ddl(file)):
        raise InputError(f"{called} is a table of oraclerag itself.", hint="Its texts come from other tables.")
    made = proposed(around, name=name, key=columns, visibility=visibility)
    return Proposed(made, block(made), trial(database, made, settings, around, rows=rows))


def _column(written: str) -> str:
    owner, name = qualified(written.strip(), "a column of the key")
    if owner is not None:
        raise InputError(f"{written!r} is no column: a name, plain or in quotes.")
    return name
