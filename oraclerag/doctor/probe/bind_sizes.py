"""How long may a text be that is bound? The driver declares one four times as long as it is."""

from __future__ import annotations

import oracledb

from oraclerag.database import code_of
from oraclerag.doctor.look import Look
from oraclerag.doctor.probe.measurement import Measured, Probe
from oraclerag.doctor.probe.scratch import Scratch

__all__ = ["PROBE"]

_IN_EXPRESSIONS = (1000, 1001, 4000, 4001, 8192)  # bytes; searches bind questions in pieces of 1,000
_ID = 2_000
_CHUNK = 4000


def measure(look: Look, table: Scratch | None) -> Measured:
    """Bind texts of several lengths to an expression, and the longest chunk to a column."""
    assert table is not None  # noqa: S101 - it writes
    longest = look.row(look.sql["string_size"])
    extended = longest is not None and int(longest[0]) > _CHUNK
    figures: dict[str, float | int | str] = {"MAX_STRING_SIZE": "EXTENDED" if extended else "STANDARD"}
    for size in _IN_EXPRESSIONS:
        figures[f"{size} bytes in an expression"] = _tried(look, look.sql["length"], text="x" * size)
    insert = look.sql.with_names("fill_text", scratch=table.sql_name)
    figures["4000 bytes into a column"] = _tried(look, insert, id=_ID, text="x" * _CHUNK)
    figures["4000 bytes of 4 each"] = _tried(look, insert, id=_ID + 1, text="\U0001f642" * (_CHUNK // 4))
    possible = [size for size in _IN_EXPRESSIONS if figures[f"{size} bytes in an expression"] == "taken"]
    answer = (
        f"With MAX_STRING_SIZE {figures['MAX_STRING_SIZE']} a bind in an expression may have "
        f"{max(possible, default=0):,} bytes of those tried ({', '.join(f'{size:,}' for size in _IN_EXPRESSIONS)})."
    )
    needed = [
        figures["1000 bytes in an expression"],
        figures["4000 bytes into a column"],
        figures["4000 bytes of 4 each"],
    ]
    if all(told == "taken" for told in needed):
        return Measured("ok", answer, None, figures)
    return Measured(
        "fail", f"{answer} Chunks and questions of a length that the toolkit sends are refused.",
        "Report it with this record, and the release of database and driver.", figures,
    )  # fmt: skip


def _tried(look: Look, statement: str, **binds: object) -> str:
    with look.database.connect() as connection, connection.cursor() as cursor:
        try:
            cursor.execute(statement, binds)
            if cursor.description:
                cursor.fetchall()
        except oracledb.DatabaseError as error:
            return code_of(error) or type(error).__name__
    return "taken"


PROBE = Probe("bind_sizes", "How long may a text be that is bound?", measure, writes=True)
