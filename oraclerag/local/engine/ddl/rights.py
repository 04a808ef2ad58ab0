"""Which rights a DDL statement takes: in one's own schema, in another's, on another's object.

GRANT and REVOKE ask for theirs themselves.
"""

from __future__ import annotations

from oraclerag.local.engine.host import Host
from oraclerag.local.engine.plan import Access
from oraclerag.local.engine.reader import Reader
from oraclerag.local.interface import OraError

_GUARDS = (("IF", "NOT", "EXISTS"), ("IF", "EXISTS"))
_MISSING = {
    "INDEX": (1418, "specified index does not exist"),
    "SEQUENCE": (2289, "sequence does not exist"),
    "TRIGGER": (4080, "trigger '{1}' does not exist"),
    "SYNONYM": (1434, "private synonym to be dropped does not exist"),
}
_DATABASE_WIDE = {
    ("CREATE", "USER"): "CREATE USER",
    ("DROP", "USER"): "DROP USER",
    ("CREATE", "ROLE"): "CREATE ROLE",
    ("CREATE", "DIRECTORY"): "CREATE ANY DIRECTORY",
    ("DROP", "DIRECTORY"): "DROP ANY DIRECTORY",
}
_INDEX_KINDS = ("UNIQUE", "BITMAP", "VECTOR", "MULTIVALUE")


def require(reader: Reader, host: Host) -> None:
    """Raise ORA-01031, or that the object is not there, unless the session's user may run a statement that was read."""
    verb = reader.advance().upper
    if verb == "CREATE":
        _create(reader, host)
    elif verb in {"ALTER", "DROP"}:
        _change(verb, reader, host)
    elif verb == "TRUNCATE":
        reader.accept("TABLE")
        _require_object(host, reader.name(), "TABLE", "DROP ANY TABLE")
    elif verb == "COMMENT":
        reader.accept("ON")
        parts = 3 if reader.advance().upper == "COLUMN" else 2
        _require_object(host, _dotted(reader, parts), "TABLE", "COMMENT ANY TABLE")
    elif verb == "ANALYZE":
        reader.accept("TABLE")
        _require_object(host, reader.name(), "TABLE", "ANALYZE ANY")


def _dotted(reader: Reader, parts: int) -> tuple[str | None, str]:
    """Take ``[schema.]table``, with a column behind it when ``parts`` is 3."""
    names = [reader.identifier()]
    while reader.accept("."):
        names.append(reader.identifier())
    return (names[0] if len(names) == parts else None), names[-2 if parts == 3 else -1]


def _create(reader: Reader, host: Host) -> None:
    reader.accept("OR", "REPLACE")
    while reader.accept_one({"NO", "FORCE", "EDITIONABLE", "NONEDITIONABLE", "PUBLIC"}):
        pass
    while reader.sees("INDEX") is False and reader.accept_one(_INDEX_KINDS):
        pass
    kind = reader.advance().upper
    wide = _DATABASE_WIDE.get(("CREATE", kind))
    if wide is not None:
        if not host.rights.may(wide):
            raise OraError(1031, "insufficient privileges")
        return
    for guard in _GUARDS:
        reader.accept(*guard)
    owner, _ = reader.name()
    schema = owner or host.schema
    if kind == "INDEX":
        _create_index(reader, host, schema)
        return
    host.rights.require(schema, f"CREATE {kind}", f"CREATE ANY {kind}")
    if kind == "TABLE":
        words = [token.upper for token in reader.tokens]
        if "IDENTITY" in words:
            host.rights.require(schema, "CREATE SEQUENCE", "CREATE ANY SEQUENCE")
        _require_references(reader, host, schema)
    elif kind == "TRIGGER":
        while not reader.at_end and not reader.accept("ON"):
            reader.advance()
        _require_object(host, reader.name(), "TABLE", "CREATE ANY TRIGGER")


def _create_index(reader: Reader, host: Host, schema: str) -> None:
    if schema != host.user and not host.rights.may("CREATE ANY INDEX"):
        raise OraError(1031, "insufficient privileges")
    reader.accept("ON")
    _require_object(host, reader.name(), "TABLE", "CREATE ANY INDEX", "INDEX")


def _change(verb: str, reader: Reader, host: Host) -> None:
    kind = reader.advance().upper
    wide = _DATABASE_WIDE.get((verb, kind))
    if wide is not None:
        if not host.rights.may(wide):
            raise OraError(1031, "insufficient privileges")
        return
    if kind == "USER":
        _alter_user(reader, host)
        return
    if kind not in {"TABLE", "INDEX", "VIEW", "SEQUENCE", "TRIGGER", "SYNONYM"}:
        return  # roles ask for themselves, other kinds cannot be made
    for guard in _GUARDS:
        reader.accept(*guard)
    name = reader.name()
    everywhere = f"{verb} ANY {'TABLE' if verb == 'ALTER' and kind == 'VIEW' else kind}"
    privilege = "ALTER" if verb == "ALTER" and kind in {"TABLE", "SEQUENCE"} else None
    _require_object(host, name, kind, everywhere, privilege)
    if verb == "ALTER" and kind == "TABLE":
        _require_references(reader, host, name[0] or host.schema)


def _alter_user(reader: Reader, host: Host) -> None:
    """Everybody may change his own password, and nothing else of himself."""
    name = reader.identifier()
    rest = [token.upper for token in reader.tokens[reader.index + 3 : -1]]
    if host.rights.may("ALTER USER"):
        return
    if name != host.user or not reader.sees("IDENTIFIED", "BY") or (rest and rest[0] != "REPLACE"):
        raise OraError(1031, "insufficient privileges")


def _require_references(reader: Reader, host: Host, schema: str) -> None:
    """A foreign key to another's table takes REFERENCES on it, given to the owner of the table and not to a role."""
    while not reader.at_end:
        if not reader.accept("REFERENCES"):
            reader.advance()
            continue
        parent_schema, parent = reader.name()
        owner = parent_schema or host.schema
        if owner != schema:
            columns = reader.columns() if reader.sees("(") else ()
            host.definer_names(schema).permit([Access(owner, parent, "REFERENCES", columns=columns)])


def _require_object(
    host: Host, name: tuple[str | None, str], kind: str, everywhere: str, privilege: str | None = None
) -> None:
    """Raise unless an object is one's own, or a privilege on it or on any is held."""
    schema = name[0] or host.schema
    if schema == host.user or host.rights.may(everywhere):
        return
    if privilege is not None and host.rights.holds(Access(schema, name[1], privilege, kind)):
        return
    if host.rights.sees(schema, name[1], kind):
        raise OraError(1031, "insufficient privileges")
    number, message = _MISSING.get(kind, (942, 'table or view "{0}"."{1}" does not exist'))
    raise OraError(number, message.format(schema, name[1]))
