"""A filter, as it is given → a tree; everything that is not of the language is refused by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal

from oraclerag.errors import InputError
from oraclerag.filters import values
from oraclerag.filters.fields import field, shown
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

__all__ = ["parse"]

MAX_CONDITIONS = 100
MAX_DEPTH = 32
MAX_VALUES = 10_000
"""Values in all the lists of one filter."""
MAX_TIMES = 100
"""Times in one list: each is a comparison of its own."""

# A backslash in front of anything else is ORA-01424.
_PATTERN = re.compile(r"(?:[^\\]|\\[\\%_])*", re.DOTALL)


def parse(given: object, name: str) -> Node | None:
    """Give the tree of a filter, None for an empty one. Raises InputError; ``name`` begins its message."""
    if not isinstance(given, Mapping):
        raise InputError(f'{name} must be a mapping, such as {{"project": "7"}}.')
    return _Parser(name).mapping(given, f"{name}:", 1) if given else None


class _Parser:
    def __init__(self, name: str) -> None:
        self._name = name
        self._conditions = 0
        self._values = 0

    def mapping(self, given: object, where: str, depth: int) -> Node:
        """Read a filter: all of its conditions must hold."""
        if not isinstance(given, Mapping):
            raise InputError(f'{where} takes a mapping, such as {{"project": "7"}}, not {type(given).__name__}.')
        if not given:
            raise InputError(f"{where} takes at least one condition.")
        self._check(len(given), depth)
        found: list[tuple[tuple[int, tuple[str, ...], str], Node]] = []
        for key, inner in given.items():
            if isinstance(key, str) and key.startswith("$"):
                found.append(((0, (), key), self._joined(key, inner, f"{where} {shown(key)[1:-1]}", depth)))
                continue
            about = field(key, self._name)
            place = (1, (about.name,), key) if isinstance(about, Column) else (2, about.steps, key)
            found.append((place, self._field(about, inner, f"{where} {shown(key)[1:-1]}", depth)))
        return _all(node for _, node in sorted(found, key=lambda pair: pair[0]))

    def _check(self, width: int, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise InputError(f"{self._name} is nested more than {MAX_DEPTH} deep.")
        if width > MAX_CONDITIONS or self._conditions > MAX_CONDITIONS:
            raise InputError(f"{self._name} has more than {MAX_CONDITIONS} conditions.")

    def _joined(self, key: str, inner: object, where: str, depth: int) -> Node:
        if key == "$not":
            return Not(self.mapping(inner, where, depth + 1))
        if key not in ("$and", "$or"):
            raise InputError(
                f"{self._name}: there is no {shown(key)} between conditions; $and, $or and $not are. Other operators "
                'stand within a field: {"points": {"$gte": 5}}.'
            )
        if not isinstance(inner, (list, tuple)) or not inner:
            raise InputError(f"{where} takes a list of at least one filter.")
        self._check(len(inner), depth + 1)
        nodes = [self.mapping(part, f"{where}[{number}]:", depth + 1) for number, part in enumerate(inner)]
        return _all(nodes) if key == "$and" else _any(nodes)

    def _field(self, about: Field, given: object, where: str, depth: int) -> Node:
        """Read what is asked of a field: a value, or operators, all of which must hold."""
        if not isinstance(given, Mapping) or list(given) == ["$date"] or not _of_operators(given):
            return self._operator(about, "$eq", given, where)
        self._check(len(given), depth)
        found: list[Node] = []
        for operator in sorted(given):
            place, inner = f"{where}.{operator}", given[operator]
            if operator == "$not":
                found.append(Not(self._field(about, inner, place, depth + 1)))
            elif operator in _OPERATORS:
                found.append(self._operator(about, operator, inner, place))
            elif operator in ("$and", "$or"):
                raise InputError(f"{where}: {operator} stands around fields, not within one.")
            else:
                known = ", ".join([*_OPERATORS, "$not"])
                raise InputError(f"{where} has no operator {shown(operator)}; there are {known}.")
        return _all(found)

    def _operator(self, about: Field, operator: str, given: object, where: str) -> Node:
        self._conditions += 1
        self._check(0, 0)
        return _OPERATORS[operator](self, about, given, where)

    def _value(self, about: Field, given: object, where: str, *, ordered: bool = False) -> Value:
        if isinstance(about, Path):
            found = values.value(given, where)
            if ordered and isinstance(found, bool):
                raise InputError(f"{where} takes a text, a number or a time; True and False have no order.")
            return found
        if about.times:
            return values.moment(given, where)
        if isinstance(given, (list, tuple, set, frozenset)):
            values.value(given, where)  # says what to do
        return values.text(given, where)

    def equal(self, about: Field, given: object, where: str) -> Node:
        if given is None:
            return Not(Exists(about))
        return Compare(about, "=", self._value(about, given, where))

    def unequal(self, about: Field, given: object, where: str) -> Node:
        return Exists(about) if given is None else Not(self.equal(about, given, where))

    def more(self, about: Field, given: object, where: str) -> Node:
        return Compare(about, ">", self._value(about, given, where, ordered=True))

    def at_least(self, about: Field, given: object, where: str) -> Node:
        return Compare(about, ">=", self._value(about, given, where, ordered=True))

    def less(self, about: Field, given: object, where: str) -> Node:
        return Compare(about, "<", self._value(about, given, where, ordered=True))

    def at_most(self, about: Field, given: object, where: str) -> Node:
        return Compare(about, "<=", self._value(about, given, where, ordered=True))

    def between(self, about: Field, given: object, where: str) -> Node:
        if not isinstance(given, (list, tuple)) or len(given) != 2:
            raise InputError(f"{where} takes a list of two: the least and the greatest value.")
        low, high = (
            self._value(about, bound, f"{where}[{number}]", ordered=True) for number, bound in enumerate(given)
        )
        if _kind(low) is not _kind(high):
            raise InputError(f"{where} takes two texts, two numbers or two times, not one of each.")
        return Between(about, low, high)

    def one_of(self, about: Field, given: object, where: str) -> Node:
        if not isinstance(given, (list, tuple, set, frozenset)):
            raise InputError(f"{where} takes a list of values, not {type(given).__name__}.")
        self._values += len(given)
        if self._values > MAX_VALUES:
            raise InputError(f"{self._name} lists more than {MAX_VALUES:,} values.")
        listed = [
            self._value(about, item, f"{where}[{number}]") for number, item in enumerate(given) if item is not None
        ]
        nodes: list[Node] = []
        if len(listed) < len(given):
            nodes.append(Not(Exists(about)))
        if listed:
            different = tuple({(_kind(item), item): item for item in listed}.values())
            if sum(isinstance(item, Span) for item in different) > MAX_TIMES:
                raise InputError(f"{where} lists more than {MAX_TIMES} times.")
            nodes.append(OneOf(about, different))
        return _any(nodes) if nodes else Constant(False)

    def none_of(self, about: Field, given: object, where: str) -> Node:
        return Not(self.one_of(about, given, where))

    def exists(self, about: Field, given: object, where: str) -> Node:
        if not isinstance(given, bool):
            raise InputError(f"{where} takes True or False.")
        return Exists(about) if given else Not(Exists(about))

    def like(self, about: Field, given: object, where: str) -> Node:
        if isinstance(about, Column) and about.times:
            raise InputError(f"{where} is about texts, and this field is a time.")
        pattern = values.text(given, where)
        if not _PATTERN.fullmatch(pattern):
            raise InputError(rf"{where}: a backslash stands before %, _ or another one, which it makes literal.")
        return Like(about, pattern)

    def contains(self, about: Field, given: object, where: str) -> Node:
        if isinstance(about, Column):
            raise InputError(f"{where} is about lists, and this field is none; $like finds a part of a text.")
        if not isinstance(given, (list, tuple, set, frozenset)):
            return Compare(about, "=", self._value(about, given, where))
        if not given:
            raise InputError(f"{where} takes a value or a list of at least one.")
        self._conditions += len(given) - 1
        self._check(0, 0)
        listed = [self._value(about, item, f"{where}[{number}]") for number, item in enumerate(given)]
        return _all(Compare(about, "=", item) for item in listed)


_OPERATORS: Mapping[str, Callable[[_Parser, Field, object, str], Node]] = {
    "$eq": _Parser.equal,
    "$ne": _Parser.unequal,
    "$gt": _Parser.more,
    "$gte": _Parser.at_least,
    "$lt": _Parser.less,
    "$lte": _Parser.at_most,
    "$in": _Parser.one_of,
    "$nin": _Parser.none_of,
    "$between": _Parser.between,
    "$exists": _Parser.exists,
    "$like": _Parser.like,
    "$contains": _Parser.contains,
}


def _of_operators(given: Mapping[object, object]) -> bool:
    """Tell whether a mapping is one of operators, not a value; one of both has none, and says so."""
    return bool(given) and all(isinstance(key, str) and key.startswith("$") for key in given)


def _kind(value: Value) -> type:
    return Decimal if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value)


def _all(nodes: Iterable[Node]) -> Node:
    flat = [part for node in nodes for part in (node.nodes if isinstance(node, All) else (node,))]
    return flat[0] if len(flat) == 1 else All(tuple(flat))


def _any(nodes: Iterable[Node]) -> Node:
    flat = [part for node in nodes for part in (node.nodes if isinstance(node, Any) else (node,))]
    return flat[0] if len(flat) == 1 else Any(tuple(flat))
