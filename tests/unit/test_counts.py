"""Counts are kept in 4,000 bytes and estimate who sees how much."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.counts import Population, estimate, pack, unpack
from oraclerag.filters import SHARE
from oraclerag.scope import Scope

COUNTS = {
    "task": {"acme": Population(1000, 1000, 10), "": Population(50, 50, 5)},
    "kb": {"acme": Population(300)},
}


@pytest.mark.parametrize(
    ("scope", "sources", "conditions", "expected"),
    [
        (Scope(tenant="acme", manager=True), (), 0, 1300),
        (Scope(tenant="acme"), (), 0, 300),
        (Scope(tenant="acme", owner="7"), (), 0, 400),
        (Scope(tenant="acme", owner="7", groups=["a", "b"]), (), 0, 600),
        (Scope(tenant="acme", owner="7", groups=[str(n) for n in range(50)]), (), 0, 1300),
        (Scope(tenant="acme", manager=True), ("kb",), 0, 300),
        (Scope(tenant="acme", manager=True), ("kb",), 1, 300 * SHARE),
        (Scope(tenant="other", manager=True), (), 0, 50),
        (Scope(tenant="acme", manager=True), ("nothing",), 0, 0),
    ],
    ids=str,
)
def test_estimate(scope: Scope, sources: tuple[str, ...], conditions: int, expected: float) -> None:
    assert estimate(COUNTS, scope, sources=sources, conditions=conditions) == pytest.approx(expected)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=128).filter(lambda name: len(name.encode()) <= 128),
        st.builds(Population, st.integers(1, 10**12), st.integers(0, 10**12), st.integers(0, 10**6)),
        max_size=80,
    )
)
def test_packed_fits_and_nobody_is_taken_for_smaller(tenants: dict[str, Population]) -> None:
    text = pack(tenants.items())
    assert len(text.encode()) <= 4000
    kept = unpack(text)
    for tenant, population in tenants.items():
        found = kept.get(tenant) or kept[""]
        assert found.chunks >= population.chunks
    assert {name: value for name, value in kept.items() if name} == {name: tenants[name] for name in kept if name}
