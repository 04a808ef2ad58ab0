"""The application of the demo: its tables and its rows.

The rows are JSON Lines, one file per table; another folder of the same form gives another demo.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oraclerag.database import translated
from oraclerag.errors import ConfigurationError
from oraclerag.statements import identifier

if TYPE_CHECKING:
    import oracledb

__all__ = ["DATA", "Story", "create", "load"]

DATA = Path(__file__).parent / "data"
# Parents before children, as the foreign keys ask.
TABLES = ("employee", "project", "sprint", "task", "task_comment")


@dataclass(frozen=True, slots=True)
class Story:
    """What the demo asks and which names it gives; everything else it takes from the rows."""

    question: str
    new_title: str
    new_sprint_name: str
    developer_question: str

    @classmethod
    def read(cls, folder: Path) -> Story:
        """Read ``story.json`` of a folder of data."""
        file = folder / "story.json"
        try:
            values = json.loads(file.read_text("utf-8"))
            return cls(**values)
        except (OSError, ValueError, TypeError) as error:
            raise ConfigurationError(
                f"{str(file)!r} must be a JSON object with the texts {', '.join(cls.__slots__)}."
            ) from error


def create(connection: oracledb.Connection) -> None:
    """Create the tables."""
    script = (Path(__file__).parent / "schema.sql").read_text("utf-8")
    with connection.cursor() as cursor, translated():
        for part in re.split(r"^/$", script, flags=re.MULTILINE):
            statement = "\n".join(line for line in part.splitlines() if not line.startswith("--")).strip()
            if statement:
                cursor.execute(statement)


def load(connection: oracledb.Connection, folder: Path) -> Mapping[str, int]:
    """Insert the rows of a folder of data and give how many each table got; the caller commits."""
    inserted = {}
    with connection.cursor() as cursor, translated():
        for table in TABLES:
            rows = _rows(folder / f"{table}.jsonl")
            columns = [identifier(name, f"a column in {table}.jsonl") for name in rows[0]]
            marks = ", ".join(f":{name}" for name in rows[0])
            cursor.executemany(f"INSERT INTO {table.upper()} ({', '.join(columns)}) VALUES ({marks})", rows)
            inserted[table] = len(rows)
    return inserted


def _rows(file: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    try:
        lines = file.read_text("utf-8").splitlines()
    except OSError as error:
        raise ConfigurationError(f"{str(file)!r} cannot be read.") from error
    for number, line in enumerate(lines, start=1):
        try:
            row = {name: _value(name, value) for name, value in json.loads(line).items()}
        except (ValueError, AttributeError) as error:
            raise ConfigurationError(f"{str(file)!r}, line {number}: a JSON object of columns is expected.") from error
        if rows and row.keys() != rows[0].keys():
            raise ConfigurationError(f"{str(file)!r}, line {number}: every row must have the columns of the first.")
        rows.append(row)
    if not rows:
        raise ConfigurationError(f"{str(file)!r} holds no row.")
    return rows


def _value(name: str, value: Any) -> Any:
    if isinstance(value, str) and name.endswith(("_date", "_at")):
        return dt.datetime.fromisoformat(value)
    return value
