"""The detector of a used vector index, on plans in the forms that Oracle documents."""

from __future__ import annotations

from typing import Any

import pytest

from oraclerag.plans import PlanRow, VectorAccess, read_display, read_rows, vector_access

IVF = "VECTOR$CHUNK_IVF$81357_82648_0$IVF_FLAT_"
MAP = "VECTOR$CHUNK_HNSW$81357_82726_0$HNSW_ROWID_VID_MAP"

Row = tuple[str, str, str]
"""Mark of a predicate, indented operation, name."""

TOP: list[Row] = [
    (" ", "SELECT STATEMENT", ""),
    ("*", " COUNT STOPKEY", ""),
    (" ", "  VIEW", ""),
    ("*", "   SORT ORDER BY STOPKEY", ""),
]
CENTROIDS: list[Row] = [
    (" ", "      VIEW", "VW_IVCR_2D77159E"),
    ("*", "       COUNT STOPKEY", ""),
    (" ", "        VIEW", "VW_IVCN_9A1D2119"),
    ("*", "         SORT ORDER BY STOPKEY", ""),
    (" ", "          TABLE ACCESS FULL", f"{IVF}CENTROIDS"),
]
NEAREST_FIRST: list[Row] = [
    (" ", "    NESTED LOOPS", ""),
    (" ", "     VIEW", "VW_IVPSR_11E7D7DE"),
    ("*", "      COUNT STOPKEY", ""),
    (" ", "       VIEW", "VW_IVPSJ_578B79F1"),
    ("*", "        SORT ORDER BY STOPKEY", ""),
    ("*", "         HASH JOIN", ""),
    (" ", "          PART JOIN FILTER CREATE", ":BF0000"),
    *CENTROIDS,
    (" ", "          PARTITION LIST JOIN-FILTER", ""),
    (" ", "           TABLE ACCESS STORAGE FULL", f"{IVF}CENTROID_PARTITIONS"),
]
PLANS: dict[str, tuple[list[Row], VectorAccess]] = {
    "graph": (
        [*TOP, (" ", "    TABLE ACCESS BY INDEX ROWID", "CHUNK"), (" ", "     VECTOR INDEX HNSW SCAN", "CHUNK_HNSW")],
        VectorAccess("CHUNK_HNSW", "HNSW", None, full_scan=False, sorts=True),
    ),
    "graph, filter first, join back": (
        [
            *TOP,
            ("*", "    TABLE ACCESS BY INDEX ROWID", "CHUNK"),
            (" ", "     VECTOR INDEX HNSW SCAN PRE-FILTER", "CHUNK_HNSW"),
            (" ", "      VIEW", "VW_HPJ_56DFF779"),
            ("*", "       HASH JOIN RIGHT OUTER", ""),
            (" ", "        TABLE ACCESS FULL", MAP),
            ("*", "        TABLE ACCESS FULL", "CHUNK"),
        ],
        VectorAccess("CHUNK_HNSW", "HNSW", "PRE", full_scan=True, sorts=True),
    ),
    "graph, filter first, nested loops": (
        [
            *TOP,
            (" ", "    VECTOR INDEX HNSW SCAN PRE-FILTER", "CHUNK_HNSW"),
            (" ", "     VIEW", "VW_HPF_B919B0A0"),
            (" ", "      NESTED LOOPS OUTER", ""),
            ("*", "       TABLE ACCESS BY INDEX ROWID BATCHED", "CHUNK"),
            ("*", "        INDEX RANGE SCAN", "CHUNK_OWNER_IDX"),
            (" ", "       TABLE ACCESS BY INDEX ROWID", MAP),
            ("*", "        INDEX UNIQUE SCAN", "SYS_C008586"),
        ],
        VectorAccess("CHUNK_HNSW", "HNSW", "PRE", full_scan=False, sorts=True),
    ),
    "graph, filter during the walk": (
        [
            *TOP,
            (" ", "    VECTOR INDEX HNSW SCAN IN-FILTER", "CHUNK_HNSW"),
            (" ", "     VIEW", "VW_HIF_B919B0A0"),
            ("*", "      TABLE ACCESS BY USER ROWID", "CHUNK"),
        ],
        VectorAccess("CHUNK_HNSW", "HNSW", "IN", full_scan=False, sorts=True),
    ),
    "partitions, filter first": (
        [
            *TOP,
            ("*", "    HASH JOIN", ""),
            *CENTROIDS,
            (" ", "     NESTED LOOPS", ""),
            ("*", "      TABLE ACCESS INMEMORY FULL", "CHUNK"),
            (" ", "      TABLE ACCESS BY GLOBAL INDEX ROWID", f"{IVF}CENTROID_PARTITIONS"),
            ("*", "       INDEX UNIQUE SCAN", "SYS_C008661"),
        ],
        VectorAccess("CHUNK_IVF", "IVF", "PRE", full_scan=True, sorts=True),
    ),
    "partitions, filter first, by an index": (
        [
            *TOP,
            ("*", "    HASH JOIN", ""),
            *CENTROIDS,
            (" ", "     NESTED LOOPS", ""),
            (" ", "      TABLE ACCESS BY INDEX ROWID BATCHED", "CHUNK"),
            ("*", "       INDEX RANGE SCAN", "CHUNK_OWNER_IDX"),
            (" ", "      TABLE ACCESS BY GLOBAL INDEX ROWID", f"{IVF}CENTROID_PARTITIONS"),
            ("*", "       INDEX UNIQUE SCAN", "SYS_C008661"),
        ],
        VectorAccess("CHUNK_IVF", "IVF", "PRE", full_scan=False, sorts=True),
    ),
    "partitions, filter behind": (
        [*TOP, *NEAREST_FIRST, ("*", "     TABLE ACCESS BY USER ROWID", "CHUNK")],
        VectorAccess("CHUNK_IVF", "IVF", "POST", full_scan=False, sorts=True),
    ),
    "partitions, no filter": (
        [*TOP, *NEAREST_FIRST, (" ", "     TABLE ACCESS BY USER ROWID", "CHUNK")],
        VectorAccess("CHUNK_IVF", "IVF", None, full_scan=False, sorts=True),
    ),
    "partitions, printed as an index": (
        [*TOP, (" ", "    TABLE ACCESS BY INDEX ROWID", "CHUNK"), (" ", "     VECTOR INDEX IVF SCAN", "CHUNK_IVF")],
        VectorAccess("CHUNK_IVF", "IVF", None, full_scan=False, sorts=True),
    ),
    "exact": (
        [*TOP, ("*", "    TABLE ACCESS FULL", "CHUNK")],
        VectorAccess(None, None, None, full_scan=True, sorts=True),
    ),
    "exact, by another index, joined": (
        [
            *TOP,
            (" ", "    NESTED LOOPS", ""),
            ("*", "     TABLE ACCESS BY INDEX ROWID BATCHED", "CHUNK"),
            ("*", "      INDEX RANGE SCAN", "CHUNK_OWNER_IDX"),
            (" ", "     TABLE ACCESS FULL", "DOCUMENT"),
        ],
        VectorAccess(None, None, None, full_scan=False, sorts=True),
    ),
}  # fmt: skip


