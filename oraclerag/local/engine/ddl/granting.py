"""Who may grant and revoke, in whose name, and what cannot be passed on."""

from __future__ import annotations

from dataclasses import dataclass

from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import qualified
from oraclerag.local.interface import OraError


@dataclass(frozen=True, slots=True)
class Target:
    """An object that privileges are granted on."""

    kind: str  # TABLE stands for any name in the schema until it is looked up
    owner: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Privilege:
    """A privilege or role, with the columns that it is for; none: the whole object."""

    name: str
    columns: tuple[str, ...] = ()


def may_revoke(host: Host, grantor: str, owner: str) -> bool:
    """Whether what somebody granted may be taken back: by himself, or the owner's grants by an administrator."""
    return grantor == host.user or (
        grantor == owner and (owner == host.user or host.rights.may("GRANT ANY OBJECT PRIVILEGE"))
    )


def grantor_of(host: Host, kind: str, privilege: Privilege, found: Target | None) -> str:
    """Tell in whose name a privilege is granted; ORA-01031 and ORA-01932 for who may not."""
    if found is not None:
        owner = found.owner or ""
        if owner == host.user or host.rights.may("GRANT ANY OBJECT PRIVILEGE"):
            return owner
        passed_on = host.ask(
            "SELECT 1 FROM ora.privileges WHERE grantee = $1 AND privilege = $2 AND owner = $3 AND object = $4"
            " AND column_name = '' AND grantable",
            host.user,
            privilege.name,
            owner,
            found.name,
        )
        if passed_on:
            return host.user
        raise OraError(1031, "insufficient privileges")
    if host.rights.may("GRANT ANY ROLE" if kind == "ROLE" else "GRANT ANY PRIVILEGE"):
        return host.user
    holders = host.ask(
        "SELECT grantee FROM ora.privileges WHERE kind = $1 AND privilege = $2 AND grantable", kind, privilege.name
    )
    if any(host.rights.includes(str(holder)) for (holder,) in holders):
        return host.user
    if kind == "ROLE":
        raise OraError(1932, f'Role "{privilege.name}" has not been granted with WITH ADMIN OPTION')
    raise OraError(1031, "insufficient privileges")


def require_option_below(host: Host, owner: str, view: str, privilege: str) -> None:
    """Raise ORA-01720 unless the owner of a view may pass on what it does with others' tables."""
    rows = host.ask(
        "WITH RECURSIVE b(oid) AS (SELECT $1::regclass::oid UNION SELECT d.refobjid FROM b JOIN pg_rewrite w"
        " ON w.ev_class = b.oid JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid"
        " AND d.refclassid = 'pg_class'::regclass)"
        " SELECT n.nspname::text, c.relname::text FROM b JOIN pg_class c ON c.oid = b.oid JOIN pg_namespace n"
        " ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v') AND ora.name_of(n.nspname) NOT IN ($2, 'ora')"
        " AND NOT EXISTS (SELECT FROM ora.privileges p WHERE p.grantee = $2 AND p.owner = ora.name_of(n.nspname)"
        " AND p.object = ora.name_of(c.relname) AND p.grantable"
        " AND (p.privilege = $3 OR $3 = 'READ' AND p.privilege = 'SELECT'))",
        qualified(owner, view),
        owner,
        privilege,
    )
    if rows and privilege in {"SELECT", "READ", "INSERT", "UPDATE", "DELETE"}:
        raise OraError(1720, f"grant option does not exist for '{rows[0][0]}.{rows[0][1]}'")


def is_role(host: Host, name: str) -> bool:
    """Whether there is a role of this name."""
    return bool(host.ask("SELECT 1 FROM ora.roles WHERE name = $1", name))


def contains(host: Host, role: str, grantee: str) -> bool:
    """Whether a role is, or has through others, the one that it is to be granted to."""
    return bool(
        host.ask(
            "WITH RECURSIVE r(name) AS (SELECT $1::text UNION SELECT p.privilege FROM r JOIN ora.privileges p"
            " ON p.grantee = r.name AND p.kind = 'ROLE') SELECT name FROM r WHERE name = $2",
            role,
            grantee,
        )
    )


def reaches(host: Host, owner: str, name: str, kind: str) -> bool:
    """Whether an object is there for whoever grants on it."""
    known = "TABLE" if kind == "VIEW" else kind
    return host.rights.sees(owner, name, known) or host.rights.may("GRANT ANY OBJECT PRIVILEGE")
