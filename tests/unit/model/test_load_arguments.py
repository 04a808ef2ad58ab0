"""What `model load` refuses before anything is sent to the database."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import oracledb
import pytest

from oraclerag.errors import InputError, ModelInvalid, OracleRagError
from oraclerag.model import load_model, physical_name
from oraclerag.testing import tiny_model


class _NoDatabase:
    """A connection on which every call but the question for a transaction fails the test."""

    transaction_in_progress = False
    username = "RAG"

    def cursor(self) -> Any:
        pytest.fail("the database was asked")


CONNECTION = cast("oracledb.Connection", _NoDatabase())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.onnx"
    path.write_bytes(tiny_model(8))
    return path


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"name": "1st"}, "not usable as name of a model"),
        ({"name": "a b"}, "not usable as name of a model"),
        ({"name": "a;b"}, "not usable as name of a model"),
        ({"name": "x" * 115}, "114 characters"),
        ({"schema": 'x"y'}, "not usable as schema"),
        ({"max_tokens": 257}, "between 3 and 256"),
        ({"max_tokens": 2}, "between 3 and 256"),
        ({"sha256": "12"}, "64 hexadecimal"),
        ({"sha256": "0" * 64}, "not the one given"),
        ({"query_prefix": "x" * 201}, "200 bytes"),
        ({"passage_prefix": "é" * 101}, "200 bytes"),
        ({"directory": "D", "url": "https://x"}, "not from both"),
        ({"directory": "a;b"}, "not usable as DIRECTORY"),
        ({"url": "http://plain.example.com/x"}, "https"),
        ({"url": "file:///etc/passwd"}, "https"),
    ],
)
def test_arguments(model: Path, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(OracleRagError, match=says):
        load_model(CONNECTION, model, **{"name": "tiny", "schema": "RAG", **arguments})


@pytest.mark.parametrize(
    ("arguments", "says", "remedy"),
    [
        ({}, "no model to load", None),
        ({"directory": "D", "file_name": "f.onnx"}, "SHA-256", "sha256sum"),
        ({"directory": "D", "sha256": "0" * 64, "max_tokens": 128}, "name of the file", None),
        ({"url": "https://x", "sha256": "0" * 64}, "how many tokens", "--max-tokens"),
    ],
)
def test_what_must_be_said_where_there_is_no_file(arguments: dict[str, Any], says: str, remedy: str | None) -> None:
    with pytest.raises(InputError, match=says) as caught:
        load_model(CONNECTION, name="tiny", schema="RAG", **arguments)
    assert remedy is None or remedy in (caught.value.hint or "")


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"PK\x03\x04")
    with pytest.raises(ModelInvalid, match="zip"):
        load_model(CONNECTION, tmp_path / "model.onnx", name="tiny", schema="RAG")


def test_a_url_is_in_no_message(model: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_model(CONNECTION, model, name="tiny", schema="RAG", url="http://x.example.com/p/SECRET/o/m.onnx")
    assert "SECRET" not in f"{caught.value!r} {caught.value.hint}"


def test_the_physical_name_is_an_identifier_with_room_for_the_hash() -> None:
    assert physical_name("all_minilm_l6_v2", "1a2b3c4d" + "0" * 56) == "ALL_MINILM_L6_V2_1A2B3C4D"
