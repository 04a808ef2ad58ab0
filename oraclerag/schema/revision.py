"""Revisions: which there are, which one the tables have, and whether it is the one that this version needs."""

from __future__ import annotations

import re
from functools import cache

import oracledb

from oraclerag import __version__
from oraclerag.database import NO_SUCH_TABLE, code_of, translated
from oraclerag.errors import InputError, SchemaMissing, SchemaOutdated, SchemaTooNew
from oraclerag.statements import Statements, identifier, root

__all__ = ["VERSION_TABLE", "current", "refuse_newer", "require", "require_revision", "revisions", "steps", "version"]

VERSION_TABLE = "RAG_ALEMBIC_VERSION"

_REVISION_FILE = re.compile(r"(\d{4})_[a-z0-9_]+\.py")


@cache
def revisions() -> tuple[str, ...]:
    """Give all revisions, oldest first; a revision is the number its file begins with."""
    names = sorted(path.name for path in (root("alembic") / "versions").glob("*.py"))
    return tuple(match[1] for match in map(_REVISION_FILE.fullmatch, names) if match)


def current(connection: oracledb.Connection, schema: str) -> str | None:
    """Give the revision of the tables in ``schema``; None where there are none, or the first revision did not end."""
    return version(connection, schema)[1]


def require(connection: oracledb.Connection, schema: str) -> None:
    """Make sure that the tables in ``schema`` are those of this version; one cheap statement.

    Raises :class:`SchemaMissing`, :class:`SchemaOutdated` or :class:`SchemaTooNew`.
    """
    there, revision = version(connection, schema)
    schema = identifier(schema, "schema")
    if not there:
        raise SchemaMissing(f"There are no tables of oraclerag in the schema {schema}, or this user may not read them.")
    require_revision(revision, schema)


def require_revision(revision: str | None, schema: str) -> None:
    """Make sure that a revision that was read is the one of this version; raises as :func:`require` does."""
    if revision is None:
        raise SchemaMissing(
            f"The tables of oraclerag in the schema {schema} are not complete: a migration did not end."
        )
    refuse_newer(revision, schema)
    if revision != revisions()[-1]:
        raise SchemaOutdated(
            f"The tables in the schema {schema} are at revision {revision}; this version needs {revisions()[-1]}."
        )


def version(connection: oracledb.Connection, schema: str) -> tuple[bool, str | None]:
    """Tell whether the version table is there, and the revision in it."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(Statements("schema", schema)["version"])
            row = cursor.fetchone()
        except oracledb.Error as error:
            if code_of(error) == NO_SUCH_TABLE:
                return False, None
            with translated():
                raise
    return True, row[0] if row else None


def steps(revision: str) -> int:
    """Give how many revisions are in force at ``revision``: 0 for ``base``, all for ``head``."""
    if revision == "base":
        return 0
    if revision == "head":
        return len(revisions())
    if revision not in revisions():
        raise InputError(
            f"There is no revision {revision!r}: it must be head, base or one of {', '.join(revisions())}."
        )
    return revisions().index(revision) + 1


def refuse_newer(revision: str, schema: str) -> None:
    """Raise SchemaTooNew for a revision that this version does not know."""
    if revision not in revisions():
        raise SchemaTooNew(
            f"The tables in the schema {schema} are at revision {revision!r}, which this version of oraclerag "
            f"({__version__}) does not know."
        )
