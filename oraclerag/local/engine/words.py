"""Oracle's reserved words, and how names are written for PostgreSQL."""

from __future__ import annotations

from oraclerag.local.engine.long_names import stored
from oraclerag.local.interface import OraError

RESERVED = frozenset(
    """
    ACCESS ADD ALL ALTER AND ANY AS ASC AUDIT BETWEEN BY CHAR CHECK CLUSTER COLUMN COLUMN_VALUE COMMENT COMPRESS
    CONNECT CREATE CURRENT DATE DECIMAL DEFAULT DELETE DESC DISTINCT DROP ELSE EXCEPT EXCLUSIVE EXISTS FILE FLOAT FOR
    FROM GRANT GROUP HAVING IDENTIFIED IMMEDIATE IN INCREMENT INDEX INITIAL INSERT INTEGER INTERSECT INTO IS LEVEL
    LIKE LOCK LONG MAXEXTENTS MINUS MLSLABEL MODE MODIFY NESTED_TABLE_ID NOAUDIT NOCOMPRESS NOT NOWAIT NULL NUMBER OF
    OFFLINE ON ONLINE OPTION OR ORDER PCTFREE PRIOR PUBLIC RAW RENAME RESOURCE REVOKE ROW ROWID ROWNUM ROWS SELECT
    SESSION SET SHARE SIZE SMALLINT START SUCCESSFUL SYNONYM SYSDATE TABLE THEN TO TRIGGER UID UNION UNIQUE UPDATE
    USER VALIDATE VALUES VARCHAR VARCHAR2 VIEW WHENEVER WHERE WITH
    """.split()  # noqa: SIM905
)
"""Words that are no names unless quoted."""

NO_TABLE_ALIAS = RESERVED | frozenset(
    """
    CROSS FETCH FULL INNER JOIN LEFT LOG MATCH_RECOGNIZE MODEL NATURAL OFFSET OUTER PARTITION PIVOT QUALIFY RETURN
    RETURNING RIGHT SAMPLE SUBPARTITION UNPIVOT USING VERSIONS WHEN WINDOW
    """.split()  # noqa: SIM905
)
"""Words that continue a FROM clause or a statement instead of naming the table before them."""

MAX_NAME_BYTES = 128


def check_length(name: str, position: int = 0) -> str:
    """Give the name back, or raise ORA-00972 when it has more than 128 bytes."""
    if len(name) > MAX_NAME_BYTES // 4 and len(name.encode()) > MAX_NAME_BYTES:
        raise OraError(972, f"The identifier {name[:40]}... exceeds the maximum length of 128 bytes.", position)
    return name


def quote(name: str) -> str:
    """Write a name for PostgreSQL: always quoted, so that Oracle's upper case is what the catalog holds."""
    return '"' + stored(name).replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Write a string literal for PostgreSQL; the empty string is NULL."""
    return "'" + text.replace("'", "''") + "'" if text else "NULL"
