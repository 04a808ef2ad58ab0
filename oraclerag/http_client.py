"""HTTP as the toolkit speaks it: a client, one table that maps what comes back to errors, and what is tried again.

A redirect is an error: whoever is asked is whom the settings name, and nobody else is sent a text or a key. Proxies and
certificates are taken from the environment as httpx does, except that what is on this machine is reached directly.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import email.utils
import functools
import ipaddress
import json
import logging
import math
import random
import re
import ssl
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from oraclerag import log
from oraclerag.errors import (
    ConfigurationError,
    PromptTooLong,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderLoginFailed,
    ProviderRateLimited,
    ProviderRefused,
    ProviderUnavailable,
)

if TYPE_CHECKING:  # who embeds and answers in the database sends no request, and both take long to import
    import httpx
    import tenacity

__all__ = [
    "MAX_BODY",
    "Attempts",
    "Unsaid",
    "body",
    "checked_key",
    "class_of",
    "client",
    "failure",
    "failure_inside",
    "is_loopback",
    "posted",
    "retry_after",
    "transport",
    "tree_of",
]

MAX_BODY = 16 * 1024 * 1024
"""The most bytes of an answer that are read."""

_LOGGER = logging.getLogger(__name__)
_CONNECT = 10.0  # seconds; whoever listens answers sooner, however long an answer takes to write
_LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))

T = TypeVar("T")

# The one table. A status that is not here: 5xx is the endpoint's own failure, everything else a refusal.
_BY_STATUS: Mapping[int, type[ProviderError]] = MappingProxyType(
    {
        401: ProviderLoginFailed,
        403: ProviderLoginFailed,
        407: ProviderLoginFailed,
        408: ProviderUnavailable,
        409: ProviderUnavailable,  # a lock that was waited for
        413: PromptTooLong,
        425: ProviderUnavailable,
        429: ProviderRateLimited,
    }
)
# What endpoints say in the body is closer than the status: spent money comes as 429, and waiting does not help.
_BY_CODE: Mapping[str, type[ProviderError]] = MappingProxyType(
    {
        "context_length_exceeded": PromptTooLong,
        "insufficient_quota": ProviderRefused,
        "invalid_api_key": ProviderLoginFailed,
        "overloaded_error": ProviderUnavailable,
        "rate_limit_exceeded": ProviderRateLimited,
        "server_error": ProviderUnavailable,
    }
)
_HINTS = {"insufficient_quota": "The account of the endpoint has nothing left to spend."}


def is_loopback(url: str) -> bool:
    """Whether an address is this machine: ``localhost``, 127.0.0.0/8 or ::1. No name is looked up."""
    host = urllib.parse.urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in _LOOPBACK)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Give what certificates are checked against; reading them takes longer than the rest of a client."""
    import httpx

    return httpx.create_ssl_context()


def client(url: str, *, timeout: float, headers: Mapping[str, str] | None = None) -> httpx.Client:
    """Give a client for one address; ``timeout`` is in seconds, for each read. Whoever takes it closes it."""
    import httpx

    mounts: dict[str, httpx.BaseTransport | None] = {}
    if is_loopback(url):
        host = urllib.parse.urlsplit(url).hostname or ""
        mounts[f"all://[{host}]" if ":" in host else f"all://{host}"] = None  # past the proxy of the environment
    return httpx.Client(
        headers=dict(headers or {}),
        timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECT)),
        follow_redirects=False,
        mounts=mounts,
        verify=_certificates(),
    )


def checked_key(key: str | None, what: str) -> str | None:
    """Give the key for ``what`` back. Raises ConfigurationError, which does not repeat it, for what no header holds."""
    if key is not None and not (key.isascii() and key.isprintable() and key and " " not in key):
        raise ConfigurationError(f"The key for {what} must be printable ASCII without blanks.")
    return key


@contextlib.contextmanager
def posted(
    client: httpx.Client,
    url: str,
    asked: Any,
    *,
    key: str | None,
    unsaid: Unsaid,
    now: float | None = None,
    accept: str = "application/json",
    until: float | None = None,
    auth: httpx.Auth | None = None,
) -> Iterator[httpx.Response]:
    """Post JSON; gives the head of a 200, its body is read inside the block. Raises ProviderError for anything else.

    ``auth`` says who asks where that is no ``key``.
    """
    import httpx

    headers = {"Accept": accept}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    with client.stream("POST", url, json=asked, headers=headers, auth=auth) as response:
        if response.status_code != httpx.codes.OK:
            tree = tree_of(body(response, until=until))
            raise failure(response.status_code, response.headers, tree, unsaid=unsaid, now=now)
        yield response


