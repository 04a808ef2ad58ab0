"""A retriever for LangChain over ``rag.search``, for a scope; needs the extra ``langchain``.

::

    from oraclerag.integrations.langchain import OracleRagRetriever

    retriever = OracleRagRetriever(rag=rag, scope=Scope(tenant="acme", owner="7"), options={"k": 4})
    documents = retriever.invoke("late payments")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, Field, SkipValidation, field_validator
except ModuleNotFoundError as error:
    raise ImportError(
        "The retriever for LangChain needs the package langchain-core: pip install 'oraclerag[langchain]'."
    ) from error

from oraclerag.errors import InputError
from oraclerag.integrations import shown
from oraclerag.rag import Rag
from oraclerag.records import Hit
from oraclerag.scope import Scope
from oraclerag.search import SearchOptions

__all__ = ["OracleRagRetriever"]


class OracleRagRetriever(BaseRetriever):
    """Gives what ``rag.search`` finds as documents of LangChain, best first.

    ``rag`` stays the caller's, who closes it. ``scope`` says who asks: a Scope, or a function that gives the one of the
    present request (it is called once per question, in the context of the caller). ``options`` are those of
    ``rag.search``; what ``invoke`` is given beside the question wins over them: ``retriever.invoke("late", k=3)``. The
    scope cannot be given there. Of ``ainvoke`` the search runs in a thread, as ``rag.asearch`` does.

    A Document has the chunk's text, its key as ``id``, and as metadata ``key``, ``source``, ``title``, ``url``,
    ``section``, ``collection``, ``project``, ``sprint``, ``occurred_at`` (ISO 8601), ``stale``, ``score``, and under
    ``metadata`` that of the chunk. Raises what ``rag.search`` raises.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    rag: Annotated[Rag, SkipValidation] = Field(repr=False, exclude=True)
    scope: Annotated[Scope | Callable[[], Scope], SkipValidation] = Field(repr=False, exclude=True)
    options: dict[str, Any] = Field(default_factory=dict, repr=False)

    @field_validator("scope", mode="before")
    @classmethod
    def _is_one(cls, value: object) -> object:
        if not isinstance(value, Scope) and not callable(value):
            raise ValueError("scope must be a Scope, or a function that gives one")  # noqa: TRY004 - pydantic's way
        return value

    @field_validator("options")
    @classmethod
    def _are_known(cls, value: dict[str, Any]) -> dict[str, Any]:
        if unknown := sorted(set(value) - set(SearchOptions.__annotations__)):
            raise ValueError(f"a search has no option {unknown[0]!r}")
        return value

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain's signature
        **options: Any,
    ) -> list[Document]:
        return [_document(hit) for hit in self.rag.search(query, scope=self._asker(), **self._with(options))]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
        **options: Any,
    ) -> list[Document]:
        return [_document(hit) for hit in await self.rag.asearch(query, scope=self._asker(), **self._with(options))]

    def _asker(self) -> Scope:
        return self.scope if isinstance(self.scope, Scope) else self.scope()

    def _with(self, options: dict[str, Any]) -> Any:
        if unknown := sorted(set(options) - set(SearchOptions.__annotations__)):
            raise InputError(f"A search has no option {unknown[0]!r}; the scope is that of the retriever.")
        return self.options | options


def _document(hit: Hit) -> Document:
    fields = shown.chunk(hit)
    return Document(id=hit.key, page_content=fields.pop("content"), metadata=fields)
