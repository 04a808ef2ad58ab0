"""Files become entities: what is new, changed, unchanged or gone, end to end and where it goes wrong."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from oraclerag import Envelope, IngestedFile, IngestReport, Rag, Scope
from oraclerag.errors import ConfigurationError, InputError, MissingTenant
from oraclerag.ingest import store
from tests.local.conftest import Account
from tests.local.library import install, settings_of

pytestmark = pytest.mark.one_size

EVERYBODY = Scope()


@pytest.fixture(scope="module")
def installed(module_account: Account, tiny_file: Path) -> Account:
    install(module_account, tiny_file).close()
    return module_account


@pytest.fixture
def rag(installed: Account) -> Iterator[Rag]:
    """An installation without files, as it is before the first one."""
    with Rag(settings_of(installed)) as opened:
        with opened.database.transaction() as connection, connection.cursor() as cursor:
            for table in ("RAG_FILE", "RAG_DIRTY", "RAG_ENTITY", "RAG_SETTING WHERE SCOPE_NAME <> '*'"):
                cursor.execute(f"DELETE FROM {table}")
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    kb = tmp_path / "kb"
    (kb / "backup").mkdir(parents=True)
    (kb / "vacation.md").write_text("# Vacation\n\nAsk for vacation two weeks before.\n")
    (kb / "backup" / "rman.md").write_text("# RMAN\n\nA backup ends with RMAN-03009 when the disk is full.\n")
    return kb


def queued(rag: Rag) -> int:
    return rag.queue_status().ready


def found(rag: Rag, question: str) -> list[str]:
    return [hit.title or "" for hit in rag.search(question, scope=EVERYBODY, k=50)]


def test_files_are_found_changed_files_replaced_and_files_that_left_gone(rag: Rag, folder: Path) -> None:
    report = rag.ingest(folder)
    assert (report.new, report.changed, report.unchanged, report.failed) == (2, 0, 0, 0)
    assert queued(rag) == 2
    rag.work(once=True)
    assert set(found(rag, "vacation")) == {"Vacation", "RMAN"}
    [audited] = rag.audit()
    assert audited.ok
    assert audited.equal == 2

    assert rag.ingest(folder).unchanged == 2
    assert queued(rag) == 0

    (folder / "vacation.md").write_text("# Vacation\n\nAsk your team first.\n")
    report = rag.ingest(folder)
    assert (report.changed, report.unchanged, queued(rag)) == (1, 1, 1)
    rag.work(once=True)
    texts = [hit.content for hit in rag.search("vacation", scope=EVERYBODY)]
    assert any("Ask your team first." in text for text in texts)
    assert not any("two weeks" in text for text in texts)

    (folder / "data.csv").write_text("named, though no document")
    assert rag.ingest(folder / "data.csv").new == 1
    assert rag.ingest(folder, prune=True).removed == 0, "it is there"
    (folder / "data.csv").unlink()
    assert rag.ingest(folder, prune=True).removed == 1
    (folder / ".draft.md").write_text("# A draft")
    assert rag.ingest(folder / ".draft.md").new == 1
    assert rag.ingest(folder, prune=True).removed == 0, "hidden, and named"
    (folder / ".draft.md").unlink()
    rag.work(once=True)

    (folder / "backup" / "rman.md").unlink()
    assert rag.ingest(folder).removed == 0
    assert found(rag, "backup").count("RMAN") == 1
    assert rag.ingest(folder, prune=True).removed == 1
    rag.work(once=True)
    assert set(found(rag, "backup")) == {"Vacation", "A draft"}
    [audited] = rag.audit()
    assert audited.ok
    assert audited.total == 2


def rows(rag: Rag, columns: str = "FILE_PATH") -> list[tuple[object, ...]]:
    with rag.database.connect() as connection, connection.cursor() as cursor:
        statement = f"SELECT {columns} FROM RAG_FILE ORDER BY TENANT_ID, COLLECTION, FILE_PATH"
        cursor.execute(statement, fetch_lobs=False)
        return list(cursor)


def outcomes(report: IngestReport) -> dict[str, str]:
    return {file.name: file.outcome for file in report.files}


def test_what_is_said_of_files_is_kept_and_a_change_of_it_is_a_change(rag: Rag, folder: Path) -> None:
    moment = dt.datetime(2026, 3, 31, 16, 0, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    known = Envelope(environment="PROD-US-01", module="AP", version="EBS R12.2.10", script="SYS-03")
    given: dict[str, Any] = {
        "envelope": known,
        "metadata": {"area": ["close"], "order": 1.1, "erp_module": "GL"},
        "occurred_at": moment,
    }
    assert rag.ingest(folder, collection="handbook", **given).new == 2
    rag.work(once=True)
    [hit] = [hit for hit in rag.search("vacation", scope=EVERYBODY) if hit.title == "Vacation"]
    assert (hit.collection, hit.occurred_at) == ("handbook", moment)
    assert {**hit.metadata, "order": float(hit.metadata["order"])} == {
        "file": "kb/vacation.md", "area": ["close"], "order": 1.1, "environment_id": "PROD-US-01", "erp_module": "AP",
        "erp_version": "EBS R12.2.10", "source_script": "SYS-03",
    }  # fmt: skip
    assert rag.ingest(folder, collection="handbook", **given).unchanged == 2
    hidden = {**given, "visibility": "owner", "owner": "7"}
    assert rag.ingest(folder / "vacation.md", collection="handbook", **hidden).changed == 1
    rag.work(once=True)
    assert "Vacation" not in found(rag, "vacation")
    assert "Vacation" in [hit.title for hit in rag.search("vacation", scope=Scope(owner="7"))]
    assert rag.ingest(folder / "vacation.md").new == 1, "in another collection it is another file"


def test_reports_are_cut_as_reports_and_their_secrets_masked(rag: Rag, tmp_path: Path) -> None:
    log = tmp_path / "night.log"
    log.write_text(
        "# sqlplus apps/secret4711@PROD\nSQL> connect apps/secret4711@PROD\nERROR:\n"
        "ORA-01017: invalid username/password; logon denied\n"
    )
    report = rag.ingest(log, kind="diagnostics")
    assert (report.new, report.masked, report.collection) == (1, 2, "diagnostics")
    [(body, kind, title)] = rows(rag, "BODY, FILE_KIND, TITLE")
    assert title == "sqlplus apps/xxxxxxxxxx@PROD"
    assert "secret4711" not in str(body)
    assert "ORA-01017" in str(body)
    assert kind == "diagnostics"
    rag.work(once=True)
    hits = rag.search("logon denied", scope=EVERYBODY)
    assert {code for hit in hits for code in hit.metadata.get("oracle_error_code", [])} == {"ORA-01017"}
    assert all("report_family" in hit.metadata for hit in hits)
    assert rag.ingest(log, kind="docs", collection="diagnostics").changed == 1, "cut another way"
    rag.work(once=True)
    assert not any("report_family" in hit.metadata for hit in rag.search("logon denied", scope=EVERYBODY))
    assert all(one.ok for one in rag.audit())


def test_a_file_that_cannot_be_read_stops_no_other(rag: Rag, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rag.ingest(folder)
    before = rows(rag, "FILE_PATH, BODY_HASH")
    (folder / "vacation.md").write_bytes(b"\x00" * 5000)
    (folder / "big.md").write_text("word " * 1000)
    (folder / "latin.md").write_bytes("Fünf Prüfungen vor dem Abschluß, alle Jahre wieder.".encode("latin-1"))
    (folder / "gone.md").write_text("soon")
    told: list[tuple[str, int, int]] = []

    def watch(file: IngestedFile, done: int, total: int) -> None:
        (folder / "gone.md").unlink(missing_ok=True)
        told.append((file.outcome, done, total))

    report = rag.ingest(folder, max_bytes=3000, on_file=watch)
    assert [(done, total) for _, done, total in told] == [(number, 5) for number in range(1, 6)]
    assert outcomes(report) == {
        "kb/big.md": "failed", "kb/gone.md": "failed", "kb/latin.md": "new", "kb/vacation.md": "failed",
    }  # fmt: skip
    assert (report.replaced, report.ok) == (3, False)
    [failed] = [file for file in report.files if file.name == "kb/vacation.md"]
    assert failed.reason is not None
    assert failed.reason.endswith("what was ingested of it before stays")
    assert set(before) <= set(rows(rag, "FILE_PATH, BODY_HASH"))


def test_a_row_and_its_queue_row_are_written_together_or_not_at_all(
    rag: Rag, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store, "enqueue_many", end)
        with pytest.raises(KeyboardInterrupt):
            rag.ingest(folder)
    assert rows(rag) == []
    assert queued(rag) == 0
    rag.ingest(folder)
    rag.work(once=True)
    (folder / "vacation.md").write_text("changed")
    (folder / "backup" / "rman.md").unlink()
    before = rows(rag, "FILE_PATH, BODY_HASH")
    with monkeypatch.context() as patched:
        patched.setattr(store, "enqueue_many", end)
        for prune in (False, True):
            with pytest.raises(KeyboardInterrupt):
                rag.ingest(folder, prune=prune)
    assert rows(rag, "FILE_PATH, BODY_HASH") == before
    assert queued(rag) == 0


def test_another_process_writes_the_same_file(rag: Rag, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was looked up before is not there any more, or has come since: it is looked at again."""
    known = store.Store.known
    file = folder / "vacation.md"

    def stale(one: store.Store, names: Sequence[str]) -> dict[str, store.Stored]:
        monkeypatch.setattr(store.Store, "known", known)
        found = one.known(names)
        if found:  # removed behind our back
            list(one.remove([stored.file_id for stored in found.values()]))
            return found
        rag.ingest(file)  # written behind our back
        return found

    monkeypatch.setattr(store.Store, "known", stale)
    assert rag.ingest(file).unchanged == 1
    file.write_text("changed")
    monkeypatch.setattr(store.Store, "known", stale)
    assert rag.ingest(file).new == 1
    assert rows(rag) == [("kb/vacation.md",)]


