"""Findings that no local database causes: versions, character sets, certificates, endpoints, memory; and the run."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from array import array
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import oracledb
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from oraclerag import http_client, index, security
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.doctor import (
    CHECKS,
    Check,
    Finding,
    contents,
    embedding,
    examine,
    indexes,
    installation,
    instance,
    outside,
    rights,
    session,
)
from oraclerag.doctor.finding import State, Verdict, ok, warn
from oraclerag.doctor.look import Look
from oraclerag.doctor.probe import PROBES
from oraclerag.errors import ConnectionFailed, StatementFailed
from oraclerag.index import IndexStatus, TextIndexStatus
from oraclerag.records import Problem

NOW = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


class FakeLook(Look):
    """A look at a database of which only some answers are known: by a word of the statement, the row that it gives."""

    def __init__(self, answers: dict[str, tuple[Any, ...] | None] | None = None, **settings: Any) -> None:
        super().__init__(Database(Settings(schema="RAG", **settings)), now=lambda: NOW)
        self.answers = answers or {}
        self.version = "23.26.1.0.0"
        connection = SimpleNamespace(version=self.version)
        self.database.connect = lambda **_: contextlib.nullcontext(connection)  # type: ignore[method-assign, assignment]

    def row(self, statement: str, **binds: Any) -> tuple[Any, ...] | None:
        return next(answer for word, answer in self.answers.items() if word in statement)


def state(verdict: Verdict, words: str) -> State:
    assert words in verdict.detail, verdict
    assert (verdict.remedy is None) == (verdict.state == "ok")
    return verdict.state


# -- the database -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("19.25.0.0.0", "fail"),
        ("23.3.0.0.0", "fail"),
        ("23.4.0.24.5", "ok"),
        ("23.26.1.0.0", "ok"),
        ("26.1.0.0.0", "ok"),
    ],
)
def test_the_release_must_have_vectors(release: str, expected: State) -> None:
    look = FakeLook({"BANNER_FULL": ("Oracle Database Enterprise Edition",)})
    look.database.connect = lambda **_: contextlib.nullcontext(SimpleNamespace(version=release))  # type: ignore[method-assign, assignment]
    assert state(instance.version(look), "Enterprise Edition") == expected


@pytest.mark.parametrize(("name", "expected"), [("AL32UTF8", "ok"), ("WE8MSWIN1252", "fail"), ("UTF8", "fail")])
def test_another_character_set_is_refused(name: str, expected: State) -> None:
    assert state(instance.character_set(FakeLook({"NLS_CHARACTERSET": (name,)})), name) == expected


@pytest.mark.parametrize(("longest", "words"), [(4000, "STANDARD"), (4001, "EXTENDED")])
def test_the_size_of_strings_is_told(longest: int, words: str) -> None:
    assert state(instance.string_size(FakeLook({"RPAD": (longest,)})), words) == "ok"


# -- what expires -----------------------------------------------------------------------------------------------------


def certificate(ends: dt.datetime) -> bytes:
    """Make a certificate that ends then."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "made up")])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(ends - dt.timedelta(days=900)).not_valid_after(ends)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    return made.public_bytes(serialization.Encoding.PEM)


@pytest.mark.parametrize(
    ("days", "expected", "words"),
    [
        ((400,), "ok", "in 400 days"),
        ((400, 29), "warn", "expires on 2026-05-30"),
        ((-1,), "fail", "expired on 2026-04-30"),
    ],
)
def test_the_first_certificate_of_a_wallet_that_expires_counts(
    tmp_path: Path, days: tuple[int, ...], expected: State, words: str
) -> None:
    pem = b"".join(certificate(NOW + dt.timedelta(days=number)) for number in days)
    (tmp_path / "ewallet.pem").write_bytes(
        b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n" + pem
    )
    assert state(session.wallet(FakeLook(wallet_location=str(tmp_path))), words) == expected


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "There is no ewallet.pem"), (b"", "holds no certificate"), (b"\x30\x82 not a PEM", "holds no certificate")],
)
def test_a_wallet_that_cannot_be_read_fails(tmp_path: Path, content: bytes | None, words: str) -> None:
    (tmp_path / "cwallet.sso").write_bytes(b"x")
    if content is not None:
        (tmp_path / "ewallet.pem").write_bytes(content)
    assert state(session.wallet(FakeLook(wallet_location=str(tmp_path))), words) == "fail"


