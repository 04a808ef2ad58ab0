"""Which queue rows are meant: by source, tenant, error, age or key, as a condition with binds."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import oracledb

from oraclerag.database import in_list, own_tables, parts
from oraclerag.errors import InputError, OracleRagError
from oraclerag.records import NO_TENANT, SourceKey
from oraclerag.statements import Statements

__all__ = ["NO_CODE", "Choice"]

NO_CODE = "UNKNOWN"
"""How a row that was given up without an error code is called."""

_CRASHED = "CRASHED"
_KEYS = 256  # in one statement: each is two binds


@dataclass(frozen=True, slots=True)
class Choice:
    """Rows of one ``source``, ``tenant`` or ``error``, older than ``older_than``, or of ``keys``; None is any.

    ``error`` is a code as the queue shows it (``STATEMENT_FAILED``, ``CRASHED``), or the name of an error class of
    oraclerag (``StatementFailed``), which stands for its subclasses too; upper or lower case.
    """

    source: str | None = None
    tenant: str | None = None
    error: str | None = None
    older_than: dt.timedelta | None = None
    keys: tuple[SourceKey, ...] | None = None

    def __post_init__(self) -> None:
        if self.older_than is not None and self.older_than < dt.timedelta(0):
            raise InputError("older_than is negative, but is how long ago a row was enqueued at the least.")
        for key in self.keys or ():
            if not isinstance(key, SourceKey):
                raise InputError(f"keys must be SourceKeys, not {type(key).__name__}.")

    def conditions(self, connection: oracledb.Connection, schema: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give conditions on a row ``d`` with their binds: one, or several for many keys; none for no keys.

        The error is looked up first: raises InputError for one that neither oraclerag nor the queue knows.
        """
        terms: list[str] = []
        binds: dict[str, Any] = {}
        if self.source is not None:
            terms.append("d.SOURCE_TYPE = :one_source")
            binds["one_source"] = self.source
        if self.tenant is not None:
            terms.append("d.TENANT_ID = :one_tenant")
            binds["one_tenant"] = self.tenant
        if self.older_than is not None:
            terms.append("d.ENQUEUED_AT < SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:older_than, 'SECOND')")
            binds["older_than"] = self.older_than.total_seconds()
        if self.error is not None:
            listed, codes = in_list(_codes(self.error, connection, schema), "code")
            terms.append(f"NVL(d.ERROR_CODE, '{NO_CODE}') IN ({listed})")
            binds |= codes
        if self.keys is None:
            yield _all(terms), binds
            return
        for part in parts(list(dict.fromkeys(self.keys)), _KEYS):
            pairs, values = _pairs(part)
            yield _all([*terms, pairs]), binds | values


def _all(terms: Sequence[str]) -> str:
    return " AND ".join(terms) or "1 = 1"


def _pairs(keys: Sequence[SourceKey]) -> tuple[str, dict[str, Any]]:
    listed: list[str] = []
    binds: dict[str, Any] = {}
    by_type: dict[str, list[str]] = {}
    for key in keys:
        by_type.setdefault(key.type, []).append(key.id)
    for number, (source, ids) in enumerate(sorted(by_type.items())):
        inside, values = in_list(ids, f"k{number}_")
        listed.append(f"d.SOURCE_TYPE = :kt{number} AND d.SOURCE_ID IN ({inside})")
        binds |= {f"kt{number}": source, **values}
    return "(" + " OR ".join(f"({term})" for term in listed) + ")", binds


def _codes(error: str, connection: oracledb.Connection, schema: str) -> list[str]:
    """Give the codes that an error's name or code stands for."""
    wanted = _plain(error)
    found = {
        code
        for family in _classes(OracleRagError)
        if _plain(family.__name__) == wanted
        for code in (member.code for member in _classes(family))
    }
    found |= {family.code for family in _classes(OracleRagError) if _plain(family.code) == wanted}
    present = _present(connection, schema)
    found |= {code for code in (*present, _CRASHED, NO_CODE) if _plain(code) == wanted}
    if not found:
        there = f"there are {', '.join(present)}" if present else "no row has failed"
        raise InputError(
            f"{error!r} is neither an error of oraclerag nor one of the queue's; {there}.",
            hint="`oraclerag queue list` shows the errors that there are.",
        )
    return sorted(found)


def _present(connection: oracledb.Connection, schema: str) -> list[str]:
    with connection.cursor() as cursor, own_tables():
        cursor.execute(Statements("queue", schema)["codes"])
        return [code for (code,) in cursor]


def _classes(root: type[OracleRagError]) -> Iterator[type[OracleRagError]]:
    yield root
    for below in root.__subclasses__():
        yield from _classes(below)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def tenant_of(stored: str) -> str | None:
    """Give the tenant that a queue row names."""
    return None if stored == NO_TENANT else stored
