"""What a resolution takes and what it refuses; no database."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from oraclerag import Resolution
from oraclerag.config import Settings
from oraclerag.envelope import RESOLUTION_TYPES
from oraclerag.errors import InputError
from oraclerag.source.resolution import ResolutionSource

AT = dt.datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001 - as a column gives it


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"title": " "}, "title must be a text that is not blank"),
        ({"fix": ""}, "fix must be a text that is not blank"),
        ({"title": "t" * 1001}, r"title must be at most 1,000 bytes"),
        ({"symptom": "a\0b"}, "symptom holds NUL"),
        ({"analysis": "\ud800"}, "analysis holds NUL or half of a surrogate pair"),
        ({"owner": "ü" * 65}, "owner must be at most 128 bytes"),
        ({"tenant": "-"}, "stands for none"),
        ({"visibility": "HIDDEN"}, "visibility must be 'shared' or 'owner', not 'HIDDEN'"),
        ({"resolution_type": "magic"}, "magic"),
        ({"error_codes": "ORA-00942"}, "error_codes must be a list of texts"),
        ({"error_codes": ["ORA-00942", "late"]}, "'late' is no error code, such as ORA-01652"),
        ({"error_codes": [942]}, "942 is no error code"),
        ({"validated_at": AT}, "validated_by must say who"),
        ({"environment": " "}, "environment must be a text"),
        ({"oracle_doc_id": "none"}, "oracle_doc_id"),
    ],
)
def test_what_cannot_be_kept_is_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Resolution(**({"title": "t", "fix": "f"} | arguments))


@pytest.mark.parametrize("name", RESOLUTION_TYPES)
def test_types_are_taken_however_they_are_written(name: str) -> None:
    for typed in (name, name.lower(), name.upper().replace(" ", "_")):
        assert Resolution(title="t", fix="f", resolution_type=typed).resolution_type == name
    own = Resolution(title="t", fix="f", resolution_type="patch applied", other_resolution_types=["Patch Applied"])
    assert own.resolution_type == "Patch Applied"


def test_codes_are_normalised() -> None:
    assert Resolution(title="t", fix="f", error_codes=["ora-942", "TNS 12541"]).error_codes == (
        "ORA-00942",
        "TNS-12541",
    )


def document(**row: Any) -> Any:
    given = {
        "id": 7, "tenant": "main", "collection": "resolutions", "title": "Title\nof two lines", "visibility": "SHARED",
        "owner": None, "by": None, "at": None, "recorded": AT, "metadata": None, "symptom": None, "analysis": None,
        "fix": "Do it.\n",
    } | row  # fmt: skip
    return ResolutionSource(Settings(), schema_on=lambda connection: "RAG").document(list(given.values()))


def test_a_row_becomes_a_text_with_a_head_of_one_line() -> None:
    assert document().text == "[RESOLUTION #7] Title of two lines\nFix: Do it.\n"
    assert dict(document().metadata) == {}
    named = document(symptom=" ORA-01652 ", analysis="see ORA-01653", metadata={"oracle_error_code": ["ORA-01653"]})
    assert named.text == (
        "[RESOLUTION #7] Title of two lines\nErrors: ORA-01653\nSymptom: ORA-01652\n\nAnalysis: see ORA-01653\n\nFix: Do it.\n"
    )
    assert named.metadata["oracle_error_code"] == ["ORA-01653", "ORA-01652"]
    assert named.occurred_at == AT


def test_a_validation_is_its_time_and_can_be_filtered() -> None:
    validated = document(by="ana", at=AT + dt.timedelta(days=1))
    assert validated.occurred_at == AT + dt.timedelta(days=1)
    assert validated.metadata["validated_by"] == "ana"
    assert document(visibility="OWNER", owner="7").visibility == "owner"
