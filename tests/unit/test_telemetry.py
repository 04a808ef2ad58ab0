"""Spans and measurements: what a program that exports is given, and that nobody else pays for it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator as Pieces

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import StatusCode

from oraclerag import telemetry
from oraclerag.errors import ConnectionFailed
from oraclerag.generate.traced import called, read
from oraclerag.records import Generation
from oraclerag.telemetry.instruments import Labels
from tests.otel import Exported, exported

__all__ = ["exported"]

SECRET = "the text of nobody's business"


def test_a_span_has_its_attributes_and_is_the_parent_of_those_inside(exported: Exported) -> None:
    with telemetry.span("outer", {"kept": 1, "left out": None}) as span:
        span.set_all({"later": "x", "nothing": None})
        with telemetry.span("inner", kind="client"):
            pass
    outer, inner = exported.one("outer"), exported.one("inner")
    assert dict(outer.attributes or {}) == {"kept": 1, "later": "x"}
    assert exported.children(outer) == ["inner"]
    assert inner.kind is trace.SpanKind.CLIENT
    assert inner.instrumentation_scope is not None
    assert inner.instrumentation_scope.name == "oraclerag"
    assert trace.get_current_span() is trace.INVALID_SPAN


@pytest.mark.parametrize(
    ("error", "code"), [(ConnectionFailed(SECRET), "CONNECTION_FAILED"), (KeyError(SECRET), "KeyError")]
)
def test_an_error_is_known_by_its_code_alone(error: Exception, code: str, exported: Exported) -> None:
    with pytest.raises(type(error)), telemetry.span("step"):
        raise error
    span = exported.one("step")
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, code)
    assert dict(span.attributes or {}) == {"error.type": code}
    assert not span.events, "an exception would be recorded with its message"
    assert SECRET not in exported.everything()


def test_a_deferred_span_is_only_where_something_is_in_it(exported: Exported) -> None:
    with telemetry.span("batch", deferred=True):
        telemetry.enclosing().set_all({"too": "early"})
    assert not exported.spans
    with telemetry.span("batch", deferred=True):
        with telemetry.span("claim"):
            pass
        telemetry.enclosing().set_all({"rows": 2})
        with telemetry.span("read"):
            pass
    batch = exported.one("batch")
    assert exported.children(batch) == ["claim", "read"]
    assert dict(batch.attributes or {}) == {"rows": 2}
    claim = exported.one("claim")
    assert batch.start_time is not None
    assert claim.start_time is not None
    assert batch.start_time <= claim.start_time
    exported.clear()
    with pytest.raises(ConnectionFailed), telemetry.span("batch", deferred=True):
        raise ConnectionFailed
    assert exported.one("batch").status.description == "CONNECTION_FAILED"
    telemetry.enclosing().set_all({"outside": 1})  # there is none any more


def test_what_is_measured_reaches_the_program_and_a_listener(exported: Exported) -> None:
    heard: list[tuple[str, str, float, dict[str, str]]] = []

    class Listening:
        def add(self, name: str, amount: float, labels: Labels) -> None:
            heard.append(("add", name, amount, dict(labels)))

        def observe(self, name: str, value: float, labels: Labels) -> None:
            heard.append(("observe", name, value, dict(labels)))

    with telemetry.listening(Listening()):
        telemetry.add("oraclerag.worker.failures", error_type="ENTITY", scope="entity")
        telemetry.add("oraclerag.worker.tokens", 0)
        with telemetry.stepping("read"):
            pass
    telemetry.add("oraclerag.worker.tokens", 3)
    [(_, _, seconds, labels)] = [one for one in heard if one[0] == "observe"]
    assert labels == {"step": "read"}
    assert seconds >= 0
    added = ("add", "oraclerag.worker.failures", 1, {"error.type": "ENTITY", "scope": "entity"})
    assert [one for one in heard if one[0] == "add"] == [added]
    [(labelled, _)] = exported.points("oraclerag.worker.failures").items()
    assert dict(labelled) == {"error.type": "ENTITY", "scope": "entity"}
    [point] = exported.points("oraclerag.worker.tokens").values()
    assert point.value == 3
    with pytest.raises(KeyError, match="tenant is no label"):
        telemetry.add("oraclerag.worker.tokens", tenant="acme")


def _pieces(*pieces: str, error: Exception | None = None) -> Pieces[str, None, Generation]:
    yield from pieces
    if error is not None:
        raise error
    return Generation(SECRET, "m-2026", finish="a word of theirs", prompt_tokens=7, answer_tokens=2)


def test_a_call_of_a_language_model_is_told_as_the_conventions_have_it(exported: Exported) -> None:
    answer = called("openai", "m", lambda: Generation(SECRET, "m-2026", prompt_tokens=7, answer_tokens=2))
    assert answer.text == SECRET
    span = exported.one("chat m")
    assert span.kind is trace.SpanKind.CLIENT
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.request.stream": False,
        "gen_ai.response.model": "m-2026",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 2,
    }
    tokens = exported.points("gen_ai.client.token.usage")
    assert sorted(point.sum for point in tokens.values()) == [2, 7]
    assert [point.count for point in exported.points("gen_ai.client.operation.duration").values()] == [1]
    assert SECRET not in exported.everything()


def test_a_stream_is_a_span_until_its_end_and_leaks_into_nobody(exported: Exported) -> None:
    stream = read("openai", "m", _pieces("a", "b"))
    assert next(stream) == "a"
    assert trace.get_current_span() is trace.INVALID_SPAN, "the reader's spans are not the model's"
    assert not exported.spans
    assert list(stream) == ["b"]
    assert (exported.one("chat m").attributes or {})["gen_ai.response.finish_reasons"] == ("other",)
    exported.clear()
    stream = read("openai", "m", _pieces("a", "b"))
    next(stream)
    stream.close()
    assert exported.one("chat m").status.status_code is StatusCode.UNSET, "who stops reading has no error"
    exported.clear()
    with pytest.raises(ConnectionFailed):
        list(read("openai", "m", _pieces("a", error=ConnectionFailed(SECRET))))
    assert exported.one("chat m").status.description == "CONNECTION_FAILED"


def test_the_answer_of_an_endpoint_names_a_model_or_nothing(exported: Exported) -> None:
    called("openai", "m", lambda: Generation("", f"{SECRET}: its name"))
    assert "gen_ai.response.model" not in (exported.one("chat m").attributes or {})


def test_without_a_program_that_exports_nothing_is_imported_or_made() -> None:
    """``oraclerag --help`` and who has no OpenTelemetry pay nothing for it; where it is blocked nothing fails."""
    code = """
