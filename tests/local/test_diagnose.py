"""An incident from end to end: what a report says, what is known of it, the cited way out, and the way back."""

from __future__ import annotations

import dataclasses
import datetime as dt
import gzip
import io
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from oraclerag import Analysis, Diagnosis, Rag, Resolution, Scope
from oraclerag.diagnose import Match
from oraclerag.errors import InputError
from oraclerag.generate.over_http import OverHttp
from tests.local.conftest import Account
from tests.local.library import Entry, install, shelve
from tests.unit.fake_llm import JSON, Reply, completion, fake_llm

pytestmark = pytest.mark.one_size
MAIN = Scope(tenant="main")
SECRET = "welcome1"
FIX = "1. Flush the shared pool: ALTER SYSTEM FLUSH SHARED_POOL.\n2. Raise shared_pool_size to 4G."


def alert(code: str, message: str = "unable to allocate 4160 bytes of shared memory") -> str:
    """Give the log of a night in which an error came twice."""
    return f"""\
2026-03-02T01:10:00.120000+01:00
Thread 1 advanced to log sequence 4711 (LGWR switch)
connect apps/{SECRET}@prod
2026-03-02T02:15:41.031000+01:00
Errors in file /u01/diag/rdbms/prod/PROD1/trace/PROD1_ora_777.trc  (incident=90210):
{code}: {message}
ORA-06512: at "APPS.XX_CLOSE", line 12
2026-03-02T02:16:02.500000+01:00
Errors in file /u01/diag/rdbms/prod/PROD1/trace/PROD1_ora_778.trc  (incident=90211):
{code}: {message}
"""


@pytest.fixture(scope="module")
def rag(module_account: Account, tiny_file: Path) -> Iterator[Rag]:
    """Give an installation of all tests, which each have an error code of their own."""
    with install(module_account, tiny_file, initial_delay=0.0) as opened:
        yield opened


def over_http(rag: Rag, url: str) -> Rag:
    """Open another Rag whose texts come from an endpoint."""
    return Rag(
        dataclasses.replace(
            rag.settings, generate_provider="openai", generate_base_url=url, generate_model="m", generate_timeout=5.0
        )
    )


def keep(rag: Rag, code: str, *more: dict[str, Any]) -> list[str]:
    """Keep resolutions of a code and index them; gives their keys."""
    kept = [
        rag.record_resolution(Resolution(**({"title": f"Case {number}", "fix": FIX, "error_codes": [code]} | one)))
        for number, one in enumerate(more)
    ]
    rag.work(once=True)
    return [f"resolution:{one.id}" for one in kept]


def keys(matches: Sequence[Match]) -> list[str]:
    return [str(match.hit.source) for match in matches]


def test_what_resolved_an_incident_is_the_first_case_of_the_next(rag: Rag, tmp_path: Path) -> None:
    report = tmp_path / "alert.log"
    report.write_text(alert("ORA-04031"))
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
    assert [str(one.source) for one in after.path.citations] == keys(after.cases)
    assert (after.missing, after.reports) == ((), ())  # the report itself is in the index, and is no other one
    assert after.stored == before.stored
    other = rag.diagnose(alert("ORA-04031"), scope=MAIN)
    assert (keys(other.reports), other.stored) == ([str(before.stored)], None)
    [chunk, *_] = rag.search("shared memory", scope=MAIN, source="file", codes=["ORA-04031"])
    assert SECRET not in chunk.content
    assert SECRET not in repr(after)
    assert chunk.metadata["environment_id"] == "PROD-US-01"


def test_cases_stand_in_the_order_of_their_weight(rag: Rag) -> None:
    def on(day: int) -> dict[str, Any]:
        return {"validated_by": "ana", "validated_at": dt.datetime(2026, 1, day, tzinfo=dt.UTC)}

    here, there = {"environment": "PROD-US-01"}, {"environment": "PROD-EU-02"}
    other, old, new, version, unvalidated, _ = keep(
        rag, "ORA-01653", {**there, **on(9)}, {**here, **on(1)}, {**here, **on(2)},
        {**here, **on(1), "version": "EBS R12.2.10"}, here, {"error_codes": ["ORA-01654"], **here, **on(9)},
    )  # fmt: skip
    found = rag.diagnose(
        alert("ORA-01653"), scope=MAIN, env="PROD-US-01", version="EBS R12.2.10", cases=20, store=False
    )
    assert keys(found.cases) == [version, new, old, unvalidated, other]
    assert found.cases[0].reasons[1] == "same environment, version"
    assert found.cases[-1].reasons[1] == "another environment: PROD-EU-02"
    assert found.cases[-2].reasons[-1] == "not validated"
    assert keys(rag.diagnose(alert("ORA-01653"), scope=MAIN, env="PROD-US-01", cases=1).cases) == [new]
    assert rag.diagnose(alert("ORA-01653"), scope=MAIN, cases=0, notes=0).path.outcome == "no_grounds"


