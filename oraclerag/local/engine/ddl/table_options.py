"""The physical clauses behind a table or an index: recorded where a dictionary view shows them, else only checked."""

from __future__ import annotations

from dataclasses import dataclass, field

from oraclerag.local.engine.reader import Reader, unsupported
from oraclerag.local.interface import OraError

TABLESPACES = frozenset({"USERS", "DATA", "SYSTEM", "SYSAUX", "TEMP", "UNDOTBS1"})
_PLAIN = frozenset(
    """
    LOGGING NOLOGGING NOCOMPRESS CACHE NOCACHE NOPARALLEL MONITORING NOMONITORING ROWDEPENDENCIES
    NOROWDEPENDENCIES
    """.split()  # noqa: SIM905
)
_CLAUSES = _PLAIN | {"TABLESPACE", "INITRANS", "MAXTRANS", "PCTFREE", "PCTUSED", "STORAGE", "PARALLEL"}
_TWICE = {
    "TABLESPACE": (2215, "duplicate tablespace name clause"),
    "INITRANS": (2206, "duplicate INITRANS option specification"),
    "MAXTRANS": (2208, "duplicate MAXTRANS option specification"),
    "PCTFREE": (2212, "duplicate PCTFREE option specification"),
    "PCTUSED": (2213, "duplicate PCTUSED option specification"),
    "PARALLEL": (12812, "only one PARALLEL or NOPARALLEL clause may be specified"),
    "CACHE": (12814, "only one CACHE or NOCACHE clause may be specified"),
}
_PARTITIONS = frozenset({"PARTITION", "PARTITIONS", "SUBPARTITION", "PARTITIONSET"})


@dataclass(slots=True)
class PhysicalOptions:
    """What the dictionary shows of the physical clauses; None is the default. ``given``: those that were there."""

    initrans: int | None = None
    pctfree: int | None = None
    tablespace: str | None = None
    logging: bool = True
    row_movement: bool = False
    given: set[str] = field(default_factory=set, compare=False)

    def once(self, word: str, position: int) -> None:
        """Note a clause by its first word; one that comes again, or as its contrary NO…, is refused."""
        clause = word.removeprefix("NO")
        if clause in self.given:
            number, message = _TWICE.get(clause, (922, "missing or invalid option"))
            raise OraError(number, message, position)
        self.given.add(clause)


def read_physical_option(reader: Reader, options: PhysicalOptions) -> bool:
    """Take one physical clause that tables and indexes share; False when none comes next."""
    position, word = reader.position, reader.word()
    if word not in _CLAUSES:
        return False
    options.once(word, position)
    if reader.accept("TABLESPACE"):
        name = reader.identifier(2216, "tablespace name expected")
        if name not in TABLESPACES:
            raise OraError(959, f"tablespace '{name}' does not exist", position)
        options.tablespace = name
    elif reader.accept("INITRANS"):
        options.initrans = _within(reader, 1, 255, 2207, "invalid INITRANS option value")
    elif reader.accept("MAXTRANS"):
        _within(reader, 1, 255, 2209, "invalid MAXTRANS option value")
    elif reader.accept("PCTFREE"):
        options.pctfree = _within(reader, 0, 99, 2211, "invalid value for PCTFREE or PCTUSED")
    elif reader.accept("PCTUSED"):
        _within(reader, 0, 99, 2211, "invalid value for PCTFREE or PCTUSED")
    elif reader.accept("STORAGE"):
        reader.parenthesised()
    elif reader.accept("PARALLEL"):
        if reader.accept("("):
            reader.expect("DEGREE")
            reader.integer()
            reader.expect(")")
        elif reader.peek().kind == "number":
            reader.integer()
    else:
        reader.advance()
        options.logging = options.logging and word != "NOLOGGING"
    return True


def _within(reader: Reader, low: int, high: int, number: int, message: str) -> int:
    position = reader.position
    value = reader.integer()
    if not low <= value <= high:
        raise OraError(number, message, position)
    return value


def read_table_options(reader: Reader) -> PhysicalOptions:
    """Take the clauses behind the brackets of CREATE TABLE, up to AS or the end."""
    options = PhysicalOptions()
    while not reader.at_end and not reader.sees("AS"):
        position, word = reader.position, reader.word()
        if read_physical_option(reader, options):
            continue
        if reader.accept("SEGMENT", "CREATION"):
            options.once(word, position)
            if reader.accept_one({"IMMEDIATE", "DEFERRED"}) is None:
                reader.fail(922, "missing or invalid option")
        elif reader.accept("ENABLE", "ROW", "MOVEMENT") or reader.accept("DISABLE", "ROW", "MOVEMENT"):
            options.once("ROW", position)
            options.row_movement = word == "ENABLE"
        elif reader.accept("ORGANIZATION"):
            if not reader.accept("HEAP"):
                raise unsupported(f"tables of ORGANIZATION {reader.word()}", position)
        elif word in {"LOB", "JSON", "VARRAY", "NESTED"} and reader.peek(1).upper == "(":
            _skip_storage(reader)
        elif word in _PARTITIONS:
            raise unsupported("partitioned tables", position)
        elif word in {"COMPRESS", "CLUSTER", "ANNOTATIONS", "INMEMORY", "ILM", "RESULT_CACHE", "FLASHBACK"}:
            raise unsupported(f"tables with {word}", position)
        else:
            reader.expect_end()
    return options


def _skip_storage(reader: Reader) -> None:
    """Take ``LOB (column) STORE AS …``: where a large value lies changes nothing here."""
    word = reader.word()
    if word in {"VARRAY", "NESTED"}:
        raise unsupported(f"{word} storage", reader.position)
    reader.advance()
    reader.columns()
    reader.expect("STORE")
    reader.expect("AS")
    if reader.accept_one({"SECUREFILE", "BASICFILE"}) is None and not reader.sees("("):
        reader.identifier(922, "missing or invalid option")
    if reader.sees("("):
        reader.parenthesised()