def test_a_wallet_that_may_not_be_read_fails(tmp_path: Path) -> None:
    (tmp_path / "ewallet.pem").mkdir()
    assert state(session.wallet(FakeLook(wallet_location=str(tmp_path))), "cannot be read") == "fail"


@pytest.mark.parametrize(
    ("text", "expected", "words"),
    [
        (None, "ok", "no pre-authenticated request"),
        ("2027-04-30", "ok", "in 363 days"),
        ("2026-05-20T00:00:00Z", "warn", "2026-05-20"),
        ("2026-05-01T13:00:00+02:00", "fail", "expired"),
    ],
)
def test_the_pre_authenticated_request(
    text: str | None, expected: State, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MINILM_ONNX_PAR_URL", raising=False)
    assert state(session.pre_authenticated_request(FakeLook(par_expires_at=text)), words) == expected


def test_a_request_of_which_nobody_knows_when_it_expires_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINILM_ONNX_PAR_URL", "https://objectstorage.example/p/secret/o/model")
    verdict = session.pre_authenticated_request(FakeLook())
    assert state(verdict, "MINILM_ONNX_PAR_URL is set") == "unknown"
    assert "secret" not in str(verdict)


# -- row security -----------------------------------------------------------------------------------------------------


def test_row_security(monkeypatch: pytest.MonkeyPatch) -> None:
    flaws: list[Problem] = []
    protection = security.Protection((), restricted=False)
    monkeypatch.setattr(security, "protection", lambda *_: protection)
    monkeypatch.setattr(security, "flaws", lambda *_: flaws)
    assert [state(one, "none is installed") for one in installation.row_security(FakeLook())] == ["ok"]
    protection = security.Protection(security.PROTECTED, restricted=False)
    assert [state(one, "policies on 7 tables") for one in installation.row_security(FakeLook())] == ["ok"]
    protection = security.Protection(security.PROTECTED, restricted=True)
    assert [state(one, "less than there is") for one in installation.row_security(FakeLook())] == ["warn"]
    flaws.append(Problem("POLICY_MISSING", "RAG_FILE has no policy", "`oraclerag security install`"))
    assert [one.state for one in installation.row_security(FakeLook())] == ["fail", "warn"]


def test_coverage_is_unknown_to_whom_entities_are_hidden() -> None:
    look = FakeLook()
    look.restricted = True
    [verdict] = contents.coverage(look)
    assert state(verdict, "Row security hides entities") == "unknown"


@pytest.mark.parametrize(
    ("dsn", "shown"),
    [
        ("dbhost:1521/FREEPDB1", "dbhost:1521/FREEPDB1"),
        ("scott/p@ss?word@dbhost/X?wallet_password=secret", "dbhost/X"),
        (None, "a pool"),
        ("(" * 200, "(" * 79 + "…"),
    ],
)
def test_an_address_is_shown_without_secrets(dsn: str | None, shown: str) -> None:
    assert session._place(dsn) == shown


# -- model and indexes ------------------------------------------------------------------------------------------------


def active(provider: str | None = None) -> Callable[..., Any]:
    return lambda *_, **__: SimpleNamespace(
        name="M", physical_name="M_AAAAAAAA", column="EMBEDDING", dimensions=384, max_tokens=256, provider=provider,
        sql_name="RAG.M_AAAAAAAA",
    )  # fmt: skip


def test_a_model_that_nobody_granted_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "active_model", active())
    verdict = embedding.model(FakeLook({"ALL_MINING_MODELS": None}))
    assert state(verdict, "no such model in the database") == "fail"
    assert "GRANT SELECT ON MINING MODEL RAG.M_AAAAAAAA" in (verdict.remedy or "")


