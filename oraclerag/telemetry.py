"""Spans and measurements: for OpenTelemetry, where the program has loaded its API, and for a listener of this process.

Without either nothing is made and nothing is imported. A program that exports traces has imported
``opentelemetry.trace`` before it asks us anything, so what is not in ``sys.modules`` is not looked for: the API alone
would take longer to import than most searches take.

Attributes name and count things of the installation (models, sources, plans, codes of errors). A question, a text, a
key, a tenant, an owner or the value of a filter is never among them, and no message of an error.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Literal, NamedTuple, ParamSpec, Protocol, Self, TypeVar

from oraclerag.errors import OracleRagError

__all__ = [
    "INSTRUMENTS",
    "Attributes",
    "Instrument",
    "Listener",
    "Span",
    "add",
    "enclosing",
    "error_type",
    "listening",
    "observe",
    "span",
    "spanned",
    "step",
]

Attributes = Mapping[str, str | int | float | bool | list[str] | None]
Labels = Mapping[str, str]

P = ParamSpec("P")
T = TypeVar("T")

_SCOPE = "oraclerag"
# What these name is made by the API itself, when it is first asked: then it is loaded by us too.
_NAMED = any(os.environ.get(f"OTEL_PYTHON_{kind}_PROVIDER") for kind in ("TRACER", "METER"))


class Instrument(NamedTuple):
    """What is measured: ``unit`` as UCUM has it, ``labels`` the names of the attributes of a measurement."""

    name: str
    kind: Literal["counter", "histogram"]
    unit: str
    about: str
    labels: tuple[str, ...] = ()


_GEN_AI = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model")

INSTRUMENTS: Mapping[str, Instrument] = {
    one.name: one
    for one in (
        Instrument("oraclerag.worker.batches", "counter", "{batch}", "Batches that were worked off.", ("lane",)),
        Instrument(
            "oraclerag.worker.entities", "counter", "{entity}",
            "Entities by what became of them: indexed, unchanged, deleted, postponed, given_up, given_back.",
            ("outcome",),
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
            "Steps of a batch: claim, read, chunk, embed (by a provider), write (settle is its end).", ("step",),
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


def _measured(how: Literal["add", "observe"], name: str, value: float, labels: Labels) -> None:
    if _listener is None and not _loaded("opentelemetry.metrics"):
        return
    labels = {"error.type" if label == "error_type" else label: text for label, text in labels.items()}
    unknown = labels.keys() - set(INSTRUMENTS[name].labels)
    if unknown:
        raise KeyError(f"{min(unknown)} is no label of {name}")
    if _listener is not None:
        (_listener.add if how == "add" else _listener.observe)(name, value, labels)
    if _loaded("opentelemetry.metrics"):
        instrument = _instrument(name)
        (instrument.add if how == "add" else instrument.record)(value, labels)


@functools.cache
def _instrument(name: str) -> Any:
    """Give OpenTelemetry's instrument; made before the program has its provider, it follows that."""
    from opentelemetry import metrics

    one = INSTRUMENTS[name]
    meter = metrics.get_meter(_SCOPE)
    make = meter.create_counter if one.kind == "counter" else meter.create_histogram
    return make(one.name, unit=one.unit, description=one.about)


def _loaded(module: str) -> bool:
    return sys.modules.get(module) is not None or (_NAMED and _imported(module))


