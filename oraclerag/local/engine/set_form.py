"""One statement for many rows of binds: they travel as one array per bind, and the statement reads them as a table.

That is as good as running the statement once per row only where no row can notice the others; where it is not sure,
there is no such form.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.long_binds import tuple_elements
from oraclerag.local.engine.oids import Oids
from oraclerag.local.engine.plan import Plan, Verb

_PLACEHOLDER = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(\d+)")
_PLAIN = frozenset({pg.NUMERIC, pg.FLOAT4, pg.FLOAT8, pg.BOOL, *pg.INTEGERS})  # their text needs no quotes
_JSONB_VERSION = b"\1"


@dataclass(frozen=True, slots=True)
class Target:
    """What the catalog says of a statement's target, as far as rows may notice one another through it.

    ``unique`` are columns of unique indexes; one over an expression is every column ("*").
    """

    is_table: bool = False
    has_triggers: bool = True
    refers_to_itself: bool = True
    unique: frozenset[str] = frozenset({"*"})


@dataclass(frozen=True, slots=True)
class SetForm:
    """The text over arrays, ``$n`` being the array of the statement's bind n.

    ``keys``: binds of which one must have another value in every row, so that no two rows touch the same; none means
    that it does not matter. ``counted``: for every table row touched, the result has the place of its binds, from 1.
    """

    text: str
    keys: tuple[int, ...] = ()
    counted: bool = False


def set_form(plan: Plan, oids: Sequence[int], own: Oids, target: Target) -> SetForm | None:
    """Give the form over arrays of a statement with parameters of these types, or None."""
    types = [own.type_text(oid) for oid in oids]
    if not types or None in types or target.refers_to_itself or plan.embeds:
        return None
    if plan.verb is Verb.INSERT:
        return _insert(plan, _table(types))
    changes_unique = not target.unique.isdisjoint(plan.columns) or "*" in target.unique
    if ((plan.verb is Verb.UPDATE and not changes_unique) or plan.verb is Verb.DELETE) and plan.keys:
        if not target.is_table or target.has_triggers or plan.returning or "SELECT" in plan.text.upper():
            return None
        word = "FROM" if plan.verb is Verb.UPDATE else "USING"
        head, tail = _over_arrays(plan.text[: plan.where]), _over_arrays(plan.text[plan.where :])
        text = f'{head} {word} {_table(types, numbered=True)}{tail} RETURNING given."$"'
        return SetForm(text, plan.keys, counted=True)
    return None


def _insert(plan: Plan, table: str) -> SetForm | None:
    if plan.values is None:
        return None
    start, end = plan.values
    tuple_text, outside = plan.text[start:end], plan.text[:start] + plan.text[end:]
    # A subquery must see the rows before it, and a skipped duplicate leaves the count of a row unknown.
    if "SELECT" in tuple_text.upper() or " ON CONFLICT " in outside or _over_arrays(outside) != outside:
        return None
    if any(element.upper() == "DEFAULT" for element in tuple_elements(plan.text, start)):
        return None
    head = plan.text[:start].removesuffix("VALUES ")
    return SetForm(f"{head}SELECT {_over_arrays(tuple_text[1:-1])} FROM {table}{plan.text[end:]}")


def _table(types: Sequence[str | None], *, numbered: bool = False) -> str:
    arrays = ", ".join(f"${number}::{text}[]" for number, text in enumerate(types, 1))
    names = [f'"${number}"' for number in range(1, len(types) + 1)]
    if numbered:
        return f'unnest({arrays}) WITH ORDINALITY AS given ({", ".join(names)}, "$")'
    return f"unnest({arrays}) AS given ({', '.join(names)})"


def _over_arrays(text: str) -> str:
    return _PLACEHOLDER.sub(lambda match: f'given."${match[1]}"' if match[1] else match[0], text)


def array(oid: int, binary: bool, items: Sequence[bytes | None]) -> tuple[bytes, bool]:
    """Give a column of parameter values as one array parameter, and whether that is in binary format too."""
    if not binary and oid == pg.JSONB:
        return _binary(oid, [None if item is None else _JSONB_VERSION + item for item in items]), True
    if binary:
        return _binary(oid, items), True
    if oid in _PLAIN:
        return b"{" + b",".join([b"NULL" if item is None else item for item in items]) + b"}", False
    quoted = [
        b"NULL" if item is None else b'"' + item.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"' for item in items
    ]
    return b"{" + b",".join(quoted) + b"}", False


def _binary(oid: int, items: Sequence[bytes | None]) -> bytes:
    parts = [struct.pack(">iiIii", 1, None in items, oid, len(items), 1)]
    for item in items:
        if item is None:
            parts.append(b"\xff\xff\xff\xff")
        else:
            parts.append(len(item).to_bytes(4, "big"))
            parts.append(item)
    return b"".join(parts)


def all_different(oid: int, binary: bool, items: Sequence[bytes | None], own: Oids) -> bool:
    """Whether no two values of a column are equal in PostgreSQL and none is NULL; False where it is not sure."""
    if None in items or len(set(items)) < len(items):
        return False
    if oid == pg.NUMERIC:  # 1 and 1.0 are written differently
        return all(item.isdigit() and not (item[0] == 48 and len(item) > 1) for item in items if item)
    return binary and (oid in {pg.TEXT, own.varchar2, own.odate, pg.TIMESTAMP})
