"""Files → texts → rows of RAG_FILE and of the queue; workers make chunks of them as of everything else.

Files are found (:mod:`find`), read as texts (:mod:`text`, :mod:`pdf`) and compared with what there is (:mod:`store`).
"""

from __future__ import annotations

from oraclerag.ingest.report import FileKind, IngestedFile, IngestReport
from oraclerag.ingest.run import DEFAULT_MAX_BYTES, Options, ingest

__all__ = ["DEFAULT_MAX_BYTES", "FileKind", "IngestReport", "IngestedFile", "Options", "ingest"]
