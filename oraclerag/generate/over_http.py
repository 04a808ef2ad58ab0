"""Answers from an OpenAI-compatible endpoint (chat completions): OpenAI, Scaleway, vLLM, Ollama, OCI, gateways.

Nothing is held between calls, so that a thousand of them leave no connection open and threads may share the object.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from collections.abc import Generator as Pieces
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx
import httpx_sse

from oraclerag import http_client, log
from oraclerag.errors import AnswerInterrupted, ProviderError, ProviderRefused
from oraclerag.generate.completion import Assembly, joined, whole
from oraclerag.generate.stream import Stream
from oraclerag.generate.traced import called, read
from oraclerag.http_client import Attempts, Unsaid, tree_of
from oraclerag.records import Generation, Prompt

__all__ = ["OverHttp"]

_LOGGER = logging.getLogger(__name__)

# What models that reason, and older gateways, refuse by these words.
_OPTIONAL = frozenset({"max_tokens", "stream_options", "temperature"})
_UNSUPPORTED = frozenset({"unknown_parameter", "unsupported_parameter", "unsupported_value"})

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class OverHttp:
    """Writes answers with a language model behind ``base_url``, which lies before ``/chat/completions``.

    ``timeout`` is in seconds: without a byte of an answer that is streamed, for all of one that is not. ``max_tokens``
    limits an answer. What failed is tried again as ``attempts`` says, while no text has come: what was passed on is not
    taken back. A parameter that the model does not know is left out from then on (``refused``), ``max_tokens`` is
    called ``max_completion_tokens``. ``now`` is the time in seconds since 1970.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    temperature: float = 0.0
    max_tokens: int = 1024
    timeout: float = 60.0
    attempts: Attempts = field(default_factory=Attempts, repr=False)
    now: Callable[[], float] = field(default=time.time, repr=False)
    refused: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        http_client.checked_key(self.api_key, "the language model")

    @property
    def name(self) -> str:
        """What it is called."""
        return "openai"

    @property
    def local(self) -> bool:
        """Whether the endpoint is on this machine."""
        return http_client.is_loopback(self.base_url)

    def generate(self, prompt: Prompt) -> Generation:
        """Give the answer when it is complete. Raises ProviderError."""
        return called(self.name, self.model, lambda: self._answered(lambda: self._once(prompt)))

    def stream(self, prompt: Prompt) -> Stream:
        """Give the answer piece by piece as it arrives. Iterating raises ProviderError."""
        return Stream(read(self.name, self.model, self._pieces(prompt)))

    def _answered(self, ask: Callable[[], T]) -> T:
        """Ask until there is an answer or an error that stays."""
        while True:
            try:
                return self.attempts.call(ask)
            except ProviderRefused as error:
                known = error.provider_code in _UNSUPPORTED and error.parameter in _OPTIONAL - self.refused
                if not known or error.parameter is None:
                    raise
                self.refused.add(error.parameter)
                log.event(_LOGGER, logging.WARNING, "parameter", f"The model takes no {error.parameter}.")

    def _once(self, prompt: Prompt) -> Generation:
        until = time.monotonic() + self.timeout
        with http_client.transport(), self._asked(prompt, stream=False, until=until) as response:
            return self._whole(response, self._unsaid(prompt), until)

    def _pieces(self, prompt: Prompt) -> Pieces[str, None, Generation]:
        with self._answered(lambda: self._begun(prompt)) as reading:
            piece = reading.first
            while piece is not None:
                yield piece
                piece = reading.piece()
            return reading.generation()

    def _begun(self, prompt: Prompt) -> _Reading:
        """Ask, and read until text has come or the stream is at its end."""
        with contextlib.ExitStack() as stack:
            until = time.monotonic() + self.timeout
            with http_client.transport():
                response = stack.enter_context(self._asked(prompt, stream=True, until=until))
                unsaid = self._unsaid(prompt)
                if "text/event-stream" in response.headers.get("content-type", "").lower():
                    reading = _Reading(self, response, unsaid)
                else:  # an error, or a gateway that does not stream
                    reading = _Reading(self, response, unsaid, self._whole(response, unsaid, until))
            reading.first = reading.piece()
            reading.stack = stack.pop_all()
        return reading

    @contextlib.contextmanager
    def _asked(self, prompt: Prompt, *, stream: bool, until: float) -> Iterator[httpx.Response]:
        """Send the request; gives the answer's head, its body is read inside the block. Raises ProviderError."""
        asked: dict[str, Any] = {
            "model": self.model,
            "messages": [{name: joined(text) for name, text in message.items()} for message in prompt.messages],
        }
        if "temperature" not in self.refused:
            asked["temperature"] = self.temperature
        asked["max_completion_tokens" if "max_tokens" in self.refused else "max_tokens"] = self.max_tokens
        if stream:
            asked["stream"] = True
            if "stream_options" not in self.refused:
                asked["stream_options"] = {"include_usage": True}
        accept = "text/event-stream, application/json" if stream else "application/json"
        url = self.base_url.rstrip("/") + "/chat/completions"
        with (
            http_client.client(url, timeout=self.timeout) as client,
            http_client.posted(
                client,
                url,
                asked,
                key=self.api_key,
                unsaid=self._unsaid(prompt),
                now=self.now(),
                accept=accept,
                until=until,
            ) as response,
        ):
            yield response

    def _whole(self, response: httpx.Response, unsaid: Unsaid, until: float) -> Generation:
        tree = tree_of(http_client.body(response, until=until))
        error = self.error_inside(tree, response, unsaid)
        if error is not None:
            raise error
        return whole(tree, self.model)

    def error_inside(self, tree: Any, response: httpx.Response, unsaid: Unsaid) -> ProviderError | None:
        """Give the error that a body or an event is, though the status was 200."""
        return http_client.failure_inside(tree, unsaid=unsaid, headers=response.headers, now=self.now())

    def _unsaid(self, prompt: Prompt) -> Unsaid:
        return Unsaid(
            secrets=() if self.api_key is None else (self.api_key,),
            texts=(prompt.question, *(message["content"] for message in prompt.messages)),
        )


