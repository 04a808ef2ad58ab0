"""An incident from end to end: what a report says, what is known of it, the cited way out, and the way back."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from oraclerag import Rag, Resolution, Scope
from tests.local.conftest import Account
from tests.local.library import install

pytestmark = pytest.mark.one_size
MAIN = Scope(tenant="main")
SECRET = "welcome1"
ALERT = f"""\
2026-03-02T01:10:00.120000+01:00
Thread 1 advanced to log sequence 4711 (LGWR switch)
connect apps/{SECRET}@prod
2026-03-02T02:15:41.031000+01:00
Errors in file /u01/diag/rdbms/prod/PROD1/trace/PROD1_ora_777.trc  (incident=90210):
ORA-04031: unable to allocate 4160 bytes of shared memory ("shared pool","unknown object","sga heap(1,0)","KGLH0")
ORA-06512: at "APPS.XX_CLOSE", line 12
2026-03-02T02:16:02.500000+01:00
Errors in file /u01/diag/rdbms/prod/PROD1/trace/PROD1_ora_778.trc  (incident=90211):
ORA-04031: unable to allocate 4160 bytes of shared memory ("shared pool","unknown object","sga heap(1,0)","KGLH0")
"""
FIX = "1. Flush the shared pool: ALTER SYSTEM FLUSH SHARED_POOL.\n2. Raise shared_pool_size to 4G."


@pytest.fixture
def rag(account: Account, tiny_file: Path) -> Iterator[Rag]:
    with install(account, tiny_file, initial_delay=0.0) as opened:
        yield opened


def over_http(rag: Rag, url: str) -> Rag:
    return Rag(
        dataclasses.replace(
            rag.settings, generate_provider="openai", generate_base_url=url, generate_model="m", generate_timeout=5.0
        )
    )


def keep(rag: Rag, title: str, **more: Any) -> str:
    """Keep a resolution and index it; gives its key."""
    kept = rag.record_resolution(Resolution(**({"title": title, "fix": FIX, "error_codes": ["ORA-04031"]} | more)))
    rag.work(once=True)
    return f"resolution:{kept.id}"


def sources(matches: Any) -> list[str]:
    return [str(match.hit.source) for match in matches]


def test_what_resolved_an_incident_is_the_first_case_of_the_next(rag: Rag, tmp_path: Path) -> None:
    report = tmp_path / "alert.log"
    report.write_text(ALERT)
    before = rag.diagnose(report, scope=MAIN, env="PROD-US-01", module="AP")
    assert (before.path.outcome, before.cases, before.notes, before.missing) == ("no_grounds", (), (), ("ORA-04031",))
    assert [(one.code, one.count, one.line, one.cause) for one in before.found.errors] == [
        ("ORA-04031", 2, 6, True),
        ("ORA-06512", 1, 7, False),
    ]
    assert before.stored is not None
    rag.record_resolution(before.resolution(FIX, validated_by="ana"))
    rag.work(once=True)
    after = rag.diagnose(report, scope=MAIN, env="PROD-US-01", module="AP")
    [case] = after.cases
    assert case.validated
    assert case.reasons == (
        "names ORA-04031", "same environment, module", f"validated by ana {case.hit.occurred_at:%Y-%m-%d}",
    )  # fmt: skip
    assert "> 1. Flush the shared pool: ALTER SYSTEM FLUSH SHARED_POOL. [^1]" in after.path.text
    assert after.path.support.unsupported == after.path.support.uncited == 0
    assert [str(one.source) for one in after.path.citations] == sources(after.cases)
    assert (after.missing, after.reports) == ((), ())  # the report itself is in the index, and is no other one
    assert after.stored == before.stored
