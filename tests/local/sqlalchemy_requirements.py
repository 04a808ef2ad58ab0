"""What SQLAlchemy's dialect suite may ask of Oracle 23ai through the dialect ``oracle+oracledb``.

The suite comes with SQLAlchemy (``sqlalchemy.testing.suite``); what holds for a database is said by whoever runs it.
Left out is what the local database refuses as a whole: temporary tables, two-phase commit.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

OPEN = """
    aggregate_order_by autocommit cast_precision_numerics_many_significant_digits check_constraint_reflection
    comment_reflection comment_reflection_full_unicode computed_columns computed_columns_virtual create_or_replace_view
    create_table_as ctes datetime_interval datetime_literals default_schema_name_switch deferrable_fks except_
    expression_server_defaults fetch_expression fetch_first fetch_no_order_by fetch_offset_with_options fetch_percent
    fetch_ties foreign_key_constraint_name_reflection foreign_key_constraint_option_reflection_ondelete identity_columns
    identity_columns_standard indexes_check_column_order indexes_with_expressions inline_check_constraint_reflection
    intersect isolation_level json_array_indexes json_type non_updating_cascade nullsordering nvarchar_types
    order_by_label_with_expression percent_schema_names precision_numerics_enotation_small
    precision_numerics_many_significant_digits reflect_indexes_with_ascdesc_as_expression
    reflect_indexes_with_expressions reflect_table_options reflects_pk_names regexp_match regexp_replace savepoints
    schemas server_defaults skip_autocommit_rollback supports_bitwise_and supports_bitwise_or supports_bitwise_xor
    timestamp_microseconds tuple_in unicode_ddl unique_constraints_reflect_as_index view_column_reflection
    view_reflection views window_functions window_range window_range_numeric
"""
CLOSED = """
    autoincrement_without_sequence binary_comparisons binary_literals datetime_microseconds empty_strings_text
    empty_strings_varchar expressions_against_unbounded_text on_update_cascade
    parens_in_union_contained_select_wo_limit_offset selectone symbol_names_w_double_quote temp_table_names
    temp_table_reflect_indexes temp_table_reflection temporary_tables temporary_views create_temp_table_as
    temp_table_comment_reflection has_temp_table time time_microseconds timestamp_microseconds_implicit_bound two_phase_transactions unbounded_varchar
"""


class Requirements(SuiteRequirements):
    """Of Oracle 23ai, as far as the local database goes."""

    def get_isolation_levels(self, _config: Any) -> dict[str, Any]:
        """Give the levels of the dialect."""
        return {"default": "READ COMMITTED", "supported": ["READ COMMITTED", "SERIALIZABLE", "AUTOCOMMIT"]}


def _answer(allowed: bool) -> property:
    rule: Any = exclusions.open if allowed else exclusions.closed
    return property(lambda _self: rule())


for _names, _allowed in ((OPEN, True), (CLOSED, False)):
    for _name in _names.split():
        setattr(Requirements, _name, _answer(_allowed))
