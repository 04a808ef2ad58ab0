"""Column and constraint definitions as CREATE TABLE and ALTER TABLE write them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from oraclerag.local.engine.column_types import ColumnType, read_type
from oraclerag.local.engine.ddl.sequences import SequenceOptions, read_options
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, unsupported
from oraclerag.local.engine.translate import expression
from oraclerag.local.interface import OraError

ConstraintKind = Literal["PRIMARY KEY", "UNIQUE", "CHECK", "FOREIGN KEY"]

_INLINE = ("CONSTRAINT", "NOT", "NULL", "PRIMARY", "UNIQUE", "CHECK", "REFERENCES")
_AFTER_DEFAULT = frozenset({*_INLINE, "GENERATED", "VISIBLE", "INVISIBLE", "ENABLE", "DISABLE", "COLLATE"})
_CHANGING = frozenset({"SYSDATE", "SYSTIMESTAMP", "CURRENT_DATE", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "USER", "UID"})
_QUOTED = re.compile(r"'(?:[^']|'')*'|(?<![.\w])(\"(?:[^\"]|\"\")+\")(?!\s*[.(])")


@dataclass(slots=True)
class Constraint:
    """A primary, unique, check or foreign key constraint.

    ``check`` is PostgreSQL's expression, ``source`` Oracle's text of it; ``inline`` the column behind which it stands.
    """

    kind: ConstraintKind
    name: str | None
    columns: tuple[str, ...] = ()
    check: str = ""
    source: str = ""
    words: frozenset[str] = frozenset()
    parent: tuple[str | None, str] = (None, "")
    parent_columns: tuple[str, ...] = ()
    on_delete: str = ""
    deferrable: str = ""
    inline: str | None = None


@dataclass(slots=True)
class Identity:
    """GENERATED … AS IDENTITY."""

    kind: Literal["ALWAYS", "BY DEFAULT", "BY DEFAULT ON NULL"]
    options: SequenceOptions


@dataclass(slots=True)
class ColumnDefinition:
    """One column; in ALTER TABLE … MODIFY everything but the name may be missing.

    ``default`` is PostgreSQL's expression (``NULL`` takes the default away), ``default_source`` Oracle's text.
    """

    name: str
    type: ColumnType | None = None
    default: str | None = None
    default_source: str = ""
    default_on_null: bool = False
    generated: str | None = None
    identity: Identity | None = None
    nullable: bool | None = None
    not_null_name: str | None = None
    constraints: list[Constraint] = field(default_factory=list)

    @property
    def required_type(self) -> ColumnType:
        """The type of a new column."""
        if self.type is None:
            raise OraError(2263, "need to specify the datatype for this column")
        return self.type


class DefinitionReader:
    """Reads the definitions inside the brackets of one CREATE or ALTER TABLE."""

    def __init__(self, reader: Reader, host: Host) -> None:
        self.reader = reader
        self.host = host

    def starts_constraint(self) -> bool:
        """Whether a table constraint comes next, not a column."""
        reader = self.reader
        return (
            reader.sees("CONSTRAINT")
            or reader.sees("PRIMARY", "KEY")
            or reader.sees("UNIQUE", "(")
            or reader.sees("CHECK", "(")
            or reader.sees("FOREIGN", "KEY")
        )

    def column(self, *, adding: bool = False) -> ColumnDefinition:
        """Take a column with its type; ``adding``: in ALTER TABLE, where some errors have other numbers."""
        reader = self.reader
        if reader.peek().kind == "quoted" and reader.peek().value == "ROWID":
            raise OraError(904, '"ROWID": invalid identifier', reader.position)
        column = ColumnDefinition(reader.column())
        if reader.sees("GENERATED") or reader.sees("AS"):
            raise unsupported("virtual columns without a data type", reader.position)
        if reader.sees(",") or reader.sees(")") or reader.at_end:
            raise OraError(2263, "need to specify the datatype for this column", reader.position)
        column.type = read_type(reader, self.host.max_string_size)
        self._properties(column, adding=adding)
        return column

    def modification(self) -> ColumnDefinition:
        """Take a column of ALTER TABLE … MODIFY: the type may be missing."""
        reader = self.reader
        column = ColumnDefinition(reader.column())
        word = reader.word()
        if word[:1].isalpha() and word not in {*_INLINE, "DEFAULT", "GENERATED", "INVISIBLE", "VISIBLE", "DROP"}:
            column.type = read_type(reader, self.host.max_string_size)
        if reader.sees("DROP"):
            raise unsupported("DROP IDENTITY", reader.position)
        self._properties(column, adding=True)
        return column

    def _properties(self, column: ColumnDefinition, *, adding: bool) -> None:
        reader = self.reader
        constrained = False
        while True:
            word = reader.word()
            if word in {"INVISIBLE", "ENCRYPT", "ANNOTATIONS", "COLLATE", "DOMAIN", "SORT"}:
                raise unsupported(f"{word} columns", reader.position)
            if word == "VISIBLE":
                reader.advance()
            elif word in {"DEFAULT", "GENERATED"} and constrained:
                if adding and word == "DEFAULT":
                    raise OraError(30649, "missing DIRECTORY keyword", reader.position)
                raise OraError(3076, f"unexpected item {word} in a column definition", reader.position)
            elif word == "DEFAULT":
                self._default(column)
            elif word == "GENERATED":
                self._generated(column)
            elif word == "VALIDATE" and column.type is not None and column.type.name == "JSON":
                raise unsupported("JSON columns that are validated against a schema", reader.position)
            elif word in _INLINE:
                constrained = True
                self._inline(column)
            else:
                break
        if reader.sees(",") or reader.sees(")") or (adding and not reader.word()[:1].isalpha()):
            return
        if reader.sees("USING"):
            raise OraError(3076, "unexpected item USING in a column definition", reader.position)
        if not adding or reader.word() in {"UNSIGNED", "AUTO_INCREMENT", "SIGNED", "ZEROFILL"}:
            raise OraError(3062, "a comma or a right parenthesis is expected", reader.position)

    def _default(self, column: ColumnDefinition) -> None:
        reader = self.reader
        position = reader.position
        reader.expect("DEFAULT")
        if reader.accept("ON", "NULL"):
            column.default_on_null = True
            if reader.accept("FOR", "INSERT"):
                if reader.accept("AND", "UPDATE"):
                    raise unsupported("DEFAULT ON NULL FOR INSERT AND UPDATE", position)
                reader.expect("ONLY")
        span = reader.span(_AFTER_DEFAULT)
        tokens = reader.tokens[span[0] : span[1]]
        if any(token.upper == "SELECT" for token in tokens):
            raise OraError(22818, "subquery expressions not allowed here", position)
        column.default_source = reader.text(span)
        column.default = expression(column.default_source, self.host.names)
        names = [found.group(1) for found in _QUOTED.finditer(column.default) if found.group(1)]
        if names:
            raise OraError(904, f"{names[0]}: invalid identifier", position)
        if len(tokens) == 1 and tokens[0].kind == "string" and column.default.upper() != "NULL":
            self._default_text(column)
        if column.type is not None and column.type.name == "VECTOR" and column.default.upper() != "NULL":
            raise unsupported("DEFAULT on a VECTOR column (nor does Oracle)", position)

    def _default_text(self, column: ColumnDefinition) -> None:
        """Read a text for a date by the session's format, and now: ORA-01861 and ORA-01843 are of the CREATE."""
        kind = column.type.name.partition("(")[0] if column.type is not None else ""
        convert = {"DATE": "ora.to_date", "TIMESTAMP": "ora.to_timestamp"}.get(kind)
        if convert is not None:
            column.default = f"{convert}({column.default})"
            self.host.ask(f"SELECT {column.default} IS NULL")

    def _generated(self, column: ColumnDefinition) -> None:
        reader = self.reader
        position = reader.position
        reader.expect("GENERATED")
        always = not reader.sees("BY")
        if always:
            reader.accept("ALWAYS")
        else:
            reader.expect("BY", "DEFAULT")
        on_null = not always and reader.accept("ON", "NULL")
        if on_null and reader.accept("FOR", "INSERT"):
            reader.expect("ONLY")
        reader.expect("AS")
        if always and reader.sees("("):
            span = reader.parenthesised()
            column.default_source = reader.text(span)
            column.generated = expression(column.default_source, self.host.names)
            reader.accept("VIRTUAL")
            return
        reader.expect("IDENTITY")
        if column.identity is not None or column.default is not None:
            raise OraError(30674, "identity column cannot have a default value", position)
        if column.type is not None and not column.type.is_number:
            raise OraError(30675, "identity column must be a numeric type", position)
        options = SequenceOptions()
        if reader.accept("("):
            options = read_options(reader, identity=True).checked()
            reader.expect(")", number=2000, message="missing ) keyword")
        else:
            options = read_options(reader, identity=True).checked()
        kind: Literal["ALWAYS", "BY DEFAULT", "BY DEFAULT ON NULL"] = "ALWAYS"
        if not always:
            kind = "BY DEFAULT ON NULL" if on_null else "BY DEFAULT"
        column.identity = Identity(kind, options)

    def _inline(self, column: ColumnDefinition) -> None:
        reader = self.reader
        name = reader.identifier(2250, "missing or invalid constraint name") if reader.accept("CONSTRAINT") else None
        if reader.accept("NOT", "NULL"):
            column.nullable = False
            column.not_null_name = name
            self._state()
            return
        if reader.accept("NULL"):
            column.nullable = True
            return
        if reader.accept("PRIMARY", "KEY"):
            constraint = Constraint("PRIMARY KEY", name, (column.name,))
        elif reader.accept("UNIQUE"):
            constraint = Constraint("UNIQUE", name, (column.name,))
        elif reader.accept("CHECK"):
            if column.type is not None and column.type.name == "VECTOR":
                raise unsupported("CHECK on a VECTOR column (nor does Oracle)", reader.position)
            constraint = self._check(name)
        elif reader.accept("REFERENCES"):
            constraint = Constraint("FOREIGN KEY", name, (column.name,))
            self._references(constraint)
        else:
            reader.fail(2253, "constraint specification not allowed here")
        constraint.inline = column.name
        constraint.deferrable = self._state()
        column.constraints.append(constraint)

    def constraint(self) -> Constraint:
        """Take a table constraint."""
        reader = self.reader
        name = reader.identifier(2250, "missing or invalid constraint name") if reader.accept("CONSTRAINT") else None
        if reader.accept("PRIMARY", "KEY"):
            constraint = Constraint("PRIMARY KEY", name, reader.columns())
        elif reader.accept("UNIQUE"):
            constraint = Constraint("UNIQUE", name, reader.columns())
        elif reader.accept("CHECK"):
            constraint = self._check(name)
        elif reader.accept("FOREIGN", "KEY"):
            constraint = Constraint("FOREIGN KEY", name, reader.columns())
            reader.expect("REFERENCES", number=905, message="missing keyword")
            self._references(constraint)
        else:
            reader.fail(904, f"{reader.peek().text}: invalid identifier")
        if len(set(constraint.columns)) < len(constraint.columns):
            raise OraError(957, "duplicate column name", reader.position)
        constraint.deferrable = self._state()
        return constraint

    def _check(self, name: str | None) -> Constraint:
        reader = self.reader
        position = reader.position
        span = reader.parenthesised()
        tokens = reader.tokens[span[0] : span[1]]
        words = frozenset(token.upper or token.value for token in tokens if token.kind in {"word", "quoted"})
        if "SELECT" in words:
            raise OraError(2251, "subquery not allowed here", position)
        if _CHANGING & words:
            raise OraError(2436, "date or system variable wrongly specified in CHECK constraint", position)
        source = reader.text(span)
        check = expression(source, self.host.names, condition=True)
        return Constraint("CHECK", name, check=check, source=source, words=words)

    def _references(self, constraint: Constraint) -> None:
        reader = self.reader
        constraint.parent = reader.name()
        if reader.sees("("):
            constraint.parent_columns = reader.columns()
        if reader.accept("ON", "DELETE"):
            if reader.accept("CASCADE"):
                constraint.on_delete = " ON DELETE CASCADE"
            else:
                reader.expect("SET", "NULL", number=905, message="missing keyword")
                constraint.on_delete = " ON DELETE SET NULL"

    def _state(self) -> str:
        """Take the constraint's state: only what is in force at once, or deferrable, exists here."""
        reader = self.reader
        clause = ""
        while True:
            position = reader.position
            if reader.accept("NOT", "DEFERRABLE") or reader.accept("INITIALLY", "IMMEDIATE"):
                continue
            if reader.accept("DEFERRABLE"):
                clause = clause or " DEFERRABLE"
            elif reader.accept("INITIALLY", "DEFERRED"):
                clause = " DEFERRABLE INITIALLY DEFERRED"
            elif reader.accept_one({"ENABLE", "VALIDATE", "NORELY"}):
                continue
            elif reader.accept("USING", "INDEX"):
                if reader.accept("TABLESPACE"):
                    reader.identifier(959, "tablespace does not exist")
                elif reader.sees("(") or (reader.peek().kind in {"word", "quoted"} and not reader.sees("ENABLE")):
                    raise unsupported("USING INDEX with an index of one's own", position)
            elif reader.word() in {"DISABLE", "NOVALIDATE", "RELY", "EXCEPTIONS", "PRECHECK"}:
                raise unsupported(f"constraints in the state {reader.word()}", position)
            else:
                return clause
