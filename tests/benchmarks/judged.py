"""Collections with judgements, in the layout of BEIR, where ORACLERAG_BENCHMARK_DATA names their folder.

Indexed by the toolkit itself: a function source, the queue, a worker. That takes minutes, so the local database it was
done in is kept in the system's temporary folder, under a name made of everything that the index depends on.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oraclerag.config import Settings
from oraclerag.cutting import Cutting
from oraclerag.local import LocalDatabase
from oraclerag.rag import Rag
from oraclerag.records import Document

__all__ = ["DATA", "Collection", "collection", "indexed"]

ROOT = Path(__file__).resolve().parents[2]

DATA = Path(os.environ.get("ORACLERAG_BENCHMARK_DATA", ROOT / "benchmark_data"))
"""Where the collections are; their licences do not let them be part of the repository."""

SOURCE = "passage"


@dataclass(frozen=True)
class Collection:
    """Texts and questions by id, and what is relevant for each question that was judged."""

    name: str
    texts: Mapping[str, str] = field(repr=False)
    questions: Mapping[str, str] = field(repr=False)
    judged: Mapping[str, Mapping[str, float]] = field(repr=False)


def collection(folder: str, language: str = "") -> Collection | None:
    """Read a collection, or give None where it is not there; its texts are title and text, as published figures are."""
    place, ending = DATA / folder, f"_{language}" if language else ""
    if not place.is_dir():
        return None
    rows = _rows(place / f"corpus{ending}.jsonl")
    texts = {row["_id"]: f"{row['title']} {row['text']}".strip() for row in rows}
    judged: dict[str, dict[str, float]] = {}
    for line in (place / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        question, text, gain = line.split("\t")
        judged.setdefault(question, {})[text] = float(gain)
    questions = {row["_id"]: row["text"] for row in _rows(place / f"queries{ending}.jsonl") if row["_id"] in judged}
    return Collection(folder + ending, texts, questions, judged)


def _rows(path: Path) -> list[dict[str, Any]]:
    packed = path.with_name(path.name + ".gz")
    data = gzip.decompress(packed.read_bytes()) if packed.is_file() else path.read_bytes()
    return [json.loads(line) for line in data.decode("utf-8").splitlines() if line]


@contextlib.contextmanager
def indexed(wanted: Collection, model_file: Path, *, name: str) -> Iterator[Rag]:
    """Give an installation in which every text of a collection is one chunk, even where the model reads less of it.

    ``name`` is that of the model. The first time takes as long as embedding the texts takes.
    """
    folder = Path(tempfile.gettempdir()) / "oraclerag-benchmarks" / f"{wanted.name}-{_key(wanted, model_file)}"
    done = folder / "indexed"
    if not done.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o700)
    with LocalDatabase(folder / "database") as database:
        settings = Settings(
            dsn=database.dsn, user=database.user, password=database.password, embedding_model=name, batch_size=256
        )
        with Rag(settings) as rag:
            ids = "select id from benchmark_text"

            @rag.source(SOURCE, visibility="shared", ids=ids, cutting=Cutting(allow_truncation=True))
            def read(_: Any, keys: Sequence[str]) -> dict[str, Document | None]:
                return {key: Document(wanted.texts[key]) for key in keys if key in wanted.texts}

            if not done.is_file():
                rag.provision(model_file=model_file)
                with rag.database.connect() as connection, connection.cursor() as cursor:
                    cursor.execute("CREATE TABLE benchmark_text (id VARCHAR2(100) PRIMARY KEY)")
                    cursor.executemany("INSERT INTO benchmark_text VALUES (:1)", [(key,) for key in wanted.texts])
                    connection.commit()
                rag.backfill(source=SOURCE)
                report = rag.work(once=True)
                assert report.indexed == len(wanted.texts), report
                done.touch()
            yield rag


def _key(wanted: Collection, model_file: Path) -> str:
    """Name what the index depends on: tables, model, texts, and the way they are cut."""
    digest = hashlib.sha256(model_file.read_bytes())
    for path in sorted((ROOT / "sql" / "schema").glob("*.sql")):
        statements = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("--")]
        digest.update("\n".join(statements).encode())
    digest.update(json.dumps(wanted.texts, sort_keys=True).encode())
    return digest.hexdigest()[:12]
