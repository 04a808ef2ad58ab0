"""k hits come back whenever k visible matches exist: random chunks, tenants and selectivities under a real IVF index.

The index has many lists of which a search looks at one, and every search is approximate at first: what the index misses
must come from the exact search that follows.
"""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag import Scope
from oraclerag.model.active import active_model
from oraclerag.rag import Rag
from tests.local.conftest import Account
from tests.local.library import install

pytestmark = pytest.mark.one_size

TENANTS = ("acme", "globex", "tiny")
OWNERS = (None, "7", "8", "team:ap")
PROJECTS = {"half": 0.5, "tenth": 0.1, "hundredth": 0.01}


@dataclass(frozen=True)
class Row:
    id: int
    tenant: str
    visibility: str
    owner: str | None
    source: str
    project: str | None
    vector: array[float] | None


@dataclass(frozen=True)
class Shelf:
    """An installation whose chunks can be put in anew."""

    rag: Rag

    def fill(self, rows: list[Row]) -> None:
        with self.rag.database.transaction() as connection, connection.cursor() as cursor:
            column = active_model(connection, self.rag.database.schema).column
            cursor.execute("DELETE FROM RAG_CHUNK")
            cursor.execute("DELETE FROM RAG_ENTITY")
            cursor.executemany(
                "INSERT INTO RAG_ENTITY (SOURCE_TYPE, SOURCE_ID, TENANT_ID, CHUNKS) VALUES (:1, :2, :3, 1)",
                [(row.source, str(row.id), row.tenant) for row in rows],
            )
            cursor.execute("SELECT SOURCE_ID, ENTITY_ID FROM RAG_ENTITY")
            entities = {int(source_id): entity for source_id, entity in cursor}
            cursor.executemany(
                "INSERT INTO RAG_CHUNK (ENTITY_ID, CHUNK_NO, CONTENT, CONTENT_HASH, TENANT_ID, SOURCE_TYPE, SOURCE_ID, "
                f"VISIBILITY, OWNER_ID, PROJECT_ID, {column}) VALUES (:1, 0, 'text', 'hash', :2, :3, :4, :5, :6, :7, :8)",
                [
                    (entities[row.id], row.tenant, row.source, str(row.id), row.visibility, row.owner, row.project, row.vector)
                    for row in rows
                ],
            )  # fmt: skip


@pytest.fixture(scope="module")
def shelf(module_account: Account, tiny_file: Path) -> Iterator[Shelf]:
    with install(module_account, tiny_file, exact_below=0, target_accuracy=1) as rag:
        yield Shelf(rag)


def _rows(draw: random.Random, dimensions: int) -> list[Row]:
    """Chunks around some centres; every tenant keeps to a few of them, so that lists of an index lack some tenants."""
    centres = [[draw.gauss(0, 1) for _ in range(dimensions)] for _ in range(8)]
    rows = []
    for number in range(draw.randrange(40, 250)):
        tenant = draw.choices(TENANTS, (70, 29, 1))[0]
        centre = (
            centres[(3 * TENANTS.index(tenant) + draw.randrange(3)) % 8]
            if draw.random() < 0.8
            else draw.choice(centres)
        )
        owned = draw.random() < 0.4
        rows.append(
            Row(
                number,
                tenant,
                draw.choice(("OWNER", "HIDDEN")) if owned else "SHARED",
                draw.choice(OWNERS) if owned else None,
                draw.choice(("task", "kb")),
                next((name for name, share in PROJECTS.items() if draw.random() < share), None),
                array("f", (draw.gauss(value, 0.3) for value in centre)) if draw.random() < 0.95 else None,
            )
        )
    return rows


def _visible(row: Row, scope: Scope, source: str | None, project: str | None) -> bool:
    if row.tenant != scope.tenant or row.vector is None or row.visibility == "HIDDEN":
        return False
    if source not in (None, row.source) or project not in (None, row.project):
        return False
    if row.visibility == "SHARED" or scope.manager:
        return True
    return row.owner is not None and row.owner in scope.principals


def test_k_hits_whenever_there_are_k(shelf: Shelf) -> None:
    assert searched(shelf)  # else nothing was shown


def searched(shelf: Shelf) -> int:
    """Fill, build and search; gives how many searches the index alone fell short for."""
    fell_short = 0

    @settings(max_examples=6, deadline=None, database=None)
    @given(seed=st.integers(0, 2**32))
    def check(seed: int) -> None:
        nonlocal fell_short
        draw = random.Random(seed)
        rows = _rows(draw, shelf.rag.model().dimensions)
        shelf.fill(rows)
        shelf.rag.rebuild_index(force=True, partitions=draw.randrange(5, 30))
        for _ in range(12):
            fell_short += _search(shelf.rag, draw, rows)

    check()
    return fell_short


def _preferred(rag: Rag, draw: random.Random, rows: list[Row], scope: Scope, k: int) -> None:
    """As much of what is preferred as there is comes first, though others would fill the k too."""
    project = draw.choice(tuple(PROJECTS))
    more: dict[str, Any] = {"hybrid": draw.random() < 0.3, "diversity": draw.choice((0.0, 0.5)) if k <= 50 else 0.0}
    result = rag.search(f"question {draw.random()}", scope=scope, k=k, prefer={"project": project}, **more)
    found = [hit.source.id for hit in result]
    visible = {str(row.id) for row in rows if _visible(row, scope, None, None)}
    wanted = {str(row.id) for row in rows if _visible(row, scope, None, project)}
    assert len(found) == len(set(found)) == min(k, len(visible)), (scope, project, k)
    assert set(found) <= visible
    assert set(found[: min(k, len(wanted))]) <= wanted, (scope, project, k)


def _search(rag: Rag, draw: random.Random, rows: list[Row]) -> bool:
    """Search for something in some scope; gives whether the index alone fell short."""
    scope = Scope(
        tenant=draw.choice((*TENANTS, "nobody")),
        owner=draw.choice(OWNERS),
        groups=draw.choice(((), ("team:ap",))),
        manager=draw.random() < 0.3,
    )
    source, project = draw.choice((None, None, "task", "kb")), draw.choice((None, *PROJECTS, "none"))
    k = draw.choice((1, 3, 10, 50, 300))
    narrow: dict[str, Any] = {"source": source} if source else {}
    narrow |= {"filter": {"project": project}} if project else {}
    visible = {str(row.id) for row in rows if _visible(row, scope, source, project)}
    result = rag.search(f"question {draw.random()}", scope=scope, k=k, **narrow)
    found = [hit.source.id for hit in result]
    assert len(found) == len(set(found)) == min(k, len(visible)), (scope, narrow, k)
    assert set(found) <= visible
    distances = [hit.distance for hit in result]
    assert distances == sorted(distances)
    assert not any(math.isnan(distance) for distance in distances)
    if draw.random() < 0.5:
        _preferred(rag, draw, rows, scope, k)
    return "gave" in result.reason
