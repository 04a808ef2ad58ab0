"""VECTOR_EMBEDDING: over binds once per text, over columns in batches, wherever it stands in a statement."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from oraclerag.local.interface import BindType, OraType
from tests.local.engine.conftest import Connect, Driver, FakeModels, number_of

TEXT, NUMBER = BindType(OraType.VARCHAR, 400), BindType(OraType.NUMBER, 22)


def vector(text: str, data: bytes = b"model") -> array[float]:
    """What the fake model makes of a text."""
    return array("f", [len(text), sum(text.encode()) % 97, len(data)])


def load(db: Driver, data: bytes = b"model", name: str = "M") -> None:
    db.session.ask(
        "INSERT INTO ora.model (owner, name, dimensions, digest, data) VALUES ($1, $2, 3, md5($3), $3)"
        " ON CONFLICT (owner, name) DO UPDATE SET digest = excluded.digest, data = excluded.data",
        db.session.user,
        name,
        data,
    )
    db.commit()


@pytest.fixture
def notes(db: Driver, models: FakeModels) -> Driver:
    load(db)
    db.run("CREATE TABLE notes (id NUMBER, body VARCHAR2(100), embedding VECTOR(3, FLOAT32))")
    db.many("INSERT INTO notes (id, body) VALUES (:1, :2)", [(n, f"text {n % 7}") for n in range(20)], [NUMBER, TEXT])
    db.dml("INSERT INTO notes (id) VALUES (20)")
    db.commit()
    models.batches.clear()
    return db


def test_a_bind_is_embedded(notes: Driver) -> None:
    assert notes.value("SELECT VECTOR_EMBEDDING(m USING :1 AS data) FROM dual", "hello") == vector("hello")
    assert notes.value("SELECT VECTOR_EMBEDDING(m USING 'hello' AS data) FROM dual") == vector("hello")
    assert notes.value("SELECT VECTOR_EMBEDDING(m USING :1 AS data) FROM dual", "") is None


def test_an_array_embeds_every_text_once(notes: Driver, models: FakeModels) -> None:
    sql = "INSERT INTO notes (id, body, embedding) VALUES (:1, :2, VECTOR_EMBEDDING(m USING :2 AS data))"
    rows = [(n, text, text) for n, text in enumerate(["a", "bb", "a", None, "bb"] * 5, 100)]
    assert notes.many(sql, rows, [NUMBER, TEXT, TEXT]).counts == [1] * 25
    assert models.batches == [["a", "bb"]]
    assert notes.rows("SELECT embedding FROM notes WHERE id = 101") == [(vector("bb"),)]
    assert notes.rows("SELECT COUNT(*) FROM notes WHERE id >= 100 AND embedding IS NULL") == [(5,)]


MERGE = (
    "MERGE INTO notes n USING (SELECT id, VECTOR_EMBEDDING(m USING body AS data) e FROM notes) s ON (n.id = s.id)"
    " WHEN MATCHED THEN UPDATE SET embedding = s.e"
)


@pytest.mark.parametrize("inside", [False, True], ids=["first statement", "later statement"])
@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("UPDATE notes SET embedding = VECTOR_EMBEDDING(m USING body AS data)", 21),
        (
            "INSERT INTO notes (id, body, embedding) SELECT id + 100, body, VECTOR_EMBEDDING(m USING body AS data) FROM notes",
            21,
        ),
        (MERGE, 21),
    ],
    ids=["update", "insert", "merge"],
)
def test_columns_are_embedded_in_one_batch(
    notes: Driver, models: FakeModels, statement: str, count: int, inside: bool
) -> None:
    if inside:
        notes.dml("DELETE FROM notes WHERE id = -1")
    assert notes.dml(statement) == count
    assert [sorted(batch) for batch in models.batches] == [[f"text {n}" for n in range(7)]]
    got = notes.rows("SELECT body, embedding FROM notes WHERE embedding IS NOT NULL")
    assert got == [(body, vector(body)) for body, _ in got]
    assert len(got) == 20
    notes.rollback()
    assert notes.rows("SELECT COUNT(*) FROM notes WHERE embedding IS NOT NULL") == [(0,)]


def test_an_update_that_embeds_locks_what_it_reads(notes: Driver, connect: Connect) -> None:
    sql = "UPDATE notes n SET n.embedding = VECTOR_EMBEDDING(m USING :1 || n.body AS data), n.id = n.id + 100 WHERE n.id < :2"
    assert notes.dml(sql, ">", 3, types=[TEXT, NUMBER]) == 3
    assert notes.rows("SELECT id, embedding FROM notes WHERE id >= 100 ORDER BY id") == [
        (100 + n, vector(f">text {n}")) for n in range(3)
    ]
    other = connect()
    assert number_of(lambda: other.rows("SELECT id FROM notes WHERE id = 1 FOR UPDATE NOWAIT")) == 54
    notes.rollback()
    assert other.rows("SELECT id FROM notes WHERE id = 1 FOR UPDATE NOWAIT") == [(1,)]


def test_an_update_that_fails_after_embedding_leaves_its_transaction(notes: Driver) -> None:
    notes.run("CREATE TABLE wide (body VARCHAR2(20), e VECTOR(4, FLOAT32))")
    sql = "UPDATE wide SET e = VECTOR_EMBEDDING(m USING body AS data)"
    assert notes.dml(sql) == 0
    notes.commit()
    notes.dml("INSERT INTO wide (body) VALUES ('a')")
    assert number_of(lambda: notes.dml(sql)) == 51803
    goes_on = notes.session.in_transaction
    assert goes_on
    notes.commit()
    assert number_of(lambda: notes.dml(sql)) == 51803
    assert not notes.session.in_transaction
    assert notes.rows("SELECT body, e FROM wide") == [("a", None)]


def test_an_updatable_view_is_embedded_too(notes: Driver) -> None:
    notes.run("CREATE VIEW some_notes AS SELECT body, embedding FROM notes WHERE id < 2")
    assert notes.dml("UPDATE some_notes SET embedding = VECTOR_EMBEDDING(m USING body AS data)") == 2


def test_queries_embed_columns_and_remember(notes: Driver, models: FakeModels, connect: Connect) -> None:
    sql = "SELECT id FROM notes WHERE id < 7 ORDER BY VECTOR_DISTANCE(VECTOR_EMBEDDING(m USING body AS data), :1, EUCLIDEAN), id"
    assert notes.rows(sql, vector("text 3"))[0] == (3,)
    assert len(models.batches) == 1
    assert not notes.session.in_transaction
    assert connect().rows(sql, vector("text 4"))[0] == (4,)
    assert len(models.batches) == 1


def test_in_a_snapshot_that_cannot_see_what_others_add(notes: Driver) -> None:
    notes.run("ALTER SESSION SET ISOLATION_LEVEL = SERIALIZABLE")
    assert notes.value("SELECT COUNT(*) FROM notes") == 21
    assert notes.dml("UPDATE notes SET embedding = VECTOR_EMBEDDING(m USING body AS data) WHERE id < 3") == 3
    assert notes.value("SELECT embedding FROM notes WHERE id = 2") == vector("text 2")


def test_snapshots_do_not_wait_for_one_another(notes: Driver, connect: Connect) -> None:
    pair = [notes, connect()]
    sql = "SELECT VECTOR_EMBEDDING(m USING body AS data) FROM notes WHERE id = 5"
    for driver in pair:
        driver.run("ALTER SESSION SET ISOLATION_LEVEL = SERIALIZABLE")
        driver.dml("DELETE FROM notes WHERE id = -1")
    for driver in pair:
        assert driver.rows(sql) == [(vector("text 5"),)]
    assert notes.session.ask("SELECT count(*)::int4 FROM ora.embed_own") == [(0,)]
    assert connect().rows(sql) == [(vector("text 5"),)]


def test_an_array_over_columns(notes: Driver, models: FakeModels) -> None:
    sql = "UPDATE notes SET embedding = VECTOR_EMBEDDING(m USING body || :1 AS data) WHERE id = :2"
    assert notes.many(sql, [("!", 1), ("?", 2), ("!", 1)], [TEXT, NUMBER]).counts == [1, 1, 1]
    assert notes.rows("SELECT embedding FROM notes WHERE id = 1") == [(vector("text 1!"),)]
    assert [sorted(batch) for batch in models.batches] == [["text 1!", "text 2?"]]


def test_batch_errors_and_embedding(notes: Driver) -> None:
    notes.run("ALTER TABLE notes ADD CONSTRAINT short CHECK (id < 50)")
    sql = "UPDATE notes SET id = :1, embedding = VECTOR_EMBEDDING(m USING body AS data) WHERE id = :2"
    result = notes.many(sql, [(30, 0), (60, 1), (31, 2)], [NUMBER, NUMBER], batch=True)
    assert ([(error.offset, error.error.number) for error in result.errors], result.counts) == ([(1, 2290)], [1, 0, 1])
    assert notes.rows("SELECT id, embedding FROM notes WHERE embedding IS NOT NULL ORDER BY id") == [
        (30, vector("text 0")),
        (31, vector("text 2")),
    ]


def test_a_vector_of_another_dimension_is_refused(notes: Driver) -> None:
    notes.run("CREATE TABLE wide (e VECTOR(4, FLOAT32))")
    assert (
        number_of(lambda: notes.dml("INSERT INTO wide SELECT VECTOR_EMBEDDING(m USING body AS data) FROM notes"))
        == 51803
    )


def test_an_unknown_model(db: Driver) -> None:
    assert number_of(lambda: db.rows("SELECT VECTOR_EMBEDDING(nix USING 'a' AS data) FROM dual")) == 40284


def test_an_input_that_the_model_has_not(notes: Driver) -> None:
    assert number_of(lambda: notes.rows("SELECT VECTOR_EMBEDDING(m USING 'a' AS text) FROM dual")) == 3001


def test_a_model_that_is_replaced_or_dropped_is_forgotten(notes: Driver, connect: Connect) -> None:
    other = connect()
    sql = "SELECT VECTOR_EMBEDDING(m USING body AS data) FROM notes WHERE id = 1"
    assert other.value(sql) == vector("text 1")
    load(notes, b"another model")
    assert other.value(sql) == vector("text 1", b"another model")
    notes.session.ask("DELETE FROM ora.model WHERE owner = $1", notes.session.user)
    notes.commit()
    assert number_of(lambda: other.rows(sql)) == 40284


def test_no_text_reaches_the_log_of_postgresql(
    notes: Driver, models: FakeModels, tmp_path_factory: pytest.TempPathFactory
) -> None:
    notes.dml("INSERT INTO notes (id, body) VALUES (900, 'confidential sentence')")
    notes.dml("UPDATE notes SET embedding = VECTOR_EMBEDDING(m USING body AS data) WHERE id = 900")
    number_of(lambda: notes.rows("SELECT 'confidential sentence' + 1 FROM dual"))
    logs = list(Path(tmp_path_factory.getbasetemp()).glob("pg*/log"))
    assert logs
    assert all("confidential" not in log.read_text() for log in logs)
