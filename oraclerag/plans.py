"""What an execution plan says about a vector index: which was used, of which kind, and when the filter was applied.

Pure functions over rows that were captured elsewhere: the lines of DBMS_XPLAN, or rows of PLAN_TABLE and V$SQL_PLAN.
An HNSW index is named by an operation VECTOR INDEX. An IVF index is mostly seen by its tables alone,
``VECTOR$<index>$<ids>$IVF_FLAT_CENTROIDS`` and ``…_CENTROID_PARTITIONS``; newer releases may also print VECTOR INDEX.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

_AUXILIARY = re.compile(
    r"VECTOR\$(?P<index>.+)\$\d+(?:_\d+)*\$"
    r"(?:(?P<ivf>IVF_FLAT_CENTROIDS?(?:_PARTITIONS)?)|HNSW_ROW(?:ID)?_VID_MAP)"
)
_KINDS = re.compile(r"(?P<kind>HNSW|IVF) SCAN(?: (?P<filtering>PRE|IN|POST)-FILTER)?")

Kind = Literal["HNSW", "IVF"]
Filtering = Literal["PRE", "IN", "POST"]


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One row of a plan.

    ``operation`` has the options behind it, as DBMS_XPLAN prints both: ``TABLE ACCESS BY USER ROWID``. ``name`` is that
    of the object, empty where there is none. ``filtered`` says that a predicate is applied here (the asterisk).
    """

    id: int
    operation: str
    name: str = ""
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class VectorAccess:
    """How a search got at its rows.

    ``index`` and ``kind`` are None when no vector index was used. ``filtering`` is PRE where the filter chose the rows
    among which the index looked, IN where it was asked during the walk of a graph, POST where the nearest rows were
    taken first (so that fewer than k may be left), None where there was none. ``full_scan`` says that the table itself
    was read as a whole, which a pre-filter may do too; ``sorts``, that rows were sorted by their distance.
    """

    index: str | None
    kind: Kind | None
    filtering: Filtering | None
    full_scan: bool
    sorts: bool

    @property
    def exact(self) -> bool:
        """No vector index: every row that passed the filter was compared."""
        return self.index is None


def read_display(lines: Iterable[str]) -> list[PlanRow]:
    """Read what ``SELECT * FROM TABLE(DBMS_XPLAN.DISPLAY)`` gave; ValueError where no plan is in it.

    Formats with more columns (Rows, Cost, Time) read the same. Of several plans the first is read.
    """
    rows: list[PlanRow] = []
    places: dict[str, int] | None = None
    for line in lines:
        cells = [cell.strip() for cell in line.strip().split("|")[1:-1]]
        if not cells:
            continue
        if places is None:
            if {"Id", "Operation", "Name"} <= set(cells):
                places = {title: place for place, title in enumerate(cells)}
        elif number := re.fullmatch(r"([* -]*)(\d+)", cells[places["Id"]]):
            row = PlanRow(int(number[2]), cells[places["Operation"]], cells[places["Name"]], "*" in number[1])
            if rows and row.id <= rows[-1].id:
                break
            rows.append(row)
    if not rows:
        raise ValueError(
            "no plan: a table with the columns Id, Operation and Name was expected, as DBMS_XPLAN prints it"
        )
    return rows


def read_rows(rows: Iterable[Mapping[str, Any]]) -> list[PlanRow]:
    """Read rows of PLAN_TABLE or V$SQL_PLAN by their column names, in any case.

    Wanted are ID, OPERATION, OPTIONS, OBJECT_NAME, ACCESS_PREDICATES and FILTER_PREDICATES; KeyError names one that is
    missing.
    """
    read = []
    for row in rows:
        columns = {name.upper(): value for name, value in row.items()}
        operation = " ".join(part for part in (columns["OPERATION"], columns["OPTIONS"]) if part)
        filtered = any(columns[name] is not None for name in ("ACCESS_PREDICATES", "FILTER_PREDICATES"))
        read.append(PlanRow(int(columns["ID"]), operation, columns["OBJECT_NAME"] or "", filtered))
    return sorted(read, key=lambda row: row.id)


def uses(rows: Iterable[PlanRow], index: str) -> bool:
    """Whether a plan reads an index (its name as the dictionary writes it)."""
    return any(row.name == index for row in rows)


def vector_access(rows: Sequence[PlanRow], table: str) -> VectorAccess:
    """Tell how a plan reads ``table`` (its name as the dictionary writes it) for a search by distance.

    ValueError when the plan does not read the table at all, or uses several vector indexes: then it is the plan of
    something else.
    """
    used: dict[str, Kind] = {}
    filtering: Filtering | None = None
    printed = False
    for row in rows:
        if scan := re.fullmatch(r"VECTOR INDEX (.+)", row.operation):
            words = _KINDS.match(scan[1])
            if words is None:
                raise ValueError(f"{row.operation}: an operation on a vector index that is not known")
            used[row.name] = "HNSW" if words["kind"] == "HNSW" else "IVF"
            filtering = _FILTERS.get(words["filtering"] or "")
            printed = True
        elif auxiliary := _AUXILIARY.fullmatch(row.name):
            used.setdefault(auxiliary["index"], "IVF" if auxiliary["ivf"] else "HNSW")
    if len(used) > 1:
        raise ValueError(
            f"the plan uses several vector indexes, {', '.join(sorted(used))}: look at one search at a time"
        )
    reads = [row for row in rows if row.name == table and "ACCESS" in row.operation]
    if not reads and not used:
        raise ValueError(f"the plan does not read {table}: give the table's name as the dictionary writes it")
    index, kind = next(iter(used.items()), (None, None))
    if kind == "IVF" and not printed:
        filtering = _order_of_filter(reads)
    return VectorAccess(
        index,
        kind,
        filtering,
        full_scan=any(re.fullmatch(r"TABLE ACCESS (STORAGE |INMEMORY )?FULL", row.operation) for row in reads),
        sorts=any(row.operation.startswith("SORT ORDER BY") for row in rows),
    )


_FILTERS: Mapping[str, Filtering] = {"PRE": "PRE", "IN": "IN", "POST": "POST"}


def _order_of_filter(reads: Sequence[PlanRow]) -> Filtering | None:
    """Tell when the table's filter is asked beside an IVF index.

    Behind the search its rows are fetched by the ROWIDs that the centroid partitions hold; before it, in any other way,
    where the predicate may stand at an index of the table and not at the table.
    """
    if any("BY USER ROWID" not in row.operation for row in reads):
        return "PRE"
    return "POST" if any(row.filtered for row in reads) else None
