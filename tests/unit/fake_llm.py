"""An endpoint on loopback that answers as it is told, in every wrong way, and keeps what it was asked."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from oraclerag.http_client import Attempts
from oraclerag.records import Hit, Prompt, PromptSource, SourceKey

KEY = "sk-hunter2-hunter2"
SECRET = "The invoice of Acme stays unpaid because of the dispute."


@dataclass
class Reply:
    """One answer: a status, headers, and pieces of a body, each written by itself; a body may be made of the request.

    ``cut`` promises more than it gives; ``waits_for_the_end`` keeps the connection until the other side hangs up.
    """

    body: bytes | Iterable[bytes] | Callable[[dict[str, Any]], bytes] = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    waits_for_the_end: bool = False
    gate: Callable[[int], None] | None = None


@dataclass
class FakeLlm:
    """The replies that are left, the last one again and again, and the requests that came."""

    replies: list[Reply | Callable[[dict[str, Any]], Reply]]
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)

    def next(self, asked: dict[str, Any]) -> Reply:
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply if isinstance(reply, Reply) else reply(asked)

    def forget(self) -> None:
        """Keep nothing of what was asked until now."""
        for kept in (self.asked, self.bodies, self.headers):
            kept.clear()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    fake: FakeLlm

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever hangs up is no failure of a test."""


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        pass

    def do_POST(self) -> None:
        fake = self.server.fake
        fake.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        fake.asked.append({"path": self.path} | json.loads(fake.bodies[-1]))
        fake.headers.append({name.lower(): value for name, value in self.headers.items()})
        reply = fake.next(fake.asked[-1])
        body = reply.body(fake.asked[-1]) if callable(reply.body) else reply.body
        pieces = [body] if isinstance(body, bytes) else body
        self.send_response(reply.status)
        if reply.cut:
            self.send_header("Content-Length", "1000000")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for number, piece in enumerate(pieces):
            if reply.gate is not None:
                reply.gate(number)
            self.wfile.write(piece)
            self.wfile.flush()
        if reply.waits_for_the_end:
            self.connection.settimeout(20)
            with contextlib.suppress(ConnectionError):  # what was not read is thrown away with a reset
                assert not self.connection.recv(1)
            fake.hung_up.set()


@contextlib.contextmanager
def fake_llm(*replies: Reply | Callable[[dict[str, Any]], Reply]) -> Iterator[FakeLlm]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.fake = FakeLlm(list(replies), f"http://127.0.0.1:{server.server_address[1]}/v1")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.fake
        finally:
            server.shutdown()
            thread.join()


def waits(sleeps: list[float], **options: Any) -> Attempts:
    """Attempts that note what they would have slept."""
    return Attempts(sleep=sleeps.append, chance=lambda: 0.0, **options)


def completion(text: str | None, finish: str | None = "stop", **more: Any) -> bytes:
    message = {"role": "assistant", "content": text}
    tree = {"model": "m-1", "choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}
    return json.dumps(tree).encode()


def event(text: str | None = None, finish: str | None = None, **more: Any) -> bytes:
    delta = {} if text is None else {"content": text}
    tree = {"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}
    return b"data: " + json.dumps(tree, ensure_ascii=False).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
EVENTS = {"Content-Type": "text/event-stream"}
JSON = {"Content-Type": "application/json"}


def hit(number: int, content: str) -> Hit:
    return Hit(number, number, SourceKey("task", str(number)), 0, content, 0.1 * number)


def prompt(question: str = "Why is the invoice unpaid?", *contents: str, style: str = "hash") -> Prompt:
    sources = tuple(
        PromptSource(f"##{number}##" if style == "hash" else f"[{number}]", hit(number, content))
        for number, content in enumerate(contents or (SECRET,), 1)
    )
    text = "\n".join(f"{source.anchor}\n{source.hit.content}" for source in sources) + f"\n\n{question}"
    return Prompt("Answer from the sources.", question, sources, 0, 10, 100, text)
