"""CREATE, ALTER and DROP USER and ROLE: a user is a schema and a row in ora.users."""

from __future__ import annotations

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.ddl.table_options import TABLESPACES
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.long_names import digest_of, stored
from oraclerag.local.engine.reader import Reader, literal, unsupported
from oraclerag.local.engine.words import quote
from oraclerag.local.interface import OraError

_CLOSING_CHECKS = 10


def create_user(reader: Reader, host: Host) -> Action:
    """Read CREATE USER behind the keyword."""
    if reader.sees("IF", "NOT", "EXISTS"):
        reader.fail(922, "missing or invalid option")
    name = reader.identifier(1935, "missing user or role name")
    if not reader.sees("IDENTIFIED"):
        reader.expect("IDENTIFIED")
    password = _identified(reader) or ""
    _options(reader)

    def run() -> None:
        if host.ask("SELECT 1 FROM ora.users WHERE name = $1", name):
            raise OraError(1920, f"user name '{name}' conflicts with another user or role name")
        if host.ask("SELECT 1 FROM ora.roles WHERE name = $1", name):
            raise OraError(1920, f"user name '{name}' conflicts with another user or role name")
        host.change(
            [
                f"CREATE SCHEMA {quote(name)}",
                f"INSERT INTO ora.users (name, password) VALUES ({literal(name)}, {literal(password)})",
            ]
        )

    return run


def _identified(reader: Reader) -> str | None:
    if reader.accept("NO", "AUTHENTICATION") or reader.sees("IDENTIFIED", "EXTERNALLY"):
        raise unsupported("users without a password", reader.position)
    if not reader.accept("IDENTIFIED"):
        return None
    reader.expect("BY", number=924, message="missing BY keyword")
    token = reader.peek()
    if token.kind == "word":
        reader.advance()
        return token.text  # passwords are case-sensitive
    if token.kind == "quoted":
        reader.advance()
        return token.value
    raise OraError(988, "missing or invalid password(s)", token.position)


def _options(reader: Reader) -> None:
    """Take what follows the password: checked, without effect."""
    while not reader.at_end:
        position = reader.position
        if reader.accept("DEFAULT", "TABLESPACE") or reader.accept("TEMPORARY", "TABLESPACE"):
            _tablespace(reader)
        elif reader.accept("QUOTA"):
            if not reader.accept("UNLIMITED"):
                reader.integer()
                reader.accept_one({"K", "M", "G", "T"})
            reader.expect("ON", number=969, message="missing ON keyword")
            _tablespace(reader)
        elif reader.accept("PROFILE"):
            reader.accept("DEFAULT") or reader.identifier(2380, "profile does not exist")
        elif reader.accept("ACCOUNT"):
            if reader.accept("LOCK"):
                raise unsupported("locked accounts", position)
            reader.expect("UNLOCK", number=922, message="missing or invalid option")
        elif reader.accept("DEFAULT", "ROLE"):
            reader.accept("ALL") or reader.identifier(1919, "role does not exist")
        elif reader.sees("PASSWORD", "EXPIRE") or reader.sees("ENABLE") or reader.sees("CONTAINER"):
            raise unsupported(f"users with {reader.word()}", position)
        else:
            reader.expect_end()


def _tablespace(reader: Reader) -> None:
    position = reader.position
    name = reader.identifier(2216, "tablespace name expected")
    if name not in TABLESPACES:
        raise OraError(959, f"tablespace '{name}' does not exist", position)


def alter_user(reader: Reader, host: Host) -> Action:
    """Read ALTER USER behind the keyword."""
    name = reader.identifier(1935, "missing user or role name")
    password = _identified(reader)
    if password is not None and reader.accept("REPLACE"):
        reader.advance()
    _options(reader)

    def run() -> None:
        questions.require_schema(host, name)
        if password is not None:
            host.change([f"UPDATE ora.users SET password = {literal(password)} WHERE name = {literal(name)}"])

    return run


def drop_user(reader: Reader, host: Host) -> Action:
    """Read DROP USER behind the keyword."""
    if reader.sees("IF", "EXISTS"):
        reader.fail(922, "missing or invalid option")
    name = reader.identifier(1935, "missing user or role name")
    cascade = reader.accept("CASCADE")
    reader.expect_end()

    def run() -> None:
        questions.require_schema(host, name)
        if name == host.user or _is_connected(host, name):
            raise OraError(1940, "cannot drop a user that is currently connected")
        filled = host.ask(
            "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 LIMIT 1",
            stored(name),
        )
        if filled and not cascade:
            raise OraError(1922, f"CASCADE must be specified to drop '{name}'")
        owner = literal(name)
        host.change(
            [
                f"DROP SCHEMA {quote(name)} CASCADE",
                f"DELETE FROM ora.users WHERE name = {owner}",
                f"DELETE FROM ora.model WHERE owner = {owner}",
                f"DELETE FROM ora.credentials WHERE owner = {owner}",
                f"DELETE FROM ora.synonyms WHERE owner = {owner}",
                f"DELETE FROM ora.invalid_views WHERE owner = {owner}",
                f"DELETE FROM ora.privileges WHERE grantee = {owner} OR owner = {owner}",
            ]
        )

    return run


def _is_connected(host: Host, name: str) -> bool:
    """Tell whether a user has a session; one that is just being closed is waited for."""
    for _ in range(_CLOSING_CHECKS):
        connected = host.ask(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1",
            digest_of(name),
        )
        if not connected:
            return False
        host.ask("SELECT pg_sleep(0.05)::text")
    return True


def create_role(reader: Reader, host: Host) -> Action:
    """Read CREATE ROLE behind the keyword."""
    name = reader.identifier(1935, "missing user or role name")
    if not reader.accept("NOT", "IDENTIFIED") and reader.sees("IDENTIFIED"):
        raise unsupported("roles with a password", reader.position)
    reader.expect_end()

    def run() -> None:
        for table in ("roles", "users"):
            if host.ask(f"SELECT 1 FROM ora.{table} WHERE name = $1", name):
                raise OraError(1921, f"role name '{name}' conflicts with another user or role name")
        values = f"{literal(host.user)}, {literal(name)}, 'ROLE', {literal(host.user)}, true"
        host.change(
            [
                f"INSERT INTO ora.roles (name) VALUES ({literal(name)})",
                # As in Oracle, who makes a role has it, and may give it away.
                f"INSERT INTO ora.privileges (grantee, privilege, kind, grantor, grantable) VALUES ({values})",
            ]
        )

    return run


def _administers(host: Host, role: str) -> bool:
    """Whether the user has a role WITH ADMIN OPTION."""
    return bool(
        host.ask(
            "SELECT 1 FROM ora.privileges WHERE kind = 'ROLE' AND privilege = $1 AND grantable AND grantee = $2",
            role,
            host.user,
        )
    )


def drop_role(reader: Reader, host: Host) -> Action:
    """Read DROP ROLE behind the keyword."""
    name = reader.identifier(1935, "missing user or role name")
    reader.expect_end()

    def run() -> None:
        if not host.ask("SELECT 1 FROM ora.roles WHERE name = $1", name):
            raise OraError(1919, f"role '{name}' does not exist")
        if not host.rights.may("DROP ANY ROLE") and not _administers(host, name):
            raise OraError(1031, "insufficient privileges")
        host.change(
            [
                f"DELETE FROM ora.roles WHERE name = {literal(name)}",
                (
                    f"DELETE FROM ora.privileges WHERE grantee = {literal(name)}"
                    f" OR (kind = 'ROLE' AND privilege = {literal(name)})"
                ),
            ]
        )

    return run
