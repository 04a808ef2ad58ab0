"""The tests of evaluation and of what it reads of the search log, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_evaluate import *  # noqa: F403
from tests.local.test_evaluate_log import test_a_scope_is_given_what_it_may_see_of_the_log  # noqa: F401

pytestmark = pytest.mark.oracle