def display(plan: list[Row], *more: tuple[str, str]) -> list[str]:
    """Print a plan as DBMS_XPLAN does; ``more`` are columns behind the name, each with the text of its cells."""
    width = [max(len(row[place]) for row in plan) + 2 for place in (1, 2)]
    titles = ["Id ", f"{'Operation':<{width[0]}}", f"{'Name':<{width[1]}}", *(title for title, _ in more)]
    lines = ["Plan hash value: 2931345637", " "]
    table = [f"| {' | '.join(titles)} |"]
    for place, (mark, operation, name) in enumerate(plan):
        cells = [f"{mark}{place:>3}", f" {operation:<{width[0]}}", f" {name:<{width[1]}}", *(text for _, text in more)]
        table.append("|" + " |".join(cells) + " |")
    rule = "-" * len(table[0])
    lines += [rule, table[0], rule, *table[1:], rule, " ", "Predicate Information (identified by operation id):"]
    return [*lines, "---------------------------------------------------", " ", "   3 - filter(ROWNUM<=4)"]


def columns(plan: list[Row], options: dict[str, str]) -> list[dict[str, Any]]:
    """The same as rows of PLAN_TABLE, whose operation and options stand apart."""
    rows: list[dict[str, Any]] = []
    for place, (mark, indented, name) in enumerate(plan):
        operation = indented.strip()
        head = next((known for known in options if operation.startswith(known)), operation)
        rows.append(
            {
                "id": place,
                "operation": head,
                "options": operation[len(head) :].strip() or None,
                "object_name": name or None,
                "access_predicates": None,
                "filter_predicates": "a predicate" if mark == "*" else None,
            }
        )
    return rows


