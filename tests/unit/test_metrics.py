"""The page of metrics: its format, what it counts, and that nobody who asks for it does harm."""

from __future__ import annotations

import contextlib
import itertools
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oraclerag import telemetry
from oraclerag.cli.worker_metrics import Metrics
from oraclerag.config import Settings
from oraclerag.errors import ConfigurationError, ConnectionFailed
from oraclerag.metrics import Address, Page
from oraclerag.metrics import server as serving_module
from oraclerag.metrics.exposition import Family, Sample, written
from oraclerag.metrics.recorder import BOUNDS, Recorder
from oraclerag.metrics.refreshed import Reading, Refreshed
from oraclerag.metrics.server import serving

_LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"'
_LINE = re.compile(rf"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{{({_LABEL}(?:,{_LABEL})*)\}})? (NaN|[+-]Inf|[-+0-9.e]+)")


def parsed(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Read a page as Prometheus does: every line is a comment or a sample, every sample is of the family before it."""
    found = {}
    family = kind = ""
    assert text.endswith("\n")
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            continue
        if line.startswith("# TYPE "):
            assert line.split(" ")[2] == family
            kind = line.split(" ")[3]
            continue
        match = _LINE.fullmatch(line)
        assert match is not None, line
        suffixes = ("_bucket", "_sum", "_count") if kind == "histogram" else ("",)
        assert match[1] in {family + suffix for suffix in suffixes}
        labels = re.findall(r'([a-zA-Z0-9_]+)="((?:[^"\\]|\\.)*)"', match[2] or "")
        plain = tuple(
            (name, re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], value)) for name, value in labels
        )
        assert (match[1], plain) not in found, "a sample stands there once"
        found[match[1], plain] = float(match[3])
    return found


@example('"quoted", \\n and\n', 1.0, "of two\nlines \\")
@given(st.text(), st.floats(), st.text())
def test_any_label_value_and_number_is_read_as_it_was_written(text: str, value: float, about: str) -> None:
    page = written([Family("a", "gauge", about, (Sample(value, {"source": text}),))])
    [((name, labels), number)] = parsed(page).items()
    assert (name, labels) == ("a", (("source", text),))
    assert number == value or (number != number and value != value)


def test_a_recorder_counts_from_zero_and_adds_up_buckets() -> None:
    recorder = Recorder()
    with telemetry.listening(recorder):
        telemetry.add("oraclerag.worker.entities", 2, outcome="indexed")
        telemetry.add("oraclerag.worker.failures", error_type="ENTITY", scope="entity")
        telemetry.observe("oraclerag.worker.step.duration", 0.02, {"step": "read"})
        telemetry.observe("oraclerag.worker.step.duration", 0.025, {"step": "read"})
        telemetry.observe("oraclerag.worker.step.duration", 1000.0, {"step": "read"})
        telemetry.observe("oraclerag.search.duration", 1.0, {"plan": "exact"})  # not a worker's
    found = parsed(written(recorder.families()))
    assert found["oraclerag_worker_entities_total", (("outcome", "indexed"),)] == 2
    assert found["oraclerag_worker_entities_total", (("outcome", "given_up"),)] == 0
    assert found["oraclerag_worker_failures_total", (("error_type", "ENTITY"), ("scope", "entity"))] == 1
    assert found["oraclerag_worker_tokens_total", ()] == 0
    name = "oraclerag_worker_step_duration_seconds"
    read = {
        dict(labels)["le"]: value
        for (n, labels), value in found.items()
        if n == f"{name}_bucket" and ("step", "read") in labels
    }
    assert list(read.values()) == sorted(read.values())
    assert (read["0.01"], read["0.025"], read["300.0"], read["+Inf"]) == (0, 2, 2, 3)
    assert len(read) == len(BOUNDS) + 1
    assert found[f"{name}_count", (("step", "read"),)] == 3
    assert found[f"{name}_sum", (("step", "read"),)] == pytest.approx(1000.045)
    assert found[f"{name}_count", (("step", "embed"),)] == 0
    assert not [name for name, _ in found if "search" in name]


def test_the_page_says_what_the_worker_does() -> None:
    now = [1000.0]
    page = Page(Settings(par_expires_at="2027-01-01T00:00:00Z"), version="1.2", clock=lambda: now[0])
    found = parsed(page.text())
    assert found["oraclerag_build_info", (("version", "1.2"),)] == 1
    assert found["oraclerag_worker_state", (("state", "starting"),)] == 1
    assert found["oraclerag_par_expiry_timestamp_seconds", ()] == 1798761600
    assert ("oraclerag_worker_last_success_timestamp_seconds", ()) not in found
    now[0] = 1010.0
    page.looked(worked=True)
    page.beat("working")
    now[0] = 1020.0
    page.looked(worked=False)
    page.beat("idle")
    found = parsed(page.text())
    assert found["oraclerag_worker_state", (("state", "idle"),)] == 1
    assert sum(value for (name, _), value in found.items() if name == "oraclerag_worker_state") == 1
    assert found["process_start_time_seconds", ()] == 1000
    assert found["oraclerag_worker_last_beat_timestamp_seconds", ()] == 1020
    assert found["oraclerag_worker_last_success_timestamp_seconds", ()] == 1020
    assert found["oraclerag_worker_last_batch_timestamp_seconds", ()] == 1010
    assert ("oraclerag_par_expiry_timestamp_seconds", ()) not in parsed(Page(Settings()).text())


# -- figures ----------------------------------------------------------------------------------------------------------


def test_figures_are_read_once_an_interval_however_often_somebody_asks() -> None:
    now, reads = [0.0], iter(range(1, 99))
    made: Refreshed[int] = Refreshed(lambda: next(reads), 15.0, patience=30.0, clock=lambda: now[0])
    assert [made.look().value for _ in range(3)] == [1, 1, 1]
    now[0] = 14.9
    assert made.look().value == 1
    now[0] = 15.0
    assert made.look().value == 2


def test_figures_that_take_long_keep_nobody_waiting_and_are_asked_for_once() -> None:
    go, begun, reads = threading.Event(), threading.Event(), []

    def read() -> int:
        reads.append(1)
        begun.set()
        go.wait(30)
        return 7

    made: Refreshed[int] = Refreshed(read, 0.0, patience=0.0)
    assert [made.look() for _ in range(3)] == [Reading()] * 3
    assert begun.wait(30)
    assert len(reads) == 1
    go.set()
    assert made.ended(30)
    assert made.look().value == 7


def test_after_the_end_nothing_is_read_any_more() -> None:
    reads: list[int] = []
    made: Refreshed[None] = Refreshed(lambda: reads.append(1), 0.0)
    made.close()
    assert made.ended(0)
    assert made.look() == Reading()
    assert not reads


def test_figures_that_cannot_be_read_are_said_once(caplog: pytest.LogCaptureFixture) -> None:
    answers: list[Any] = [1, ConnectionFailed(), ValueError("the text of a row"), 2]
    now = [0.0]

    def read() -> int:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return int(answer)

    made: Refreshed[int] = Refreshed(read, 1.0, patience=30.0, clock=lambda: now[0])
    seen = []
    for _ in range(4):
        reading = made.look()
        seen.append((reading.value, reading.good))
        now[0] += 1.0
    assert seen == [(1, True), (1, False), (1, False), (2, True)]
    said = [record for record in caplog.records if getattr(record, "action", "") == "unread"]
    assert [getattr(record, "error_code", None) for record in said] == ["CONNECTION_FAILED"]
    assert "text of a row" not in caplog.text


# -- the port ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def page_at(page: Callable[[], str] = lambda: "a 1\n") -> Iterator[Address]:
    with serving(page, Address("127.0.0.1", 0)) as address:
        yield address


def connected(address: Address) -> socket.socket:
    return socket.create_connection((address.host, address.port), timeout=20)


def answer(address: Address, request: bytes) -> str:
    with connected(address) as asked:
        asked.sendall(request)
        return rest(asked)


def rest(asked: socket.socket) -> str:
    """Read until the server ends the connection."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while piece := asked.recv(65536):
            found += piece
    return found.decode()


def test_the_page_is_there_for_who_asks_as_prometheus_does() -> None:
    with page_at() as address:
        text = answer(
            address,
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text;version=1.0.0,*/*\r\n\r\n",
        )
        head, _, body = text.partition("\r\n\r\n")
        assert head.splitlines()[0] == "HTTP/1.1 200 OK"
        assert "Content-Type: text/plain; version=0.0.4; charset=utf-8" in head.splitlines()
        assert "Content-Length: 4" in head
        assert body == "a 1\n"
        head, _, body = answer(address, b"HEAD /metrics?x=1 HTTP/1.0\r\n\r\n").partition("\r\n\r\n")
        assert "200 OK" in head
        assert (body, "Content-Length: 4" in head) == ("", True)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 404),
        (b"GET /metrics/../etc/passwd HTTP/1.1\r\n\r\n", 404),
        (b"POST /metrics HTTP/1.1\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000, 405),
        (b"DELETE /metrics HTTP/1.1\r\n\r\n", 405),
        (b"GET /metrics\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400),
        (b"GET /metrics FTP/1.1\r\n\r\n", 400),
        (b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n", 431),
        (b"GET /" + b"a" * 100_000, 431),
    ],
)
def test_other_requests_are_refused(request_: bytes, status: int) -> None:
    with page_at() as address:
        assert answer(address, request_).startswith(f"HTTP/1.1 {status} ")
        assert "200 OK" in answer(address, b"GET /metrics HTTP/1.1\r\n\r\n"), "and the next one is answered"


def test_who_hangs_up_early_is_no_news(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(serving_module, "_BETWEEN", 0.0)
    with page_at() as address:
        for _ in range(50):
            with connected(address) as asked:
                asked.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
                asked.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # by a reset
        assert "200 OK" in answer(address, b"GET /metrics HTTP/1.1\r\n\r\n")
    assert {getattr(record, "action", record.getMessage()) for record in caplog.records} <= {"serving"}


def test_who_sends_slowly_keeps_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_module, "_BETWEEN", 0.0)
    with page_at() as address, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(connected(address)) for _ in range(3 * serving_module._MOST)]
        for one in slow:
            one.sendall(b"GET /metrics HT")
        assert "200 OK" in answer(address, b"GET /metrics HTTP/1.1\r\n\r\n")
        assert rest(slow[0]) == "", "the oldest was closed"


def test_who_sends_nothing_is_left_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_module, "_SECONDS", 0.05)
    with page_at() as address, connected(address) as silent, connected(address) as half:
        half.sendall(b"GET /metrics HTTP/1.1\r\nHost")
        assert rest(silent) == rest(half) == ""


def test_a_page_that_cannot_be_written_ends_a_request_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    answers = iter([None, None, None, "a 2\n"])

    def page() -> str:
        found = next(answers)
        if found is None:
            raise ValueError("the text of a row")
        return found

    with page_at(page) as address:
        for _ in range(3):
            assert answer(address, b"GET /metrics HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 500 ")
        assert answer(address, b"GET /metrics HTTP/1.1\r\n\r\n").endswith("a 2\n")
    assert "text of a row" not in caplog.text
    assert len([record for record in caplog.records if getattr(record, "action", "") == "crashed"]) == 1


@pytest.mark.parametrize(("good", "written_"), [(3600.0, 1), (0.0, 5)])
def test_a_page_is_handed_out_again_while_it_is_good(
    good: float, written_: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_module, "_GOOD", good)
    pages = itertools.count(1)
    with page_at(lambda: f"a {next(pages)}\n") as address:
        texts = [answer(address, b"GET /metrics HTTP/1.1\r\n\r\n") for _ in range(5)]
    assert len(set(texts)) == written_


def test_a_port_that_is_taken_is_said() -> None:
    with page_at() as address, pytest.raises(ConfigurationError, match=r"Nobody can listen at 127\.0\.0\.1 port \d+:"):  # noqa: SIM117
        with serving(str, address):
            pass
    with pytest.raises(ConfigurationError, match=r"Nobody can listen at no\.such\.host\.invalid port 1"):  # noqa: SIM117
        with serving(str, Address("no.such.host.invalid", 1)):
            pass
    with page_at() as address, serving(str, Address("::1", 0)) if socket.has_ipv6 else contextlib.nullcontext() as six:
        assert address.port
        assert six is None or str(six).startswith("http://[::1]:")


def test_several_processes_have_a_port_each() -> None:
    import typer

    metrics = Metrics(9464, "0.0.0.0", 60.0).for_each(2)
    assert metrics.options(1) == ["--metrics-port=9464", "--metrics-host=0.0.0.0", "--metrics-coverage=60.0"]
    assert metrics.options(2) == ["--metrics-port=9465", "--metrics-host=0.0.0.0", "--metrics-coverage=0"]
    assert Metrics().for_each(64).options(1) == []
    with pytest.raises(typer.BadParameter, match="65536"):
        Metrics(65535).for_each(2)
