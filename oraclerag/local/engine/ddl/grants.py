"""GRANT and REVOKE: who may give which privilege to whom, written down in ora.privileges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.ddl.granting import (
    Privilege,
    Target,
    contains,
    grantor_of,
    is_role,
    may_revoke,
    reaches,
    require_option_below,
)
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal, unsupported
from oraclerag.local.interface import OraError

_TABLE = ("ALTER", "DELETE", "INDEX", "INSERT", "SELECT", "UPDATE", "REFERENCES", "READ", "DEBUG", "FLASHBACK")
_OBJECT: dict[str, tuple[str, ...]] = {
    "TABLE": _TABLE,
    "VIEW": tuple(name for name in _TABLE if name not in {"ALTER", "INDEX"}),
    "SEQUENCE": ("ALTER", "SELECT", "KEEP SEQUENCE"),
    "DIRECTORY": ("READ", "WRITE", "EXECUTE"),
    "MINING MODEL": ("ALTER", "SELECT"),
    "PACKAGE": ("EXECUTE", "DEBUG"),
}
"""What can be granted on which kind of object; ALL is all of them."""
_NOT_TO_ROLES = frozenset({"REFERENCES", "INDEX", "UNLIMITED TABLESPACE", "SYSDBA", "SYSOPER"})
_COLUMN_PRIVILEGES = frozenset({"INSERT", "UPDATE", "REFERENCES"})
_SYSTEM_FIRST = frozenset(
    """
    CREATE ALTER DROP SELECT INSERT UPDATE DELETE EXECUTE UNLIMITED GRANT COMMENT LOCK UNDER READ MANAGE ANALYZE
    AUDIT BACKUP DEBUG EXEMPT FLASHBACK GLOBAL MERGE QUERY RESTRICTED RESUMABLE ADMINISTER ADVISOR BECOME CHANGE
    FORCE ON PURGE REDEFINE SYSDBA SYSOPER
    """.split()  # noqa: SIM905
)
_SYSTEM_WORDS = frozenset({"UNLIMITED TABLESPACE", "ADVISOR", "SYSDBA", "SYSOPER", "RESTRICTED SESSION", "BECOME USER"})
_SYSTEM_OBJECTS = frozenset(
    """
    SESSION TABLE VIEW SEQUENCE PROCEDURE TRIGGER TYPE SYNONYM PUBLIC DATABASE USER ROLE INDEX CLUSTER OPERATOR
    INDEXTYPE MATERIALIZED MINING ANY TABLESPACE PROFILE JOB CONTEXT DIRECTORY LIBRARY DOMAIN CREDENTIAL
    EXTERNAL DIMENSION CUBE PROPERTY MLE EDITION SYSTEM MODEL LINK ROLLBACK DICTIONARY OBJECT ACCESS PRIVILEGE
    POLICY REWRITE ANALYTIC HIERARCHY ATTRIBUTE
    """.split()  # noqa: SIM905
)


def grant(reader: Reader, host: Host) -> Action:
    """Read GRANT behind the keyword."""
    privileges, target = _privileges(reader)
    reader.expect("TO")
    grantees = _grantees(reader)
    grantable = False
    if reader.accept("WITH"):
        word = reader.accept_one({"ADMIN", "GRANT", "DELEGATE", "HIERARCHY"})
        if word in {"DELEGATE", "HIERARCHY"}:
            raise unsupported(f"WITH {word} OPTION", reader.position)
        reader.expect("OPTION")
        grantable = True
    reader.accept("CONTAINER") and reader.fail(3001, "unimplemented feature: CONTAINER clause")
    reader.expect_end(993, "missing GRANT keyword")

    def run() -> None:
        found = _resolve(host, target) if target is not None else None
        statements: list[str] = []
        for grantee in grantees:
            _require_grantee(host, grantee)
            to_role = is_role(host, grantee)
            if found is not None and grantee == host.user:
                raise OraError(1749, "Cannot GRANT or REVOKE privileges to or from yourself.")
            if found is not None and grantable and to_role:
                raise OraError(1926, "cannot GRANT to a role WITH GRANT OPTION")
            for kind, privilege in _each(host, privileges, found, to_role=to_role):
                if privilege.name in _NOT_TO_ROLES and to_role:
                    raise OraError(1931, f'cannot grant "{privilege.name}" to a role')
                if kind == "ROLE" and contains(host, privilege.name, grantee):
                    raise OraError(1934, "circular role grant detected")
                grantor = grantor_of(host, kind, privilege, found)
                owner, name = (found.owner or "", found.name) if found is not None else ("", "")
                if kind in {"VIEW", "COLUMN"} and found is not None and found.kind == "VIEW" and grantee != owner:
                    require_option_below(host, owner, name, privilege.name)
                for column in privilege.columns or ("",):
                    values = ", ".join(map(literal, (grantee, privilege.name, kind, owner, name, column, grantor)))
                    statements.append(
                        "INSERT INTO ora.privileges (grantee, privilege, kind, owner, object, column_name, grantor,"
                        f" grantable) VALUES ({values}, {grantable})"
                        " ON CONFLICT (grantee, privilege, owner, object, column_name)"
                        " DO UPDATE SET grantable = ora.privileges.grantable OR excluded.grantable"
                    )
        host.change(statements)

    return run


def revoke(reader: Reader, host: Host) -> Action:
    """Read REVOKE behind the keyword."""
    privileges, target = _privileges(reader)
    reader.expect("FROM")
    grantees = _grantees(reader)
    reader.accept("CASCADE", "CONSTRAINTS") or reader.accept("FORCE")
    reader.expect_end(990, "missing or invalid privilege")
    if target is not None and any(privilege.columns for privilege in privileges):
        raise OraError(1750, "UPDATE/REFERENCES may only be REVOKEd from the whole table, not by column")

    def run() -> None:
        found = _resolve(host, target) if target is not None else None
        owner, name = (found.owner or "", found.name) if found is not None else ("", "")
        statements: list[str] = []
        for grantee in grantees:
            _require_grantee(host, grantee)
            for privilege in privileges:
                kind = _kind(host, privilege, found)
                held = host.ask(
                    "SELECT grantor FROM ora.privileges WHERE grantee = $1 AND owner = $2 AND object = $3"
                    " AND (privilege = $4 OR $4 = 'ALL')",
                    grantee,
                    owner,
                    name,
                    privilege.name,
                )
                if not held:
                    raise _not_held(kind, privilege.name, grantee)
                if found is None:
                    grantor_of(host, kind, privilege, None)
                elif not any(may_revoke(host, str(grantor), owner) for (grantor,) in held):
                    raise _not_held(kind, privilege.name, grantee)
                statements += _revoked(grantee, owner, name, privilege.name)
        host.change(statements)

    return run


def ungranted(schema: str, name: str) -> list[str]:
    """Give the statement that takes back all privileges on an object that is dropped."""
    return [f"DELETE FROM ora.privileges WHERE owner = {literal(schema)} AND object = {literal(name)}"]


def _revoked(grantee: str, owner: str, name: str, privilege: str) -> list[str]:
    """Take a privilege back, and on an object what its holder has passed on."""
    named = f" AND privilege = {literal(privilege)}" if privilege != "ALL" else ""
    these = f"owner = {literal(owner)} AND object = {literal(name)}{named}"
    if not owner:
        return [f"DELETE FROM ora.privileges WHERE grantee = {literal(grantee)} AND {these}"]
    lost = (
        f"WITH RECURSIVE lost(name) AS (SELECT {literal(grantee)} UNION SELECT p.grantee FROM lost"
        f" JOIN ora.privileges p ON p.grantor = lost.name WHERE {these})"
    )
    passed_on = "grantee IN (SELECT name FROM lost) AND grantor IN (SELECT name FROM lost)"
    return [f"{lost} DELETE FROM ora.privileges WHERE {these} AND (grantee = {literal(grantee)} OR {passed_on})"]


def _each(
    host: Host, privileges: Sequence[Privilege], found: Target | None, *, to_role: bool
) -> Iterator[tuple[str, Privilege]]:
    """Give kind and name of each privilege; ALL on an object is every one of its kind."""
    for privilege in privileges:
        kind = _kind(host, privilege, found)
        if found is not None and privilege.name == "ALL":
            for name in _OBJECT[found.kind]:
                if not (to_role and name in _NOT_TO_ROLES):
                    yield kind, Privilege(name)
        else:
            yield kind, privilege


def _not_held(kind: str, privilege: str, grantee: str) -> OraError:
    if kind == "ROLE":
        return OraError(1951, f"ROLE '{privilege}' not granted to '{grantee}'")
    if kind == "SYSTEM":
        return OraError(1952, f"system privileges not granted to '{grantee}'")
    return OraError(1927, "cannot REVOKE privileges you did not grant")


def _privileges(reader: Reader) -> tuple[list[Privilege], Target | None]:
    """Take the list of privileges or roles, and ON object if it follows."""
    found: list[Privilege] = []
    while True:
        words: list[str] = []
        while reader.peek().kind in {"word", "quoted"} and reader.word() not in {"TO", "FROM", "ON"}:
            words.append(reader.advance().value)
        if words == ["ALL", "PRIVILEGES"]:
            words = ["ALL"]
        if not words:
            reader.fail(990, "missing or invalid privilege")
        columns = reader.columns() if reader.sees("(") else ()
        if columns and words[0] not in {"INSERT", "UPDATE", "REFERENCES"}:
            reader.fail(969, "missing ON keyword")
        found.append(Privilege(" ".join(words), columns))
        if not reader.accept(","):
            break
    if not reader.accept("ON"):
        if any(privilege.name == "ALL" for privilege in found):
            raise unsupported("ALL PRIVILEGES of the system", reader.position)
        return found, None
    kind = "TABLE"
    if reader.sees("SCHEMA") and reader.peek(1).kind in {"word", "quoted"}:
        raise unsupported("privileges on a schema", reader.position)
    if reader.accept("DIRECTORY"):
        kind = "DIRECTORY"
    elif reader.accept("MINING", "MODEL"):
        kind = "MINING MODEL"
    owner, name = reader.name()
    return found, Target(kind, owner, name)


def _grantees(reader: Reader) -> list[str]:
    names: list[str] = []
    while True:
        names.append("PUBLIC" if reader.accept("PUBLIC") else reader.identifier(987, "missing or invalid username(s)"))
        if not reader.accept(","):
            return names


def _require_grantee(host: Host, grantee: str) -> None:
    if grantee == "PUBLIC":
        return
    for table in ("users", "roles"):
        if host.ask(f"SELECT 1 FROM ora.{table} WHERE name = $1", grantee):
            return
    raise OraError(1917, f"user or role '{grantee}' does not exist")


def _resolve(host: Host, target: Target) -> Target:
    owner = target.owner or host.schema
    if target.kind == "DIRECTORY":
        if not host.ask("SELECT 1 FROM ora.directories WHERE name = $1", target.name):
            raise OraError(22930, "directory does not exist")
        if not reaches(host, "SYS", target.name, "DIRECTORY"):
            raise OraError(22930, "directory does not exist")
        return Target("DIRECTORY", "SYS", target.name)
    if target.kind == "MINING MODEL":
        known = host.ask("SELECT 1 FROM ora.model WHERE owner = $1 AND name = $2", owner, target.name)
        if not known or not reaches(host, owner, target.name, "MINING MODEL"):
            raise OraError(40284, f"model {owner}.{target.name} does not exist")
        return Target("MINING MODEL", owner, target.name)
    if target.name.startswith(("DBMS_", "UTL_", "CTX_")):
        return Target("PACKAGE", target.owner or "SYS", target.name)
    kind = questions.object_kind(host, owner, target.name)
    if kind not in {"TABLE", "VIEW", "SEQUENCE"} or not reaches(host, owner, target.name, kind):
        raise questions.missing(owner, target.name)
    return Target(kind, owner, target.name)


def _kind(host: Host, privilege: Privilege, target: Target | None) -> str:
    """Tell the kind of a privilege: ROLE, SYSTEM, or the kind of object; ORA-00990 when there is none such."""
    name = privilege.name
    if target is not None:
        if privilege.columns and target.kind in {"TABLE", "VIEW"}:
            known = questions.columns(host, target.owner or "", target.name)
            for column in privilege.columns:
                if column not in known:
                    raise OraError(904, f'"{column}": invalid identifier')
            return "COLUMN" if name in _COLUMN_PRIVILEGES else target.kind
        if name not in {"ALL", *_OBJECT[target.kind]}:
            if target.kind == "VIEW" and name in _TABLE:
                raise OraError(2204, "ALTER, INDEX and EXECUTE not allowed for views")
            if any(name in known for known in _OBJECT.values()):
                number = 40361 if target.kind == "MINING MODEL" else 2224 if target.kind == "TABLE" else 2225
                raise OraError(number, f"{name} privilege not allowed for a {target.kind.lower()}")
            raise OraError(990, "missing or invalid privilege")
        return target.kind
    if is_role(host, name):
        return "ROLE"
    words = name.split()
    if name in _SYSTEM_WORDS:
        return "SYSTEM"
    if len(words) > 1 and words[0] in _SYSTEM_FIRST and _SYSTEM_OBJECTS.issuperset(words[1:]):
        return "SYSTEM"
    if len(words) == 1 and words[0] not in _SYSTEM_FIRST:
        raise OraError(1919, f"role '{name}' does not exist")
    raise OraError(990, "missing or invalid privilege")