def test_a_case_is_read_whole_and_notes_follow(rag: Rag, module_account: Account) -> None:
    long = "\n".join(f"{number}. Move segment {number} to the other tablespace." for number in range(1, 60))
    [case] = keep(rag, "ORA-01691", {"symptom": "The night run stops. " * 40, "fix": long, "validated_by": "ana"})
    note = Entry(
        "n1", "ORA-01691: a LOB segment cannot grow.", source="note", metadata={"oracle_error_code": "ORA-01691"}
    )
    with rag.database.transaction() as connection:
        shelve(connection, module_account.user, [note])
    found = rag.diagnose(alert("ORA-01691", "unable to extend lob segment"), scope=MAIN)
    assert (keys(found.cases), keys(found.notes)) == ([case], ["note:n1"])
    assert "> 20. Move segment 20 to the other tablespace. [^1]" in found.path.text
    assert "> ORA-01691: a LOB segment cannot grow. [^2]" in found.path.text


def test_another_error_is_no_case_unless_what_is_near_is_asked_for(rag: Rag) -> None:
    [near] = keep(rag, "ORA-00060", {"title": "deadlock detected while waiting for resource", "validated_by": "ana"})
    report = alert("ORA-04020", "deadlock detected while trying to lock object")
    strict = rag.diagnose(report, scope=MAIN)
    assert (strict.cases, strict.path.outcome, strict.missing) == ((), "no_grounds", ("ORA-04020",))
    wide = rag.diagnose(report, scope=MAIN, fallback=True)
    assert near in keys(wide.cases)
    assert {match.reasons[0] for match in wide.cases} == {"names no code of the report, near by meaning"}
    assert rag.diagnose(report, scope=MAIN, fallback=True, min_score=0.999).cases == ()


def test_an_analysis_decides_what_is_searched_for(rag: Rag) -> None:
    [first] = keep(rag, "ORA-12516", {})
    made = rag.diagnose(
        alert("ORA-03113"), scope=MAIN, analysis={"error_codes": ["tns-12516"], "summary": "No handler."}
    )
    assert (keys(made.cases), made.analysed_by) == ([first], "caller")  # the same number of SQL*Net
    text = json.dumps({"summary": "Listener refuses"})
    told = rag.diagnose(alert("ORA-12516"), scope=MAIN, analysis=text)
    assert told.cases[0].reasons[0] == "names ORA-12516"
    assert told.resolution("f").error_codes == ("ORA-12516",)
    assert made.resolution("f").error_codes == ("TNS-12516",)


def test_where_there_are_only_waits_what_names_one_counts(rag: Rag) -> None:
    [case] = keep(
        rag,
        "ORA-00001",
        {"title": "latch: cache buffers chains on a hot block", "symptom": "latch: cache buffers chains"},
    )
    trace = "Trace file /u01/diag/rdbms/prod/PROD1/trace/PROD1_ora_1.trc\n*** 2026-03-02 01:10:00.120\n" + "\n".join(
        f"WAIT #1: nam='latch: cache buffers chains' ela= {number} address=1 number=2 tries=0 obj#=-1 tim={number}"
        for number in range(50)
    )
    found = rag.diagnose(trace, scope=MAIN)
    assert found.found.waits[0].count == 50
    assert (keys(found.cases), found.missing, found.reports) == ([case], (), ())
    assert found.cases[0].reasons == ("names latch: cache buffers chains", "not validated")
    other = trace.replace("cache buffers chains", "row cache objects")
    unknown = rag.diagnose(other, scope=MAIN)
    assert (unknown.path.outcome, unknown.missing) == ("no_grounds", ("latch: row cache objects",))
    wide = rag.diagnose(other, scope=MAIN, fallback=True)
    assert {match.reasons[0] for match in wide.cases} == {"near by meaning"}


