"""Collections with judgements, in the layout of BEIR, where ORACLERAG_BENCHMARK_DATA names their folder.

Indexed by the toolkit itself: a function source, the queue, a worker. Only vectors are kept from run to run.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oraclerag.config import Settings
from oraclerag.cutting import Cutting
from oraclerag.evaluate import QuestionSet, load
from oraclerag.rag import Rag
from oraclerag.records import Document
from tests.benchmarks.remembering_server import remembering_database

__all__ = ["DATA", "Collection", "collection", "indexed"]

ROOT = Path(__file__).resolve().parents[2]

DATA = Path(os.environ.get("ORACLERAG_BENCHMARK_DATA", ROOT / "benchmark_data"))
"""Where the collections are; their licences do not let them be part of the repository."""

SOURCE = "passage"


@dataclass(frozen=True)
class Collection:
    """Texts by id, and the questions with what was judged for each."""

    name: str
    texts: Mapping[str, str] = field(repr=False)
    questions: QuestionSet = field(repr=False)


def collection(folder: str, language: str = "") -> Collection | None:
    """Read a collection, or give None where it is not there; its texts are title and text, as published figures are."""
    place, ending = DATA / folder, f"_{language}" if language else ""
    if not place.is_dir():
        return None
    texts = {row["_id"]: f"{row['title']} {row['text']}".strip() for row in _rows(place / f"corpus{ending}.jsonl")}
    questions = load(place, source=SOURCE, queries=place / f"queries{ending}.jsonl")
    return Collection(folder + ending, texts, questions)


def _rows(path: Path) -> list[dict[str, Any]]:
    packed = path.with_name(path.name + ".gz")
    data = gzip.decompress(packed.read_bytes()) if packed.is_file() else path.read_bytes()
    return [json.loads(line) for line in data.decode("utf-8").splitlines() if line]


@contextlib.contextmanager
def indexed(wanted: Collection, model_file: Path, *, folder: Path, name: str) -> Iterator[Rag]:
    """Give an installation in which a text of a collection is one chunk, even where the model reads less of it.

    A text of more than 4,000 bytes is more than one: no chunk is longer. ``folder`` takes the database, ``name`` is
    that of the model. The first time takes as long as embedding the texts takes.
    """
    with remembering_database(folder) as database:
        settings = Settings(
            dsn=database.dsn, user=database.user, password=database.password, embedding_model=name, batch_size=256
        )
        with Rag(settings) as rag:
            ids = "select id from benchmark_text"

            @rag.source(SOURCE, visibility="shared", ids=ids, cutting=Cutting(allow_truncation=True))
            def read(_: Any, keys: Sequence[str]) -> dict[str, Document | None]:
                return {key: Document(wanted.texts[key]) for key in keys if key in wanted.texts}

            rag.provision(model_file=model_file)
            with rag.database.connect() as connection, connection.cursor() as cursor:
                cursor.execute("CREATE TABLE benchmark_text (id VARCHAR2(100) PRIMARY KEY)")
                cursor.executemany("INSERT INTO benchmark_text VALUES (:1)", [(key,) for key in wanted.texts])
                connection.commit()
            rag.backfill(source=SOURCE)
            report = rag.work(once=True)
            assert report.indexed == len(wanted.texts), report
            yield rag
