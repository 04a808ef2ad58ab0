"""Answers from an OpenAI-compatible endpoint that misbehaves in every way: what is raised, what is tried again."""

from __future__ import annotations

import dataclasses
import gc
import json
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from oraclerag import errors, generate
from oraclerag.errors import OracleRagError, ProviderError
from oraclerag.generate.over_http import OverHttp
from tests.unit.fake_llm import (
    DONE,
    EVENTS,
    JSON,
    KEY,
    SECRET,
    FakeLlm,
    Reply,
    completion,
    event,
    fake_llm,
    prompt,
    waits,
)  # fmt: skip


def over_http(server: FakeLlm, sleeps: list[float] | None = None, **options: Any) -> OverHttp:
    values: dict[str, Any] = {"api_key": KEY, "attempts": waits([] if sleeps is None else sleeps)}
    return OverHttp(base_url=server.url, model="m", **values | options)


def _wait(event: threading.Event) -> None:
    event.wait(10)


def test_the_request_is_a_chat_completion_and_the_answer_has_its_numbers() -> None:
    with fake_llm(
        Reply(completion("Because.", usage={"prompt_tokens": 12, "completion_tokens": 3}), headers=JSON)
    ) as server:
        generation = over_http(server, temperature=0.5, max_tokens=7).generate(prompt())
    assert dataclasses.astuple(generation) == ("Because.", "m-1", "stop", 12, 3, "")
    [asked] = server.asked
    assert asked == {
        "path": "/v1/chat/completions", "model": "m", "temperature": 0.5, "max_tokens": 7,
        "messages": prompt().messages,
    }  # fmt: skip
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent() -> None:
    with fake_llm(Reply(completion("x"))) as server:
        over_http(server, api_key=None).generate(prompt())
    assert "authorization" not in server.headers[0]


def test_halves_of_surrogate_pairs_can_be_asked_and_answered() -> None:
    with fake_llm(Reply(rb'{"choices": [{"message": {"content": "\ud83d\ude00 \ud83d"}}]}')) as server:
        generation = over_http(server).generate(prompt("What is \ud800?"))
    assert generation.text == "😀 \ufffd"
    assert "\ufffd" in server.asked[0]["messages"][1]["content"]


@pytest.mark.parametrize(
    ("body", "text", "finish"),
    [
        (completion(None, "content_filter"), "", "content_filter"),
        (completion('{"queries":["a","b', "length"), '{"queries":["a","b', "length"),
        (completion("x", None), "x", None),
        (b'{"choices": [{"message": {"content": null, "refusal": "No."}, "finish_reason": "stop"}]}', "", "refusal"),
        (b'{"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"type": "b"}, 1]}}]}', "a", None),
        (b'{"error": null, "choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": "7"}}', "x", None),
    ],
)
def test_an_answer_that_is_odd_but_one(body: bytes, text: str, finish: str | None) -> None:
    with fake_llm(Reply(body)) as server:
        generation = over_http(server).generate(prompt())
    assert (generation.text, generation.finish, generation.prompt_tokens) == (text, finish, None)


def test_what_must_be_whole_is_not_repaired() -> None:
    with fake_llm(Reply(completion('{"queries":["a","b', "length"))) as server:
        generation = over_http(server).generate(prompt())
    assert generation.truncated
    with pytest.raises(errors.AnswerTruncated) as caught:
        generate.complete(generation)
    assert caught.value.partial == '{"queries":["a","b'
    assert len(server.asked) == 1
    whole = dataclasses.replace(generation, finish="stop")
    assert generate.complete(whole) is whole