def test_prune_takes_nothing_away_by_mistake(rag: Rag, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        (folder / f"note{number}.md").write_text(f"note {number}")
    other = folder.parent / "other"
    other.mkdir()
    (other / "other.md").write_text("of another folder")
    rag.ingest([folder, other])
    rag.ingest(folder, collection="second")
    rag.ingest(folder / "note0.md", kind="diagnostics", collection="docs", name="kb/reports")
    everything = rows(rag)

    for paths in (folder / "note0.md", f"{folder}/*.md"):
        with pytest.raises(InputError, match="has left a folder; name one"):
            rag.ingest(paths, prune=True)
    shutil.move(folder, folder.parent / "elsewhere")
    with pytest.raises(InputError, match="no file or folder"):
        rag.ingest(folder, prune=True)
    folder.mkdir()
    with pytest.raises(InputError, match="would remove 6 of 6 files; nothing was done"):
        rag.ingest(folder, prune=True)
    scan = os.scandir

    def refuse(path: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    assert rag.ingest(folder, prune=True, force=True).removed == 0, "nobody could look"
    monkeypatch.setattr(os, "scandir", scan)
    assert rows(rag) == everything

    report = rag.ingest(folder, prune=True, force=True)
    assert report.removed == 6
    assert set(rows(rag, "COLLECTION, FILE_PATH")) == {
        ("docs", "other/other.md"), ("docs", "kb/reports/note0.md"), ("second", "kb/backup/rman.md"),
        ("second", "kb/vacation.md"), *(("second", f"kb/note{number}.md") for number in range(4)),
    }  # fmt: skip


def test_arguments_that_mean_nothing(rag: Rag, folder: Path) -> None:
    empty = folder.parent / "empty"
    empty.mkdir()
    for paths, why in (
        ([], "No file or folder"),
        (empty, "no file in what was named"),
        (empty / "x", "no file or folder"),
    ):
        with pytest.raises(InputError, match=why):
            rag.ingest(paths)
    with pytest.raises(ConfigurationError, match="no encoding"):
        rag.ingest(folder, encoding="klingon")
    assert rows(rag) == []


def test_whose_files_are(rag: Rag, folder: Path, installed: Account) -> None:
    with pytest.raises(InputError, match="No source maps a tenant"):
        rag.ingest(folder, tenant="acme")
    with Rag(settings_of(installed, tenant="acme")) as acme:
        assert acme.ingest(folder).new == 2
        assert rag.ingest(folder).new == 2, "the same name under another tenant is another file"
        assert acme.ingest(folder, prune=True).removed == 0
        rag.work(once=True)
        assert [audited.total for audited in rag.audit(tenant="acme")] == [2]
        for tenant in ("acme", "main"):
            assert len(rag.search("vacation", scope=Scope(tenant=tenant))) == 2

    rag.source("task", visibility="shared", tenants=True, ids="select id, tenant from task")(lambda *_: {})
    with pytest.raises(MissingTenant, match="whose are they"):
        rag.ingest(folder)
    with pytest.raises(InputError, match="stands for none"):
        rag.ingest(folder, tenant="-")
    assert rag.ingest(folder, tenant="other").new == 2


def test_standard_input(rag: Rag) -> None:
    text = io.BytesIO(gzip.compress(b"# Night\n\nAll jobs ended.\n"))
    assert rag.ingest("-", name="night/report.md", stdin=text).new == 1
    assert rows(rag, "FILE_PATH, TITLE") == [("night/report.md", "Night")]


def test_an_installation_without_files_does_not_see_the_source(rag: Rag, folder: Path) -> None:
    assert (rag.audit(), rag.backfill(), rag.check_sources()) == ([], [], [])
    with pytest.raises(ConfigurationError, match="comes with every installation"):
        rag.source("file", visibility="shared")(lambda *_: {})
    rag.ingest(folder)
    assert [(one.source, one.total) for one in rag.backfill()] == [("file", 2)]
    rag.work(once=True)
    assert [(one.source, one.green) for one in rag.check_sources()] == [("file", True)]
    assert [(one.enqueued, one.gone) for one in rag.backfill()] == [(0, 0)]


def test_other_sizes_of_chunks_are_found_by_a_backfill(rag: Rag, folder: Path, installed: Account) -> None:
    rag.ingest(folder)
    rag.work(once=True)
    with Rag(settings_of(installed, chunk_size_tokens=20, chunk_overlap_tokens=0)) as other:
        assert other.backfill(source="file")[0].enqueued == 2
        other.work(once=True)
        assert other.audit()[0].ok


@pytest.mark.parametrize("size", [40_000, 3_000_000])
def test_long_texts_are_stored_whole(rag: Rag, tmp_path: Path, size: int) -> None:
    text = ("Zeile für Zeile ein Text, 東京.\n" * (size // 30))[:size]
    (tmp_path / "long.md").write_text(text)
    rag.ingest(tmp_path / "long.md", metadata={"words": "x" * 5000})
    [(body,)] = rows(rag, "BODY")
    assert body == text
    (tmp_path / "long.md").write_text(text + "and more")
    assert rag.ingest(tmp_path / "long.md").changed == 1
