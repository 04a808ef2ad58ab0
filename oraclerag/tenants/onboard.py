"""A new tenant: nothing is registered, for a tenant is what the sources say; its entities are enqueued."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Callable

from oraclerag.backfill import backfill
from oraclerag.errors import InputError
from oraclerag.records import DrainReport, OnboardReport
from oraclerag.scope import Scope
from oraclerag.tenants.place import Place, checked
from oraclerag.tenants.summary import summary
from oraclerag.tenants.verify import coverages, phrase_of

__all__ = ["onboard"]


def onboard(
    place: Place,
    tenant: str,
    *,
    work: Callable[[], DrainReport] | None,
    on_progress: Callable[[str, int, int], None] | None = None,
) -> OnboardReport:
    """Enqueue what the sources have of a tenant and is not indexed; ``work`` works it off at once."""
    tenant = _new(tenant)
    found, problems = coverages(place, tenant)
    if problems:
        raise InputError(problems[0].message, hint=problems[0].hint)
    done = []
    for one in found.counted:
        source = place.sources[one.source]
        told = None if on_progress is None else _told(on_progress, one.source)
        report = backfill(place.database, source, place.settings, tenant=tenant, on_progress=told)
        done.append(dataclasses.replace(one, enqueued=report.enqueued))
    indexed = work() if work is not None else None
    if indexed is not None:
        now = {one.source: one.missing for one in coverages(place, tenant)[0].counted}
        done = [dataclasses.replace(one, missing=now.get(one.source, one.missing)) for one in done]
    with place.database.connect() as connection:
        counted = summary(connection, place, tenant)
        asked = phrase_of(connection, place, tenant)
    hits = 0
    if asked is not None:
        hits = len(place.search(asked.text, scope=Scope(tenant=tenant, manager=True), k=1))
    theirs = {source.name for source in place.of(tenant)}
    return OnboardReport(
        summary=counted,
        sources=tuple(done),
        without=tuple(sorted(name for name in place.sources if name not in theirs)),
        uncounted=found.uncounted,
        indexed=indexed,
        phrase=None if asked is None else asked.text,
        hits=hits,
    )


def _told(on_progress: Callable[[str, int, int], None], name: str) -> Callable[[int, int], None]:
    return lambda done, total: on_progress(name, done, total)


def _new(tenant: str) -> str:
    """Check a name that is to be used from now on; one that looks like another's is refused."""
    name = checked(tenant)
    if name != name.strip() or any(unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") for char in name):
        raise InputError(
            f"The tenant {name!r} begins or ends with a blank, or holds a character that is not seen.",
            hint="Give it a name that can be typed: it is compared as it stands.",
        )
    return name
