"""The embedded PostgreSQL: start, stop, start again with what was there, refuse what another version made."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from oraclerag.local.engine.database import Database
from oraclerag.local.engine.postgres import Cluster
from tests.local.engine.conftest import Driver, FakeModels, SilentClient


def running(cluster: Cluster) -> bool:
    return cluster.running


def test_a_cluster_keeps_its_data_over_a_restart(directory: Path) -> None:
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
        database.close()
        cluster.stop()
        assert not running(cluster)
        database = Database(cluster.start(), FakeModels())
        assert cluster.start()  # once more: nothing to do
        assert (database.password("Keeper"), database.password("NOBODY")) == ("second", None)
        db = Driver(database.open("KEEPER", SilentClient()))
        assert db.rows("SELECT a FROM t") == [(1,)]
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
