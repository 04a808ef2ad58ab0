"""A schema that is lent for a replay: whether it is fit for that, what is in it, and emptying it again."""

from __future__ import annotations

from collections.abc import Collection

import oracledb

from oraclerag.errors import InputError
from oraclerag.statements import identifier

__all__ = ["clear", "contents", "lent"]

_HINT = "Name a user with an empty schema, for it is emptied afterwards; sql/setup/create_user.sql makes one."


def lent(connection: oracledb.Connection) -> str:
    """Give the name of the connected user, whose schema is lent.

    Raises InputError where it holds anything, and where names without an owner would mean those of another schema: what
    a replay makes would lie there, among what is another's.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT SYS_CONTEXT('USERENV', 'SESSION_USER'), SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') FROM dual"
        )
        [(user, current)] = cursor.fetchall()
    if current != user:
        raise InputError(f"Sessions of {user} work in the schema {current}, which is not lent.", hint=_HINT)
    if identifier(user, "name of the user") != user:
        raise InputError(f'The name "{user}" is not in upper case: without quotes it means another user.', hint=_HINT)
    if found := contents(connection):
        kind, name = found[0]
        raise InputError(
            f"The schema {user} is not empty: it holds {kind.lower()} {name} and {len(found) - 1} more.", hint=_HINT
        )
    return str(user)


def contents(connection: oracledb.Connection) -> list[tuple[str, str]]:
    """Give type and name of everything in the connected user's schema; the recycle bin is no part of it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT OBJECT_TYPE, OBJECT_NAME FROM USER_OBJECTS WHERE OBJECT_NAME NOT LIKE 'BIN$%' "
            "ORDER BY OBJECT_TYPE, OBJECT_NAME"
        )
        return [(kind, name) for kind, name in cursor]


def clear(connection: oracledb.Connection, made: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """Drop those models, views, tables, sequences and synonyms of the connected user that were ``made``.

    ``made`` holds type and name of each; whatever else has come into the schema is another's and stays. Triggers and
    indexes go with their table. Gives what is left. Only for a schema that was empty before.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT SYS_CONTEXT('USERENV', 'SESSION_USER') FROM dual")
        [(user,)] = cursor.fetchall()
        ours = [item for item in contents(connection) if item in made]
        # a session that just ended may still hold a lock (ORA-00054)
        cursor.execute("ALTER SESSION SET DDL_LOCK_TIMEOUT = 30")
        for name in [name for kind, name in ours if kind == "MINING MODEL"]:
            cursor.execute(
                "BEGIN DBMS_VECTOR.DROP_ONNX_MODEL(model_name => :n, force => TRUE); END;", n=f"{user}.{name}"
            )
        for kind, more in (("VIEW", ""), ("TABLE", " CASCADE CONSTRAINTS PURGE"), ("SEQUENCE", ""), ("SYNONYM", "")):
            for name in [name for this, name in ours if this == kind]:
                # of a vector index, a model, an identity column: gone with them
                if not name.startswith(("VECTOR$", "DM$", "ISEQ$$_")):
                    cursor.execute(f'DROP {kind} "{user}"."{name}"{more}')
    return contents(connection)
