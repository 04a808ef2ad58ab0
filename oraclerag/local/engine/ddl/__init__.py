"""DDL of the local database: CREATE, ALTER, DROP, TRUNCATE, RENAME, COMMENT, GRANT, REVOKE, ANALYZE, PURGE.

As in Oracle a statement that cannot be read changes nothing, not even the open transaction; one that can be read
commits before it runs, and again behind. What fails then leaves nothing half-done.
"""

from __future__ import annotations

from oraclerag.local.engine.ddl import (
    alter_table,
    comments,
    create_table,
    directories,
    drop_table,
    grants,
    indexes,
    questions,
    rights,
    sequences,
    synonyms,
    users,
    vector_indexes,
    views,
)
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, qualified, unsupported
from oraclerag.local.engine.triggers import alter_trigger, create_trigger, drop_trigger
from oraclerag.local.interface import OraError

__all__ = ["run_ddl"]

_KNOWN_OBJECTS = frozenset(
    """
    FUNCTION PROCEDURE PACKAGE TYPE MATERIALIZED CONTEXT DOMAIN PROFILE TABLESPACE LIBRARY CLUSTER OPERATOR
    INDEXTYPE JAVA MLE PROPERTY JSON EDITION OUTLINE RESTORE FLASHBACK AUDIT PLUGGABLE DISKGROUP CONTROLFILE
    SPFILE PFILE ROLLBACK LOCKDOWN SHARDED SHARED BLOCKCHAIN IMMUTABLE DUPLICATED GLOBAL PRIVATE HYBRID SEARCH
    DATA END ANALYTIC ATTRIBUTE HIERARCHY DIMENSION INMEMORY TRUE CREDENTIAL LOGICAL ASSERTION
    """.split()  # noqa: SIM905
)


_KNOWN_STATEMENTS = frozenset(
    {"AUDIT", "NOAUDIT", "ASSOCIATE", "DISASSOCIATE", "FLASHBACK", "ADMINISTER", "EXPLAIN", "SET"}
)


def run_ddl(sql: str, host: Host) -> None:
    """Run one DDL statement; raises :class:`OraError`, ORA-03001 naming what the local database does not have."""
    reader = Reader(sql)
    for token in reader.tokens:
        if token.kind == "bind" and reader.tokens[1].upper not in {"TRIGGER", "OR", "EDITIONABLE", "NONEDITIONABLE"}:
            raise OraError(1027, "bind variables not allowed for data definition operations", token.position)
    action = read_statement(reader, host)
    host.commit()
    rights.require(Reader(sql), host)
    action()


def read_statement(reader: Reader, host: Host) -> Action:
    """Read a statement and give what is to be done behind the commit."""
    if reader.accept("CREATE"):
        return _create(reader, host)
    if reader.accept("ALTER"):
        return _alter(reader, host)
    if reader.accept("DROP"):
        return _drop(reader, host)
    if reader.accept("TRUNCATE"):
        return drop_table.truncate_table(reader, host)
    if reader.accept("RENAME"):
        return drop_table.rename(reader, host)
    if reader.accept("COMMENT"):
        return comments.comment(reader, host)
    if reader.accept("GRANT"):
        return grants.grant(reader, host)
    if reader.accept("REVOKE"):
        return grants.revoke(reader, host)
    if reader.accept("ANALYZE"):
        return _analyze(reader, host)
    if reader.accept("PURGE"):
        return _purge(reader)
    if reader.sees("EXPLAIN") and reader.peek(1).upper != "PLAN":
        reader.fail(905, "missing keyword")
    if reader.word() in _KNOWN_STATEMENTS:
        raise unsupported(f"{reader.word()} {reader.peek(1).upper}".rstrip(), reader.position)
    raise OraError(900, "invalid SQL statement", reader.position)


def _create(reader: Reader, host: Host) -> Action:
    replace = reader.accept("OR", "REPLACE")
    force = reader.accept("FORCE") or (reader.accept("NO", "FORCE") and False)
    editionable = reader.accept("EDITIONABLE") or reader.accept("NONEDITIONABLE")
    position, word = reader.position, reader.word()
    if reader.accept("VIEW"):
        return views.create_view(reader, host, replace=replace, force=force)
    if reader.accept("TRIGGER"):
        return create_trigger(reader, host, replace=replace)
    if reader.accept("SYNONYM"):
        return synonyms.create_synonym(reader, host, replace=replace, public=False)
    if reader.accept("PUBLIC", "SYNONYM"):
        return synonyms.create_synonym(reader, host, replace=replace, public=True)
    if reader.accept("DIRECTORY"):
        return directories.create_directory(reader, host, replace=replace)
    if word in _KNOWN_OBJECTS or reader.sees("PUBLIC", "DATABASE") or reader.sees("DATABASE", "LINK"):
        raise unsupported(f"CREATE {word} {_second(reader)}".rstrip(), position)
    if replace or force or editionable:
        reader.fail(922, "missing or invalid option")
    return _create_plain(reader, host)


