"""The embedded PostgreSQL: start, stop, start again with what was there, refuse what another version made."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from oraclerag.local.engine import long_names
from oraclerag.local.engine.database import Database
from oraclerag.local.engine.postgres import Cluster
from oraclerag.local.interface import OraError
from tests.local.engine.conftest import Driver, FakeModels, SilentClient


def running(cluster: Cluster) -> bool:
    return cluster.running


def test_a_cluster_keeps_its_data_over_a_restart(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user, table, column, key = (name * 128 for name in "UTCK")
    cluster = Cluster(directory)
    assert not running(cluster)
    cluster.stop()  # nothing to do
    try:
        database = Database(cluster.start(), FakeModels())
        assert running(cluster)
        database.create_user("keeper", "first")
        database.create_user("KEEPER", "second")
        db = Driver(database.open("keeper", SilentClient()))
        db.run("CREATE TABLE t (a NUMBER)")
        db.dml("INSERT INTO t VALUES (1)")
        db.commit()
        db.session.close()
        database.create_user(user, "long")
        db = Driver(database.open(user, SilentClient()))
        db.run(f"CREATE TABLE {table} ({column} NUMBER CONSTRAINT {key} CHECK ({column} > 0))")
        db.session.close()
        database.close()
        cluster.stop()
        monkeypatch.setattr(long_names, "_seen", {})  # as in a new process
        assert not running(cluster)
        database = Database(cluster.start(), FakeModels())
        assert cluster.start()  # once more: nothing to do
        assert (database.password("Keeper"), database.password("NOBODY")) == ("second", None)
        db = Driver(database.open("KEEPER", SilentClient()))
        assert db.rows("SELECT a FROM t") == [(1,)]
        db.session.close()
        db = Driver(database.open(user, SilentClient()))
        db.run("CREATE SYNONYM s FOR " + table)
        monkeypatch.setattr(long_names, "_seen", {})
        assert [one.name for one in db.session.describe("SELECT * FROM s")] == [column]
        assert db.rows("SELECT OWNER, TABLE_NAME FROM ALL_TABLES WHERE OWNER = USER") == [(user, table)]
        monkeypatch.setattr(long_names, "_seen", {})
        with pytest.raises(OraError, match=rf"\({user}\.{key}\)"):
            db.dml("INSERT INTO s VALUES (0)")
        db.session.close()
        database.close()
    finally:
        cluster.stop()


def test_another_versions_catalog_is_refused(directory: Path) -> None:
    cluster = Cluster(directory)
    try:
        with psycopg.connect(cluster.start(), autocommit=True) as connection:
            connection.execute("UPDATE ora.catalog_version SET digest = 'other'")
        with pytest.raises(RuntimeError, match="oraclerag local reset"):
            cluster.start()
    finally:
        cluster.stop()


def test_the_order_of_text_is_binary_and_upper_knows_unicode(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        rows = connection.execute(
            "SELECT upper(a) FROM (VALUES ('b'), ('ä'), ('B'), ('a')) v (a) ORDER BY a"
        ).fetchall()
    assert [row[0] for row in rows] == ["B", "A", "B", "Ä"]


def test_a_string_size_that_oracle_has_not(conninfo: str) -> None:
    with pytest.raises(ValueError, match="4000"):
        Database(conninfo, FakeModels(), max_string_size=100)
