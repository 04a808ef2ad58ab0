"""Where a text that is bound as LONG may stand: what Oracle refuses with ORA-01461."""

from __future__ import annotations

import re
from collections.abc import Sequence

from oraclerag.local.engine.binds import TEXTS
from oraclerag.local.engine.plan import BindParameter, Plan, Verb
from oraclerag.local.interface import BindType, OraError, OraType

_ASSIGNED = re.compile(r'"\s*=\s*\$(\d+)(?=\s*(?:,| RETURNING | WHEN | WHERE |$))')
_ANY = re.compile(r"\$(\d+)")


def refuse_long_binds(plan: Plan, places: dict[str, int], types: Sequence[BindType], string_limit: int) -> None:
    """Raise ORA-01461 where Oracle does: a text bind that may exceed MAX_STRING_SIZE is a LONG bind.

    Such a bind is allowed only straight in VALUES or SET, because the client declares four bytes a character and so
    makes a LONG bind of every text of more than a quarter of the limit.
    """
    for number, parameter in enumerate(plan.parameters, 1):
        name = parameter.name if isinstance(parameter, BindParameter) else parameter.bind
        place = places.get(name, len(types)) if name is not None else len(types)
        if place < len(types):
            kind = types[place]
            too_long = kind.type is OraType.LONG or (kind.type in TEXTS and kind.size > string_limit)
            if too_long and not (isinstance(parameter, BindParameter) and _stands_alone(plan, number)):
                raise OraError(1461, "can bind a LONG value only for insert into a LONG column")


def _stands_alone(plan: Plan, number: int) -> bool:
    """Whether every occurrence of ``$number`` is a whole value of VALUES or of an assignment in SET."""
    text = plan.text
    if plan.verb is Verb.INSERT and plan.values is not None:
        alone = _whole_values(text, plan.values[0])
    elif plan.verb is Verb.UPDATE:
        alone = _ASSIGNED.findall(text.partition(" WHERE ")[0])
    elif plan.verb is Verb.MERGE:
        actions = text[text.find(" WHEN ") :]
        alone = _ASSIGNED.findall(actions)
        if " VALUES (" in actions:
            alone += _whole_values(actions, actions.index(" VALUES (") + len(" VALUES "))
    else:
        return False
    return alone.count(str(number)) == _ANY.findall(text).count(str(number)) > 0


def _whole_values(text: str, start: int) -> list[str]:
    """Give the numbers of the parameters that are whole values of the tuple at ``start``."""
    return [element[1:] for element in tuple_elements(text, start) if element[:1] == "$" and element[1:].isdigit()]


def tuple_elements(text: str, start: int) -> list[str]:
    """Split the tuple whose parenthesis opens at ``start``, ``(a, f(b, c), 'd')``, at its own commas."""
    elements = [""]
    depth = 0
    quote = ""
    for character in text[start + 1 :]:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
            if depth < 0:
                break
        elif character == "," and depth == 0:
            elements.append("")
            continue
        elements[-1] += character
    return [element.strip() for element in elements]
