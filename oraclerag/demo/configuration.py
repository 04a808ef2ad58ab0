"""The configuration of the demo: what its sources are, where its database is, and which model embeds."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["MODEL", "write_configuration"]

MODEL = "ALL_MINILM_L6_V2"
_HERE = Path(__file__).parent


def write_configuration(folder: Path, *, dsn: str, user: str, password: str) -> Path:
    """Write the demo's ``oraclerag.toml`` and templates to a folder; only its owner can read the file."""
    shutil.copytree(_HERE / "templates", folder / "templates", dirs_exist_ok=True)
    file = folder / "oraclerag.toml"
    head = (
        "# Written by `oraclerag demo`.\n"
        f'[database]\ndsn = "{dsn}"\nuser = "{user}"\npassword = "{password}"\n\n'
        f'[embedding]\nmodel = "{MODEL}"\n\n'
    )
    file.touch(mode=0o600)
    file.chmod(0o600)
    file.write_text(head + (_HERE / "sources.toml").read_text("utf-8"), "utf-8")
    return file
