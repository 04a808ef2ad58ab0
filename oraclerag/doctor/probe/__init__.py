"""What documentation does not say, measured on the user's database; a scratch table is made for it, and dropped.

``query_vector``, ``plans_used``, ``locks`` and ``bind_sizes`` each answer questions; ``record`` writes the answers down
for docs/verified.md.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from oraclerag.database import Database
from oraclerag.doctor.look import Look, may_not_read
from oraclerag.doctor.probe import bind_sizes, locks, plans_used, query_vector
from oraclerag.doctor.probe.measurement import Measured, Measurement, Probe
from oraclerag.doctor.probe.record import write_record
from oraclerag.doctor.probe.scratch import Scratch, scratch
from oraclerag.errors import OracleRagError, PrivilegeMissing, SchemaMissing
from oraclerag.model.active import active_model

__all__ = ["PROBES", "Measurement", "Probe", "measure", "write_record"]

PROBES: tuple[Probe, ...] = (query_vector.PROBE, *plans_used.PROBES, locks.PROBE, bind_sizes.PROBE)
"""Every probe, in its order."""

_UNIMPLEMENTED = "ORA-03001"


def measure(
    database: Database, *, said: Callable[[str], None] = lambda _: None, probes: tuple[Probe, ...] = PROBES
) -> tuple[Measurement, ...]:
    """Make every measurement; one that cannot be made is unknown, and raises nothing."""
    look = Look(database)
    with contextlib.ExitStack() as cleanup:
        table: Scratch | None = None
        refused: OracleRagError | None = None
        if any(probe.writes for probe in probes):
            try:
                table = cleanup.enter_context(scratch(database, _dimensions(look), said))
            except OracleRagError as error:
                refused = error
        found = []
        for probe in probes:
            measured = _not_made(look, refused) if probe.writes and refused is not None else _made(probe, look, table)
            found.append(
                Measurement(probe.name, probe.asks, measured.state, measured.answer, measured.remedy, measured.figures)
            )
        return tuple(found)


def _dimensions(look: Look) -> int | None:
    try:
        with look.database.connect() as connection:
            return active_model(connection, look.schema).dimensions
    except OracleRagError:  # no tables, no model: the other probes need none
        return None


def _made(probe: Probe, look: Look, table: Scratch | None) -> Measured:
    try:
        return probe.measure(look, table)
    except OracleRagError as error:
        if _UNIMPLEMENTED in error.message:
            return Measured("unknown", "Not on the local database.", "Run it on an Oracle Database.")
        if may_not_read(error) and not isinstance(error, SchemaMissing):
            return Measured(
                "unknown", f"This database user may not: {error.message}", "Run it as the owner of the tables."
            )
        return Measured("unknown", error.message, error.hint or "Mend that, then look again.")


def _not_made(look: Look, error: OracleRagError) -> Measured:
    who = look.user()
    remedy = f"GRANT CREATE TABLE TO {who}, and a quota: ALTER USER {who} QUOTA 10M ON USERS."
    return Measured(
        "unknown",
        f"The scratch table cannot be made: {error.message}",
        remedy if isinstance(error, PrivilegeMissing) else error.hint or remedy,
    )