def test_a_model_of_a_provider_is_not_looked_for_in_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "active_model", active("openai"))
    assert state(embedding.model(FakeLook()), "of openai") == "ok"
    assert state(embedding.embeds(FakeLook()), "openai embeds") == "ok"


def test_a_model_that_gives_no_vector_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "active_model", active())
    for row in ((None,), (array("f", [0.0] * 383),)):
        assert state(embedding.embeds(FakeLook({"VECTOR_EMBEDDING": row})), "no vector of 384") == "fail"


def test_a_model_whose_age_the_dictionary_does_not_tell_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "active_model", active())
    monkeypatch.setattr(embedding, "find_model", lambda *_, **__: SimpleNamespace(sha256="aaaaaaaa" + "0" * 56))
    look = FakeLook({"CREATION_DATE": None, "ALL_MINING_MODELS": ("M", 1)})
    assert state(embedding.model_hash(look), "does not tell how old") == "unknown"


@pytest.mark.parametrize(
    ("organization", "chunks", "pool", "cloud", "expected", "words"),
    [
        ("IVF", 10**6, (0,), None, "ok", "an IVF index needs none"),
        (None, 10, (0,), None, "ok", "exact search needs none"),
        ("HNSW", 10**5, (2**20 * 512,), None, "ok", "takes about 191 MB"),
        ("HNSW", 10**5, (2**20 * 256,), None, "warn", "twice that"),
        ("HNSW", 10**5, (0,), None, "fail", "takes about 191 MB"),
        ("HNSW", 10**5, (0,), "ATP", "ok", "sizes it by itself"),
        ("HNSW", 10**5, None, None, "unknown", "V$VECTOR_MEMORY_POOL"),
    ],
)
def test_an_hnsw_index_needs_vector_memory(
    monkeypatch: pytest.MonkeyPatch,
    organization: str | None,
    chunks: int,
    pool: tuple[int] | None,
    cloud: str | None,
    expected: State,
    words: str,
) -> None:
    found = IndexStatus("RAG_CHUNK_EMB_IDX", "VALID" if organization else None, organization, "EMBEDDING", chunks)
    monkeypatch.setattr(indexes, "active_model", active())
    look = FakeLook(
        {"V$VECTOR_MEMORY_POOL": pool, "V$PARAMETER": None, "CLOUD_SERVICE": (cloud,), "SESSION_USER": ("APP",)}
    )
    look.index = found
    verdict = indexes.vector_memory(look)
    assert state(verdict, words) == expected
    if expected == "unknown":
        assert (verdict.remedy or "").startswith("GRANT SELECT ON SYS.V_$VECTOR_MEMORY_POOL TO APP")
    if expected == "fail":
        assert re.search(r"VECTOR_MEMORY_SIZE = 400M ", verdict.remedy or "")


@pytest.mark.parametrize(
    ("status", "expected", "words"),
    [
        (TextIndexStatus("T", installed=False, state=None), "ok", "not installed"),
        (TextIndexStatus("T", installed=True, state="FAILED"), "fail", "blocks changes"),
        (TextIndexStatus("T", installed=True, state="VALID", pending=None), "ok", "T VALID"),
    ],
)
def test_a_text_index_that_failed_blocks(
    monkeypatch: pytest.MonkeyPatch, status: TextIndexStatus, expected: State, words: str
) -> None:
    monkeypatch.setattr(index, "text_status", lambda _: status)
    assert state(indexes.text_index(FakeLook()), words) == expected


# -- who else is asked ------------------------------------------------------------------------------------------------


OPENAI: dict[str, Any] = {
    "generate_provider": "openai",
    "generate_base_url": "http://127.0.0.1:9/v1",
    "generate_model": "m",
}


