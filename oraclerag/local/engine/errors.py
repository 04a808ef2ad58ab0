"""PostgreSQL's errors as Oracle numbers and words them.

The SQLSTATE decides; where one stands for several Oracle errors, PostgreSQL's message does, which is stable as the
embedded version is pinned by the wheel.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from oraclerag.local.engine.commands import OWN_ERROR, PgError
from oraclerag.local.engine.long_names import LongNames
from oraclerag.local.interface import OraError

_IDENTIFIER = re.compile(r'"((?:[^"]|"")+)"')
_KEY_COLUMNS = re.compile(r"Key \((.*?)\)=\(", re.DOTALL)
_EXPECTED_DIMENSIONS = re.compile(r"expected (\d+) dimensions, not (\d+)")
# The function of a trigger begins with a blank; the first line of the context is the innermost call.
_IN_TRIGGER = re.compile(
    r'\A(?:SQL statement .*?\n|)PL/pgSQL function (?:"?([^".]+)"?\.)?" ([^"]+)"\(\) line', re.DOTALL
)
_GONE = ("42P01", "42703", "42883")
_MISSING_COLUMN = re.compile(r'column (?:"([^"]+)"|(\S+?)) ')


@dataclass(slots=True)  # made in every call: a frozen one takes three times as long
class Context:
    """The Oracle statement that failed: its text, the current schema, and whether it is DDL."""

    sql: str = ""
    schema: str = ""
    ddl: bool = False

    @property
    def verb(self) -> str:
        """The statement's first word."""
        match = re.match(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*([A-Za-z]+)", self.sql, re.DOTALL)
        return match[1].upper() if match else ""


def ora_error(error: PgError, context: Context, names: LongNames) -> OraError:
    """Give the Oracle error of a PostgreSQL error; ``names`` are what long names are said by."""
    if error.state == OWN_ERROR:
        return OraError(int(error.detail), names.text(error.message))
    trigger = _IN_TRIGGER.search(error.context) if error.state in _GONE else None
    if trigger is not None:  # it compiled once, and what it names is no longer there
        name = names.text(f"{trigger[1] or context.schema}.{trigger[2]}")
        return OraError(4098, f"trigger '{name}' is invalid and failed re-validation")
    rule = _RULES.get(error.state)
    found = rule(error, context) if rule is not None else None
    if found is None:
        return OraError(604, f"error occurred at recursive SQL level 1: PostgreSQL {error.state}: {error.message}")
    number, message = found[0], names.text(found[1])
    return OraError(number, message, _position(number, message, context))


def _position(number: int, message: str, context: Context) -> int:
    """Find the name that the message is about in the statement; 0 when it is not there."""
    if number not in {904, 918, 942, 979, 2289}:
        return 0
    names = _IDENTIFIER.findall(message)
    if not names:
        return 0
    match = re.search(rf"\b{re.escape(names[-1])}\b", context.sql, re.IGNORECASE)
    return match.start() if match else 0


Found = tuple[int, str]
Rule = Callable[[PgError, Context], Found | None]


def _names(message: str) -> list[str]:
    return [name.replace('""', '"') for name in _IDENTIFIER.findall(message)]


def _unique(error: PgError, context: Context) -> Found:
    match = _KEY_COLUMNS.search(error.detail)
    if context.ddl:
        if "is duplicated" in error.detail:
            if context.verb == "CREATE":
                return 1452, "cannot CREATE UNIQUE INDEX; duplicate keys found"
            return 2299, f"cannot validate ({error.schema}.{error.constraint}) - duplicate keys found"
        return 955, "name is already used by an existing object"
    columns = match[1].replace('"', "") if match else ""
    # A unique key whose columns may be NULL has a second index under this suffix.
    name = error.constraint.removesuffix("$NULLS")
    # An index that also has to hold an expression names it in PostgreSQL's words; the columns are what matters.
    where = f" on table {error.schema}.{error.table} columns ({columns})" if columns else ""
    return 1, f"unique constraint ({error.schema}.{name}) violated{where}"


def _not_null(error: PgError, context: Context) -> Found:
    if context.ddl:
        if context.verb == "ALTER" and "contains null values" in error.message:
            return 2296, f"cannot enable ({error.schema}.) - null values found"
        return 1400, "cannot insert NULL"
    name = f'("{error.schema}"."{error.table}"."{error.column}")'
    if context.verb == "UPDATE":
        return 1407, f"cannot update {name} to NULL"
    return 1400, f"cannot insert NULL into {name}"


def _check(error: PgError, context: Context) -> Found:
    if context.ddl:
        name = f"({error.schema or context.schema}.{error.constraint})"
        return 2293, f"cannot validate {name} - check constraint violated"
    return 2290, f"check constraint ({error.schema}.{error.constraint}) violated"


def _foreign_key(error: PgError, context: Context) -> Found:
    name = f"({error.schema}.{error.constraint})"
    if context.ddl:
        return 2298, f"cannot validate {name} - parent keys not found"
    if error.message.startswith("insert or update"):
        return 2291, f"integrity constraint {name} violated - parent key not found"
    return 2292, f"integrity constraint {name} violated - child record found"


def _no_table(error: PgError, context: Context) -> Found:
    names = _names(error.message)
    if "missing FROM-clause entry" in error.message or "invalid reference to FROM-clause" in error.message:
        return 904, f'"{names[0]}": invalid identifier' if names else "invalid identifier"
    if not names:
        return 942, "table or view does not exist"
    schema, _, table = names[0].rpartition(".")
    if "sequence" in error.message or "nextval" in context.sql.lower():
        return 2289, "sequence does not exist"
    return 942, f'table or view "{schema or context.schema}"."{table}" does not exist'


def _no_column(error: PgError, _: Context) -> Found:
    match = _MISSING_COLUMN.search(error.message)
    name = (match[1] or match[2]) if match else ""
    quoted = ".".join(f'"{part}"' for part in name.replace('"', "").split("."))
    return 904, f"{quoted}: invalid identifier"


def _ambiguous_column(error: PgError, _: Context) -> Found:
    names = _names(error.message)
    return 918, f"{names[0] if names else ''}: column ambiguously specified - appears in multiple tables"


def _ambiguous_call(error: PgError, _: Context) -> Found:
    if "vector" in error.message and "operator" in error.message:
        return _comparison_key("VECTOR")
    return 932, _inconsistent(error)


def _comparison_key(name: str) -> Found:
    return 22848, f"cannot use {name} type as comparison key"


_TYPE_NAMES = {
    "numeric": "NUMBER", "odate": "DATE", "varchar2": "CHAR", "text": "CHAR", "clob": "CLOB", "blob": "BLOB",
    "vector": "VECTOR", "jsonb": "JSON", "boolean": "BOOLEAN", "bytea": "BINARY", "double precision": "BINARY_DOUBLE",
    "real": "BINARY_FLOAT", "timestamp without time zone": "TIMESTAMP", "interval": "INTERVAL DAY TO SECOND",
    "timestamp with time zone": "TIMESTAMP WITH TIME ZONE", "tid": "ROWID", "integer": "NUMBER", "bigint": "NUMBER",
}  # fmt: skip
_TYPE = "|".join(sorted(map(re.escape, _TYPE_NAMES), key=len, reverse=True))
_ASSIGNMENT = re.compile(rf"is of type ({_TYPE})\S* but .*expression is of type ({_TYPE})\b")
_OPERANDS = re.compile(rf"operator does not exist: ({_TYPE}) \S+ ({_TYPE})$")
_ONE_OPERAND = re.compile(rf"operator does not exist: \S+ ({_TYPE})$")
_CAST = re.compile(rf"cannot cast type ({_TYPE})\S* to ({_TYPE})\b")
_BRANCHES = re.compile(rf"types ({_TYPE}) and ({_TYPE}) cannot be matched")


def _inconsistent(error: PgError) -> str:
    """Say which types do not go together, in Oracle's names for them."""
    for pattern in (_ASSIGNMENT, _OPERANDS, _BRANCHES):
        match = pattern.search(error.message)
        if match is not None:
            return f"inconsistent datatypes: expected {_TYPE_NAMES[match[1]]} got {_TYPE_NAMES[match[2]]}"
    match = re.search(r"function ora\.(\w+)\((.*)\) does not exist", error.message)
    if match is not None:
        arguments = ", ".join(_TYPE_NAMES.get(name, name.upper()) for name in match[2].split(", "))
        return f"inconsistent datatypes: {match[1].upper()} does not take ({arguments})"
    match = _CAST.search(error.message)
    if match is not None:
        return f"inconsistent datatypes: expected {_TYPE_NAMES[match[2]]} got {_TYPE_NAMES[match[1]]}"
    match = _ONE_OPERAND.search(error.message)
    if match is not None:
        return f"inconsistent datatypes: expected NUMBER got {_TYPE_NAMES[match[1]]}"
    return "inconsistent datatypes"


def _no_function(error: PgError, context: Context) -> Found:
    message = error.message
    if "ordering operator" in message or "equality operator" in message:
        kind = next((name for name in ("vector", "clob", "blob", "json") if name in message), "")
        if kind:
            return _comparison_key(kind.upper())
    if re.search(r"operator does not exist: (vector|clob|blob) [=<>]+", message):
        return _comparison_key(message.split(": ")[1].split(" ")[0].upper())
    if message.startswith("function ") and "ora." not in message and '"' in message:
        names = _names(message)
        return 904, f'"{names[-1]}": invalid identifier'
    _ = context
    return 932, _inconsistent(error)


def _mismatch(error: PgError, _: Context) -> Found:
    message = error.message
    if message.startswith(("UNION", "INTERSECT", "EXCEPT")):
        return 1790, "expression must have same datatype as corresponding expression"
    if "must be type boolean" in message:
        return 920, "invalid relational operator"
    return 932, _inconsistent(error)


def _syntax(error: PgError, _: Context) -> Found | None:
    message = error.message
    for words, found in _SYNTAX:
        if words in message:
            return found
    return None


_SYNTAX: tuple[tuple[str, Found], ...] = (
    ("more expressions than target columns", (913, "too many values")),
    ("more target columns than expressions", (947, "not enough values")),
    ("multiple assignments to same column", (957, "duplicate column name")),
    ("same number of columns", (1789, "query block has incorrect number of result columns")),
    ("only one column", (913, "too many values")),
    ("has too many columns", (913, "too many values")),
    ("has too few columns", (947, "not enough values")),
    ("unequal number of entries", (947, "not enough values")),
    ("jsonpath", (40442, "JSON path expression syntax error")),
)


def _input_syntax(error: PgError, _: Context) -> Found:
    message = error.message
    if "json" in message:
        return 40441, "JSON syntax error"
    opened = error.detail.startswith(("Vector contents must start", "Junk after"))
    if "vector" in message and (opened or not message.rstrip().endswith(']"')):
        return 51804, "Invalid syntax for VECTOR value: it must be enclosed in square brackets"
    if "vector" in message:
        return 51805, "Vector is not properly formatted (dimension value is either not a number or infinity)"
    if "numeric" in message or "integer" in message or "double precision" in message or "real" in message:
        return 1722, "unable to convert string value to a number"
    if "uuid" in message or "bytea" in message or "hexadecimal" in message:
        return 1465, "invalid hex number"
    return 1858, "a non-numeric character was found where a numeric was expected"


def _numeric_range(error: PgError, _: Context) -> Found:
    if "field" in error.message or "field with precision" in error.detail:
        return 1438, "value larger than specified precision allowed for this column"
    if "infinite value not allowed in vector" in error.message or "for type vector" in error.message:
        return 51806, "Vector column is not properly formatted (dimension value overflow)"
    return 1426, "numeric overflow"


def _date(error: PgError, _: Context) -> Found:
    message = error.message
    if "month" in message:
        return 1843, "not a valid month"
    if "year" in message:
        return 1841, "(full) year must be between -4713 and +9999, and not be 0"
    if "out of range" in message:
        return 1847, "day of month must be between 1 and last day of month"
    return 1861, "literal does not match format string"


def _data(error: PgError, _: Context) -> Found | None:
    match = _EXPECTED_DIMENSIONS.search(error.message)
    if match:
        return 51803, (
            "Vector dimension count must match the dimension count specified in the column definition"
            f" (expected {match[1]} dimensions, specified {match[2]} dimensions)."
        )
    if "different vector dimensions" in error.message:
        return 51808, "VECTOR_DISTANCE() is not supported for vectors with different dimension counts"
    if "vector" in error.message:
        return 51805, "Vector is not properly formatted (dimension value is either not a number or infinity)"
    return None


def _grouping(error: PgError, _: Context) -> Found:
    message = error.message
    names = _names(message)
    if "must appear in the GROUP BY" in message:
        name = names[0].upper() if names else ""
        return 979, f'"{name}": must appear in the GROUP BY clause or be used in an aggregate function'
    if "nested" in message:
        return 978, "nested group function without GROUP BY"
    return 934, "group function is not allowed here"


def _cardinality(error: PgError, context: Context) -> Found:
    if "MERGE" in error.message or context.verb == "MERGE":
        return 30926, "unable to get a stable set of rows in the source tables"
    return 1427, "single-row subquery returns more than one row"


def _locked(error: PgError, context: Context) -> Found:
    if "lock timeout" in error.message and not context.ddl:
        return 30006, "resource busy; acquire with WAIT timeout expired"
    return 54, "resource busy and acquire with NOWAIT specified or timeout expired"


def _exists(_: PgError, __: Context) -> Found:
    return 955, "name is already used by an existing object"


def _duplicate_column(error: PgError, context: Context) -> Found:
    if context.verb == "ALTER":
        return 1430, f"column being added already exists in table: {next(iter(_names(error.message)), '')}"
    return 957, "duplicate column name"


def _duplicate_object(error: PgError, _: Context) -> Found:
    if "constraint" in error.message:
        return 2264, "name already used by an existing constraint"
    if "trigger" in error.message:
        return 4081, "trigger already exists"
    return 955, "name is already used by an existing object"


def _no_object(error: PgError, context: Context) -> Found:
    message = error.message
    if "constraint" in message:
        return 2443, "Cannot drop constraint - nonexistent constraint"
    if "index" in message:
        return 1418, "specified index does not exist"
    if "type" in message:
        return 902, "invalid datatype"
    if "trigger" in message:
        return 4080, "trigger does not exist"
    return _no_table(error, context)


def _definition(error: PgError, _: Context) -> Found | None:
    if "primary key" in error.message:
        return 2260, "table can have only one primary key"
    return None


def _order(error: PgError, _: Context) -> Found:
    if "DISTINCT" in error.message:
        return 1791, "not a SELECTed expression"
    return 1785, "ORDER BY item must be the number of a SELECT-list expression"


def _feature(error: PgError, context: Context) -> Found | None:
    message = error.message
    if "FOR UPDATE" in message or "FOR NO KEY UPDATE" in message:
        return 2014, "cannot select FOR UPDATE from view with DISTINCT, GROUP BY, etc."
    if message.startswith(("cannot update column", "cannot insert into column")):
        return 1733, "virtual column not allowed here"
    if "cannot use column reference in DEFAULT" in message:
        return 984, "column not allowed here"
    _ = context
    return 3001, f"unimplemented feature: {message}"


def _not_pure(error: PgError, _: Context) -> Found:
    if "index" in error.message:
        return 1743, "only pure functions can be indexed"
    return 54002, "only pure functions can be specified in a virtual column expression"


def _generated(_: PgError, context: Context) -> Found:
    if context.verb == "UPDATE":
        return 54017, "UPDATE operation disallowed on virtual columns"
    return 54013, "INSERT operation disallowed on virtual columns"


_EXPRESSIONS: tuple[tuple[str, Found], ...] = (
    ("parentheses () not balanced", (12725, "unmatched parentheses in regular expression")),
    ("brackets [] not balanced", (12726, "unmatched bracket in regular expression")),
    ("invalid backreference number", (12727, "invalid back reference in regular expression")),
    ("invalid character range", (12728, "invalid range in regular expression")),
    ("invalid character class", (12729, "invalid character class in regular expression")),
)


def _regular_expression(error: PgError, _: Context) -> Found:
    for words, found in _EXPRESSIONS:
        if words in error.message:
            return found
    return 3001, "unimplemented feature: this form of a regular expression"


def _too_many(error: PgError, _: Context) -> Found:
    if "null character" in error.message:
        return 3001, "unimplemented feature: the character CHR(0) in text"
    if "vector" in error.message:
        return 3001, "unimplemented feature: vectors of more than 16000 dimensions"
    return 913, "too many values"


def _not_ready(error: PgError, _: Context) -> Found:
    """SQLSTATE 55000 is of sequences before their NEXTVAL and of views that cannot be written through."""
    if not error.message.startswith("cannot ") and "view" not in error.message:
        return 8002, "sequence.CURRVAL is not yet defined in this session"
    if "no updatable columns" in error.detail:
        return 1733, "virtual column not allowed here"
    if "do not select from a single table" in error.detail:
        return 1779, "cannot modify a column which maps to a non key-preserved table"
    return 1732, "data manipulation operation not legal on this view"


def _fixed(number: int, message: str) -> Rule:
    return lambda _error, _context: (number, message)


_RULES: dict[str, Rule] = {
    "0A000": _feature,
    "0B000": _fixed(1453, "SET TRANSACTION must be first statement of transaction"),
    "21000": _cardinality,
    "22000": _data,
    "22001": _fixed(12899, "value too large for column"),
    "22003": _numeric_range,
    "22007": _date,
    "22008": _date,
    "22012": _fixed(1476, "divisor is equal to zero"),
    "2200H": _fixed(8004, "sequence.NEXTVAL exceeds MAXVALUE and cannot be instantiated"),
    "22021": _fixed(3001, "unimplemented feature: the character CHR(0) in text"),
    "22023": _fixed(1428, "argument is out of range"),
    "2201B": _regular_expression,
    "2201E": _fixed(1428, "argument is out of range"),
    "2201F": _fixed(1428, "argument is out of range"),
    "22030": _fixed(40473, "duplicate keys in JSON object"),
    "22032": _fixed(40441, "JSON syntax error"),
    "22034": _fixed(40470, "JSON path expression selected more than one value"),
    "22035": _fixed(40462, "JSON path expression selected no value"),
    "22P02": _input_syntax,
    "22P03": _input_syntax,
    "22P05": _fixed(3001, "unimplemented feature: the character CHR(0) in JSON"),
    "23001": _foreign_key,
    "23502": _not_null,
    "23503": _foreign_key,
    "23505": _unique,
    "23514": _check,
    "25006": _fixed(1456, "may not perform insert, delete, update operation inside a READ ONLY transaction"),
    "2BP01": _fixed(2449, "unique/primary keys in table referenced by foreign keys"),
    "34000": _fixed(1002, "fetch out of sequence"),
    "3B001": _fixed(1086, "savepoint never established in this session or is invalid"),
    "3F000": _fixed(1435, "user does not exist"),
    "40001": _fixed(8177, "can't serialize access for this transaction"),
    "40P01": _fixed(60, "deadlock detected while waiting for resource"),
    "42601": _syntax,
    "42611": _fixed(30673, "column to be modified is not an identity column"),
    "42622": _fixed(972, "identifier is too long"),
    "42701": _duplicate_column,
    "42702": _ambiguous_column,
    "42703": _no_column,
    "42704": _no_object,
    "42710": _duplicate_object,
    "42712": _ambiguous_column,
    "42723": _exists,
    "42725": _ambiguous_call,
    "42803": _grouping,
    "42804": _mismatch,
    "42809": _fixed(942, "table or view does not exist"),
    "42830": _fixed(2270, "no matching unique or primary key for this column-list"),
    "42846": lambda error, _context: (932, _inconsistent(error)),
    "42883": _no_function,
    "428C9": _generated,
    "42P01": _no_table,
    "42P02": _fixed(1008, "not all variables bound"),
    "42P06": _fixed(1920, "user name conflicts with another user or role name"),
    "42P07": _exists,
    "42P10": _order,
    "42P16": _definition,
    "42P17": _not_pure,
    "44000": _fixed(1402, "view WITH CHECK OPTION where-clause violation"),
    "42P18": lambda error, _context: (932, _inconsistent(error)),
    "42P20": _fixed(30483, "window functions are not allowed here"),
    "53100": _fixed(1653, "unable to extend table: there is no space left on the disk of the local database"),
    "53200": _fixed(4030, "out of process memory"),
    "54000": _too_many,
    "54001": _fixed(1795, "statement is too complex for the local database"),
    "54023": _fixed(939, "too many arguments for function"),
    "55000": _not_ready,
    "55006": _fixed(54, "resource busy and acquire with NOWAIT specified or timeout expired"),
    "55P03": _locked,
    "57014": _fixed(1013, "user requested cancel of current operation"),
    **dict.fromkeys(("57P01", "57P02", "57P03"), _fixed(3113, "end-of-file on communication channel")),
    "P0002": _fixed(1403, "no data found"),
    "P0003": _fixed(1422, "exact fetch returns more than requested number of rows"),
}
