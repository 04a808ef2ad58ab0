"""The file that `oraclerag init` writes: it loads, with nothing and with everything in it set, and holds no secret."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

import pytest

from oraclerag.config import Settings
from oraclerag.config.starter import SECTIONS, sentences, text, write
from oraclerag.errors import InputError
from oraclerag.source import from_settings

FIELDS = {item.metadata["path"]: item for item in dataclasses.fields(Settings) if item.metadata}


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("ORACLE", "RAG_"))]:
        monkeypatch.delenv(name)


def test_as_it_is_it_says_nothing(tmp_path: Path) -> None:
    write(tmp_path / "oraclerag.toml")
    assert Settings.load(tmp_path / "oraclerag.toml") == Settings()


def test_with_every_comment_taken_away_it_loads_and_says_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "oraclerag.toml"
    file.write_text(re.sub(r"^#(?=[a-z\[])", "", text(), flags=re.MULTILINE), "utf-8")
    assert not re.search(r"^#\S", file.read_text("utf-8"), re.MULTILINE)
    loaded = Settings.load(file)
    assert set(from_settings(loaded)) == {"task"}
    shown = set(re.findall(r"^(\w+) = ", file.read_text("utf-8").partition("[source")[0], re.MULTILINE))
    assert {"tenant", "dsn", "model", "k", "batch_size", "log"} <= shown
    for path, item in FIELDS.items():
        if item.default is not None:
            assert getattr(loaded, item.name) == item.default, path


def test_every_setting_of_its_sections_stands_there_with_what_the_docs_say_of_it() -> None:
    said, lines = sentences(), text()
    assert set(said) == set(FIELDS)
    for path, item in FIELDS.items():
        section, _, name = path.rpartition(".")
        if section in SECTIONS:
            part = lines.partition(f"\n[{section}]\n")[2].partition("\n[")[0]
            assert re.search(rf"^#(?: {name}\b|{name} = )", part, re.MULTILINE), path
            words = re.sub(r"\n# ", " ", part)
            assert said[path] in words, path
        assert item.repr or not re.search(rf"^#?{name} = ", lines, re.MULTILINE), f"{path} is a secret"


def test_a_file_that_is_there_is_replaced_only_if_that_is_said(tmp_path: Path) -> None:
    file = tmp_path / "oraclerag.toml"
    file.write_text("# mine\n")
    with pytest.raises(InputError, match="is there already") as caught:
        write(file)
    assert "--force" in (caught.value.hint or "")
    assert file.read_text() == "# mine\n"
    write(file, force=True)
    assert file.read_text("utf-8") == text()
