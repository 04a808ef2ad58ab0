"""The text index over RAG_CHUNK.CONTENT, of Oracle Text: build, rebuild, status, sync, drop.

It is a CONTEXT index with the default lexer and no stop words, synchronised at every commit. One that could not be
built stays in the table as a failed index and blocks every change of it (ORA-29861): it is dropped at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import oracledb

from oraclerag.database import Database, code_of, own_tables, translate
from oraclerag.errors import InputError, OracleRagError, PrivilegeMissing, StatementFailed
from oraclerag.index.running import run, unhurried
from oraclerag.security import require_unrestricted
from oraclerag.statements import Statements, identifier

__all__ = ["TEXT_NAME", "TextIndexStatus", "build_text", "drop_text", "rebuild_text", "sync_text", "text_status"]

TEXT_NAME = "RAG_CHUNK_TEXT_IDX"
_NAME_TAKEN = "ORA-00955"
_NO_INDEX = "ORA-01418"
_CREATION_FAILED = "ORA-29855"
_NO_PACKAGE = "ORA-06550"
_NO_INDEXTYPE = "ORA-29833"
_DRG = re.compile(r"\bDRG-\d{5}: [^\n]*")
_REMEDY = "A hybrid search does without: it looks for the words in the nearest texts."

Said = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TextIndexStatus:
    """What there is of the text index.

    ``installed``: whether the database has Oracle Text; ``state`` is None where there is no index, else "VALID" or what
    is wrong with it ("FAILED", "LOADING", …). ``pending`` counts changed chunks that it does not know yet; None where
    there is no index, and for everybody but its owner.
    """

    name: str
    installed: bool
    state: str | None
    pending: int | None = None

    @property
    def exists(self) -> bool:
        """Whether there is an index of that name."""
        return self.state is not None

    @property
    def usable(self) -> bool:
        """Whether a hybrid search may use it."""
        return self.state == "VALID"

    @property
    def recommendation(self) -> str | None:
        """What to do, None where nothing is."""
        if self.exists and not self.usable:
            return f"rebuild it, it is {self.state} and blocks changes: `oraclerag index rebuild --lexical`"
        return None


def text_status(database: Database) -> TextIndexStatus:
    """Look at the index."""
    with database.connect() as connection:
        return _look(connection, database.schema)


def build_text(database: Database, *, said: Said = lambda _: None) -> TextIndexStatus:
    """Build the index if there is none that is usable; gives its state.

    ``said`` is told what the build does to workers, and what failed and was dropped. Commits, as all DDL does. Raises
    InputError where the database has no Oracle Text, PrivilegeMissing, Contention, StatementFailed.
    """
    return _make(database, said, replace=False)


def rebuild_text(database: Database, *, said: Said = lambda _: None) -> TextIndexStatus:
    """Build the index anew, which also tidies what many commits have scattered; as :func:`build_text`.

    It is dropped first: hybrid searches look for words in the nearest texts until it is there again.
    """
    return _make(database, said, replace=True)


def drop_text(database: Database) -> bool:
    """Drop the index, a failed one too; gives whether there was one. Commits."""
    with database.connect() as connection, unhurried(connection), own_tables():
        return _drop(connection, database.schema)


def sync_text(database: Database) -> TextIndexStatus:
    """Have the index learn what it does not know yet; needs EXECUTE on CTXSYS.CTX_DDL (role CTXAPP). Commits.

    Raises InputError where there is no index, PrivilegeMissing, StatementFailed.
    """
    schema = database.schema
    with database.connect() as connection, unhurried(connection):
        if not _look(connection, schema).exists:
            raise InputError("There is no text index.", hint="`oraclerag index build --lexical` builds it.")
        with connection.cursor() as cursor:
            try:
                cursor.execute(
                    Statements("index", schema)["text_sync"], name=f"{identifier(schema, 'schema')}.{TEXT_NAME}"
                )
            except oracledb.DatabaseError as error:
                raise _explained(error, "synchronised") from error
        return _look(connection, schema)


def _make(database: Database, said: Said, *, replace: bool) -> TextIndexStatus:
    schema = database.schema
    with database.connect() as connection, unhurried(connection), own_tables():
        found = _look(connection, schema)
        if found.usable and not replace:
            return found
        if not found.installed:
            raise InputError(f"Oracle Text is not installed in this database (slim images lack it). {_REMEDY}")
        require_unrestricted(connection, schema, "Who builds the text index")  # it would hold what he sees
        said("Building the text index. RAG_CHUNK is locked against changes meanwhile: workers wait in their batch.")
        if found.exists:
            if not found.usable:
                said(f"The text index that was there is {found.state}, which blocks changes of RAG_CHUNK: dropped.")
            _drop(connection, schema)
        _create(connection, schema, said)
        return _look(connection, schema)


def _create(connection: oracledb.Connection, schema: str, said: Said) -> None:
    statements = Statements("index", schema)
    first: oracledb.DatabaseError | None = None
    for form in ("text_create", "text_create_maintained"):
        try:
            run(connection, statements[form])
        except oracledb.DatabaseError as error:
            code = code_of(error)
            if code == _NAME_TAKEN and _look(connection, schema).exists:
                return  # another process was quicker
            if _look(connection, schema).exists:
                said("The text index could not be built; what was left of it would block changes: dropped.")
                _drop(connection, schema)
            first = first or error
            if code != _CREATION_FAILED:
                break
        else:
            if first is not None:
                said("This database keeps its text indexes up to date by itself, shortly after each commit.")
            return
    assert first is not None  # noqa: S101 - else it has returned
    raise _explained(first, "built") from first


def _drop(connection: oracledb.Connection, schema: str) -> bool:
    try:
        run(connection, Statements("index", schema)["text_drop"])
    except oracledb.DatabaseError as error:
        if code_of(error) != _NO_INDEX:
            raise
        return False
    return True


def _look(connection: oracledb.Connection, schema: str) -> TextIndexStatus:
    statements = Statements("index", schema)
    with own_tables(), connection.cursor() as cursor:
        cursor.execute(statements["text_status"], owner=schema)
        row = cursor.fetchone()
        assert row is not None  # noqa: S101 - dual has one row
        installed, user, state = row
        pending = None
        if state is not None and installed and user == schema:
            cursor.execute(statements["text_pending"])
            counted = cursor.fetchone()
            pending = int(counted[0]) if counted is not None else None
    return TextIndexStatus(TEXT_NAME, bool(installed), state, pending)


def _explained(error: oracledb.DatabaseError, what: str) -> OracleRagError:
    """Give the toolkit's error; Oracle Text's own reason is lines below Oracle's."""
    reason = _DRG.search(str(error))
    code = code_of(error)
    known = translate(error)
    if code in (_NO_PACKAGE, _NO_INDEXTYPE) and what == "synchronised":
        return PrivilegeMissing(
            f"The text index could not be {what}: CTX_DDL is not there for this user ({code}).",
            hint="The owner of the tables needs the role CTXAPP, which DB_DEVELOPER_ROLE holds: GRANT CTXAPP TO it.",
        )
    if reason is None or type(known) is not StatementFailed:
        return known
    return StatementFailed(
        f"The text index could not be {what} ({code}, {reason[0]}). {_REMEDY}",
        hint="The owner of the tables needs the role CTXAPP, which DB_DEVELOPER_ROLE holds: GRANT CTXAPP TO it.",
    )
