"""OpenTelemetry for tests: what a program's exporters would be given, kept in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from oraclerag.telemetry import instruments


class Exported:
    """The spans and measurements of a test, in the order in which they ended."""

    def __init__(self, exporter: InMemorySpanExporter, reader: InMemoryMetricReader) -> None:
        self._exporter = exporter
        self._reader = reader

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        [span] = self.named(name)
        return span

    def children(self, span: ReadableSpan) -> list[str]:
        assert span.context is not None
        inside = [one for one in self.spans if one.parent is not None and one.parent.span_id == span.context.span_id]
        return [one.name for one in sorted(inside, key=lambda one: one.start_time or 0)]

    def clear(self) -> None:
        self._exporter.clear()

    def points(self, name: str) -> dict[tuple[tuple[str, Any], ...], Any]:
        """Give the data points of an instrument by their attributes."""
        data = self._reader.get_metrics_data()
        found: dict[tuple[tuple[str, Any], ...], Any] = {}
        for resource in data.resource_metrics if data is not None else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    if metric.name == name:
                        found |= {tuple(sorted((p.attributes or {}).items())): p for p in metric.data.data_points}
        return found

    def everything(self) -> str:
        """Give all words that leave the process, as one text; ids and times, which are made up of any digits, are none."""
        told = [
            repr((span.name, dict(span.attributes or {}), span.status.description, span.events, span.links))
            for span in self.spans
        ]
        for name in instruments.INSTRUMENTS:
            told += [f"{name} {labels}" for labels in self.points(name)]
        return "\n".join(told)


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[Exported]:
    """A program that exports; the providers of the process are those again at the end."""
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers = TracerProvider(shutdown_on_exit=False)
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    meters = MeterProvider([reader], shutdown_on_exit=False)
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", tracers)
    monkeypatch.setattr("opentelemetry.metrics._internal._METER_PROVIDER", meters)
    instruments._instrument.cache_clear()
    yield Exported(exporter, reader)
    instruments._instrument.cache_clear()
    tracers.shutdown()
    meters.shutdown()