REFUSALS: list[tuple[Reply, type[ProviderError], int, str]] = [
    # reply, error, how often it is asked, what the message says
    (Reply(b'{"error":{"code":429,"message":"slow down"}}'), errors.ProviderRateLimited, 4, r"200 \(429\): slow down\."),
    (Reply(b'{"error":{"code":"503","message":"busy"}}'), errors.ProviderUnavailable, 4, "busy"),
    (Reply(b'{"error":"no such model"}'), errors.ProviderRefused, 1, "200: no such model"),
    (Reply(b'[{"error":{"code":400,"status":"INVALID"}}]'), errors.ProviderRefused, 1, "400"),
    (Reply(b'{"object":"error","message":"bad","code":40001}'), errors.ProviderRefused, 1, "40001.*bad"),
    (Reply(b'{"choices":null}'), errors.ProviderAnswerInvalid, 1, "without choices"),
    (Reply(b'{"choices":[]}'), errors.ProviderAnswerInvalid, 1, "without choices"),
    (Reply(b'{"choices":[{}]}'), errors.ProviderAnswerInvalid, 1, "no message"),
    (Reply(b"<html>Sign in</html>"), errors.ProviderAnswerInvalid, 1, "no JSON object"),
    (Reply(b""), errors.ProviderAnswerInvalid, 1, "no JSON object"),
    (Reply(b"[" * 100_000), errors.ProviderAnswerInvalid, 1, "no JSON object"),
    (Reply(b"null"), errors.ProviderAnswerInvalid, 1, "no JSON object"),
    (Reply(b"x" * (16 * 1024 * 1024 + 1)), errors.ProviderAnswerInvalid, 1, "more than 16,777,216 bytes"),
    (Reply(b"<html>", 502), errors.ProviderUnavailable, 4, r"answered 502\."),
    (Reply(b"{}", 500), errors.ProviderUnavailable, 4, "500"),
    (Reply(b"", 408), errors.ProviderUnavailable, 4, "408"),
    (Reply(b"", 429), errors.ProviderRateLimited, 4, "429"),
    (Reply(b'{"error":{"code":"insufficient_quota"}}', 429), errors.ProviderRefused, 1, "insufficient_quota"),
    (Reply(b'{"error":{"type":"insufficient_quota","code":"x"}}', 429), errors.ProviderRefused, 1, "insufficient"),
    (Reply(b'{"error":{"code":"context_length_exceeded"}}', 400), errors.PromptTooLong, 1, "400"),
    (Reply(b"", 413), errors.PromptTooLong, 1, "413"),
    (Reply(b"", 401), errors.ProviderLoginFailed, 1, "401"),
    (Reply(b"", 403), errors.ProviderLoginFailed, 1, "403"),
    (Reply(b'{"detail":"Not Found"}', 404), errors.ProviderRefused, 1, "404: Not Found"),
    (Reply(b'{"detail":[{"input":"x"}]}', 422), errors.ProviderRefused, 1, r"answered 422\."),
    (Reply(b"", 302, {"Location": "https://elsewhere.example/login?x=1"}), errors.ProviderRefused, 1,
     "redirects to elsewhere.example, and no"),
    (Reply(b"", 307, {"Location": "/v1/chat/completions/"}), errors.ProviderRefused, 1, "redirects, and no"),
    (Reply(b"{", cut=True), errors.ProviderUnavailable, 4, "RemoteProtocolError"),
    (Reply(b"not gzip", headers={"Content-Encoding": "gzip"}), errors.ProviderUnavailable, 4, "DecodingError"),
]  # fmt: skip


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("reply", "error", "times", "words"), REFUSALS)
def test_no_answer_is_a_typed_error(
    reply: Reply, error: type[ProviderError], times: int, words: str, streamed: bool
) -> None:
    with fake_llm(reply) as server:
        generator = over_http(server)
        with pytest.raises(error, match=words) as caught:
            list(generator.stream(prompt())) if streamed else generator.generate(prompt())
    assert type(caught.value) is error
    assert len(server.asked) == times
    assert caught.value.partial == ""


def test_the_endpoints_word_and_status_are_kept() -> None:
    body = b'{"error":{"code":"model_not_found","message":"There is no m."}}'
    with fake_llm(Reply(body, 404)) as server, pytest.raises(errors.ProviderRefused) as caught:
        over_http(server).generate(prompt())
    assert (caught.value.status, caught.value.provider_code) == (404, "model_not_found")


def test_nobody_listens() -> None:
    with fake_llm(Reply()) as server:
        pass
    sleeps: list[float] = []
    with pytest.raises(errors.ProviderUnavailable, match="cannot be reached"):
        over_http(server, sleeps).generate(prompt())
    assert sleeps == [0.5, 1.0, 2.0]


def test_an_endpoint_that_says_nothing_is_given_up() -> None:
    held = threading.Event()
    with fake_llm(Reply([b"{"], gate=lambda _: _wait(held))) as server:
        generator = over_http(server, timeout=0.1, attempts=waits([], most=1))
        with pytest.raises(errors.ProviderUnavailable, match=r"in time \(ReadTimeout\)"):
            generator.generate(prompt())
        held.set()


@pytest.mark.parametrize("status", [200, 503])
@pytest.mark.parametrize("streamed", [False, True])
def test_who_writes_too_slowly_is_given_up(status: int, streamed: bool) -> None:
    """The endpoint writes for ever, never silent for long: what is not streamed must be there in time as a whole."""
    ended = threading.Event()

    def slow() -> Iterator[bytes]:
        while not ended.wait(0.02):
            yield b" "

    reply = Reply(b"", status, JSON)
    reply.body = slow()  # is never at its end
    with fake_llm(reply) as server:
        generator = over_http(server, timeout=0.1, attempts=waits([], most=1))
        with pytest.raises(errors.ProviderUnavailable, match="in time"):
            list(generator.stream(prompt())) if streamed else generator.generate(prompt())
        ended.set()


