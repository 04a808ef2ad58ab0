"""What is done to a tenant, by its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from oraclerag.records import (
    DrainReport,
    ExportReport,
    OnboardReport,
    RemovalReport,
    SourceKey,
    TenantReport,
    TenantSummary,
)
from oraclerag.tenants import export as exporting
from oraclerag.tenants import onboard as onboarding
from oraclerag.tenants import remove as removing
from oraclerag.tenants import verify as verifying
from oraclerag.tenants.place import Place
from oraclerag.tenants.summary import summaries

__all__ = ["Tenants"]


class Tenants:
    """The tenants of an installation. Everything of a tenant is seen: for who runs it, not for who asks questions."""

    def __init__(self, place: Place, work: Callable[[], DrainReport]) -> None:
        self._place = place
        self._work = work

    def list(self) -> list[TenantSummary]:
        """Count what there is of every tenant, by name. Raises RowsHidden where row security hides some."""
        return summaries(self._place)

    def onboard(
        self, tenant: str, *, now: bool = False, on_progress: Callable[[str, int, int], None] | None = None
    ) -> OnboardReport:
        """Enqueue what the sources have of a new tenant, and search for a phrase of it once there is something.

        Nothing is registered: a tenant is what the sources say. ``now`` works the queue off here. Commits. Raises
        InputError for a name that looks like another's, and what :meth:`Rag.backfill` raises.
        """
        return onboarding.onboard(self._place, tenant, work=self._work if now else None, on_progress=on_progress)

    def verify(
        self, tenant: str, *, phrase: str | None = None, expect: SourceKey | None = None, k: int = 10
    ) -> TenantReport:
        """Look whether a tenant is whole and alone.

        Its sources are counted against the index, its rows against their entities, and a ``phrase`` (default: the
        beginning of one of its chunks) must find ``expect`` among ``k`` hits with its scope, and nothing of it with
        the scopes of up to 20 other tenants. Reads alone. Raises InputError, ModelNotActive, RowsHidden.
        """
        return verifying.verify(self._place, tenant, phrase=phrase, expect=expect, k=k)

    def export(
        self, tenant: str, file: str | os.PathLike[str], *, vectors: bool = False, force: bool = False
    ) -> ExportReport:
        """Write everything that is held of a tenant to a file of JSON lines, and a manifest beside it.

        As of one moment, a few rows in memory at a time; compressed where the name ends with ``.gz``. ``vectors``
        writes those too; ``force`` replaces a file that is there. A manifest that is there says that the file is
        whole. Raises InputError, PrivilegeMissing where not every table may be read, OSError.
        """
        return exporting.export(self._place, tenant, Path(file), vectors=vectors, force=force)

    def remove(self, tenant: str, *, force: bool = False, dry_run: bool = False, wait: float = 60.0) -> RemovalReport:
        """Delete every row of a tenant: files, resolutions, index, queue, search log, usage.

        Refused while a source still has entities of it, unless ``force``: they would come back. ``dry_run`` counts
        only. What workers hold is waited for, ``wait`` seconds (0 to 86,400). Commits, in slices; what was interrupted
        is run again. For the owner of the tables. Raises InputError, Contention where workers hold something for
        longer, RowsHidden, PrivilegeMissing.
        """
        return removing.remove(self._place, tenant, force=force, dry_run=dry_run, wait=wait)
