"""Which files are meant: folders, patterns, single files and standard input become a list of files with stable names.

A file's name in the index is that of its folder and the path inside of it, ``kb/backup/rman.md``: it depends neither on
where the command is run nor on where the folder lies.
"""

from __future__ import annotations

import glob
import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from oraclerag.errors import InputError
from oraclerag.ingest.report import FileKind, Refusal
from oraclerag.records import fits

__all__ = ["NAME_BYTES", "STANDARD_INPUT", "Found", "Listing", "find"]

STANDARD_INPUT = "-"

NAME_BYTES = 1000
"""What RAG_FILE.FILE_PATH holds."""

_APART = "Ingest them one by one, each with a --name or a --collection; or name a --root that both lie in."

_DOCUMENTS = {
    "", ".adoc", ".asciidoc", ".htm", ".html", ".markdown", ".md", ".mdown", ".pdf", ".rst", ".text", ".txt", ".xhtml",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """A file to ingest by its name in the index; without a path it is standard input."""

    name: str
    path: Path | None


@dataclass(slots=True)
class Listing:
    """What was found, in the order of its names in each folder.

    ``folders`` are the names, with a slash at their end, under which everything was listed; ``unseen`` the names of
    folders and files, or beginnings of such names, of which it is not known what is there.
    """

    files: list[Found] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)


def find(paths: Sequence[str | os.PathLike[str]], kind: FileKind, *, root: Path | None, name: str | None) -> Listing:
    """List the files that arguments mean: a folder with all below it, a pattern, a file, or ``-``.

    Names begin with ``name``, else with the name of the folder given, of the folder that a file lies in, or of
    ``root``, which every path must lie in. In a folder hidden files are left out, and of documents what has another
    ending than documents have. Raises InputError where an argument means nothing, where two files would have one name,
    and for ``-`` without a ``name``.
    """
    if not paths:
        raise InputError("No file or folder is named.")
    if name is not None:
        _refuse_name(name)
    listing = Listing()
    base = None if root is None else _absolute(root)
    if base is not None and not base.is_dir():
        raise InputError(f"There is no folder {str(root)!r}, which is to be the root.")
    meant = [one for given in paths for one in _meant(os.fspath(given))]
    folders = [one.path for one in meant if one.path is not None and one.is_folder]
    roots: dict[str, Path] = {}
    singles: list[Found] = []
    for one in meant:
        if one.path is None:
            singles.append(Found(_name_of_input(name), None))
            continue
        prefix = _prefix(one, base, name)
        if not one.is_folder:
            singles.append(Found(prefix + _text(one.path.name), one.path))
        elif not any(_is_seen_from(other, one.path) for other in folders):
            if roots.setdefault(prefix, one.path) != one.path:
                raise InputError(
                    f"Two folders would have the name {prefix[:-1]!r}: {str(roots[prefix])!r} and {str(one.path)!r}.",
                    hint=_APART,
                )
            listing.folders.append(prefix)
            _Walk(listing, kind, os.path.realpath(one.path)).folder(str(one.path), prefix)
    listing.files += singles  # after the folders: what lies in one has the name that it has there
    _settle(listing)
    return listing


@dataclass(frozen=True, slots=True)
class _Meant:
    """What an argument means: a path, and the folder at which names start; no path is standard input."""

    given: str
    path: Path | None
    start: Path
    is_folder: bool = False


def _is_seen_from(folder: Path, path: Path) -> bool:
    """Whether walking through a folder comes to another one, below it."""
    if path == folder or not path.is_relative_to(folder):
        return False
    between = [path, *path.parents][: len(path.relative_to(folder).parts)]
    return not any(one.name.startswith(".") or one.is_symlink() for one in between)


