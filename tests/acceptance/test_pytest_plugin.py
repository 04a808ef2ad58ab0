"""The fixtures for other people's tests, used as the documentation says, in a pytest of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from oraclerag.testing import pytest_plugin

DOCUMENT = Path(__file__).parents[2] / "docs" / "testing.md"


@pytest.fixture(autouse=True)
def _only_this_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def documented(pytester: pytest.Pytester) -> pytest.Pytester:
    """Give a directory with the files that the documentation shows."""
    blocks = re.findall(r"```(?:python|toml)\n# (\S+)\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert [name for name, _ in blocks] == ["conftest.py", "test_notes.py", "oraclerag.toml"]
    for name, text in blocks:
        (pytester.path / name).write_text(text, encoding="utf-8")
    return pytester


PLUGIN = "oraclerag.testing.pytest_plugin"
TWO_TESTS = """
USERS = []

def test_one(rag, oracle_account):
    USERS.append(oracle_account.user)

def test_two(rag, oracle_account):
    assert oracle_account.user not in USERS
"""


def test_what_the_documentation_shows_passes_and_every_test_has_a_user_of_its_own(documented: pytest.Pytester) -> None:
    (documented.path / "test_users.py").write_text(TWO_TESTS)
    run = documented.runpytest_subprocess("-q", "-p", "no:cacheprovider", timeout=100)
    run.assert_outcomes(passed=3)


def test_the_configuration_says_who_shares_a_user(pytester: pytest.Pytester) -> None:
    assert pytest_plugin._scope("rag", pytester.parseconfig("-p", PLUGIN)) == "function"
    assert pytest_plugin._scope("rag", pytester.parseconfig("-p", PLUGIN, "-o", "oraclerag_scope=module")) == "module"


def test_a_setting_that_cannot_be_is_refused_in_words(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfig("-p", PLUGIN, "-o", "oraclerag_scope=class", "-o", "oraclerag_config=none.toml")
    with pytest.raises(pytest.UsageError, match="must be one of function, module, session, not 'class'"):
        pytest_plugin._scope("rag", config)
    with pytest.raises(pytest.UsageError, match=r"oraclerag_config: there is no file .*none\.toml"):
        pytest_plugin._configuration(config)
    assert pytest_plugin._configuration(pytester.parseconfig("-p", PLUGIN)) is None
