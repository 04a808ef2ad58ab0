"""CREATE, ALTER and DROP SEQUENCE, and the sequence options of identity columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal, qualified, unsupported
from oraclerag.local.interface import OraError

_LARGEST = 2**63 - 1  # of PostgreSQL's sequences; Oracle's reach 28 digits
_DUPLICATE = {
    "MAXVALUE": 2278,
    "MINVALUE": 2279,
    "CYCLE": 2280,
    "CACHE": 2281,
    "ORDER": 2282,
    "INCREMENT": 2284,
    "START": 2285,
}
_FLAGS = {
    "NOMAXVALUE": "MAXVALUE",
    "NOMINVALUE": "MINVALUE",
    "CYCLE": "CYCLE",
    "NOCYCLE": "CYCLE",
    "NOCACHE": "CACHE",
    "ORDER": "ORDER",
    "NOORDER": "ORDER",
    "KEEP": "KEEP",
    "NOKEEP": "KEEP",
    "GLOBAL": "SESSION",
}


@dataclass(slots=True)
class SequenceOptions:
    """The options of a sequence as written; None is Oracle's default."""

    start: int | None = None
    start_limit: bool = False
    increment: int | None = None
    minimum: int | None = None
    maximum: int | None = None
    cycle: bool = False
    cache: int | None = None
    order: bool = False
    restart: bool = False
    given: set[str] = field(default_factory=set)

    def checked(self) -> SequenceOptions:
        """Raise what Oracle raises for options that contradict one another."""
        step = 1 if self.increment is None else self.increment
        if step == 0:
            raise OraError(4002, "INCREMENT must be a nonzero integer")
        if self.cache is not None and self.cache <= 1 and "NOCACHE" not in self.given:
            raise OraError(4010, "the number of values to CACHE must be greater than 1")
        low = self.minimum if self.minimum is not None else (1 if step > 0 else -(10**27))
        high = self.maximum if self.maximum is not None else (10**28 if step > 0 else -1)
        if low >= high:
            raise OraError(4004, "MINVALUE must be less than MAXVALUE")
        if self.start is not None and self.start < low:
            raise OraError(4006, "START WITH cannot be less than MINVALUE")
        if self.start is not None and self.start > high:
            raise OraError(4008, "START WITH cannot be more than MAXVALUE")
        return self

    def clauses(self) -> str:
        """Give PostgreSQL's clauses.

        Values are not cached: PostgreSQL caches per session, so that a later call could give a smaller number.
        """
        parts: list[str] = []
        if self.increment is not None:
            parts.append(f"INCREMENT BY {self.increment}")
        if self.minimum is not None:
            parts.append(f"MINVALUE {max(self.minimum, -_LARGEST)}")
        if self.maximum is not None:
            parts.append(f"MAXVALUE {min(self.maximum, _LARGEST)}")
        if self.start is not None:
            parts.append(f"START WITH {self.start}")
        if "CYCLE" in self.given:
            parts.append("CYCLE" if self.cycle else "NO CYCLE")
        return " ".join(parts)


def read_options(reader: Reader, *, identity: bool = False) -> SequenceOptions:
    """Take sequence options as long as there are any."""
    options = SequenceOptions()

    def once(name: str) -> None:
        if name in options.given:
            raise OraError(_DUPLICATE.get(name, 2286), f"duplicate {name} specifications", reader.position)
        options.given.add(name)

    while True:
        word = reader.word()
        if word in {"START", "INCREMENT", "MINVALUE", "MAXVALUE", "CACHE"}:
            once(word)
            reader.advance()
            _read_number(reader, word, options, identity=identity)
        elif word in _FLAGS:
            once(_FLAGS[word])
            reader.advance()
            options.given.add(word)
            options.cycle = options.cycle or word == "CYCLE"
            options.order = options.order or word == "ORDER"
            options.cache = 0 if word == "NOCACHE" else options.cache
        elif word in {"SCALE", "SHARD", "SESSION"}:
            raise unsupported(f"sequences with {word}", reader.position)
        elif word == "RESTART":
            reader.advance()
            options.restart = True
            options.given.add("RESTART")
        else:
            return options