def _absolute(path: str | os.PathLike[str]) -> Path:
    """Give a path without dots; a link stays one, for it is its own name that was given."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - it would follow links


def _meant(given: str) -> Iterator[_Meant]:
    if given == STANDARD_INPUT:
        yield _Meant(given, None, Path())
        return
    path = _absolute(given)
    if os.path.lexists(path):
        yield _Meant(given, path, path, is_folder=True) if path.is_dir() else _Meant(given, path, path.parent)
        return
    if not glob.has_magic(given):
        raise InputError(f"There is no file or folder {given!r}.")
    fixed = _absolute(Path(*_fixed(Path(given).parts)))
    found = sorted(glob.glob(given, recursive=True))  # noqa: PTH207 - it leaves hidden files out
    files = [_absolute(one) for one in found if not Path(one).is_dir()]
    if not files:
        raise InputError(f"No file matches {given!r}.", hint="Hidden files are left out; ** stands for any folders.")
    for one in files:
        yield _Meant(given, one, fixed)


def _fixed(parts: Sequence[str]) -> Iterator[str]:
    for part in parts:
        if glob.has_magic(part):
            return
        yield part


def _prefix(one: _Meant, base: Path | None, name: str | None) -> str:
    """Give the beginning of the names of what lies in a folder, or beside a file."""
    assert one.path is not None  # noqa: S101 - standard input lies nowhere
    top = base if base is not None else one.start
    first = name if name is not None else _text(top.name)
    if not first:
        raise InputError(f"The folder {str(top)!r} has no name.", hint="Give it one with --name.")
    try:
        below = (one.path if one.is_folder else one.path.parent).relative_to(top)
    except ValueError:
        raise InputError(f"{one.given!r} does not lie in the folder {str(top)!r}, which is the root.") from None
    return "/".join((first, *map(_text, below.parts), ""))


def _name_of_input(name: str | None) -> str:
    if name is None:
        raise InputError("A text from standard input has no name.", hint="Give it one: --name night/alert.log")
    return name


def _refuse_name(name: str) -> None:
    parts = PurePosixPath(name).parts
    if not fits(name, NAME_BYTES) or "/".join(parts) != name or {"/", ".", ".."} & set(parts):
        raise InputError(
            f"{name!r} is no name for what is ingested: words with / between them, none of them . or .., "
            f"{NAME_BYTES} bytes at the most."
        )


def _text(name: str) -> str:
    """Give a name of the file system as text that a column holds: composed, what cannot be decoded as an escape."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return unicodedata.normalize("NFC", text)


def _settle(listing: Listing) -> None:
    """Leave one of each file, refuse names that are too long, and two files of one name."""
    places: dict[str, Path | None] = {}
    paths: set[Path | None] = set()
    kept = []
    for found in listing.files:
        if found.path in paths:
            continue
        paths.add(found.path)
        other = places.setdefault(found.name, found.path)
        if other != found.path:
            if other is not None and found.path is not None and other.resolve() == found.path.resolve():
                continue
            both = " and ".join("standard input" if path is None else repr(str(path)) for path in (other, found.path))
            raise InputError(f"Two files would have the name {found.name!r}: {both}.", hint=_APART)
        if fits(found.name, NAME_BYTES):
            kept.append(found)
        else:
            listing.refused.append(Refusal(found.name, f"its name is longer than {NAME_BYTES} bytes", failed=True))
    listing.files = kept


class _Walk:
    """Everything below one folder, in order."""

    def __init__(self, listing: Listing, kind: FileKind, top: str) -> None:
        self._listing = listing
        self._kind = kind
        self._top = top  # the real path

    def folder(self, path: str, prefix: str) -> None:
        """Add what is below a folder; ``prefix`` is its name with a slash."""
        open_folders = [iter(self._listed(path, prefix))]
        while open_folders:
            for entry, name in open_folders[-1]:
                if self._entry(entry, name):
                    open_folders.append(iter(self._listed(entry.path, name + "/")))
                    break
            else:
                open_folders.pop()

    def _listed(self, path: str, prefix: str) -> list[tuple[os.DirEntry[str], str]]:
        try:
            with os.scandir(path) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._listing.refused.append(Refusal(prefix, f"cannot be listed ({error.strerror})", failed=True))
            self._listing.unseen.append(prefix)
            return []
        return [(entry, prefix + _text(entry.name)) for entry in found if not entry.name.startswith(".")]

    def _entry(self, entry: os.DirEntry[str], name: str) -> bool:
        """Add a file, or say that this is a folder to look into."""
        try:
            if entry.is_dir(follow_symlinks=False):
                return True
            if entry.is_symlink() and (entry.is_dir() or not self._is_inside(entry.path)):
                self._skip(name, "a link to a folder, or out of this one")
                return False
            regular = stat.S_ISREG(entry.stat().st_mode)
        except OSError as error:
            self._listing.refused.append(Refusal(name, f"cannot be looked at ({error.strerror})", failed=True))
            self._listing.unseen.append(name)
            return False
        if not regular:
            self._skip(name, "not a regular file")
        elif self._kind == "docs" and _ending(entry.name) not in _DOCUMENTS:
            self._skip(name, f"{_ending(entry.name)} is not the ending of a document; name the file to take it")
        else:
            self._listing.files.append(Found(name, Path(entry.path)))
        return False

    def _is_inside(self, path: str) -> bool:
        return os.path.commonpath([self._top, os.path.realpath(path)]) == self._top

    def _skip(self, name: str, why: str) -> None:
        self._listing.refused.append(Refusal(name, why))


def _ending(name: str) -> str:
    return Path(name.lower().removesuffix(".gz")).suffix
