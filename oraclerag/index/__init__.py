"""The vector index over RAG_CHUNK: build, rebuild, status, accuracy."""

from __future__ import annotations

from oraclerag.index.accuracy import AccuracyReport, OracleAccuracy, Questions, Recall, measure, questions_of
from oraclerag.index.building import build, build_when_worthwhile, rebuild
from oraclerag.index.ddl import NAME
from oraclerag.index.design import IndexOptions
from oraclerag.index.state import MIN_CHUNKS, Built, IndexStatus, status

__all__ = [
    "MIN_CHUNKS",
    "NAME",
    "AccuracyReport",
    "Built",
    "IndexOptions",
    "IndexStatus",
    "OracleAccuracy",
    "Questions",
    "Recall",
    "build",
    "build_when_worthwhile",
    "measure",
    "questions_of",
    "rebuild",
    "status",
]
