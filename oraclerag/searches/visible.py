"""Who sees a logged search: a scope of its tenant that is equal to the one that asked it, or wider.

A manager sees all of the tenant. Others see what no manager asked and whose principals are all among theirs; so
everybody sees what was asked without any. Every read of the log carries this predicate, so that what a scope does not
see is not there for it.
"""

from __future__ import annotations

from typing import Any

from oraclerag.database import in_list
from oraclerag.errors import MissingTenant
from oraclerag.scope import Scope

__all__ = ["of_one_tenant", "own", "visible"]

_PRINCIPALS = "JSON_TABLE({alias}.ASKED_AS, '$[*]' COLUMNS (PRINCIPAL VARCHAR2(128 BYTE) PATH '$')) p"


def visible(scope: Scope, alias: str = "s") -> tuple[str, dict[str, Any]]:
    """Give the predicate over RAG_SEARCH under ``alias`` and its binds; the scope must be resolved."""
    tenant, binds = _tenant(scope, alias)
    if scope.role == "manager":
        return tenant, binds
    if scope.role == "anyone":
        return f"{tenant} AND ({alias}.ASKED_ROLE = 'anyone')", binds
    others, principals = _others(scope, alias)
    # One that says of whom and has no list would be seen by everybody: of nobody there is none that is another's.
    theirs = f"{alias}.ASKED_ROLE = 'principal' AND JSON_EXISTS({alias}.ASKED_AS, '$[0]') AND NOT EXISTS ({others})"
    return f"{tenant} AND ({alias}.ASKED_ROLE = 'anyone' OR ({theirs}))", binds | principals


def own(scope: Scope, alias: str = "s") -> tuple[str, dict[str, Any]]:
    """Give the predicate over what exactly this scope asked: same tenant, owner, role and principals."""
    tenant, binds = _tenant(scope, alias)
    role = f"({alias}.ASKED_ROLE = :asker_role)"
    binds["asker_role"] = scope.role
    if scope.owner is None:
        owner = f"({alias}.ASKED_BY IS NULL)"
    else:
        owner = f"({alias}.ASKED_BY = :asker_owner)"
        binds["asker_owner"] = scope.owner
    if not scope.principals:
        nobody = f"({alias}.ASKED_AS IS NULL OR NOT JSON_EXISTS({alias}.ASKED_AS, '$[0]'))"
        return f"{tenant} AND {role} AND {owner} AND {nobody}", binds
    others, principals = _others(scope, alias)
    counted = f"(SELECT COUNT(DISTINCT p.PRINCIPAL) FROM {_PRINCIPALS.format(alias=alias)})"
    same = f"(NOT EXISTS ({others})) AND (:asker_count = {counted})"
    return f"{tenant} AND {role} AND {owner} AND {same}", binds | principals | {"asker_count": len(scope.principals)}


def of_one_tenant(tenant: str, alias: str = "s") -> tuple[str, dict[str, Any]]:
    """Give the predicate over what was asked in a tenant, and its bind.

    As in a search, it is never true where the session takes 'a' and 'A' for equal.
    """
    return f"({alias}.TENANT_ID = :asker_tenant AND 'a' <> 'A')", {"asker_tenant": tenant}


def _tenant(scope: Scope, alias: str) -> tuple[str, dict[str, Any]]:
    """Give the part of every one."""
    if scope.tenant is None:
        raise MissingTenant("The scope names no tenant.")
    return of_one_tenant(scope.tenant, alias)


def _others(scope: Scope, alias: str) -> tuple[str, dict[str, Any]]:
    """Give the query for the principals of a logged search that the scope has not; what cannot be read is one."""
    listed, binds = in_list(scope.principals, "asker_principal")
    return (
        f"SELECT 1 FROM {_PRINCIPALS.format(alias=alias)} WHERE p.PRINCIPAL IS NULL OR p.PRINCIPAL NOT IN ({listed})",
        binds,
    )
