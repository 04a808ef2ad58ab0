"""A schema that is lent for a replay: what is in it, and emptying it again."""

from __future__ import annotations

import oracledb

__all__ = ["clear", "contents"]


def contents(connection: oracledb.Connection) -> list[tuple[str, str]]:
    """Give type and name of everything in the connected user's schema; the recycle bin is no part of it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT OBJECT_TYPE, OBJECT_NAME FROM USER_OBJECTS WHERE OBJECT_NAME NOT LIKE 'BIN$%' "
            "ORDER BY OBJECT_TYPE, OBJECT_NAME"
        )
        return [(kind, name) for kind, name in cursor]


def clear(connection: oracledb.Connection) -> list[tuple[str, str]]:
    """Drop models, views, tables, sequences and synonyms of the connected user; gives what is left.

    Triggers and indexes go with their table. Only for a schema that was empty before.
    """
    found = contents(connection)
    with connection.cursor() as cursor:
        # a session that just ended may still hold a lock (ORA-00054)
        cursor.execute("ALTER SESSION SET DDL_LOCK_TIMEOUT = 30")
        for name in [name for kind, name in found if kind == "MINING MODEL"]:
            cursor.execute("BEGIN DBMS_VECTOR.DROP_ONNX_MODEL(model_name => :n, force => TRUE); END;", n=name)
        for kind, more in (("VIEW", ""), ("TABLE", " CASCADE CONSTRAINTS PURGE"), ("SEQUENCE", ""), ("SYNONYM", "")):
            for name in [name for this, name in found if this == kind]:
                # of a vector index, a model, an identity column: gone with them
                if not name.startswith(("VECTOR$", "DM$", "ISEQ$$_")):
                    cursor.execute(f'DROP {kind} "{name}"{more}')
    return contents(connection)
