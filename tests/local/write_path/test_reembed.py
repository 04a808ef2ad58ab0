"""Another model without a gap: filled beside the one in force, put in its place, taken back or finished; under load too."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracledb
import pytest
from typer.testing import CliRunner

from oraclerag import Rag, Scope, in_force, index
from oraclerag.backfill import backfill
from oraclerag.cli import app
from oraclerag.drain import drain
from oraclerag.errors import ConfigurationError, InputError, ModelError, ModelNotActive
from oraclerag.merge import Merge
from oraclerag.model.installed import drop_model
from oraclerag.model.load import load_model
from oraclerag.model.use import use_model
from oraclerag.reembed import state
from oraclerag.testing import tiny_model
from tests.local.conftest import Account
from tests.local.write_path.tracker import Tracker, open_tracker

pytestmark = pytest.mark.one_size
MANAGER = Scope(manager=True)
NEW = "OTHER"


@pytest.fixture
def own(account: Account, tiny_file: Path, tmp_path: Path) -> Iterator[Tracker]:
    """An installation of this test alone, with five tasks that are indexed and another model that is loaded."""
    opened = open_tracker(account, tiny_file)
    path = tmp_path / "other.onnx"
    path.write_bytes(tiny_model(64, seed=3))
    with opened.database.connect() as connection:
        load_model(connection, path, name=NEW, schema=opened.database.schema, passage_prefix="passage: ")
    for number in range(1, 6):
        opened.task(number, f"Task {number}", f"The {number}th thing that is late")
    opened.enqueue(*range(1, 6))
    opened.drain_all()
    yield opened
    opened.close()


@pytest.fixture
def rag(own: Tracker) -> Iterator[Rag]:
    with Rag(own.settings) as opened:
        yield opened


def names(own: Tracker) -> dict[str, str]:
    return dict(own.sql("SELECT SETTING, SETTING_VALUE FROM RAG_SETTING WHERE SCOPE_NAME = '*'"))


def columns(own: Tracker) -> set[str]:
    described = own.sql(
        "SELECT COLUMN_NAME FROM USER_TAB_COLUMNS WHERE TABLE_NAME = 'RAG_CHUNK' AND DATA_TYPE LIKE 'VECTOR%'"
    )
    return {name for (name,) in described}


def farthest(own: Tracker, column: str, physical_name: str, prefix: str = "") -> Any:
    """How far the vectors of a column are from those of its model and the present texts; None where one is missing."""
    if own.scalar(f"SELECT COUNT(*) FROM RAG_CHUNK WHERE {column} IS NULL"):
        return None
    return own.scalar(
        f"SELECT MAX(VECTOR_DISTANCE({column}, VECTOR_EMBEDDING({physical_name} USING '{prefix}' || CONTENT AS DATA), COSINE)) "
        "FROM RAG_CHUNK"
    )


def assert_both(own: Tracker) -> None:
    found = names(own)
    for model, column in ((found["model"], found["vector_column"]), (found["second_model"], found["second_column"])):
        assert farthest(own, column, model, "passage: " if model.startswith(NEW) else "") < 1e-6, column


def test_there_and_back_and_to_the_end(own: Tracker, rag: Rag) -> None:
    old = names(own)["model"]
    assert rag.reembedding.status().state is None
    found = rag.reembedding.fill(NEW)
    assert (found.state, found.complete, found.chunks, found.filled) == ("filling", True, 5, 5)
    assert names(own)["model"] == old
    assert rag.search("late", scope=MANAGER).model == old
    assert_both(own)

    # workers write both
    own.sql("UPDATE task SET title = 'Renamed' WHERE id = 3")
    own.task(6, "Another")
    own.sql("DELETE FROM task WHERE id = 1")
    own.connection.commit()
    own.enqueue(1, 3, 6)
    assert own.drain_all().embedded == 2
    assert_both(own)

    compared = rag.reembedding.compare(scope=MANAGER, questions=["late", "Renamed"], k=3)
    assert (compared.questions, compared.k, compared.origin) == (2, 3, "given")
    assert compared.overlap is not None and 0 <= compared.overlap <= 1  # noqa: PT018
    assert compared.recall == compared.recall_now == 1  # without an index an approximate search is exact

    switched = rag.reembedding.switch()
    assert (switched.model.startswith(NEW), switched.second_model, switched.state) == (True, old, "former")
    assert rag.search("late", scope=MANAGER).model == switched.model  # configured with the old name still
    with Rag(dataclasses.replace(own.settings, embedding_model=NEW)) as other:
        assert other.search("late", scope=MANAGER).model == switched.model
        assert other.backfill()[0].enqueued == 0  # nothing is missing, nothing is embedded again
        assert not any(report.wrong for report in other.audit())
    own.sql("UPDATE task SET title = 'Renamed again' WHERE id = 3")
    own.connection.commit()
    own.enqueue(2, 3)
    report = own.drain_all()
    assert (report.unchanged, report.embedded) == (1, 1)
    assert_both(own)

    back = rag.reembedding.rollback()
    assert (back.model, back.state, back.complete) == (old, "filling", True)
    assert rag.search("Renamed again", scope=MANAGER).model == old
    own.enqueue(3)
    assert own.drain_all().unchanged == 1
    rag.reembedding.switch()
    finished = rag.reembedding.finish()
    assert (finished.model.startswith(NEW), finished.state, columns(own)) == (True, None, {"EMBEDDING_2"})
    with Rag(dataclasses.replace(own.settings, embedding_model=NEW)) as other:
        assert other.search("late", scope=MANAGER).model == finished.model
        assert other.backfill()[0].enqueued == 0
    with Rag(own.settings) as former, pytest.raises(ModelNotActive):
        former.search("late", scope=MANAGER)


def test_given_up_nothing_is_left_of_it(own: Tracker, rag: Rag) -> None:
    before = names(own)
    rag.reembedding.fill(NEW)
    rag.reembedding.abort()
    assert columns(own) == {"EMBEDDING"}
    assert names(own) == before
    own.sql("UPDATE task SET title = 'Renamed' WHERE id = 3")
    own.connection.commit()
    own.enqueue(3)
    assert own.drain_all().embedded == 1


def test_an_index_of_its_own_goes_with_its_column(own: Tracker, rag: Rag) -> None:
    rag.build_index(force=True)
    rag.reembedding.fill(NEW)
    indexes = "SELECT INDEX_NAME FROM USER_INDEXES WHERE INDEX_TYPE = 'VECTOR' ORDER BY 1"
    assert own.sql(indexes) == [("RAG_CHUNK_EMB2_IDX",), ("RAG_CHUNK_EMB_IDX",)]
    rag.reembedding.switch()
    assert (rag.index_status().name, rag.index_status().usable) == ("RAG_CHUNK_EMB2_IDX", True)
    rag.reembedding.finish()
    assert own.sql(indexes) == [("RAG_CHUNK_EMB2_IDX",)]
    assert rag.rebuild_index(force=True).usable
    with Rag(dataclasses.replace(own.settings, embedding_model=NEW)) as other:
        assert len(other.search("late", scope=MANAGER, mode="approx", k=3)) == 3


def test_an_interrupted_fill_goes_on_where_it_was(own: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oraclerag.reembed.fill.SLICE", 2)

    def interrupt(done: int, _of: int) -> None:
        if done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rag.reembedding.fill(NEW, on_progress=interrupt)
    half = rag.reembedding.status()
    assert (half.state, half.filled, half.complete) == ("filling", 2, False)
    with pytest.raises(InputError, match="3 of 5 chunks have no vector"):
        rag.reembedding.switch()
    seen: list[int] = []
    assert rag.reembedding.fill(NEW, on_progress=lambda done, _of: seen.append(done)).complete
    assert seen[0] == 4  # not from the beginning
    assert_both(own)


def test_what_a_worker_has_locked_is_left_to_it(own: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fill waits for no row while it holds others; a later pass finds what was locked."""
    with own.database.connect() as other, other.cursor() as cursor:
        cursor.execute("SELECT CHUNK_ID FROM RAG_CHUNK WHERE SOURCE_ID = '2' FOR UPDATE")
        passes: list[int] = []

        def sleep(_: float) -> None:
            passes.append(own.scalar("SELECT COUNT(EMBEDDING_2) FROM RAG_CHUNK"))
            other.rollback()

        monkeypatch.setattr("oraclerag.reembed.fill.time.sleep", sleep)
        # the lock is taken before the column is there: begin it first, without waiting for the row
        other.rollback()
        rag.reembedding.fill(NEW)
        own.sql("UPDATE RAG_CHUNK SET EMBEDDING_2 = NULL")
        own.connection.commit()
        cursor.execute("SELECT CHUNK_ID FROM RAG_CHUNK WHERE SOURCE_ID = '2' FOR UPDATE")
        cursor.fetchall()
        assert rag.reembedding.fill(NEW).complete
    assert 4 in passes
    assert_both(own)


