"""What is measured, and who is told of it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from oraclerag.telemetry.api import SCOPE, exports

__all__ = ["INSTRUMENTS", "Instrument", "Labels", "Listener", "add", "heard", "listening", "observe"]

Labels = Mapping[str, str]


class Instrument(NamedTuple):
    """What is measured: ``unit`` as UCUM has it, ``labels`` the names of the attributes of a measurement.

    ``values`` are all that its one label may be, where that is known.
    """

    name: str
    kind: Literal["counter", "histogram"]
    unit: str
    about: str
    labels: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


LANES = ("change", "bulk", "named")
OUTCOMES = ("indexed", "unchanged", "deleted", "postponed", "given_up", "given_back")
STEPS = ("claim", "read", "chunk", "embed", "write", "settle")
_GEN_AI = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model")

INSTRUMENTS: Mapping[str, Instrument] = {
    one.name: one
    for one in (
        Instrument("oraclerag.worker.batches", "counter", "{batch}", "Batches that were worked off.", ("lane",), LANES),
        Instrument(
            "oraclerag.worker.entities", "counter", "{entity}",
            "Entities by what became of them.", ("outcome",), OUTCOMES,
        ),
        Instrument("oraclerag.worker.chunks", "counter", "{chunk}", "Chunks of the entities that were indexed."),
        Instrument("oraclerag.worker.embeddings", "counter", "{vector}", "Vectors that were made for chunks."),
        Instrument("oraclerag.worker.tokens", "counter", "{token}", "Tokens that were embedded."),
        Instrument(
            "oraclerag.worker.failures", "counter", "{failure}",
            "Failures by the code of the error, and whom they concern: entity, source (paused) or worker (outage).",
            ("error.type", "scope"),
        ),
        Instrument("oraclerag.worker.batch.duration", "histogram", "s", "Batches, from claim to settle."),
        Instrument(
            "oraclerag.worker.step.duration", "histogram", "s",
            "Steps of a batch: embed is asking a provider, settle the end of write.", ("step",), STEPS,
        ),
        Instrument(
            "oraclerag.search.duration", "histogram", "s", "Searches, by plan: exact, approximate.",
            ("plan", "error.type"),
        ),
        Instrument("oraclerag.ask.duration", "histogram", "s", "Answers, by outcome.", ("outcome", "error.type")),
        Instrument(
            "gen_ai.client.operation.duration", "histogram", "s", "Calls of language and embedding models.",
            (*_GEN_AI, "error.type"),
        ),
        Instrument(
            "gen_ai.client.token.usage", "histogram", "{token}", "Tokens of calls of language and embedding models.",
            (*_GEN_AI, "gen_ai.token.type"),
        ),
    )
}  # fmt: skip
"""Everything that is measured, by name."""


class Listener(Protocol):
    """Who is told every measurement of this process, beside OpenTelemetry."""

    def add(self, name: str, amount: float, labels: Labels) -> None:
        """Take a counter's increase."""

    def observe(self, name: str, value: float, labels: Labels) -> None:
        """Take a value of a histogram."""


_listener: Listener | None = None


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell a listener every measurement inside the block, of all threads; the one before is told again at its end."""
    global _listener  # noqa: PLW0603 - what is measured is of the process, as the logging module's handlers are
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


def add(name: str, amount: float = 1, **labels: str) -> None:
    """Count; ``error_type`` stands for the label ``error.type``."""
    if amount:
        _measured("add", name, amount, labels)


def observe(name: str, value: float, labels: Labels) -> None:
    """Measure once."""
    _measured("observe", name, value, labels)


def heard() -> bool:
    """Whether anybody is told what is measured."""
    return _listener is not None or exports("opentelemetry.metrics")


def _measured(how: Literal["add", "observe"], name: str, value: float, labels: Labels) -> None:
    listener = _listener
    if listener is None and not exports("opentelemetry.metrics"):
        return
    labels = {"error.type" if label == "error_type" else label: text for label, text in labels.items()}
    unknown = labels.keys() - set(INSTRUMENTS[name].labels)
    if unknown:
        raise KeyError(f"{min(unknown)} is no label of {name}")
    if listener is not None:
        (listener.add if how == "add" else listener.observe)(name, value, labels)
    if exports("opentelemetry.metrics"):
        instrument = _instrument(name)
        (instrument.add if how == "add" else instrument.record)(value, labels)


@functools.cache
def _instrument(name: str) -> Any:
    """Give OpenTelemetry's instrument."""
    from opentelemetry import metrics

    one = INSTRUMENTS[name]
    meter = metrics.get_meter(SCOPE)
    make = meter.create_counter if one.kind == "counter" else meter.create_histogram
    return make(one.name, unit=one.unit, description=one.about)
