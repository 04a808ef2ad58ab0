"""Answers that a real database asks for, as far as they go without a language model: how it words what is missing."""

from __future__ import annotations

from typing import Any, Literal

import oracledb
import pytest

from oraclerag import errors
from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.generate.in_database import InDatabase
from tests.local.conftest import Account
from tests.oracle.conftest import Users
from tests.unit.fake_llm import prompt

pytestmark = pytest.mark.oracle

PACKAGES = ("DBMS_VECTOR", "DBMS_VECTOR_CHAIN")


def asked(account: Account, **how: Any) -> errors.ProviderError:
    """Have an answer written that cannot be, and give the error."""
    database = Database(Settings(dsn=account.dsn, user=account.user, password=account.password))
    values: dict[str, Any] = {"credential": None, "base_url": "http://127.0.0.1:1/x", "model": "m", "timeout": 30.0}
    try:
        with pytest.raises(errors.ProviderError) as caught:
            InDatabase(database=database, **(values | how)).generate(prompt())
    finally:
        database.close()
    return caught.value


@pytest.mark.parametrize("package", PACKAGES)
def test_a_host_that_no_list_allows(package: Literal["DBMS_VECTOR", "DBMS_VECTOR_CHAIN"], account: Account) -> None:
    error = asked(account, provider="ollama", package=package)
    assert isinstance(error, errors.ProviderRefused)
    assert "ORA-24247" in error.message
    assert "network_acl.sql" in str(error.hint)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_credential_that_is_not_there(package: Literal["DBMS_VECTOR", "DBMS_VECTOR_CHAIN"], account: Account) -> None:
    error = asked(account, provider="openai", credential="NOBODY", package=package)
    assert isinstance(error, errors.ProviderLoginFailed)
    assert "ORA-20003" in error.message


@pytest.mark.parametrize("package", PACKAGES)
def test_a_credential_is_made_once_and_dropped_once(package: str, users: Users) -> None:
    (one,) = users("GRANT CREATE SESSION, CREATE CREDENTIAL TO {}")
    make = f"""BEGIN {package}.CREATE_CREDENTIAL('LLM', JSON('{{"access_token": "t"}}')); END;"""
    drop = f"BEGIN {package}.DROP_CREDENTIAL('LLM'); END;"
    with one.connect() as connection, connection.cursor() as cursor:
        cursor.execute(make)
        assert cursor.execute("SELECT CREDENTIAL_NAME FROM USER_CREDENTIALS").fetchall() == [("LLM",)]
        with pytest.raises(oracledb.DatabaseError, match="ORA-27477"):
            cursor.execute(make)
        cursor.execute(drop)
        with pytest.raises(oracledb.DatabaseError, match="ORA-27476"):
            cursor.execute(drop)
