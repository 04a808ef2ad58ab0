"""The SQL of the toolkit: named statements in ``sql/statements/<stem>.sql``, one file per stage.

A file is a list of sections headed ``-- name: pick`` (the comment lines below say what the statement does). Every
section is valid Oracle SQL as it stands; identifiers that differ between installations are marked by a comment
right before the word they replace::

    /*schema*/RAG_DIRTY      →  "RAG".RAG_DIRTY
    /*model*/MODEL           →  "RAG".ALL_MINILM_L6_V2_1A2B3C4D   (any other mark: the word is replaced)

Values are binds, always.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from oraclerag.errors import ConfigurationError

__all__ = ["Statements", "fill", "identifier", "qualified", "quoted", "root"]

_NAME = re.compile(r"^-- name: ([a-z][a-z0-9_]*)$", re.MULTILINE)
_MARK = re.compile(r"/\*([a-z_]+)\*/([A-Za-z][A-Za-z0-9_$#]*)")
_BLOCK = re.compile(r"(?:BEGIN|DECLARE)\b", re.IGNORECASE)
_PART = re.compile(r'"[^"]+"|[^".]+')
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_$#]{0,127}")


@cache
def root(folder: str) -> Path:
    """Give the path of ``sql``, ``alembic`` or ``docs`` (in a wheel: the settings), wherever they were installed."""
    package = Path(__file__).resolve().parent
    for candidate in (package / "_resources" / folder, package.parent / folder):
        if candidate.is_dir():
            return candidate
    raise ConfigurationError(
        f"The folder {folder!r} that belongs to oraclerag is missing.", hint="Install the package again."
    )


def identifier(name: str, what: str = "name") -> str:
    """Check an Oracle identifier and give it in upper case.

    Only ordinary (unquoted) identifiers are taken: a letter, then letters, digits, ``_ $ #``, at most 128.
    """
    if not _IDENTIFIER.fullmatch(name):
        raise ConfigurationError(
            f"{name!r} is not usable as {what}: a letter, then letters, digits, '_', '$' or '#', 128 at the most."
        )
    return name.upper()


def quoted(name: str, what: str = "name") -> str:
    """Check an identifier and give it quoted, so that no reserved word can be hit."""
    return f'"{identifier(name, what)}"'


def qualified(name: str, what: str = "name") -> tuple[str | None, str]:
    """Take ``OWNER.NAME`` or ``NAME`` apart, as the dictionary has them: upper case, or as it stands in ``"…"``."""
    parts = _PART.findall(name)
    if ".".join(parts) != name or len(parts) not in (1, 2):
        raise ConfigurationError(f'{name!r} is not usable as {what}: NAME or OWNER.NAME, each of them plain or in "…".')
    owner, name = [None, *parts][-2:]
    return (
        None if owner is None else owner[1:-1] if owner.startswith('"') else identifier(owner, what),
        name[1:-1] if name.startswith('"') else identifier(name, what),
    )


def fill(text: str, schema: str, /, **names: str) -> str:
    """Replace the marks of a statement: ``/*schema*/WORD`` by the word in ``schema``, others by their name."""
    prefix = quoted(schema, "schema")

    def replace(match: re.Match[str]) -> str:
        mark, word = match.groups()
        return f"{prefix}.{word}" if mark == "schema" else names[mark]

    return _MARK.sub(replace, text)


@cache
def _sections(stem: str) -> Mapping[str, str]:
    text = (root("sql") / "statements" / f"{stem}.sql").read_text("utf-8")
    parts = _NAME.split(text)
    found: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if name in found:
            raise ConfigurationError(f"The statement {name!r} stands twice in sql/statements/{stem}.sql.")
        lines = body.strip().splitlines()
        while lines and lines[0].startswith("--"):
            del lines[0]
        text = "\n".join(lines).strip()
        if not _BLOCK.match(text):  # a PL/SQL block keeps its last semicolon (PLS-00103 without)
            text = text.removesuffix(";").rstrip()
        found[name] = text
    return found


class Statements:
    """The statements of one stage, with the schema filled in.

    ``statements["pick"]`` gives the text; ``statements.with_names("embed", model=…, column=…)`` fills further marks
    with names that the caller has checked. An unknown statement or mark is a ``KeyError``: a mistake of ours.
    """

    def __init__(self, stem: str, schema: str) -> None:
        self._stem = stem
        self._schema = identifier(schema, "schema")
        self._rendered: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}

    def __getitem__(self, name: str) -> str:
        return self.with_names(name)

    def with_names(self, name: str, /, **names: str) -> str:
        """Give a statement with its marks replaced by ``names``."""
        key = (name, tuple(sorted(names.items())))
        if key not in self._rendered:
            self._rendered[key] = fill(_sections(self._stem)[name], self._schema, **names)
        return self._rendered[key]
