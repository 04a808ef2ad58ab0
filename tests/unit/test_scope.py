"""A scope decides which predicate is built, and refuses what Oracle would read as something else."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.errors import InputError, MissingTenant
from oraclerag.scope import Scope

TENANT = "(c.TENANT_ID = :scope_tenant AND 'a' <> 'A')"


@pytest.mark.parametrize(
    ("scope", "sql", "binds"),
    [
        (Scope(tenant="acme"), f"{TENANT} AND (c.VISIBILITY = 'SHARED')", {}),
        (Scope(tenant="acme", manager=True), f"{TENANT} AND (c.VISIBILITY IN ('SHARED', 'OWNER'))", {}),
        (
            Scope(tenant="acme", owner="7"),
            f"{TENANT} AND (c.VISIBILITY = 'SHARED' OR (c.VISIBILITY = 'OWNER' AND c.OWNER_ID IN (:scope_principal0)))",
            {"scope_principal0": "7"},
        ),
        (
            Scope(tenant="acme", owner="7", groups=["team:ap", "7", "team:gl"]),
            (
                f"{TENANT} AND (c.VISIBILITY = 'SHARED' OR (c.VISIBILITY = 'OWNER' AND c.OWNER_ID IN "
                "(:scope_principal0, :scope_principal1, :scope_principal2, :scope_principal3)))"
            ),
            {
                "scope_principal0": "7",
                "scope_principal1": "team:ap",
                "scope_principal2": "team:gl",
                "scope_principal3": "team:gl",
            },
        ),
    ],
    ids=["anyone", "manager", "owner", "groups"],
)
def test_predicate_holds_only_what_the_role_needs(scope: Scope, sql: str, binds: dict[str, str]) -> None:
    assert scope.predicate() == (sql, {"scope_tenant": "acme"} | binds)


def test_a_manager_with_an_owner_sees_what_a_manager_sees() -> None:
    assert Scope(tenant="a", owner="7", manager=True).predicate() == Scope(tenant="a", manager=True).predicate()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"tenant": ""}, "tenant must not be empty"),
        ({"tenant": "  "}, "tenant must not be empty"),
        ({"tenant": "-"}, "stands for none"),
        ({"tenant": 7}, "tenant must be a text"),
        ({"tenant": "x" * 129}, "128 bytes"),
        ({"tenant": "a\0b"}, "NUL"),
        ({"tenant": "\ud800"}, "surrogate"),
        ({"owner": ""}, "owner must not be empty"),
        ({"owner": 7}, "owner must be a text"),
        ({"groups": "team:ap"}, "groups must be a list"),
        ({"groups": [""]}, "every group must not be empty"),
        ({"groups": [None]}, "every group must be a text"),
        ({"groups": {"a": 1}}, "groups must be a list"),
        ({"groups": [str(n) for n in range(1001)]}, "1,000 are the most"),
        ({"manager": "false"}, "manager must be True or False"),
        ({"manager": 1}, "manager must be True or False"),
        ({"manager": None}, "manager must be True or False"),
    ],
    ids=str,
)
def test_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        Scope(**arguments)


def test_the_default_tenant_is_meant_only_while_no_source_maps_one() -> None:
    assert Scope(owner="7").resolve("main", tenants_mapped=False) == Scope(tenant="main", owner="7")
    with pytest.raises(MissingTenant):
        Scope(owner="7", manager=True).resolve("main", tenants_mapped=True)
    named = Scope(tenant="acme", manager=True)
    assert named.resolve("main", tenants_mapped=True) is named


def test_no_predicate_without_a_tenant() -> None:
    with pytest.raises(MissingTenant):
        Scope(manager=True).predicate()


@given(
    owner=st.none()
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=30),
    groups=st.lists(st.text("abc'\");-", min_size=1, max_size=8), max_size=9),
    manager=st.booleans(),
)
def test_values_are_binds_and_binds_are_used(owner: str | None, groups: list[str], manager: bool) -> None:
    if owner is not None and (not owner.strip() or len(owner.encode()) > 128):
        owner = None
    sql, binds = Scope(tenant="t'--", owner=owner, groups=groups, manager=manager).predicate("x")
    assert set(re.findall(r":(\w+)", sql)) == set(binds)
    assert re.fullmatch(r"[A-Za-z0-9_.:,'() =<>]+", sql)
    assert sql.startswith("(x.TENANT_ID = :scope_tenant AND 'a' <> 'A') AND (")
    assert sql.count("(") == sql.count(")")
    seen = set(binds.values()) - {"t'--"}
    assert seen == (set() if manager else set(groups) | ({owner} if owner is not None else set())) - {"t'--"}
    assert "HIDDEN" not in sql


@pytest.mark.parametrize(("count", "size"), [(3, 4), (512, 512), (513, 1000), (1000, 1000)])
def test_no_list_of_principals_is_longer_than_a_database_takes(count: int, size: int) -> None:
    _, binds = Scope(tenant="acme", groups=[f"team:{number}" for number in range(count)]).predicate()
    assert len(binds) == 1 + size
    assert len(set(binds.values())) == 1 + count
