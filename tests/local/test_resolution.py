"""Resolved incidents from end to end: kept, found by what they are about, by nobody else, and gone when removed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oraclerag import Resolution, Scope
from oraclerag.errors import InputError
from oraclerag.rag import Rag
from tests.local.conftest import Account
from tests.local.library import install

pytestmark = pytest.mark.one_size
MAIN = Scope(tenant="main")
FULL = Resolution(
    title="Temporary tablespace full during close",
    symptom="The close fails with ORA-1652 while sorting.",
    analysis="TEMP has one file without autoextend; see also ORA-03113 in the client.",
    fix="Add a temporary file of 32 GB, and let it grow.",
    error_codes=["ora-12801"],
    resolution_type="tablespace extension",
    oracle_doc_id="793380.1",
    environment="PROD-US-01",
    module="GL",
    version="EBS R12.2.10",
    script="SYS-03",
    metadata={"team": "dba", "hours": 1.5},
)


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(module_account, tiny_file, initial_delay=0.0) as opened:
        yield opened


def found(rag: Rag, scope: Scope = MAIN, **filters: Any) -> list[str]:
    """Index what waits, and give the ids of the resolutions that a search finds, nearest first."""
    rag.work(once=True)
    wanted = {f"metadata.{name}": value for name, value in filters.items()}
    hits = rag.search("temporary tablespace", scope=scope, source="resolution", filter=wanted)
    return list(dict.fromkeys(hit.source.id for hit in hits))


def test_a_resolution_is_found_by_code_and_environment_until_it_is_removed(rag: Rag, module_account: Account) -> None:
    kept = rag.record_resolution(FULL)
    assert (kept.tenant, kept.error_codes, kept.resolution_type) == ("main", ("ORA-12801",), "Tablespace Extension")
    assert kept.recorded_at is not None
    assert kept.validated_at is None
    assert found(rag, oracle_error_primary="ORA-12801", environment_id="PROD-US-01") == [str(kept.id)]
    assert found(rag, Scope(tenant="acme")) == []
    assert found(rag, oracle_error_primary="ORA-00942") == []
    [hit] = rag.search("temporary tablespace", scope=MAIN, source="resolution")
    assert hit.content == (
        f"[RESOLUTION #{kept.id}] Temporary tablespace full during close\n"
        "Errors: ORA-12801\n"
        "Symptom: The close fails with ORA-1652 while sorting.\n\n"
        "Analysis: TEMP has one file without autoextend; see also ORA-03113 in the client.\n\n"
        "Fix: Add a temporary file of 32 GB, and let it grow.\n"
    )
    assert hit.occurred_at == kept.recorded_at
    assert hit.collection == "resolutions"
    assert dict(hit.metadata) == {
        "oracle_error_code": ["ORA-12801", "ORA-01652", "ORA-03113"], "oracle_error_primary": "ORA-12801",
        "oracle_error_cause": "ORA-12801", "resolution_type": "Tablespace Extension", "oracle_doc_id": "793380.1",
        "environment_id": "PROD-US-01", "erp_module": "GL", "erp_version": "EBS R12.2.10", "source_script": "SYS-03",
        "team": "dba", "hours": 1.5,
    }  # fmt: skip
    with module_account.connect() as connection, connection.cursor() as cursor:  # by any of its codes
        cursor.execute(
            "SELECT COUNT(*) FROM RAG_CHUNK c WHERE c.SOURCE_ID = :id "
            "AND JSON_EXISTS(c.METADATA, '$.oracle_error_code?(@ == $code)' PASSING :code AS \"code\")",
            id=str(kept.id), code="ORA-03113",
        )  # fmt: skip
        assert cursor.fetchone() == (1,)
    assert kept.id is not None
    rag.resolutions.remove(kept.id, scope=MAIN)
    assert found(rag) == []


def test_a_resolution_is_validated_and_replaced(rag: Rag) -> None:
    kept = rag.record_resolution(Resolution(title="Old title", fix="Restart the listener.", validated_by="ana"))
    assert kept.validated_at is not None
    assert kept.id is not None
    checked = rag.resolutions.validate(
        kept.id, by="berta", at=dt.datetime(2026, 3, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2))), scope=MAIN
    )
    assert (checked.validated_by, checked.validated_at) == ("berta", dt.datetime(2026, 3, 1, 10, tzinfo=dt.UTC))
    assert found(rag, validated_by="berta") == [str(kept.id)]
    [hit] = rag.search("listener", scope=MAIN, source="resolution", filter={"metadata.validated_by": "berta"})
    assert hit.occurred_at == checked.validated_at
    again = rag.record_resolution(Resolution(id=kept.id, title="New title", fix="Fix the address.", owner="7",
                                             visibility="owner"))  # fmt: skip
    assert (again.id, again.validated_by, again.recorded_at) == (kept.id, None, kept.recorded_at)
    assert found(rag, Scope(tenant="main", owner="7")) == [str(kept.id)]
    assert found(rag) == []
    with pytest.raises(InputError, match=r"There is no resolution \d+ of the tenant 'main' that this scope sees"):
        rag.resolutions.get(kept.id, scope=MAIN)
    with pytest.raises(InputError, match=r"There is no resolution 4711 of the tenant 'main'"):
        rag.record_resolution(Resolution(id=4711, title="t", fix="f"))
    rag.resolutions.remove(kept.id, scope=Scope(tenant="main", manager=True))


def test_every_way_to_it_asks_for_the_tenant(rag: Rag) -> None:
    mine = rag.record_resolution(Resolution(title="Mine", fix="f", tenant="acme", validated_by="ana"))
    other = rag.record_resolution(Resolution(title="Of another", fix="f", tenant="zeta"))
    acme = Scope(tenant="acme", manager=True)
    assert mine.id is not None
    assert other.id is not None
    assert [one.id for one in rag.resolutions.list(scope=acme)] == [mine.id]
    assert rag.resolutions.list(scope=acme, validated=False) == []
    assert [one.title for one in rag.resolutions.list(scope=acme, validated=True, limit=1)] == ["Mine"]
    assert rag.resolutions.get(mine.id, scope=acme) == mine
    calls = (
        lambda: rag.resolutions.get(other.id, scope=acme),
        lambda: rag.resolutions.validate(other.id, by="x", scope=acme),
        lambda: rag.resolutions.remove(other.id, scope=acme),
        lambda: rag.record_resolution(Resolution(id=other.id, title="t", fix="f", tenant="acme")),
    )
    for call in calls:
        with pytest.raises(InputError, match="There is no resolution"):
            call()
    assert rag.resolutions.get(other.id, scope=Scope(tenant="zeta")) == other
    assert found(rag, acme) == [str(mine.id)]


def test_a_long_resolution_is_cut_and_every_piece_carries_its_codes(rag: Rag) -> None:
    steps = "\n".join(f"{number}. Look at the segment and move what can be moved." for number in range(200))
    kept = rag.record_resolution(Resolution(title="Long", symptom="ORA-01653 in the night", fix=steps))
    rag.work(once=True)
    hits = rag.search("segment", scope=MAIN, source="resolution", filter={"metadata.oracle_error_primary": "ORA-01653"})
    assert len(hits) > 3
    assert all(hit.content.startswith(f"[RESOLUTION #{kept.id}] Long") for hit in hits)


def test_a_failure_keeps_neither_the_row_nor_its_announcement(
    rag: Rag, module_account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise InputError("no")

    monkeypatch.setattr("oraclerag.resolution.enqueue", fails)
    with pytest.raises(InputError, match="no"):
        rag.record_resolution(Resolution(title="Never", fix="f"))
    with module_account.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM RAG_RESOLUTION WHERE TITLE = 'Never'")
        assert cursor.fetchone() == (0,)
