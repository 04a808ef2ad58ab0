"""The command line as a person uses it: exit codes, stdout and stderr, bad input, a worker that is told to end."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import oracledb
import pytest

from oraclerag.cli import main
from oraclerag.errors import ConnectionFailed, IndexingTimeout, InputError
from oraclerag.local import LocalDatabase
from oraclerag.rag import Rag
from oraclerag.testing import tiny_model

CONFIGURATION = """
[embedding]
model = "TINY"

[source.note]
select = "select id as source_id, title, body, writer from note"
template = "[NOTE #{{ source_id }}] {{ title }}\\n{{ body or '-' }}"
title = "title"
owner = "writer"
visibility = "owner"
[source.note.tables]
note = "id"
"""


class Output(NamedTuple):
    """What a command wrote."""

    stdout: str
    stderr: str


@dataclass(frozen=True)
class Shell:
    """A working directory with a configuration, and the environment of a user."""

    folder: Path
    environment: dict[str, str]

    def run(
        self, *arguments: str, expect: int = 0, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [sys.executable, "-m", "oraclerag", *arguments],
            cwd=self.folder, env=self.environment | (environment or {}), capture_output=True, text=True, check=False, timeout=110,
        )  # fmt: skip
        assert result.returncode == expect, f"{arguments}: {result.returncode}\n{result.stdout}\n{result.stderr}"
        return result

    def call(self, *arguments: str, expect: int = 0, environment: dict[str, str] | None = None) -> Output:
        """Like :meth:`run`, in this process: many times faster, for what needs no process of its own."""
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.chdir(self.folder)
            for name in [name for name in os.environ if name.startswith("ORACLE")]:
                patch.delenv(name)
            for name, value in (self.environment | (environment or {})).items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["oraclerag", *arguments])
            with pytest.raises(SystemExit) as end:
                main()
        code = end.value.code or 0
        assert code == expect, f"{arguments}: {code}\n{out.getvalue()}\n{err.getvalue()}"
        return Output(out.getvalue(), err.getvalue())

    def json(self, *arguments: str, expect: int = 0) -> Any:
        return json.loads(self.call(*arguments, "--json", expect=expect).stdout)


@pytest.fixture(scope="module")
def empty(database: LocalDatabase, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A user of a database in which nothing is."""
    folder = tmp_path_factory.mktemp("empty")
    (folder / "oraclerag.toml").write_text(CONFIGURATION)
    return Shell(folder, environment_of(database, "NOTHING", folder))