def test_what_fails_twice_is_asked_three_times(caplog: pytest.LogCaptureFixture) -> None:
    sleeps: list[float] = []
    busy = Reply(json.dumps({"error": {"message": f"{KEY} {SECRET}"}}).encode(), 503)
    with fake_llm(busy, busy, Reply(completion("At last."))) as server, caplog.at_level(logging.DEBUG):
        assert over_http(server, sleeps).generate(prompt()).text == "At last."
    assert sleeps == [0.5, 1.0]
    assert [record.__dict__["error_code"] for record in caplog.records if "oraclerag" in record.name] == (
        ["PROVIDER_UNAVAILABLE"] * 2
    )
    assert KEY not in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"Retry-After": "Wed, 21 Oct 2026 07:27:00 GMT"}, 0.0),
        ({"Retry-After": "-1"}, 0.5),
        ({"Retry-After": "abc"}, 0.5),
        ({"Retry-After": "7", "Retry-After-Ms": "1500"}, 1.5),
        ({}, 0.5),
    ],
)
@pytest.mark.parametrize("body", [b'{"error":{"code":429}}', b""])
def test_a_wait_is_what_the_endpoint_asks(headers: dict[str, str], waited: float, body: bytes) -> None:
    """With status 429, and inside HTTP 200; 07:27:30 is now."""
    sleeps: list[float] = []
    with fake_llm(Reply(body, 200 if body else 429, headers), Reply(completion("x"))) as server:
        over_http(server, sleeps, now=lambda: 1792567650.0).generate(prompt())
    assert sleeps == [waited]


def test_who_asks_for_a_day_has_refused() -> None:
    sleeps: list[float] = []
    with (
        fake_llm(Reply(b"", 429, {"Retry-After": "86400"})) as server,
        pytest.raises(errors.ProviderRateLimited) as caught,
    ):
        over_http(server, sleeps).generate(prompt())
    assert (sleeps, len(server.asked), caught.value.retry_after) == ([], 1, 86400.0)
    assert caught.value.hint == "It asks to wait 86,400 seconds; at most 60 are waited."


@pytest.mark.parametrize("streamed", [False, True])
def test_a_parameter_that_a_model_does_not_know_is_left_out_from_then_on(streamed: bool) -> None:
    def refusal(parameter: str, code: str) -> Reply:
        return Reply(json.dumps({"error": {"code": code, "param": parameter, "message": "No."}}).encode(), 400)

    with fake_llm(
        refusal("max_tokens", "unsupported_parameter"),
        refusal("temperature", "unsupported_value"),
        refusal("stream_options", "unknown_parameter"),
        Reply(completion("x"), headers=JSON),
    ) as server:
        generator = over_http(server)
        for _ in range(2):
            answer = "".join(generator.stream(prompt())) if streamed else generator.generate(prompt()).text
            assert answer == "x"
    if streamed:
        assert len(server.asked) == 5
    for asked in server.asked[-2:]:
        assert asked["max_completion_tokens"] == 1024
        assert not asked.keys() & {"max_tokens", "temperature", "stream_options"}


@pytest.mark.parametrize(
    "error",
    [
        {"code": "unsupported_parameter", "param": "messages"},
        {"code": "unsupported_parameter", "param": "max_completion_tokens"},
        {"code": "invalid_value", "param": "temperature"},
        {"code": "unsupported_parameter"},
        {"code": "unsupported_parameter", "param": ["max_tokens"]},
    ],
)
def test_what_cannot_be_left_out_is_refused(error: dict[str, Any]) -> None:
    with fake_llm(Reply(json.dumps({"error": error}).encode(), 400)) as server, pytest.raises(errors.ProviderRefused):
        over_http(server).generate(prompt())
    assert len(server.asked) == 1


def test_who_refuses_a_parameter_again_and_again_is_asked_no_more() -> None:
    body = b'{"error": {"code": "unsupported_parameter", "param": "max_tokens"}}'
    with fake_llm(Reply(body, 400)) as server, pytest.raises(errors.ProviderRefused):
        over_http(server).generate(prompt())
    assert len(server.asked) == 2


# -- streams ----------------------------------------------------------------------------------------------------------

