"""The tree of errors is the tree that its docstring draws, and every class is complete."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator

import pytest

from oraclerag import errors
from oraclerag.errors import OracleRagError


def classes(root: type[OracleRagError] = OracleRagError) -> Iterator[type[OracleRagError]]:
    yield root
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from classes(child)


def drawn() -> dict[str, str | None]:
    """Read the tree of the docstring: name → name of the parent."""
    parents: dict[str, str | None] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.fullmatch(r"    ((?:│   |    )*(?:├── |└── )?)([A-Z]\w+)(?: .*)?", line)
        if match is None:
            continue
        depth = len(match[1]) // 4
        del path[depth:]
        parents[match[2]] = path[-1] if path else None
        path.append(match[2])
    return parents


def test_the_docstring_draws_the_tree() -> None:
    actual = {cls.__name__: cls.__bases__[0].__name__ if cls is not OracleRagError else None for cls in classes()}
    assert drawn() == actual


def test_retryable_is_marked_in_the_drawing() -> None:
    marked = set(re.findall(r"── (\w+) +retryable", errors.__doc__ or ""))
    assert marked == {cls.__name__ for cls in classes() if cls.retryable}


def test_every_class_is_public_and_has_its_own_code() -> None:
    names = [cls.__name__ for cls in classes()]
    assert sorted(names) == sorted(errors.__all__) == errors.__all__
    codes = [cls.code for cls in classes()]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[A-Z][A-Z_]+", code) for code in codes)


@pytest.mark.parametrize("cls", list(classes()))
def test_default_message_is_one_sentence(cls: type[OracleRagError]) -> None:
    error = cls()
    assert error.message == str(error)
    assert error.message[0].isupper()
    assert error.message.endswith(".")
    assert "\n" not in error.message
    assert error.hint == cls.default_hint


def test_message_and_hint_win_over_the_defaults() -> None:
    error = errors.SchemaMissing("Not here.", hint="Look there.")
    assert (str(error), error.hint) == ("Not here.", "Look there.")


def test_an_error_survives_pickling_with_its_hint() -> None:
    error = pickle.loads(pickle.dumps(errors.LoginFailed("No.", hint="Try again.")))
    assert (type(error), error.message, error.hint) == (errors.LoginFailed, "No.", "Try again.")
