"""Search and ask in a FastAPI service, each as the user of the request; needs the extra ``fastapi``.

::

    app = FastAPI(lifespan=lifespan(Settings.load))
    app.include_router(router(scope_of(current_user, to_scope)), prefix="/rag")

``current_user`` is the application's own dependency and gives None where there is no user: that is answered with 401.
Who a user is, and what they may see, is said by the application alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import json
import logging
import math
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any, TypeVar

try:
    from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
    from fastapi.responses import StreamingResponse
    from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
except ModuleNotFoundError as error:
    raise ImportError("The routes for FastAPI need the package fastapi: pip install 'oraclerag[fastapi]'.") from error

from oraclerag.config import Settings
from oraclerag.errors import InputError, MissingTenant, OracleRagError, ProviderError, UnknownSource
from oraclerag.integrations import shown
from oraclerag.log import event
from oraclerag.rag import Rag
from oraclerag.records import Answer
from oraclerag.scope import Scope
from oraclerag.search import SearchOptions

__all__ = ["Search", "events", "lifespan", "rag_of", "router", "scope_of"]

User = TypeVar("User")

_log = logging.getLogger(__name__)


def _day_or_moment(value: object) -> object:
    """Take a text without hours for a day: as ``until`` it has all of it."""
    if isinstance(value, str):
        return dt.date.fromisoformat(value) if len(value) == len("2026-01-31") else dt.datetime.fromisoformat(value)
    return value


Time = Annotated[dt.datetime | dt.date | None, BeforeValidator(_day_or_moment)]


class Search(BaseModel):
    """What a request may ask: the question, and options of ``rag.search``. The scope is not among them."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=20_000)
    k: int | None = Field(default=None, ge=1, le=100)
    source: list[str] | None = Field(default=None, max_length=100)
    collections: list[str] | None = Field(default=None, max_length=100)
    filter: dict[str, Any] | None = None
    since: Time = None
    until: Time = None
    hybrid: bool = False

    def options(self) -> SearchOptions:
        """Give the options of a search."""
        return SearchOptions(
            k=self.k,
            source=self.source,
            collections=self.collections,
            filter=self.filter,
            since=self.since,
            until=self.until,
            hybrid=self.hybrid,
        )


