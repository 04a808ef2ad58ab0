"""Without any one rule of the protocol something goes wrong, and the invariant says so."""

from __future__ import annotations

import pytest

from tests.local.interleavings.mutations import MUTATIONS, Mutation
from tests.local.interleavings.schedule import follow
from tests.local.interleavings.world import Installation

pytestmark = pytest.mark.one_size("standard")


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_rule_cannot_be_left_out(stage: Installation, mutation: Mutation) -> None:
    whole = follow(stage, mutation.story, mutation.schedule)
    assert whole.problems == [], "\n".join(whole.trace)
    with mutation.applied():
        outcome = follow(stage, mutation.story, mutation.schedule, **mutation.world)
    assert any(mutation.says in problem for problem in outcome.problems), "\n".join([*outcome.problems, *outcome.trace])
