"""What the statement log keeps of a statement, and what it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from oraclerag.local.wire.statement_log import StatementLog, Trip


@pytest.mark.parametrize(
    ("statement", "logged"),
    [
        ("CREATE USER a IDENTIFIED BY secret", "CREATE USER a IDENTIFIED BY ***"),
        (
            'create user a identified\nby "se cret" QUOTA 1M ON users',
            "create user a identified\nby *** QUOTA 1M ON users",
        ),
        ('ALTER USER a IDENTIFIED BY "secret" REPLACE "old secret"', "ALTER USER a IDENTIFIED BY *** REPLACE ***"),
        ("ALTER USER a IDENTIFIED BY secret  REPLACE\tsecret2", "ALTER USER a IDENTIFIED BY ***  REPLACE\t***"),
        ("ALTER USER a IDENTIFIED BY VALUES 'S:secret;T:secret'", "ALTER USER a IDENTIFIED BY VALUES ***"),
        (
            "BEGIN EXECUTE IMMEDIATE 'ALTER USER a IDENTIFIED BY secret'; END;",
            "BEGIN EXECUTE IMMEDIATE 'ALTER USER a IDENTIFIED BY ***; END;",
        ),
        (
            """BEGIN DBMS_VECTOR.CREATE_CREDENTIAL('C', JSON('{"access_token" : "secret"}')); END;""",
            """BEGIN DBMS_VECTOR.CREATE_CREDENTIAL('C', JSON('{"access_token" : ***}')); END;""",
        ),
        (
            "BEGIN p('C', JSON_OBJECT('fingerprint' VALUE 'a', 'private_key' VALUE 'secret')); o.put('Password', 'secret'); END;",
            "BEGIN p('C', JSON_OBJECT('fingerprint' VALUE 'a', 'private_key' VALUE ***)); o.put('Password', ***); END;",
        ),
        (
            "BEGIN DBMS_CREDENTIAL.CREATE_CREDENTIAL('C', password => 'secret",
            "BEGIN DBMS_CREDENTIAL.CREATE_CREDENTIAL('C', password => ***",
        ),
        ("SELECT password, 'x' FROM t WHERE access_token = :b", "SELECT password, 'x' FROM t WHERE access_token = :b"),
        ('ALTER USER a IDENTIFIED BY "not closed secret', "ALTER USER a IDENTIFIED BY ***"),
        ("SELECT REPLACE(name, 'a') FROM t", "SELECT REPLACE(name, 'a') FROM t"),
    ],
)
def test_passwords_are_not_logged(tmp_path: Path, statement: str, logged: str) -> None:
    log = StatementLog(tmp_path / "log")
    log.add(1, Trip("execute", sql=statement))
    log.close()
    assert json.loads((tmp_path / "log").read_text("utf-8"))["sql"] == logged
