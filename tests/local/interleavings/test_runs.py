"""Whatever the order, and whoever dies: when all is quiet, the index says what the source says.

Every run comes from a seed. What fails names it and lists its steps: ``play_seed(stage, 4711)`` plays it again.
"""

from __future__ import annotations

import pytest

from tests.local.interleavings.runs import play_seed
from tests.local.interleavings.world import ENTITIES, Installation, World

pytestmark = pytest.mark.one_size("standard")

RUNS, LONG = 16, 2500  # of one test: 128 by default, 20 000 at length


def test_a_run_begins_with_what_is_indexed(stage: Installation) -> None:
    for indexed in (0, 3, len(ENTITIES)):
        world = World.begin(stage, indexed)
        with stage.quiet.cursor() as cursor:
            for table in ("note", "RAG_CHUNK", "RAG_DOCUMENT", "RAG_ENTITY"):
                cursor.execute(f"SELECT COUNT(*) FROM {table}")
                assert cursor.fetchall() == [(indexed,)]
        assert world.problems() == []


def test_a_run_can_be_played_again(stage: Installation) -> None:
    for seed in (3, 8, 21):
        assert play_seed(stage, seed).trace == play_seed(stage, seed).trace


@pytest.mark.parametrize("part", range(8))
def test_the_index_follows_whatever_the_order(stage: Installation, part: int) -> None:
    for seed in range(part * RUNS, (part + 1) * RUNS):
        play_seed(stage, seed)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(8))
def test_the_index_follows_whatever_the_order_at_length(stage: Installation, part: int) -> None:
    for seed in range(10_000 + part * LONG, 10_000 + (part + 1) * LONG):
        play_seed(stage, seed)
