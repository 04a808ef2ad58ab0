"""docs/observability.md and docs/alerts.yml: what they name is what there is, and every alert says where to read on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from oraclerag.config import Settings
from oraclerag.database import Database
from oraclerag.metrics import Page
from oraclerag.metrics.figures import Figures
from oraclerag.metrics.refreshed import Refreshed
from oraclerag.queue import Glance, Waiting
from oraclerag.records import SourceCoverage
from oraclerag.telemetry import INSTRUMENTS
from tests.unit.test_metrics import parsed

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "observability.md"
TEXT = PAGE.read_text("utf-8")
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((ROOT / "docs" / "alerts.yml").read_text("utf-8"))["groups"]
    for rule in group["rules"]
]
# of the language itself; there is a test that every other word is a metric or a label
WORDS = {"absent", "and", "by", "max", "min", "on", "sum", "time"}


def rows(heading: str) -> list[list[str]]:
    """Give the rows of the table below a heading, cell by cell."""
    section = re.split(r"^#+ ", TEXT.partition(f"# {heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    table = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in table[1:]]


def named(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


@cache
def page() -> dict[str, set[tuple[str, str]]]:
    """Give a worker's page with everything on it: the names of metrics, and the labels that each has."""
    figures = Figures(cast("Database", None), {})
    waiting = [
        Waiting("task", lane, state, 1, 1, 1, 1, 1, 1.0) for lane in ("change", "bulk") for state in ("READY", "DEAD")
    ]  # fmt: skip
    figures._queue = Refreshed(lambda: Glance(tuple(cast("Any", waiting)), frozenset({"task"})), 60.0, patience=30.0)
    figures._coverage = Refreshed(lambda: {"task": SourceCoverage("task", 2, 1)}, 60.0, patience=30.0)
    made = Page(Settings(par_expires_at="2027-01-01"), figures, version="1")
    made.looked(worked=True)
    made.recorder.add("oraclerag.worker.failures", 1, {"error.type": "ENTITY", "scope": "entity"})
    found: dict[str, set[tuple[str, str]]] = {}
    for name, labels in parsed(made.text()):
        found.setdefault(re.sub(r"_(bucket|sum|count)$", "", name), set()).update(labels)
    return found


def labels_of(metric: str) -> set[str]:
    return {label for label, _ in page()[metric]} - {"le"}


def test_every_metric_of_the_page_is_listed_with_its_labels() -> None:
    listed = {}
    before: set[str] = set()
    for row in rows("Prometheus"):
        cells = [*row, "", ""]
        before = before if cells[2] == "the same" else named(cells[2])
        listed[cells[0].strip("`")] = before
    assert listed == {metric: labels_of(metric) for metric in page()}


def test_every_instrument_is_listed_with_its_labels() -> None:
    listed = {row[0].strip("`"): (row[1], named([*row, ""][2])) for row in rows("Metrics")}
    assert listed == {name: (one.unit, set(one.labels)) for name, one in INSTRUMENTS.items()}
    for one in INSTRUMENTS.values():
        for value in one.values:
            assert re.search(rf"`{re.escape(one.name)}`.*\b{value}\b", TEXT), value


def spans() -> Iterator[str]:
    """Give the names of all spans that the code makes."""
    for path in sorted((ROOT / "oraclerag").rglob("*.py")):
        if "telemetry" in path.parts:
            continue
        code = path.read_text("utf-8")
        for name in re.findall(r'telemetry\.span(?:ned)?\(\s*f?"([^"]+)"', code):
            if name != "oraclerag.{step}":
                yield re.sub(r"\{(?:self\.)?model\}", "MODEL", name)
        for step in re.findall(r'telemetry\.step(?:ping)?\("(\w+)"\)', code):
            yield f"oraclerag.worker.{step}"
        for step in re.findall(r'(?:\.timed\(|_timed\(timings, )"(\w+)"', code):
            yield f"oraclerag.{step}"


def test_every_span_is_listed_and_there_is_no_other() -> None:
    listed = [name for row in rows("Spans") for name in re.findall(r"`([^`]+)`", row[0])]
    assert len(listed) == len(set(listed)) > 20
    assert set(listed) == set(spans())


def test_every_attribute_is_listed() -> None:
    [table] = re.findall(r"### Spans\n(.*?)### Metrics", TEXT, re.DOTALL)
    code = [path.read_text("utf-8") for path in (ROOT / "oraclerag").rglob("*.py") if "telemetry" not in path.parts]
    told = "".join(text for text in code if re.search(r"import .*\btelemetry\b", text))
    attributes = set(re.findall(r'"((?:gen_ai|db|oraclerag)\.[a-z_.]+[a-z])"(?=: )', told)) - {"gen_ai.token.type"}
    assert len(attributes) > 20
    for attribute in attributes:
        assert f"`{attribute}`" in table or f"`…{attribute.rpartition('.')[2]}`" in table, attribute


def test_there_are_alerts_for_what_must_not_be_missed() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names))
    assert [row[0].strip("`") for row in rows("Alerts")] == names
    told = " ".join(rule["expr"] for rule in RULES)
    for metric in ("failing_rows", "oldest_age", 'state="dead"', "missing_entities", "par_expiry", "last_beat"):
        assert metric in told


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_an_alert_uses_metrics_and_labels_that_there_are(rule: dict[str, Any]) -> None:
    expression = rule["expr"]
    assert expression.count("(") == expression.count(")")
    assert re.search(r"[<>=]=? |^absent\(", expression), "it compares something"
    selectors = re.findall(r"([a-z_]{6,}[a-z])(?:\{([^}]*)\})?", re.sub(r"by \([^)]*\)", "", expression))
    metrics = [(name, matchers) for name, matchers in selectors if name not in WORDS]
    assert metrics
    for name, matchers in metrics:
        assert name in page(), name
        for label, value in re.findall(r'(\w+)="([^"]*)"', matchers):
            assert (label, value) in page()[name], f"{name} has no {label}={value}"
    for together in re.findall(r"by \(([^)]*)\)", expression):
        for label in together.split(", "):
            assert label == "instance" or any(label in labels_of(name) for name, _ in metrics), label
    words = set(re.findall(r"[a-z_]+", re.sub(r"\{[^}]*\}|by \([^)]*\)", "", expression)))
    assert words - WORDS == {name for name, _ in metrics}
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"\d+[mh]", rule.get("for", "1m"))
    assert rule["labels"]["severity"] in ("warning", "critical")
    said = rule["annotations"]
    assert set(said) == {"summary", "description", "runbook_url"}
    for variable in re.findall(r"\$labels\.(\w+)", said["summary"] + said["description"]):
        assert variable in re.findall(r"\w+", " ".join(re.findall(r"by \(([^)]*)\)", expression))), variable


def anchors(page: Path) -> set[str]:
    """Give the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(
        r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("rule", RULES, ids=[rule["alert"] for rule in RULES])
def test_an_alert_names_a_section_that_the_page_links_too(rule: dict[str, Any]) -> None:
    name, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert anchor in anchors(ROOT / name)
    [row] = [row for row in rows("Alerts") if row[0] == f"`{rule['alert']}`"]
    link = re.search(r"\]\(([^)]+)\)", row[2])
    assert link is not None
    assert link[1] == (f"#{anchor}" if name == "docs/observability.md" else f"{Path(name).name}#{anchor}")
