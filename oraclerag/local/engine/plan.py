"""What translation yields: PostgreSQL text with its parameters and what the session must heed when it runs it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oraclerag.local.interface import StatementKind


class Verb(enum.Enum):
    """What a translated statement does."""

    SELECT = "select"
    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    MERGE = "merge"


class LockWait(enum.Enum):
    """What FOR UPDATE does when a row is locked."""

    WAIT = "wait"
    NOWAIT = "nowait"
    SKIP_LOCKED = "skip locked"
    SECONDS = "seconds"


@dataclass(frozen=True, slots=True)
class BindParameter:
    """``$n`` is the value of the bind with this name (upper case, or as written when quoted)."""

    name: str
    rowid: bool = False  # compared with a ROWID: the session hands over the tid


@dataclass(frozen=True, slots=True)
class EmbedParameter:
    """``$n`` is the embedding of a bind's text, or of a literal, by a model; computed before the statement runs."""

    model: str  # qualified, upper case: OWNER.NAME
    bind: str | None
    literal: str | None = None


@dataclass(frozen=True, slots=True)
class ChainParameter:
    """``$n`` is what DBMS_VECTOR_CHAIN makes of a bind by a model that JSON names, of a bind or written out.

    A vector, or (``rows``) an array of texts. ``owner`` is whose model a name without a schema means.
    """

    bind: str
    owner: str
    rows: bool
    settings_bind: str | None = None
    settings: str = ""


@dataclass(frozen=True, slots=True)
class GenerateParameter:
    """``$n`` is what a language model writes for a prompt; computed before the statement runs.

    The prompt and its parameters (JSON) are a bind each, or written out; None for NULL. ``package``: DBMS_VECTOR or
    DBMS_VECTOR_CHAIN, whose errors differ.
    """

    package: str
    bind: str | None
    literal: str | None = None
    settings_bind: str | None = None
    settings: str | None = None


Parameter = BindParameter | EmbedParameter | ChainParameter | GenerateParameter


@dataclass(frozen=True, slots=True)
class Plan:
    """A translated statement.

    ``headings``: one per column of a query, Oracle's way (upper case, source text without blanks), None where a star
    makes PostgreSQL's own names the right ones. ``values``: half-open span of the one VALUES tuple in ``text`` (with
    its parentheses) for an INSERT that may be rewritten to several rows, else None. ``tables``: the (schema, name)
    pairs of the target or of every table named, for catalog checks. ``columns``: target columns of an INSERT as
    listed (empty: none listed) or of an UPDATE's SET.
    """

    kind: StatementKind
    verb: Verb
    text: str
    parameters: tuple[Parameter, ...] = ()
    headings: tuple[str | None, ...] | None = None
    values: tuple[int, int] | None = None
    returning: int = 0  # number of RETURNING … INTO targets
    locks: bool = False
    lock_wait: LockWait = LockWait.WAIT
    lock_seconds: int = 0
    embeds: bool = False  # calls ora.embed over columns: the statement may announce texts and must be run again
    accuracy: int | None = None  # percent of an approximate search, 0: that of the index
    probes: int | None = None  # named by the statement instead
    ef_search: int | None = None
    tables: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    where: int = 0  # offset of WHERE in an UPDATE or DELETE with ``keys``
    keys: tuple[int, ...] = ()  # places of parameters that a column, which is not set, must equal
    embed_update: EmbedUpdate | None = None  # another way to run an UPDATE that embeds

    @property
    def wants_settings(self) -> bool:
        """Whether settings of PostgreSQL must be changed around it."""
        return self.locks or not (self.accuracy is None and self.probes is None and self.ef_search is None)


@dataclass(frozen=True, slots=True)
class EmbedUpdate:
    """An UPDATE that sets a column to an embedding of its rows, in two statements.

    ``read`` locks the rows and gives their places and texts; ``text`` writes vectors (``$2``) at places (``$1``).
    """

    model: str  # as in :class:`EmbedParameter`
    read: Plan
    text: str


@dataclass(frozen=True, slots=True)
class Access:
    """What a statement does with an object of a schema: the object privilege ``privilege`` is what it takes.

    READ is held by whoever has SELECT too. ``kind`` is TABLE (views too), SEQUENCE or MINING MODEL; ``columns`` are
    those that are written, for privileges on columns.
    """

    schema: str
    name: str
    privilege: str
    kind: str = "TABLE"
    columns: tuple[str, ...] = ()


def _permit_all(accesses: Sequence[Access]) -> None:
    """Allow everything: for translations outside a database."""


def _no_text_index(_schema: str, _table: str, _column: str) -> str | None:
    """Know of no text index."""
    return None


def _usual_input(_owner: str, _name: str) -> str:
    """Give the name that the documented default metadata give a model's input."""
    return "DATA"


@dataclass(frozen=True, slots=True)
class Names:
    """How names resolve in a session: the catalog questions translation may ask.

    ``model_dimensions(owner, name)`` gives a model's dimension or None. ``columns(schema, table)`` gives
    (name, Oracle type name) pairs in order, or None when there is no such table or view. ``max_string_size``: bytes of
    the longest text literal. ``permit`` raises what is said to somebody who may not do what a statement does.
    ``model_input(owner, name)`` gives the name of a model's input. ``text_index(schema, table, column)`` tells how its
    CONTEXT index is synchronised (COMMIT, MANUAL), None where there is none.
    """

    user: str
    model_dimensions: Callable[[str, str], int | None]
    columns: Callable[[str, str], tuple[tuple[str, str], ...] | None]
    max_string_size: int = 32767
    permit: Callable[[Sequence[Access]], None] = _permit_all
    model_input: Callable[[str, str], str] = _usual_input
    text_index: Callable[[str, str, str], str | None] = _no_text_index
