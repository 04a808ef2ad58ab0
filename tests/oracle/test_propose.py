"""Sources proposed from the dictionary of a real database."""

from __future__ import annotations

import pytest

from tests.local.test_propose import (
    database,
    test_a_key_that_names_several_rows_is_found_out,
    test_a_table_with_all_that_is_around_it,
    test_people_are_not_shown_with_what_is_nobodys_business,
    test_rows_are_counted_up_to_a_bound_and_statistics_believed_where_they_are_many,
    test_several_tenants_and_a_key_of_several_columns,
    test_tables_without_a_key_and_views_are_refused_with_a_remedy,
    test_with_a_model_the_cost_is_measured_and_the_triggers_fire,
)

__all__ = [
    "database",
    "test_a_key_that_names_several_rows_is_found_out",
    "test_a_table_with_all_that_is_around_it",
    "test_people_are_not_shown_with_what_is_nobodys_business",
    "test_rows_are_counted_up_to_a_bound_and_statistics_believed_where_they_are_many",
    "test_several_tenants_and_a_key_of_several_columns",
    "test_tables_without_a_key_and_views_are_refused_with_a_remedy",
    "test_with_a_model_the_cost_is_measured_and_the_triggers_fire",
]

pytestmark = pytest.mark.oracle
