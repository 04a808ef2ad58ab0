"""Putting row security on and taking it away: the scripts of ``sql/setup``, printed or run as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import oracledb

from oraclerag.database import NO_SUCH_TABLE, Database, code_of, translated, words
from oraclerag.errors import ConfigurationError, InputError, PrivilegeMissing, StatementFailed
from oraclerag.security.policies import Protection, not_executable, policies
from oraclerag.statements import Statements, identifier, root

__all__ = ["READERS", "install", "script", "statements_of", "uninstall"]

READERS = ("RAG_SEARCHER", "RAG_RECORDER")
"""The roles of ``grant_users.sql`` whose users read for a tenant."""

_LONGEST_OWNER = 118  # "ORACLERAG_" and the name of the owner are the name of the context: 128 bytes
_COMMANDS = re.compile(r"(WHENEVER|SET|DEFINE|PROMPT|EXIT)\b")
_NAME = re.compile(r"&(\w+)\.?")

_NO_OPTION = "ORA-00439"
_INCLUDED = ("ORA-51987", "ORA-51988", "ORA-51991")
_NO_SUCH_GRANTEE = "ORA-01917"
_AS_DBA = "Run it as a DBA, with ORACLERAG_SCHEMA set to the owner of the tables, or give a DBA the script (--sql)."
_WITHOUT = "Tenants are then kept apart by the predicate of every read alone, see docs/security.md."


def script(owner: str, *, worker: str | None = None, readers: Sequence[str] = READERS) -> str:
    """Give the script that installs row security, or without ``worker`` the one that removes it, with names filled in.

    ``owner`` has the tables, ``worker`` is the database user that sees every row, ``readers`` are the users and roles
    that may say for which tenant they read. Raises ConfigurationError for what is no plain identifier.
    """
    file, names = _names(owner, worker, readers)
    return "\n".join(_defined(line, names) for line in _text(file).split("\n"))


def install(database: Database, *, worker: str, readers: Sequence[str] = READERS) -> Protection:
    """Put a policy on every table that holds texts or the keys of data; a second call puts other names in force.

    See :func:`script` for the names; ``worker`` must not be the user of a program that searches. The connected user
    needs EXECUTE on DBMS_RLS, CREATE ANY CONTEXT, and to create procedures in the owner's schema. Commits, as all DDL
    does. Raises StatementFailed where the database has no row security or an index stands against it, PrivilegeMissing,
    InputError.
    """
    _, names = file_names = _names(database.schema, worker, readers)
    with database.connect() as connection:
        _require_option(connection, database.schema)
        _run(connection, statements_of(*file_names), names)
        found = policies(connection, database.schema)
    # Whether it hides rows from this user is seen by its next statement; who installs is not always who reads.
    return Protection(tuple(found), restricted=False)


def uninstall(database: Database) -> None:
    """Take policies, context, package and function away; nothing happens where there are none. Commits.

    Raises PrivilegeMissing.
    """
    _, names = file_names = _names(database.schema, None, ())
    with database.connect() as connection:
        _run(connection, statements_of(*file_names), names)


def statements_of(file: str, names: Mapping[str, str]) -> list[str]:
    """Give the statements of a script of ours, which end with a line that holds only a slash, with names filled in."""
    found: list[str] = []
    lines: list[str] = []
    for line in _text(file).split("\n"):
        if line == "/":
            found.append("\n".join(lines).strip())
            lines = []
        elif lines or not (not line or line.startswith("--") or _COMMANDS.match(line)):
            lines.append(_NAME.sub(lambda match: names[match[1]], line))
    return found


def _names(owner: str, worker: str | None, readers: Sequence[str]) -> tuple[str, dict[str, str]]:
    names = {"rag_owner": identifier(owner, "owner of the tables")}
    if len(names["rag_owner"]) > _LONGEST_OWNER:
        raise ConfigurationError(f"The owner of the tables has a name of more than {_LONGEST_OWNER} characters.")
    if worker is None:
        return "vpd_remove.sql", names
    names["rag_worker"] = identifier(worker, "user of the workers")
    if not readers:
        raise InputError("At least one user or role must be named that may say for which tenant it reads.")
    names["rag_readers"] = ",".join(dict.fromkeys(identifier(reader, "reader") for reader in readers))
    if names["rag_worker"] in names["rag_readers"].split(","):
        raise InputError(
            f"{names['rag_worker']} is the user of the workers, from whom nothing is hidden, and cannot be a reader.",
            hint="Let programs that search connect as another user.",
        )
    return "vpd.sql", names


def _text(file: str) -> str:
    return (root("sql") / "setup" / file).read_text("utf-8")


def _defined(line: str, names: Mapping[str, str]) -> str:
    """Put a name in the place of the one that the script begins with."""
    match = re.fullmatch(r"DEFINE (\w+) = \S+", line)
    return line if match is None else f"DEFINE {match[1]} = {names[match[1]]}"


def _require_option(connection: oracledb.Connection, schema: str) -> None:
    """Refuse an edition that has no row security, before anything is made."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(Statements("security", schema)["option"])
        except oracledb.DatabaseError as error:
            if code_of(error) == NO_SUCH_TABLE:  # not everybody may look; ORA-00439 says it then
                return
            with translated():
                raise
        row = cursor.fetchone()
    if row is not None and row[0] != "TRUE":
        raise StatementFailed(
            "This database has no row security (V$OPTION: Fine-grained access control is FALSE).", hint=_WITHOUT
        )


def _run(connection: oracledb.Connection, statements: Sequence[str], names: Mapping[str, str]) -> None:
    for statement in statements:
        with connection.cursor() as cursor, translated():
            try:
                cursor.execute(statement)
            except oracledb.DatabaseError as error:
                explained = _explained(error, names)
                if explained is None:
                    raise
                raise explained from error
            if cursor.warning is not None:  # made, and does not compile
                raise StatementFailed(
                    f"{statement.partition('(')[0].split(' AS')[0].strip()} does not compile.",
                    hint="SELECT * FROM ALL_ERRORS says why; every statement on the tables is refused until it does.",
                )


def _explained(error: oracledb.DatabaseError, names: Mapping[str, str]) -> StatementFailed | PrivilegeMissing | None:
    """Give what an error of the script means, None where Oracle's own words say it."""
    code, owner = code_of(error), names["rag_owner"]
    if code == _NO_OPTION:
        return StatementFailed(f"This edition of the database has no row security ({words(error)}).", hint=_WITHOUT)
    if not_executable(error):
        return PrivilegeMissing(
            "This database user may not use DBMS_RLS (or reads the dictionary too little).",
            hint=_AS_DBA,
        )
    if code == "ORA-01031":
        return PrivilegeMissing(
            f"This database user lacks CREATE ANY CONTEXT, or may not create a package in {owner} ({words(error)}).",
            hint=_AS_DBA,
        )
    if code in _INCLUDED:
        return StatementFailed(
            f"The vector index on {owner}.RAG_CHUNK has INCLUDE columns, which rule out a policy ({words(error)}).",
            hint="Choose: `oraclerag index rebuild --no-include` and install again, or keep the columns and leave it.",
        )
    if code == _NO_SUCH_GRANTEE:
        return StatementFailed(
            f"A reader is neither a user nor a role: {names.get('rag_readers', '')} ({words(error)}).",
            hint="sql/setup/grant_users.sql makes the roles; --reader names others.",
        )
    return None
