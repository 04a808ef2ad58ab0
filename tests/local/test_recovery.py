"""The runbook is run: a disaster is caused, the commands of its page are typed, and an audit finds everything equal."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from oraclerag.cli import main
from oraclerag.errors import SchemaError
from oraclerag.model.active import active_model
from tests.local.conftest import Account
from tests.local.desk import Desk, open_desk

pytestmark = pytest.mark.one_size

DOCS = Path(__file__).resolve().parents[2] / "docs"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"# exit code (\d+)")


def commands(page: str) -> dict[str, list[tuple[str, int]]]:
    """Give the commands under each heading of a page that has any, with the exit code that each must have."""
    found: dict[str, list[tuple[str, int]]] = {}
    for section in (DOCS / page).read_text("utf-8").split("\n## ")[1:]:
        lines = "".join(text for language, text in _FENCE.findall(section) if not language).splitlines()
        if lines:
            codes = [_CODE.search(line) for line in lines]
            found[section.partition("\n")[0]] = [
                (line, int(code[1]) if code else 0) for line, code in zip(lines, codes, strict=True)
            ]
    return found


def statements(page: str, heading: str) -> list[str]:
    """Give the SQL under a heading."""
    section = (DOCS / page).read_text("utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = [text for language, text in _FENCE.findall(section) if language == "sql"]
    return [text.strip() for block in blocks for text in block.split(";") if text.strip()]


@pytest.fixture(scope="module")
def desk(module_account: Account, tiny_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Two tenants with tickets, notes and resolutions, and a vector index; every disaster is made good again."""
    opened = open_desk(module_account, tiny_file, tmp_path_factory.mktemp("desk"))
    opened.fill("acme", "globex")
    opened.ticket("acme/team", "acme", "Late payment, again")
    opened.rag.backfill()
    opened.rag.work(once=True)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("state", "building"):
            patch.setattr(f"oraclerag.index.{module}.MIN_CHUNKS", 1)
        opened.rag.build_index()
        yield opened
    opened.rag.close()
    opened.connection.close()


def typed(desk: Desk, line: str, code: int) -> tuple[str, str]:
    """Type a command where the configuration is; gives what it writes, data and messages."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(desk.folder)
        for name in [name for name in os.environ if name.startswith("ORACLE")]:
            patch.delenv(name)
        patch.setenv("ORACLE_DSN", desk.account.dsn)
        patch.setenv("ORACLE_USER", desk.account.user)
        patch.setenv("ORACLE_PASSWORD", desk.account.password)
        patch.setattr(sys, "argv", shlex.split(line, comments=True))
        with pytest.raises(SystemExit) as end:
            main()
    assert (end.value.code or 0) == code, f"{line}: {end.value.code}\n{out.getvalue()}{err.getvalue()}"
    return out.getvalue(), err.getvalue()


# -- disasters --------------------------------------------------------------------------------------------------------


def truncate(desk: Desk) -> None:
    desk.sql("TRUNCATE TABLE RAG_DOCUMENT")
    desk.sql("TRUNCATE TABLE RAG_CHUNK")
    assert not desk.equal()


def drop(desk: Desk) -> None:
    for table in ("RAG_DOCUMENT", "RAG_CHUNK"):
        desk.sql(f"DROP TABLE {table} CASCADE CONSTRAINTS PURGE")
    with pytest.raises(SchemaError, match="RAG_DOCUMENT is missing"):
        desk.rag.migrate()


def scribble(desk: Desk) -> None:
    desk.sql("UPDATE RAG_CHUNK SET CONTENT = 'not what its source says' WHERE COLLECTION = 'tickets'")
    assert not desk.equal()


def nothing(_: Desk) -> None:
    """It is somebody's wish."""


def drop_model(desk: Desk) -> None:
    name = active_model(desk.connection, desk.account.user).physical_name
    desk.sql("BEGIN DBMS_VECTOR.DROP_ONNX_MODEL(model_name => :1, force => TRUE); END;", name)


def invalidate(desk: Desk) -> None:
    truncate(desk)
    desk.rag.backfill()
    desk.rag.work(once=True)
    assert not desk.rag.index_status().usable


