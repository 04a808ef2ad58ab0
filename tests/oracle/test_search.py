"""The tests of searching, on a real database."""

from __future__ import annotations

import pytest

from oraclerag.errors import InputError
from oraclerag.rag import Rag
from oraclerag.scope import Scope
from tests.local.conftest import Account
from tests.local.test_search import *  # noqa: F403

pytestmark = pytest.mark.oracle

# The local database refuses such a session, and its test replaces a literal instead.
del test_a_session_that_ignores_case_finds_nothing_and_is_told_why  # noqa: F821


def test_a_session_that_ignores_case_is_told_why(rag: Rag, module_account: Account) -> None:
    with module_account.connect() as connection:
        with connection.cursor() as cursor:
            cursor.execute("ALTER SESSION SET NLS_COMP = LINGUISTIC")
            cursor.execute("ALTER SESSION SET NLS_SORT = BINARY_CI")
        for tenant in ("main", "MAIN"):
            with pytest.raises(InputError, match=r"NLS_COMP=LINGUISTIC.*NLS_SORT"):
                rag.search("late payment", scope=Scope(tenant=tenant, manager=True), connection=connection)
