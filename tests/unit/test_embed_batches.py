"""Texts go out in requests that hold no more than they may, in their order; a text at fault stands alone."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.embed.batches import batches
from oraclerag.embed.passages import Passages
from oraclerag.errors import OracleRagError, PromptTooLong, ProviderLoginFailed, ProviderRefused, ProviderUnavailable
from oraclerag.model.external import Embedded, Kind

SIZES = st.lists(st.integers(0, 60), max_size=60)


@given(SIZES, st.integers(1, 8), st.integers(1, 50))
def test_no_request_holds_too_much_and_the_order_stays(sizes: list[int], items: int, tokens: int) -> None:
    found = [sizes[part] for part in batches(sizes, most_items=items, most_tokens=tokens)]
    assert [size for part in found for size in part] == sizes
    for part in found:
        assert 1 <= len(part) <= items
        assert sum(part) <= tokens or len(part) == 1
    for part, following in itertools.pairwise(found):
        assert len(part) == items or sum(part) + following[0] > tokens, "they would have fitted into one"


class Provider:
    """Embeds numbers as texts; refuses those that it is told to."""

    name = "M"
    local = False

    def __init__(self, refused: Sequence[str] = (), error: OracleRagError | None = None, size: int = 4) -> None:
        self.refused = refused
        self.error = error
        self.size = size
        self.asked: list[list[str]] = []

    def batches(self, texts: Sequence[str]) -> Iterator[slice]:
        return batches([1] * len(texts), most_items=self.size, most_tokens=1000)

    def embed(self, texts: Sequence[str], kind: Kind) -> Embedded:
        assert kind == "passage"
        self.asked.append(list(texts))
        if self.error is not None:
            raise self.error
        if set(texts) & set(self.refused):
            raise PromptTooLong(status=400)
        return Embedded(tuple(array("f", [float(len(text))]) for text in texts), len(texts))


class Clock:
    """A clock that sleeping turns."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def passages(provider: Provider, **more: object) -> tuple[Passages, list[int]]:
    spent: list[int] = []
    clock = Clock()
    made = Passages(provider, "", lambda text: 10, lambda: None, spent.append, clock=clock, sleep=clock.sleep)
    for name, value in more.items():
        setattr(made, name, value)
    return made, spent


@given(st.lists(st.text("abc", min_size=1, max_size=6), max_size=30, unique=True), st.data())
def test_whoever_is_refused_is_refused_alone(texts: list[str], data: st.DataObject) -> None:
    refused = data.draw(st.sets(st.sampled_from(texts))) if texts else set()
    provider = Provider(sorted(refused))
    made, spent = passages(provider)
    found, failed = made.vectors({text: text for text in texts})
    assert set(failed) == refused
    assert {text: vector[0] for text, vector in found.items()} == {t: float(len(t)) for t in texts if t not in refused}
    assert sum(spent) >= len(texts) - len(refused)


@pytest.mark.parametrize(
    "error",
    [ProviderUnavailable(status=503), ProviderLoginFailed(status=401), ProviderRefused(status=404), ProviderRefused()],
    ids=["outage", "key", "no such model", "unknown"],
)
def test_what_is_no_fault_of_a_text_is_raised(error: OracleRagError) -> None:
    provider = Provider(error=error)
    with pytest.raises(type(error)):
        passages(provider)[0].vectors({"a": "a", "b": "b"})
    assert len(provider.asked) == 1


def test_a_provider_that_takes_no_text_at_all_blames_none() -> None:
    provider = Provider(error=ProviderRefused(status=400))
    with pytest.raises(ProviderRefused):
        passages(provider)[0].vectors({"a": "a", "b": "b"})
    assert [len(asked) for asked in provider.asked] == [2, 1, 1], "both, the first alone, a harmless one"


def test_no_more_is_sent_in_a_minute_than_may_be() -> None:
    clock = Clock()
    provider = Provider(size=1)
    made, _ = passages(provider, tokens_per_minute=25, clock=clock, sleep=clock.sleep, after=lambda tokens: None)
    provider.embed = lambda texts, kind: Embedded((array("f", [1.0]),), 10)  # type: ignore[method-assign]
    made.vectors({str(number): "text" for number in range(5)})
    assert (clock.now, len(clock.slept)) == (120.0, 12), "two of ten tokens each fit into a minute"


def test_a_request_larger_than_a_minute_goes_out_all_the_same() -> None:
    clock = Clock()
    made, spent = passages(Provider(), tokens_per_minute=1, clock=clock, sleep=clock.sleep)
    made.vectors({"a": "a", "b": "b"})
    assert (spent, clock.slept) == ([2], [])


def test_what_was_sent_is_remembered_only_where_a_minute_is_bounded() -> None:
    """A worker keeps it from batch to batch, for as long as it runs."""
    made, spent = passages(Provider())
    made.vectors({"a": "a"})
    assert (spent, list(made.sent)) == ([1], [])