def give_up(desk: Desk) -> None:
    desk.sql("UPDATE TICKET SET TITLE = 'Changed' WHERE ID = 'acme/team'")
    desk.sql(
        "INSERT INTO RAG_DIRTY (SOURCE_TYPE, SOURCE_ID, TENANT_ID, STATE, ATTEMPTS, ERROR_CODE, LAST_ERROR) "
        "VALUES ('ticket', 'acme/team', 'acme', 'DEAD', 5, 'ENTITY', 'a template that failed')"
    )
    assert not desk.equal()


def restore(desk: Desk) -> None:
    """What is as if the index, the queue and the model were of last week: nothing of this was announced to it."""
    drop_model(desk)
    desk.sql("UPDATE TICKET SET BODY = 'another body' WHERE ID = 'globex/1'")
    desk.sql("DELETE FROM TICKET WHERE ID = 'globex/2'")
    desk.ticket("globex/9", "globex", "Written since")
    desk.sql(
        "UPDATE RAG_SETTING SET SETTING_VALUE = 'of last week' WHERE SETTING = 'fingerprint' AND SCOPE_NAME = 'file'"
    )


def depart(desk: Desk) -> None:
    desk.sql("DELETE FROM TICKET WHERE TENANT = 'acme'")
    assert not desk.equal()


def arrive(desk: Desk) -> None:
    for number in range(3):
        desk.ticket(f"initech/{number}", "initech", f"Late payment {number} of initech")


def come_back(desk: Desk) -> None:
    """The page before has ended with a tenant that left."""
    desk.fill("acme")


def take_exports_away(desk: Desk) -> None:
    for path in desk.folder.glob("acme.jsonl*"):
        path.unlink()


DISASTERS: dict[tuple[str, str], Callable[[Desk], None]] = {
    ("recovery.md", "The projection is lost"): truncate,
    ("recovery.md", "A table of the projection was dropped"): drop,
    ("recovery.md", "A part of it is wrong"): scribble,
    ("recovery.md", "A tenant is to be made anew"): nothing,
    ("recovery.md", "The model is gone"): drop_model,
    ("recovery.md", "The vector index is unusable"): invalidate,
    ("recovery.md", "The queue is full of rows that were given up"): give_up,
    ("recovery.md", "The schema came back from an older backup"): restore,
    ("recovery.md", "A tenant has left"): depart,
    ("tenants.md", "A new tenant"): arrive,
    ("tenants.md", "Is it whole, and alone?"): come_back,
    ("tenants.md", "Taking everything out"): take_exports_away,
    ("tenants.md", "A tenant leaves"): depart,
}
WRITTEN = [(page, heading) for page in ("recovery.md", "tenants.md") for heading in commands(page)]


def test_every_block_of_the_pages_has_its_disaster() -> None:
    assert set(WRITTEN) == set(DISASTERS)


@pytest.mark.parametrize(("page", "heading"), WRITTEN)
def test_the_runbook_ends_with_an_index_that_is_equal(desk: Desk, page: str, heading: str) -> None:
    DISASTERS[page, heading](desk)
    for statement in statements(page, heading):
        desk.sql(statement)
    for line, code in commands(page)[heading]:
        typed(desk, line, code)
    assert desk.equal()
    assert desk.rag.index_status().usable
    assert not desk.rag.queue_status().dead


@pytest.mark.parametrize("table", ["RAG_DOCUMENT", "RAG_CHUNK"])
def test_a_part_of_the_projection_is_made_anew_too(desk: Desk, table: str) -> None:
    before = desk.index()
    desk.sql(f"DELETE FROM {table} WHERE TENANT_ID = 'globex'")
    assert not desk.equal()
    desk.rag.backfill()
    desk.rag.work(once=True)
    assert desk.index() == before
    assert desk.equal()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("oraclerag wipe --tenant globex --json", "sources"),
        ("oraclerag tenant onboard globex --json", "summary"),
        ("oraclerag tenant verify globex --json", "coverage"),
        ("oraclerag tenant export globex globex.jsonl --json", "sha256"),
        ("oraclerag tenant remove globex --json", "returning"),
    ],
)
def test_reports_are_json_where_that_is_wanted(desk: Desk, line: str, name: str) -> None:
    assert name in json.loads(typed(desk, line, 0)[0])


def test_tenants_are_listed_as_json(desk: Desk) -> None:
    assert "globex" in {one["tenant"] for one in json.loads(typed(desk, "oraclerag tenant list --json", 0)[0])}


def test_what_is_no_key_is_refused(desk: Desk) -> None:
    assert "is no key" in typed(desk, "oraclerag tenant verify globex --phrase late --expect 42", 2)[1]
