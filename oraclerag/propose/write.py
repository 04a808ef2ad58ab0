"""A proposal is added to the configuration file: behind what is there, or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from oraclerag.config.reading import read
from oraclerag.config.sources import parse_source
from oraclerag.errors import ConfigurationError, InputError
from oraclerag.propose.proposal import Proposal
from oraclerag.propose.toml import block, template_path

__all__ = ["add", "taken"]


def taken(file: Path, name: str) -> None:
    """Raise InputError where a source of this name, or its template, is there already."""
    if name in _sources(read(file)):
        raise InputError(
            f"{file} has a source {name!r} already; nothing was written.",
            hint="Take it out there, or give the new one another name with --name.",
        )
    path = file.parent / template_path(name)
    if path.exists():
        raise InputError(
            f"There is a template {str(path)!r} already; nothing was written.",
            hint="Move it away, or give the source another name with --name.",
        )


def add(file: Path, proposal: Proposal) -> Path:
    """Append the block of a proposal to ``file`` and write its template beside it; gives the template's path.

    What stands in the file stays as it is, byte for byte. The file is replaced in one step, after what it will be was
    read and compared; where it does not load then, it is put back and the template removed. Raises InputError where
    there is no file, or a source or template of that name, ConfigurationError where the file is not valid.
    """
    if not file.is_file():
        raise InputError(f"There is no configuration file {str(file)!r}.", hint="`oraclerag init` writes one.")
    taken(file, proposal.name)
    before = file.read_bytes()
    text = before.decode("utf-8")
    after = text + ("" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n")
    after += block(proposal)
    _compare(file, text, after, proposal)
    path = file.parent / template_path(proposal.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as out:
        out.write(proposal.template)
    try:
        _replace(file, after.encode("utf-8"))
        try:
            declared = _sources(read(file))[proposal.name]
            parse_source(proposal.name, {"visibility": "shared"} | declared, file.parent, f"[source.{proposal.name}]")
        except BaseException:
            _replace(file, before)
            raise
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _compare(file: Path, before: str, after: str, proposal: Proposal) -> None:
    """Hold what the file will say against what it says, and what was proposed."""
    try:
        old, new = tomllib.loads(before), tomllib.loads(after)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"{file} cannot take another [source.{proposal.name}] at its end: {error}; nothing was written.",
            hint="Copy the proposal to where it fits.",
        ) from None
    declared = _sources(new).pop(proposal.name, None)
    if not _sources(new):
        new.pop("source", None)
    if not _sources(old):
        old.pop("source", None)
    wanted = {**proposal.settings, "template": template_path(proposal.name)}
    if old != new or declared is None or _as_read(declared) != _as_read(wanted):
        raise ConfigurationError(
            f"{file} would not say what was proposed; nothing was written.", hint="Copy the proposal to where it fits."
        )


def _as_read(value: Any) -> Any:
    """Give settings without the line ends around their texts."""
    if isinstance(value, dict):
        return {name: _as_read(item) for name, item in value.items()}
    return value.strip() if isinstance(value, str) else value


def _sources(tree: dict[str, Any]) -> dict[str, Any]:
    found = tree.get("source", {})
    return found if isinstance(found, dict) else {}


def _replace(file: Path, content: bytes) -> None:
    """Write a file beside it and put that in its place, with the same rights."""
    real = file.resolve()  # a link stays one
    handle, name = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        with contextlib.suppress(OSError):
            os.chmod(name, real.stat().st_mode & 0o7777)  # noqa: PTH101 - a name of mkstemp
        os.replace(name, real)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
