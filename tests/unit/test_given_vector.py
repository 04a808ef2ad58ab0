"""A question's vector from elsewhere: what can be searched with, and what is refused before it is bound."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.errors import InputError
from oraclerag.scope import Scope
from oraclerag.search import request
from oraclerag.search.given_vector import checked_length, given_vector

FLOAT32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
SCOPE = Scope(tenant="acme")


@pytest.mark.parametrize(
    "make", [list, tuple, lambda v: array("d", v), np.array, lambda v: np.array(v, np.float32), iter]
)
@given(values=st.lists(FLOAT32, min_size=1).filter(any))
def test_numbers_of_any_kind_are_the_same_vector(make: Any, values: list[float]) -> None:
    assert given_vector(make(values)) == array("f", values)


@pytest.mark.parametrize(
    ("vector", "says"),
    [
        ([0.1, math.nan, 0.2], "place 1 is not a finite"),
        ([math.inf, 0.1], "place 0 is not a finite"),
        ([0.1, -math.inf], "place 1 is not a finite"),
        ([1e300, 0.1], "place 0 is not a finite"),
        ([10**400], "place 0 cannot be a FLOAT32"),
        ([0.1, None], "place 1 is no number, but NoneType"),
        ([0.1, "0.2"], "place 1 is no number, but str"),
        ([True, 0.1], "place 0 is no number, but bool"),
        ([[0.1, 0.2]], "place 0 is no number, but list"),
        (np.ones((2, 3)), "place 0 cannot be a FLOAT32"),
        ("[0.1, 0.2]", "not str"),
        (b"\0\0\0\0", "not bytes"),
        (7, "not int"),
        ([], "is empty"),
        ([0.0, -0.0], "all zeros"),
        ([1e-60], "all zeros"),
    ],
)
def test_what_is_no_direction_is_refused(vector: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        given_vector(vector)


def test_another_length_than_the_models_is_refused() -> None:
    with pytest.raises(InputError, match="383 numbers, but the model in force, MINILM, makes 384"):
        checked_length(array("f", [0.1] * 383), 384, "MINILM")


def test_a_question_may_be_empty_beside_a_vector_only() -> None:
    asked = request("", SCOPE, {"vector": [0.5, 0.25]}, k=8, max_k=100)
    assert (asked.question, asked.vector) == ("", array("f", [0.5, 0.25]))
    assert "0.25" not in repr(asked)
    for vector in ({}, {"vector": None}):
        with pytest.raises(InputError, match="empty"):
            request("", SCOPE, vector, k=8, max_k=100)  # type: ignore[arg-type]


def test_the_question_beside_a_vector_counts_for_its_codes() -> None:
    assert request("ORA-01652 again", SCOPE, {"vector": [1.0]}, k=8, max_k=100).codes == ("ORA-01652",)
