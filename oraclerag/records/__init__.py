"""What travels between the stages: plain, frozen records.

``key`` names an entity, ``document`` is what its source says, ``held`` that a worker has it; ``found`` is what a search
gives, ``answered`` what becomes of a question, ``logged`` what is kept of it.
"""

from __future__ import annotations

from oraclerag.records.answered import Answer, Citation, Generation, Prompt, PromptSource, Support, Turn
from oraclerag.records.document import Chunk, Document, Piece, Resolution
from oraclerag.records.found import Hit, Passage, SearchResult, StoredChunk
from oraclerag.records.held import Claimed, Held, fingerprint_half
from oraclerag.records.key import (
    MAX_ID_BYTES,
    MAX_TENANT_BYTES,
    MAX_TYPE_BYTES,
    NO_TENANT,
    Action,
    SourceKey,
    Visibility,
    fits,
)
from oraclerag.records.logged import LoggedHit, LoggedSearch
from oraclerag.reports import (
    AuditFinding,
    AuditKind,
    AuditReport,
    BackfillEstimate,
    BackfillReport,
    DrainReport,
    ExportReport,
    OnboardReport,
    Problem,
    RemovalReport,
    SourceCoverage,
    TenantReport,
    TenantSummary,
    WipedSource,
    WipeReport,
)

__all__ = [
    "MAX_ID_BYTES",
    "MAX_TENANT_BYTES",
    "MAX_TYPE_BYTES",
    "NO_TENANT",
    "Action",
    "Answer",
    "AuditFinding",
    "AuditKind",
    "AuditReport",
    "BackfillEstimate",
    "BackfillReport",
    "Chunk",
    "Citation",
    "Claimed",
    "Document",
    "DrainReport",
    "ExportReport",
    "Generation",
    "Held",
    "Hit",
    "LoggedHit",
    "LoggedSearch",
    "OnboardReport",
    "Passage",
    "Piece",
    "Problem",
    "Prompt",
    "PromptSource",
    "RemovalReport",
    "Resolution",
    "SearchResult",
    "SourceCoverage",
    "SourceKey",
    "StoredChunk",
    "Support",
    "TenantReport",
    "TenantSummary",
    "Turn",
    "Visibility",
    "WipeReport",
    "WipedSource",
    "fingerprint_half",
    "fits",
]