def lifespan(make: Callable[[], Settings | Rag]) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Give a lifespan that opens a Rag when the application starts and closes it when it ends.

    ``make`` gives the settings (``Settings.load``), or a Rag with the sources of the application. Raises what they
    raise: an application whose configuration cannot be used does not start.
    """

    @contextlib.asynccontextmanager
    async def opened(app: FastAPI) -> AsyncIterator[None]:
        made = await asyncio.to_thread(make)
        rag = made if isinstance(made, Rag) else Rag(made)
        app.state.oraclerag = rag
        try:
            yield
        finally:
            await asyncio.to_thread(rag.close)

    return opened


def rag_of(request: Request) -> Rag:
    """Give the Rag of the application: a dependency."""
    rag = getattr(request.app.state, "oraclerag", None)
    if not isinstance(rag, Rag):
        raise TypeError("This application has no Rag: FastAPI(lifespan=oraclerag.integrations.fastapi.lifespan(…)).")
    return rag


def scope_of(
    current_user: Callable[..., User | None], to_scope: Callable[[User], Scope], *, challenge: str = "Bearer"
) -> Callable[..., Scope]:
    """Give a dependency that makes the scope of a request.

    ``current_user`` is a dependency that gives the user, or None where there is none: 401, with ``challenge`` as what
    the header WWW-Authenticate asks for. ``to_scope`` says whom that user is in the index.
    """
    of_request: Any = Depends(current_user)

    def scope(user: Any = of_request) -> Scope:
        if user is None:
            raise HTTPException(401, "Nobody is logged in.", headers={"WWW-Authenticate": challenge})
        made = to_scope(user)
        if not isinstance(made, Scope):
            raise TypeError(f"to_scope must give a Scope, not {type(made).__name__}.")
        return made

    return scope


def router(scope: Callable[..., Scope]) -> APIRouter:
    """Give the routes ``POST /search``, ``POST /ask`` and ``POST /ask/stream``, each for what ``scope`` gives.

    ``scope`` is a dependency: :func:`scope_of`, or one of the application's own. ``/ask/stream`` answers with
    server-sent events: ``text`` with what was written since the last one, then ``answer`` with all of it, whose text
    and citations are those that count, or ``error``. What the asker did wrong is 422 with a sentence; of what else
    fails they are told the code alone (503 where it may work later, else 500), and the log has the rest.
    """
    made = APIRouter(tags=["oraclerag"])
    of_request: Any = Depends(scope)
    of_application: Any = Depends(rag_of)

    @made.post("/search")
    async def search(asked: Search, asker: Scope = of_request, rag: Rag = of_application) -> dict[str, Any]:
        """Find the texts that are nearest to a question."""
        with _answered():
            return shown.found(await rag.asearch(asked.question, scope=asker, **asked.options()))

    @made.post("/ask")
    async def ask(asked: Search, asker: Scope = of_request, rag: Rag = of_application) -> dict[str, Any]:
        """Answer a question, with citations."""
        with _answered():
            return shown.answer(await rag.aask(asked.question, scope=asker, **asked.options()))

    @made.post("/ask/stream", response_class=StreamingResponse)
    async def stream(asked: Search, asker: Scope = of_request, rag: Rag = of_application) -> StreamingResponse:
        """Answer a question while the answer is written, as server-sent events."""
        course = events(rag, asked, asker)
        with _answered():
            first = await anext(course)  # what fails before anything is written is a status, not an event
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(_sent(first, course), media_type="text/event-stream", headers=headers)

    return made


_Event = tuple[str, dict[str, Any]]


class _GoneError(Exception):
    """Nobody reads the answer any more."""


async def events(rag: Rag, asked: Search, asker: Scope) -> AsyncGenerator[_Event, None]:
    """Ask in a thread, and give what is written as it comes; who stops listening ends the answer at its next piece."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[str | None] = asyncio.Queue()
    gone = threading.Event()

    def on_text(piece: str) -> None:
        if gone.is_set():
            raise _GoneError
        loop.call_soon_threadsafe(pieces.put_nowait, piece)

    async def answered() -> Answer:
        try:
            return await asyncio.to_thread(rag.ask, asked.question, scope=asker, on_text=on_text, **asked.options())
        finally:
            pieces.put_nowait(None)

    task = asyncio.create_task(answered())
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody may be left to await it
    try:
        while (piece := await pieces.get()) is not None:
            yield "text", {"text": piece}
        yield "answer", shown.answer(await task)
    finally:
        gone.set()


async def _sent(first: _Event, events: AsyncGenerator[_Event, None]) -> AsyncIterator[str]:
    yield _line(*first)
    try:
        async for one in events:
            yield _line(*one)
    except OracleRagError as error:
        yield _line("error", _told(error)[1])
    finally:
        await events.aclose()


def _line(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


@contextlib.contextmanager
def _answered() -> Iterator[None]:
    try:
        yield
    except OracleRagError as error:
        status, detail = _told(error)
        later = error.retry_after if isinstance(error, ProviderError) else None
        headers = None if later is None else {"Retry-After": str(math.ceil(later))}
        raise HTTPException(status, detail, headers=headers) from error


def _told(error: OracleRagError) -> tuple[int, dict[str, Any]]:
    """Give the status and what the asker is told of an error."""
    if isinstance(error, (InputError, UnknownSource)) and not isinstance(error, MissingTenant):
        return 422, {"code": error.code, "message": error.message}
    event(_log, logging.ERROR, "request_failed", error.message, error_code=error.code, hint=error.hint)
    return 503 if error.retryable else 500, {"code": error.code}