@pytest.fixture(scope="module")
def shell(database: LocalDatabase, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A user with an installation and three notes, indexed."""
    import oracledb

    folder = tmp_path_factory.mktemp("notes")
    (folder / "oraclerag.toml").write_text(CONFIGURATION)
    (folder / "tiny.onnx").write_bytes(tiny_model())
    made = Shell(folder, environment_of(database, "NOTES", folder))
    with (
        oracledb.connect(user="NOTES", password=made.environment["ORACLE_PASSWORD"], dsn=database.dsn) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "CREATE TABLE NOTE (ID NUMBER(9) PRIMARY KEY, TITLE VARCHAR2(200), BODY VARCHAR2(2000), WRITER NUMBER(9))"
        )
        cursor.executemany(
            "INSERT INTO NOTE (ID, TITLE, BODY, WRITER) VALUES (:1, :2, :3, :4)",
            [
                (1, "Late payments", "suppliers wait for their money", 7),
                (2, "Late deliveries", "\x1b[2J[red]the truck[/red] from Teruel", 8),
                (3, "Unassigned", "late for everybody", None),
            ],
        )
        connection.commit()
    made.call("provision", "--model", "tiny.onnx")
    made.call("source", "triggers", "--apply", "--yes")
    made.call("reindex")
    return made


def environment_of(database: LocalDatabase, user: str, folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORACLE", "ORACLERAG"))}
    return kept | {
        "ORACLE_DSN": database.dsn,
        "ORACLE_USER": user,
        "ORACLE_PASSWORD": database.create_user(user),
        "ORACLERAG_CACHE_DIR": str(folder / "cache"),
        "ORACLERAG_LOCAL_DIR": str(folder / "local"),
        "PYTHONIOENCODING": "utf-8",
    }


def found(shell: Shell, *arguments: str) -> list[str]:
    return [hit["source"]["id"] for hit in shell.json("search", "late", *arguments)["hits"]]


def test_who_asks_decides_what_is_found(shell: Shell) -> None:
    assert sorted(found(shell, "--manager")) == ["1", "2", "3"]
    assert found(shell, "--owner", "7") == ["1"]
    assert sorted(found(shell, "--owner", "7", "--group", "8")) == ["1", "2"]
    assert found(shell) == []
    assert found(shell, "--tenant", "other", "--manager") == []
    assert len(found(shell, "--manager", "-k", "2")) == 2
    assert found(shell, "--manager", "--filter", "project=none") == []


def test_an_answer_cites_what_the_asker_may_see(shell: Shell) -> None:
    answer = shell.json("ask", "Explain what is late to me", "--manager", "--session", "s")
    assert answer["outcome"] == "answered"
    assert answer["searched"] == "late"
    assert {one["source"]["type"] for one in answer["citations"]} == {"note"}
    text = shell.call("ask", "and who is late?", "--manager", "--session", "s")
    assert "[^1]: " in text.stdout
    assert "Understood as: and who is late? (late)" in text.stderr
    assert "cited by extractive" in text.stderr
    nothing = shell.call("ask", "What is late?", "--tenant", "other")
    assert nothing.stdout.startswith("There is nothing that you may see")
    prompt = shell.call("prompt", "What is late?", "--owner", "7", "--max-chunks", "1")
    assert "-- system\n" in prompt.stdout
    assert "1 source, " in prompt.stderr
    assert shell.json("prompt", "What is late?", "--tenant", "other") is None


def test_data_on_stdout_messages_on_stderr(shell: Shell) -> None:
    result = shell.run("search", "late", "--manager", "--show-sql")
    assert "note:2" in result.stdout
    assert "[NOTE #2]" not in result.stdout  # the title is shown, and the line that tells more
    assert "SELECT" not in result.stdout
    assert "FETCH EXACT FIRST 8 ROWS ONLY" in result.stderr
    assert "3 hits in" in result.stderr
    nothing = shell.call("search", "late", "--tenant", "other")
    assert nothing.stdout == ""
    assert nothing.stderr == "Nothing that this scope may see was found.\n"


def test_text_from_data_neither_steers_the_terminal_nor_is_markup(shell: Shell) -> None:
    shown = shell.call("search", "the truck from Teruel", "--manager").stdout
    assert "␛[2J[red]the truck[/red] from Teruel" in shown
    assert "\x1b" not in shown
    assert "\x1b" not in shell.call("search", "the truck", "--manager", "--json").stdout


def test_changes_are_followed_through_the_queue(shell: Shell, database: LocalDatabase) -> None:
    import oracledb

    with (
        oracledb.connect(user="NOTES", password=shell.environment["ORACLE_PASSWORD"], dsn=database.dsn) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("INSERT INTO NOTE (ID, TITLE, WRITER) VALUES (9, 'A zebra in the warehouse', 7)")
        connection.commit()
    (waiting,) = shell.json("queue", "status")["backlog"]
    assert (waiting["source"], waiting["rows"], waiting["state"]) == ("note", 1, "READY")
    (row,) = shell.json("queue", "list", "--rows")
    assert row["key"] == {"type": "note", "id": "9", "tenant": None}
    reports = [json.loads(line) for line in shell.call("worker", "--once", "--json").stdout.splitlines()]
    assert [report["indexed"] for report in reports] == [1]
    assert shell.call("worker", "--once", "--json") == ("", "The queue is empty.\n")
    assert shell.json("queue", "status")["backlog"] == []
    assert shell.json("search", "a zebra in the warehouse", "--owner", "7", "-k", "1")["hits"][0]["source"]["id"] == "9"
    with (
        oracledb.connect(user="NOTES", password=shell.environment["ORACLE_PASSWORD"], dsn=database.dsn) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("DELETE FROM NOTE WHERE ID = 9")
        connection.commit()
    ended = shell.call("worker", "--once")
    assert ended.stdout == ""
    assert "INFO    drain.batch 1 queue rows: 1 deleted." in ended.stderr


def test_a_worker_that_ends_says_what_is_left(shell: Shell, database: LocalDatabase) -> None:
    import oracledb

    def sql(*statements: str) -> None:
        password = shell.environment["ORACLE_PASSWORD"]
        with oracledb.connect(user="NOTES", password=password, dsn=database.dsn) as connection:
            for statement in statements:
                connection.cursor().execute(statement)
            connection.commit()

    row = "INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID, AVAILABLE_AT, STATE, CLAIM) VALUES "
    later = "TIMESTAMP '2999-12-31 10:00:00'"
    try:
        sql(
            f"{row} ('note', '1', {later}, 'READY', NULL)",
            f"{row} ('note', '2', {later}, 'READY', 'another')",
            f"{row} ('note', '3', {later}, 'DEAD', NULL)",
            f"{row} ('elsewhere', '1', {later}, 'READY', NULL)",
        )
        said = shell.call("worker", "--once").stderr
        assert "1 row of source elsewhere is left: the source is not configured here." in said
        assert "1 row of source note is postponed, the first until 2999-12-31 10:00:00 UTC" in said
        assert "1 row of source note is with another worker, or with one that died." in said
        assert "1 row of source note is given up" in said
        assert "The queue is empty" not in said
        sql(
            "INSERT INTO RAG_SETTING (SCOPE_NAME, SETTING, SETTING_VALUE) VALUES ('note', 'paused', 'SOURCE: no column')"
        )
        for result in (
            shell.call("worker", "--once", "--json", expect=3),
            shell.run("worker", "--once", "--concurrency", "2", expect=3),
        ):
            assert result.stdout == ""
            assert "Source note is paused, 2 rows of it are left in the queue: SOURCE: no column" in result.stderr
            assert result.stderr.count("is paused") == 1
            assert "`oraclerag source check note`" in result.stderr
    finally:
        sql("DELETE FROM RAG_DIRTY", "DELETE FROM RAG_SETTING WHERE SETTING = 'paused'")
    assert shell.call("worker", "--once").stderr == "The queue is empty.\n"


def test_taking_everything_away_is_asked_for(empty: Shell, database: LocalDatabase) -> None:
    """Nobody answers where standard input is no terminal."""
    other = Shell(empty.folder, environment_of(database, "LEAVING", empty.folder))
    other.call("migrate")
    refused = other.run("migrate", "--to", "base", expect=1)
    assert "schema LEAVING" in refused.stderr
    assert "  remedy: Say --yes" in refused.stderr
    assert other.json("migrate")["applied"] == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oraclerag.cli.options.answerable", lambda: True)
        patch.setattr(sys, "stdin", io.StringIO("n\n"))
        assert (
            "Delete everything of oraclerag in the schema LEAVING"
            in other.call("migrate", "--to", "base", expect=1).stderr
        )
        assert other.json("migrate")["applied"] == []
        patch.setattr(sys, "stdin", io.StringIO("y\n"))
        assert "is" in other.call("migrate", "--to", "base").stdout
    assert other.json("migrate")["applied"] == ["0001"]
    assert other.json("migrate", "--to", "base", "--yes")["applied"] == ["0001"]


def test_enqueue_backfill_reindex(shell: Shell) -> None:
    shell.call("enqueue", "note", "1")
    assert len(shell.json("queue", "list", "--rows")) == 1
    assert shell.json("queue", "list") == []
    assert shell.json("backfill")[0] == {"source": "note", "enqueued": 0, "gone": 0, "total": 3}
    report = shell.json("reindex", "--all")
    assert report["backfill"][0]["total"] == 3
    assert report["drain"]["unchanged"] == 3
    assert report["index"]["state"] is None


def test_an_audit_says_what_is_wrong_and_repairs_it(shell: Shell, database: LocalDatabase) -> None:
    import oracledb

    [report] = shell.json("audit")
    assert (report["total"], report["equal"], report["examples"]) == (3, 3, [])
    with oracledb.connect(user="NOTES", password=shell.environment["ORACLE_PASSWORD"], dsn=database.dsn) as connection:
        connection.cursor().execute("DELETE FROM RAG_CHUNK WHERE SOURCE_ID = '2'")
        connection.commit()
    shown = shell.call("audit", "--source", "note", "--sample", "2000", expect=3)
    assert re.search(r"note +3 +3 +2 +1\n", shown.stdout)
    assert re.search(r"missing +note:2", shown.stdout)
    assert "remedy: `oraclerag audit --repair`" in shown.stderr
    assert shell.json("audit", expect=3)[0]["examples"][0]["key"]["id"] == "2"
    [estimate] = shell.json("reindex", "--dry-run")
    assert (estimate["entities"], estimate["total"], estimate["sampled"]) == (1, 3, 1)
    assert estimate["tokens"] > 5
    shown = shell.call("backfill", "--dry-run")
    assert "estimated tokens" in shown.stdout
    assert "Nothing was written" in shown.stderr
    assert [entry["rows"] for entry in shell.json("queue", "status")["backlog"]] == []
    assert "They are enqueued" in shell.call("audit", "--repair", expect=3).stderr
    assert "waiting" in shell.call("audit").stdout
    shell.call("worker", "--once")
    assert shell.json("audit")[0]["equal"] == 3


def test_several_workers_share_the_queue(shell: Shell) -> None:
    shell.call("backfill", "--all")
    reports = [
        json.loads(line)
        for line in shell.run(
            "worker", "--once", "--concurrency", "2", "--batch-size", "1", "--json"
        ).stdout.splitlines()
    ]
    assert sum(report["unchanged"] for report in reports) == 3


def test_status_index_models_and_sources(shell: Shell) -> None:
    report = shell.json("status")
    assert report["healthy"]
    assert report["sources"][0]["entities"] == 3
    assert "queue" in shell.call("status").stdout
    assert shell.json("index", "status")["state"] is None
    assert shell.call("index", "build", expect=1).stderr.startswith("Error: There are 3 chunks with a vector")
    assert shell.json("index", "build", "--force")["state"] == "VALID"
    assert shell.json("index", "rebuild", "--force")["organization"] == "IVF"
    (model,) = shell.json("model", "list")
    assert model["active"]
    assert shell.json("model", "verify", "TINY")["dimensions"] == 384
    assert "in force" in shell.call("model", "drop", "TINY", expect=1).stderr
    assert shell.json("source", "list")[0]["visibility"] == "owner"
    assert shell.json("source", "check") == [{"source": "note", "problems": [], "paused": None, "resumed": False}]
    assert shell.call("source", "check").stdout == "note: green\n"
    planned = shell.json("source", "triggers")
    assert planned["statements"][0].startswith("CREATE OR REPLACE TRIGGER")
    assert [trigger["state"] for trigger in planned["triggers"]] == ["same"]


def test_triggers_are_shown_agreed_to_and_changed(shell: Shell) -> None:
    seen = shell.call("source", "triggers", "note")
    assert "NOTES.RAG_NOTE$NOTE" in seen.stdout
    assert "stops: loading through the direct path interface" in seen.stderr
    assert "nothing to do" in shell.call("source", "triggers", "--apply").stderr
    script = shell.call("source", "triggers", "--sql").stdout
    assert "SET DEFINE OFF\n" in script
    assert script.endswith("END;\n/\n")
    with oracledb.connect(
        user="NOTES", password=shell.environment["ORACLE_PASSWORD"], dsn=shell.environment["ORACLE_DSN"]
    ) as connection:
        connection.cursor().execute('ALTER TRIGGER "RAG_NOTE$NOTE" DISABLE')
    refused = shell.call("source", "triggers", "--apply", expect=1)  # no terminal, so nobody can agree
    assert "Triggers to create, replace or drop: 1, with the effects" in refused.stderr
    assert "Say --yes" in refused.stderr
    assert "is disabled, invalid, or made of other" in shell.call("source", "check").stdout
    done = shell.json("source", "triggers", "--apply", "--yes")
    assert (done["applied"], done["triggers"][0]["state"]) == (True, "changed")
    assert shell.call("source", "check").stdout == "note: green\n"
    assert "give one of them" in shell.call("source", "triggers", "--apply", "--sql", expect=2).stderr


def test_chunk_shows_the_cuts(shell: Shell) -> None:
    (shell.folder / "long.txt").write_text("A head line\n" + "word " * 600 + "<b> ORA-942")
    shown = shell.json("chunk", "long.txt", "--as", "whole", "--html", "page.html")
    assert (shown["model"], shown["max_tokens"], shown["exact"], shown["family"]) == ("TINY", 256, True, None)
    assert len(shown["chunks"]) > 1
    for chunk in shown["chunks"]:
        assert chunk["content"].startswith("A head line")
        assert chunk["tokens"] <= 256
        assert chunk["bytes"] == len(chunk["content"])
    assert shown["chunks"][-1]["metadata"]["oracle_error_code"] == ["ORA-00942"]
    table = shell.call("chunk", "long.txt", "--as", "whole", "--size", "100")
    assert "begins with" in table.stdout
    assert "tokens counted for TINY, which reads 256." in table.stderr
    assert "&lt;b&gt;" in (shell.folder / "page.html").read_text()
    (shell.folder / "run.lst").write_text("# sqlplus scott/tiger@db\nSQL> connect scott/tiger\nConnected.\n")
    shell.call("chunk", "run.lst", "--as", "diagnostics", "--html", "run.html")
    spooled = (shell.folder / "run.html").read_text()
    assert "# sqlplus scott/xxxxx@db" in spooled
    assert "tiger" not in spooled, "nor in the title, which is the first heading"
    nowhere = {"ORACLE_DSN": "127.0.0.1:1/FREE"}
    refused = shell.call("chunk", "long.txt", "--as", "whole", environment=nowhere, expect=1)
    assert "can be counted without a database: --counter" in refused.stderr


def test_a_resolution_is_kept_found_and_removed(shell: Shell) -> None:
    (shell.folder / "fix.txt").write_text("Add a temporary file.\n")
    kept = shell.json("resolution", "add", "TEMP is full", "--fix", "@fix.txt", "--symptom", "ORA-1652 at night",
                      "--type", "tablespace extension", "--env", "PROD", "--owner", "7")  # fmt: skip
    number = str(kept["id"])
    assert "is validated. A worker" in shell.call("resolution", "validate", number, "--by", "ana").stderr
    assert "TEMP is full" in shell.call("resolution", "list", "--validated").stdout
    assert "There is none" in shell.call("resolution", "list", "--unvalidated").stderr
    text = shell.call("resolution", "show", number).stdout
    assert text.startswith(f"[RESOLUTION #{number}] TEMP is full\n")
    assert "Fix:\nAdd a temporary file.\n" in text
    shell.call("worker", "--once")
    [hit] = shell.json("search", "temporary file", "--source", "resolution", "--filter", "metadata.validated_by=ana")[
        "hits"
    ]
    assert hit["metadata"]["oracle_error_primary"] == "ORA-01652"
    assert "Without a terminal" in shell.call("resolution", "remove", number, expect=1).stderr
    shell.call("resolution", "remove", number, "--yes")
    shell.call("worker", "--once")
    assert shell.json("search", "temporary file", "--source", "resolution")["hits"] == []
    assert "Error: There is no resolution" in shell.call("resolution", "show", number, expect=1).stderr
    refused = shell.call("resolution", "add", "t", "--fix", "f", "--type", "magic", expect=1)
    assert "Tablespace Extension" in refused.stderr


def test_an_incident_is_diagnosed_and_closed_by_the_command_that_is_printed(shell: Shell, tmp_path: Path) -> None:
    report = tmp_path / "night" / "alert.log"
    report.parent.mkdir()
    report.write_text(
        "2026-03-02T02:15:41.031000+01:00\nErrors in file /u01/PROD1_ora_1.trc:\n"
        "ORA-01652: unable to extend temp segment by 128 in tablespace \x1b[31mTEMP[/red]\n"
    )
    asked = ("diagnose", str(report), "--env", "PROD-US-01", "--module", "AP", "--erp-version", "EBS R12.2.10")
    first = shell.call(*asked)
    assert (
        "ORA-01652       1      3   unable to extend temp segment by 128 in tablespace ␛[31mTEMP[/red]" in first.stdout
    )
    assert "No case and no note that this scope may see names ORA-01652; --fallback" in first.stderr
    assert "There is nothing that you may see" in first.stdout
    assert "The report is kept as file:" in first.stderr
    assert max(map(len, first.stdout.partition("== Once it is resolved")[0].splitlines())) <= 100
    words = shlex.split(first.stdout.splitlines()[-1])
    kept = shell.json(*(word.replace("WHAT RESOLVED IT", "Add a temporary file of 32 GB.") for word in words[1:]))
    shell.call("worker", "--once")
    second = shell.call(*asked)
    assert f"resolution:{kept['id']}" in second.stdout
    assert "names ORA-01652; same environment, version, module; not validated" in second.stdout
    assert "> Add a temporary file of 32 GB. [^1]" in second.stdout
    found = shell.json(*asked)
    assert found["cases"][0]["hit"]["source"] == {"type": "resolution", "id": str(kept["id"]), "tenant": "main"}
    assert (found["analysis"]["error_codes"], found["path"]["outcome"]) == (["ORA-01652"], "answered")
    refused = shell.call("diagnose", str(report.parent), expect=1)
    assert "Error: A report is one file; this is a folder." in refused.stderr
    (tmp_path / "analysis.json").write_text('{"summary": "x", "other": 1}')
    wrong = shell.call(*asked, "--analysis", str(tmp_path / "analysis.json"), expect=1)
    assert "Error: Analysis: it has 1 unknown names." in wrong.stderr
    report.unlink()
    shell.call("resolution", "remove", str(kept["id"]), "--yes")
    shell.call("ingest", "diagnostics", str(report.parent), "--prune", "--yes")
    shell.call("worker", "--once")


def _too_late(*_: object, **__: object) -> None:
    raise IndexingTimeout


def test_files_are_ingested_found_and_pruned(shell: Shell, tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    kb.mkdir()
    for name, text in (("a.md", "# Vacation\n\nTwo weeks before."), ("b.md", "# Travel"), ("c\x1b[2J\n.md", "x\udcff")):
        (kb / name).write_text(text, errors="surrogateescape")
    (kb / "empty.md").touch()
    (kb / "logo.md").write_bytes(bytes(100))
    done = shell.call("ingest", "docs", str(kb), "--env", "PROD", "--wait")
    assert re.findall(r"^(\w+) +(\d+)$", done.stdout, flags=re.MULTILINE) == [
        ("new", "3"), ("changed", "0"), ("unchanged", "0"), ("removed", "0"), ("skipped", "2"), ("failed", "0"),
    ]  # fmt: skip
    assert "skipped kb/empty.md: empty: there is no text in it" in done.stderr
    assert "\nkb/c␛[2J␊.md: 1 characters replaced; --encoding" in done.stderr
    assert "ingesting: 5 in" in done.stderr
    [hit, *_] = shell.json("search", "vacation", "--source", "file", "--filter", "metadata.file=kb/a.md")["hits"]
    assert (hit["title"], hit["collection"], hit["metadata"]["environment_id"]) == ("Vacation", "docs", "PROD")

    (kb / "b.md").unlink()
    (kb / "a.md").write_text("# Vacation\n\nAsk first.")
    report = shell.json("ingest", "docs", str(kb), "--env", "PROD", "--prune")["ingest"]
    assert [report[name] for name in ("new", "changed", "unchanged", "removed", "skipped")] == [0, 1, 1, 1, 2]
    shell.call("worker", "--once")
    assert shell.json("audit", "--source", "file")[0]["equal"] == 2

    verbose = shell.call("ingest", "docs", str(kb), "--env", "PROD", "-v", "--max-size", "0.00001", expect=1)
    assert "unchanged kb/c␛[2J␊.md: 1 characters replaced\n" in verbose.stderr
    assert "failed kb/a.md: larger than 1e-05 MB; --max-size allows more; what was ingested" in verbose.stderr
    assert "\x1b" not in verbose.stderr

    (kb / "a.md").write_text("# Vacation\n\nAsk twice.")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rag, "index_now", _too_late)
        done = shell.call("ingest", "docs", str(kb), "--wait", "--json", expect=1)
    assert json.loads(done.stdout)["ingest"]["changed"] == 2, "what was taken in is told, whatever came of it"
    assert "Error: " in done.stderr

    for path in kb.iterdir():
        path.unlink()
    refused = shell.call("ingest", "docs", str(kb), "--prune", expect=1)
    assert "would remove 2 of 2 files; nothing was done" in refused.stderr
    assert "remedy: If the folder is right and so much has left it, insist: --yes" in refused.stderr
    assert "removed    2" in shell.call("ingest", "docs", str(kb), "--prune", "--yes", "--wait").stdout
    assert shell.json("search", "vacation", "--source", "file")["hits"] == []
    assert "Error: There is no file" in shell.call("ingest", "diagnostics", str(kb), expect=1).stderr


def test_provision_and_migrate_again_change_nothing(shell: Shell) -> None:
    assert shell.json("provision") == {
        "schema": "NOTES", "revision": "0001", "applied": [], "model": shell.json("model", "list")[0]["physical_name"],
        "dimensions": 384, "max_tokens": 256, "column": "EMBEDDING", "loaded": False, "findings": [],
    }  # fmt: skip
    assert shell.json("migrate")["applied"] == []
    rehearsed = shell.json("provision", "--dry-run")
    assert rehearsed["possible"] is True
    assert {step["state"] for step in rehearsed["steps"]} == {"there"}
    blocked = shell.call("provision", "--dry-run", environment={"ORACLERAG_EMBEDDING_MODEL": "NOBODYS"}, expect=3)
    assert "Cannot be done: model\n  remedy: Pass the file" in blocked.stderr


def test_the_script_for_a_dba_needs_no_database(shell: Shell) -> None:
    text = shell.call("migrate", "--sql", environment={"ORACLE_DSN": "nowhere:1/x"}).stdout
    assert 'CREATE TABLE IF NOT EXISTS "NOTES".RAG_CHUNK' in text
    text = shell.call("migrate", "--sql", "--schema", "other", environment={"ORACLE_DSN": "", "ORACLE_USER": ""}).stdout
    assert 'CREATE TABLE IF NOT EXISTS "OTHER".RAG_CHUNK' in text


NOWHERE = {"ORACLE_DSN": "127.0.0.1:9/nowhere"}  # what is wrong with an argument is said without a database

BAD_INPUT: list[tuple[str, list[str], dict[str, str], list[str]]] = [
    ("no dsn", ["status"], {"ORACLE_DSN": ""}, ["Error: ORACLE_DSN is not set", "  remedy: Set"]),
    ("nobody listens", ["status"], {"ORACLE_DSN": "127.0.0.1:1/FREE"}, ["Error: ", "  cause:  DPY-6005", "  remedy: "]),
    ("wrong password", ["status"], {"ORACLE_PASSWORD": "Zorro"}, ["Error: ", "  cause:  ORA-01017", "  remedy: Check"]),
    ("no schema", ["search", "x", "--manager"], {}, ["Error: There are no tables", "  remedy: Run `oraclerag migrate`"]),
    ("no schema for the queue", ["queue", "status"], {}, ["Error: ", "  cause:  ORA-00942", "  remedy: Run `oraclerag migrate`"]),
    ("unknown source", ["enqueue", "task", "1"], {}, ["Error: There is no source 'task'; configured: note."]),
    ("unknown source to check", ["source", "check", "tasks"], {}, ["Error: There is no source 'tasks'", "  remedy: "]),
    ("empty question", ["search", " ", "--manager"], {}, ["Error: The question is empty."]),
    ("empty owner", ["search", "x", "--owner", ""], {}, ["Error: Scope: owner must not be empty."]),
    ("k", ["search", "x", "-k", "0"], {}, ["Error: k is 0, but must be between 1 and 100."]),
    ("filter", ["search", "x", "--filter", "tenant=a"], {}, ["Error: filter: tenant cannot be filtered"]),
    ("no file", ["chunk", "missing.txt"], {}, ["Error: There is no file 'missing.txt'."]),
    ("no place to write", ["model", "build", "weights", "-o", "nowhere/x.onnx"], {}, ["Error: "]),
    ("no model file", ["model", "load", "missing.onnx"], {}, ["Error: "]),
    ("model not loaded", ["model", "use", "TINY"], {}, ["Error: ", "  cause:  ORA-00942", "  remedy: "]),
    ("revision", ["migrate", "--to", "9999"], {}, ["Error: There is no revision '9999'"]),
    ("configuration", ["--config", "missing.toml", "status"], {}, ["Error: There is no configuration file"]),
    ("batch size", ["worker", "--batch-size", "0"], {}, ["Error: batch_size is 0, but must be between 1 and 1000"]),
    ("lease", ["worker", "--lease", "0.5"], {}, ["Error: lease is 0.5, but must be between 1 and 86400"]),
    ("attempts", ["worker", "--max-attempts", "101"], {}, ["Error: max_attempts is 101, but must be between"]),
    ("delay", ["worker", "--initial-delay", "-1"], {}, ["Error: initial_delay is -1.0, but must be between"]),
    ("poll", ["worker", "--concurrency", "2", "--poll-interval", "0"], {}, ["Error: poll_interval is 0.0, but must be"]),
    ("heartbeat", ["worker", "--once", "--heartbeat", "no/where"], {}, ["Error: The heartbeat cannot be written to 'no/where'"]),
    ("worker without tables", ["worker", "--once"], {}, ["Error: There are no tables", "  remedy: Run `oraclerag migrate`"]),
    ("wait", ["wipe", "--wait", "nan"], NOWHERE, ["Error: wait is nan, but must be between 0 and 86400"]),
    ("tenant to be", ["tenant", "onboard", ""], NOWHERE, ["Error: Scope: tenant must not be empty."]),
    ("tenant to go", ["tenant", "remove", "acme", "--wait", "-1"], NOWHERE, ["Error: wait is -1.0, but must be"]),
    ("model", ["model", "drop", ""], NOWHERE, ["Error: '' is not usable as name of a model"]),
    ("a number", ["status"], {"ORACLERAG_TOP_K": "many"}, ["Error: ORACLERAG_TOP_K must be a whole number"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "environment", "says"), BAD_INPUT, ids=[case[0] for case in BAD_INPUT])
def test_bad_input_is_one_sentence_with_the_remedy(
    empty: Shell, name: str, arguments: list[str], environment: dict[str, str], says: list[str]
) -> None:
    result = empty.call(*arguments, expect=1, environment=environment)
    lines = result.stderr.splitlines()
    assert result.stdout == ""
    assert len(lines) <= 3, result.stderr
    for line, beginning in zip(lines, says, strict=False):
        assert line.startswith(beginning)
    assert len(lines) >= len(says)
    assert "Traceback" not in result.stderr
    assert "Zorro" not in result.stderr


def test_missing_tenant_and_visibility(empty: Shell) -> None:
    configured = empty.folder / "tenants.toml"
    configured.write_text(CONFIGURATION.replace('title = "title"', 'title = "title"\ntenant = "title"'))
    for arguments in (["search", "x", "--manager"], ["enqueue", "note", "1"]):
        text = empty.call("--config", "tenants.toml", *arguments, expect=1).stderr
        assert "tenant" in text.splitlines()[0]
        assert "remedy" in text
    configured.write_text(CONFIGURATION.replace('visibility = "owner"', ""))
    assert "must say visibility" in empty.call("--config", "tenants.toml", "source", "list", expect=1).stderr


def test_an_unhealthy_installation_is_exit_code_3(empty: Shell) -> None:
    result = empty.call("status", expect=3)
    assert result.stdout == "schema  NOTHING, the tables are missing\n"
    assert "oraclerag migrate" in result.stderr
    assert not empty.json("status", expect=3)["healthy"]
    assert empty.call("local", "status", expect=3).stdout.startswith("local database  not running")


@pytest.mark.parametrize(
    "arguments",
    [["search"], ["no-such-verb"], ["worker", "--batch-size", "many"], ["worker", "--log-format", "xml"],
     ["worker", "--log-level", "loud"], ["worker", "--concurrency", "0"], ["searches", "stats", "--days", "0"],
     ["reembed", "--model", "TINY", "--pause", "-1"]],
    ids=" ".join,
)  # fmt: skip
def test_usage_is_exit_code_2(empty: Shell, arguments: list[str]) -> None:
    assert empty.call(*arguments, expect=2).stdout == ""


def test_a_model_of_another_dimension_is_refused_and_nothing_changes(shell: Shell) -> None:
    (shell.folder / "small.onnx").write_bytes(tiny_model(16))
    loaded = shell.json("model", "load", "small.onnx", "--name", "SMALL")
    assert loaded["loaded"]
    text = shell.call("model", "use", "SMALL", expect=1).stderr
    assert "16" in text.splitlines()[0]
    assert "remedy" in text
    assert shell.json("status")["dimensions"] == 384
    assert len(found(shell, "--manager")) == 3
    assert shell.json("model", "drop", "SMALL")["physical_name"] == loaded["physical_name"]
    other = {"ORACLERAG_EMBEDDING_MODEL": "SMALL"}
    assert "The model in force is TINY" in shell.call("search", "x", expect=1, environment=other).stderr


def test_tables_of_a_newer_version_are_refused(shell: Shell, database: LocalDatabase) -> None:
    import oracledb

    with (
        oracledb.connect(user="NOTES", password=shell.environment["ORACLE_PASSWORD"], dsn=database.dsn) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("UPDATE RAG_ALEMBIC_VERSION SET VERSION_NUM = '9999'")
        connection.commit()
        try:
            for arguments in (["search", "x"], ["worker", "--once"], ["migrate"]):
                lines = shell.call(*arguments, expect=1).stderr.splitlines()
                assert "9999" in lines[0]
                assert lines[1].startswith("  remedy: Upgrade oraclerag")
            assert [problem["code"] for problem in shell.json("status", expect=3)["problems"]] == ["SCHEMA_TOO_NEW"]
        finally:
            cursor.execute("UPDATE RAG_ALEMBIC_VERSION SET VERSION_NUM = '0001'")
            connection.commit()


def test_a_source_that_cannot_be_read_is_named_before_it_fails(shell: Shell) -> None:
    broken = shell.folder / "broken.toml"
    broken.write_text(CONFIGURATION.replace("{{ title }}", "{{ titel }}"))
    result = shell.call("--config", "broken.toml", "source", "check", expect=1)
    assert "titel" in result.stdout
    assert "remedy" in result.stdout


@pytest.fixture
def broken_queue(shell: Shell, database: LocalDatabase) -> Iterator[Shell]:
    """Rows that were given up, postponed and claimed, and a paused source; taken away afterwards."""
    import oracledb

    password = shell.environment["ORACLE_PASSWORD"]
    with oracledb.connect(user="NOTES", password=password, dsn=database.dsn) as connection:
        cursor = connection.cursor()
        cursor.executemany(
            "INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID, STATE, ATTEMPTS, ERROR_CODE, LAST_ERROR, ENQUEUED_AT, AVAILABLE_AT)"
            " VALUES ('note', :1, :2, :3, :4, :5, SYS_EXTRACT_UTC(SYSTIMESTAMP) - INTERVAL '20' MINUTE,"
            " SYS_EXTRACT_UTC(SYSTIMESTAMP) + INTERVAL '1' HOUR)",
            [
                ("1", "DEAD", 5, "ENTITY", "The entity cannot be cut into chunks (ValueError)."),
                ("2", "DEAD", 5, "ENTITY", "\x1b[2J[red]cut[/red]"),
                ("3", "DEAD", 5, "STATEMENT_FAILED", "A statement failed (ORA-12899)."),
                ("3", "READY", 3, "STATEMENT_FAILED", "A statement failed (ORA-12899)."),
            ],
        )
        cursor.execute(
            "INSERT INTO RAG_SETTING (SCOPE_NAME, SETTING, SETTING_VALUE) VALUES ('note', 'paused', 'no column')"
        )
        connection.commit()
        try:
            yield shell
        finally:
            cursor.execute("DELETE FROM RAG_DIRTY")
            cursor.execute("DELETE FROM RAG_SETTING WHERE SETTING = 'paused'")
            connection.commit()


def test_the_queue_says_what_is_wrong(broken_queue: Shell) -> None:
    shown = broken_queue.call("queue", "status", expect=3)
    assert "ready    1: 0 claimed, 1 postponed" in shown.stdout
    assert "failing  1 of them failed three times or more" in shown.stdout
    assert "dead     3" in shown.stdout
    assert "lag      20 min" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 100
    assert "Problem: 3 queue rows were given up." in shown.stderr
    assert "remedy: Run `oraclerag source check`" in shown.stderr
    report = broken_queue.json("queue", "status", "--max-lag", "600", expect=3)
    assert [problem["code"] for problem in report["problems"]] == ["DEAD_LETTERS", "SOURCE_PAUSED", "LAG"]
    assert not report["healthy"]
    assert report["paused"][0]["reason"] == "no column"
    assert "20 min" in broken_queue.call("status", expect=3).stdout


def test_errors_are_shown_and_do_nothing_to_the_terminal(broken_queue: Shell) -> None:
    for arguments in (["queue", "list"], ["queue", "list", "--rows"]):
        shown = broken_queue.call(*arguments).stdout
        assert "␛[2J[red]cut[/red]" in shown
        assert "\x1b" not in shown
        assert max(map(len, shown.splitlines())) <= 100
    groups = broken_queue.json("queue", "list")
    assert [(group["error"], group["state"], group["rows"]) for group in groups] == [
        ("ENTITY", "DEAD", 2), ("STATEMENT_FAILED", "DEAD", 1), ("STATEMENT_FAILED", "READY", 1),
    ]  # fmt: skip
    assert [group["error"] for group in broken_queue.json("queue", "list", "--dead", "--error", "entityerror")] == [
        "ENTITY"
    ]
    unknown = broken_queue.call("queue", "retry", "--error", "Overload", expect=1).stderr
    assert (
        "'Overload' is neither an error of oraclerag nor one of the queue's; there are ENTITY, STATEMENT_FAILED."
        in unknown
    )


def test_doctor_says_what_fails_last_and_what_to_type(broken_queue: Shell) -> None:
    shown = broken_queue.call("doctor", expect=3)
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("ok       connection     NOTES at 127.0.0.1:")
    assert lines[-1].startswith(" " * 24 + "remedy: `oraclerag ") or lines[-1].startswith(
        " " * 24 + "remedy: Run `oraclerag "
    )
    assert [line.split()[1] for line in lines if line.startswith("fail")] == [
        "dead_letters:ENTITY", "dead_letters:STATEMENT_FAILED", "paused:note",
    ]  # fmt: skip
    assert "3 wrong." in shown.stderr
    report = broken_queue.json("doctor", expect=3)
    assert (report["healthy"], report["skipped"]) == (False, [])
    assert {"name", "state", "detail", "remedy"} == set(report["findings"][0])


def test_provision_ends_with_what_doctor_finds(broken_queue: Shell) -> None:
    shown = broken_queue.call("provision")
    assert [line.split()[:2] for line in shown.stdout.splitlines() if line.startswith("fail")] == [
        ["fail", "dead_letters:ENTITY"], ["fail", "dead_letters:STATEMENT_FAILED"], ["fail", "paused:note"],
    ]  # fmt: skip
    assert "ok       connection" not in shown.stdout
    assert "doctor, of what is to be seen to:" in shown.stderr


def test_the_probe_says_what_it_makes_and_writes_down_what_it_measures(shell: Shell) -> None:
    shown = shell.call("doctor", "--probe", "--file", "probes.md")
    assert "The probe makes the table ORACLERAG_PROBE_" in shown.stderr
    assert "\nok       fetch_locks: Which rows does a fetch of a claim lock?\n" in shown.stdout
    record = (shell.folder / "probes.md").read_text("utf-8")
    assert record.startswith("## Measured on Oracle AI Database 26ai Free Release 23.26")
    assert "--probe measures" in shell.call("doctor", "--file", "probes.md", expect=2).stderr


def test_deleting_rows_is_asked_for(broken_queue: Shell) -> None:
    refused = broken_queue.call("queue", "purge", "--error", "entity", expect=1).stderr
    assert refused.startswith("Error: This deletes 2 rows of what was given up")
    assert "  remedy: Say --yes" in refused
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("oraclerag.cli.options.answerable", lambda: True)
        patch.setattr(sys, "stdin", io.StringIO("n\n"))
        broken_queue.call("queue", "purge", "--dead", expect=1)
        assert len(broken_queue.json("queue", "list", "--rows", "--dead")) == 3
        patch.setattr(sys, "stdin", io.StringIO("y\n"))
        assert (
            "Deleted, of what was given up: 2 rows." in broken_queue.call("queue", "purge", "--error", "entity").stdout
        )
    assert len(broken_queue.json("queue", "list", "--rows", "--dead")) == 1
    for wrong in (["purge", "--older-than", "soon"], ["retry", "42"]):
        broken_queue.call("queue", *wrong, expect=2)


def test_the_runbook_can_be_typed(broken_queue: Shell) -> None:
    """Every command of docs/queue.md, in its order; what its comment says of the exit code holds."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "queue.md").read_text("utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = [line.partition("#") for block in blocks for line in block.splitlines()]
    outputs = {}
    for command, _, comment in lines:
        words = [word.replace("task", "note") for word in shlex.split(command)[1:]]
        outputs[" ".join(words)] = broken_queue.call(*words, expect=3 if comment.startswith(" exit code 3") else 0)
    assert len(outputs) == len(lines) > 12
    assert outputs["queue retry --error ENTITY"].stdout == "Given up, and ready again: 2 rows.\n"
    assert "Source note is paused" in outputs["queue retry --error ENTITY"].stderr
    assert outputs["queue retry --now"].stdout.splitlines() == [
        "Given up, and ready again: 1 row.", "Postponed, and due now: 1 row.",
    ]  # fmt: skip
    assert outputs["source check note"].stdout == "note: green\n  It was paused; workers take it up again.\n"
    assert json.loads(outputs["queue status --max-lag 900 --json"].stdout)["healthy"]
    assert json.loads(outputs["queue status --max-lag 900 --json"].stdout)["ready"] == 0


def test_status_is_watched_until_ctrl_c(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter((None, KeyboardInterrupt()))

    def sleep(_: float) -> None:
        if (end := next(looks)) is not None:
            raise end

    monkeypatch.setattr("oraclerag.cli.status.time.sleep", sleep)
    lines = shell.call("status", "--watch", "--json").stdout.splitlines()
    assert [json.loads(line)["healthy"] for line in lines] == [True, True]
    looks = iter((None, KeyboardInterrupt()))
    pages = shell.call("status", "--watch").stdout.split("\n\nat ")  # no terminal: page after page
    assert ["since the last look" in page for page in pages] == [True, True]


def test_an_outage_does_not_end_the_watch(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter((None, None, None, KeyboardInterrupt()))
    answers = iter((None, ConnectionFailed("The line is dead."), None, InputError("nonsense")))
    status = Rag.status

    def answer(rag: Rag) -> Any:
        if (error := next(answers)) is not None:
            raise error
        return status(rag)

    monkeypatch.setattr("oraclerag.cli.status.time.sleep", lambda _: next(looks))
    monkeypatch.setattr(Rag, "status", answer)
    ended = shell.call("status", "--watch", expect=1)  # what will not pass by itself ends it
    assert ended.stdout.count("since the last look") == 2
    assert ended.stderr.splitlines()[0] == "Error: The line is dead."
    assert "Error: nonsense" in ended.stderr