def test_a_worker_that_read_before_the_switch_began_takes_its_write_back(
    own: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, read, go = Merge.apply, threading.Event(), threading.Event()

    def apply(merge: Merge, *args: Any) -> Any:
        if not read.is_set():
            read.set()
            assert go.wait(30)
        return whole(merge, *args)

    monkeypatch.setattr(Merge, "apply", apply)
    own.sql("UPDATE task SET title = 'Renamed' WHERE id = 3")
    own.connection.commit()
    own.enqueue(3)
    reports = []
    worker = threading.Thread(target=lambda: reports.append(own.drain()))
    worker.start()
    try:
        assert read.wait(30)
        rag.reembedding.fill(NEW)
    finally:
        go.set()
        worker.join(30)
    assert (reports[0].given_back, reports[0].indexed) == (1, 0)
    own.due()
    assert own.drain_all().indexed == 1
    assert_both(own)


def test_nobody_is_writing_chunks_when_a_switch_has_begun_or_been_forgotten(
    own: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who reads what is in force before may write until the wait; who writes after it has read what was committed."""
    waits, seen = state.wait_for_writers, []

    def waited(connection: oracledb.Connection, schema: str) -> None:
        seen.append(names(own).get("second_model", "").partition("_")[0])
        waits(connection, schema)
        with own.account.connect() as writing, pytest.raises(oracledb.DatabaseError, match="ORA-00054"):
            writing.cursor().execute("LOCK TABLE RAG_CHUNK IN ROW EXCLUSIVE MODE NOWAIT")

    monkeypatch.setattr(state, "wait_for_writers", waited)
    rag.reembedding.fill(NEW)
    rag.reembedding.abort()
    assert seen == [NEW, ""]


def test_a_worker_sees_that_a_model_was_made_anew_since(own: Tracker, rag: Rag) -> None:
    """Of the same name in the same column, but no longer for what was embedded with the model before."""
    settings = dataclasses.replace(own.settings, embedding_model=NEW)
    rag.reembedding.fill(NEW)
    rag.reembedding.switch()
    rag.reembedding.finish()
    own.enqueue(1)
    assert drain(own.database, own.sources, settings, state=own.state).unchanged == 1
    with own.database.connect() as connection:
        for name in ("TINY", NEW):  # while the worker has nothing to do
            use_model(connection, name, schema=own.database.schema, rebuild=True)
    assert backfill(own.database, own.sources["task"], settings).enqueued == 5
    assert drain(own.database, own.sources, settings, state=own.state).embedded == 5
    assert backfill(own.database, own.sources["task"], settings).enqueued == 0


def test_what_does_not_fit_the_state_is_refused(own: Tracker, rag: Rag, tmp_path: Path) -> None:
    work = rag.reembedding
    for step in (work.switch, work.rollback, work.finish, work.abort):
        with pytest.raises(InputError, match="there is none"):
            step()
    with pytest.raises(InputError, match="in force already"):
        work.fill("TINY")
    with pytest.raises(InputError, match="pause must be"):
        work.fill(NEW, pause=-1)
    with pytest.raises(InputError, match="no second model"):
        work.compare(scope=MANAGER)
    short = tmp_path / "short.onnx"
    short.write_bytes(tiny_model(32, seed=4, max_tokens=16))
    with own.database.connect() as connection:
        load_model(connection, short, name="SHORT", schema=own.database.schema)
    with pytest.raises(ConfigurationError, match="reads 16 tokens"):
        work.fill("SHORT")
    assert columns(own) == {"EMBEDDING"}
    work.fill(NEW)
    with pytest.raises(InputError, match="is to come already"):
        work.fill("SHORT", allow_truncation=True)
    with pytest.raises(InputError, match="must be a manager's"):
        work.compare(scope=Scope(owner="7"))
    with own.database.connect() as connection:
        with pytest.raises(ModelError, match="switch of models is under way"):
            use_model(connection, "SHORT", schema=own.database.schema, rebuild=True)
        with pytest.raises(InputError, match="beside the model in force"):
            drop_model(connection, NEW, schema=own.database.schema)
    work.switch()
    with pytest.raises(InputError, match="is not finished"):
        work.fill(NEW)
    with pytest.raises(InputError, match="there is none"):
        work.abort()
    with own.database.connect() as connection, pytest.raises(InputError, match="beside the model in force"):
        drop_model(connection, "TINY", schema=own.database.schema)


def test_searches_and_writes_go_on_all_the_while(own: Tracker, rag: Rag) -> None:
    """No error, no empty result, no vector of one model compared with one of the other; in the end nothing is stale."""
    stop = threading.Event()
    failures: list[tuple[str, object]] = []
    texts = {key: chunks[0] for key, chunks in own.texts().items() if key in ("1", "2")}  # nobody writes these
    searched = []

    def search() -> None:
        with Rag(own.settings) as asking:
            while not stop.is_set():
                for key, text in texts.items():
                    found = asking.search(text, scope=MANAGER, k=3)
                    # the same text by the same model is at no distance, but for its prefix
                    nearest = found.hits[0] if found.hits else None
                    if nearest is None or nearest.source.id != key or nearest.distance > 0.5:
                        failures.append((key, nearest))
                    searched.append(found.model)

    def write() -> None:
        connection = own.account.connect()
        number = 0
        while not stop.is_set():
            number += 1
            with connection.cursor() as cursor:
                cursor.execute("UPDATE task SET title = :1 WHERE id = 3", [f"Renamed {number}"])
                cursor.execute("INSERT INTO RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID) VALUES ('task', '3')")
            connection.commit()
            stop.wait(0.01)
        connection.close()

    def guarded(work: Any) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - whatever a thread meets is what the test is about
            failures.append((work.__name__, repr(error)))

    def worker() -> None:
        with Rag(own.settings) as working:
            while not stop.is_set():
                working.drain()

    threads = [threading.Thread(target=guarded, args=(work,)) for work in (search, write, worker)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(2):
            rag.reembedding.fill(NEW)
            rag.reembedding.switch()
            rag.reembedding.rollback()
            rag.reembedding.switch()
            rag.reembedding.rollback()
            rag.reembedding.abort()
        rag.reembedding.fill(NEW)
        rag.reembedding.switch()
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)
    assert failures == []
    assert len(set(searched)) == 2
    own.due()
    own.drain_all()
    assert_both(own)
    assert not any(report.wrong for report in rag.audit())
    with own.database.connect() as connection:
        assert in_force.read(connection, own.database.schema).second_column == "EMBEDDING"


def test_on_the_command_line(own: Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("ORACLE_DSN", own.account.dsn), ("ORACLE_USER", own.account.user), ("ORACLE_PASSWORD", own.account.password),
        ("ORACLERAG_EMBEDDING_MODEL", "TINY"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)

    def run(*words: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, ["reembed", *words, "--json"])
        assert result.exit_code == code, result.output
        return json.loads(result.stdout) if result.stdout.startswith("{") else None

    assert run("--status")["state"] is None
    kept = run("--model", NEW, "--min-recall", "1", "--no-switch")
    assert (kept["state"], kept["filled"], kept["comparison"]["recall"]) == ("filling", 5, 1.0)
    assert run("--model", NEW)["state"] == "former"
    assert run("--rollback")["state"] == "filling"
    assert run("--abort")["state"] is None
    for words in ((), ("--status", "--finish"), ("--model", NEW, "--abort"), ("--model", NEW, "--min-recall", "2")):
        run(*words, code=2)
    shown = CliRunner().invoke(app, ["reembed", "--finish"])
    assert shown.exit_code == 1
    assert isinstance(shown.exception, InputError) or "there is none" in shown.output


def test_a_comparison_sees_one_tenant_alone(own: Tracker, rag: Rag) -> None:
    rag.reembedding.fill(NEW)
    with pytest.raises(InputError, match="no chunk in this scope"):
        rag.reembedding.compare(scope=Scope(tenant="nobody", manager=True))
    own.sql("UPDATE RAG_CHUNK SET TENANT_ID = 'other' WHERE SOURCE_ID <> '1'")
    own.connection.commit()
    assert rag.reembedding.compare(scope=MANAGER, questions=["late"], k=5).overlap == 1  # the one chunk of this tenant


def state_of(own: Tracker) -> dict[str, str]:
    return {name: value for name, value in names(own).items() if name.startswith("second_")}


class Killed(BaseException):
    """The process ended here."""


@pytest.mark.parametrize("step", ["forget", "index", "column"])
@pytest.mark.parametrize("ending", ["abort", "finish"])
def test_an_end_that_was_interrupted_is_done_again(
    own: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch, ending: str, step: str
) -> None:
    """A column nobody writes any more is known by name until it is gone, and no other switch begins over it."""
    rag.build_index(force=True)
    rag.reembedding.fill(NEW)
    if ending == "finish":
        rag.reembedding.switch()
    kept = names(own)["vector_column"]
    run = index.run

    def killed(connection: Any, statement: str) -> None:
        if step == "index":
            raise Killed
        run(connection, statement)
        if step == "column" and "DROP COLUMN" in statement:
            raise Killed

    with monkeypatch.context() as patch:
        if step == "forget":  # a writer that does not end within half a minute
            patch.setattr("oraclerag.reembed.state.wait_for_writers", lambda *_: (_ for _ in ()).throw(Killed))
        else:
            patch.setattr(index, "run", killed)
        with pytest.raises(Killed):
            getattr(rag.reembedding, ending)()
    found = rag.reembedding.status()
    assert (found.state, found.complete, "--abort" in (found.next_step or "")) == ("unfinished", False, True)
    with pytest.raises(InputError, match="being made or dropped"):
        rag.reembedding.fill("TINY" if ending == "finish" else NEW)
    own.sql("UPDATE task SET title = 'Renamed' WHERE id = 3")
    own.connection.commit()
    own.enqueue(3)
    in_force_now = NEW if ending == "finish" else "TINY"
    with Rag(dataclasses.replace(own.settings, embedding_model=in_force_now)) as later:
        assert later.drain().embedded == 1
        assert later.search("late", scope=MANAGER).hits
    getattr(rag.reembedding, ending)()
    assert (columns(own), state_of(own)) == ({kept}, {})
    assert farthest(own, kept, names(own)["model"], "passage: " if ending == "finish" else "") < 1e-6


def test_a_beginning_that_was_interrupted_is_given_up(own: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    before = names(own)
    with monkeypatch.context() as patch:
        patch.setattr("oraclerag.reembed.run.begin", lambda *_: (_ for _ in ()).throw(Killed))
        with pytest.raises(Killed):
            rag.reembedding.fill(NEW)
    assert columns(own) == {"EMBEDDING", "EMBEDDING_2"}
    assert rag.reembedding.abort().state is None
    assert (columns(own), names(own)) == ({"EMBEDDING"}, before)
    with monkeypatch.context() as patch:
        patch.setattr(index, "run", lambda *_: (_ for _ in ()).throw(Killed))
        with pytest.raises(Killed):
            rag.reembedding.fill(NEW)
    assert (columns(own), names(own)) == ({"EMBEDDING"}, before)


def test_of_two_that_begin_one_is_refused(own: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the column that one has filled with its model's vectors became the other's."""
    with Rag(own.settings) as other:

        def meanwhile(connection: Any, schema: str, column: str) -> None:
            with monkeypatch.context() as patch:
                patch.setattr("oraclerag.reembed.run.claim", state.claim)
                other.reembedding.fill(NEW)
            state.claim(connection, schema, column)

        monkeypatch.setattr("oraclerag.reembed.run.claim", meanwhile)
        with pytest.raises(InputError, match="Another process has begun"):
            rag.reembedding.fill(NEW)
    assert rag.reembedding.status().complete
    assert_both(own)


@pytest.mark.parametrize("step", ["begin", "column"])
def test_a_column_that_was_given_up_and_claimed_anew_is_the_third_process_s(
    own: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Else its column, of another dimension maybe, became that of the first one's model."""
    whole = state.begin if step == "begin" else index.run

    def meanwhile(*args: Any) -> None:
        monkeypatch.undo()
        with Rag(own.settings) as second, own.database.connect() as third:
            second.reembedding.abort()
            state.claim(third, own.database.schema, "EMBEDDING_2")
            claimed.update(state_of(own))
        whole(*args)
        if step == "column":
            raise Killed

    claimed: dict[str, str] = {}
    monkeypatch.setattr("oraclerag.reembed.run.begin" if step == "begin" else "oraclerag.index.run", meanwhile)
    with pytest.raises(InputError if step == "begin" else Killed):
        rag.reembedding.fill(NEW)
    assert state_of(own) == claimed
    assert claimed["second_state"] == "unfinished"


def test_nothing_is_switched_to_that_another_process_gives_up(
    own: Tracker, rag: Rag, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag.reembedding.fill(NEW)
    refused: list[str] = []

    def meanwhile(*args: Any) -> None:
        with Rag(own.settings) as other:  # it has forgotten the second model, and not dropped the column yet
            try:
                other.reembedding.switch()
            except InputError as error:
                refused.append(error.message)
        forgotten(*args)

    forgotten = index.run
    monkeypatch.setattr(index, "run", meanwhile)
    rag.reembedding.abort()
    assert refused[0].startswith("The switch needs a model that is to come")
    assert columns(own) == {"EMBEDDING"} == {names(own)["vector_column"]}


@pytest.mark.parametrize("left", ["second_model", "second_column"])
def test_settings_of_which_half_is_missing_stop_no_worker(own: Tracker, rag: Rag, left: str) -> None:
    rag.reembedding.fill(NEW)
    gone = "second_column" if left == "second_model" else "second_model"
    own.sql(f"DELETE FROM RAG_SETTING WHERE SETTING = '{gone}'")
    own.sql("UPDATE task SET title = 'Renamed' WHERE id = 3")
    own.connection.commit()
    own.enqueue(3)
    assert own.drain_all().embedded == 1
    assert rag.reembedding.status().state == "unfinished"
    with pytest.raises(InputError, match="being made or dropped"):
        rag.reembedding.fill(NEW)
    rag.reembedding.abort()
    assert (columns(own), state_of(own)) == ({"EMBEDDING"}, {})


def test_what_the_model_before_lacks_is_made_up_for(own: Tracker, rag: Rag) -> None:
    """Else there were no way back to it."""
    rag.reembedding.fill(NEW)
    rag.reembedding.switch()
    own.sql("UPDATE RAG_CHUNK SET EMBEDDING = NULL WHERE SOURCE_ID = '2'")
    own.connection.commit()
    with pytest.raises(InputError, match="1 of 5 chunks have no vector"):
        rag.reembedding.rollback()
    found = rag.reembedding.fill("TINY")
    assert (found.state, found.complete) == ("former", True)
    assert_both(own)
    assert rag.reembedding.rollback().state == "filling"