class _Reading:
    """An answer that is being read; closes its connection at the end of a ``with`` block."""

    def __init__(
        self, asked: OverHttp, response: httpx.Response, unsaid: Unsaid, generation: Generation | None = None
    ) -> None:
        self.first: str | None = None
        self.stack = contextlib.ExitStack()
        self._asked = asked
        self._response = response
        self._unsaid = unsaid
        self._assembly = Assembly(asked.model)
        self._generation = generation
        self._unread = generation is not None
        response.encoding = "utf-8"  # events are, whatever the header says
        self._events = httpx_sse.EventSource(response).iter_sse()

    def __enter__(self) -> _Reading:
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def generation(self) -> Generation:
        """Give the answer, behind its end."""
        return self._generation if self._generation is not None else self._assembly.generation()

    def piece(self) -> str | None:
        """Wait for more text; None at the end. Raises ProviderError with what had come."""
        if self._generation is not None:
            unread, self._unread = self._unread, False
            return (self._generation.text or None) if unread else None
        try:
            return self._next()
        except ProviderError as error:
            partial = self._assembly.text
            if partial and isinstance(error.__cause__, httpx.HTTPError):
                raise AnswerInterrupted(
                    "The connection was lost in the middle of the answer.", partial=partial
                ) from error.__cause__
            error.partial = partial
            raise

    def _next(self) -> str | None:
        with http_client.transport():
            for event in self._events:
                if event.data.strip() == "[DONE]":
                    self._generation = self._assembly.generation()
                    self._unread = False
                    return None
                if not event.data:
                    continue
                tree = tree_of(event.data)
                if event.event == "error" and not (isinstance(tree, dict) and tree.get("error")):
                    tree = {"error": tree or "unknown"}
                error = self._asked.error_inside(tree, self._response, self._unsaid)
                if error is not None:
                    raise error
                piece = self._assembly.take(tree)
                if piece:
                    return piece
        raise AnswerInterrupted