def tree_of(data: bytes | str) -> Any:
    """Read JSON; None where it is none, such as the page of a proxy."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def body(response: httpx.Response, *, until: float | None = None) -> bytes:
    """Read an answer to its end. Raises ProviderAnswerInvalid where there is none.

    What has not come by ``until`` (of time.monotonic) is not waited for, whatever else comes: ProviderUnavailable.
    """
    parts, size = [], 0
    for part in response.iter_bytes():
        if until is not None and time.monotonic() > until:
            raise ProviderUnavailable("The endpoint did not answer in time (it writes, but too slowly).")
        size += len(part)
        if size > MAX_BODY:
            raise ProviderAnswerInvalid(f"The endpoint answered more than {MAX_BODY:,} bytes.")
        parts.append(part)
    return b"".join(parts)


@contextlib.contextmanager
def transport() -> Iterator[None]:
    """Turn what httpx raises inside the block into errors of ours; its own is the cause."""
    import httpx

    try:
        yield
    except httpx.TimeoutException as error:
        raise ProviderUnavailable(f"The endpoint did not answer in time ({type(error).__name__}).") from error
    except httpx.ConnectError as error:
        raise ProviderUnavailable(f"The endpoint cannot be reached: {log.escaped(str(error)[:200])}.") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        # Their texts may repeat what was sent.
        raise ProviderUnavailable(f"The connection to the endpoint failed ({type(error).__name__}).") from error


# -- what an endpoint says --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class Unsaid:
    """What no message may repeat: ``secrets`` are blotted out, and a message that quotes a text is left out whole."""

    secrets: Sequence[str] = ()
    texts: Sequence[str] = ()

    _RUN = 24  # characters that do not agree by chance
    _SHORT = 4  # a text that is shorter than a run, but not a word such as "no"
    _LONGEST = 300

    def said(self, message: str) -> str:
        """Give what may be shown of a message, on one line."""
        for secret in self.secrets:
            message = message.replace(secret, "[key]")
        message = " ".join(message[: self._LONGEST].split())
        texts = [" ".join(text.split()) for text in self.texts]
        quoted = any(self._SHORT <= len(text) < self._RUN and text in message for text in texts)
        for start in range(len(message) - self._RUN + 1):
            quoted = quoted or any(message[start : start + self._RUN] in text for text in texts)
        return "(its message repeats the request and is not shown)" if quoted else log.escaped(message)


class _Spoken(NamedTuple):
    """An error in a body: the endpoint's word for it, its sentence, and which parameter it is about."""

    code: str | None = None
    message: str = ""
    parameter: str | None = None


def _spoken(tree: Any) -> _Spoken | None:
    """Read an error out of a body in the shapes that endpoints and gateways use."""
    if isinstance(tree, list) and tree:
        tree = tree[0]
    if not isinstance(tree, dict):
        return None
    inside = tree.get("error") or tree
    if isinstance(inside, str):
        inside = {"message": inside, "code": tree.get("code")}
    if not isinstance(inside, dict):
        return None
    words = [inside.get(name) for name in ("code", "type", "status")]
    code = next((str(word) for word in words if isinstance(word, str | int) and word != ""), None)
    if inside.get("type") in _BY_CODE and code not in _BY_CODE:
        code = str(inside["type"])
    message = next((inside[name] for name in ("message", "detail") if isinstance(inside.get(name), str)), "")
    parameter = inside.get("param")
    return _Spoken(code, message, parameter if isinstance(parameter, str) else None)


def class_of(status: int) -> type[ProviderError]:
    """Give the error that a status means where nothing else is known."""
    return _BY_STATUS.get(status) or (ProviderUnavailable if status >= 500 else ProviderRefused)


