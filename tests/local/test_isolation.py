"""Every public way to read × every scope: exactly what that scope may see, and nothing of others.

What a scope may see is written down here once more, in Python, from the rules and not from the SQL.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from fastapi import FastAPI
from fastapi.testclient import TestClient
from mcp import Client
from typer.testing import CliRunner

from oraclerag import Analysis, Prompting, Scope, SourceKey, StoredChunk
from oraclerag.cli import app
from oraclerag.errors import InputError
from oraclerag.evaluate import Question, Relevant, evaluate
from oraclerag.integrations import fastapi as routes
from oraclerag.integrations.langchain import OracleRagRetriever
from oraclerag.integrations.mcp import MAX_K, MAX_KEYS, NOTICE, Bounds, server
from oraclerag.rag import Rag
from tests.local.conftest import Account
from tests.local.library import Entry, install, load_reranker, settings_of, shelve

pytestmark = pytest.mark.one_size

QUESTION = "late payments of supplier invoices"
OWNERS = (None, "7", "8", "team:ap")
ENTRIES = [
    Entry(f"{tenant}/{visibility}/{owner}", f"late payments of {tenant}", tenant=tenant, visibility=visibility, owner=owner)
    for tenant, visibility, owner in itertools.product(("acme", "globex", "ACME", "acme "), ("SHARED", "OWNER", "HIDDEN"), OWNERS)
]  # fmt: skip

SCOPES = {
    "anyone": Scope(tenant="acme"),
    "7": Scope(tenant="acme", owner="7"),
    "7 in a team": Scope(tenant="acme", owner="7", groups=["team:ap", "team:none"]),
    "a team": Scope(tenant="acme", groups=["team:ap"]),
    "a stranger": Scope(tenant="acme", owner="9"),
    "text that is SQL": Scope(tenant="acme", owner="7' OR '1'='1"),
    "a wildcard": Scope(tenant="acme", owner="%"),
    "blanks around": Scope(tenant="acme", owner=" 7 "),
    "manager": Scope(tenant="acme", manager=True),
    "manager and owner": Scope(tenant="acme", owner="8", manager=True),
    "another tenant": Scope(tenant="globex", owner="7"),
    "manager of another": Scope(tenant="globex", manager=True),
    "no such tenant": Scope(tenant="nobody", manager=True),
    "a blank behind": Scope(tenant="acme ", manager=True),
    "a wildcard tenant": Scope(tenant="%", manager=True),
    "default tenant": Scope(tenant="main", manager=True),
}


def allowed(entry: Entry, scope: Scope) -> bool:
    if entry.tenant != scope.tenant or entry.visibility == "HIDDEN":
        return False
    if entry.visibility == "SHARED" or scope.manager:
        return True
    return entry.owner is not None and entry.owner in (scope.owner, *scope.groups)


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file) as opened:
        with opened.database.connect() as connection, connection.cursor() as cursor:
            load_reranker(cursor)
        with opened.database.transaction() as connection:
            shelve(connection, module_account.user, ENTRIES)
        opened.build_index(force=True)
        opened.build_text_index()
        yield opened


Read = Callable[[Rag, Account, Scope], set[str]]


def _library(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {hit.source.id for hit in rag.search(QUESTION, scope=scope, k=1000)}


def _approximate(rag: Rag, account: Account, scope: Scope) -> set[str]:
    with Rag(settings_of(account, exact_below=0)) as other:
        return {hit.source.id for hit in other.search(QUESTION, scope=scope, k=1000)}


def _one_by_one(rag: Rag, account: Account, scope: Scope) -> set[str]:
    """Approximate with a k that is reached, so that no exact search follows."""
    found: set[str] = set()
    with Rag(settings_of(account, exact_below=0)) as other:
        for k in (1, 2, 3):
            found |= {hit.source.id for hit in other.search(QUESTION, scope=scope, k=k)}
    return found


def _separate(rag: Rag, account: Account, scope: Scope) -> set[str]:
    with Rag(settings_of(account, query_embedding="separate")) as other:
        return {hit.source.id for hit in other.search(QUESTION, scope=scope, k=1000)}


def _by_vector(rag: Rag, account: Account, scope: Scope) -> set[str]:
    vector = [1.0, *[0.0] * (rag.model().dimensions - 1)]
    return {hit.source.id for hit in rag.search("", scope=scope, k=1000, vector=vector)}


def _reranked(rag: Rag, account: Account, scope: Scope) -> set[str]:
    with Rag(settings_of(account, rerank_model="RERANKER")) as other:
        return {hit.source.id for hit in other.search(QUESTION, scope=scope, k=1000, rerank=1000)}


def _async(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {hit.source.id for hit in asyncio.run(rag.asearch(QUESTION, scope=scope, k=1000))}


def _borrowed(rag: Rag, account: Account, scope: Scope) -> set[str]:
    engine = sqlalchemy.create_engine(account.url)
    try:
        with engine.connect() as connection:
            return {hit.source.id for hit in rag.search(QUESTION, scope=scope, k=1000, connection=connection)}
    finally:
        engine.dispose()


def _engine(rag: Rag, account: Account, scope: Scope) -> set[str]:
    engine = sqlalchemy.create_engine(account.url)
    try:
        with Rag(replace(rag.settings, dsn=None), engine=engine) as other:
            return {hit.source.id for hit in other.search(QUESTION, scope=scope, k=1000)}
    finally:
        engine.dispose()


def _filtered(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {hit.source.id for hit in rag.search(QUESTION, scope=scope, k=1000, filter={"source_type": "task"})}


def _narrowed(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {hit.source.id for hit in rag.search(QUESTION, scope=scope, k=1000, source=["task", "other"])}


def _hybrid(rag: Rag, account: Account, scope: Scope) -> set[str]:
    """What either leg finds; and what the text leg finds, which is all of it, for all of them have the words."""
    found = rag.search(QUESTION, scope=scope, k=1000, hybrid=True)
    assert all("text rank" in hit.why for hit in found)
    return {hit.source.id for hit in found}


def _command_line(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {hit["source"]["id"] for hit in _command(rag, account, scope, "search", QUESTION, "-k", "1000")["hits"]}


def _command(rag: Rag, account: Account, scope: Scope, *verb: str) -> Any:
    arguments = [*verb, "--json", "--tenant", str(scope.tenant)]
    arguments += ["--owner", scope.owner] if scope.owner is not None else []
    arguments += [part for group in scope.groups for part in ("--group", group)]
    arguments += ["--manager"] if scope.manager else []
    environment = {
        "ORACLE_DSN": account.dsn, "ORACLE_USER": account.user, "ORACLE_PASSWORD": account.password,
        "ORACLERAG_EMBEDDING_MODEL": rag.settings.embedding_model, "ORACLERAG_MAX_K": "1000",
    }  # fmt: skip
    result = CliRunner().invoke(app, arguments, env=environment)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def _everything(rag: Rag) -> list[StoredChunk]:
    """What somebody may have kept who saw it once: the names of all chunks, whoever they belong to."""
    with rag.database.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT CHUNK_ID, SOURCE_TYPE, SOURCE_ID, TENANT_ID, CHUNK_NO FROM RAG_CHUNK ORDER BY CHUNK_ID")
        return [StoredChunk(number, SourceKey(*key), place, "") for number, *key, place in cursor]


def _by_key(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {chunk.source.id for chunk in rag.fetch([chunk.key for chunk in _everything(rag)], scope=scope)}


def _by_chunk_id(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {chunk.source.id for chunk in rag.fetch([chunk.chunk_id for chunk in _everything(rag)], scope=scope)}


def _by_entity(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {chunk.source.id for chunk in rag.fetch([chunk.source for chunk in _everything(rag)], scope=scope)}


def _neighbours(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {passage.source.id for passage in rag.expand(_everything(rag), scope=scope)}


def _section(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {passage.source.id for passage in rag.expand(_everything(rag), scope=scope, how="section")}


def _parent(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {passage.source.id for passage in rag.expand(_everything(rag), scope=scope, how="parent")}


def _diverse(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {hit.source.id for hit in rag.search(QUESTION, scope=scope, k=100, diversity=0.5)}


def _all_at_once(rag: Rag, account: Account, scope: Scope) -> set[str]:
    """Options that each write a part of the statement, on a connection that is lent, and what is around the hits."""
    with account.connect() as connection:
        found = rag.search(
            f"{QUESTION}: ORA-00060", scope=scope, k=100, connection=connection, hybrid=True, diversity=0.2,
            prefer={"$or": [{"source_id": {"$like": "%"}}, {"module": "AP"}]}, order="authority", fallback=True,
            filter={"$or": [{"source_type": "task"}, {"$not": {"module": "AP"}}]}, source="task", min_score=-1,
        )  # fmt: skip
        passages = rag.expand(found, scope=scope, how="parent", connection=connection)
        kept = rag.fetch([hit.key for hit in found], scope=scope, connection=connection)
    assert {passage.source for passage in passages} == {chunk.source for chunk in kept} == {hit.source for hit in found}
    return {hit.source.id for hit in found}


def _asked(rag: Rag, account: Account, scope: Scope) -> set[str]:
    return {hit.source.id for hit in rag.ask(QUESTION, scope=scope, k=1000).hits}


def _prompted(rag: Rag, account: Account, scope: Scope) -> set[str]:
    """Who stands in the prompt, as sources and in what would be sent."""
    everything = Prompting(max_chunks=1000, max_bytes=10**7, max_tokens=10**7)
    prompt = rag.prompt(QUESTION, scope=scope, k=1000, how=everything)
    return set() if prompt is None else {source.hit.source.id for source in prompt.sources}


def _replayed(rag: Rag, account: Account, scope: Scope) -> set[str]:
    """Its own search out of the log, and what the log has of it."""
    asked = rag.search(QUESTION, scope=scope, k=1000, log=True)
    found = rag.searches.replay(asked.search_id or 0, scope=scope)
    logged = rag.searches.show(asked.search_id or 0, scope=scope)
    assert {hit.key for hit in logged.hits} == {hit.key for hit in found.result}
    return {hit.source.id for hit in found.result}


def _evaluated(rag: Rag, account: Account, scope: Scope) -> set[str]:
    """Whom an evaluation finds; of what is hidden it says what it says of what is not there."""
    wanted = tuple(Relevant(SourceKey("task", entry.id)) for entry in ENTRIES)
    (row,) = evaluate(rag, [Question("q", QUESTION, wanted)], scope=scope, k=1000).questions
    found = {entry.id for entry in ENTRIES if f"task:{entry.id}" not in row.missing}
    hits = {hit.key.removeprefix("task:").rpartition(":")[0] for hit in row.hits}
    assert found == hits & {entry.id for entry in ENTRIES}
    return hits


def _diagnosed(rag: Rag, account: Account, scope: Scope) -> set[str]:
    """What a diagnosis shows of anybody: cases, notes, other reports, and what its answer was made of."""
    everything = Prompting(max_chunks=1000, max_bytes=10**7, max_tokens=10**7)
    analysis = Analysis(summary=QUESTION)
    made = rag.diagnose(QUESTION, scope=scope, analysis=analysis, notes=20, how=everything, log=False)
    found = {match.hit.source.id for match in (*made.cases, *made.notes, *made.reports)}
    assert {hit.source.id for hit in made.path.hits} == found
    return found


def _retrieved(rag: Rag, account: Account, scope: Scope) -> set[str]:
    """What LangChain gets, at once and not."""
    retriever = OracleRagRetriever(rag=rag, scope=lambda: scope, options={"k": 1000})
    documents = asyncio.run(retriever.ainvoke(QUESTION))
    assert retriever.invoke(QUESTION) == documents
    return {document.metadata["source"].removeprefix("task:") for document in documents}


def _by_tool(rag: Rag, account: Account, scope: Scope) -> set[str]:
    """What an MCP client gets, whatever it says of itself: found, and by the names of all that there is."""
    names = [chunk.key for chunk in _everything(rag)]
    parts = [names[start : start + MAX_KEYS] for start in range(0, len(names), MAX_KEYS)]

    async def called() -> tuple[set[str], set[str]]:
        async with Client(server(rag, Bounds(scope, local_model=True))) as client:

            async def given(tool: str, **arguments: Any) -> Any:
                asked = arguments | {"tenant": "acme", "manager": True}
                text = (await client.call_tool(tool, asked)).content[0].model_dump()["text"]
                return json.loads(text.removeprefix(NOTICE))

            found = {hit["source"] for hit in (await given("search", question=QUESTION, k=MAX_K))["hits"]}
            fetched = {text["source"] for keys in parts for text in (await given("fetch", keys=keys))["texts"]}
            around = [await given("fetch", keys=keys, around="parent") for keys in parts]
            assert {text["source"] for part in around for text in part["texts"]} <= fetched
            return found, fetched

    found, fetched = asyncio.run(called())
    assert found == fetched
    return {name.removeprefix("task:") for name in found}


def _served(rag: Rag, account: Account, scope: Scope) -> set[str]:
    """What a service on FastAPI gives to who is this scope."""
    application = FastAPI()
    application.state.oraclerag = rag
    application.include_router(routes.router(routes.scope_of(lambda: scope, lambda user: user)))
    with TestClient(application) as client:
        found = client.post("/search", json={"question": QUESTION, "k": 100}).json()["hits"]
        cited = client.post("/ask", json={"question": QUESTION, "k": 100}).json()["citations"]
        streamed = client.post("/ask/stream", json={"question": QUESTION, "k": 100}).text
    sources = {hit["source"] for hit in found}
    last = json.loads(streamed.rpartition("event: answer\ndata: ")[2])
    assert {citation["source"] for citation in (*cited, *last["citations"])} <= sources
    return {name.removeprefix("task:") for name in sources}


EVERY_WAY: dict[str, Read] = {
    "search": _library,
    "approximate search": _approximate,
    "separate embedding": _separate,
    "vector": _by_vector,
    "rerank": _reranked,
    "asearch": _async,
    "borrowed connection": _borrowed,
    "engine": _engine,
    "filter": _filtered,
    "source": _narrowed,
    "hybrid": _hybrid,
    "command line": _command_line,
    "fetch by key": _by_key,
    "fetch by chunk id": _by_chunk_id,
    "fetch of an entity": _by_entity,
    "neighbours": _neighbours,
    "section": _section,
    "parent": _parent,
    "diversity": _diverse,
    "ask": _asked,
    "prompt": _prompted,
    "diagnose": _diagnosed,
    "evaluate": _evaluated,
    "all at once": _all_at_once,
    "replay": _replayed,
    "langchain": _retrieved,
    "mcp": _by_tool,
    "fastapi": _served,
}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("way", EVERY_WAY)
def test_a_scope_sees_exactly_what_it_may(rag: Rag, module_account: Account, way: str, scope: str) -> None:
    expected = {entry.id for entry in ENTRIES if allowed(entry, SCOPES[scope])}
    assert EVERY_WAY[way](rag, module_account, SCOPES[scope]) == expected


def sees_log_of(scope: Scope, asker: Scope) -> bool:
    """Whether a scope is equal to one that asked, or wider."""
    if scope.tenant != asker.tenant:
        return False
    return scope.manager or (not asker.manager and set(asker.principals) <= set(scope.principals))


@pytest.fixture(scope="module")
def asked(rag: Rag) -> dict[str, int]:
    """The number in the log of what each scope has asked, with nothing else in it."""
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM RAG_SEARCH")
    return {name: rag.ask(name, scope=scope, session="s", k=1).search_id or 0 for name, scope in SCOPES.items()}


def _those(asked: dict[str, int], read: Callable[[int], object]) -> set[int]:
    """Give the numbers that a read takes; what it refuses is not there."""
    found = set()
    for number in asked.values():
        try:
            read(number)
        except InputError as refused:
            if "There is no logged search" not in str(refused):
                raise
        else:
            found.add(number)
    return found


LogRead = Callable[[Rag, Scope, dict[str, int]], set[int]]
EVERY_WAY_TO_THE_LOG: dict[str, LogRead] = {
    "list": lambda rag, scope, asked: (
        {one.search_id for one in rag.searches.list(scope=scope, limit=10_000)} & {*asked.values()}
    ),
    "session": lambda rag, scope, _: {one.search_id for one in rag.searches.list(scope=scope, session="s")},
    "show": lambda rag, scope, asked: _those(asked, lambda number: rag.searches.show(number, scope=scope)),
    "replay": lambda rag, scope, asked: _those(asked, lambda number: rag.searches.replay(number, scope=scope)),
    "feedback": lambda rag, scope, asked: _those(asked, lambda number: rag.feedback(number, good=True, scope=scope)),
}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("way", EVERY_WAY_TO_THE_LOG)
def test_a_scope_sees_the_log_of_itself_and_of_narrower_ones(
    rag: Rag, asked: dict[str, int], way: str, scope: str
) -> None:
    expected = {number for name, number in asked.items() if sees_log_of(SCOPES[scope], SCOPES[name])}
    assert EVERY_WAY_TO_THE_LOG[way](rag, SCOPES[scope], asked) == expected


@pytest.mark.parametrize("scope", ["7 in a team", "manager and owner", "blanks around"])
def test_the_verbs_of_the_log_ask_as_their_options_say(
    rag: Rag, module_account: Account, asked: dict[str, int], scope: str
) -> None:
    found = _command(rag, module_account, SCOPES[scope], "searches", "list", "--session", "s")
    expected = {number for name, number in asked.items() if sees_log_of(SCOPES[scope], SCOPES[name])}
    assert {one["search_id"] for one in found} == expected


@pytest.mark.parametrize("scope", SCOPES)
def test_a_conversation_and_figures_are_of_who_asks(rag: Rag, asked: dict[str, int], scope: str) -> None:
    me = SCOPES[scope]
    assert scope in asked
    assert [turn.question for turn in rag.searches.turns("s", scope=me)] == [scope]
    if not me.manager:
        with pytest.raises(InputError, match="the scope of a manager"):
            rag.searches.stats(scope=me)
        return
    figures = rag.searches.stats(scope=me)
    assert {part.name for part in figures.tenants} == {me.tenant}
    assert figures.total.questions >= sum(other.tenant == me.tenant for other in SCOPES.values())


@pytest.mark.parametrize("scope", SCOPES)
def test_a_short_approximate_search_sees_nothing_of_others(rag: Rag, module_account: Account, scope: str) -> None:
    found = _one_by_one(rag, module_account, SCOPES[scope])
    expected = {entry.id for entry in ENTRIES if allowed(entry, SCOPES[scope])}
    assert found <= expected
    assert bool(found) == bool(expected)


@pytest.mark.parametrize(
    "scope", ["7 in a team", "manager", "manager of another", "a wildcard tenant", "no such tenant"]
)
def test_why_tells_of_nothing_that_a_scope_may_not_see(rag: Rag, scope: str) -> None:
    """What is told of a chunk shows that it is there. A manager is told that something is hidden in their tenant."""
    asker = SCOPES[scope]
    for entry in ENTRIES:
        told = rag.why(QUESTION, SourceKey("task", entry.id), scope=asker, k=1)
        hidden = entry.tenant == asker.tenant and entry.visibility == "HIDDEN" and asker.manager
        assert bool(told.chunks) == allowed(entry, asker)
        assert told.known == (allowed(entry, asker) or hidden)


@pytest.mark.parametrize("tenant", ["acme", "ACME", "acme ", "%"])
def test_what_an_operator_looks_at_is_one_tenants(rag: Rag, tmp_path: Path, tenant: str) -> None:
    """Who runs the installation takes out and verifies all of a tenant, hidden or owned by whomever, and no other's."""
    rag.tenants.export(tenant, tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {row["tenant_id"] for row in rows} <= {tenant}
    theirs = {entry.id for entry in ENTRIES if entry.tenant == tenant}
    assert {row["source_id"] for row in rows if row["table"] == "RAG_CHUNK"} == theirs
    report = rag.tenants.verify(tenant, phrase=QUESTION, k=100)
    seen = {entry.id for entry in ENTRIES if allowed(entry, Scope(tenant=tenant, manager=True))}
    assert (report.hits, report.leaked, report.foreign) == (len(seen), (), 0)
    assert report.summary.chunks == len(theirs)


def test_the_entries_tell_the_roles_apart() -> None:
    """The table above would prove nothing if every scope saw the same."""
    seen = {name: frozenset(e.id for e in ENTRIES if allowed(e, scope)) for name, scope in SCOPES.items()}
    assert len(seen["anyone"]) == 4
    assert len(seen["7"]) == 5
    assert len(seen["7 in a team"]) == 6
    assert len(seen["manager"]) == 8
    assert (
        seen["a stranger"] == seen["text that is SQL"] == seen["a wildcard"] == seen["blanks around"] == seen["anyone"]
    )
    assert not seen["no such tenant"]


def test_a_default_tenant_is_a_tenant_like_others(rag: Rag) -> None:
    assert len(rag.search(QUESTION, scope=Scope(manager=True), k=1000)) == 0
