"""The commands of README and docs, run as they stand there: none may fail that the page does not say fails."""

from __future__ import annotations

import gzip
import io
import json
import shlex
import sys

import oracledb
import pytest

from oraclerag.local import LocalDatabase
from oraclerag.testing import tiny_model
from tests.acceptance.test_cli import Shell, environment_of
from tests.unit.test_documents import ROOT, blocks, lines_to_type
from tests.unit.test_ingest_files import pdf_of

HERE = [
    "provision.md", "triggers.md", "backfill.md", "README.md", "apex.md", "search.md", "ask.md", "searches.md",
    "chunking.md", "ingest.md", "resolutions.md", "diagnose.md", "evaluate.md", "vector-index.md", "doctor.md",
    "observability.md", "worker.md", "models.md", "reembed.md",
]  # fmt: skip
"""In an order in which each finds what it speaks of."""

ELSEWHERE = {
    "queue.md": "tests/acceptance/test_cli.py",
    "recovery.md": "tests/local/test_recovery.py",
    "tenants.md": "tests/local/test_recovery.py",
    "start.md": "tests/local/test_start.py",
    "mcp.md": "tests/local/test_integrations.py",
}
"""Pages whose commands another test runs, and where."""

NOT_RUN = {
    "demo": "has a test of its own",
    "README.md: reembed --model OTHER": "there is no second model yet; reembed.md runs it",
    "worker": "goes on until Ctrl-C",
    "worker --concurrency 2 --log-format json --heartbeat /run/oraclerag/heartbeat": "goes on until Ctrl-C",
    "worker --metrics-port 9464": "goes on until Ctrl-C",
    "worker --metrics-port 9464 --metrics-host 0.0.0.0 --concurrency 2": "goes on until Ctrl-C",
    "worker --check /run/oraclerag/heartbeat --max-age 300": "is about a worker that runs",
    "chunk manual.md --preset article --counter minilm-l6": "counts with a vocabulary that is fetched",
    "model build ./multilingual-e5-small -o e5.onnx --query-prefix 'query: ' --passage-prefix 'passage: '": "needs weights",
    "model load e5.onnx --name MULTILINGUAL_E5_SMALL": "needs what the line above builds",
    "model use MULTILINGUAL_E5_SMALL --rebuild": "needs it too",
    "provision": "fetches the model; it was provisioned with a small one",
}
WITH = {
    "init": ["--file", "another.toml"],
    "index build": ["--force"],  # fewer chunks than an index is worth
    "provision --dry-run": ["--model", "model.onnx"],  # a small one, which cannot be fetched
    "provision --sql-api": ["--sql"],  # the script only: the local database knows no packages, as apex.md says
}

TABLES = """
CREATE TABLE SPRINT (ID NUMBER PRIMARY KEY, NAME VARCHAR2(100));
CREATE TABLE TASK (ID NUMBER PRIMARY KEY, TITLE VARCHAR2(200), STATUS VARCHAR2(20), ASSIGNEE_ID NUMBER, SPRINT_ID NUMBER,
  DESCRIPTION VARCHAR2(2000));
CREATE TABLE TASK_COMMENT (ID NUMBER PRIMARY KEY, TASK_ID NUMBER, CREATED_AT TIMESTAMP, BODY VARCHAR2(2000));
INSERT INTO SPRINT VALUES (7, 'March');
INSERT INTO TASK VALUES (42, 'Late payments', 'open', 7, 7, 'The invoices of Acme are paid late: ORA-01555 in GL_BALANCES.');
INSERT INTO TASK VALUES (43, 'Supplier portal', 'open', 8, 7, 'Deadlock in AP_INVOICES_ALL.');
INSERT INTO TASK_COMMENT VALUES (1, 42, TIMESTAMP '2026-01-02 00:00:00', 'The VAT rate of invoices is 21 percent.');
"""  # fmt: skip
QUESTIONS = [
    {"id": "late", "question": "late payments", "relevant": ["task:42"], "expected": "paid late"},
    {"id": "lock", "question": "deadlock", "relevant": ["task:43"], "expected": "Deadlock"},
]
ALERT = "Thread 1 advanced to log sequence 7 (LGWR switch)\nORA-04031: unable to allocate 4160 bytes of shared memory\n"