STREAM = event("Señor ") + event("😀") + event(" ok", "stop") + DONE
USAGE = b'data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}\n\n'
STREAMS = {
    "plain": STREAM,
    "crlf": STREAM.replace(b"\n", b"\r\n"),
    "cr": STREAM.replace(b"\n", b"\r"),
    "comments": b": hello\n\n" + STREAM.replace(b"data: ", b": ping\nid: 1\nretry: 5\ndata:"),
    "events without data": STREAM.replace(b"data: ", b"id: 1\n\nevent: ping\n\ndata: "),
    "one event of several lines": STREAM.replace(b'"choices"', b'\ndata: "choices"'),
}


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64, 10_000])
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_cut_at_any_byte_gives_the_same_text(name: str, size: int) -> None:
    with fake_llm(Reply(pieces(STREAMS[name], size), headers=EVENTS)) as server:
        stream = over_http(server).stream(prompt())
        assert "".join(stream) == "Señor 😀 ok"
    assert (stream.generation.text, stream.generation.finish, stream.generation.model) == ("Señor 😀 ok", "stop", "m-1")
    assert server.asked[0]["stream"] is True


def test_separators_of_unicode_end_no_line() -> None:
    """U+2028 and U+0085 are line ends to splitlines, and plain characters of JSON."""
    with fake_llm(Reply(event("a\u2028b\x85c") + DONE, headers=EVENTS)) as server:
        assert list(over_http(server).stream(prompt())) == ["a\u2028b\x85c"]


def test_the_charset_of_the_header_is_not_that_of_the_events() -> None:
    headers = {"Content-Type": "text/event-stream; charset=iso-8859-1"}
    with fake_llm(Reply(STREAM, headers=headers)) as server:
        assert "".join(over_http(server).stream(prompt())) == "Señor 😀 ok"


def test_a_character_in_two_events_is_one() -> None:
    half = [
        b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % part for part in (rb"a\ud83d", rb"\ude00b", rb"\ud83d")
    ]
    with fake_llm(Reply(b"".join(half) + DONE, headers=EVENTS)) as server:
        stream = over_http(server).stream(prompt())
        assert list(stream) == ["a", "😀b"]
    assert stream.generation.text == "a😀b\ufffd"


def test_usage_may_come_behind_the_end_and_null_content_is_an_empty_answer() -> None:
    with fake_llm(Reply(event(None, "length") + event("") + USAGE + DONE, headers=EVENTS)) as server:
        stream = over_http(server).stream(prompt())
        assert list(stream) == []
    assert dataclasses.astuple(stream.generation) == ("", "m-1", "length", 5, 2, "")


def test_a_gateway_that_does_not_stream_is_understood() -> None:
    with fake_llm(Reply(completion("All at once."), headers=JSON)) as server:
        stream = over_http(server).stream(prompt())
        assert list(stream) == ["All at once."]
    assert stream.generation.text == "All at once."


def test_a_piece_is_passed_on_before_the_next_one_is_written() -> None:
    """The endpoint writes a piece only when the one before was seen; buffering would wait for ever."""
    seen = [threading.Event() for _ in range(3)]
    late: list[int] = []

    def gate(number: int) -> None:
        if number and not seen[number - 1].wait(20):
            late.append(number)

    with fake_llm(Reply([event("a"), event("b"), event("c"), DONE], headers=EVENTS, gate=gate)) as server:
        got = []
        for piece in over_http(server).stream(prompt()):
            got.append(piece)
            seen[len(got) - 1].set()
    assert (got, late) == (["a", "b", "c"], [])


BROKEN: list[tuple[bytes, type[ProviderError], str]] = [
    (b"", errors.AnswerInterrupted, "ended before it was complete"),
    (event(" ok", "stop"), errors.AnswerInterrupted, "ended before"),
    (b"data: {\n\n", errors.ProviderAnswerInvalid, "no JSON object"),
    (b'data: {"error":{"code":429,"message":"slow down"}}\n\n', errors.ProviderRateLimited, "slow down"),
    (b'event: error\ndata: {"message":"overloaded","code":529}\n\n', errors.ProviderUnavailable, "overloaded"),
    (b"event: error\ndata: oops\n\n", errors.ProviderRefused, "unknown"),
]


@pytest.mark.parametrize(("rest", "error", "words"), BROKEN)
def test_a_stream_that_breaks_gives_what_had_come(rest: bytes, error: type[ProviderError], words: str) -> None:
    """What was passed on is not taken back: nothing is asked again."""
    with fake_llm(Reply(event("Señor ") + rest, headers=EVENTS)) as server:
        stream = over_http(server).stream(prompt())
        got: list[str] = []
        with pytest.raises(error, match=words) as caught:
            got.extend(stream)
    assert caught.value.partial == "".join(got) == "Señor " + (" ok" if b" ok" in rest else "")
    assert "Señor" not in repr(caught.value)
    assert len(server.asked) == 1
    with pytest.raises(errors.InputError, match="not complete"):
        _ = stream.generation