import sys
sys.modules["opentelemetry"] = None
from oraclerag import telemetry
with telemetry.span("a", {"b": 1}, duration="oraclerag.ask.duration") as span, telemetry.stepping("read") as step:
    span.set_all({"c": 1}); span.label("outcome", "x")
telemetry.add("oraclerag.worker.tokens", 2)
assert span is step, "one object stands for nothing"
del sys.modules["opentelemetry"]
with telemetry.span("a"): telemetry.observe("oraclerag.ask.duration", 1.0, {})
print(*[name for name in sys.modules if name.startswith("opentelemetry")])
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []


def test_the_api_alone_which_other_libraries_import_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", None)
    monkeypatch.setattr("opentelemetry.metrics._internal._METER_PROVIDER", None)
    span = telemetry.span("a", duration="oraclerag.ask.duration")
    assert span is telemetry.span("b"), "one object stands for nothing"
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", TracerProvider(shutdown_on_exit=False))
    assert telemetry.span("a") is not span
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", None)
    monkeypatch.setattr("opentelemetry.metrics._internal._METER_PROVIDER", MeterProvider(shutdown_on_exit=False))
    assert telemetry.span("a", duration="oraclerag.ask.duration") is not span
    assert telemetry.span("b") is span, "what has no duration is not measured"


def test_instruments_are_named_and_labelled_alike() -> None:
    for name, one in telemetry.INSTRUMENTS.items():
        assert name == one.name
        assert one.about.endswith(".")
        assert (one.unit == "s") == name.endswith("duration")
        assert not one.values or len(one.labels) == 1