def test_the_module_that_a_report_names_need_not_be_given(rag: Rag) -> None:
    keep(rag, "ORA-20010", {"module": "GL"}, {"module": "AP"})
    report = (
        "+----+\nPayables: Version : 12.2\n\nAPXIIMPT: Payables Open Interface Import\n+----+\n\nORA-20010: stopped\n"
    )
    found = rag.diagnose(report.replace("+----+", f"+{'-' * 75}+"), scope=MAIN)
    assert [match.reasons[1] for match in found.cases] == ["same module", "another module: GL"]
    assert found.resolution("f").module == "AP"


def test_nothing_to_search_for_is_said_and_nobody_is_asked(rag: Rag) -> None:
    with fake_llm(Reply(completion("never"))) as server, over_http(rag, server.url) as asking:
        found = asking.diagnose("Nothing happened.\n", scope=MAIN)
        unknown = asking.diagnose(alert("ORA-07445"), scope=Scope(tenant="nobody"), analysis={"error_codes": ["7445"]})
    assert server.asked == []
    assert (found.analysis, found.command, found.path.outcome) == (None, None, "no_grounds")
    assert "nothing to search for" in found.remarks[0]
    assert unknown.path.outcome == "no_grounds"


def test_a_language_model_analyses_and_writes_the_way_out(rag: Rag) -> None:
    [case] = keep(rag, "ORA-01555", {"validated_by": "ana"})
    report = alert("ORA-01555", "snapshot too old")
    plain = rag.diagnose(report, scope=MAIN)
    anchor = f"##{plain.cases[0].hit.chunk_id}##"
    made = json.dumps({"summary": "Undo was overwritten.", "error_codes": ["ORA-01555", "ORA-00600"]})
    replies = (Reply(completion(made), headers=JSON), Reply(completion(f"Flush it {anchor}."), headers=JSON))
    with fake_llm(*replies) as server, over_http(rag, server.url) as asking:
        found = asking.diagnose(report, scope=MAIN)
    assert (keys(found.cases), found.analysed_by, found.path.text) == ([case], "openai", "Flush it [^1].")
    assert found.analysis == Analysis(summary="Undo was overwritten.", error_codes=["ORA-01555"])
    assert found.remarks == ("1 codes or waits of the language model's analysis do not stand in the report.",)
    shown, asked = (request["messages"] for request in server.asked)
    assert "snapshot too old" in shown[1]["content"]
    assert SECRET not in json.dumps(server.asked)
    assert "8. The QUESTION is about an incident" in asked[0]["content"]
    assert "Undo was overwritten" in asked[1]["content"]


def test_a_language_model_that_fails_costs_no_diagnosis(rag: Rag) -> None:
    keep(rag, "ORA-00257", {"validated_by": "ana"})
    with fake_llm(Reply(b"{}", status=400)) as server, over_http(rag, server.url) as asking:
        found = asking.diagnose(alert("ORA-00257", "archiver error"), scope=MAIN)
    assert len(server.asked) == 2
    assert (found.analysed_by, found.path.generator) == ("extracted", "extractive")
    assert ["PROVIDER_REFUSED" in remark for remark in found.remarks] == [True, True]
    assert "> 1. Flush the shared pool" in found.path.text


def test_nothing_of_a_report_leaves_this_machine_unless_it_may(rag: Rag, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OverHttp, "local", property(lambda _: False))
    keep(rag, "ORA-01688", {"validated_by": "ana"})
    report = alert("ORA-01688", "unable to extend table XYZZY")
    with fake_llm(Reply(completion("I do not know."), headers=JSON)) as server, over_http(rag, server.url) as asking:
        found = asking.diagnose(report, scope=MAIN)
        sent = json.dumps(server.asked)
        assert "ORA-01688" in sent
        assert "XYZZY" not in sent
        assert "nothing of the report was sent" in found.remarks[0]
        asking.diagnose(report, scope=MAIN, send_report=True)
        assert "XYZZY" in json.dumps(server.asked)


