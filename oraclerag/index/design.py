"""Which vector index is to be built: what was asked for, held against rows, version and policies of the table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, cast

from oraclerag.errors import InputError

__all__ = ["INCLUDED", "Design", "IndexOptions", "Kind", "Surroundings", "Wish", "design", "partitions_for", "wish"]

Kind = Literal["IVF", "HNSW"]

INCLUDED = ("TENANT_ID", "VISIBILITY", "OWNER_ID", "SOURCE_TYPE", "COLLECTION")
"""The columns that an index covers, so that a scope is asked within it: those of every predicate and the usual ones."""

_INCLUDE_SINCE = (23, 7)
_ONLINE_SINCE = (23, 26)  # 26ai
_JOURNAL_SINCE = (23, 6)
_MAX_PARTITIONS = 10_000_000
_MAX_PARALLEL = 1024
_LEAST_IN_A_PARTITION = 100
_POLICY = "an index must not cover columns of a table that a VPD policy stands on (ORA-51987)"


class IndexOptions(TypedDict, total=False):
    """What can be said of an index that is built; all of it may be left out.

    ``kind``: ``"ivf"`` or ``"hnsw"`` (default: that of the index there is, else ivf). ``accuracy``: the target in
    percent (default: the setting ``target_accuracy``). ``partitions``: the number of centroids (default: √rows, of at
    least 100 rows each). ``include``: whether the columns of a scope are covered (default: where the version has it,
    23.7, no VPD policy stands on the table, and the index is not built online). ``online``: changes go on while it is
    built (26ai). ``parallel``: the degree of the build. ``force``: also over fewer than 1,000 chunks.
    """

    kind: str | None
    accuracy: int | None
    partitions: int | None
    include: bool | None
    online: bool
    parallel: int | None
    force: bool


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for; None where it is left to the toolkit. Checked by itself, not against a database."""

    kind: Kind | None = None
    accuracy: int | None = None
    partitions: int | None = None
    include: bool | None = None
    online: bool = False
    parallel: int | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the index is built over: its rows, the version of the database, the VPD policies of RAG_CHUNK."""

    rows: int
    version: tuple[int, ...]
    policies: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Design:
    """An index as it is built; ``partitions`` is None for HNSW, ``parallel`` where the database decides."""

    kind: Kind
    accuracy: int
    partitions: int | None = None
    included: tuple[str, ...] = ()
    online: bool = False
    parallel: int | None = None


def wish(options: Mapping[str, Any]) -> Wish:
    """Check what was asked for, see :class:`IndexOptions`. Raises InputError, and TypeError for what there is not."""
    unknown = set(options) - IndexOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"a vector index has no argument {min(unknown)!r}")
    kind, include, online = options.get("kind"), options.get("include"), options.get("online", False)
    chosen = kind.upper() if isinstance(kind, str) else kind
    if chosen not in (None, "IVF", "HNSW"):
        raise InputError(f'kind must be "ivf" or "hnsw", not {kind!r}.')
    if include not in (None, True, False) or not isinstance(online, bool):
        raise InputError("include and online must be True or False.")
    found = Wish(
        kind=cast("Kind | None", chosen),
        accuracy=_whole(options.get("accuracy"), "accuracy", 100),
        partitions=_whole(options.get("partitions"), "partitions", _MAX_PARTITIONS),
        include=cast("bool | None", include),
        online=online,
        parallel=_whole(options.get("parallel"), "parallel", _MAX_PARALLEL),
    )
    if found.include and found.online:
        raise InputError(
            "An index that is built online cannot cover further columns: include and online exclude one another.",
            hint="Leave one of them out (--no-include, --no-online).",
        )
    if found.kind == "HNSW" and found.partitions is not None:
        raise InputError("An HNSW index has no partitions.", hint="Leave partitions out, or take the type ivf.")
    if found.kind == "HNSW" and found.online:
        raise InputError("Only an IVF index can be built online.", hint="Leave online out, or take the type ivf.")
    return found


def design(asked: Wish, around: Surroundings, *, target_accuracy: int) -> Design:
    """Complete a wish; ``target_accuracy`` is the setting.

    Raises InputError where the version or a policy stands against it.
    """
    kind = asked.kind or "IVF"
    version = ".".join(map(str, around.version[:2]))
    if kind == "HNSW" and around.version < _JOURNAL_SINCE:
        raise InputError(
            f"A table with an HNSW index takes no changes before 23.6 (ORA-51928), and this is {version}: "
            "workers could not write.",
            hint="Take the type ivf.",
        )
    if asked.online and around.version < _ONLINE_SINCE:
        raise InputError(
            f"A vector index is built online from 23.26 (26ai) on, and this is {version}.",
            hint="Leave online out: workers wait while it is built.",
        )
    return Design(
        kind=kind,
        accuracy=asked.accuracy or target_accuracy,
        partitions=None if kind == "HNSW" else asked.partitions or partitions_for(around.rows),
        included=INCLUDED if _covers(asked, kind, around, version) else (),
        online=asked.online,
        parallel=asked.parallel,
    )


def partitions_for(rows: int) -> int:
    """Give the number of centroids for so many rows: √rows, but no fewer than 100 rows to each of them.

    Oracle documents no default. √rows balances centroids against rows of a partition; partitions of 100 vectors or
    fewer are those that its MIN_VECTORS_PER_PARTITION is there to trim.
    """
    return max(1, min(math.isqrt(rows), rows // _LEAST_IN_A_PARTITION, _MAX_PARTITIONS))


def _covers(asked: Wish, kind: Kind, around: Surroundings, version: str) -> bool:
    since = _INCLUDE_SINCE if kind == "IVF" else _ONLINE_SINCE
    able = around.version >= since
    if asked.include is None:
        return able and kind == "IVF" and not asked.online and not around.policies
    if asked.include and not able:
        raise InputError(
            f"An {kind} index covers further columns from {'.'.join(map(str, since))} on, and this is {version}.",
            hint="Leave include out.",
        )
    if asked.include and around.policies:
        raise InputError(
            f"The policy {around.policies[0]} stands on RAG_CHUNK, and {_POLICY}.",
            hint="Leave include out (--no-include): the database enforces rights, or the index covers the scope.",
        )
    return asked.include


def _whole(value: Any, what: str, high: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= high:
        raise InputError(f"{what} must be a whole number between 1 and {high:,}, not {value!r}.")
    return value