def test_without_a_key_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_KEY_HERE", raising=False)
    look = FakeLook(**OPENAI, generate_api_key_env="NO_KEY_HERE")
    assert state(outside.generator(look), "NO_KEY_HERE, which generate.api_key_env names, holds no key") == "fail"
    assert state(outside.embedder(FakeLook(embedding_provider="openai", embedding_model="m")), "wants a key") == "fail"


def test_endpoints_are_asked_only_by_the_probe() -> None:
    assert state(outside.generator(FakeLook()), "none: answers are made of sentences") == "ok"
    assert state(outside.embedder(FakeLook()), "the database embeds") == "ok"
    verdict = outside.generator(FakeLook(**OPENAI))
    assert state(verdict, "was not asked") == "unknown"
    assert "doctor --probe" in (verdict.remedy or "")
    in_database = {**OPENAI, "generate_provider": "database", "generate_credential": "LLM"}
    assert state(outside.generator(FakeLook(**in_database)), "with the credential LLM") == "unknown"


@pytest.mark.parametrize(
    ("answer", "expected", "words"),
    [
        (200, "ok", "answers (HTTP 200)"),
        (404, "ok", "answers (HTTP 404)"),
        (401, "fail", "refuses the login (HTTP 401)"),
        (503, "fail", "fails (HTTP 503)"),
        (None, "fail", "does not answer (ConnectError)"),
    ],
)
def test_the_probe_asks_the_endpoint_for_its_models(
    monkeypatch: pytest.MonkeyPatch, answer: int | None, expected: State, words: str
) -> None:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if answer is None:
            raise httpx.ConnectError("no")
        return httpx.Response(answer)

    monkeypatch.setenv("A_KEY", "secret-key")
    monkeypatch.setattr(
        http_client,
        "client",
        lambda _url, *, timeout, headers: httpx.Client(transport=httpx.MockTransport(handle), headers=headers),
    )
    look = FakeLook(**OPENAI, generate_api_key_env="A_KEY")
    look.probe = True
    verdict = outside.generator(look)
    assert state(verdict, words) == expected
    assert "secret-key" not in str(verdict)
    assert [(str(request.url), request.headers["authorization"]) for request in seen] == [
        ("http://127.0.0.1:9/v1/models", "Bearer secret-key")
    ]


# -- privileges -------------------------------------------------------------------------------------------------------


def test_what_each_kind_of_user_needs_is_what_the_script_grants() -> None:
    needs = rights.needs()
    assert needs.keys() == {"ENQUEUER", "SEARCHER", "WORKER", "RECORDER"}
    assert rights.Need("RAG_CHUNK", "DELETE") in needs["WORKER"]
    assert rights.Need("RAG_SEARCH", "UPDATE", ("FEEDBACK", "FEEDBACK_NOTE", "FEEDBACK_AT")) in needs["SEARCHER"]
    for role, signs in rights._SIGNS.items():
        assert set(signs) <= {(need.table, need.verb) for need in needs[role]}


@pytest.mark.parametrize(
    ("need", "any_table", "held", "columns", "enough"),
    [
        (("T", "READ"), set(), {("T", "READ")}, set(), True),
        (("T", "READ"), set(), {("T", "SELECT")}, set(), True),
        (("T", "SELECT"), set(), {("T", "READ")}, set(), False),
        (("T", "SELECT"), {"SELECT"}, set(), set(), True),
        (("T", "READ"), {"SELECT"}, set(), set(), True),
        (("T", "DELETE"), {"SELECT"}, {("T", "INSERT")}, set(), False),
        (("T", "UPDATE", ("A", "B")), set(), set(), {("T", "UPDATE", "A"), ("T", "UPDATE", "B")}, True),
        (("T", "UPDATE", ("A", "B")), set(), set(), {("T", "UPDATE", "A")}, False),
        (("T", "UPDATE", ("A", "B")), set(), {("T", "UPDATE")}, set(), True),
        (("T", "UPDATE"), set(), set(), {("T", "UPDATE", "A")}, False),
    ],
)
def test_what_is_enough(need: Any, any_table: Any, held: Any, columns: Any, enough: bool) -> None:
    assert (rights.lacking([rights.Need(*need)], any_table, held, columns) == []) == enough