def test_a_connection_lost_in_the_middle() -> None:
    with (
        fake_llm(Reply(event("Half"), headers=EVENTS, cut=True)) as server,
        pytest.raises(errors.AnswerInterrupted, match="connection was lost") as caught,
    ):
        list(over_http(server).stream(prompt()))
    assert caught.value.partial == "Half"


def test_a_connection_lost_before_any_text_is_no_part_of_an_answer() -> None:
    with fake_llm(Reply(event(""), headers=EVENTS, cut=True)) as server:
        with pytest.raises(errors.ProviderUnavailable, match="RemoteProtocolError"):
            list(over_http(server).stream(prompt()))
        assert len(server.asked) == 4


@pytest.mark.parametrize("broken", [b"", b": ping\n\n", event(None), b'data: {"error":{"code":429}}\n\n'])
def test_a_stream_that_breaks_before_any_text_is_asked_again(broken: bytes) -> None:
    with fake_llm(Reply(broken, headers=EVENTS), Reply(STREAM, headers=EVENTS)) as server:
        assert "".join(over_http(server).stream(prompt())) == "Señor 😀 ok"
    assert len(server.asked) == 2


def test_a_stream_without_choices_is_no_answer() -> None:
    with (
        fake_llm(Reply(USAGE + DONE, headers=EVENTS)) as server,
        pytest.raises(errors.ProviderAnswerInvalid, match="without choices"),
    ):
        list(over_http(server).stream(prompt()))


@pytest.mark.parametrize("how", ["with", "close", "collected"])
def test_who_stops_early_leaves_no_connection(how: str) -> None:
    with fake_llm(Reply(event("a"), headers=EVENTS, waits_for_the_end=True)) as server:
        stream = over_http(server).stream(prompt())
        assert next(stream) == "a"
        assert not server.hung_up.is_set()
        if how == "with":
            with stream:
                pass
        elif how == "close":
            stream.close()
        if how != "collected":
            assert list(stream) == []
        del stream
        gc.collect()
        assert server.hung_up.wait(20)


@pytest.mark.parametrize("before", [b"", event("a")])
def test_who_is_refused_leaves_no_connection(before: bytes) -> None:
    refusal = b'data: {"error":{"code":400}}\n\n'
    with fake_llm(Reply(before + refusal, headers=EVENTS, waits_for_the_end=True)) as server:
        stream = over_http(server).stream(prompt())
        with pytest.raises(errors.ProviderRefused) as caught:
            list(stream)
        assert caught.value.__traceback__ is not None  # which holds the frames, so nothing is merely collected
        assert server.hung_up.wait(20)


# -- what is never said -----------------------------------------------------------------------------------------------


def test_key_and_texts_are_in_no_message_and_no_repr() -> None:
    body = json.dumps({"error": {"code": f"bad {KEY}", "message": f"Wrong key {KEY}, try another."}})
    quoting = json.dumps({"error": {"message": f"Cannot tokenize: {SECRET}"}})
    with fake_llm(Reply(body.encode(), 401), Reply(quoting.encode(), 400)) as server:
        generator = over_http(server)
        with pytest.raises(errors.ProviderLoginFailed) as caught:
            generator.generate(prompt())
        assert str(caught.value) == "The endpoint answered 401 (bad [key]): Wrong key [key], try another."
        assert KEY not in repr(caught.value) + repr(vars(caught.value)) + repr(generator)
        with pytest.raises(errors.ProviderRefused) as refused:
            generator.generate(prompt())
    assert str(refused.value) == "The endpoint answered 400: (its message repeats the request and is not shown)."


@pytest.mark.parametrize("key", ["", "a b", "a\nb", "clé", "a\x7fb"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(key: str) -> None:
    with pytest.raises(OracleRagError, match="printable ASCII") as caught:
        OverHttp(base_url="http://h/v1", model="m", api_key=key)
    assert not key or key not in str(caught.value)


def test_a_text_for_this_machine_passes_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with fake_llm(Reply(completion("Here."))) as server:
        assert over_http(server).generate(prompt()).text == "Here."


def test_the_default_clock_is_that_of_the_day() -> None:
    assert OverHttp(base_url="http://h/v1", model="m").now is time.time