@functools.cache
def _imported(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


class Span:
    """One step as a span: a context manager. ``set_all`` adds attributes, ``label`` labels of its measured duration.

    What ends with an error has its code as ``error.type`` and as the words of its status, nothing else of it.
    """

    __slots__ = (
        "_attributes", "_began", "_began_at", "_context", "_current", "_deferred", "_duration", "_enclosing", "_kind",
        "_labels", "_name", "_span",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        attributes: Attributes,
        *,
        kind: Literal["internal", "client"],
        duration: str | None,
        labels: Labels,
        current: bool,
        deferred: bool,
    ) -> None:
        self._name = name
        self._attributes = attributes
        self._kind = kind
        self._duration = duration
        self._labels = dict(labels)
        self._current = current
        self._deferred = deferred
        self._span: Any = None
        self._context: Any = None
        self._enclosing: Token[Span | None] | None = None
        self._began = self._began_at = 0

    def set_all(self, attributes: Attributes) -> None:
        """Add attributes; one that is None is left out."""
        if self._span is not None:
            self._span.set_attributes({name: value for name, value in attributes.items() if value is not None})

    def label(self, name: str, value: str) -> None:
        """Add a label to the measured duration."""
        self._labels[name] = value

    def __enter__(self) -> Self:
        self._began, self._began_at = time.perf_counter_ns(), time.time_ns()
        if self._deferred:
            self._enclosing = _enclosing.set(self)
        else:
            around = _enclosing.get()
            if around is not None:
                around.begin()
            self.begin()
        return self

    def begin(self) -> None:
        """Begin the span where it has not begun: one that is deferred begins with the first inside it, backdated."""
        if self._span is not None or not _loaded("opentelemetry.trace"):
            return
        from opentelemetry import context, trace

        kind = trace.SpanKind.CLIENT if self._kind == "client" else trace.SpanKind.INTERNAL
        given = {name: value for name, value in self._attributes.items() if value is not None}
        self._span = trace.get_tracer(_SCOPE).start_span(
            self._name, kind=kind, attributes=given, start_time=self._began_at, record_exception=False
        )
        if self._current:
            self._context = context.attach(trace.set_span_in_context(self._span))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        failed = None if error is None or isinstance(error, GeneratorExit) else error_type(error)
        if self._deferred and self._enclosing is not None:
            if failed is not None:
                self.begin()
            _enclosing.reset(self._enclosing)
        if self._duration is not None:
            if failed is not None and "error.type" in INSTRUMENTS[self._duration].labels:
                self._labels["error.type"] = failed
            observe(self._duration, (time.perf_counter_ns() - self._began) / 1e9, self._labels)
        if self._span is not None:
            self._end(failed)

    def _end(self, failed: str | None) -> None:
        if failed is not None:
            from opentelemetry.trace import Status, StatusCode

            self._span.set_attribute("error.type", failed)
            self._span.set_status(Status(StatusCode.ERROR, failed))
        if self._context is not None:
            from opentelemetry import context

            context.detach(self._context)
        self._span.end()


class _Nothing(Span):
    """A step that nobody is told of."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("", {}, kind="internal", duration=None, labels={}, current=False, deferred=False)

    def label(self, name: str, value: str) -> None:
        """Nobody is told."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


_NOTHING = _Nothing()
_enclosing: ContextVar[Span | None] = ContextVar("oraclerag_enclosing", default=None)


def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    kind: Literal["internal", "client"] = "internal",
    duration: str | None = None,
    labels: Labels | None = None,
    current: bool = True,
    deferred: bool = False,
) -> Span:
    """Give the span of a step, to be entered; its ``duration`` is the name of a histogram, with ``labels``.

    ``current``: spans that begin inside it are its children; not for a generator, whose caller goes on between its
    values. ``deferred``: it begins with the first span inside it, or with an error; where there is none, it never was.
    """
    measured = duration is not None and (_listener is not None or _loaded("opentelemetry.metrics"))
    if not measured and not _loaded("opentelemetry.trace"):
        return _NOTHING
    return Span(
        name, attributes or {}, kind=kind, duration=duration, labels=labels or {}, current=current, deferred=deferred
    )


def enclosing() -> Span:
    """Give the deferred span around this call; one of nothing where there is none."""
    return _enclosing.get() or _NOTHING


def spanned(
    name: str,
    *,
    of: Callable[[Any], Attributes] | None = None,
    duration: str | None = None,
    deferred: bool = False,
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make every call of a function a span; ``of`` gives attributes of what it returns, named below the span.

    Those that are labels of its ``duration`` are that too.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            with span(name, duration=duration, deferred=deferred) as current:
                result = function(*args, **kwargs)
                if of is not None and current is not _NOTHING:
                    found = of(result)
                    current.set_all({f"{name}.{attribute}": value for attribute, value in found.items()})
                    if duration is not None:
                        for label in found.keys() & set(INSTRUMENTS[duration].labels):
                            current.label(label, str(found[label]))
                return result

        return called

    return decorate


def step(name: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make every call of a function a step of a worker's batch: a span, and a measured duration."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            with stepping(name):
                return function(*args, **kwargs)

        return called

    return decorate


def stepping(name: str) -> Span:
    """Give a step of a worker's batch, to be entered."""
    return span(f"oraclerag.worker.{name}", duration="oraclerag.worker.step.duration", labels={"step": name})


def error_type(error: BaseException) -> str:
    """Give what an error is called where its message must not be: our code, or the class of what nobody foresaw."""
    return error.code if isinstance(error, OracleRagError) else type(error).__name__