def failure(
    status: int, headers: Mapping[str, str], tree: Any, *, unsaid: Unsaid, now: float | None = None
) -> ProviderError:
    """Give the error that an answer means; ``tree`` is its body as JSON, None where it is none.

    ``now`` is the time in seconds since 1970, for a Retry-After that is a date.
    """
    if 300 <= status < 400:
        host = urllib.parse.urlsplit(headers.get("location", "")).hostname
        return ProviderRefused(
            f"The endpoint answered {status}: it redirects{f' to {log.escaped(host)}' if host else ''}, and no "
            f"redirect is followed.",
            status=status,
        )
    spoken = _spoken(tree) or _Spoken()
    return _error(status, spoken, headers, unsaid, now)


def failure_inside(tree: Any, *, unsaid: Unsaid, headers: Mapping[str, str], now: float | None) -> ProviderError | None:
    """Give the error that came with HTTP 200, if the body is one."""
    first = tree[0] if isinstance(tree, list) and tree else tree
    if not isinstance(first, dict) or not (first.get("error") or first.get("object") == "error"):
        return None
    return _error(200, _spoken(first) or _Spoken(), headers, unsaid, now)


def _error(
    status: int, spoken: _Spoken, headers: Mapping[str, str], unsaid: Unsaid, now: float | None
) -> ProviderError:
    meant = status
    if spoken.code is not None and re.fullmatch(r"[45]\d\d", spoken.code, re.ASCII):
        meant = int(spoken.code)
    cls = _BY_CODE.get((spoken.code or "").lower()) or class_of(meant)
    code = None if spoken.code is None else unsaid.said(spoken.code)[:60]
    told = f"{status}" + (f" ({code})" if code and code != str(status) else "")
    message = unsaid.said(spoken.message)
    return cls(
        f"The endpoint answered {told}{': ' + message if message else ''}".rstrip(".") + ".",
        status=meant,
        provider_code=code,
        parameter=None if spoken.parameter is None else unsaid.said(spoken.parameter)[:60],
        retry_after=retry_after(headers, time.time() if now is None else now),
        hint=_HINTS.get((spoken.code or "").lower()),
    )


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Give the seconds that an answer asks to wait: a number, or a date (0 where it is past); None for anything else.

    ``retry-after-ms``, which some endpoints send too, is more exact and wins. ``now`` is in seconds since 1970.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if re.fullmatch(r"\d{1,15}(\.\d{0,15})?|\.\d{1,15}", text, re.ASCII):
            return float(text) / unit
        if unit == 1.0 and (date := _date(text)) is not None:
            return max(0.0, date - now)
    return None


def _date(text: str) -> float | None:
    try:
        date = email.utils.parsedate_to_datetime(text)
        seconds = (date if date.tzinfo is not None else date.replace(tzinfo=dt.UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return seconds if math.isfinite(seconds) else None


# -- again ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attempts:
    """How often a call is tried, and what is waited for between: what the endpoint asks, else twice as long each time.

    Only errors that are ``retryable`` are tried again. An endpoint that asks for more than ``longest`` seconds has
    refused: its error is raised at once and says so. Without a Retry-After the n-th wait is between a half and all of
    ``first * 2 ** (n - 1)``, at most ``longest``.
    """

    most: int = 4
    first: float = 1.0
    longest: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random

    def call(self, function: Callable[[], T]) -> T:
        """Call until it gives something, or raise the last error."""
        import tenacity

        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self.most),
            wait=self._wait,
            sleep=self.sleep,
            retry=tenacity.retry_if_exception(self._again),
            before_sleep=_tell,
            reraise=True,
        )
        return retrying(function)

    def _again(self, error: BaseException) -> bool:
        if not isinstance(error, ProviderError) or not error.retryable:
            return False
        if error.retry_after is not None and error.retry_after > self.longest:
            error.hint = f"It asks to wait {error.retry_after:,.0f} seconds; at most {self.longest:,.0f} are waited."
            return False
        return True

    def _wait(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, ProviderError) and error.retry_after is not None:
            return error.retry_after
        whole = min(self.longest, self.first * 2.0 ** (state.attempt_number - 1))
        return whole * (0.5 + self.chance() / 2)


def _tell(state: tenacity.RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome is not None else None
    wait = state.next_action.sleep if state.next_action is not None else None
    code = error.code if isinstance(error, ProviderError) else None
    log.event(
        _LOGGER, logging.WARNING, "retry", "The endpoint did not answer and is asked again.",
        error_code=code, seconds=wait, attempts=state.attempt_number,
    )  # fmt: skip
