"""Whatever is read of the search log, or taken out of it, for a tenant is that tenant's; no session makes it another's."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from oraclerag import Scope
from oraclerag.errors import MissingTenant
from oraclerag.searches.purge import _which as purged
from oraclerag.searches.statistics import _which as counted
from oraclerag.searches.visible import own, visible

SCOPES = (
    Scope(tenant="acme"),
    Scope(tenant="acme", owner="ada", groups=("ap",)),
    Scope(tenant="acme", groups=("ap",)),
    Scope(tenant="acme", manager=True),
)


@pytest.mark.parametrize(
    "made",
    [
        *(visible(scope) for scope in SCOPES),
        *(own(scope) for scope in SCOPES),
        counted("acme", None),
        counted("acme", dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
        purged(dt.timedelta(0), "acme", texts_only=False),
        purged(dt.timedelta(0), "acme", texts_only=True),
    ],
)
def test_a_tenant_is_compared_where_letters_differ_from_capitals_alone(made: tuple[str, dict[str, Any]]) -> None:
    """A session with NLS_COMP = LINGUISTIC and NLS_SORT = BINARY_CI takes 'acme' and 'ACME' for equal."""
    text, binds = made
    assert "(s.TENANT_ID = :asker_tenant AND 'a' <> 'A')" in text.split(" OR ")[0]
    assert binds["asker_tenant"] == "acme"
    assert "acme" not in text, "a value is a bind"


def test_a_scope_without_a_tenant_sees_nothing() -> None:
    for predicate in (visible, own):
        with pytest.raises(MissingTenant):
            predicate(Scope(manager=True))
