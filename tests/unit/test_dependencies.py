"""What is installed with the package: the page that lists it is whole, and all of it is under a licence that permits."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
USERS = {"": PROJECT["dependencies"]} | {
    extra: needs for extra, needs in PROJECT["optional-dependencies"].items() if extra != "dev"
}
PERMITTED = re.compile(
    r"0BSD|Apache|BSD|CC0|CNRI-Python|ISC|MIT|PSF|Python Software Foundation|Unlicense|UPL|Zlib", re.IGNORECASE
)
WEAK_COPYLEFT = re.compile("GPL|MPL|Mozilla")
NAMED = {"certifi", "orjson", "pathspec", "psycopg", "psycopg-binary", "tqdm"}
"""Of whose licence the page says what it asks for."""


def direct(extra: str) -> set[str]:
    """Give the packages that the project names for an extra, and those of the extras that it takes in."""
    found: set[str] = set()
    for need in map(Requirement, USERS[extra]):
        found |= set().union(*map(direct, need.extras)) if need.name == PROJECT["name"] else {need.name}
    return found


def installed(name: str, extras: frozenset[str], found: dict[str, Distribution]) -> dict[str, Distribution]:
    """Collect what a package needs here, itself included; what is not installed is left out."""
    try:
        one = distribution(name)
    except PackageNotFoundError:
        return found
    known = canonicalize_name(name)
    if known in found and not extras:
        return found
    found[known] = one
    for need in map(Requirement, one.requires or ()):
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in {"", *extras}):
            installed(need.name, frozenset(need.extras), found)
    return found


def licence(one: Distribution) -> str:
    """Give what a package says of its licence, in any of the three ways to say it."""
    told = one.metadata.get_all
    classifiers = [line.rpartition(" :: ")[2] for line in told("Classifier") or [] if line.startswith("License ::")]
    said = "".join(told("License-Expression") or []) or "; ".join(classifiers) or "".join(told("License") or [])
    return said.strip().partition("\n")[0]


def test_the_page_lists_what_is_installed_with_which_extra() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:5]] for line in page.splitlines() if line.startswith("| ")]
    wanted: dict[str, set[str]] = {}
    for extra in USERS:
        for name in direct(extra):
            wanted.setdefault(name, set()).add(extra)
    listed = {name: set(extras.split(", ")) for name, extras, _, _ in rows[1:]}
    assert listed == wanted
    assert all(PERMITTED.search(told) or name == "psycopg" for name, _, told, _ in rows[1:])


def test_all_that_is_installed_for_users_is_under_a_licence_that_permits() -> None:
    found: dict[str, Distribution] = {}
    for needs in USERS.values():
        for need in map(Requirement, needs):
            if need.name != PROJECT["name"]:
                installed(need.name, frozenset(need.extras), found)
    assert len(found) > 20
    told = {name: licence(one) for name, one in found.items()}
    weak = {name for name, said in told.items() if WEAK_COPYLEFT.search(said)}
    assert weak <= NAMED, {name: told[name] for name in weak - NAMED}
    assert {name: said for name, said in told.items() if name not in weak and not PERMITTED.search(said)} == {}
