"""An installation with a tiny model, and chunks put straight into its index: what the read path needs, and no more."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import oracledb

from oraclerag.config import Settings
from oraclerag.model import active_model
from oraclerag.rag import Rag
from oraclerag.testing import tiny_reranker
from tests.local.conftest import Account

MODEL = "TINY"
RERANKER_METADATA = (
    '{"function": "regression", "regressionOutput": "output", '
    '"input": {"first_input": ["DATA1"], "second_input": ["DATA2"]}}'
)


@dataclass(frozen=True)
class Entry:
    """One chunk; ``embedded=False`` leaves its vector NULL."""

    id: str
    text: str
    source: str = "task"
    tenant: str = "main"
    visibility: str = "SHARED"
    owner: str | None = None
    project: str | None = None
    sprint: str | None = None
    collection: str | None = None
    metadata: dict[str, Any] | None = field(default=None)
    occurred_at: dt.datetime | None = None
    title: str | None = None
    url: str | None = None
    embedded: bool = True


def settings_of(account: Account, **changes: Any) -> Settings:
    values: dict[str, Any] = {
        "dsn": account.dsn, "user": account.user, "password": account.password, "embedding_model": MODEL, "max_k": 10_000,
    }  # fmt: skip
    return Settings(**(values | changes))


def install(account: Account, model_file: Path, **changes: Any) -> Rag:
    """Make the account's schema an installation and give a Rag on it; the caller closes it."""
    rag = Rag(settings_of(account, **changes))
    rag.provision(model_file=model_file)
    return rag


def shelve(connection: oracledb.Connection, schema: str, entries: Iterable[Entry]) -> None:
    """Put chunks into the index, as a worker would; does not commit."""
    model = active_model(connection, schema)
    with connection.cursor() as cursor:
        for entry in entries:
            number = cursor.var(int)
            cursor.execute(
                "INSERT INTO RAG_ENTITY (SOURCE_TYPE, SOURCE_ID, TENANT_ID, CHUNKS) VALUES (:source, :id, :tenant, 1) "
                "RETURNING ENTITY_ID INTO :entity",
                source=entry.source, id=entry.id, tenant=entry.tenant, entity=number,
            )  # fmt: skip
            (entity,) = number.getvalue()
            cursor.execute(
                "INSERT INTO RAG_DOCUMENT (ENTITY_ID, TENANT_ID, TITLE, URL) VALUES (:1, :2, :3, :4)",
                [entity, entry.tenant, entry.title, entry.url],
            )
            cursor.setinputsizes(metadata=oracledb.DB_TYPE_JSON, occurred_at=oracledb.DB_TYPE_TIMESTAMP)
            cursor.execute(
                "INSERT INTO RAG_CHUNK (ENTITY_ID, CHUNK_NO, CONTENT, CONTENT_HASH, TENANT_ID, COLLECTION, SOURCE_TYPE, "
                "SOURCE_ID, VISIBILITY, OWNER_ID, PROJECT_ID, SPRINT_ID, METADATA, OCCURRED_AT) VALUES (:entity, 0, "
                ":content, :hash, :tenant, :collection, :source, :id, :visibility, :owner, :project, :sprint, "
                ":metadata, :occurred_at)",
                entity=entity, content=entry.text, hash=hashlib.sha256(entry.text.encode()).hexdigest(),
                tenant=entry.tenant, collection=entry.collection, source=entry.source, id=entry.id,
                visibility=entry.visibility, owner=entry.owner, project=entry.project, sprint=entry.sprint,
                metadata=entry.metadata, occurred_at=entry.occurred_at,
            )  # fmt: skip
            if entry.embedded:
                cursor.execute(
                    f"UPDATE RAG_CHUNK SET {model.column} = VECTOR_EMBEDDING({model.sql_name} USING CONTENT AS DATA) "
                    "WHERE ENTITY_ID = :1",
                    [entity],
                )


def load_reranker(cursor: oracledb.Cursor, name: str = "RERANKER", metadata: str = RERANKER_METADATA) -> None:
    """Load the tiny reranker."""
    cursor.execute(
        "BEGIN DBMS_VECTOR.LOAD_ONNX_MODEL(model_name => :n, model_data => :d, metadata => JSON(:m)); END;",
        n=name, d=tiny_reranker(), m=metadata,
    )  # fmt: skip


def ids(result: Any) -> list[str]:
    """Give the ids of the hits, best first."""
    return [hit.source.id for hit in result]
