"""The page "Your own tables in ten minutes": its tables are made, its commands typed, one after the other."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.acceptance.test_cli import Shell
from tests.local.conftest import Account
from tests.unit.test_documents import ROOT, blocks

pytestmark = pytest.mark.one_size

PAGE = ROOT / "docs" / "start.md"


def test_the_page_does_what_it_says(account: Account, tiny_file: Path, tmp_path: Path) -> None:
    with account.connect() as connection, connection.cursor() as cursor:
        for statement in "".join(blocks(PAGE, "sql")).split(";\n"):
            if statement.strip():
                cursor.execute(statement)
    environment = {"ORACLE_DSN": account.dsn, "ORACLE_USER": account.user, "ORACLE_PASSWORD": account.password}
    shell = Shell(tmp_path, environment | {"ORACLERAG_EMBEDDING_MODEL": "TINY"})
    file = tmp_path / "oraclerag.toml"
    typed = re.findall(r"^oraclerag (.+)$", "".join(blocks(PAGE, "")), re.MULTILINE)
    assert typed[0] == "init"
    said: dict[str, str] = {}
    for line in typed:
        if line == "deploy":  # the configuration changes before
            template = tmp_path / "templates" / "ticket.j2"
            template.write_text(template.read_text("utf-8") + "A line more.\n", "utf-8")
        arguments = shlex.split(line)
        out = shell.call(*arguments, *(["--model", str(tiny_file)] if line == "provision" else []))
        said[line] = out.stdout + out.stderr
        if line == "source init ticket":
            assert "[source.ticket]" not in file.read_text("utf-8")
    shown = said["source init ticket"]
    assert "| Payments are late" in shown
    assert "| Assignee: Ana Ruiz" in shown
    assert "Left out" not in shown
    assert "Who may see a row" in shown
    assert "password" not in shown
    assert said["source check"].split() == ["team:", "green", "ticket:", "green"]
    assert "ticket:1" in said['search "late payments" --owner 7 -k 5']
    assert re.search(r"ticket +changed +1 +1 ", said["deploy"])
    assert re.search(r"team +same +1 +0 ", said["deploy"])
    assert "ticket: these settings are in force" in said["deploy --yes"]
    assert "Nothing to do" in shell.call("deploy", "--yes").stderr
    assert json.loads(shell.call("deploy", "--json").stdout)["changes"] is False
    before = file.read_text("utf-8")
    file.write_text(before.replace('title = "subject"', 'title = "nothing"'), "utf-8")
    assert "names the column 'nothing'" in shell.call("deploy", "--yes", expect=3).stdout
    file.write_text(before, "utf-8")
    shell.call("worker", "--once")
    with account.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT CONTENT FROM RAG_CHUNK WHERE SOURCE_TYPE = 'ticket'")
        assert [row[0].endswith("A line more.") for row in cursor] == [True]
    shell.call("source", "init", "ticket", "--name", "open", "--write")
    refused = shell.call("source", "check", expect=1).stderr
    assert re.search(r'\[source.open\] in oraclerag.toml must say visibility = "shared" .* or "owner"', refused)
    record = json.loads(shell.call("source", "init", "employee", "--json").stdout)[0]  # it may be left open meanwhile
    assert (record["name"], record["open"], record["sample"]["title"]) == ("employee", ["visibility"], "Ana Ruiz")
    assert "PASSWORD_HASH" in record["left_out"]
    shell.call("source", "init", "ticket", "--name", "open", "--write", expect=1)
    shell.call("init", expect=1)
