"""Around hits, by name, diverse, rechecked: what else the read path gives, and in how many round trips."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import oracledb
import pytest
import sqlalchemy
from typer.testing import CliRunner

from oraclerag import Document, Hit, Scope, SourceKey
from oraclerag.cli import app
from oraclerag.cutting import Cutting
from oraclerag.errors import InputError, SourceError
from oraclerag.local import LocalDatabase
from oraclerag.rag import Rag
from oraclerag.records import SearchResult
from tests.local.conftest import Account
from tests.local.library import Entry, ids, install, shelve

pytestmark = pytest.mark.one_size
MANAGER = Scope(tenant="main", manager=True)
OWNER = Scope(tenant="main", owner="7")

HANDBOOK = "\n\n".join(
    f"# Chapter {number}\n\n"
    + "\n\n".join(
        f"Paragraph {number}.{part} tells of {'invoices ' * 12}and of 🙂 matters {number * part}." for part in range(8)
    )
    for number in range(1, 6)
)
CODES = "\n".join(f"ORA-{number:05} at step {number} of the nightly run" for number in range(600, 690))
REPORT = "\n".join(
    f"Step {number} of the run\n{'-' * 120}\nORA-{number + 600:05}: unable to extend by {number}"
    for number in range(60)
)
TEXTS = {
    "book": Document(HANDBOOK, title="Handbook", url="https://x.example/book", owner="7"),
    "log": Document(CODES, title="Log", owner="7"),
    "note": Document("One short note about invoices.", owner="7"),
    "theirs": Document("Another short note about invoices.", owner="8"),
}
present: dict[str, Document] = {}


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file) as opened:
        cutting = Cutting("passages", size=100, overlap=30)

        @opened.source("page", visibility="owner", cutting=cutting)
        def read(_: oracledb.Connection, wanted: Sequence[str]) -> dict[str, Document]:
            return {one: TEXTS[one] for one in wanted if one in TEXTS}

        @opened.source("report", visibility="shared", cutting=Cutting("diagnostics", size=100, overlap=20))
        def reports(_: oracledb.Connection, wanted: Sequence[str]) -> dict[str, Document]:
            return {one: Document(REPORT, title="Nightly run") for one in wanted}

        @opened.source("live", visibility="owner", recheck=True)
        def now(_: oracledb.Connection, wanted: Sequence[str]) -> dict[str, Document]:
            return {one: present[one] for one in wanted if one in present}

        present.update((str(number), Document(f"payment run {number}", owner="7")) for number in range(30))
        pages, now_there = (SourceKey("page", one) for one in TEXTS), (SourceKey("live", one) for one in present)
        opened.index_now([*pages, *now_there, SourceKey("report", "1")])
        yield opened


def chunks_of(rag: Rag, entity: str, scope: Scope = MANAGER) -> list[Any]:
    return rag.fetch(SourceKey("page", entity), scope=scope)


def test_an_entity_is_fetched_in_the_order_of_its_text(rag: Rag) -> None:
    chunks = chunks_of(rag, "book")
    assert len(chunks) > 10
    assert [chunk.chunk_number for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.content.endswith(HANDBOOK[chunk.start : chunk.end]) for chunk in chunks)
    assert chunks[0].title == "Handbook"


def test_names_of_every_kind_give_the_same_chunk_once_and_in_their_order(rag: Rag) -> None:
    book, note = chunks_of(rag, "book"), chunks_of(rag, "note")
    names = [note[0].chunk_id, "page:book:3", book[3].chunk_id, SourceKey("page", "note"), "page:book:0", "page:none:0"]
    assert [chunk.key for chunk in rag.fetch(names, scope=MANAGER)] == ["page:note:0", "page:book:3", "page:book:0"]


def test_a_hit_is_fetched_by_its_key(rag: Rag) -> None:
    hit = rag.search("nightly run", scope=OWNER, k=1)[0]
    (chunk,) = rag.fetch(hit.key, scope=OWNER)
    same = {field.name for field in dataclasses.fields(Hit)} & {field.name for field in dataclasses.fields(chunk)}
    assert {name: getattr(hit, name) for name in same} == {name: getattr(chunk, name) for name in same}


def test_more_names_than_one_statement_takes(rag: Rag) -> None:
    names = [f"page:book:{number}" for number in range(600)]
    assert len(rag.fetch(names, scope=MANAGER)) == len(chunks_of(rag, "book"))


def test_nothing_is_fetched_by_no_name(rag: Rag) -> None:
    assert rag.fetch([], scope=MANAGER) == []


@pytest.mark.parametrize(
    "name", ["page:book", "book", "page::1", "page:book:x", "\ud800:book:1", "", -1, True, 1.5, None, b"ab"]
)
def test_names_that_are_none(rag: Rag, name: Any) -> None:
    with pytest.raises(InputError):
        rag.fetch([name], scope=MANAGER)
    if not isinstance(name, (int, str)) or isinstance(name, bool):
        with pytest.raises(InputError):
            rag.fetch(name, scope=MANAGER)


@pytest.mark.parametrize(("before", "after"), [(0, 0), (1, 1), (2, 0), (0, 3), (100, 100)])
def test_neighbours_are_the_text_without_what_overlaps(rag: Rag, before: int, after: int) -> None:
    chunks = chunks_of(rag, "book")
    middle = chunks[5]
    (passage,) = rag.expand([middle], scope=MANAGER, before=before, after=after)
    part = chunks[max(0, 5 - before) : 5 + after + 1]
    assert passage.chunks == tuple(chunk.chunk_number for chunk in part)
    assert (passage.start, passage.end) == (part[0].start, part[-1].end)
    assert passage.text == HANDBOOK[passage.start : passage.end]
    assert passage.head == part[0].content.removesuffix(HANDBOOK[part[0].start : part[0].end])
    assert passage.hits == (middle.chunk_id,)
    assert not passage.cut


def test_a_section_is_all_of_its_chunks_and_no_more(rag: Rag) -> None:
    chunks = chunks_of(rag, "book")
    second = [chunk for chunk in chunks if (chunk.parent if chunk.parent is not None else chunk.chunk_number)
              == next(one.chunk_number for one in chunks if one.section == "Chapter 2")]  # fmt: skip
    (passage,) = rag.expand([second[-1]], scope=MANAGER, how="section")
    assert passage.section == "Chapter 2"
    assert passage.chunks == tuple(chunk.chunk_number for chunk in second)
    assert "Paragraph 2.0" in passage.text
    assert "Paragraph 2.7" in passage.text
    assert "Paragraph 3" not in passage.text
    assert passage.text == HANDBOOK[passage.start : passage.end]


def test_a_parent_is_the_whole_text(rag: Rag) -> None:
    first, last = chunks_of(rag, "book")[0], chunks_of(rag, "book")[-1]
    (passage,) = rag.expand([last, first], scope=OWNER, how="parent")
    assert passage.text == HANDBOOK
    assert passage.hits == (last.chunk_id, first.chunk_id)
    assert (passage.title, passage.url, passage.cut) == ("Handbook", "https://x.example/book", False)


def test_a_parent_is_bounded_in_bytes_and_no_character_is_halved(rag: Rag) -> None:
    (passage,) = rag.expand(chunks_of(rag, "log")[:1], scope=OWNER, how="parent", max_bytes=4000)
    assert passage.text == CODES[:4000]
    assert passage.cut is (len(CODES) > 4000)
    for bound in range(4000, 4010):
        (passage,) = rag.expand(chunks_of(rag, "book")[:1], scope=OWNER, how="parent", max_bytes=bound)
        assert HANDBOOK.startswith(passage.text)
        assert bound - 4 < len(passage.text.encode()) <= bound
        assert passage.cut


def test_a_report_whose_rules_were_shortened_is_joined_without_a_line_twice(rag: Rag) -> None:
    chunks = rag.fetch(SourceKey("report", "1"), scope=OWNER)
    assert len(chunks) > 10
    assert any(one.end > two.start for one, two in itertools.pairwise(chunks) if one.end and two.start is not None)
    (passage,) = rag.expand([chunks[6]], scope=OWNER, before=100, after=100)
    assert "-" * 120 not in passage.text
    lines = [line for line in passage.text.splitlines() if line.strip("-")]
    assert lines == [line for line in REPORT.splitlines() if line.strip("-")]


def test_hits_of_one_entity_share_a_passage_where_they_are_near(rag: Rag) -> None:
    chunks = chunks_of(rag, "book")
    near = rag.expand([chunks[4], chunks[6]], scope=MANAGER)
    assert [passage.hits for passage in near] == [(chunks[4].chunk_id, chunks[6].chunk_id)]
    assert near[0].chunks == (3, 4, 5, 6, 7)
    far = rag.expand([chunks[8], chunks[1], chunks[1]], scope=MANAGER)
    assert [(passage.hits, passage.chunks) for passage in far] == [
        ((chunks[8].chunk_id,), (7, 8, 9)),
        ((chunks[1].chunk_id,), (0, 1, 2)),
    ]


@pytest.mark.parametrize("how", ["neighbours", "section"])
def test_what_is_longer_than_the_bound_is_what_is_nearest_to_the_best_hit(rag: Rag, how: Any) -> None:
    chunks = chunks_of(rag, "log")
    best, other = chunks[10], chunks[1]
    found = rag.expand([best, other], scope=MANAGER, how=how, before=100, after=100, max_bytes=4000)
    assert best.chunk_id in found[0].hits
    assert best.chunk_number in found[0].chunks
    numbers = [number for passage in found for number in passage.chunks]
    assert len(numbers) == len(set(numbers))
    for passage in found:
        assert len(passage.content.encode()) <= 4000
        assert passage.text == CODES[passage.start : passage.end]
        assert passage.cut is (len(CODES) > 4000)
    assert {hit for passage in found for hit in passage.hits} == {best.chunk_id, other.chunk_id}


@pytest.mark.parametrize("how", ["neighbours", "section", "parent"])
def test_all_hits_are_one_round_trip(rag: Rag, local_database: LocalDatabase, how: Any) -> None:
    hits = rag.search("invoices", scope=OWNER, k=8)
    rag.expand(hits, scope=OWNER, how=how)
    before = local_database.round_trips
    assert rag.expand(hits, scope=OWNER, how=how)
    # where a part of a CLOB is a CLOB it is defined as a text, which is one more
    assert local_database.round_trips - before <= (2 if how == "parent" else 1)


@pytest.mark.parametrize("how", ["neighbours", "section", "parent"])
def test_a_hit_that_is_no_longer_seen_has_nothing_around_it(rag: Rag, how: Any) -> None:
    theirs = chunks_of(rag, "theirs")
    assert theirs
    assert rag.expand(theirs, scope=OWNER, how=how) == []
    assert rag.fetch([theirs[0].key, theirs[0].chunk_id, theirs[0].source], scope=OWNER) == []


@pytest.mark.parametrize(
    "options",
    [{"how": "page"}, {"before": -1}, {"after": 101}, {"before": True}, {"max_bytes": 3999}, {"max_bytes": 1_000_001}],
    ids=str,
)
def test_expansions_that_cannot_be(rag: Rag, options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        rag.expand([], scope=MANAGER, **options)


def test_only_hits_are_expanded(rag: Rag) -> None:
    assert rag.expand([], scope=MANAGER) == []
    with pytest.raises(InputError, match="hits of a search"):
        rag.expand([7], scope=MANAGER)  # type: ignore[list-item]
    for wrong in (None, 7, rag.search("nightly run", scope=MANAGER, k=1)[0]):
        with pytest.raises(InputError, match="a list of hits"):
            rag.expand(wrong, scope=MANAGER)  # type: ignore[arg-type]


# -- diversity --------------------------------------------------------------------------------------------------------

CROWD = Scope(tenant="crowd", manager=True)
ALIKE = [Entry(f"same{number}", "late payment of supplier invoices", tenant="crowd") for number in range(9)]
OTHERS = [
    Entry("near", "late payment of invoices", tenant="crowd"),
    Entry("far", "restore test of the nightly backup", tenant="crowd"),
]


@pytest.fixture(scope="module")
def crowd(rag: Rag, module_account: Account) -> Rag:
    with rag.database.transaction() as connection:
        shelve(connection, module_account.user, [*ALIKE, *OTHERS])
    return rag


QUESTION = "late payment of supplier invoices"


def test_diversity_puts_what_is_different_before_what_is_the_same_again(crowd: Rag) -> None:
    plain = crowd.search(QUESTION, scope=CROWD, k=3)
    assert ids(plain) == ["same0", "same1", "same2"]
    diverse = crowd.search(QUESTION, scope=CROWD, k=3, diversity=0.7)
    assert diverse[0].source.id == "same0"
    assert {"near", "far"} == set(ids(diverse)[1:])
    assert [hit.rank for hit in diverse] == [1, 2, 3]


def test_without_diversity_nothing_changes(crowd: Rag) -> None:
    plain = crowd.search(QUESTION, scope=CROWD, k=8)
    assert ids(crowd.search(QUESTION, scope=CROWD, k=8, diversity=0)) == ids(plain)
    assert ids(crowd.search(QUESTION, scope=CROWD, k=8, diversity=0.001)) == ids(plain)


@pytest.mark.parametrize(
    "options", [{}, {"hybrid": True}, {"mode": "approx"}, {"prefer": {"source_id": "far"}}], ids=str
)
def test_diversity_is_stable_and_still_one_round_trip(
    crowd: Rag, local_database: LocalDatabase, options: dict[str, Any]
) -> None:
    wanted: dict[str, Any] = {"k": 5, "diversity": 0.5, **options}
    first = crowd.search(QUESTION, scope=CROWD, **wanted)
    before = local_database.round_trips
    again = crowd.search(QUESTION, scope=CROWD, **wanted)
    assert local_database.round_trips - before == 1
    assert first.hits == again.hits
    assert len(first) == 5
    if "prefer" in options:
        assert ids(first)[0] == "far"


def test_more_hits_than_are_compared_still_come(crowd: Rag, module_account: Account) -> None:
    with crowd.database.transaction() as connection:
        shelve(connection, module_account.user, [Entry(f"many{at}", f"{at}", tenant="many") for at in range(700)])
    found = crowd.search(QUESTION, scope=Scope(tenant="many", manager=True), k=700, diversity=0.5)
    assert len(set(ids(found))) == 700


@pytest.mark.parametrize("diversity", [-0.1, 1.1, "0.5", True])
def test_a_diversity_that_is_none(crowd: Rag, diversity: Any) -> None:
    with pytest.raises(InputError, match="diversity"):
        crowd.search(QUESTION, scope=CROWD, diversity=diversity)


def test_the_command_prints_what_stands_around_its_hits(rag: Rag, module_account: Account) -> None:
    environment = {
        "ORACLE_DSN": module_account.dsn, "ORACLE_USER": module_account.user, "ORACLE_PASSWORD": module_account.password,
        "ORACLERAG_EMBEDDING_MODEL": rag.settings.embedding_model,
    }  # fmt: skip
    call = ["search", "nightly run", "--owner", "7", "--tenant", "main", "-k", "2", "--expand", "parent"]
    shown = CliRunner().invoke(app, [*call, "--diversity", "0.3"], env=environment)
    assert shown.exit_code == 0, shown.output
    hits = rag.search("nightly run", scope=OWNER, k=2, diversity=0.3)
    assert all(f"-- {passage.source}\n" in shown.stdout for passage in rag.expand(hits, scope=OWNER, how="parent"))
    data = json.loads(CliRunner().invoke(app, [*call, "--json"], env=environment).stdout)
    assert len(data["hits"]) == 2
    assert {passage["source"]["id"] for passage in data["passages"]} == {hit["source"]["id"] for hit in data["hits"]}


def test_pages_of_a_result_cover_it_once(crowd: Rag) -> None:
    result = crowd.search(QUESTION, scope=CROWD, k=11)
    pages = [result.page(number, 5) for number in (1, 2, 3, 4)]
    assert [len(page) for page in pages] == [5, 5, 1, 0]
    assert list(itertools.chain(*pages)) == list(result)
    for wrong in (0, -1, True, "1"):
        with pytest.raises(InputError, match="page"):
            result.page(wrong)  # type: ignore[arg-type]


# -- recheck ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def live() -> Iterator[dict[str, Document]]:
    before = dict(present)
    yield present
    present.clear()
    present.update(before)


def ask(rag: Rag, k: int = 5, **options: Any) -> SearchResult:
    return rag.search("payment run", scope=OWNER, source="live", k=k, **options)


def test_what_is_gone_or_no_longer_theirs_is_dropped_at_once_and_others_come(
    rag: Rag, live: dict[str, Document]
) -> None:
    first = ids(ask(rag))
    live.pop(first[0])
    live[first[1]] = dataclasses.replace(live[first[1]], owner="8")
    result = ask(rag)
    assert len(result) == 5
    assert ids(result)[:3] == first[2:]
    assert not {first[0], first[1]} & set(ids(result))
    assert [hit.rank for hit in result] == [1, 2, 3, 4, 5]
    manager = rag.search("payment run", scope=MANAGER, source="live", k=100)
    assert len(manager) == 29
    assert first[1] in ids(manager)


def test_all_that_are_left_are_found(rag: Rag, live: dict[str, Document]) -> None:
    order = ids(ask(rag, 30))
    for one in order[:27]:
        live.pop(one)
    result = ask(rag)
    assert ids(result) == order[27:]


def test_a_code_that_only_revoked_texts_name_is_missing_and_fallen_back_from(
    rag: Rag, live: dict[str, Document]
) -> None:
    live["1"] = Document("payment run 1: ORA-00060", owner="7")
    rag.index_now(SourceKey("live", "1"))
    del live["1"]
    result = ask(rag, codes=["ORA-00060"])
    assert (ids(result), result.codes_missing) == ([], ("ORA-00060",))
    result = ask(rag, codes=["ORA-00060"], fallback=True)
    assert (len(result), result.codes, result.codes_missing) == (5, (), ("ORA-00060",))
    live["1"] = Document("payment run 1", owner="7")
    rag.index_now(SourceKey("live", "1"))


def test_without_a_recheck_there_is_no_more_to_send(rag: Rag, local_database: LocalDatabase) -> None:
    rag.search("invoices", scope=OWNER, source="page")
    before = local_database.round_trips
    rag.search("invoices", scope=OWNER, source="page")
    assert local_database.round_trips - before == 1


def test_a_source_that_cannot_be_read_lets_nothing_through(rag: Rag, live: dict[str, Document]) -> None:
    @rag.source("broken", visibility="shared", recheck=True)
    def read(connection: oracledb.Connection, wanted: Sequence[str]) -> dict[str, Document]:
        if not live:
            connection.cursor().execute("SELECT 1 FROM NOT_OURS")
        return {one: Document("payment run of others") for one in wanted}

    try:
        rag.index_now(SourceKey("broken", "1"))
        assert len(rag.search("payment", scope=OWNER, source="broken")) == 1
        live.clear()
        with pytest.raises(SourceError, match="'broken' are to be checked against it"):
            rag.search("payment", scope=OWNER, source="broken")
    finally:
        rag._sources.pop("broken")


def test_a_function_never_has_the_connection_of_the_caller(rag: Rag, module_account: Account) -> None:
    used: list[object] = []

    @rag.source("own", visibility="shared", recheck=True)
    def read(connection: oracledb.Connection, wanted: Sequence[str]) -> dict[str, Document]:
        used.append(connection)
        connection.commit()
        return {one: Document("payment run of all") for one in wanted}

    engine = sqlalchemy.create_engine(module_account.url)
    try:
        rag.index_now(SourceKey("own", "1"))
        used.clear()
        with engine.connect() as connection:
            assert len(rag.search("payment", scope=OWNER, source="own", connection=connection)) == 1
            assert used
            assert connection.connection.driver_connection not in used
    finally:
        rag._sources.pop("own")
        engine.dispose()
