"""A changed configuration is shown, then put in force; what is as it should be is left alone."""

from __future__ import annotations

import dataclasses

import pytest

from oraclerag import deploy, in_force, triggers
from oraclerag.deploy import Deployment
from oraclerag.errors import InputError
from oraclerag.source import Source, from_settings
from tests.local.write_path.tracker import TASK, Tracker

pytestmark = pytest.mark.one_size


def planned(tracker: Tracker, sources: dict[str, Source]) -> Deployment:
    return deploy.plan(tracker.database, list(sources.values()), tracker.settings)


def applied(tracker: Tracker, sources: dict[str, Source]) -> list[str]:
    """Plan and do it; gives what was said."""
    said: list[str] = []
    deploy.apply(
        tracker.database, list(sources.values()), tracker.settings, planned(tracker, sources), said=said.append
    )
    return said


def with_template(tracker: Tracker, text: str) -> dict[str, Source]:
    """Give the sources of a program that was deployed with another template."""
    changed = dataclasses.replace(TASK, template=text)
    return from_settings(dataclasses.replace(tracker.settings, sources=(changed,)))


def test_new_then_the_same_then_changed(tracker: Tracker) -> None:
    tracker.task(1, "One")
    tracker.task(2, "Two")
    first = planned(tracker, tracker.sources)
    [task] = [change for change in first.sources if change.source == "task"]
    assert (task.state, task.green, first.changes, first.triggers) == ("new", True, True, None)
    assert task.estimate is not None
    assert (task.estimate.entities, task.estimate.chunks) == (2, 2)
    assert tracker.queue() == []  # nothing was written
    assert in_force.read(tracker.connection, tracker.database.schema).fingerprints.get("task") is None

    assert applied(tracker, tracker.sources) == [
        "task: these settings are in force",
        "task: 2 to index and 0 gone enqueued",
    ]
    assert not planned(tracker, tracker.sources).changes
    assert applied(tracker, tracker.sources) == []
    tracker.drain_all()
    assert applied(tracker, tracker.sources) == []

    other = with_template(tracker, "{{ title }}, in other words\n")
    [task] = [change for change in planned(tracker, other).sources if change.source == "task"]
    assert (task.state, task.estimate is not None and task.estimate.entities) == ("changed", 2)
    applied(tracker, other)
    assert tracker.drain(sources=tracker.sources).claimed == 0  # a worker with the old settings leaves it alone
    tracker.drain(sources=other)
    assert tracker.texts() == {"1": ["One, in other words"], "2": ["Two, in other words"]}
    assert not planned(tracker, other).changes


def test_nothing_is_done_where_a_source_is_not_green(tracker: Tracker) -> None:
    tracker.task(1)
    broken = from_settings(dataclasses.replace(tracker.settings, sources=(dataclasses.replace(TASK, title="nothing"),)))
    found = planned(tracker, broken)
    assert not found.green
    assert [problem.code for problem in found.sources[0].problems if problem.severity == "error"] == ["COLUMN_MISSING"]
    assert found.sources[0].estimate is None
    with pytest.raises(InputError, match="Nothing was done: task is not green"):
        deploy.apply(tracker.database, list(broken.values()), tracker.settings, found)
    assert tracker.queue() == []


def test_a_pause_is_shown_and_ended_by_the_deployment_alone(tracker: Tracker) -> None:
    in_force.pause(tracker.connection, tracker.database.schema, "task", "TEMPLATE: it was broken")
    found = planned(tracker, tracker.sources)
    assert found.sources[0].paused == "TEMPLATE: it was broken"
    assert in_force.read(tracker.connection, tracker.database.schema).paused  # to look at it ends nothing
    assert "task: no longer paused" in applied(tracker, tracker.sources)
    assert not in_force.read(tracker.connection, tracker.database.schema).paused


def test_triggers_that_are_there_are_brought_up_to_date(tracker: Tracker) -> None:
    triggers.apply(tracker.database, triggers.plan(tracker.database, list(tracker.sources.values()), everything=True))
    try:
        assert planned(tracker, tracker.sources).triggers is not None
        applied(tracker, tracker.sources)
        assert not planned(tracker, tracker.sources).changes
        less = dataclasses.replace(TASK, tables={"task": "id"})
        without = from_settings(dataclasses.replace(tracker.settings, sources=(less,)))
        said = applied(tracker, without)
        assert said[0] == "triggers created, replaced or dropped: 2"
        names = [one.name for one in triggers.installed(tracker.connection, tracker.database.schema)]
        assert names == ["RAG_TASK$TASK"]
        other = dataclasses.replace(TASK, name="other")
        alone = from_settings(dataclasses.replace(tracker.settings, sources=(other,)))
        apart = planned(tracker, alone).triggers
        assert apart is not None
        assert apart.unwanted == ()  # they are another program's
        wrong = dataclasses.replace(TASK, tables={"task": "no_such_column"})
        refused = planned(tracker, from_settings(dataclasses.replace(tracker.settings, sources=(wrong,))))
        assert not refused.green
        assert [problem.code for problem in refused.sources[0].problems][-1] == "NO_TRIGGER"
    finally:
        triggers.apply(tracker.database, triggers.plan(tracker.database, [], everything=True))


def test_what_is_indexed_and_not_configured_is_said(tracker: Tracker) -> None:
    tracker.task(1)
    applied(tracker, tracker.sources)
    assert planned(tracker, {}).unknown == ("task",)