def _read_number(reader: Reader, word: str, options: SequenceOptions, *, identity: bool) -> None:
    if word == "START":
        reader.expect("WITH")
        if identity and reader.accept("LIMIT", "VALUE"):
            options.start_limit = True
        else:
            options.start = reader.signed()
    elif word == "INCREMENT":
        reader.expect("BY")
        options.increment = reader.signed()
    elif word == "MINVALUE":
        options.minimum = reader.signed()
    elif word == "MAXVALUE":
        options.maximum = reader.signed()
    else:
        options.cache = reader.integer()


def create_sequence(reader: Reader, host: Host) -> Action:
    """Read CREATE SEQUENCE behind the keyword."""
    guard = reader.accept("IF", "NOT", "EXISTS")
    owner, name = reader.name(2277, "invalid sequence name")
    schema = owner or host.schema
    if reader.accept("SHARING"):
        raise unsupported("SHARING", reader.position)
    options = read_options(reader).checked()
    _expect_end(reader)
    if options.restart:
        raise OraError(3049, "SQL keyword 'RESTART' is not syntactically valid here")

    def run() -> None:
        questions.require_schema(host, schema)
        if questions.object_kind(host, schema, name) is not None:
            if guard:
                return
            raise OraError(955, "name is already used by an existing object")
        target = qualified(schema, name)
        host.change([f"CREATE SEQUENCE {target} {options.clauses()}", *_record(target, options)])

    return run


def _expect_end(reader: Reader) -> None:
    word = reader.word()
    if word == "AS":
        reader.fail(3048, "SQL reserved word 'AS' is not syntactically valid here")
    reader.expect_end(3049, f"SQL keyword '{word}' is not syntactically valid here")


def _record(target: str, options: SequenceOptions) -> list[str]:
    """Keep what PostgreSQL has no place for: the declared cache and ORDER."""
    if not {"CACHE", "ORDER"} & options.given:
        return []
    cache = 20 if options.cache is None else options.cache
    return [
        (
            "INSERT INTO ora.sequence_options (seq, cache, ordered)"
            f" VALUES ({literal(target)}::regclass, {cache}, {options.order})"
            " ON CONFLICT (seq) DO UPDATE SET cache = excluded.cache, ordered = excluded.ordered"
        )
    ]


def alter_sequence(reader: Reader, host: Host) -> Action:
    """Read ALTER SEQUENCE behind the keyword."""
    guard = reader.accept("IF", "EXISTS")
    owner, name = reader.name(2277, "invalid sequence name")
    schema = owner or host.schema
    options = read_options(reader)
    _expect_end(reader)
    if not options.given:
        raise OraError(2286, "no options specified for ALTER SEQUENCE")
    if options.start is not None and not options.restart:
        raise OraError(2283, "cannot alter starting sequence number")
    options.checked()

    def run() -> None:
        if questions.object_kind(host, schema, name) != "SEQUENCE":
            if guard:
                return
            raise OraError(2289, "sequence does not exist")
        _refuse_identity(host, schema, name, 32793, "cannot alter a system-generated sequence")
        target = qualified(schema, name)
        clauses = options.clauses()
        if options.restart:
            clauses += " RESTART" + (f" WITH {options.start}" if options.start is not None else "")
        statements = [f"ALTER SEQUENCE {target} {clauses}"] if clauses.strip() else []
        host.change([*statements, *_record(target, options)])

    return run


def drop_sequence(reader: Reader, host: Host) -> Action:
    """Read DROP SEQUENCE behind the keyword."""
    guard = reader.accept("IF", "EXISTS")
    owner, name = reader.name(2277, "invalid sequence name")
    schema = owner or host.schema
    _expect_end(reader)

    def run() -> None:
        if questions.object_kind(host, schema, name) != "SEQUENCE":
            if guard:
                return
            raise OraError(2289, "sequence does not exist")
        _refuse_identity(host, schema, name, 32794, "cannot drop a system-generated sequence")
        target = qualified(schema, name)
        host.change(
            [f"DELETE FROM ora.sequence_options WHERE seq = {literal(target)}::regclass", f"DROP SEQUENCE {target}"]
        )

    return run


def _refuse_identity(host: Host, schema: str, name: str, number: int, message: str) -> None:
    owned = host.ask(
        "SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = $1::regclass"
        " AND refclassid = 'pg_class'::regclass AND deptype = 'a'",
        qualified(schema, name),
    )
    if owned:
        raise OraError(number, message)
