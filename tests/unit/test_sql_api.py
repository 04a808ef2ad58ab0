"""RAG_API: its statements are those that Python sends, word for word, with every bind in its place.

``python -m tests.unit.test_sql_api`` writes the golden file anew; read the difference before you keep it.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from oraclerag.errors import ConfigurationError
from oraclerag.scope import Scope
from oraclerag.search import compose, request
from oraclerag.setup.sql_api import BINDS, GROUPS, sql_api
from oraclerag.statements import Statements
from tests.unit.sqlplus import statements
from tests.unit.test_search_sql import model

GOLDEN = Path(__file__).parent / "golden" / "sql_api.sql"
SCRIPT = sql_api(model(), k=8)
SPECIFICATION, BODY = statements(SCRIPT)
CONSTANTS = dict(re.findall(r"(c_\w+) CONSTANT VARCHAR2\(32767\) := q'\[(.*?)\]';", BODY, re.DOTALL))
OPENED = {
    name: [word.strip() for word in using.split(",")]
    for name, using in re.findall(r"(?:OPEN v_hits FOR|IMMEDIATE) (c_\w+)\s+USING ([^;]+);", BODY)
}


def test_the_package_is_the_one_that_was_read() -> None:
    assert GOLDEN.read_text("utf-8") == SCRIPT


@pytest.mark.parametrize("kind", ["EXACT", "APPROX"])
@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("manager", Scope(tenant="acme", manager=True)),
        ("someone", Scope(tenant="acme", owner="7", groups=[f"team:{number}" for number in range(GROUPS)])),
        ("anyone", Scope(tenant="acme")),
    ],
)
def test_the_statements_are_those_that_python_sends(name: str, scope: Scope, kind: str) -> None:
    asked = request("late payments", scope, {"k": 8}, k=8, max_k=8)
    sent = compose(model(), asked, "late payments", kind=kind)  # type: ignore[arg-type]
    constant = f"c_{name}_{kind.lower()}"
    assert CONSTANTS[constant] == sent.text
    in_order = re.findall(r":(\w+)", re.sub(r"'[^']*'", "", sent.text))
    assert set(in_order) == set(sent.binds)
    assert OPENED[constant] == [BINDS[bind] for bind in in_order], "dynamic SQL binds by position"


def test_announcing_is_what_python_does() -> None:
    sent = Statements("enqueue", "RAG")["enqueue"]
    assert CONSTANTS["c_enqueue"] == sent
    assert OPENED["c_enqueue"] == [BINDS[bind] for bind in re.findall(r":(\w+)", sent)]


def test_every_statement_is_opened_and_every_argument_used() -> None:
    assert set(OPENED) == set(CONSTANTS)
    arguments = set(re.findall(r"\b(p_\w+) IN ", SPECIFICATION))
    for argument in arguments:
        assert len(re.findall(rf"\b{argument}\b", BODY)) > 1, f"{argument} is declared and not used"
    assert re.findall(r"\b(p_\w+ IN [^,\n]+)", SPECIFICATION) == re.findall(r"\b(p_\w+ IN [^,\n]+)", BODY)


def test_a_prefix_is_put_before_the_question() -> None:
    assert "v_question := p_question;" in BODY
    assert "v_question := 'it''s a query: ' || p_question;" in sql_api(model(prefix="it's a query: "), k=8)


def test_a_model_of_a_provider_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="SQL cannot embed"):
        sql_api(dataclasses.replace(model(), provider="openai"), k=8)


if __name__ == "__main__":
    GOLDEN.write_text(SCRIPT, "utf-8")