def test_an_owner_that_cannot_load_a_model_is_warned() -> None:
    verdict = rights._owner("RAG", {"CREATE TABLE", "CREATE ANY VIEW", "CREATE SEQUENCE", "CREATE TRIGGER"})
    assert state(verdict, "lacks CREATE MINING MODEL:") == "warn"
    assert (verdict.remedy or "").startswith("GRANT CREATE MINING MODEL TO RAG")


# -- the run ----------------------------------------------------------------------------------------------------------


def run(*checks: Check) -> Any:
    look = FakeLook({"SESSION_USER": ("APP",)})
    return examine(look.database, {}, checks=checks)


def test_a_check_that_breaks_is_a_finding_and_the_next_one_is_made() -> None:
    def breaks(_: Look) -> Verdict:
        raise KeyError("secret text of a document")

    report = run(Check("a", "?", breaks), Check("b", "?", lambda _: ok("fine")))
    assert [(finding.name, finding.state) for finding in report.findings] == [("a", "fail"), ("b", "ok")]
    assert report.findings[0].detail == "The check itself failed (KeyError)."
    assert "secret" not in str(report)


def test_an_error_of_the_toolkit_keeps_its_words_and_remedy() -> None:
    def refused(_: Look) -> Verdict:
        raise ConnectionFailed("The line is dead.", hint="Dial again.")

    assert run(Check("a", "?", refused)).findings == (Finding("a", "fail", "The line is dead.", "Dial again."),)


def test_what_may_not_be_read_is_unknown_where_the_check_says_what_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Look, "user", lambda _: "APP")

    def refused(_: Look) -> Verdict:
        raise StatementFailed("ORA-00942") from oracledb.DatabaseError(SimpleNamespace(full_code="ORA-00942"))

    report = run(Check("a", "?", refused, reads=("RAG_A", "RAG_B")), Check("b", "?", refused))
    assert [(finding.name, finding.state) for finding in report.findings] == [("a", "unknown"), ("b", "fail")]
    assert (report.findings[0].remedy or "").startswith(
        "GRANT READ ON RAG.RAG_A TO APP; GRANT READ ON RAG.RAG_B TO APP (a role of"
    )


def test_what_stands_on_something_that_failed_is_skipped_and_so_is_what_stands_on_that() -> None:
    report = run(
        Check("a", "?", lambda _: [ok("x"), Verdict("unknown", "y", "z", "part")]),
        Check("b", "?", lambda _: ok("made"), after=("a",)),
        Check("c", "?", lambda _: ok("made"), after=("b",)),
        Check("d", "?", lambda _: warn("w", "do")),
        Check("e", "?", lambda _: ok("made"), after=("d",)),
    )
    assert [finding.name for finding in report.findings] == ["a", "a:part", "d", "e"]
    assert report.skipped == ("b", "c")
    assert report.healthy


def test_checks_have_one_name_each_and_come_after_what_they_stand_on() -> None:
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)
    for place, check in enumerate(CHECKS):
        assert set(check.after) <= set(names[:place]), check.name
        assert check.asks.endswith("?")


def test_the_page_has_every_check_with_what_it_asks() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "doctor.md").read_text("utf-8")
    rows = re.findall(
        r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$", text.partition("## Findings")[2].partition("\n## ")[0], re.MULTILINE
    )
    assert rows == [(check.name, check.asks) for check in CHECKS]


def test_the_page_has_every_probe_with_what_it_asks() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "doctor.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$", text.partition("## The probe")[2], re.MULTILINE)
    assert rows == [(probe.name, probe.asks) for probe in PROBES]
