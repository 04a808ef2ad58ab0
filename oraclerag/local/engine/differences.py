"""Where the local database takes a statement and does not do what Oracle does: the one list of it.

What is here is not refused, so a test that passes on such a statement says nothing about Oracle. Most differences can
be seen in a statement when it is read for the first time, or in the types of the tables that it names; a few are seen
when they happen, and some in no statement at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from oraclerag.local.engine.control import without_effect
from oraclerag.local.engine.lexer import Token

_HINT = re.compile(r"\b(SELECT|INSERT|UPDATE|DELETE|MERGE)\s*(/\*|--)\+", re.IGNORECASE)
_PHYSICAL = frozenset(
    """
    TABLESPACE PCTFREE PCTUSED INITRANS MAXTRANS STORAGE LOGGING NOLOGGING CACHE NOCACHE PARALLEL NOPARALLEL COMPRESS
    NOCOMPRESS SEGMENT MONITORING NOMONITORING ROWDEPENDENCIES NOROWDEPENDENCIES SECUREFILE BASICFILE ONLINE MOVEMENT
    """.split()  # noqa: SIM905
)
_JSON_OPTIONS = frozenset({"ASCII", "ORDERED", "TRUNCATE", "STRICT", "LAX"})
_NATIONAL = frozenset({"NVARCHAR2", "NCHAR", "NCLOB"})
_LOBS = frozenset({"CLOB", "BLOB"})
TELLING_TYPES = frozenset({"CHAR", "CLOB", "BLOB", "JSON", "TIMESTAMP WITH TIME ZONE"})
"""The types of columns that a difference hangs on."""
_COLUMN_VIEWS = re.compile(r"(USER|ALL)_(TAB_COL(S|UMNS)|TAB_IDENTITY_COLS)\Z")
_GATHERS = frozenset({"DBMS_STATS", "ANALYZE"})


@dataclass(frozen=True)
class Reading:
    """A statement as detectors see it; ``types`` are Oracle's names of the columns' types of its tables."""

    sql: str
    tokens: Sequence[Token]
    types: frozenset[str] = frozenset()

    @cached_property
    def words(self) -> frozenset[str]:
        """The unquoted words in upper case."""
        return frozenset(token.upper for token in self.tokens if token.kind == "word")

    @property
    def first(self) -> str:
        """The first word."""
        return self.tokens[0].upper if self.tokens else ""

    def follows(self, *words: str) -> bool:
        """Whether these words or symbols stand somewhere one behind the other."""
        if words[0] not in self.words:
            return False
        uppers = [token.upper for token in self.tokens]
        return any(uppers[place : place + len(words)] == list(words) for place in range(len(uppers)))

    def declares(self, kind: str) -> bool:
        """Whether the word stands where a type does: not as the unit of a length, ``VARCHAR2(9 CHAR)``."""
        return kind in self.words and any(
            token.upper == kind and (place == 0 or self.tokens[place - 1].kind != "number")
            for place, token in enumerate(self.tokens)
        )

    @property
    def timestamp_digits(self) -> bool:
        """Whether a TIMESTAMP of more than six digits is named."""
        return "TIMESTAMP" in self.words and any(
            token.upper == "TIMESTAMP"
            and [behind.text for behind in self.tokens[place + 1 : place + 4]] in (["(", digit, ")"] for digit in "789")
            for place, token in enumerate(self.tokens)
        )


Detector = Callable[[Reading], bool]


@dataclass(frozen=True, slots=True)
class Difference:
    """One of them: what is done here and on Oracle. ``detect`` is None where no statement's text shows it.

    ``happens``: it is noted when it happens. The others without a detector always hold.
    """

    key: str
    subject: str
    here: str
    oracle: str
    detect: Detector | None = None
    happens: bool = False


def _ddl(reading: Reading) -> bool:
    return reading.first in {"CREATE", "ALTER"}


DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "storage",
        "Storage",
        "tablespace, PCTFREE, INITRANS, LOGGING, PARALLEL, ONLINE and the like are checked and shown; nothing depends"
        " on them",
        "they decide",
        lambda r: _ddl(r) and not r.words.isdisjoint(_PHYSICAL) and not r.words.isdisjoint({"TABLE", "INDEX"}),
    ),
    Difference(
        "users",
        "Options of users",
        "tablespaces, quotas and profiles are checked and do nothing; the space of all is the disk's, a wrong password"
        " locks nobody out",
        "ORA-01950 without a quota, ORA-28000 after failed logins",
        lambda r: _ddl(r) and r.tokens[1].upper == "USER",
    ),
    Difference(
        "space",
        "Space",
        "`SHRINK SPACE` asks for ROW MOVEMENT and for no index over expressions, `ALTER INDEX … COALESCE` for an index;"
        " neither does anything, PostgreSQL tidies up by itself",
        "rows move together, blocks become free",
        lambda r: r.first == "ALTER" and ("SHRINK" in r.words or "COALESCE" in r.words),
    ),
    Difference(
        "recycle-bin",
        "Recycle bin",
        "DROP TABLE keeps nothing, with PURGE or without; PURGE RECYCLEBIN finds nothing",
        "without PURGE a table can be brought back",
        lambda r: r.first == "PURGE" or (r.first == "DROP" and r.tokens[1].upper == "TABLE" and "PURGE" not in r.words),
    ),
    Difference(
        "approximate",
        "Approximate search",
        "pgvector's ivfflat and hnsw, used by every APPROX; TARGET ACCURACY is a share of the lists that are read (1/3"
        " at 90 %, all at 100 %), recall and order of near-equal hits are pgvector's; INCLUDE is checked and does"
        " nothing, ONLINE blocks as any build does, REBUILD keeps the number of lists",
        "Oracle's own indexes, used where the optimizer finds them cheaper",
        lambda r: bool(r.words & {"APPROX", "APPROXIMATE"}) or (r.follows("VECTOR", "INDEX") and _ddl(r)),
    ),
    Difference(
        "hnsw",
        "HNSW",
        "needs no memory pool",
        "needs VECTOR_MEMORY_SIZE (ORA-51962)",
        lambda r: (
            r.follows("INMEMORY", "NEIGHBOR")
            or (
                "DBMS_VECTOR" in r.words
                and any(token.kind == "string" and "INMEMORY NEIGHBOR" in token.value.upper() for token in r.tokens)
            )
        ),
    ),
    Difference(
        "float64",
        "VECTOR of FLOAT64",
        "elements are kept, and distances of all formats computed, in single precision: they differ from the seventh"
        " digit",
        "double precision",
        lambda r: "FLOAT64" in r.words,
    ),
    Difference(
        "timestamp-digits",
        "TIMESTAMP(7) to (9)",
        "keep six digits of the second",
        "keep what was declared",
        lambda r: r.timestamp_digits,
    ),
    Difference(
        "time-zone",
        "TIMESTAMP WITH TIME ZONE",
        "keeps the instant; TO_CHAR gives the zone of the session",
        "keeps the zone too",
        lambda r: r.follows("WITH", "TIME", "ZONE") or "TIMESTAMP WITH TIME ZONE" in r.types,
    ),
    Difference("rowid", "ROWID", "changes with every UPDATE of the row", "stays", lambda r: "ROWID" in r.words),
    Difference(
        "char",
        "CHAR",
        "is compared with blanks added whatever stands beside it",
        "with binds and VARCHAR2 columns as it is",
        lambda r: r.declares("CHAR") or r.declares("NCHAR") or "CHAR" in r.types,
    ),
    Difference(
        "keys",
        "Unique keys",
        "are looked at row by row: an UPDATE that moves keys to one another is ORA-00001 unless the constraint is"
        " DEFERRABLE",
        "are looked at when the statement is done",
    ),
    Difference(
        "restart",
        "Who waited for a row",
        "looks again at that row alone; rows that came to fit meanwhile are left out",
        "begins its statement anew",
    ),
    Difference(
        "mutating",
        "Triggers before INSERT",
        "may read their own table",
        "ORA-04091, except for INSERT … VALUES of one row",
        lambda r: r.first == "CREATE" and "TRIGGER" in r.words and "BEFORE" in r.words and "INSERT" in r.words,
    ),
    Difference(
        "empty-lob",
        "Empty CLOB and BLOB",
        "an empty text or bytes bound as LOB is NULL; EMPTY_CLOB() is not",
        "an empty LOB",
        lambda r: (
            not r.types.isdisjoint(_LOBS)
            and r.first in {"INSERT", "UPDATE", "MERGE"}
            and any(token.kind == "bind" for token in r.tokens)
        ),
    ),
    Difference(
        "json-order",
        "JSON objects",
        "members by length of their name, then by its bytes",
        "an order of its own, not the written one either",
        lambda r: "JSON" in r.types or any(word.startswith("JSON") for word in r.words),
    ),
    Difference(
        "json-types",
        "Dates and RAW inside JSON",
        "become texts: ISO 8601, hexadecimal digits",
        "stay what they are",
        lambda r: "JSON" in r.types and any(token.kind == "bind" for token in r.tokens),
    ),
    Difference(
        "json-options",
        "Options of JSON functions",
        "ASCII, ORDERED, TRUNCATE, STRICT and LAX are read and passed over; syntax is always strict",
        "they decide; LAX is the default of IS JSON",
        lambda r: (
            (any(word.startswith("JSON_") for word in r.words) and not r.words.isdisjoint(_JSON_OPTIONS))
            or r.follows("IS", "JSON")
        ),
    ),
    Difference(
        "ddl-readers",
        "DDL beside readers",
        "ORA-00054 while an open transaction has read the table; a query outside a transaction does not matter",
        "readers never matter",
        happens=True,
    ),
    Difference(
        "session-parameters",
        "Parameters of sessions",
        "ALTER SESSION takes what steers Oracle's optimizer, statistics, PL/SQL compiler, parallel work and"
        " DDL_LOCK_TIMEOUT, COMMIT its WRITE options; they do nothing",
        "they decide",
        lambda r: (
            (r.first == "ALTER" and any(without_effect(word) for word in r.words))
            or (r.first == "COMMIT" and "WRITE" in r.words)
        ),
    ),
    Difference(
        "session-attributes",
        "Session attributes",
        "module, action and client identifier of the driver are taken, and seen nowhere (SYS_CONTEXT, V$SESSION)",
        "seen",
    ),
    Difference(
        "result-types",
        "Types of results",
        "NVARCHAR2, NCHAR and NCLOB are described as VARCHAR2, CHAR and CLOB",
        "their own types",
        lambda r: not r.words.isdisjoint(_NATIONAL),
    ),
    Difference(
        "bound-lobs",
        "Bound LOBs that are selected",
        "a bound CLOB or BLOB that is selected as it is comes back as VARCHAR2 or RAW",
        "as LOB",
    ),
    Difference(
        "executemany-errors",
        "Errors of executemany",
        "`batcherrors` come in the order of the rows",
        "conversion errors first",
        happens=True,
    ),
    Difference(
        "column-views",
        "Dictionary",
        "a FLOAT column of a view is NUMBER, REAL is FLOAT(126), the cache of an identity column always 20",
        "as declared",
        lambda r: any(_COLUMN_VIEWS.match(word) for word in r.words),
    ),
    Difference(
        "dynamic-views",
        "V$ views",
        "V$VERSION, V$OPTION, V$PARAMETER with six rows, V$NLS_PARAMETERS, V$INSTANCE, V$TRANSACTION; ORA-00942 for"
        " others",
        "there are hundreds",
        lambda r: any(word.startswith("V$") for word in r.words),
    ),
    Difference(
        "broken-triggers",
        "Triggers that do not compile",
        "are not created (ORA-06550); one whose tables went later stops its table (ORA-04098) and is still called"
        " VALID",
        "created, with a warning, as INVALID",
        lambda r: r.first == "CREATE" and "TRIGGER" in r.words,
    ),
    Difference(
        "trigger-rights",
        "Rights of triggers",
        "are asked when a trigger is created: it goes on after its owner has lost them",
        "ORA-04098 once they are revoked",
        lambda r: r.first == "REVOKE",
    ),
    Difference(
        "sequence-defaults",
        "Sequences as defaults",
        "an INSERT into another's table takes no right on the sequence of a column's DEFAULT",
        "takes SELECT on it, too",
        lambda r: "DEFAULT" in r.words and "NEXTVAL" in r.words,
    ),
    Difference(
        "dependencies",
        "Dependencies",
        "ALL_DEPENDENCIES holds views alone",
        "triggers and stored code too",
        lambda r: not r.words.isdisjoint({"ALL_DEPENDENCIES", "USER_DEPENDENCIES"}),
    ),
    Difference(
        "statistics",
        "Statistics",
        "DBMS_STATS and ANALYZE have PostgreSQL count; their options, and the statistics of columns, are nowhere",
        "plans follow them",
        lambda r: not r.words.isdisjoint(_GATHERS),
    ),
    Difference(
        "oracle-text",
        "Oracle Text",
        "SCORE is ours: 1 to 100, rarer words and more of them count more; a row that a transaction changed in any"
        " column is not found before its commit; there are no DR$ tables, and tokens are parted by our own rules",
        "a score of its own; what was indexed stays found; the default lexer is of the database's language",
        lambda r: r.follows("CONTAINS", "(") or r.follows("INDEXTYPE", "IS") or "CTX_DDL" in r.words,
    ),
    Difference(
        "text-generation",
        "Text by language models",
        "UTL_TO_GENERATE_TEXT reaches every port of this machine, whoever calls it, and asks once for a statement; what"
        " the endpoint says of an error is left out",
        "asks for every row, and reaches what an access control list lets the user reach (ORA-24247)",
        lambda r: "UTL_TO_GENERATE_TEXT" in r.words,
    ),
    Difference(
        "hints",
        "Hints",
        "read and passed over; plans are PostgreSQL's",
        "the optimizer follows them where it can",
        lambda r: _HINT.search(r.sql) is not None,
    ),
)
"""All of them, in the order of docs/local.md."""

BY_KEY = {difference.key: difference for difference in DIFFERENCES}


def touched_by(reading: Reading) -> Iterable[str]:
    """Give the keys of the differences that a statement touches."""
    return [one.key for one in DIFFERENCES if one.detect is not None and one.detect(reading)]
