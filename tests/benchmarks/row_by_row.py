"""Indexing one row after the other, as a small worker in an application does it, to compare with.

It is honest: one transaction for a batch of 32, rows locked with SKIP LOCKED, several rows of one task taken together, a
hash that saves embedding what has not changed, the vector made by the database and bound back to it. It has neither
tickets nor leases, asks the source for each task, and sends each text and each vector with a statement of its own.
"""

from __future__ import annotations

import hashlib
import time

import jinja2

from tests.local.write_path.tracker import COMMENTS, SELECT, TEMPLATE, Tracker

__all__ = ["index_row_by_row", "prepare"]

_BATCH = 32


def prepare(tracker: Tracker) -> None:
    """Make its table: one chunk for a task."""
    tracker.sql(
        "CREATE TABLE base_chunk (task_id NUMBER(9) PRIMARY KEY, owner_id NUMBER(9), content VARCHAR2(4000), "
        "content_hash VARCHAR2(64), embedding VECTOR(384, FLOAT32))"
    )


def index_row_by_row(tracker: Tracker, model: str) -> float:
    """Work off what is in the queue, with a model by its name in SQL; gives the seconds."""
    started = time.perf_counter()
    connection = tracker.connection
    rendered = jinja2.Template(TEMPLATE)
    with connection.cursor() as cursor:
        while True:
            cursor.execute(
                "SELECT DIRTY_ID, SOURCE_ID FROM RAG_DIRTY WHERE ROWID IN (SELECT ROWID FROM RAG_DIRTY "
                f"ORDER BY ENQUEUED_AT, DIRTY_ID FETCH FIRST {_BATCH} ROWS ONLY) FOR UPDATE SKIP LOCKED"
            )
            picked = cursor.fetchall()
            if not picked:
                connection.commit()
                return time.perf_counter() - started
            for number in dict.fromkeys(int(source_id) for _, source_id in picked):
                cursor.execute(f"{SELECT} WHERE t.id = :id", id=number, fetch_lobs=False)
                names = [column[0].lower() for column in cursor.description or ()]
                row = cursor.fetchone()
                if row is None:
                    cursor.execute("DELETE FROM base_chunk WHERE task_id = :id", id=number)
                    continue
                cursor.execute(f"SELECT * FROM ({COMMENTS}) WHERE source_id = :id ORDER BY created_at, id", id=number)
                comments = [{"body": comment[3]} for comment in cursor.fetchall()]
                values = dict(zip(names, row, strict=True))
                text = rendered.render(**values, comments=comments)
                digest = hashlib.sha256(text.encode()).hexdigest()
                cursor.execute("SELECT content_hash FROM base_chunk WHERE task_id = :id", id=number)
                known = cursor.fetchone()
                if known is not None and known[0] == digest:
                    continue
                cursor.execute(f"SELECT VECTOR_EMBEDDING({model} USING :text AS DATA) FROM dual", text=text)
                (vector,) = cursor.fetchone() or (None,)
                cursor.execute(
                    "MERGE INTO base_chunk t USING (SELECT :id AS task_id FROM dual) n ON (t.task_id = n.task_id) "
                    "WHEN MATCHED THEN UPDATE SET t.owner_id = :owner_id, t.content = :content, "
                    "t.content_hash = :digest, t.embedding = :vector "
                    "WHEN NOT MATCHED THEN INSERT (task_id, owner_id, content, content_hash, embedding) "
                    "VALUES (:id, :owner_id, :content, :digest, :vector)",
                    id=number, owner_id=values["assignee_id"], content=text, digest=digest, vector=vector,
                )  # fmt: skip
            cursor.executemany("DELETE FROM RAG_DIRTY WHERE DIRTY_ID = :1", [(dirty_id,) for dirty_id, _ in picked])
            connection.commit()
