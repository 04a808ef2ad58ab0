"""Checks of what is indexed: rows without the one they belong to, and how much of each source is covered."""

from __future__ import annotations

from collections.abc import Iterator

from oraclerag.doctor.finding import Verdict, fail, ok, unknown, warn
from oraclerag.doctor.look import Check, Look, may_not_read
from oraclerag.errors import ConfigurationError, OracleRagError, RowsHidden
from oraclerag.model.active import active_model
from oraclerag.source import Source

__all__ = ["CHECKS"]


def orphans(look: Look) -> list[Verdict]:
    """Count rows that belong to nothing, entities whose chunks are not as counted, chunks without a vector."""
    with look.database.connect() as connection:
        column = active_model(connection, look.schema).column
    row = look.row(look.sql.with_names("orphans", column=column))
    more = look.row(look.sql["orphaned_documents"])
    assert row is not None and more is not None  # noqa: S101, PT018 - aggregates give one row
    chunks, incomplete, bare = (int(count) for count in row)
    documents = int(more[0])
    found = []
    if chunks or documents:
        found.append(
            fail(
                f"{chunks:,} chunks and {documents:,} documents belong to no entity: their foreign key was disabled.",
                f"DELETE FROM {look.schema}.RAG_CHUNK WHERE ENTITY_ID NOT IN (SELECT ENTITY_ID FROM "
                f"{look.schema}.RAG_ENTITY), the same for RAG_DOCUMENT, and enable the constraints RAG_CHUNK_ENTITY_FK "
                "and RAG_DOCUMENT_ENTITY_FK.",
            )
        )
    if incomplete:
        found.append(
            fail(
                f"{incomplete:,} entities have not the chunks that they should have.",
                "`oraclerag backfill` has them written again; `oraclerag audit` says whether anything else differs.",
            )
        )
    if bare:
        found.append(
            fail(
                f"{bare:,} chunks have no vector in {column}: no search finds them.",
                "`oraclerag reindex` has damaged entities written again.",
            )
        )
    return found or [ok("every chunk and document belongs to an entity, and has its vector")]


def strangers(look: Look) -> list[Verdict]:
    """List what is indexed of sources that this process does not know."""
    rows = look.rows(look.sql["indexed_sources"])
    unknown_here = [(str(name), int(entities)) for name, entities in rows if name not in look.sources]
    return [
        warn(
            f"{entities:,} entities are indexed of a source that is not configured here; they are found, and nobody "
            "changes them any more",
            f"Configure [source.{name}] again, or run doctor where the workers' oraclerag.toml is. "
            f"`oraclerag wipe --source {name}` shows what it would take away, with --yes it does.",
            about=name,
        )
        for name, entities in unknown_here
    ] or [ok("everything that is indexed is of a source that is configured here")]


def coverage(look: Look) -> list[Verdict]:
    """Count, source by source, how many of its entities are not indexed and do not wait."""
    if look.restricted:  # what is hidden would all be missing
        return [unknown("Row security hides entities from this database user.", RowsHidden.default_hint or "")]
    return list(_each(look)) or [ok("no source is configured")]


def _each(look: Look) -> Iterator[Verdict]:
    for name, source in sorted(look.sources.items()):
        try:
            with look.database.connect() as connection:
                if source.built_in and not source.in_use(connection):
                    continue
            yield _covered(look, source)
        except ConfigurationError as error:  # a function that was declared without ids
            yield unknown(error.message, error.hint or "Declare it with ids=…", about=name)
        except OracleRagError as error:
            if may_not_read(error):
                yield unknown(
                    "This database user may not read what the source reads.",
                    "Run it as the workers' database user, or GRANT READ on the tables of its select to this one.",
                    about=name,
                )
            else:
                yield fail(error.message, "Run `oraclerag source check`: it shows what is wrong.", about=name)


def _covered(look: Look, source: Source) -> Verdict:
    with look.database.connect() as connection:
        enumeration = source.enumeration(connection)
    row = look.row(look.sql.with_names("coverage", enumeration=f"\n{enumeration}\n"), source_type=source.name)
    assert row is not None  # noqa: S101 - aggregates give one row
    entities, missing, waiting = (int(count) for count in row)
    detail = f"{entities - missing:,} of {entities:,} entities are indexed"
    if missing - waiting > 0:
        return warn(
            f"{detail}; {missing - waiting:,} are not, and do not wait",
            f"`oraclerag backfill --source {source.name}` enqueues what is missing; `oraclerag audit` compares all.",
            about=source.name,
        )
    return ok(detail + (f", {waiting:,} wait" if waiting else ""), about=source.name)


CHECKS = (
    Check(
        "orphans", "Does every chunk belong to an entity, and has it its vector?", orphans, after=("model",),
        reads=("RAG_CHUNK", "RAG_DOCUMENT", "RAG_ENTITY"),
    ),
    Check(
        "strangers", "Is anything indexed of a source that is gone?", strangers, after=("schema",),
        reads=("RAG_ENTITY",),
    ),
    Check("coverage", "How much of each source is indexed?", coverage, after=("backlog",)),
)  # fmt: skip
