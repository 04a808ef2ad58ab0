"""Who asks: tenant, principals, manager → the predicate that every read carries.

Pure: nothing here talks to a database. The SQL is built per role from the predicates in use, so a cursor never serves
two roles; values are binds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from oraclerag.errors import InputError, MissingTenant
from oraclerag.records import NO_TENANT, Document

__all__ = ["Scope"]

MAX_PRINCIPALS = 1000  # what one list takes (ORA-01795; later releases take more)


@dataclass(frozen=True, slots=True)
class Scope:
    """Who asks a question; required by every public read.

    ``tenant`` is whose data is searched. It may be left out only while no configured source maps a tenant; then the
    installation's default tenant is meant. ``owner`` (a person) and ``groups`` (their teams) are the principals:
    chunks with visibility "owner" are seen by who is their owner. ``manager=True`` sees every chunk of the tenant
    whose source could be read, also those that belong to nobody.

    Every text is 1 to 128 bytes and not blank: an empty text is NULL in Oracle. Raises :class:`InputError`.
    """

    tenant: str | None = None
    owner: str | None = None
    groups: Sequence[str] = ()
    manager: bool = False

    def __post_init__(self) -> None:
        if self.tenant is not None:
            _check(self.tenant, "tenant")
            if self.tenant == NO_TENANT:
                raise InputError(f"Scope: the tenant is {NO_TENANT!r}, which stands for none and is no tenant's name.")
        if self.owner is not None:
            _check(self.owner, "owner")
        if isinstance(self.groups, str) or not isinstance(self.groups, (list, tuple, set, frozenset)):
            raise InputError('Scope: groups must be a list of texts, such as ["team:ap"].')
        for group in self.groups:
            _check(group, "every group")
        object.__setattr__(self, "groups", tuple(self.groups))
        if not isinstance(self.manager, bool):
            # a text such as "false" is true: it would open everything
            raise InputError("Scope: manager must be True or False.")
        if len(self.principals) > MAX_PRINCIPALS:
            raise InputError(
                f"Scope: owner and groups are {len(self.principals)} principals; {MAX_PRINCIPALS:,} are the most."
            )

    @property
    def principals(self) -> tuple[str, ...]:
        """Owner and groups, each once."""
        return tuple(dict.fromkeys(((self.owner,) if self.owner is not None else ()) + tuple(self.groups)))

    @property
    def role(self) -> str:
        """``"manager"``, ``"principal"`` (has an owner or groups) or ``"anyone"``: which SQL is built."""
        if self.manager:
            return "manager"
        return "principal" if self.principals else "anyone"

    def resolve(self, default_tenant: str, *, tenants_mapped: bool) -> Scope:
        """Give this scope with its tenant filled in.

        ``tenants_mapped`` says whether a configured source maps a tenant; then a scope without one raises
        :class:`MissingTenant`, because the default tenant would silently be the wrong one.
        """
        if self.tenant is not None:
            return self
        if tenants_mapped:
            raise MissingTenant(
                "The scope names no tenant, but a configured source maps one, so there is no default to fall back to."
            )
        return Scope(tenant=default_tenant, owner=self.owner, groups=self.groups, manager=self.manager)

    def sees(self, document: Document) -> bool:
        """Whether what a source says of an entity now lets this scope see it; the scope must be resolved."""
        if self.tenant is None or document.tenant != self.tenant:
            return False
        return document.visibility == "shared" or self.manager or document.owner in self.principals

    def predicate(self, alias: str = "c") -> tuple[str, dict[str, str]]:
        """Give the predicate over RAG_CHUNK under ``alias`` and its binds; the scope must be resolved.

        HIDDEN chunks (their rights could not be read) are in no branch. In a session that takes 'a' and 'A' for equal
        (NLS_COMP=LINGUISTIC with a sort that ignores case) 'ACME' would open the tenant 'acme': there it is never true.
        """
        if self.tenant is None:
            raise MissingTenant("The scope names no tenant.")
        binds = {"scope_tenant": self.tenant}
        tenant = f"({alias}.TENANT_ID = :scope_tenant AND 'a' <> 'A')"
        if self.role == "manager":
            return f"{tenant} AND ({alias}.VISIBILITY IN ('SHARED', 'OWNER'))", binds
        if self.role == "anyone":
            return f"{tenant} AND ({alias}.VISIBILITY = 'SHARED')", binds
        names = []
        for number, value in enumerate(_padded(self.principals)):
            binds[f"scope_principal{number}"] = value
            names.append(f":scope_principal{number}")
        owned = f"{alias}.VISIBILITY = 'OWNER' AND {alias}.OWNER_ID IN ({', '.join(names)})"
        return f"{tenant} AND ({alias}.VISIBILITY = 'SHARED' OR ({owned}))", binds


def _padded(values: tuple[str, ...]) -> tuple[str, ...]:
    """Repeat the last value up to the next power of two, or the most that a list takes: few statement texts arise."""
    size = 1
    while size < len(values):
        size *= 2
    size = min(size, MAX_PRINCIPALS)
    return values + values[-1:] * (size - len(values))


def _check(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise InputError(f'Scope: {what} must be a text (such as "7"), not {type(value).__name__}.')
    if not value.strip():
        raise InputError(f"Scope: {what} must not be empty.")
    if "\0" in value or len(value.encode("utf-8", "surrogatepass")) > 128:
        raise InputError(f"Scope: {what} must be at most 128 bytes and hold no NUL character.")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise InputError(f"Scope: {what} holds half of a surrogate pair, which no database text can.")
