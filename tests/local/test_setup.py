"""A new database from nothing: what ``provision --sql`` gives a DBA is run twice, and the users that it makes do their
work. What a dry run says is what is done then."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import oracledb
import pytest

from oraclerag import Rag, Scope, Settings, SourceKey
from oraclerag.config import SourceSettings
from oraclerag.errors import OracleRagError, PrivilegeMissing
from oraclerag.local import LocalDatabase
from oraclerag.model.active import active_model
from oraclerag.setup import Names, Step, rehearse, scripts, whole
from oraclerag.setup.sql_api import install_sql_api, texts
from tests.local.conftest import Account, as_administrator
from tests.local.write_path.tracker import settings_of
from tests.unit.sqlplus import statements

pytestmark = pytest.mark.one_size


def states(steps: tuple[Step, ...]) -> dict[str, str]:
    return {step.name: step.state for step in steps}


@pytest.fixture
def names(account: Account) -> Names:
    user = account.user
    return Names(owner=f"{user}_O", worker=f"{user}_W", application=f"{user}_A", role=user)


@pytest.fixture
def prepared(account: Account, names: Names, local_database: LocalDatabase) -> dict[str, Settings]:
    """The settings of owner, worker and application of a database that a DBA made ready with the scripts, twice."""
    run = statements(whole(scripts(names, Settings())))
    for _ in range(2):
        as_administrator(local_database, *run)
    with oracledb.connect(user=names.owner, password="TYPED", dsn=account.dsn) as owner, owner.cursor() as cursor:
        cursor.execute("CREATE TABLE note (id NUMBER PRIMARY KEY, body VARCHAR2(100))")
        cursor.execute("INSERT INTO note VALUES (1, 'The printer is out of paper')")
        owner.commit()
    as_administrator(local_database, f"GRANT READ ON {names.owner}.note TO {names.worker}")
    source = SourceSettings(
        name="note", select=f"select id as source_id, body from {names.owner}.note", visibility="shared",
        template="{{ body }}",
    )  # fmt: skip
    users = {"owner": names.owner, "worker": names.worker, "application": names.application}
    return {
        who: settings_of(Account(account.dsn, user, "TYPED"), source, schema=names.owner) for who, user in users.items()
    }


def test_three_users_do_their_work(
    prepared: dict[str, Settings], names: Names, local_database: LocalDatabase, tiny_file: Path
) -> None:
    with (
        Rag(prepared["owner"]) as owner,
        Rag(prepared["worker"]) as worker,
        Rag(prepared["application"]) as application,
    ):
        before = rehearse(owner.database, model_file=tiny_file)
        assert states(before) == {
            "database": "there", "character set": "there", "tables": "there", "privileges": "there", "model": "to do",
            "in force": "to do",
        }  # fmt: skip
        with pytest.raises(PrivilegeMissing):
            worker.provision(model_file=tiny_file)
        report = owner.provision(model_file=tiny_file)
        assert (report.applied, report.loaded) == ((), True)
        (model,) = [step for step in before if step.name == "model"]
        assert f"as {report.model.physical_name}" in model.detail, "what was said is what was done"
        again = owner.provision(url="https://host/p/secret")
        assert (again.model.physical_name, again.loaded) == (report.model.physical_name, False), "nothing was fetched"
        (script,) = [one for one in scripts(names, Settings()) if one.path == "afterwards/grant_model.sql"]
        for _ in range(2):
            with owner.database.connect() as connection, connection.cursor() as cursor:
                for statement in statements(script.text):
                    cursor.execute(statement)
        with application.database.connect() as connection:
            application.enqueue(connection, SourceKey("note", "1"))
            connection.commit()
        assert worker.drain().indexed == 1
        assert [hit.source.id for hit in application.search("paper", scope=Scope())] == ["1"]
        _search_as_plsql_does(owner)
        assert set(states(rehearse(owner.database)).values()) == {"there"}
        assert "privileges" not in states(rehearse(worker.database)), "nothing is to be done, so none are needed"
        with pytest.raises(OracleRagError):
            application.drain()


def _search_as_plsql_does(owner: Rag) -> None:
    """The statements of RAG_API with the binds of a call that names one group; the local database has no packages."""
    with owner.database.connect() as connection, connection.cursor() as cursor:
        model = active_model(connection, owner.database.schema)
        found = {}
        for name, text in texts(model, k=3).items():
            if name != "c_enqueue":
                given = dict.fromkeys(re.findall(r":(scope_principal\d)", text)) | {
                    "question0": "paper", "scope_tenant": "main", "model_in_force": model.physical_name,
                }  # fmt: skip
                given |= {"scope_principal1": "team:x"} if "someone" in name else {}
                cursor.execute(text, given)
                found[name] = cursor.fetchall()
    assert {name: len(rows) for name, rows in found.items()} == dict.fromkeys(found, 1)
    assert len(found) == 6
    with pytest.raises(OracleRagError, match="CREATE PACKAGE"):
        install_sql_api(owner.database)


def test_a_dry_run_of_a_new_database_writes_nothing(account: Account, tiny_file: Path) -> None:
    with Rag(settings_of(account)) as rag:
        steps = rehearse(rag.database, model_file=tiny_file, directory="MODELS")
        assert states(steps) == {
            "database": "there", "character set": "there", "tables": "to do", "privileges": "there", "model": "to do",
            "in force": "to do",
        }  # fmt: skip
        assert "from the DIRECTORY MODELS" in steps[-2].detail
        with rag.database.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM USER_OBJECTS")
            assert cursor.fetchone() == (0,)
        assert states(rehearse(rag.database))["model"] == "blocked", "nobody can fetch TINY"
        (model,) = [step for step in rehearse(rag.database, url="https://host/p/secret") if step.name == "model"]
        assert (model.state, model.remedy) == ("blocked", "Pass FILE too, or --sha256.")
        steps = rehearse(rag.database, url="https://host/p/secret", sha256="0" * 64)
        assert "load TINY_00000000 from a pre-authenticated request" in [step.detail for step in steps]
        assert "secret" not in json.dumps([step.detail for step in steps])
        assert states(rehearse(rag.database, model_file=Path("none.onnx")))["model"] == "blocked"
    with Rag(replace(settings_of(account), embedding_model="ALL_MINILM_L6_V2")) as rag:
        (model,) = [step for step in rehearse(rag.database) if step.name == "model"]
        assert (model.state, "load it as ALL_MINILM_L6_V2" in model.detail) == ("to do", True)
    with Rag(settings_of(account, schema="NOBODY_AT_ALL")) as rag:
        (tables,) = [step for step in rehearse(rag.database, model_file=tiny_file) if step.name == "tables"]
        assert (tables.state, tables.detail) == ("blocked", "there is no user NOBODY_AT_ALL")


def test_a_dry_run_says_what_a_user_lacks(account: Account, local_database: LocalDatabase, tiny_file: Path) -> None:
    name = f"{account.user}_P"
    as_administrator(
        local_database, f'CREATE USER {name} IDENTIFIED BY "secret"', f"GRANT CREATE SESSION, CREATE TABLE TO {name}"
    )
    plain = Account(account.dsn, name, "secret")
    with Rag(settings_of(plain)) as rag:
        steps = rehearse(rag.database, model_file=tiny_file)
        (rights,) = [step for step in steps if step.name == "privileges"]
        assert rights.detail == f"{name} lacks CREATE VIEW, CREATE SEQUENCE, CREATE MINING MODEL"
        assert "provision --sql" in str(rights.remedy)
    with Rag(settings_of(plain, schema=account.user)) as rag:
        (rights,) = [step for step in rehearse(rag.database, model_file=tiny_file) if step.name == "privileges"]
        assert "CREATE ANY TABLE" in rights.detail
