"""The vector index over RAG_CHUNK: build, rebuild, status, accuracy; and the text index beside it.

``design`` says which index it is to be, ``ddl`` writes it, ``building`` builds it, ``running`` waits for the table,
``state`` looks at what there is, ``accuracy`` measures what it misses. ``lexical`` is the text index.
"""

from __future__ import annotations

from oraclerag.index.accuracy import AccuracyReport, OracleAccuracy, Questions, Recall, measure, questions_of
from oraclerag.index.building import build, build_when_worthwhile, rebuild
from oraclerag.index.ddl import drop
from oraclerag.index.design import IndexOptions
from oraclerag.index.lexical import (
    TEXT_NAME,
    TextIndexStatus,
    build_text,
    drop_text,
    rebuild_text,
    sync_text,
    text_status,
)
from oraclerag.index.running import run, unhurried
from oraclerag.index.state import MIN_CHUNKS, Built, IndexStatus, look, setting_of, shortcomings, status

__all__ = [
    "MIN_CHUNKS",
    "TEXT_NAME",
    "AccuracyReport",
    "Built",
    "IndexOptions",
    "IndexStatus",
    "OracleAccuracy",
    "Questions",
    "Recall",
    "TextIndexStatus",
    "build",
    "build_text",
    "build_when_worthwhile",
    "drop",
    "drop_text",
    "look",
    "measure",
    "questions_of",
    "rebuild",
    "rebuild_text",
    "run",
    "setting_of",
    "shortcomings",
    "status",
    "sync_text",
    "text_status",
    "unhurried",
]
