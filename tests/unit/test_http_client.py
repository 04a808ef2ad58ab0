"""Addresses, waits and messages of the client for HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.errors import ProviderError, ProviderRateLimited, ProviderUnavailable
from oraclerag.http_client import Attempts, Unsaid, client, failure, is_loopback, retry_after
from oraclerag.log import escaped


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:11434/v1", True),
        ("HTTPS://LOCALHOST/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://127.255.3.4/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://128.0.0.1/v1", False),
        ("http://0.0.0.0/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://[::2]/v1", False),
        ("http://localhost.example/v1", False),
        ("http://127.0.0.1.example/v1", False),
        ("http://example.com/localhost", False),
        ("http://localhost@example.com/v1", False),
        ("http:///v1", False),
    ],
)
def test_what_is_on_this_machine(url: str, local: bool) -> None:
    assert is_loopback(url) is local


NOW = 1792567650.0  # Wed, 21 Oct 2026 07:27:30 GMT


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("86400", 86400.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 30.0),
        ("Wednesday, 21-Oct-26 07:28:00 GMT", 30.0),
        ("Wed Oct 21 07:28:00 2026", 30.0),
        ("Wed, 21 Oct 2026 09:28:00 +0200", 30.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("", None),
        ("-1", None),
        ("abc", None),
        ("1e9", None),
        ("nan", None),
        ("inf", None),
        ("1_0", None),
        ("٣", None),
        ("7, 8", None),
        ("Wed, 99 Oct 2026 07:28:00 GMT", None),
    ],
)
def test_every_form_of_retry_after(text: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": text}, NOW) == seconds


def test_milliseconds_win_where_they_are_any() -> None:
    assert retry_after({"retry-after": "7", "retry-after-ms": "250"}, NOW) == 0.25
    assert retry_after({"retry-after": "7", "retry-after-ms": "abc"}, NOW) == 7.0
    assert retry_after({}, NOW) is None


@given(st.text(max_size=40) | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,6} \d+:\d+:\d+ \S*"))
def test_no_retry_after_raises(text: str) -> None:
    seconds = retry_after({"retry-after": text}, NOW)
    assert seconds is None or 0 <= seconds < float("inf")


def test_waits_grow_to_the_longest_and_are_never_below_a_half() -> None:
    slept: list[float] = []

    def fails() -> None:
        raise ProviderUnavailable

    for chance in (0.0, 1.0):
        with pytest.raises(ProviderUnavailable):
            Attempts(most=6, longest=5.0, sleep=slept.append, chance=lambda chance=chance: chance).call(fails)  # type: ignore[misc]
    assert slept == [0.5, 1.0, 2.0, 2.5, 2.5, 1.0, 2.0, 4.0, 5.0, 5.0]


def test_what_is_none_of_its_errors_is_tried_once() -> None:
    tried: list[int] = []

    def fails() -> None:
        tried.append(1)
        raise KeyError("x")

    with pytest.raises(KeyError):
        Attempts(sleep=lambda _: None).call(fails)
    assert len(tried) == 1


def test_the_longest_wait_is_still_waited() -> None:
    slept: list[float] = []

    def fails() -> None:
        raise ProviderRateLimited(retry_after=60.0)

    with pytest.raises(ProviderRateLimited):
        Attempts(most=2, sleep=slept.append).call(fails)
    assert slept == [60.0]


def test_redirects_are_not_followed_and_the_proxy_of_the_environment_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    with client("https://example.com/v1", timeout=1.0) as made:
        assert made.follow_redirects is False
        with pytest.raises(httpx.ConnectError, match=r"refused"):
            made.get("https://example.com/v1")  # goes to the proxy, where nobody listens


@given(st.text(max_size=350), st.text(max_size=60))
def test_a_message_is_one_line_without_the_secret(before: str, behind: str) -> None:
    """Also where it is cut, which may be in the middle of the secret."""
    said = Unsaid(secrets=("sk-hunter2",)).said(f"{before}sk-hunter2{behind}")
    assert "hunter" not in said
    assert escaped(said) == said


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Input: Why is it so?", False),
        ("Cannot read 'The invoice of Acme\n stays unpaid'", False),
        ("The invoice of nobody", True),
        ("no", True),
    ],
)
def test_a_message_that_quotes_what_was_sent_is_left_out(message: str, shown: bool) -> None:
    said = Unsaid(texts=("Why is it so?", "no", "The invoice of Acme stays unpaid.")).said(message)
    assert said == (message if shown else "(its message repeats the request and is not shown)")


def test_a_code_is_cut_behind_what_is_blotted_out() -> None:
    tree = {"error": {"code": "x" * 52 + "sk-hunter2", "param": "y" * 52 + "sk-hunter2"}}
    error = failure(400, {}, tree, unsaid=Unsaid(secrets=("sk-hunter2",)))
    assert "sk-" not in f"{error} {error.provider_code} {error.parameter}"


def test_spent_money_is_not_waited_for() -> None:
    error = failure(429, {}, {"error": {"code": "insufficient_quota"}}, unsaid=Unsaid())
    assert (error.retryable, error.hint) == (False, "The account of the endpoint has nothing left to spend.")


def test_a_body_in_any_shape_is_an_error_of_ours() -> None:
    trees: list[Any] = [None, [], {}, 5, "x", [5], {"error": []}, {"error": 5}, {"error": {"code": [], "message": {}}}]
    for tree in trees:
        error = failure(503, {}, tree, unsaid=Unsaid())
        assert isinstance(error, ProviderError)
        assert str(error) == "The endpoint answered 503."
