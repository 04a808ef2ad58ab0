"""Steps as spans, whose durations may be measured too."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar

from oraclerag.errors import OracleRagError
from oraclerag.telemetry.api import SCOPE, exports
from oraclerag.telemetry.instruments import INSTRUMENTS, Labels, heard, observe

__all__ = ["Attributes", "Span", "enclosing", "error_type", "span", "spanned", "step", "stepping"]

Attributes = Mapping[str, str | int | float | bool | list[str] | None]

P = ParamSpec("P")
T = TypeVar("T")


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
        if self._span is not None or not exports("opentelemetry.trace"):
            return
        from opentelemetry import context, trace

        kind = trace.SpanKind.CLIENT if self._kind == "client" else trace.SpanKind.INTERNAL
        given = {name: value for name, value in self._attributes.items() if value is not None}
        self._span = trace.get_tracer(SCOPE).start_span(
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
    if not (duration is not None and heard()) and not exports("opentelemetry.trace"):
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
