"""ONNX models as objects of the database: LOAD_ONNX_MODEL and DROP_ONNX_MODEL."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from oraclerag.local.engine.host import Host
from oraclerag.local.engine.plan import Access
from oraclerag.local.interface import OraError

DEFAULT_METADATA = {"function": "embedding", "embeddingOutput": "embedding", "input": {"input": ["DATA"]}}
_NAME = re.compile(r"[A-Z][A-Z0-9_$#]*\Z")
_LONGEST_NAME = 123


def load_blob(host: Host, arguments: Mapping[str, Any]) -> None:
    """LOAD_ONNX_MODEL(model_name, model_data, metadata)."""
    data = arguments["MODEL_DATA"]
    if not isinstance(data, bytes | bytearray) or not data:
        raise OraError(54400, "Invalid BLOB size")
    _load(host, arguments["MODEL_NAME"], bytes(data), arguments.get("METADATA"))


def load_file(host: Host, arguments: Mapping[str, Any]) -> None:
    """LOAD_ONNX_MODEL(directory, file_name, model_name, metadata): the file lies in a DIRECTORY of the database."""
    if arguments.get("EXTERNAL_DATA_FILE_NAME"):
        raise OraError(3001, "unimplemented feature: external_data_file_name of LOAD_ONNX_MODEL")
    directory, name = str(arguments["DIRECTORY"] or "").upper(), str(arguments["FILE_NAME"] or "")
    rows = host.ask("SELECT path FROM ora.directories WHERE name = $1", directory)
    if rows and not host.rights.holds(Access("SYS", directory, "READ", "DIRECTORY")):
        if host.rights.sees("SYS", directory, "DIRECTORY"):
            raise OraError(22286, "insufficient privileges on file or directory to perform LOAD_ONNX_MODEL operation")
        rows = []
    if not rows:
        raise OraError(22285, f"non-existent directory or file for LOAD_ONNX_MODEL operation: directory {directory}")
    if not name or Path(name).name != name:
        raise OraError(29280, f"invalid directory path: the file name '{name}' must not contain one")
    path = Path(str(rows[0][0])) / name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OraError(22288, f"file or LOB operation FILEOPEN failed: {error.strerror} ({name})") from error
    _load(host, arguments["MODEL_NAME"], data, arguments.get("METADATA"))


def _model_name(host: Host, given: Any) -> tuple[str, str]:
    """Read ``[schema.]model``; ORA-40204 where Oracle's rules for the name are broken."""
    text = str(given or "").upper()
    owner, dot, name = text.rpartition(".")
    if not _NAME.match(name) or (dot and not _NAME.match(owner)):
        raise OraError(40204, f"invalid model name '{given or ''}'")
    if len(name) > _LONGEST_NAME:
        raise OraError(972, f"identifier is too long: the name of a model has at most {_LONGEST_NAME} characters")
    return owner or host.schema, name


def _load(host: Host, given_name: Any, data: bytes, metadata: Any) -> None:
    owner, name = _model_name(host, given_name)
    host.rights.require(owner, "CREATE MINING MODEL", "CREATE ANY MINING MODEL")
    fields = DEFAULT_METADATA if metadata is None else metadata
    if not isinstance(fields, dict):
        raise OraError(40441, "JSON syntax error: the metadata of a model is a JSON object")
    host.commit()
    if not host.ask("SELECT 1 FROM ora.users WHERE name = $1", owner):
        raise OraError(1918, f"user '{owner}' does not exist")
    if host.ask("SELECT 1 FROM ora.model WHERE owner = $1 AND name = $2", owner, name):
        raise OraError(955, f"name is already used by an existing object: mining model {owner}.{name}")
    dimensions = host.models.check(data, fields)
    host.ask(
        "INSERT INTO ora.model (owner, name, dimensions, digest, metadata, data)"
        " VALUES ($1, $2, $3::int4, $4, $5::jsonb, $6)",
        owner,
        name,
        dimensions,
        hashlib.sha256(data).hexdigest(),
        json.dumps(fields, default=str),
        data,
    )
    host.commit()


def drop(host: Host, arguments: Mapping[str, Any]) -> None:
    """DROP_ONNX_MODEL(model_name, force): a missing model is ORA-40284 unless forced."""
    owner, name = _model_name(host, arguments["MODEL_NAME"])
    host.commit()
    if owner != host.user and not host.rights.may("DROP ANY MINING MODEL"):
        if host.rights.sees(owner, name, "MINING MODEL"):
            raise OraError(1031, "insufficient privileges")
        raise OraError(40284, f"model {owner}.{name} does not exist")
    dropped = host.ask("DELETE FROM ora.model WHERE owner = $1 AND name = $2 RETURNING 1", owner, name)
    host.ask("DELETE FROM ora.privileges WHERE owner = $1 AND object = $2", owner, name)
    if not dropped and not arguments.get("FORCE"):
        raise OraError(40284, f"model {owner}.{name} does not exist")
    host.commit()
