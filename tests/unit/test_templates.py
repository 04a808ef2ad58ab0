"""The three chunk texts of the task tracker, to the letter, and how templates fail."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

import oraclerag.demo
from oraclerag.errors import EntityError, TemplateError
from oraclerag.source.template import Row, Template

FOLDER = Path(oraclerag.demo.__file__).parent / "templates"
day = dt.datetime.fromisoformat

TASK: dict[str, Any] = {
    "source_id": 42,
    "title": "Late payments",
    "status": "IN_PROGRESS",
    "priority": "HIGH",
    "sprint": "Closing the books",
    "project": "Accounts Payable",
    "assignee_id": 7,
    "assignee_first_name": "Lucía",
    "assignee_last_name": "Ferrer",
    "story_points": 5,
    "estimated_hours": 7.5,
    "expected_end_date": day("2026-03-31T00:00:00"),
    "description": "Suppliers wait for their money.",
    "comments": [Row({"body": "The bank was asked."}), Row({"body": "Contesta mañana."})],
}
NOTHING = dict.fromkeys(TASK, None) | {
    "source_id": 7,
    "title": "Bare",
    "status": "TODO",
    "priority": "LOW",
    "comments": [],
}

SPRINT: dict[str, Any] = {
    "source_id": 3,
    "name": "Closing the books",
    "status": "ACTIVE",
    "project": "Accounts Payable",
    "start_date": day("2026-03-02T00:00:00"),
    "end_date": day("2026-03-27T00:00:00"),
    "goal": "Every invoice is paid on time.",
}
PROJECT: dict[str, Any] = {
    "source_id": 1,
    "name": "Accounts Payable",
    "status": "ACTIVE",
    "start_date": day("2026-01-12T00:00:00"),
    "end_date": day("2026-09-30T00:00:00"),
    "description": "Replace the invoice process.",
}


@pytest.mark.parametrize(
    ("file", "row", "text"),
    [
        pytest.param(
            "task.j2",
            TASK,
            """[TASK #42] Late payments
Status: IN_PROGRESS | Priority: HIGH | Sprint: Closing the books
Project: Accounts Payable
Assignee: Lucía Ferrer
Story points: 5
Estimated hours: 7.5
Due: 2026-03-31
Description: Suppliers wait for their money.
Comments:
- The bank was asked.
- Contesta mañana.""",
            id="a task with everything",
        ),
        pytest.param(
            "task.j2",
            NOTHING,
            """[TASK #7] Bare
Status: TODO | Priority: LOW | Sprint: none
Project: none
Assignee: unassigned
Due: -
Description: -
Comments:""",
            id="a task with nothing",
        ),
        pytest.param(
            "task.j2",
            NOTHING | {"story_points": 0},
            """[TASK #7] Bare
Status: TODO | Priority: LOW | Sprint: none
Project: none
Assignee: unassigned
Story points: 0
Due: -
Description: -
Comments:""",
            id="no points is not zero points",
        ),
        pytest.param(
            "sprint.j2",
            SPRINT,
            """[SPRINT #3] Closing the books (ACTIVE)
Project: Accounts Payable
Dates: 2026-03-02 -> 2026-03-27
Goal: Every invoice is paid on time.""",
            id="a sprint with everything",
        ),
        pytest.param(
            "sprint.j2",
            SPRINT | {"project": None, "goal": None},
            """[SPRINT #3] Closing the books (ACTIVE)
Project: none
Dates: 2026-03-02 -> 2026-03-27
Goal: -""",
            id="a sprint without project and goal",
        ),
        pytest.param(
            "project.j2",
            PROJECT,
            """[PROJECT #1] Accounts Payable (ACTIVE)
Dates: 2026-01-12 -> 2026-09-30
Description: Replace the invoice process.""",
            id="a project with everything",
        ),
        pytest.param(
            "project.j2",
            PROJECT | {"description": "  \n "},
            """[PROJECT #1] Accounts Payable (ACTIVE)
Dates: 2026-01-12 -> 2026-09-30""",
            id="a project with a blank description",
        ),
    ],
)
def test_the_texts_of_the_tracker(file: str, row: dict[str, Any], text: str) -> None:
    assert Template((FOLDER / file).read_text("utf-8"), "source 'x'").render(row) == text


def test_values_are_text_and_never_markup_or_template() -> None:
    template = Template("{{ title }}", "source 'x'")
    assert template.render({"title": "<b>{{ 7 * 7 }}</b> & co"}) == "<b>{{ 7 * 7 }}</b> & co"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ titel }}", "'titel'"),
        ("{% for c in comments %}{{ c.boddy }}{% endfor %}", "'boddy' is no column of the children"),
        ("{% if titel %}x{% endif %}", "'titel'"),
        ("{{ titel | date }}", "'titel'"),
        ("{{ title.__class__ }}", "may not|not there"),
    ],
)
def test_a_name_that_is_not_there_concerns_the_source(text: str, words: str) -> None:
    row = {"title": "a", "comments": [Row({"body": "b"})]}
    with pytest.raises(TemplateError, match=words):
        Template(text, "source 'x'").render(row)


@pytest.mark.parametrize("text", ["{{ title", "{% if %}", "line\n{% endfor %}", "{{ title | nofilter }}"])
def test_a_text_that_is_no_template_names_its_place(text: str) -> None:
    with pytest.raises(TemplateError, match=r"The template of source 'x' is not valid in line \d"):
        Template(text, "source 'x'")


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("{{ 1 // points }}", {"points": 0}),
        ("{{ due.year }}", {"due": None}),
        ("{{ points + 1 }}", {"points": "secret"}),
        ("{{ points | date }}", {"points": "secret"}),
    ],
)
def test_a_value_that_does_not_fit_concerns_the_entity_and_is_not_repeated(text: str, row: dict[str, Any]) -> None:
    with pytest.raises(EntityError) as caught:
        Template(text, "source 'x'").render(row)
    assert "secret" not in str(caught.value)


def test_a_template_knows_its_names() -> None:
    assert Template("{% for c in comments %}{{ c.body }}{{ title }}{% endfor %}", "x").names == {"comments", "title"}
