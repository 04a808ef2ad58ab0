"""The tests of loading and using models, on a real database."""

from __future__ import annotations

import pytest

from tests.local.test_model_database import *  # noqa: F403

pytestmark = pytest.mark.oracle

# They make a directory of this machine, and the file would have to lie on the host of the database.
del test_from_a_directory, test_a_file_that_only_the_database_sees  # noqa: F821
