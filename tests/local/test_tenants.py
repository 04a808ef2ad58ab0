"""A tenant's life: onboard, verify, export, remove; and a wipe of the index, each beside workers and after a kill."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import oracledb
import pytest

from oraclerag import Document, Scope, SourceKey
from oraclerag.errors import Contention, InputError
from oraclerag.rag import Rag
from oraclerag.records import SourceCoverage, TenantSummary
from oraclerag.tenants.export import TABLES
from tests.local.conftest import Account
from tests.local.desk import Desk, open_desk, total

pytestmark = pytest.mark.one_size

GONE = "canary"  # who is to go; the name stands in every text, id and file of that tenant
STAYS = "globex"


@pytest.fixture(scope="module")
def opened(module_account: Account, tiny_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    desk = open_desk(module_account, tiny_file, tmp_path_factory.mktemp("desk"))
    yield desk
    desk.rag.close()
    desk.connection.close()


@pytest.fixture
def empty(opened: Desk) -> Desk:
    opened.clear()
    opened.touched = True
    return opened


@pytest.fixture
def whole(opened: Desk) -> Desk:
    """Two tenants, and something of each in every table that says whose its rows are; for tests that leave it so."""
    if opened.touched:
        opened.clear()
        opened.fill(GONE, STAYS)
        for tenant in (GONE, STAYS):
            scope = Scope(tenant=tenant, manager=True)
            opened.rag.ask(f"Why does {tenant} pay late?", scope=scope, session=f"of {tenant}")
            opened.sql(
                "INSERT INTO RAG_USAGE (TENANT_ID, USAGE_DAY, PHYSICAL_NAME, TOKENS) "
                "VALUES (:1, DATE '2026-01-31', 'M', 7)",
                tenant,
            )
        opened.sql("INSERT INTO RAG_ENTITY (SOURCE_TYPE, SOURCE_ID) VALUES ('ticket', :1)", f"{GONE}/that is gone")
        opened.touched = False
    opened.sql("DELETE FROM RAG_DIRTY")
    for tenant in (GONE, STAYS):
        opened.sql(
            "INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID, TENANT_ID, STATE, LAST_ERROR) "
            "VALUES ('ticket', :1, :2, 'DEAD', :3)",
            f"{tenant}/0", tenant, f"of {tenant}",
        )  # fmt: skip
        enqueue(opened, f"{tenant}/new", tenant)
    return opened


@pytest.fixture
def desk(whole: Desk) -> Desk:
    """The same, for tests that change it."""
    whole.touched = True
    return whole


def enqueue(desk: Desk, source_id: str, tenant: str) -> None:
    desk.sql("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, TENANT_ID) VALUES ('ticket', :1, :2)", source_id, tenant)


def hold(desk: Desk, source_id: str) -> None:
    """Be a worker that has taken the ticket of an entity."""
    desk.sql(
        "UPDATE RAG_ENTITY SET HOLDER = 'w', HELD_UNTIL = SYS_EXTRACT_UTC(SYSTIMESTAMP) + INTERVAL '1' HOUR "
        "WHERE SOURCE_ID = :1",
        source_id,
    )  # fmt: skip


# -- list, onboard, verify --------------------------------------------------------------------------------------------


def test_tenants_are_counted(whole: Desk) -> None:
    expected = [TenantSummary(name, 5, 5, 1, 1, waiting=1, dead=1, searches=1) for name in (GONE, STAYS)]
    assert whole.rag.tenants.list() == expected


def test_a_new_tenant_is_what_the_sources_say(empty: Desk) -> None:
    empty.fill(STAYS)
    empty.ticket("a/1", "acme", "Late payments of acme")
    report = empty.rag.tenants.onboard("acme")
    assert report.sources == (SourceCoverage("ticket", 1, 1, enqueued=1),)
    assert (report.summary.waiting, report.hits, report.phrase) == (1, 0, None)
    report = empty.rag.tenants.onboard("acme", now=True)
    assert report.sources == (SourceCoverage("ticket", 1, 0, enqueued=0),)  # the row is there already
    assert (report.summary.chunks, report.hits) == (1, 1)
    assert empty.rag.tenants.onboard("nobody").sources == (SourceCoverage("ticket", 0, 0),)


@pytest.mark.parametrize("name", ["", " ", "-", "acme ", " acme", "ac\u200bme", "ac\nme", "x" * 129])
def test_a_name_that_is_no_name_or_looks_like_another_is_refused(empty: Desk, name: str) -> None:
    with pytest.raises(InputError):
        empty.rag.tenants.onboard(name)


def test_a_whole_tenant_is_verified(whole: Desk) -> None:
    whole.sql("DELETE FROM RAG_DIRTY")
    report = whole.rag.tenants.verify(GONE, phrase=f"Late payment 1 of {GONE}", expect=SourceKey("ticket", f"{GONE}/1"))
    assert report.ok
    assert (report.rank, report.others, report.leaked) == (1, 2, ())
    assert {one.source: (one.total, one.missing) for one in report.coverage} == {
        "ticket": (3, 0),
        "file": (1, 0),
        "resolution": (1, 0),
    }
    assert whole.rag.tenants.verify(STAYS).ok


def problems(desk: Desk, **asked: Any) -> set[str]:
    return {problem.code for problem in desk.rag.tenants.verify(GONE, **asked).problems}


def test_what_is_wrong_with_a_tenant_is_said(desk: Desk) -> None:
    assert problems(desk) == {"DEAD_ROWS"}
    desk.sql("DELETE FROM RAG_DIRTY")
    assert problems(desk, phrase="late", expect=SourceKey("ticket", f"{STAYS}/1")) == {"NOT_FOUND"}
    desk.ticket("of/canary", GONE, "Another one")
    assert problems(desk) == {"NOT_INDEXED"}
    desk.sql("UPDATE RAG_CHUNK SET VISIBILITY = 'HIDDEN' WHERE SOURCE_ID = :1", f"{GONE}/2")
    assert problems(desk) == {"NOT_INDEXED", "HIDDEN_CHUNKS"}
    desk.sql("UPDATE RAG_CHUNK SET TENANT_ID = :1 WHERE SOURCE_ID = :2", STAYS, f"{GONE}/0")
    assert problems(desk) == {"NOT_INDEXED", "HIDDEN_CHUNKS", "FOREIGN_ROWS"}
    alone = desk.rag.tenants.verify(GONE).foreign
    their = "(SELECT ENTITY_ID FROM RAG_ENTITY WHERE SOURCE_ID = :2)"
    desk.sql(f"UPDATE RAG_DOCUMENT SET TENANT_ID = :1 WHERE ENTITY_ID = {their}", STAYS, f"{GONE}/0")
    assert desk.rag.tenants.verify(GONE).foreign == alone + 1
    desk.rag.wipe(tenant=GONE)
    assert problems(desk) == {"NOT_INDEXED", "NOTHING_INDEXED"}
    with pytest.raises(InputError, match="no phrase"):
        desk.rag.tenants.verify(GONE, expect=SourceKey("ticket", "1"))


def test_a_source_that_cannot_name_its_entities_is_said(desk: Desk) -> None:
    desk.sql("DELETE FROM RAG_DIRTY")

    @desk.rag.source("live", visibility="shared", tenants=True)
    def read(_connection: Any, _ids: Any) -> dict[str, Document]:
        return {}

    try:
        report = desk.rag.tenants.verify(GONE)
        assert (report.ok, report.uncounted) == (True, ("live",))
        assert desk.rag.tenants.onboard(GONE).uncounted == ("live",)
        leave(desk)
        with pytest.raises(InputError, match="live cannot be asked"):
            desk.rag.tenants.remove(GONE)
        assert desk.rag.tenants.remove(GONE, force=True).done
    finally:
        del desk.rag._sources["live"]
    assert desk.of(GONE) == {}


def test_a_source_that_fails_is_a_problem(desk: Desk) -> None:
    desk.sql("DELETE FROM RAG_DIRTY")
    desk.sql("ALTER TABLE TICKET RENAME COLUMN BODY TO BODY_BEFORE")
    try:
        report = desk.rag.tenants.verify(GONE)
        assert [problem.code for problem in report.problems] == ["STATEMENT_FAILED"]
        with pytest.raises(InputError, match="ticket cannot be counted"):
            desk.rag.tenants.onboard(GONE)
        with pytest.raises(InputError, match="ticket cannot be asked"):
            desk.rag.tenants.remove(GONE)
        assert desk.rag.tenants.remove(GONE, force=True).returning == {"ticket": None}
    finally:
        desk.sql("ALTER TABLE TICKET RENAME COLUMN BODY_BEFORE TO BODY")


def test_a_search_that_leaks_is_found_out(whole: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = whole.rag.search

    def search(question: str, *, scope: Scope, **options: Any) -> Any:
        return honest(question, scope=Scope(tenant=GONE, manager=True), **options)  # whoever asks

    monkeypatch.setattr(whole.rag, "search", search)
    assert "FOUND_BY_OTHERS" in problems(whole, phrase="late")


def test_an_entity_that_two_tenants_find_is_found_out(desk: Desk) -> None:
    """Whatever tenant a chunk of it names to who finds it."""
    columns = "CONTENT, CONTENT_HASH, SOURCE_TYPE, SOURCE_ID, VISIBILITY, EMBEDDING"
    desk.sql(
        f"INSERT INTO RAG_CHUNK (ENTITY_ID, CHUNK_NO, TENANT_ID, {columns}) "
        f"SELECT ENTITY_ID, CHUNK_NO + 100, :1, {columns} FROM RAG_CHUNK WHERE SOURCE_ID = :2",
        STAYS,
        f"{GONE}/1",
    )
    report = desk.rag.tenants.verify(GONE, phrase=f"Late payment 1 of {GONE}")
    assert [(key.id, key.tenant) for key in report.leaked] == [(f"{GONE}/1", STAYS)]
    assert "FOUND_BY_OTHERS" in {problem.code for problem in report.problems}


def test_rows_that_name_no_tenant_are_the_default_tenants_where_none_is_mapped(empty: Desk) -> None:
    settings = empty.rag.settings
    unmapped = tuple(dataclasses.replace(source, tenant=None) for source in settings.sources)
    empty.ticket("1", "acme", "Late payment")
    empty.sql("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('ticket', '1')")
    with Rag(dataclasses.replace(settings, sources=unmapped)) as rag:
        assert rag.tenants.list() == [TenantSummary("main", waiting=1)]
        assert rag.tenants.onboard("main", now=True).summary == TenantSummary("main", 1, 1)
        assert rag.tenants.verify("main").ok
        assert rag.tenants.onboard("acme").without == ("ticket",)
        enqueue(empty, "1", "acme")  # which is no tenant here
        assert rag.tenants.remove("acme").announced == 1
        assert [row.key.tenant for row in rag.queue_rows()] == [None]
        with pytest.raises(InputError, match="ticket has 1"):
            rag.tenants.remove("main")
        assert rag.tenants.remove("main", force=True).rows["RAG_DIRTY"] == 1
        assert rag.tenants.list() == []


# -- export -----------------------------------------------------------------------------------------------------------


def exported(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_everything_of_a_tenant_is_exported(whole: Desk, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    report = whole.rag.tenants.export(GONE, file)
    rows = exported(file)
    assert {table: sum(row["table"] == table for row in rows) for table in TABLES} == report.rows
    assert report.rows == {
        "RAG_FILE": 1, "RAG_RESOLUTION": 1, "RAG_ENTITY": 5, "RAG_DOCUMENT": 5, "RAG_CHUNK": 5, "RAG_DIRTY": 2,
        "RAG_SEARCH": 1, "RAG_SEARCH_HIT": report.rows["RAG_SEARCH_HIT"], "RAG_USAGE": 1,
    }  # fmt: skip
    assert report.rows["RAG_SEARCH_HIT"] > 0
    assert STAYS not in json.dumps(rows)
    # every value that is not NULL, but the vectors
    for table in ("RAG_FILE", "RAG_DOCUMENT", "RAG_CHUNK", "RAG_SEARCH"):
        with whole.connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {table} WHERE TENANT_ID = :1", [GONE], fetch_lobs=False)
            names = [column[0].lower() for column in cursor.description]
            filled = [{n for n, value in zip(names, row, strict=True) if value is not None} for row in cursor]
        mine = [set(row) - {"table"} for row in rows if row["table"] == table]
        assert sorted(map(sorted, mine)) == sorted(sorted(columns - {"embedding"}) for columns in filled)
    manifest = json.loads(Path(report.manifest).read_text())
    assert manifest["sha256"] == report.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert manifest["rows"] == report.rows
    assert manifest["schema_revision"]
    assert file.stat().st_mode & 0o077 == 0


def test_an_export_has_vectors_where_they_are_wanted_and_replaces_nothing_unasked(whole: Desk, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    whole.rag.tenants.export(GONE, file)
    with pytest.raises(InputError, match="is there already"):
        whole.rag.tenants.export(GONE, file)
    whole.rag.tenants.export(GONE, file, vectors=True, force=True)
    vectors = [row["embedding"] for row in exported(file) if row["table"] == "RAG_CHUNK"]
    assert [len(vector) for vector in vectors] == [384] * 5


def test_a_number_that_json_has_not_is_a_text(desk: Desk, tmp_path: Path) -> None:
    desk.sql("UPDATE RAG_SEARCH_HIT SET DISTANCE = BINARY_DOUBLE_NAN")
    desk.rag.tenants.export(GONE, tmp_path / "out.jsonl")
    hits = [row for row in exported(tmp_path / "out.jsonl") if row["table"] == "RAG_SEARCH_HIT"]
    assert {hit["distance"] for hit in hits} == {"nan"}


def test_an_export_that_was_interrupted_leaves_nothing(
    whole: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("oraclerag.tenants.export.json.dumps", fail)
    with pytest.raises(KeyboardInterrupt):
        whole.rag.tenants.export(GONE, tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_an_export_keeps_but_a_few_rows_in_memory(empty: Desk, tmp_path: Path) -> None:
    for number in range(30):
        empty.sql(
            "INSERT INTO RAG_FILE (TENANT_ID, COLLECTION, FILE_PATH, FILE_KIND, BODY, BODY_HASH) VALUES (:1, 'c', :2, 'docs', :3, 'x')",
            GONE, str(number), "x" * 400_000,
        )  # fmt: skip
    empty.rag.tenants.list()
    tracemalloc.start()
    try:
        report = empty.rag.tenants.export(GONE, tmp_path / "out.jsonl.gz")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert report.rows["RAG_FILE"] == 30
    assert peak < 12_000_000  # what the text alone has, and the local database is in this process


# -- remove -----------------------------------------------------------------------------------------------------------


def test_a_tenant_that_a_source_still_has_is_not_removed(desk: Desk) -> None:
    before = desk.everything()
    with pytest.raises(InputError, match=r"come back with the next backfill: ticket has 3"):
        desk.rag.tenants.remove(GONE)
    report = desk.rag.tenants.remove(GONE, dry_run=True)
    assert not report.done
    assert report.returning == {"ticket": 3}
    assert (report.rows["RAG_FILE"], report.rows["RAG_CHUNK"], report.rows["RAG_DIRTY"]) == (1, 5, 2)
    assert desk.everything() == before
    assert desk.rag.tenants.remove(GONE, force=True).done


def leave(desk: Desk) -> None:
    """The application deletes what the tenant had."""
    desk.sql("DELETE FROM TICKET WHERE TENANT = :1", GONE)


def test_no_byte_of_a_removed_tenant_stays_and_others_are_as_they_were(desk: Desk) -> None:
    leave(desk)
    others = [row for row in desk.index() if row[3] == STAYS]
    assert set(desk.of(GONE)) == {*TABLES, "RAG_SETTING"}
    report = desk.rag.tenants.remove(GONE)
    assert desk.of(GONE) == {}
    assert report.done
    assert {table: report.rows[table] for table in ("RAG_FILE", "RAG_RESOLUTION", "RAG_CHUNK", "RAG_DIRTY")} == {
        "RAG_FILE": 1, "RAG_RESOLUTION": 1, "RAG_CHUNK": 5, "RAG_DIRTY": 2,
    }  # fmt: skip
    assert report.rows["RAG_SEARCH"] == report.rows["RAG_USAGE"] == 1
    assert desk.index() == others
    assert desk.rag.queue_rows(tenant=STAYS)
    assert not any(desk.rag.tenants.remove(GONE).rows.values())  # again: nothing is there
    desk.sql("DELETE FROM RAG_DIRTY")
    assert desk.equal()


def test_every_table_that_says_whose_its_rows_are_is_known(desk: Desk) -> None:
    found = desk.sql("SELECT TABLE_NAME FROM USER_TAB_COLUMNS WHERE COLUMN_NAME = 'TENANT_ID' ORDER BY 1")
    views = {"RAG_ENQUEUE"}
    assert {table for (table,) in found} - views == set(TABLES)
    leave(desk)
    assert set(desk.rag.tenants.remove(GONE).rows) == set(TABLES)


def test_what_a_worker_holds_is_waited_for(desk: Desk) -> None:
    leave(desk)
    hold(desk, f"{GONE}/1")
    with pytest.raises(Contention, match="workers hold 1 of its entities"):
        desk.rag.tenants.remove(GONE, wait=0)
    assert desk.sql("SELECT SOURCE_ID FROM RAG_ENTITY WHERE TENANT_ID = :1", GONE) == [(f"{GONE}/1",)]  # all but that
    desk.due()
    assert desk.rag.tenants.remove(GONE, wait=0).done
    assert desk.of(GONE) == {}


def test_what_is_another_tenants_by_now_is_announced_for_that_one(desk: Desk) -> None:
    leave(desk)
    desk.ticket(f"{GONE}/1", STAYS, "Taken over")  # the trigger's row still names the tenant that it had
    desk.ticket(f"{GONE}/new", STAYS, "Taken over, and never met by a worker")
    report = desk.rag.tenants.remove(GONE)
    assert report.announced == 2
    desk.rag.work(once=True)
    assert {row[1] for row in desk.index() if "Taken over" in row[6]} == {f"{GONE}/1", f"{GONE}/new"}
    desk.sql("DELETE FROM RAG_DIRTY WHERE STATE = 'DEAD'")
    assert desk.equal()


class Killed(BaseException):
    """What ends a process."""


def kill_behind(patch: pytest.MonkeyPatch, calls: tuple[str, ...], number: int) -> None:
    """End the work behind so many calls of the driver: ``commit`` alone, or statements too."""
    counted = [0]

    def counting(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *arguments: Any, **more: Any) -> Any:
            result = original(self, *arguments, **more)
            counted[0] += 1
            if counted[0] == number:
                raise Killed
            return result

        return call

    for name in calls:
        owner = oracledb.Connection if name == "commit" else oracledb.Cursor
        patch.setattr(owner, name, counting(getattr(owner, name)))


def killed_everywhere(
    desk: Desk,
    calls: tuple[str, ...],
    step: int,
    prepare: Callable[[], None],
    run: Callable[[], Any],
    check: Callable[[], bool],
) -> int:
    """Kill a run behind its first call, then anew behind a later one …, each time run again; gives how many it has."""
    number = 1 - step
    while True:
        number += step
        prepare()
        with pytest.MonkeyPatch.context() as patch:
            kill_behind(patch, calls, number)
            try:
                run()
            except Killed:
                pass
            else:
                return number - 1
        desk.connection.rollback()
        run()
        assert check()


CALLS = [
    pytest.param(("commit",), 2, id="commits"),
    pytest.param(("commit", "execute", "executemany"), 1, id="statements", marks=pytest.mark.long),
]


@pytest.mark.parametrize(("calls", "step"), CALLS)
def test_a_removal_that_was_killed_goes_on(empty: Desk, calls: tuple[str, ...], step: int) -> None:
    empty.fill(STAYS)
    others = empty.index()

    def prepare() -> None:
        empty.fill(GONE)
        enqueue(empty, f"{GONE}/x", GONE)
        leave(empty)

    def run() -> None:
        empty.rag.tenants.remove(GONE)

    assert killed_everywhere(empty, calls, step, prepare, run, lambda: empty.of(GONE) == {}) >= 6
    assert empty.index() == others
    assert empty.equal()


# -- wipe -------------------------------------------------------------------------------------------------------------


def wiped(desk: Desk, **chosen: Any) -> set[tuple[Any, ...]]:
    before = set(desk.index())
    desk.rag.wipe(**chosen)
    return before - set(desk.index())


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"tenant": GONE}, lambda row: row[3] == GONE),
        ({"collection": "tickets", "tenant": STAYS}, lambda row: row[0] == "ticket" and row[3] == STAYS),
        ({"source": "file", "collection": "docs"}, lambda row: row[0] == "file"),
        ({}, lambda _: True),
    ],
    ids=["a tenant", "a collection of a tenant", "a collection of a source", "everything"],
)
def test_a_wipe_takes_what_was_chosen_and_a_backfill_brings_it_back(
    whole: Desk, chosen: dict[str, Any], expected: Callable[[tuple[Any, ...]], bool]
) -> None:
    whole.sql("DELETE FROM RAG_DIRTY")
    before, records = whole.index(), [whole.sql(f"SELECT * FROM {table}") for table in ("RAG_FILE", "RAG_RESOLUTION")]
    counted = whole.rag.wipe(**chosen, dry_run=True)
    assert (whole.index(), counted.done) == (before, False)
    gone = wiped(whole, **chosen)
    assert gone == {row for row in before if expected(row)}
    assert total(counted.sources) == len(gone)
    assert [whole.sql(f"SELECT * FROM {table}") for table in ("RAG_FILE", "RAG_RESOLUTION")] == records
    assert sum(report.enqueued for report in whole.rag.backfill()) == len(gone)
    whole.rag.work(once=True)
    assert whole.index() == before
    assert whole.equal()


def test_a_wipe_enqueues_what_it_takes_where_that_is_wanted(whole: Desk) -> None:
    whole.sql("DELETE FROM RAG_DIRTY")
    before = whole.index()
    report = whole.rag.wipe(announce=True)
    assert (report.enqueued, whole.index()) == (10, [])
    whole.rag.work(once=True)
    assert whole.index() == before
    assert whole.equal()


def test_a_wipe_waits_for_workers_and_leaves_alone_what_they_make_meanwhile(desk: Desk) -> None:
    hold(desk, f"{GONE}/1")
    with pytest.raises(Contention, match="Workers hold 1 of the entities"):
        desk.rag.wipe(wait=0)
    assert [row[1] for row in desk.index()] == [f"{GONE}/1"]
    desk.due()
    desk.rag.wipe(wait=0)
    assert desk.index() == []


def test_texts_of_the_log_that_quote_what_is_wiped_go(desk: Desk) -> None:
    texts = "SELECT TENANT_ID FROM RAG_SEARCH WHERE PROMPT IS NOT NULL OR ANSWER IS NOT NULL ORDER BY 1"
    assert desk.sql(texts) == [(GONE,), (STAYS,)]
    desk.rag.wipe(tenant=GONE)
    assert desk.sql(texts) == [(STAYS,)]


@pytest.mark.parametrize(("calls", "step"), CALLS)
def test_a_wipe_that_was_killed_goes_on(
    empty: Desk, monkeypatch: pytest.MonkeyPatch, calls: tuple[str, ...], step: int
) -> None:
    monkeypatch.setattr("oraclerag.wipe.SLICE", 2)
    empty.fill(GONE)
    whole = empty.index()

    def prepare() -> None:
        empty.rag.work(once=True)
        assert empty.index() == whole

    def run() -> None:
        empty.rag.wipe(announce=True)

    assert killed_everywhere(empty, calls, step, prepare, run, lambda: empty.index() == []) >= 3
    empty.rag.work(once=True)
    assert empty.index() == whole
    assert empty.equal()


@pytest.mark.long
def test_workers_and_writers_go_on_while_everything_is_wiped(empty: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers and somebody who changes tickets, beside two wipes and a removal: in the end all is equal."""
    monkeypatch.setattr("oraclerag.wipe._INTERVAL", 0.05)
    monkeypatch.setattr("oraclerag.tenants.remove._INTERVAL", 0.05)
    empty.fill(GONE, STAYS)
    leave(empty)
    stop = threading.Event()

    def work() -> None:
        with Rag(dataclasses.replace(empty.rag.settings, poll_interval=0.05)) as rag:
            rag.work(stop.is_set)

    def write() -> None:
        with empty.account.connect() as connection, connection.cursor() as cursor:
            for number in range(12):
                key = f"{STAYS}/{number % 3}"
                cursor.execute("UPDATE TICKET SET TITLE = :1 WHERE ID = :2", [f"Changed {number}", key])
                cursor.execute(
                    "INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, TENANT_ID) VALUES ('ticket', :1, :2)",
                    [key, STAYS],
                )
                connection.commit()

    with ThreadPoolExecutor() as threads:
        working = [threads.submit(work) for _ in range(2)]
        writing = threads.submit(write)
        try:
            for _ in range(2):
                empty.rag.wipe(announce=True, wait=60)
            empty.rag.tenants.remove(GONE, wait=60)
            writing.result()
            empty.rag.wait(timeout=60)
        finally:
            stop.set()
        for one in working:
            one.result()
    assert empty.of(GONE) == {}
    assert {row[1] for row in empty.index() if row[0] == "ticket"} == {f"{STAYS}/{number}" for number in range(3)}
    assert empty.equal()
