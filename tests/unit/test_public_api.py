"""What ``oraclerag`` exports: sorted, documented, importable in any order, and cheap to import."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import oraclerag

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(oraclerag.__path__, "oraclerag.")
    if not module.name.endswith("__main__")
)


def in_order(names: list[str]) -> list[str]:
    """Sort as the linter does: constants, classes, then the rest."""
    return sorted(set(names), key=lambda name: (0 if name.isupper() else 1 if name[0].isupper() else 2, name))


def test_all_is_sorted_and_without_doubles() -> None:
    assert list(oraclerag.__all__) == in_order(oraclerag.__all__)


@pytest.mark.parametrize("name", oraclerag.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    thing = getattr(oraclerag, name)
    if inspect.isclass(thing) or inspect.isroutine(thing):
        assert (thing.__doc__ or "").strip(), name


def test_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert oraclerag.__version__ == version("oraclerag")


@pytest.mark.parametrize("name", MODULES)
def test_a_module_exports_what_it_says(name: str) -> None:
    module = importlib.import_module(name)
    assert (module.__doc__ or "").strip(), "a module says what it is"
    exported = getattr(module, "__all__", [])
    assert list(exported) == in_order(exported)
    for item in exported:
        assert hasattr(module, item)


def test_importing_the_package_loads_no_heavy_library() -> None:
    """``oraclerag --help`` and programs that only enqueue must not wait for them."""
    heavy = (
        "numpy", "onnx", "onnxruntime", "psycopg", "alembic", "tokenizers", "rich", "httpx", "sqlalchemy", "tenacity",
        "fastapi", "mcp", "opentelemetry",
    )  # fmt: skip
    code = f"import sys; from oraclerag import Rag; print(*[name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []
