"""The functions with ordinary argument lists: how many arguments each takes, and what it becomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from oraclerag.local.engine.operands import Concatenation, Converted
from oraclerag.local.engine.tree import DataType, Node, join
from oraclerag.local.interface import OraError

Parts = tuple[str | Node, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """One function: argument counts, the emitter of its PostgreSQL text, the type of its result."""

    least: int
    most: int
    emit: Callable[[list[Node]], Parts]
    type: DataType = ""

    def check(self, name: str, count: int, position: int) -> None:
        """Raise ORA-00909, ORA-00938 or ORA-00939 when the argument count does not fit."""
        if self.least <= count <= self.most:
            return
        if self.least == self.most or count == 0:
            raise OraError(909, f"The number of arguments for function '{name}' is invalid.", position)
        if count < self.least:
            raise OraError(938, f"not enough arguments for function '{name}'", position)
        raise OraError(939, f"too many arguments for function '{name}'", position)


def call(name: str) -> Callable[[list[Node]], Parts]:
    """Give the emitter of a call to a PostgreSQL function."""

    def emit(arguments: list[Node]) -> Parts:
        return (f"{name}(", *join(arguments), ")")

    return emit


def _shaped(template: str) -> Callable[[list[Node]], Parts]:
    """Give the emitter of a text in which ``{0}``, ``{1}`` stand for the arguments."""
    pieces: list[str | int] = []
    for number, piece in enumerate(template.split("{")):
        if number:
            digit, _, piece = piece.partition("}")
            pieces.append(int(digit))
        pieces.append(piece)

    def emit(arguments: list[Node]) -> Parts:
        return tuple(piece if isinstance(piece, str) else arguments[piece] for piece in pieces)

    return emit


def _concatenation(arguments: list[Node]) -> Parts:
    return (Concatenation(arguments),)


def _decode(arguments: list[Node]) -> Parts:
    parts: list[str | Node] = ["CASE"]
    rest = arguments[1:]
    # The first result gives the type, a NULL that of text; the others are converted when they are reached.
    first = Node(type="text") if rest[1].kind == "null" else rest[1]
    results = {*range(3, len(rest), 2), *({len(rest) - 1} if len(rest) % 2 else ())}
    rest = [Converted(value, first) if number in results else value for number, value in enumerate(rest)]
    while len(rest) > 1:
        if rest[0].kind == "null":
            parts += [" WHEN ", arguments[0], " IS NULL THEN ", rest[1]]
        else:
            parts += [" WHEN ", arguments[0], " IS NOT DISTINCT FROM ", rest[0], " THEN ", rest[1]]
        rest = rest[2:]
    if rest:
        parts += [" ELSE ", rest[0]]
    return (*parts, " END")


_TYPES = {"number": "NUMBER", "text": "CHAR", "date": "DATE"}
_LITERAL_TYPES = {"integer": "NUMBER", "number": "NUMBER", "string": "CHAR"}


def check_same_type(values: list[Node]) -> None:
    """Refuse numbers, texts and dates beside one another where Oracle converts none (CASE, COALESCE): ORA-00932."""
    kinds = [_LITERAL_TYPES.get(value.kind) or _TYPES.get(value.type, "") for value in values]
    known = list(dict.fromkeys(kind for kind in kinds if kind))
    if len(known) > 1:
        message = f"expression is of data type {known[1]}, which is incompatible with expected data type {known[0]}"
        raise OraError(932, message)


def _nvl(arguments: list[Node]) -> Parts:
    return ("COALESCE(", arguments[0], ", ", Converted(arguments[1], arguments[0], always=True), ")")


def _nvl2(arguments: list[Node]) -> Parts:
    present = arguments[1]
    return (
        "CASE WHEN ",
        arguments[0],
        " IS NOT NULL THEN ",
        present,
        " ELSE ",
        Converted(arguments[2], present),
        " END",
    )


def _alike(name: str) -> Callable[[list[Node]], Parts]:
    """Emit a call whose other arguments are converted to the type of the first."""

    def emit(arguments: list[Node]) -> Parts:
        first, *others = arguments
        return (f"{name}(", *join([first, *(Converted(other, first) for other in others)]), ")")

    return emit


def _coalesce(arguments: list[Node]) -> Parts:
    check_same_type(arguments)
    return ("COALESCE(", *join(arguments), ")")


def _conversion(name: str) -> Callable[[list[Node]], Parts]:
    """Emit a conversion with a format; the third argument (NLS settings) may only say what holds anyway."""

    def emit(arguments: list[Node]) -> Parts:
        settings = [argument.value if argument.kind == "string" else "" for argument in arguments[1:]]
        if name == "ora.to_char" and settings == ["TM9", "NLS_NUMERIC_CHARACTERS='.,'"]:
            arguments = arguments[:2]
        if len(arguments) > 2:
            raise OraError(3001, f"unimplemented feature: NLS argument of {name[4:].upper()}")
        return (f"{name}(", *join(arguments), ")")

    return emit


def _define(entries: str) -> dict[str, Function]:
    """Read lines of ``NAME least most type``: functions that are called by their own name in schema ``ora``."""
    table: dict[str, Function] = {}
    for line in entries.strip().splitlines():
        name, least, most, kind = line.split()
        result: DataType = kind.replace("_", " ") if kind != "-" else ""  # type: ignore[assignment]
        table[name] = Function(int(least), int(most), call("ora." + name.lower().replace(".", "_")), result)
    return table


FUNCTIONS: dict[str, Function] = _define(
    """
    UPPER 1 1 text
    LOWER 1 1 text
    INITCAP 1 1 text
    SUBSTR 2 3 text
    SUBSTRB 2 3 text
    INSTR 2 4 number
    LENGTH 1 1 number
    LENGTHB 1 1 number
    NLSSORT 1 1 raw
    REPLACE 2 3 text
    TRANSLATE 3 3 text
    LTRIM 1 2 text
    RTRIM 1 2 text
    LPAD 2 3 text
    RPAD 2 3 text
    ASCII 1 1 number
    CHR 1 1 text
    REGEXP_LIKE 2 3 boolean
    REGEXP_SUBSTR 2 6 text
    REGEXP_REPLACE 2 6 text
    REGEXP_INSTR 2 7 number
    REGEXP_COUNT 2 4 number
    TO_CLOB 1 1 clob
    ABS 1 1 number
    CEIL 1 1 number
    FLOOR 1 1 number
    ROUND 1 2 -
    TRUNC 1 2 -
    MOD 2 2 number
    REMAINDER 2 2 number
    POWER 2 2 number
    SQRT 1 1 number
    EXP 1 1 number
    LN 1 1 number
    LOG 2 2 number
    SIGN 1 1 number
    SIN 1 1 number
    COS 1 1 number
    TAN 1 1 number
    BITAND 2 2 number
    BITOR 2 2 number
    BITXOR 2 2 number
    NANVL 2 2 number
    TO_BINARY_DOUBLE 1 1 double
    TO_BINARY_FLOAT 1 1 double
    TO_BOOLEAN 1 1 boolean
    ADD_MONTHS 2 2 date
    LAST_DAY 1 1 date
    NEXT_DAY 2 2 date
    MONTHS_BETWEEN 2 2 number
    NUMTODSINTERVAL 2 2 interval
    NUMTOYMINTERVAL 2 2 interval
    TO_DSINTERVAL 1 1 interval
    TO_YMINTERVAL 1 1 interval
    FROM_TZ 2 2 timestamp_with_time_zone
    RAWTOHEX 1 1 text
    HEXTORAW 1 1 raw
    SYS_GUID 0 0 raw
    STANDARD_HASH 1 2 raw
    UTL_RAW.CAST_TO_RAW 1 1 raw
    UTL_RAW.CAST_TO_VARCHAR2 1 1 text
    UTL_RAW.LENGTH 1 1 number
    UTL_RAW.SUBSTR 2 3 raw
    ROWIDTOCHAR 1 1 text
    CHARTOROWID 1 1 rowid
    EMPTY_CLOB 0 0 clob
    EMPTY_BLOB 0 0 blob
    TO_BLOB 1 1 blob
    DBMS_LOB.GETLENGTH 1 1 number
    DBMS_LOB.SUBSTR 1 3 -
    DBMS_LOB.INSTR 2 4 number
    DBMS_LOB.COMPARE 2 2 number
    DBMS_RANDOM.VALUE 0 2 number
    DBMS_RANDOM.STRING 2 2 text
    SYS_CONTEXT 2 3 text
    USERENV 1 1 text
    ORA_HASH 1 3 number
    """
)
FUNCTIONS |= {
    "CONCAT": Function(2, 255, _concatenation, "text"),
    "NVL": Function(2, 2, _nvl),
    "NVL2": Function(3, 3, _nvl2),
    "COALESCE": Function(2, 255, _coalesce),
    "NULLIF": Function(2, 2, call("NULLIF")),
    "DECODE": Function(3, 255, _decode),
    "GREATEST": Function(1, 255, _alike("ora.greatest")),
    "LEAST": Function(1, 255, _alike("ora.least")),
    "SYS_EXTRACT_UTC": Function(1, 1, _shaped("ora.utc({0})"), "timestamp"),
    "TO_CHAR": Function(1, 3, _conversion("ora.to_char"), "text"),
    "TO_NUMBER": Function(1, 3, _conversion("ora.to_number"), "number"),
    "TO_DATE": Function(1, 3, _conversion("ora.to_date"), "date"),
    "TO_TIMESTAMP": Function(1, 3, _conversion("ora.to_timestamp"), "timestamp"),
    "TO_TIMESTAMP_TZ": Function(1, 3, _conversion("ora.to_timestamp_tz"), "timestamp with time zone"),
}

AGGREGATES: dict[str, Function] = {
    "COUNT": Function(1, 1, _shaped("count({0})"), "number"),
    "SUM": Function(1, 1, _shaped("sum({0})")),
    "AVG": Function(1, 1, _shaped("avg({0})")),
    "MIN": Function(1, 1, _shaped("min({0})")),
    "MAX": Function(1, 1, _shaped("max({0})")),
    "ANY_VALUE": Function(1, 1, _shaped("any_value({0})")),
    "STDDEV": Function(1, 1, _shaped("ora.stddev({0})"), "number"),
    "STDDEV_POP": Function(1, 1, _shaped("stddev_pop({0})"), "number"),
    "STDDEV_SAMP": Function(1, 1, _shaped("stddev_samp({0})"), "number"),
    "VARIANCE": Function(1, 1, _shaped("ora.variance({0})"), "number"),
    "VAR_POP": Function(1, 1, _shaped("var_pop({0})"), "number"),
    "VAR_SAMP": Function(1, 1, _shaped("var_samp({0})"), "number"),
    "MEDIAN": Function(1, 1, _shaped("ora.median({0})"), "number"),
    "APPROX_COUNT_DISTINCT": Function(1, 1, _shaped("count(DISTINCT {0})"), "number"),
    "BOOLEAN_AND_AGG": Function(1, 1, _shaped("bool_and({0})"), "boolean"),
    "EVERY": Function(1, 1, _shaped("bool_and({0})"), "boolean"),
    "BOOLEAN_OR_AGG": Function(1, 1, _shaped("bool_or({0})"), "boolean"),
    "LISTAGG": Function(1, 2, call("string_agg"), "text"),
    "PERCENTILE_CONT": Function(1, 1, call("ora.percentile"), "number"),
}
"""Aggregates; with OVER they are window functions too."""

WINDOW_FUNCTIONS: dict[str, Function] = {
    "ROW_NUMBER": Function(0, 0, call("row_number"), "number"),
    "RANK": Function(0, 0, call("rank"), "number"),
    "DENSE_RANK": Function(0, 0, call("dense_rank"), "number"),
    "PERCENT_RANK": Function(0, 0, call("percent_rank"), "number"),
    "CUME_DIST": Function(0, 0, call("cume_dist"), "number"),
    "NTILE": Function(1, 1, _shaped("ntile(({0})::int)"), "number"),
    "LAG": Function(1, 3, call("lag")),
    "LEAD": Function(1, 3, call("lead")),
    "FIRST_VALUE": Function(1, 1, call("first_value")),
    "LAST_VALUE": Function(1, 1, call("last_value")),
    "NTH_VALUE": Function(2, 2, _shaped("nth_value({0}, ({1})::int)")),
}
"""Functions that need OVER."""

WHOLE_NUMBERS = frozenset(
    {"COUNT", "ROW_NUMBER", "RANK", "DENSE_RANK", "NTILE", "APPROX_COUNT_DISTINCT", "PERCENT_RANK", "CUME_DIST"}
)
"""Those whose PostgreSQL result is no numeric."""

NEEDS_ORDER = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD"})
"""Window functions that need ORDER BY in OVER (ORA-30485)."""

WITHOUT_PARENTHESES: dict[str, tuple[str, DataType]] = {
    "SYSDATE": ("ora.sysdate()", "date"),
    "SYSTIMESTAMP": ("statement_timestamp()", "timestamp with time zone"),
    "CURRENT_TIMESTAMP": ("statement_timestamp()", "timestamp with time zone"),
    "LOCALTIMESTAMP": ("ora.localtimestamp()", "timestamp"),
    "CURRENT_DATE": ("ora.today()", "date"),
    "USER": ("ora.usr()", "text"),
    "UID": ("ora.uid()", "number"),
    "SESSIONTIMEZONE": ("ora.sessiontimezone()", "text"),
    "DBTIMEZONE": ("'+00:00'::text", "text"),
}
"""Functions written without parentheses. The time zone of the local database's host is UTC."""
