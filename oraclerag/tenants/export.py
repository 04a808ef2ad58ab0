"""Everything that an installation holds of a tenant, as JSON lines in a file, with a manifest beside it.

Table by table, row by row, as of one moment; nothing is kept in memory but a few rows. Which columns there are the
dictionary says, so none is forgotten; vectors, which the model can make again, are left out unless they are wanted.
"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import decimal
import gzip
import hashlib
import json
import logging
import math
import os
import tempfile
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import oracledb

from oraclerag import log, schema
from oraclerag.database import driver_types, own_tables
from oraclerag.errors import InputError, PrivilegeMissing
from oraclerag.records import ExportReport
from oraclerag.security import reading
from oraclerag.statements import Statements, quoted
from oraclerag.tenants.place import Place, checked

__all__ = ["MANIFEST", "TABLES", "export"]

_log = logging.getLogger(__name__)

MANIFEST = ".manifest.json"
"""What the manifest's name ends with, behind the file's."""

TABLES: Mapping[str, tuple[str, ...]] = {
    "RAG_FILE": ("FILE_ID",),
    "RAG_RESOLUTION": ("RESOLUTION_ID",),
    "RAG_ENTITY": ("ENTITY_ID",),
    "RAG_DOCUMENT": ("ENTITY_ID",),
    "RAG_CHUNK": ("ENTITY_ID", "CHUNK_NO"),
    "RAG_DIRTY": ("DIRTY_ID",),
    "RAG_SEARCH": ("SEARCH_ID",),
    "RAG_SEARCH_HIT": ("SEARCH_ID", "HIT_RANK"),
    "RAG_USAGE": ("USAGE_DAY", "PHYSICAL_NAME"),
}
"""Every table whose rows say whose they are, in the order of the export, and the columns it is sorted by."""

_FORMAT = 1
_LONG = ("CLOB", "BLOB")
_FEW, _MANY = 4, 200  # rows that travel at once: with long texts, without


@dataclass(slots=True)
class _Hashing:
    """A file that is written, with the hash of what is written."""

    file: BinaryIO
    hash: Any
    size: int = 0

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        self.size += len(data)
        return self.file.write(data)

    def flush(self) -> None:
        self.file.flush()


def export(place: Place, tenant: str, path: Path, *, vectors: bool = False, force: bool = False) -> ExportReport:
    """Write a tenant's rows to ``path`` (compressed where that ends with .gz), readable by its owner alone.

    The file is there when it is whole, and the manifest, ``path`` with :data:`MANIFEST` behind it, when the file is. A
    file that is there is replaced with ``force`` alone. Raises InputError, SchemaMissing, PrivilegeMissing, OSError.
    """
    tenant = checked(tenant)
    manifest = path.with_name(path.name + MANIFEST)
    for one in (path, manifest):
        if one.exists() and not force:
            raise InputError(f"{str(one)!r} is there already.", hint="Take another name, or --force to replace it.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {str(path.parent)!r}.")
    with (
        reading(place.database, tenant) as (connection, owner),
        driver_types(connection),
        _written(path) as file,
    ):
        hashing = _Hashing(file, hashlib.sha256())
        reader = _Reader(connection, owner, tenant, place.queue_tenant(tenant), vectors=vectors)
        taken_at = reader.begin()
        revision = schema.current(connection, owner)
        rows = dict.fromkeys(TABLES, 0)
        with contextlib.ExitStack() as ends:
            out: Any = hashing
            if path.suffix == ".gz":  # no time and no name in it: equal rows give equal bytes
                out = ends.enter_context(gzip.GzipFile("", "wb", compresslevel=6, fileobj=hashing, mtime=0))
            for table in TABLES:
                for row in reader.rows(table):
                    line = json.dumps({"table": table, **row}, ensure_ascii=False, allow_nan=False, default=_plain)
                    out.write(line.encode("utf-8", "backslashreplace") + b"\n")
                    rows[table] += 1
        manifest.unlink(missing_ok=True)
    report = ExportReport(tenant, str(path), str(manifest), rows, hashing.size, hashing.hash.hexdigest())
    with _written(manifest) as file:
        said = {
            "format": _FORMAT,
            "tenant": tenant,
            "taken_at": taken_at,
            "schema_revision": revision,
            "vectors": vectors,
            "file": path.name,
            "bytes": report.size,
            "sha256": report.sha256,
            "rows": rows,
        }
        file.write(json.dumps(said, ensure_ascii=False, indent=2).encode() + b"\n")
    message = "Every row of a tenant was written to a file."
    log.event(_log, logging.INFO, "exported", message, tenant=tenant, rows=sum(rows.values()))
    return report


@contextlib.contextmanager
def _written(path: Path) -> Iterator[BinaryIO]:
    """Give a file that takes the name when the block has ended well, and is gone otherwise."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


class _Reader:
    """Reads a tenant's rows on one connection, as of one moment."""

    def __init__(
        self, connection: oracledb.Connection, owner: str, tenant: str, queue_tenant: str, *, vectors: bool
    ) -> None:
        self._connection = connection
        self._owner = owner
        self._sql = Statements("tenants", owner)
        self._tenant = tenant
        self._queue_tenant = queue_tenant
        self._vectors = vectors
        self._columns: dict[str, dict[str, str]] = {}

    def begin(self) -> str:
        """Begin to read; gives the moment, in UTC."""
        with self._connection.cursor() as cursor, own_tables():
            self._connection.rollback()
            cursor.execute(self._sql["moment"])
            found: dict[str, dict[str, str]] = defaultdict(dict)
            cursor.execute(self._sql["columns"], owner=self._owner)
            for table, column, kind in cursor:
                if kind != "VECTOR" or self._vectors:
                    found[table][column] = kind
            if unseen := [table for table in TABLES if table not in found]:
                raise PrivilegeMissing(
                    f"This database user may not read {', '.join(unseen)}.", hint="Export as the owner of the tables."
                )
            self._columns = dict(found)
            cursor.execute(self._sql["now"])
            (now,) = cursor.fetchone() or (None,)
        return str(_plain(now))

    def rows(self, table: str) -> Iterator[dict[str, Any]]:
        """Give the rows of a table by the names of their columns, without those that are NULL."""
        columns = self._columns[table]
        listed = ", ".join(f"t.{quoted(name)}" for name in columns)
        order = ", ".join(f"t.{name}" for name in TABLES[table])
        statement = (
            f"SELECT {listed} FROM {quoted(self._owner)}.{table} t "
            f"WHERE t.TENANT_ID IN (:tenant_id, :queue_tenant) AND 'a' <> 'A' ORDER BY {order}"
        )
        binds = {"tenant_id": self._tenant}
        binds["queue_tenant"] = self._queue_tenant if table == "RAG_DIRTY" else self._tenant
        with self._connection.cursor() as cursor, own_tables():
            cursor.arraysize = cursor.prefetchrows = _FEW if set(columns.values()) & set(_LONG) else _MANY
            cursor.execute(statement, binds, fetch_lobs=False)
            names = [name.lower() for name in columns]
            for row in cursor:
                yield {name: _finite(value) for name, value in zip(names, row, strict=True) if value is not None}


def _finite(value: Any) -> Any:
    """Give a number that JSON has no form for as a text: "nan", "inf"."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> Any:
    """Give what JSON has no form for: times in ISO 8601 (UTC), vectors as lists, bytes in base64."""
    if isinstance(value, dt.datetime):
        return value.isoformat() + ("" if value.tzinfo else "Z")
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, array):
        return value.tolist()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dt.date):
        return value.isoformat()
    return str(value)
