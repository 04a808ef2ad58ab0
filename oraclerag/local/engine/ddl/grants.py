"""GRANT and REVOKE: recorded for the dictionary, not enforced."""

from __future__ import annotations

from dataclasses import dataclass

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal
from oraclerag.local.interface import OraError

_OBJECT = {
    "TABLE": frozenset(
        {"SELECT", "INSERT", "UPDATE", "DELETE", "REFERENCES", "ALTER", "INDEX", "READ", "DEBUG", "FLASHBACK", "ALL"}
    ),
    "SEQUENCE": frozenset({"SELECT", "ALTER", "ALL", "KEEP SEQUENCE"}),
    "DIRECTORY": frozenset({"READ", "WRITE", "EXECUTE", "ALL"}),
    "MINING MODEL": frozenset({"SELECT", "ALTER", "ALL"}),
    "PACKAGE": frozenset({"EXECUTE", "DEBUG", "ALL"}),
}
_OBJECT["VIEW"] = _OBJECT["TABLE"]
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


@dataclass(frozen=True, slots=True)
class _Target:
    kind: str  # TABLE stands for any name in the schema until it is looked up
    owner: str | None
    name: str


def grant(reader: Reader, host: Host) -> Action:
    """Read GRANT behind the keyword."""
    privileges, target = _privileges(reader)
    reader.expect("TO")
    grantees = _grantees(reader)
    grantable = False
    if reader.accept("WITH"):
        word = reader.accept_one({"ADMIN", "GRANT", "DELEGATE", "HIERARCHY"})
        reader.expect("OPTION")
        grantable = word in {"ADMIN", "GRANT"}
    reader.accept("CONTAINER") and reader.fail(3001, "unimplemented feature: CONTAINER clause")
    reader.expect_end(993, "missing GRANT keyword")

    def run() -> None:
        found = _resolve(host, target) if target is not None else None
        statements: list[str] = []
        for grantee in grantees:
            _require_grantee(host, grantee)
            if found is not None and grantee == host.user:
                raise OraError(1749, "Cannot GRANT or REVOKE privileges to or from yourself.")
            if found is not None and grantable and host.ask("SELECT 1 FROM ora.roles WHERE name = $1", grantee):
                raise OraError(1926, "cannot GRANT to a role WITH GRANT OPTION")
            for privilege in privileges:
                kind = _kind(host, privilege, found)
                owner, name = (found.owner or "", found.name) if found is not None else ("", "")
                values = ", ".join(map(literal, (grantee, privilege, kind, owner, name, host.user)))
                statements.append(
                    "INSERT INTO ora.privileges (grantee, privilege, kind, owner, object, grantor, grantable)"
                    f" VALUES ({values}, {grantable}) ON CONFLICT (grantee, privilege, owner, object)"
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

    def run() -> None:
        found = _resolve(host, target) if target is not None else None
        owner, name = (found.owner or "", found.name) if found is not None else ("", "")
        statements: list[str] = []
        for grantee in grantees:
            _require_grantee(host, grantee)
            for privilege in privileges:
                kind = _kind(host, privilege, found)
                held = host.ask(
                    "SELECT 1 FROM ora.privileges WHERE grantee = $1 AND owner = $2 AND object = $3"
                    " AND (privilege = $4 OR $4 = 'ALL')",
                    grantee,
                    owner,
                    name,
                    privilege,
                )
                if not held:
                    raise _not_held(kind, privilege, grantee)
                named = f" AND privilege = {literal(privilege)}" if privilege != "ALL" else ""
                statements.append(
                    f"DELETE FROM ora.privileges WHERE grantee = {literal(grantee)} AND owner = {literal(owner)}"
                    f" AND object = {literal(name)}{named}"
                )
        host.change(statements)

    return run


def _not_held(kind: str, privilege: str, grantee: str) -> OraError:
    if kind == "ROLE":
        return OraError(1951, f"ROLE '{privilege}' not granted to '{grantee}'")
    if kind == "SYSTEM":
        return OraError(1952, f"system privileges not granted to '{grantee}'")
    return OraError(1927, "cannot REVOKE privileges you did not grant")


def _privileges(reader: Reader) -> tuple[list[str], _Target | None]:
    """Take the list of privileges or roles, and ON object if it follows."""
    found: list[str] = []
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
        found.append(" ".join(words) + (f" ({', '.join(columns)})" if columns else ""))
        if not reader.accept(","):
            break
    if not reader.accept("ON"):
        return found, None
    kind = "TABLE"
    if reader.accept("DIRECTORY"):
        kind = "DIRECTORY"
    elif reader.accept("MINING", "MODEL"):
        kind = "MINING MODEL"
    owner, name = reader.name()
    return found, _Target(kind, owner, name)


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


def _resolve(host: Host, target: _Target) -> _Target:
    owner = target.owner or host.schema
    if target.kind == "DIRECTORY":
        if not host.ask("SELECT 1 FROM ora.directories WHERE name = $1", target.name):
            raise OraError(22930, "directory does not exist")
        return _Target("DIRECTORY", "SYS", target.name)
    if target.kind == "MINING MODEL":
        if not host.ask("SELECT 1 FROM ora.model WHERE owner = $1 AND name = $2", owner, target.name):
            raise OraError(40284, f"model {owner}.{target.name} does not exist")
        return _Target("MINING MODEL", owner, target.name)
    if target.name.startswith(("DBMS_", "UTL_", "CTX_")):
        return _Target("PACKAGE", target.owner or "SYS", target.name)
    kind = questions.object_kind(host, owner, target.name)
    if kind not in {"TABLE", "VIEW", "SEQUENCE"}:
        raise questions.missing(owner, target.name)
    return _Target(kind, owner, target.name)


def _kind(host: Host, privilege: str, target: _Target | None) -> str:
    """Tell the kind of a privilege: ROLE, SYSTEM, or the kind of object; ORA-00990 when there is none such."""
    if target is not None:
        whole, _, columns = privilege.partition(" (")
        if columns and target.kind in {"TABLE", "VIEW"}:
            known = questions.columns(host, target.owner or "", target.name)
            for name in columns.removesuffix(")").split(", "):
                if name not in known:
                    raise OraError(904, f'"{name}": invalid identifier')
            return "COLUMN" if whole in _OBJECT["TABLE"] else target.kind
        if privilege not in _OBJECT[target.kind]:
            if any(privilege in known for known in _OBJECT.values()):
                number = 40361 if target.kind == "MINING MODEL" else 2224 if target.kind == "TABLE" else 2225
                raise OraError(number, f"{privilege} privilege not allowed for a {target.kind.lower()}")
            raise OraError(990, "missing or invalid privilege")
        return target.kind
    if host.ask("SELECT 1 FROM ora.roles WHERE name = $1", privilege):
        return "ROLE"
    words = privilege.split()
    if privilege in _SYSTEM_WORDS:
        return "SYSTEM"
    if len(words) > 1 and words[0] in _SYSTEM_FIRST and _SYSTEM_OBJECTS.issuperset(words[1:]):
        return "SYSTEM"
    if len(words) == 1 and words[0] not in _SYSTEM_FIRST:
        raise OraError(1919, f"role '{privilege}' does not exist")
    raise OraError(990, "missing or invalid privilege")
