"""A driver's question for an object type: a block around DBMS_PICKLER.GET_TYPE_SHAPE, sent before a value is bound."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from oraclerag.local.interface import BlockResult, Direction, EngineSession, OraError
from oraclerag.local.wire import object_types
from oraclerag.local.wire.capabilities import Dialect
from oraclerag.local.wire.cursors import CursorTable
from oraclerag.local.wire.describe import put_describe
from oraclerag.local.wire.primitives import put_uint

_NAME = re.compile(r'"?SYS"?\."?VECTOR_ARRAY_T"?')
_DESCRIBE_HEAD = 2  # message type and flags, which a cursor as a value has not
_ATTRIBUTES = "SELECT {} FROM dual WHERE 1 = 0".format(
    ", ".join(f"CAST(NULL AS VARCHAR2(128)) AS a{number}" for number in range(10))
)


def asks(sql: str) -> bool:
    """Whether a block is such a question."""
    return "dbms_pickler.get_type_shape" in sql


def answer(
    names: Sequence[str], values: Sequence[Any], session: EngineSession, cursors: CursorTable, dialect: Dialect
) -> BlockResult:
    """Answer it, for the names of its binds and their values; attributes are a cursor without rows.

    RET_VAL is 1 for a type that is not there. ORA-03001 when the block has other binds than are known.
    """
    given = dict(zip(names, values, strict=True))
    name = given.get("FULL_NAME")
    found = bool(_NAME.fullmatch(str(name).upper())) if name else given.get("OID") == object_types.OID
    known = {
        "RET_VAL": 0 if found else 1,
        "FULL_NAME": given.get("FULL_NAME"),
        "OID": object_types.OID if found else None,
        "VERSION": 1 if found else None,
        "TDS": object_types.SHAPE if found else None,
        "ATTRS_RC": None,
        "PACKAGE_NAME": None,
        "SCHEMA": "SYS" if found else None,
        "NAME": "VECTOR_ARRAY_T" if found else None,
    }
    if not given.keys() <= known.keys():
        raise OraError(3001, "unimplemented feature: this question for an object type")
    known["ATTRS_RC"] = _no_attributes(session, cursors, dialect)
    directions = {"FULL_NAME": Direction.IN, "OID": Direction.IN_OUT}
    result = BlockResult(tuple(directions.get(name, Direction.OUT) for name in names))
    result.outs.append([known[name] for name in names if name != "FULL_NAME"])
    return result


def _no_attributes(session: EngineSession, cursors: CursorTable, dialect: Dialect) -> bytes:
    """Open a cursor without rows and give it as a value: its description and its number."""
    cursor = cursors.open(_ATTRIBUTES, session.shape(_ATTRIBUTES))
    cursor.rows = session.query(cursor.sql, (), ())
    cursor.columns = cursor.described = cursor.rows.columns
    out = bytearray()
    put_describe(out, cursor.columns, dialect)
    put_uint(out, cursor.id)
    return bytes(out[_DESCRIBE_HEAD:])
