"""Table of statements with what Oracle Database 23ai/26ai does with them, and where the local database differs.

The tables FIXTURE makes are there for every row; a row's ``setup`` is run before it. Every row starts from the same state.
"""

from __future__ import annotations

from tests.local import refusals_ddl, refusals_queries, refusals_sessions, refusals_values, refusals_vectors
from tests.local.refusals_rows import ACCEPTED, FIXTURE, Refused, Works
from tests.local.refusals_works import WORKS

__all__ = ["ACCEPTED", "FIXTURE", "FREE", "REFUSED", "RESERVED", "WORKS", "Refused", "Works"]

REFUSED = [
    *refusals_queries.REFUSED,
    *refusals_ddl.REFUSED,
    *refusals_values.REFUSED,
    *refusals_vectors.REFUSED,
    *refusals_sessions.REFUSED,
]


# The reserved words of Oracle's documentation: none is a column name without quotes.
RESERVED = """
    ACCESS ADD ALL ALTER AND ANY AS ASC AUDIT BETWEEN BY CHAR CHECK CLUSTER COLUMN COLUMN_VALUE COMMENT COMPRESS CONNECT
    CREATE CURRENT DATE DECIMAL DEFAULT DELETE DESC DISTINCT DROP ELSE EXCLUSIVE EXISTS FILE FLOAT FOR FROM GRANT GROUP
    HAVING IDENTIFIED IMMEDIATE IN INCREMENT INDEX INITIAL INSERT INTEGER INTERSECT INTO IS LEVEL LIKE LOCK LONG
    MAXEXTENTS MINUS MLSLABEL MODE MODIFY NESTED_TABLE_ID NOAUDIT NOCOMPRESS NOT NOWAIT NULL NUMBER OF OFFLINE ON ONLINE
    OPTION OR ORDER PCTFREE PRIOR PUBLIC RAW RENAME RESOURCE REVOKE ROW ROWID ROWNUM ROWS SELECT SESSION SET SHARE SIZE
    SMALLINT START SUCCESSFUL SYNONYM SYSDATE TABLE THEN TO TRIGGER UID UNION UNIQUE UPDATE USER VALIDATE VALUES VARCHAR
    VARCHAR2 VIEW WHENEVER WHERE WITH
    """.split()  # noqa: SIM905

# Words that look reserved and are not.
FREE = """
    GENERATED IDENTITY JSON LATERAL XMLTABLE VERSIONS MEASURES PATH VALUE KEY TYPE STATUS LIMIT OFFSET DESCRIPTION TITLE
    AMOUNT EMAIL NAME
    """.split()  # noqa: SIM905
