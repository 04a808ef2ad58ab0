"""What a batch has done, as events of the log and as measurements."""

from __future__ import annotations

import logging

from oraclerag import log, telemetry
from oraclerag.claim import Postponed
from oraclerag.errors import OracleRagError
from oraclerag.merge import Write
from oraclerag.model.active import ActiveModel
from oraclerag.queue.status import LANES
from oraclerag.records import NO_TENANT, DrainReport, Held

__all__ = ["tell", "tell_failed", "tell_paused", "tell_written"]

_log = logging.getLogger("oraclerag.drain")  # these are its events


def tell(report: DrainReport, turn: tuple[int, str] | None, tokens: int) -> None:
    """Log what a batch has done, of whose turn it was."""
    counts = {
        name: getattr(report, name)
        for name in ("indexed", "unchanged", "deleted", "postponed", "dead", "given_back")
        if getattr(report, name)
    }
    words = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
    lane, tenant = turn or (None, None)
    log.event(
        _log,
        logging.INFO,
        "batch",
        f"{report.claimed:,} queue rows: {words or 'nothing to do'}.",
        tenant=None if tenant == NO_TENANT else tenant,
        lane=lane,
        rows=report.claimed,
        **counts,
        chunks=report.embedded,
        tokens=tokens,
        milliseconds=round(report.seconds * 1000),
    )
    _measure(report, "named" if lane is None else LANES[lane], tokens)


def _measure(report: DrainReport, lane: str, tokens: int) -> None:
    """Count what a batch has done; its entities were counted one by one, but for those that were given back."""
    telemetry.add("oraclerag.worker.batches", lane=lane)
    telemetry.add("oraclerag.worker.entities", report.given_back, outcome="given_back")
    telemetry.add("oraclerag.worker.embeddings", report.embedded)
    telemetry.add("oraclerag.worker.tokens", tokens)
    telemetry.observe("oraclerag.worker.batch.duration", report.seconds, {})
    done = {
        name: getattr(report, name)
        for name in ("claimed", "indexed", "unchanged", "deleted", "postponed", "dead", "given_back", "embedded")
    }
    telemetry.enclosing().set_all(
        {
            **{f"oraclerag.worker.batch.{name}": value for name, value in done.items()},
            "oraclerag.worker.batch.lane": lane,
            "oraclerag.worker.batch.tokens": tokens,
            "oraclerag.worker.batch.paused": len(report.paused),
        }
    )


def tell_failed(failure: Postponed, *, given_up: bool) -> None:
    """Log that an entity was postponed, or given up."""
    entity = failure.entity
    telemetry.add("oraclerag.worker.entities", outcome="given_up" if given_up else "postponed")
    telemetry.add("oraclerag.worker.failures", error_type=failure.error_code, scope="entity")
    log.event(
        _log,
        logging.WARNING if given_up else logging.INFO,
        "given_up" if given_up else "postponed",
        f"{entity.source_type}:{entity.source_id} is {'given up' if given_up else 'postponed'}: {failure.message}",
        source_type=entity.source_type,
        source_id=entity.source_id,
        attempts=max(attempts for _, attempts in entity.rows) + 1,
        error_code=failure.error_code,
        seconds=None if given_up else round(failure.pause, 1),
    )


def tell_paused(name: str, error: OracleRagError) -> None:
    """Log that a source is paused."""
    telemetry.add("oraclerag.worker.failures", error_type=error.code, scope="source")
    log.event(
        _log, logging.ERROR, "source_paused", f"Source {name} is paused: {error.message}",
        source_type=name, error_code=error.code, hint=error.hint or "`oraclerag source check` shows where.",
    )  # fmt: skip


def tell_written(write: Write, before: Held, model: ActiveModel) -> int:
    """Log what became of an entity, and give the tokens that were embedded for it."""
    key = {"source_type": write.entity.source_type, "source_id": write.entity.source_id}
    document = write.document
    if document is None:
        telemetry.add("oraclerag.worker.entities", outcome="deleted")
        log.event(_log, logging.DEBUG, "deleted", "The entity is gone.", **key)
        return 0
    fresh = (before.content_hash, before.fingerprint) != (write.content_hash, write.fingerprint)
    tokens = sum(model.counter.count(model.passage_prefix + chunk.content) for chunk in write.chunks) if fresh else 0
    changed = fresh or before.details_hash != write.details_hash
    telemetry.add("oraclerag.worker.entities", outcome="indexed" if changed else "unchanged")
    telemetry.add("oraclerag.worker.chunks", len(write.chunks) if fresh else 0)
    log.event(
        _log,
        logging.DEBUG,
        "indexed" if changed else "unchanged",
        "The entity is as its source says.",
        tenant=document.tenant,
        collection=document.collection,
        **key,
        chunks=len(write.chunks),
        tokens=tokens,
    )
    return tokens