def _create_plain(reader: Reader, host: Host) -> Action:
    """Read what cannot be replaced."""
    position = reader.position
    if reader.accept("TABLE"):
        return create_table.create_table(reader, host)
    if reader.accept("UNIQUE", "INDEX"):
        return indexes.create_index(reader, host, unique=True)
    if reader.accept("INDEX"):
        return indexes.create_index(reader, host, unique=False)
    if reader.accept("BITMAP", "INDEX"):
        return indexes.create_index(reader, host, unique=False, bitmap=True)
    if reader.accept("VECTOR", "INDEX"):
        return vector_indexes.create_vector_index(reader, host)
    if reader.accept("MULTIVALUE", "INDEX"):
        return indexes.create_multivalue_index(reader, host)
    if reader.sees("UNIQUE", "MULTIVALUE"):
        raise unsupported("unique multivalue indexes", position)
    if reader.accept("SEQUENCE"):
        return sequences.create_sequence(reader, host)
    if reader.accept("USER"):
        return users.create_user(reader, host)
    if reader.accept("ROLE"):
        return users.create_role(reader, host)
    if reader.accept("SCHEMA"):
        reader.fail(2420, "missing schema authorization clause")
    if reader.accept("DATABASE"):
        reader.fail(1501, "CREATE DATABASE failed")
    raise OraError(901, "invalid CREATE command", reader.position)


def _second(reader: Reader) -> str:
    """Give the second word of what is created where the first alone says little."""
    two = {"MATERIALIZED", "GLOBAL", "PRIVATE", "HYBRID", "SEARCH", "PUBLIC", "DATABASE", "JSON", "PROPERTY", "SHARDED"}
    return reader.peek(1).upper if reader.word() in two else ""


def _alter(reader: Reader, host: Host) -> Action:
    position, word = reader.position, reader.word()
    if reader.accept("TABLE"):
        return alter_table.alter_table(reader, host)
    if reader.accept("INDEX"):
        return indexes.alter_index(reader, host)
    if reader.accept("SEQUENCE"):
        return sequences.alter_sequence(reader, host)
    if reader.accept("USER"):
        return users.alter_user(reader, host)
    if reader.accept("TRIGGER"):
        return alter_trigger(reader, host)
    if reader.accept("VIEW"):
        return _alter_view(reader, host)
    if word in _KNOWN_OBJECTS or word in {"SYSTEM", "DATABASE", "ROLE", "SYNONYM", "RESOURCE"}:
        raise unsupported(f"ALTER {word}", position)
    raise OraError(940, "invalid ALTER command", reader.position)


def _alter_view(reader: Reader, host: Host) -> Action:
    """ALTER VIEW … COMPILE: a view is always compiled here."""
    owner, name = reader.name()
    if not reader.accept("COMPILE"):
        raise unsupported(f"ALTER VIEW … {reader.word()}", reader.position)
    reader.expect_end()
    schema = owner or host.schema

    def run() -> None:
        if questions.object_kind(host, schema, name) != "VIEW":
            raise questions.missing(schema, name)

    return run


def _drop(reader: Reader, host: Host) -> Action:
    position, word = reader.position, reader.word()
    if reader.accept("TABLE"):
        return drop_table.drop_table(reader, host)
    if reader.accept("INDEX"):
        return indexes.drop_index(reader, host)
    if reader.accept("SEQUENCE"):
        return sequences.drop_sequence(reader, host)
    if reader.accept("VIEW"):
        return views.drop_view(reader, host)
    if reader.accept("TRIGGER"):
        return drop_trigger(reader, host)
    if reader.accept("USER"):
        return users.drop_user(reader, host)
    if reader.accept("ROLE"):
        return users.drop_role(reader, host)
    if reader.accept("SYNONYM"):
        return synonyms.drop_synonym(reader, host, public=False)
    if reader.accept("PUBLIC", "SYNONYM"):
        return synonyms.drop_synonym(reader, host, public=True)
    if reader.accept("DIRECTORY"):
        return directories.drop_directory(reader, host)
    if word in {"PROCEDURE", "FUNCTION", "PACKAGE", "TYPE"} or reader.sees("MATERIALIZED", "VIEW"):
        return _drop_what_cannot_be(reader, host)
    if word in _KNOWN_OBJECTS:
        raise unsupported(f"DROP {word}", position)
    raise OraError(950, "invalid DROP option", reader.position)


def _drop_what_cannot_be(reader: Reader, host: Host) -> Action:
    """DROP of a kind of object that cannot be created here: there is none of that name."""
    kind = reader.advance().upper
    if kind == "MATERIALIZED":
        reader.expect("VIEW")
    elif kind in {"PACKAGE", "TYPE"}:
        reader.accept("BODY")
    guard = reader.accept("IF", "EXISTS")
    owner, name = reader.name()
    reader.accept("FORCE") or reader.accept("VALIDATE") or reader.accept("PRESERVE", "TABLE")
    reader.expect_end()
    schema = owner or host.schema

    def run() -> None:
        if guard:
            return
        if kind == "MATERIALIZED":
            raise OraError(12003, f'materialized view or zonemap "{schema}"."{name}" does not exist')
        raise OraError(4043, f'Object "{schema}"."{name}" does not exist.')

    return run


def _analyze(reader: Reader, host: Host) -> Action:
    if not reader.accept("TABLE"):
        raise unsupported(f"ANALYZE {reader.word()}", reader.position)
    owner, name = reader.name()
    if not (reader.accept("COMPUTE") or reader.accept("ESTIMATE")):
        raise unsupported(f"ANALYZE TABLE … {reader.word()}", reader.position)
    reader.expect("STATISTICS")
    reader.expect_end(1490, "invalid ANALYZE command")
    schema = owner or host.schema

    def run() -> None:
        questions.require_table(host, schema, name)
        host.change([f"ANALYZE {qualified(schema, name)}"])

    return run


def _purge(reader: Reader) -> Action:
    """PURGE RECYCLEBIN: nothing to do, DROP TABLE keeps nothing."""
    if not reader.accept("RECYCLEBIN"):
        raise unsupported(f"PURGE {reader.word()}", reader.position)
    reader.expect_end(38301, "can not perform DDL/DML over objects in Recycle Bin")
    return lambda: None