OPERATIONS = dict.fromkeys(("TABLE ACCESS", "VECTOR INDEX", "SORT", "COUNT", "INDEX", "HASH JOIN", "NESTED LOOPS"), "")


@pytest.mark.parametrize("case", PLANS)
def test_a_printed_plan_tells_its_vector_index(case: str) -> None:
    plan, expected = PLANS[case]
    assert vector_access(read_display(display(plan)), "CHUNK") == expected
    wide = display(plan, (" Rows  ", "    4  "), (" Cost (%CPU)", "    3  (34)"), (" Time     ", " 00:00:01 "))
    assert vector_access(read_display(wide), "CHUNK") == expected
    assert expected.exact == case.startswith("exact")


@pytest.mark.parametrize("case", PLANS)
def test_rows_of_the_plan_table_tell_the_same(case: str) -> None:
    plan, expected = PLANS[case]
    rows = columns(plan, OPERATIONS)
    assert vector_access(read_rows(reversed(rows)), "CHUNK") == expected
    upper = [{name.upper(): value for name, value in row.items()} for row in rows]
    assert vector_access(read_rows(upper), "CHUNK") == expected


@pytest.mark.parametrize(
    "name",
    [
        "VECTOR$my index$1_2_0$IVF_FLAT_CENTROIDS",
        "VECTOR$my index$77$IVF_FLAT_CENTROIDS_PARTITIONS",
        "VECTOR$my index$1_2_0$HNSW_ROW_VID_MAP",
    ],
)
def test_names_of_auxiliary_tables_vary(name: str) -> None:
    rows = [PlanRow(0, "SELECT STATEMENT"), PlanRow(1, "TABLE ACCESS FULL", name)]
    assert vector_access(rows, "CHUNK").index == "my index"


def test_a_table_that_is_only_called_alike_is_no_index() -> None:
    rows = [PlanRow(0, "TABLE ACCESS FULL", "CHUNK"), PlanRow(1, "TABLE ACCESS FULL", "VECTOR$IVF_FLAT_CENTROIDS")]
    assert vector_access(rows, "CHUNK").exact


def test_of_several_plans_the_first_is_read() -> None:
    exact, graph = (display(PLANS[case][0]) for case in ("exact", "graph"))
    assert vector_access(read_display([*exact, *graph]), "CHUNK").exact


def test_what_is_no_plan_of_a_search_is_refused() -> None:
    with pytest.raises(ValueError, match="no plan"):
        read_display(["Error: cannot fetch last explain plan from PLAN_TABLE"])
    with pytest.raises(ValueError, match="does not read CHUNKS"):
        vector_access(read_display(display(PLANS["exact"][0])), "CHUNKS")
    two = [PlanRow(0, "VECTOR INDEX HNSW SCAN", "A"), PlanRow(1, "VECTOR INDEX HNSW SCAN", "B")]
    with pytest.raises(ValueError, match="several vector indexes, A, B"):
        vector_access(two, "CHUNK")
    with pytest.raises(ValueError, match="VECTOR INDEX SPIRAL WALK"):
        vector_access([PlanRow(0, "VECTOR INDEX SPIRAL WALK", "A")], "CHUNK")
    with pytest.raises(KeyError, match="FILTER_PREDICATES"):
        read_rows([{"id": 0, "operation": "SORT", "options": None, "object_name": None, "access_predicates": None}])