@pytest.fixture(scope="module")
def shell(database: LocalDatabase, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """The README's configuration and tables, and the files that the pages name."""
    folder = tmp_path_factory.mktemp("pages")
    [configuration] = blocks(ROOT / "README.md", "toml")
    files: dict[str, str | bytes] = {
        "oraclerag.toml": configuration.replace('"ALL_MINILM_L6_V2"', '"TINY"') + "[searches]\nkeep_days = 400\n",
        "templates/task.j2": "{{ title }}\n{{ description }}{% for c in comments %}\n{{ c.body }}{% endfor %}",
        "model.onnx": tiny_model(),
        "other.onnx": tiny_model(seed=1),
        "manual.md": "# Undo\n\nUndo is kept for 900 seconds.\n\n## More\n\nOr longer.\n",
        "task.txt": "Late payments\n",
        "fix.txt": "Flush the shared pool.\n",
        "why.txt": "The close sorts more than fits.\n",
        "handbook/undo.md": "# Undo\n\nHow long undo is kept: 900 seconds.\n",
        "guide.pdf": pdf_of("A guide to payments"),
        "trace/alert_PROD.log": ALERT,
        "PROD1_ora_28115.trc": ALERT,
        "alert_PROD.log.gz": gzip.compress(ALERT.encode()),
        "alert_PROD1.log.gz": gzip.compress(ALERT.encode()),
        "req1234.out.gz": gzip.compress(ALERT.encode()),
        "questions.jsonl": "".join(json.dumps(question) + "\n" for question in QUESTIONS),
        "scifact/queries.jsonl": '{"_id": "1", "text": "late payments"}\n',
        "scifact/qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\tp1\t1\n",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    made = Shell(folder, environment_of(database, "PAGES", folder))
    password = made.environment["ORACLE_PASSWORD"]
    with oracledb.connect(user="PAGES", password=password, dsn=database.dsn) as connection:
        for statement in TABLES.split(";\n")[:-1]:
            connection.cursor().execute(statement)
        connection.commit()
    return made


def _typed(line: str) -> str:
    return shlex.join(shlex.split(line, comments=True))


def _why_not(page: str, line: str) -> str | None:
    """Say why a command is not run."""
    return NOT_RUN.get(_typed(line)) or NOT_RUN.get(f"{page}: {_typed(line)}")


def _words(shell: Shell, line: str) -> list[str]:
    """Give a command with the paths and numbers that there are instead of those on the page."""
    words = shlex.split(line, comments=True)
    here = {"/u01/diag/rdbms/prod/PROD/trace": "trace", "FILE": "other.onnx"}
    if words[0] == "searches" and "4711" in words:
        here["4711"] = str(shell.json("searches", "list", "--owner", "7", "--kind", "ask")[0]["search_id"])
    if words[0] == "resolution" and "7" in words:
        here["7"] = str(shell.json("resolution", "list", "--manager")[0]["id"])
    return [here.get(word, word) for word in words] + WITH.get(" ".join(words), [])


def test_the_commands_of_the_pages_can_be_run(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oraclerag.cli.options.answerable", lambda: True)
    lines = [(page, line) for page, line in lines_to_type() if page in HERE]
    failed, run = [], 0
    for page, line in sorted(lines, key=lambda one: HERE.index(one[0])):
        if _why_not(page, line) is not None:
            continue
        words = _words(shell, line)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"y\n")))  # what is asked is agreed to
        try:
            shell.call(*words)
        except AssertionError as error:
            failed.append(f"{page}: {line}: {error}")
        run += 1
    assert failed == []
    assert run > 80


def test_every_page_is_run_somewhere() -> None:
    typed = list(lines_to_type())
    runnable = {page for page, line in typed if _why_not(page, line) is None}
    assert runnable == {*HERE, *ELSEWHERE}
    for page, file in ELSEWHERE.items():
        assert page in (ROOT / file).read_text("utf-8"), f"{file} does not name {page}"
    known = {name for page, line in typed for name in (_typed(line), f"{page}: {_typed(line)}")}
    assert set(NOT_RUN) <= known
