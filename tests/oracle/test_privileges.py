"""The rules of privileges, on a real database; its users are made by a DBA (see the fixture ``users``)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.local.test_privileges import World, test_rule
from tests.oracle.conftest import Users

__all__ = ["test_rule", "world"]

pytestmark = pytest.mark.oracle


@pytest.fixture
def world(users: Users) -> Iterator[World]:
    """Three users; the first owns a table."""
    a, b, c = users(*["GRANT DB_DEVELOPER_ROLE TO {}"] * 3)
    sessions = {letter: user.connect() for letter, user in zip("abc", (a, b, c), strict=True)}
    made = World(a, b, c, sessions)
    made.begin()
    yield made
    for connection in sessions.values():
        connection.close()
