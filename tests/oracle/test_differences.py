"""What a real database does with the statements that show where the local one differs from it.

The statements are those of the local database's own tests, so the two cannot drift apart. What is expected is what
Oracle documents.
"""

from __future__ import annotations

import pytest

from tests.local.conftest import Account
from tests.local.differences_cases import CASES, REFUSALS, Case, Refusal, outcome, run
from tests.local.test_differences import BINDS_AS_LONG
from tests.oracle.conftest import Users

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_oracle_does_it_the_other_way(case: Case, account: Account) -> None:
    if case.bound_as_long and not BINDS_AS_LONG:
        pytest.skip("this driver binds a text for a CLOB as a temporary LOB")
    with account.connect() as connection:
        run(connection, *case.setup)
        seen = case.probe(connection, account.connect)
    assert case.oracle(seen) if callable(case.oracle) else seen == case.oracle


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.what)
def test_oracle_takes_it(refusal: Refusal, account: Account) -> None:
    with account.connect() as connection:
        run(connection, *refusal.setup)
        assert outcome(connection, refusal.statement) in refusal.oracle


def test_a_quota_is_needed(users: Users) -> None:
    (one,) = users("GRANT CREATE SESSION, CREATE TABLE TO {}", quota="0")
    with one.connect() as connection:
        run(connection, "CREATE TABLE t (a NUMBER)")
        assert outcome(connection, "INSERT INTO t VALUES (1)") == 1950


def test_a_trigger_loses_the_rights_of_its_owner(users: Users) -> None:
    one, two = users("GRANT DB_DEVELOPER_ROLE TO {}", "GRANT DB_DEVELOPER_ROLE TO {}")
    with one.connect() as connection, two.connect() as beside:
        run(beside, "CREATE TABLE log (x NUMBER)", f"GRANT INSERT ON log TO {one.user}")
        run(
            connection,
            "CREATE TABLE t (x NUMBER)",
            f"CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW BEGIN INSERT INTO {two.user}.log VALUES (:NEW.x); END;",
        )
        run(beside, f"REVOKE INSERT ON log FROM {one.user}")
        assert outcome(connection, "INSERT INTO t VALUES (1)") == 4098


def test_a_default_takes_a_right_on_its_sequence(users: Users) -> None:
    one, two = users("GRANT DB_DEVELOPER_ROLE TO {}", "GRANT DB_DEVELOPER_ROLE TO {}")
    with one.connect() as connection, two.connect() as beside:
        run(
            beside,
            "CREATE SEQUENCE s",
            "CREATE TABLE t (id NUMBER DEFAULT s.NEXTVAL, x NUMBER)",
            f"GRANT INSERT ON t TO {one.user}",
        )
        assert outcome(connection, f"INSERT INTO {two.user}.t (x) VALUES (1)") in {942, 1031, 2289, 41900}
