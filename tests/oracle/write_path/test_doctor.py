"""Doctor on a real database: what is wrong is found there too, and the probe answers what documentation does not."""

from __future__ import annotations

import pytest

from oraclerag.doctor import examine, measure
from tests.local.write_path.test_doctor import (
    test_a_paused_source_is_found_and_its_changes_are_nobodys_fault,
    test_a_probe_that_breaks_leaves_no_table,
    test_a_worker_that_has_claimed_something_works,
    test_the_record_of_measurements_is_a_section_of_a_page,
    test_the_vector_index_is_missed_unusable_and_outgrown,
    test_what_is_wrong_is_found,
)
from tests.local.write_path.tracker import Tracker

__all__ = [
    "test_a_paused_source_is_found_and_its_changes_are_nobodys_fault",
    "test_a_probe_that_breaks_leaves_no_table",
    "test_a_worker_that_has_claimed_something_works",
    "test_the_record_of_measurements_is_a_section_of_a_page",
    "test_the_vector_index_is_missed_unusable_and_outgrown",
    "test_what_is_wrong_is_found",
]

pytestmark = pytest.mark.oracle


def test_nothing_fails_where_nothing_is_wrong(tracker: Tracker) -> None:
    assert [found for found in examine(tracker.database, tracker.sources).findings if found.state == "fail"] == []


def test_the_statements_that_matter_use_their_index(tracker: Tracker) -> None:
    tracker.enqueue(*range(50))
    measured = {one.name: one for one in measure(tracker.database)}
    assert measured["claim_index"].state == "ok", measured["claim_index"]
    assert [one for one in measured.values() if one.state == "fail"] == []


def test_what_is_locked_and_how_often_a_vector_is_computed_is_measured(tracker: Tracker) -> None:
    measured = {one.name: one for one in measure(tracker.database)}
    assert measured["fetch_locks"].state == "ok", measured["fetch_locks"]
    assert measured["query_vector"].state in ("ok", "warn")
    assert measured["bind_sizes"].state == "ok", measured["bind_sizes"]
