"""Retrieval-augmented generation that lives inside Oracle Database 23ai/26ai.

The modules are the verbs of the path:

* write: ``enqueue`` → ``claim`` → ``source`` → ``render`` → ``chunk`` → ``merge``. How texts are cut is said by
  ``cutting``; where the database does it, by ``vector_chunks``; where it does not embed, ``embed`` does. ``drain`` is
  one ``batch`` of all that, ``worker`` batch after batch. ``track`` and ``triggers`` enqueue by themselves,
  ``backfill`` what is missing; ``wait`` waits for what was enqueued, ``audit`` finds out whether anything is missing.
  ``ingest`` and ``resolution`` take in what no table of an application holds.
* read: ``scope`` and ``filters`` → ``search``, exactly or by the index as ``counts`` tell; ``recheck`` asks the source
  once more, ``why`` says what hides an entity.
* ``answer``: ``reduce``, what a follow-up means and what of a question is worth searching for → ``search`` →
  ``prompt`` → ``generate`` → ``cite``; ``anchors`` are how an answer names its sources. ``diagnose``: a report of
  Oracle → what is known of it. ``searches`` is the log of what was asked.
* around it: ``propose``, a source for a table that is there; ``provision`` with ``schema``, ``model`` and ``index``,
  ``setup``, its dry run and its scripts for a DBA; ``deploy``, a changed configuration; ``reembed``, which switches
  models; ``security``; ``tenants``, who comes and goes; ``wipe``, to begin anew; to look at sources, chunks, the
  queue and all of it ``check``, ``preview``, ``queue``, ``status`` and ``doctor``, its long form.
* to measure all that: ``evaluate``.
* surface: ``rag``, the object a program holds, with its methods for who asks (``asking``), looks (``inspection``) and
  runs an installation (``operations``); ``cli``, ``console`` and ``pages``; ``demo``, ``testing`` and ``integrations``.
* beneath: ``records`` and ``reports``; ``error_codes`` and ``envelope``, what a text says and is about,
  ``function_words``, what says nothing; ``config``, ``database``, ``http_client`` and ``statements``; ``in_force``,
  what holds for all workers; ``errors``, ``log``, ``telemetry``, ``heartbeat`` and ``outage``;
  ``metrics``, a worker's page of them.
* to be sure: ``local``, the local database; ``replay``, what a real one answers; ``plans``, how it came to it.

The public names are loaded when they are first used, so that importing the package, and ``oraclerag --help``, stay
fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oraclerag.answer import Prompting
    from oraclerag.config import Settings
    from oraclerag.cutting import Cutting
    from oraclerag.diagnose import Analysis, Diagnosis
    from oraclerag.doctor import DoctorReport, Finding
    from oraclerag.envelope import Envelope
    from oraclerag.errors import OracleRagError
    from oraclerag.ingest import IngestedFile, IngestReport
    from oraclerag.queue import QueueStatus
    from oraclerag.rag import Rag
    from oraclerag.records import (
        Answer,
        AuditFinding,
        AuditReport,
        BackfillEstimate,
        BackfillReport,
        Chunk,
        Citation,
        Document,
        DrainReport,
        ExportReport,
        Hit,
        LoggedHit,
        LoggedSearch,
        OnboardReport,
        Passage,
        Prompt,
        RemovalReport,
        Resolution,
        SearchResult,
        SourceKey,
        StoredChunk,
        TenantReport,
        TenantSummary,
        Turn,
        WipeReport,
    )
    from oraclerag.scope import Scope
    from oraclerag.search import SearchOptions
    from oraclerag.searches import SearchReplay, SearchStatistics
    from oraclerag.track import Tracking

__version__ = "0.1.0"

__all__ = [
    "Analysis",
    "Answer",
    "AuditFinding",
    "AuditReport",
    "BackfillEstimate",
    "BackfillReport",
    "Chunk",
    "Citation",
    "Cutting",
    "Diagnosis",
    "DoctorReport",
    "Document",
    "DrainReport",
    "Envelope",
    "ExportReport",
    "Finding",
    "Hit",
    "IngestReport",
    "IngestedFile",
    "LoggedHit",
    "LoggedSearch",
    "OnboardReport",
    "OracleRagError",
    "Passage",
    "Prompt",
    "Prompting",
    "QueueStatus",
    "Rag",
    "RemovalReport",
    "Resolution",
    "Scope",
    "SearchOptions",
    "SearchReplay",
    "SearchResult",
    "SearchStatistics",
    "Settings",
    "SourceKey",
    "StoredChunk",
    "TenantReport",
    "TenantSummary",
    "Tracking",
    "Turn",
    "WipeReport",
    "__version__",
]

_MODULES = {
    "Analysis": "diagnose",
    "Answer": "records",
    "AuditFinding": "records",
    "AuditReport": "records",
    "BackfillEstimate": "records",
    "BackfillReport": "records",
    "Chunk": "records",
    "Citation": "records",
    "Cutting": "cutting",
    "Diagnosis": "diagnose",
    "DoctorReport": "doctor",
    "Document": "records",
    "DrainReport": "records",
    "Envelope": "envelope",
    "ExportReport": "records",
    "Finding": "doctor",
    "Hit": "records",
    "IngestReport": "ingest",
    "IngestedFile": "ingest",
    "LoggedHit": "records",
    "LoggedSearch": "records",
    "OnboardReport": "records",
    "OracleRagError": "errors",
    "Passage": "records",
    "Prompt": "records",
    "Prompting": "answer",
    "QueueStatus": "queue",
    "Rag": "rag",
    "RemovalReport": "records",
    "Resolution": "records",
    "Scope": "scope",
    "SearchOptions": "search",
    "SearchReplay": "searches",
    "SearchResult": "records",
    "SearchStatistics": "searches",
    "Settings": "config",
    "SourceKey": "records",
    "StoredChunk": "records",
    "TenantReport": "records",
    "TenantSummary": "records",
    "Tracking": "track",
    "Turn": "records",
    "WipeReport": "records",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
