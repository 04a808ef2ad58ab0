"""What became of files that were to be ingested."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from oraclerag.records import SourceKey

__all__ = ["FileKind", "IngestReport", "IngestedFile", "Refusal"]

FileKind = Literal["docs", "diagnostics"]
"""What kind of files they are, which decides how they are cut: prose, or what Oracle itself wrote."""

Outcome = Literal["new", "changed", "unchanged", "removed", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that is not ingested: its name, and why; ``failed`` where it should have been."""

    name: str
    reason: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class IngestedFile:
    """What became of one file.

    ``name`` is its name in the index. ``reason`` says why it was skipped or failed. ``replaced`` counts characters in
    place of bytes that could not be decoded, ``masked`` secrets that were taken out before anything was stored.
    """

    name: str
    outcome: Outcome
    reason: str | None = None
    key: SourceKey | None = None
    replaced: int = 0
    masked: int = 0


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of the files, in numbers; chunks are made by the worker, from the queue.

    ``new``, ``changed`` and ``removed`` were enqueued; ``skipped`` are no texts and ``failed`` could not be read: what
    was ingested of them before stays. ``replaced`` characters and ``masked`` secrets are those of all files that were
    read. ``files`` names all of them but the unchanged of which there is nothing to say.
    """

    collection: str
    tenant: str
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: int = 0
    failed: int = 0
    replaced: int = 0
    masked: int = 0
    files: tuple[IngestedFile, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        """Whether everything that should have been ingested was."""
        return not self.failed

    @property
    def keys(self) -> list[SourceKey]:
        """The entities that were enqueued."""
        return [file.key for file in self.files if file.key is not None and file.outcome != "unchanged"]
