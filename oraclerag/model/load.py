"""Load an ONNX model into the database under a name that carries its hash, and record it in RAG_MODEL."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import oracledb

from oraclerag.database import UNIQUE_VIOLATED, code_of, own_tables, translate, translated
from oraclerag.errors import InputError, ModelError, ModelInvalid, PrivilegeMissing
from oraclerag.model.installed import (
    MAX_NAME,
    LoadedModel,
    list_models,
    own_name,
    refuse_open_transaction,
    statements,
)
from oraclerag.model.known import KNOWN_MODELS, KnownModel
from oraclerag.model.onnx_file import ModelFile, inspect_file
from oraclerag.model.tokenizer import Tokenizer
from oraclerag.model.tokenizer_files import read_vocabulary
from oraclerag.statements import identifier

__all__ = ["load_model", "physical_name"]

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_VECTOR = re.compile(r"VECTOR\(\s*(\d+)\s*,\s*FLOAT32\b.*", re.IGNORECASE | re.DOTALL)
_UNKNOWN = KnownModel("", "", "", 0, 0)
_EXISTS = "ORA-40204"  # model already exists: another session was faster


def physical_name(name: str, sha256: str) -> str:
    """Give ``<NAME>_<first 8 of the SHA-256>``, upper case; InputError for a name that leaves no room for it."""
    checked = identifier(name, "name of a model")
    if len(checked) > MAX_NAME - 9:
        raise InputError(f"The name of a model may have {MAX_NAME - 9} characters at the most: a hash is appended.")
    return f"{checked}_{sha256[:8].upper()}"


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be loaded, from whichever of the three places."""

    sha256: str
    input: str
    output: str
    max_tokens: int
    tokenizer: Tokenizer | None
    query_prefix: str
    passage_prefix: str
    dimensions: int | None


def load_model(
    connection: oracledb.Connection,
    path: Path | None = None,
    *,
    name: str,
    schema: str,
    directory: str | None = None,
    file_name: str | None = None,
    url: str | None = None,
    sha256: str | None = None,
    tokenizer: Path | None = None,
    max_tokens: int | None = None,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
) -> LoadedModel:
    """Load a model, or find it loaded: equal files have equal names, so a second call does nothing.

    ``path`` is the file on this machine; its bytes are bound as a BLOB unless the database is to read them itself, from
    ``directory`` (a DIRECTORY object; ``file_name`` there, default that of ``path``) or from ``url`` (a
    pre-authenticated request: a secret, so it is in no message). Then ``path`` only says what the model is; without it
    ``sha256`` of the file is needed for its name, ``max_tokens`` for its limit unless ``name`` is a known model, and
    ``tokenizer`` (its tokenizer.json or vocab.txt) for exact token counts. Prefixes default to what the file says.

    Runs on a connection of its own: loading commits. Raises ModelInvalid for a file that Oracle cannot load, before
    anything is sent where the file is here, InputError for arguments, PrivilegeMissing, or another DatabaseError.
    """
    refuse_open_transaction(connection, "Loading a model")
    owner = identifier(schema, "schema")
    plan = _plan(path, name, directory, url, sha256, tokenizer, max_tokens, query_prefix, passage_prefix)
    physical = physical_name(name, plan.sha256)
    remote = _remote(path, directory, file_name)
    known = next((m for m in list_models(connection, schema=owner) if m.physical_name == physical), None)
    there = _exists(connection, owner, physical)
    if known is not None and there:
        return known
    if not there:
        metadata = json.dumps(
            {"function": "embedding", "embeddingOutput": plan.output, "input": {plan.input: ["DATA"]}}
        )
        arguments: dict[str, object] = {"model_name": own_name(connection, owner, physical), "metadata": metadata}
        if directory is not None:
            arguments |= remote
            _call(connection, owner, "load_file", arguments)
        elif url is not None:
            _call(connection, owner, "load_url", arguments | {"uri": url}, secret=True)
        else:
            assert path is not None  # noqa: S101 - _plan refuses everything else
            _call(connection, owner, "load_data", arguments | {"model_data": _data(path, plan.sha256)})
    dimensions = _dimensions(connection, owner, physical)
    if plan.dimensions is not None and dimensions != plan.dimensions:
        raise ModelInvalid(
            f"The database says that {physical} has {dimensions} dimensions, the file says {plan.dimensions}.",
            hint="The DIRECTORY or the URL holds another file; check its SHA-256.",
        )
    if known is None:
        _record(connection, owner, name, physical, plan, dimensions)
    found = next(m for m in list_models(connection, schema=owner) if m.physical_name == physical)
    return replace(found, loaded=not there)


def _plan(
    path: Path | None,
    name: str,
    directory: str | None,
    url: str | None,
    sha256: str | None,
    tokenizer: Path | None,
    max_tokens: int | None,
    query_prefix: str | None,
    passage_prefix: str | None,
) -> _Plan:
    if directory is not None and url is not None:
        raise InputError("A model is loaded from a DIRECTORY or from a URL, not from both.")
    if path is None and directory is None and url is None:
        raise InputError("There is no model to load: a file, a DIRECTORY or a URL is needed.")
    if url is not None and not url.lower().startswith("https://"):
        raise InputError("The URL of a model must begin with https://.")
    if sha256 is not None and not _SHA256.fullmatch(sha256):
        raise InputError("sha256 must be 64 hexadecimal digits.", hint="`sha256sum FILE` prints it.")
    file = inspect_file(path) if path is not None else None
    if file is not None and sha256 is not None and sha256.lower() != file.sha256:
        raise InputError(f"The SHA-256 of {file.path.name} is {file.sha256}, not the one given.")
    digest = file.sha256 if file is not None else sha256
    if digest is None:
        raise InputError(
            "The SHA-256 of the model is part of its name and is not known here.",
            hint="Pass the file as well, or its hash: `sha256sum FILE` prints it.",
        )
    known = next((model for model in KNOWN_MODELS if model.name == name.upper()), _UNKNOWN)
    vocabulary = read_vocabulary(tokenizer) if tokenizer is not None else file.tokenizer if file is not None else None
    return _Plan(
        sha256=digest.lower(),
        input=file.input if file is not None else "input",
        output=file.output if file is not None else "embedding",
        max_tokens=_limit(name, file, max_tokens),
        tokenizer=vocabulary,
        query_prefix=_prefix(
            query_prefix, file.query_prefix if file is not None else known.query_prefix, "query_prefix"
        ),
        passage_prefix=_prefix(
            passage_prefix, file.passage_prefix if file is not None else known.passage_prefix, "passage_prefix"
        ),
        dimensions=file.dimensions if file is not None else None,
    )


