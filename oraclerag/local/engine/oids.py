"""PostgreSQL types by OID: the built-in ones that results and parameters meet, and Oracle's own of this database."""

from __future__ import annotations

from dataclasses import dataclass

BOOL = 16
BYTEA = 17
INTERNAL_CHAR = 18
NAME = 19
INT8 = 20
INT2 = 21
INT4 = 23
TEXT = 25
OID = 26
TID = 27
JSON = 114
FLOAT4 = 700
FLOAT8 = 701
UNKNOWN = 705
TEXT_ARRAY = 1009
BPCHAR = 1042
VARCHAR = 1043
DATE = 1082
TIMESTAMP = 1114
TIMESTAMPTZ = 1184
INTERVAL = 1186
NUMERIC = 1700
CSTRING = 2275
JSONB = 3802

INTEGERS = frozenset({INT2, INT4, INT8, OID})
BUILT_IN_TEXTS = frozenset({TEXT, VARCHAR, NAME, UNKNOWN, CSTRING, INTERNAL_CHAR})

NAMES = {
    BOOL: "BOOLEAN",
    BYTEA: "RAW",
    BPCHAR: "CHAR",
    DATE: "DATE",
    FLOAT4: "BINARY_FLOAT",
    FLOAT8: "BINARY_DOUBLE",
    INTERVAL: "INTERVAL DAY TO SECOND",
    JSON: "JSON",
    JSONB: "JSON",
    NUMERIC: "NUMBER",
    TEXT: "VARCHAR2",
    TID: "ROWID",
    TIMESTAMP: "TIMESTAMP",
    TIMESTAMPTZ: "TIMESTAMP WITH TIME ZONE",
    VARCHAR: "VARCHAR2",
}
"""Oracle's names, for messages."""

_TYPES = {
    BOOL: "bool",
    BYTEA: "bytea",
    BPCHAR: "bpchar",
    DATE: "date",
    FLOAT4: "float4",
    FLOAT8: "float8",
    INT2: "int2",
    INT4: "int4",
    INT8: "int8",
    INTERVAL: "interval",
    JSONB: "jsonb",
    NUMERIC: "numeric",
    TEXT: "text",
    TID: "tid",
    TIMESTAMP: "timestamp",
    TIMESTAMPTZ: "timestamptz",
    VARCHAR: "varchar",
}


@dataclass(frozen=True, slots=True)
class Oids:
    """OIDs that differ from database to database."""

    varchar2: int
    clob: int
    blob: int
    odate: int
    vector: int

    def type_text(self, oid: int) -> str | None:
        """Give the name of a type in PostgreSQL, if binds may have it and there are arrays of it."""
        own = {
            self.varchar2: "ora.varchar2",
            self.clob: "ora.clob",
            self.blob: "ora.blob",
            self.odate: "ora.odate",
            self.vector: "vector",
        }
        return own.get(oid) or _TYPES.get(oid)

    def is_text(self, oid: int) -> bool:
        """Whether a type holds VARCHAR2 or CLOB text as such."""
        return oid in BUILT_IN_TEXTS or oid in {BPCHAR, self.varchar2, self.clob}
