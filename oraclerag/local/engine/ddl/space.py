"""ROW MOVEMENT and SHRINK SPACE: what Oracle asks of the table is checked; PostgreSQL tidies up by itself."""

from __future__ import annotations

from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, literal, qualified
from oraclerag.local.interface import OraError


def row_movement(schema: str, table: str, *, enabled: bool) -> list[str]:
    """Give the statements that note whether rows of a table may move."""
    relation = f"{literal(qualified(schema, table))}::regclass"
    if enabled:
        return [f"INSERT INTO ora.row_movement (relation) VALUES ({relation}) ON CONFLICT DO NOTHING"]
    return [f"DELETE FROM ora.row_movement WHERE relation = {relation}"]


def shrink(reader: Reader, host: Host, schema: str, table: str) -> Action:
    """Read ALTER TABLE … SHRINK behind that word."""
    reader.expect("SPACE", number=1735, message="invalid ALTER TABLE option")
    reader.accept("COMPACT")
    reader.accept("CASCADE")
    reader.expect_end(1735, "invalid ALTER TABLE option")

    def run() -> None:
        relation = qualified(schema, table)
        if not host.ask("SELECT 1 FROM ora.row_movement WHERE relation = $1::regclass", relation):
            raise OraError(10636, "ROW MOVEMENT is not enabled")
        if host.ask(
            "SELECT 1 FROM pg_index i WHERE i.indrelid = $1::regclass AND (i.indexprs IS NOT NULL"
            " OR EXISTS (SELECT 1 FROM ora.vector_indexes v WHERE v.idx = i.indexrelid))",
            relation,
        ):
            raise OraError(10631, "SHRINK clause should not be specified for this object")

    return run