def _remote(path: Path | None, directory: str | None, file_name: str | None) -> dict[str, object]:
    if directory is None:
        return {}
    remote = file_name or (path.name if path is not None else None)
    if remote is None:
        raise InputError("The name of the file in the DIRECTORY is missing.")
    return {"directory": identifier(directory, "DIRECTORY"), "file_name": remote}


def _limit(name: str, file: ModelFile | None, given: int | None) -> int:
    """Give the limit in tokens: what the graph cuts to, never more; a given one may be less."""
    stated = file.max_tokens if file is not None else None
    if given is not None:
        if given < 3 or (stated is not None and given > stated):
            raise InputError(
                f"max_tokens is {given}, but must be between 3 and {stated}, where the model cuts texts."
                if stated is not None
                else f"max_tokens is {given}, but must be 3 or more."
            )
        return given
    if stated is not None:
        return stated
    for model in KNOWN_MODELS:
        if model.name == name.upper():
            return model.max_tokens
    raise InputError(
        "Nothing says how many tokens the model reads.",
        hint="Pass max_tokens (--max-tokens), its max_seq_length; texts are cut into chunks by it.",
    )


def _prefix(given: str | None, stated: str, what: str) -> str:
    prefix = stated if given is None else given
    if len(prefix.encode()) > 200:
        raise InputError(f"{what} may have 200 bytes at the most.")
    return prefix


def _data(path: Path, sha256: str) -> bytes:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise InputError(f"{path.name} was changed while it was being read.")
    return data


def _exists(connection: oracledb.Connection, owner: str, physical: str) -> bool:
    with translated(), connection.cursor() as cursor:
        cursor.execute(statements(owner)["exists"], owner=owner, physical_name=physical)
        return cursor.fetchone() is not None


def _call(
    connection: oracledb.Connection, owner: str, statement: str, arguments: dict[str, object], *, secret: bool = False
) -> None:
    try:
        with connection.cursor() as cursor:
            if "model_data" in arguments:
                cursor.setinputsizes(model_data=oracledb.DB_TYPE_BLOB)
            cursor.execute(statements(owner)[statement], arguments)
    except oracledb.Error as error:
        code = code_of(error) or ""
        if code == _EXISTS:
            return
        if secret:
            # What the database says of a URL may repeat it, so neither its text nor the error itself is handed on.
            raise ModelError(
                f"The database could not load the model from the URL ({code or type(error).__name__}).",
                hint="Check that the pre-authenticated request is of the .onnx object and still valid, and that the "
                "user may use DBMS_CLOUD.",
            ) from None
        raise _explained(error, code) from error


def _explained(error: oracledb.Error, code: str) -> Exception:
    """Say what can be done about a model that the database refused."""
    found = translate(error)
    if isinstance(found, PrivilegeMissing):
        found.hint = "A DBA grants CREATE MINING MODEL and EXECUTE ON SYS.DBMS_VECTOR; for a DIRECTORY also READ on it."
    elif "ORA-54400" <= code <= "ORA-54499":
        return ModelInvalid(f"The database cannot load the model ({code}).", hint="Build it: `oraclerag model build`.")
    return found


def _dimensions(connection: oracledb.Connection, owner: str, physical: str) -> int:
    with translated(), connection.cursor() as cursor:
        cursor.execute(statements(owner)["dimensions"], owner=owner, physical_name=physical)
        row = cursor.fetchone()
    match = _VECTOR.fullmatch(row[0]) if row and row[0] else None
    if match is None:
        raise ModelInvalid(
            f"{physical} gives no vector of FLOAT32 with a fixed dimension.", hint="Build it: `oraclerag model build`."
        )
    return int(match[1])


def _record(
    connection: oracledb.Connection, owner: str, name: str, physical: str, plan: _Plan, dimensions: int
) -> None:
    with own_tables(), connection.cursor() as cursor:
        # The vocabulary is longer than a VARCHAR2.
        cursor.setinputsizes(vocabulary=oracledb.DB_TYPE_CLOB)
        try:
            cursor.execute(
                statements(owner)["record"],
                physical_name=physical,
                model_name=identifier(name, "name of a model"),
                sha256=plan.sha256,
                dimensions=dimensions,
                max_tokens=plan.max_tokens,
                query_prefix=plan.query_prefix,
                passage_prefix=plan.passage_prefix,
                vocabulary=plan.tokenizer.vocabulary() if plan.tokenizer is not None else None,
                tokenizer=plan.tokenizer.options() if plan.tokenizer is not None else None,
            )
        except oracledb.IntegrityError as error:
            if code_of(error) != UNIQUE_VIOLATED:  # another session recorded the same file
                raise
        connection.commit()
