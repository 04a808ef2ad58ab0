"""CREATE and DROP DIRECTORY: a name for a path that models are loaded from."""

from __future__ import annotations

from pathlib import PurePath

from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal
from oraclerag.local.interface import OraError


def create_directory(reader: Reader, host: Host, *, replace: bool) -> Action:
    """Read CREATE DIRECTORY behind the keyword."""
    guard = reader.accept("IF", "NOT", "EXISTS")
    name = reader.identifier(1735, "missing directory name")
    reader.expect("AS")
    path = reader.string()
    reader.expect_end()
    if not PurePath(path).is_absolute():
        raise OraError(29532, f"directory path '{path}' must be absolute")

    def run() -> None:
        if host.ask("SELECT 1 FROM ora.directories WHERE name = $1", name) and not replace:
            if guard:
                return
            raise OraError(955, "name is already used by an existing object")
        host.change(
            [
                (
                    f"INSERT INTO ora.directories (name, path) VALUES ({literal(name)}, {literal(path)})"
                    " ON CONFLICT (name) DO UPDATE SET path = excluded.path"
                ),
                *(
                    "INSERT INTO ora.privileges (grantee, privilege, kind, owner, object, grantor, grantable) VALUES"
                    f" ({literal(host.user)}, '{privilege}', 'DIRECTORY', 'SYS', {literal(name)}, 'SYSTEM', true)"
                    " ON CONFLICT DO NOTHING"
                    for privilege in ("READ", "WRITE", "EXECUTE")
                ),
            ]
        )

    return run


def drop_directory(reader: Reader, host: Host) -> Action:
    """Read DROP DIRECTORY behind the keyword."""
    guard = reader.accept("IF", "EXISTS")
    name = reader.identifier(1735, "missing directory name")
    reader.expect_end()

    def run() -> None:
        if not host.ask("SELECT 1 FROM ora.directories WHERE name = $1", name):
            if guard:
                return
            raise OraError(4043, f"Object {name} does not exist.")
        host.change(
            [
                f"DELETE FROM ora.directories WHERE name = {literal(name)}",
                f"DELETE FROM ora.privileges WHERE owner = 'SYS' AND object = {literal(name)}",
            ]
        )

    return run
