"""A tree → Oracle SQL over RAG_CHUNK, with binds.

A comparison with a field of METADATA is JSON_EXISTS, whose path applies an "only" method to each element: no value is
cast, so a text is never an error where a number was expected. What a path cannot say (the order of texts, patterns,
times, long lists) is said of the rows of JSON_TABLE. Neither needs a field to be there: what is missing, or null, makes
no row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Bound

from oraclerag.filters.tree import (
    All,
    Any,
    Between,
    Column,
    Compare,
    Constant,
    Exists,
    Field,
    Like,
    Node,
    Not,
    OneOf,
    Path,
    Span,
    Value,
)
from oraclerag.filters.values import ISO_8601

__all__ = ["ERROR_CODE", "Writer"]

ERROR_CODE = "'$.oracle_error_code?(@.stringOnly() == $code)' PASSING {bind} AS \"code\""
"""The path of the multivalue index RAG_CHUNK_ERROR_IDX: with another item method than its own it is not used."""

_MOST_BINDS = 50  # of one list within a path, or for a column
_LIST = 1000
_ESCAPE = "ESCAPE '\\'"
_COLUMN_TIME = "TO_TIMESTAMP({bind}, 'YYYY-MM-DD HH24:MI:SS.FF')"
_TIME = "TO_TIMESTAMP_TZ({value}, 'YYYY-MM-DD HH24:MI:SS.FF TZH:TZM')"
# A text in one of the forms of ISO 8601 → the one form; without a zone it is UTC, whatever the session's zone is.
_INSTANT = (
    f"CASE WHEN REGEXP_LIKE(f.V, '{ISO_8601}') THEN "
    + _TIME.format(
        value="SUBSTR(f.V, 1, 10) || ' ' || NVL(SUBSTR(f.V, 12, 5), '00:00') || "
        "NVL(REGEXP_SUBSTR(SUBSTR(f.V, 17), '^:[0-9]{2}'), ':00') || NVL(REGEXP_SUBSTR(f.V, '\\.[0-9]+'), '.0') || "
        "' ' || NVL(REGEXP_SUBSTR(SUBSTR(f.V, 17), '[+-][0-9]{2}'), '+00') || ':' || "
        "NVL(SUBSTR(REGEXP_SUBSTR(SUBSTR(f.V, 17), '[+-][0-9]{2}:?[0-9]{2}$'), -2), '00') "
        "DEFAULT NULL ON CONVERSION ERROR"
    )
    + " END"
)


class Writer:
    """Writes conditions; ``binds`` gets the values, under names that begin with ``name``."""

    def __init__(self, alias: str, name: str) -> None:
        self._alias = alias
        self._name = name
        self.binds: dict[str, Bound] = {}

    def text(self, node: Node) -> str:
        """Write a tree; each of its conditions is in brackets."""
        if isinstance(node, (All, Any)):
            return (" AND " if isinstance(node, All) else " OR ").join(
                self.text(part) if isinstance(part, All | Any) and type(part) is type(node) else self._bracketed(part)
                for part in node.nodes
            )
        return self._bracketed(node)

    def _bracketed(self, node: Node) -> str:
        return f"({self.text(node) if isinstance(node, (All, Any)) else self._condition(node)})"

    def _condition(self, node: Node) -> str:
        match node:
            case Not(inner):
                # not NOT: a condition over a column or a document that is NULL may be neither true nor false
                return f"CASE WHEN {self.text(inner)} THEN 1 ELSE 0 END = 0"
            case Constant(value):
                return "1 = 1" if value else "1 = 0"
            case Exists(Column(name)):
                return f"{self._alias}.{name} IS NOT NULL"
            case Exists(Path() as path):
                return self._exists(path, '?(@.type() != "null")')
            case Like(Column(name), pattern):
                return f"{self._alias}.{name} LIKE {self._bind(pattern)} {_ESCAPE}"
            case Like(Path() as path, pattern):
                return self._row(path, "", f"f.V LIKE {self._bind(pattern)} {_ESCAPE}")
            case Compare(about, operator, value):
                return self._compare(about, operator, value)
            case Between(about, low, high):
                return self._between(about, low, high)
            case OneOf(about, values):
                return self._one_of(about, values)
        raise AssertionError(node)

    def _compare(self, about: Field, operator: str, value: Value) -> str:
        if isinstance(value, Span):
            return self._of_times(about, lambda left, bound: _within(left, operator, value, bound))
        if isinstance(about, Column):
            return f"{self._alias}.{about.name} {operator} {self._bind(value)}"
        if isinstance(value, str) and operator != "=":
            # not in the path: an empty text, which is no value here, would be one there
            return self._row(about, "", f"f.V {operator} {self._bind(value)}")
        if isinstance(value, bool):
            return self._exists(about, f"[*]?({_boolean(value)})")
        if isinstance(value, str) and about.steps == ("oracle_error_code",):
            return f"JSON_EXISTS({self._alias}.METADATA, {ERROR_CODE.format(bind=self._bind(value))})"
        sign = "==" if operator == "=" else operator
        return self._exists(about, f"[*]?(@.{_method(value)} {sign} $v)", v=value)

    def _between(self, about: Field, low: Value, high: Value) -> str:
        if isinstance(low, Span) and isinstance(high, Span):
            both = Span(low.first, high.last)
            return self._of_times(
                about, lambda left, bound: f"{left} BETWEEN {bound(both.first)} AND {bound(both.last)}"
            )
        if isinstance(about, Column):
            return f"{self._alias}.{about.name} BETWEEN {self._bind(low)} AND {self._bind(high)}"
        if isinstance(low, str):
            return self._row(about, "", f"f.V BETWEEN {self._bind(low)} AND {self._bind(high)}")
        return self._exists(about, "[*]?(@.numberOnly() >= $low && @.numberOnly() <= $high)", low=low, high=high)

    def _one_of(self, about: Field, values: Sequence[Value]) -> str:
        times = [value for value in values if isinstance(value, Span)]
        booleans = [value for value in values if isinstance(value, bool)]
        texts = [value for value in values if isinstance(value, str)]
        numbers = [value for value in values if not isinstance(value, (bool, str, Span))]
        found = []
        if times:
            found.append(
                self._of_times(
                    about, lambda left, bound: " OR ".join(f"{_within(left, '=', one, bound)}" for one in times)
                )
            )
        if isinstance(about, Column):
            if texts:
                found.append(f"{self._alias}.{about.name} IN ({self._inside(texts)})")
            return " OR ".join(found)
        if booleans:
            found.append(self._exists(about, f"[*]?({' || '.join(map(_boolean, sorted(booleans)))})"))
        for listed in (texts, numbers):
            if len(listed) > _MOST_BINDS:
                found.append(self._row(about, _method(listed[0]), self._in_lists(listed)))
            elif listed is texts and about.steps == ("oracle_error_code",):
                found += [self._compare(about, "=", one) for one in texts]
            elif listed:
                named = {f"v{number}": one for number, one in enumerate(listed)}
                each = " || ".join(f"@.{_method(one)} == ${variable}" for variable, one in named.items())
                found.append(self._exists(about, f"[*]?({each})", **named))
        return " OR ".join(found)

    def _exists(self, path: Path, tail: str, **variables: Value) -> str:
        passed = ", ".join(f'{self._bind(value)} AS "{name}"' for name, value in variables.items())
        passing = f" PASSING {passed}" if passed else ""
        return f"JSON_EXISTS({self._alias}.METADATA, '{_path(path)}{tail}'{passing})"

    def _row(self, path: Path, method: str, condition: str) -> str:
        """Say something of the elements of a field, or the one value: ``f.V``, NULL where it is of another type."""
        elements = _table(f"{self._alias}.METADATA", f"{_path(path)}[*]", method)
        return f"EXISTS (SELECT 1 FROM {elements} f WHERE {condition})"

    def _of_times(self, about: Field, condition: Callable[[str, Callable[[str], str]], str]) -> str:
        if isinstance(about, Column):
            return condition(f"{self._alias}.{about.name}", lambda text: _COLUMN_TIME.format(bind=self._bind(text)))
        bound: Callable[[str], str] = lambda text: _TIME.format(value=self._bind(f"{text} +00:00"))  # noqa: E731
        return self._row(about, "", condition(_INSTANT, bound))

    def _inside(self, values: Sequence[Value]) -> str:
        """Give the inside of IN (…) for a column: binds, or a query of one bind that has them all."""
        if len(values) <= _MOST_BINDS:
            return ", ".join(map(self._bind, values))
        return f"SELECT w.V FROM {_table(self._bind(list(values)), '$[*]', _method(values[0]))} w"

    def _in_lists(self, values: Sequence[Value]) -> str:
        """Look for an element in lists of binds: a query there could be run anew for every row of the table.

        Their number is a power of two, so that few texts are parsed; no list has more than 1,000 (ORA-01795).
        """
        full = [*values, *[values[-1]] * (2 ** (len(values) - 1).bit_length() - len(values))]
        lists = [full[begin : begin + _LIST] for begin in range(0, len(full), _LIST)]
        return " OR ".join(f"f.V IN ({', '.join(map(self._bind, part))})" for part in lists)

    def _bind(self, value: Bound) -> str:
        name = f"{self._name}{len(self.binds)}"
        self.binds[name] = value
        return f":{name}"


def _within(left: str, operator: str, span: Span, bound: Callable[[str], str]) -> str:
    """Compare with a time or with a day, which is before what comes after its last instant."""
    if operator == "=":
        if span.first == span.last:
            return f"{left} = {bound(span.first)}"
        return f"{left} BETWEEN {bound(span.first)} AND {bound(span.last)}"
    return f"{left} {operator} {bound(span.last if operator in ('>', '<=') else span.first)}"


def _path(path: Path) -> str:
    """Give the inside of a path's literal; its names are quoted, and hold neither quotes nor backslashes."""
    return "$" + "".join(f'."{step}"'.replace("'", "''") for step in path.steps)


def _table(document: str, path: str, method: str) -> str:
    kind = "NUMBER" if method == "numberOnly()" else "VARCHAR2(4000)"
    return f"JSON_TABLE({document}, '{path}' COLUMNS (V {kind} PATH '$.{method or 'stringOnly()'}'))"


def _method(value: Value) -> str:
    return "stringOnly()" if isinstance(value, str) else "numberOnly()"


def _boolean(value: bool) -> str:
    return f"@.booleanOnly() == {'true' if value else 'false'}"
