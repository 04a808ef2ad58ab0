"""Read the log for a scope: what was asked, one of them with its hits, and the last turns of a conversation."""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
from collections.abc import Iterator, Mapping
from typing import Any

import oracledb

from oraclerag.database import Database, bind_types, own_tables
from oraclerag.errors import InputError
from oraclerag.records import LoggedHit, LoggedSearch, SourceKey, Turn
from oraclerag.scope import Scope
from oraclerag.searches.visible import own, visible
from oraclerag.security import reading, require_unrestricted, scoped
from oraclerag.statements import Statements

__all__ = ["KINDS", "OUTCOMES", "checked_number", "listed", "missing", "moment", "of_tenant", "shown", "turns"]

KINDS = ("search", "ask", "diagnose")
OUTCOMES = ("answered", "truncated", "no_grounds", "found", "nothing", "failed")
_MOST = 10_000  # of a list
_MOST_TURNS = 100
_MAX_SESSION_BYTES = 128
_MAX_NUMBER = 10**19 - 1


def listed(
    database: Database,
    scope: Scope,
    *,
    since: dt.datetime | dt.date | None = None,
    session: str | None = None,
    outcome: str | None = None,
    kind: str | None = None,
    limit: int = 50,
) -> list[LoggedSearch]:
    """Give what a resolved scope sees of the log, newest first, without hits, prompts and answers."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _MOST:
        raise InputError(f"limit must be a whole number between 1 and {_MOST:,}, not {limit!r}.")
    seen, binds = visible(scope)
    terms = ["1 = 1"]
    for value, allowed, name, term in (
        (outcome, OUTCOMES, "outcome", "s.OUTCOME = :one_outcome"),
        (kind, KINDS, "kind", "s.KIND = :one_kind"),
    ):
        if value is not None:
            if value not in allowed:
                raise InputError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}.")
            terms.append(term)
            binds[f"one_{name}"] = value
    if session is not None:
        terms.append("s.SESSION_NAME = :one_session")
        binds["one_session"] = _session(session)
    if since is not None:
        terms.append("s.ASKED_AT >= :since")
        binds["since"] = moment(since, "since")
    statement = _statements(database).with_names("list", seen=seen, which=" AND ".join(terms))
    with reading(database, scope.tenant) as (connection, _), connection.cursor() as cursor, own_tables():
        if types := bind_types(binds):
            cursor.setinputsizes(**types)
        cursor.execute(statement, binds | {"how_many": limit}, fetch_lobs=False)
        return [_logged(row) for row in cursor]


def shown(database: Database, scope: Scope, search_id: int) -> LoggedSearch:
    """Give one logged search with its hits. Raises InputError where the scope sees none of this number."""
    number = checked_number(search_id)
    seen, binds = visible(scope)
    binds |= {"search_id": number}
    statements = _statements(database)
    with reading(database, scope.tenant) as (connection, _), connection.cursor() as cursor, own_tables():
        cursor.execute(statements.with_names("show", seen=seen), binds, fetch_lobs=False)
        row = cursor.fetchone()
        if row is None:
            raise missing(number, scope.tenant)
        cursor.execute(statements.with_names("show_hits", seen=seen), binds)
        return _logged(row, tuple(_hit(hit) for hit in cursor))


def turns(database: Database, scope: Scope, session: str, last: int = 3) -> list[Turn]:
    """Give the last questions of a session that exactly this scope asked, oldest first; those kept as texts.

    What somebody else asked, be it a manager or a colleague whose searches the scope sees, is no turn of its own.
    """
    if isinstance(last, bool) or not isinstance(last, int) or not 1 <= last <= _MOST_TURNS:
        raise InputError(f"last must be a whole number between 1 and {_MOST_TURNS}, not {last!r}.")
    condition, binds = own(scope)
    binds |= {"session_name": _session(session), "how_many": last}
    statement = _statements(database).with_names("turns", own=condition)
    with reading(database, scope.tenant) as (connection, _), connection.cursor() as cursor, own_tables():
        cursor.execute(statement, binds, fetch_lobs=False)
        return [Turn(*row) for row in cursor][::-1]


@contextlib.contextmanager
def of_tenant(database: Database, tenant: str | None, doing: str) -> Iterator[oracledb.Connection]:
    """Lend a connection that sees the log of a tenant, or of all. Raises RowsHidden where row security hides others.

    ``doing`` is what is refused then, as the subject of the sentence.
    """
    with database.connect() as connection:
        if tenant is None:
            require_unrestricted(connection, database.schema, f"{doing} of all tenants")
            yield connection
            return
        with scoped(database, connection, database.schema, tenant):
            yield connection


def missing(number: int, tenant: str | None) -> InputError:
    """Give the error for what is not there or not seen, which look alike."""
    return InputError(
        f"There is no logged search {number} of the tenant {tenant!r} that this scope sees.",
        hint="`oraclerag searches list` shows which there are, for the same --owner and --group; --manager sees all.",
    )


def checked_number(number: object) -> int:
    """Check the number of a logged search. Raises InputError."""
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= _MAX_NUMBER:
        raise InputError(f"The number of a logged search is a whole number from 1 on, not {number!r}.")
    return number


def moment(value: object, what: str) -> dt.datetime:
    """Give a time as the database has it, naive and in UTC; a date is its beginning. Raises InputError."""
    if isinstance(value, dt.datetime):
        return value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
    if isinstance(value, dt.date):
        return dt.datetime.combine(value, dt.time())
    raise InputError(f"{what} must be a date or a time (naive times are UTC), not {type(value).__name__}.")


def _session(name: object) -> str:
    if not isinstance(name, str) or not name.strip() or "\0" in name:
        raise InputError("session must be a text that is not blank.")
    if any("\ud800" <= char <= "\udfff" for char in name) or len(name.encode()) > _MAX_SESSION_BYTES:
        raise InputError(f"session must be at most {_MAX_SESSION_BYTES} bytes of UTF-8.")
    return name


def _statements(database: Database) -> Statements:
    return Statements("searches", database.schema)


def _hit(row: tuple[Any, ...]) -> LoggedHit:
    rank, source, entity, tenant, chunk_number, distance, chunk_id, in_prompt, cited = row
    return LoggedHit(
        rank=int(rank),
        source=SourceKey(source, entity, tenant),
        chunk_number=int(chunk_number),
        distance=_real(distance),
        chunk_id=_whole(chunk_id),
        in_prompt=bool(in_prompt),
        cited=bool(cited),
    )


def _logged(row: tuple[Any, ...], hits: tuple[LoggedHit, ...] = ()) -> LoggedSearch:
    (
        number, tenant, kind, role, outcome, asked_at, asked_by, asked_as, session,
        question, question_hash, standalone, reduced, reduced_by, options, mode, model, k, found,
        prompt, answer, generator, prompt_tokens, answer_tokens, cited, uncited, unsupported, timings, seconds,
        error_code, failed_step, feedback, note, feedback_at,
    ) = row  # fmt: skip
    return LoggedSearch(
        search_id=int(number),
        tenant=tenant,
        kind=kind,
        asked_role=role,
        outcome=outcome,
        asked_at=asked_at,
        asked_by=asked_by,
        asked_as=tuple(one for one in asked_as if isinstance(one, str)) if isinstance(asked_as, list) else (),
        session=session,
        question=question,
        question_hash=question_hash,
        standalone=standalone,
        reduced=reduced,
        reduced_by=reduced_by,
        options=_plain(options) if isinstance(options, Mapping) else {},
        mode=mode,
        model=model,
        k=_whole(k),
        found=_whole(found),
        hits=hits,
        prompt=prompt,
        answer=answer,
        generator=generator,
        prompt_tokens=_whole(prompt_tokens),
        answer_tokens=_whole(answer_tokens),
        cited=_whole(cited),
        uncited=_whole(uncited),
        unsupported=_whole(unsupported),
        timings=_numbers(timings),
        seconds=_real(seconds),
        error_code=error_code,
        failed_step=failed_step,
        feedback=None if feedback is None else bool(feedback),
        feedback_note=note,
        feedback_at=feedback_at,
    )


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)


def _real(value: Any) -> float | None:
    return None if value is None else float(value)


def _numbers(value: Any) -> dict[str, float]:
    """Give what JSON says of steps; what is no number says nothing."""
    if not isinstance(value, Mapping):
        return {}
    return {str(step): float(one) for step, one in value.items() if isinstance(one, (int, float, decimal.Decimal))}


def _plain(value: Any) -> Any:
    """Give what JSON holds with Python's own numbers; the driver reads them as decimals."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
