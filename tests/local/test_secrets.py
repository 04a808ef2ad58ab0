"""Whatever the settings hold in secret is in nothing that a verb writes, logs, measures or raises."""

from __future__ import annotations

import dataclasses
import json
import logging
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from oraclerag import Rag, Scope
from oraclerag.config import Settings
from oraclerag.database import binary_order
from oraclerag.log import JsonLines, TextLines
from oraclerag.metrics import Page
from oraclerag.replay import Recording, recording_pool
from tests.acceptance.test_cli import Shell
from tests.local.conftest import Account
from tests.otel import Exported, exported
from tests.unit.fake_llm import FakeLlm, Reply, fake_llm

__all__ = ["exported"]

pytestmark = pytest.mark.one_size

MARK = "XYZZY"
PAR = f"https://127.0.0.1:9/p/{MARK}par/n/x/b/y/o/model.onnx"
CONFIGURATION = f"""
[database]
wallet_password = "{MARK}wallet"

[embedding]
model = "TINY"

[generate]
provider = "openai"
base_url = "http://127.0.0.1:9/v1"
model = "m"
api_key_env = "THE_KEY"
database_params = '{{"note": "{MARK}params"}}'

[searches]
log = "all"
questions = "hash"
hash_key_env = "THE_HASH_KEY"

[source.note]
select = "select id as source_id, title from note"
template = "{{{{ title }}}}"
visibility = "shared"
[source.note.tables]
note = "id"
"""


@pytest.fixture(scope="module")
def endpoint() -> Iterator[FakeLlm]:
    """An endpoint that refuses the key and repeats all of it."""
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {MARK}key.", "code": f"{MARK}key"}}).encode()
    with fake_llm(Reply(body, 401)) as server:
        yield server


@pytest.fixture(scope="module")
def shell(
    module_account: Account, endpoint: FakeLlm, tmp_path_factory: pytest.TempPathFactory, tiny_file: Path
) -> Shell:
    """A user whose settings have every secret, with an installation and a note."""
    account, folder = module_account, tmp_path_factory.mktemp("secrets")
    with account.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE NOTE (ID NUMBER(9) PRIMARY KEY, TITLE VARCHAR2(200))")
        cursor.execute("INSERT INTO NOTE VALUES (1, 'Late payments')")
        connection.commit()
    (folder / "oraclerag.toml").write_text(CONFIGURATION.replace("http://127.0.0.1:9/v1", endpoint.url))
    (folder / "questions.jsonl").write_text('{"question": "late payments", "relevant": ["note:1"]}\n')
    made = Shell(
        folder,
        {
            "ORACLE_DSN": account.dsn, "ORACLE_USER": account.user, "ORACLE_PASSWORD": account.password,
            "THE_KEY": f"{MARK}key", "THE_HASH_KEY": f"{MARK}hash" * 8,
        },
    )  # fmt: skip
    made.call("provision", "--model", str(tiny_file))
    return made


VERBS: dict[tuple[str, ...], int] = {
    ("source", "list", "--json"): 0,
    ("backfill", "--json"): 0,
    ("worker", "--once", "--initial-delay", "0", "--log-level", "debug", "--log-format", "json"): 0,
    ("search", "late payments", "--manager", "--json"): 0,
    ("ask", "Why are payments late?", "--manager"): 1,
    ("evaluate", "questions.jsonl", "--manager", "--html", "page.html"): 0,
    ("searches", "list", "--json"): 0,
    ("deploy", "--json"): 0,
    ("provision", "--url", PAR, "--sha256", "0" * 64, "--dry-run", "--json"): 0,
    ("model", "load", "--url", PAR, "--sha256", "0" * 64, "--max-tokens", "256"): 1,
    ("provision", "--sql", "-o", "scripts"): 0,
    ("status", "--json"): 0,
    ("doctor", "--json"): 0,
    ("mcp",): 0,
}
"""What is typed, and how it ends."""

REFUSED: dict[tuple[str, ...], int] = {
    ("worker", "--once"): 1, ("ask", "Why?", "--manager"): 1, ("doctor", "--json"): 3, ("mcp",): 1, ("verify-oracle",): 1,
}  # fmt: skip
"""What is typed with the wrong password."""


def test_no_verb_says_a_secret(
    shell: Shell,
    endpoint: FakeLlm,
    exported: Exported,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[str] = []
    monkeypatch.setattr("mcp.server.mcpserver.MCPServer.run", lambda server: written.append(f"{vars(server)}"))
    wrong = {"ORACLE_PASSWORD": f"{MARK}wrong"}
    with caplog.at_level(logging.DEBUG):
        for verb, code in VERBS.items():
            written += shell.call(*verb, expect=code)
        for verb, code in REFUSED.items():
            written += shell.call(*verb, expect=code, environment=wrong)
    assert endpoint.headers[0]["authorization"] == f"Bearer {MARK}key", "the secrets were in use"
    written += [path.read_text("utf-8") for path in shell.folder.rglob("*") if path.suffix in (".html", ".sql", ".txt")]
    written += [
        f"{record.getMessage()} {vars(record)} {TextLines().format(record)} {JsonLines().format(record)}"
        for record in caplog.records
    ]
    assert exported.spans
    assert secrets_in(shell, *written, exported.everything()) == []


def test_no_settings_no_metrics_and_no_recording_hold_a_secret(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in shell.environment.items():
        monkeypatch.setenv(name, value)
    settings = Settings.load(shell.folder / "oraclerag.toml")
    assert (settings.wallet_password, settings.password) == (f"{MARK}wallet", shell.environment["ORACLE_PASSWORD"])
    page = Page(settings)
    page.beat("working")
    recording = Recording()
    arguments = {name: getattr(settings, name) for name in ("dsn", "user", "password")}
    pool = recording_pool(recording, min=1, max=1, session_callback=binary_order, **arguments)
    try:
        with Rag(settings, pool=pool) as rag:
            assert rag.search("late", scope=Scope(manager=True)).statements
            shown = [repr(settings), str(settings), page.text(), repr(rag), repr(rag.database), repr(pool)]
    finally:
        pool.close(force=True)
    assert recording.calls
    assert secrets_in(shell, *shown, repr(recording), repr(recording.calls)) == []


def test_a_file_that_cannot_be_read_and_what_nobody_foresaw_repeat_no_secret(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shell = dataclasses.replace(shell, folder=tmp_path)
    file = shell.folder / "oraclerag.toml"
    for line in (
        f"password = {MARK}unquoted",
        f'password = "{MARK}open',
        f'port = "{MARK}port"',
        f"password = [{MARK}]",
    ):
        file.write_text(f"[database]\n{line}\n")
        assert secrets_in(shell, *shell.call("status", expect=1)) == []
    file.write_text(CONFIGURATION)
    monkeypatch.setattr(Rag, "status", lambda rag: rag.nothing)
    with pytest.raises(AttributeError) as caught:
        shell.call("status")
    assert secrets_in(shell, "".join(traceback.format_exception(caught.value))) == []


def secrets_in(shell: Shell, *texts: str) -> list[str]:
    """Give where a secret stands in texts, with what is around it."""
    secret = f"{MARK}|{re.escape(shell.environment['ORACLE_PASSWORD'])}"
    return [found for text in texts for found in re.findall(f".{{0,60}}(?:{secret}).{{0,20}}", text)]
