"""Files become entities: what is new, changed, unchanged or gone, end to end and where it goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from oraclerag import Rag, Scope
from tests.local.conftest import Account
from tests.local.library import install

pytestmark = pytest.mark.one_size

EVERYBODY = Scope()


@pytest.fixture
def rag(account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(account, tiny_file) as opened:
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
    assert audited.ok and audited.equal == 2

    assert rag.ingest(folder).unchanged == 2
    assert queued(rag) == 0

    (folder / "vacation.md").write_text("# Vacation\n\nAsk your team first.\n")
    report = rag.ingest(folder)
    assert (report.changed, report.unchanged, queued(rag)) == (1, 1, 1)
    rag.work(once=True)
    texts = [hit.content for hit in rag.search("vacation", scope=EVERYBODY)]
    assert any("Ask your team first." in text for text in texts) and not any("two weeks" in text for text in texts)

    (folder / "backup" / "rman.md").unlink()
    assert rag.ingest(folder).removed == 0
    assert found(rag, "backup").count("RMAN") == 1
    assert rag.ingest(folder, prune=True).removed == 1
    rag.work(once=True)
    assert set(found(rag, "backup")) == {"Vacation"}
    [audited] = rag.audit()
    assert audited.ok and audited.total == 1