def test_cases_leave_this_machine_only_where_they_may(
    rag: Rag, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(OverHttp, "local", property(lambda _: False))
    keep(rag, "ORA-01693", {"validated_by": "ana", "title": "Case XYZZY"})
    note = tmp_path / "lob.md"
    note.write_text("XYZZY says of ORA-01693 that a LOB cannot grow.")
    rag.ingest(note, kind="docs")
    rag.work(once=True)
    with fake_llm(Reply(completion("I do not know."), headers=JSON)) as server, over_http(rag, server.url) as asking:
        may = asking.diagnose(alert("ORA-01693"), scope=MAIN)
        assert json.dumps(server.asked).count("XYZZY") >= 2
        server.asked.clear()
        stays = dataclasses.replace(asking.settings, files_egress=False, resolutions_egress=False)
        with Rag(stays) as staying:
            found = staying.diagnose(alert("ORA-01693"), scope=MAIN)
            answer = staying.ask("ORA-01693", scope=MAIN, codes=["ORA-01693"])
    assert server.asked == []
    assert (may.path.outcome, found.path.outcome, answer.outcome) == ("answered", "no_grounds", "no_grounds")
    assert keys(found.cases) == keys(may.cases)
    assert found.path.withheld == may.path.withheld + 2 == 2


def test_a_report_comes_as_a_file_a_text_or_a_stream(rag: Rag, tmp_path: Path) -> None:
    packed = tmp_path / "night" / "alert.log.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(alert("ORA-29760").encode()))

    def found(report: Any, **more: Any) -> Diagnosis:
        made = rag.diagnose(report, scope=MAIN, **more)
        assert made.found.causes == ("ORA-29760",)
        return made

    stream = io.BytesIO(packed.read_bytes())
    assert (found(stream).name, found(io.BytesIO(packed.read_bytes()), name="n/a.log").name) == (None, "n/a.log")
    kept, unkept = found(packed), found(packed, store=False)
    assert (kept.name, unkept.stored) == ("night/alert.log.gz", None)
    assert kept.stored is not None
    with pytest.raises(InputError, match="needs a name to be kept"):
        found(alert("ORA-29760"), store=True)


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        (Scope(tenant="acme"), {"shared"}),
        (Scope(tenant="acme", owner="7"), {"shared", "of 7"}),
        (Scope(tenant="acme", manager=True), {"shared", "of 7", "of 8"}),
        (Scope(tenant="nobody", manager=True), set()),
    ],
    ids=["anyone", "7", "manager", "another tenant"],  # a set is written otherwise in every process
)
def test_cases_and_reports_are_those_that_the_scope_may_see(
    rag: Rag, shelf: None, scope: Scope, seen: set[str]
) -> None:
    found = rag.diagnose(alert("ORA-00445"), scope=scope, cases=20)
    for matches in (found.cases, found.reports):
        assert {match.hit.source.id.partition("/")[2] for match in matches} == seen
    prompted = "" if found.path.prompt is None else found.path.prompt.text
    assert {name for name in ("shared", "of 7", "of 8", "of globex") if name in prompted} == seen


@pytest.fixture(scope="module")
def shelf(rag: Rag, module_account: Account) -> None:
    """Shelve cases and reports of several owners and tenants."""
    entries = [
        Entry(
            f"{source}/{name}", f"ORA-00445 {name}\nFix: {name}", source=source, tenant=tenant, owner=owner,
            visibility="SHARED" if owner is None else "OWNER",
            metadata={"oracle_error_code": ["ORA-00445"]} | ({"report_family": "alert_log"} if source == "file" else {}),
        )
        for source in ("resolution", "file")
        for name, tenant, owner in (
            ("shared", "acme", None), ("of 7", "acme", "7"), ("of 8", "acme", "8"), ("of globex", "globex", None),
        )
    ]  # fmt: skip
    with rag.database.transaction() as connection:
        shelve(connection, module_account.user, entries)


def test_a_diagnosis_is_in_the_log_of_searches(rag: Rag) -> None:
    [case] = keep(rag, "ORA-00018", {"validated_by": "ana"})
    found = rag.diagnose(alert("ORA-00018", "maximum number of sessions exceeded"), scope=MAIN, env="PROD-US-01")
    assert found.path.search_id is not None
    logged = rag.searches.show(found.path.search_id, scope=MAIN)
    assert (logged.kind, logged.outcome, logged.hits[0].in_prompt) == ("diagnose", "answered", True)
    assert found.analysis is not None
    assert logged.question == found.analysis.text
    assert str(logged.hits[0].source) == case
    assert rag.diagnose(alert("ORA-00018"), scope=MAIN, log=False).path.search_id is None


@pytest.mark.parametrize(
    "more",
    [{"cases": -1}, {"notes": True}, {"cases": 21}, {"analysis": {}}, {"env": ""}, {"scope": "main"}, {"log": 1}],
    ids=str,
)
def test_what_cannot_be_asked(rag: Rag, more: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        rag.diagnose(alert("ORA-00018"), **{"scope": MAIN} | more)
