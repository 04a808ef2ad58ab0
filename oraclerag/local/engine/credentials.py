"""Credentials: CREATE_CREDENTIAL and DROP_CREDENTIAL of DBMS_VECTOR and DBMS_VECTOR_CHAIN, and what they hold.

What a credential holds is in a table of the engine's own, which no name in a statement reaches and no view reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from oraclerag.local.engine.host import Host
from oraclerag.local.interface import OraError

__all__ = ["create", "drop", "found", "stored"]

_NAME = re.compile(r"[A-Z][A-Z0-9_$#]*\Z")
_LONGEST = 128
_TOKEN = frozenset({"access_token"})
_OCI = frozenset({"user_ocid", "tenancy_ocid", "compartment_ocid", "private_key", "fingerprint"})


def _named(given: Any, user: str) -> tuple[str, str]:
    """Read ``[schema.]name``; ORA-27451 and ORA-27452 where it is none."""
    if given in (None, ""):
        raise OraError(27451, "CREDENTIAL_NAME cannot be NULL")
    owner, dot, name = str(given).upper().rpartition(".")
    if not _NAME.match(name) or len(name) > _LONGEST or (dot and not _NAME.match(owner)):
        raise OraError(27452, "the name of the credential is an invalid name for a database object")
    return owner or user, name


def create(host: Host, arguments: Mapping[str, Any]) -> None:
    """CREATE_CREDENTIAL(credential_name, params): commits; ORA-27477 where there is one of that name."""
    owner, name = _named(arguments["CREDENTIAL_NAME"], host.user)
    held = arguments.get("PARAMS")
    if owner != host.user:
        raise OraError(3001, "unimplemented feature: a credential of another user")
    if not host.rights.may("CREATE CREDENTIAL", "CREATE ANY CREDENTIAL"):
        raise OraError(27486, "insufficient privileges")
    texts = isinstance(held, dict) and all(isinstance(value, str) and value for value in held.values())
    if not isinstance(held, dict) or not texts or frozenset(held) not in (_TOKEN, _OCI):
        raise OraError(3001, "unimplemented feature: credentials of anything but an access_token, or the keys of OCI")
    host.commit()
    if host.ask("SELECT 1 FROM ora.credentials WHERE owner = $1 AND name = $2", owner, name):
        raise OraError(27477, f'"{owner}"."{name}" already exists')
    host.ask("INSERT INTO ora.credentials (owner, name, held) VALUES ($1, $2, $3)", owner, name, json.dumps(held))
    host.commit()


def drop(host: Host, arguments: Mapping[str, Any]) -> None:
    """DROP_CREDENTIAL(credential_name): commits; ORA-27476 where there is none."""
    owner, name = _named(arguments["CREDENTIAL_NAME"], host.user)
    host.commit()
    if owner != host.user or not host.ask(
        "DELETE FROM ora.credentials WHERE owner = $1 AND name = $2 RETURNING 1", owner, name
    ):
        raise OraError(27476, f'"{owner}"."{name}" does not exist')
    host.commit()


def stored(host: Host, owner: str, name: str) -> str | None:
    """Give what a credential holds, as JSON; None where there is none."""
    rows = host.ask("SELECT held FROM ora.credentials WHERE owner = $1 AND name = $2", owner, name)
    return str(rows[0][0]) if rows else None


def found(name: str, user: str, ask: Callable[[str, str], str | None]) -> Mapping[str, Any] | None:
    """Give what the credential holds that a user names; ``ask`` gives it by owner and name."""
    try:
        owner, short = _named(name, user)
    except OraError:
        return None
    if owner != user:
        raise OraError(3001, "unimplemented feature: a credential of another user")
    text = ask(owner, short)
    held = None if text is None else json.loads(text)
    return held if isinstance(held, dict) else None
