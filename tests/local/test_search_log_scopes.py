"""Who sees what of the search log: every read of it against a rule in Python, for many scopes and many who asked."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence

import oracledb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oraclerag import Scope
from oraclerag.errors import InputError
from oraclerag.rag import Rag
from oraclerag.records import LoggedSearch, Turn
from tests.local.conftest import Account
from tests.local.library import settings_of

pytestmark = pytest.mark.one_size

TENANTS = ("acme", "ACME", "acme ", "globex")
NAMES = ("7", "8", " 7", "team:ap", "TEAM:AP", "%", "7' OR '1'='1", "é" * 64, '"', "\\", "null")
ASKERS = [
    Scope(tenant=tenant, owner=owner, groups=groups, manager=manager)
    for tenant in TENANTS[:2]
    for owner in (None, "7", "8", "%")
    for groups in ((), ("team:ap",), ("7",), ("team:ap", "8"), NAMES)
    for manager in (False, True)
] + [Scope(tenant=tenant, owner=name) for tenant in TENANTS for name in NAMES]

SCOPES = st.builds(
    Scope,
    tenant=st.sampled_from(TENANTS),
    owner=st.none() | st.sampled_from(NAMES),
    groups=st.lists(st.sampled_from(NAMES), unique=True),
    manager=st.sampled_from((False, False, False, True)),
)


def sees(scope: Scope, asker: Scope) -> bool:
    """Say whether a scope is equal to the one that asked, or wider."""
    if scope.tenant != asker.tenant:
        return False
    return scope.manager or (not asker.manager and set(asker.principals) <= set(scope.principals))


def same(scope: Scope, asker: Scope) -> bool:
    return (scope.tenant, scope.owner, scope.manager, set(scope.principals)) == (
        asker.tenant, asker.owner, asker.manager, set(asker.principals),
    )  # fmt: skip


@pytest.fixture(scope="module")
def rag(module_account: Account) -> Iterator[Rag]:
    with Rag(settings_of(module_account)) as opened:
        opened.migrate()
        with opened.database.transaction() as connection, connection.cursor() as cursor:
            for number, asker in enumerate(ASKERS):
                # what nobody asked as somebody has an empty list, or none
                principals = sorted(asker.principals) if asker.principals or number % 2 else None
                cursor.setinputsizes(asked_as=oracledb.DB_TYPE_JSON)
                cursor.execute(
                    "INSERT INTO RAG_SEARCH (TENANT_ID, KIND, ASKED_BY, ASKED_ROLE, ASKED_AS, SESSION_NAME, QUESTION, "
                    "OUTCOME) VALUES (:tenant, 'ask', :owner, :role, :asked_as, 'talk', :question, 'answered')",
                    tenant=asker.tenant, owner=asker.owner, role=asker.role, asked_as=principals, question=str(number),
                )  # fmt: skip
        yield opened


def numbers(found: Sequence[LoggedSearch | Turn]) -> list[int]:
    return sorted(int(str(one.question)) for one in found)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scope=SCOPES)
def test_a_scope_sees_what_it_or_a_narrower_one_asked(rag: Rag, scope: Scope) -> None:
    expected = [number for number, asker in enumerate(ASKERS) if sees(scope, asker)]
    assert numbers(rag.searches.list(scope=scope, limit=1000)) == expected


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scope=SCOPES | st.sampled_from(ASKERS))
def test_a_conversation_has_the_turns_of_who_is_the_same(rag: Rag, scope: Scope) -> None:
    expected = [number for number, asker in enumerate(ASKERS) if same(scope, asker)]
    assert numbers(rag.searches.turns("talk", scope=scope, last=100)) == expected


def test_the_askers_tell_the_rules_apart() -> None:
    """The properties above would prove nothing if most scopes saw nothing, or all of a tenant."""
    seen = {scope: sum(sees(scope, asker) for asker in ASKERS) for scope in ASKERS}
    assert len(set(seen.values())) > 8
    assert any(same(one, other) for one, other in itertools.combinations(ASKERS, 2))


def test_a_broken_entry_is_seen_by_managers_alone(rag: Rag) -> None:
    """What says that it is of somebody and has no list of whom is not of everybody."""
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        for asked_as in (None, [], [None], [["7"]], {"a": "7"}, "7", ["7", "x" * 200]):
            cursor.execute(
                "INSERT INTO RAG_SEARCH (TENANT_ID, KIND, ASKED_ROLE, ASKED_AS, QUESTION, OUTCOME) "
                "VALUES ('broken', 'ask', 'principal', :asked_as, :question, 'answered')",
                asked_as=None if asked_as is None else json.dumps(asked_as), question=json.dumps(asked_as),
            )  # fmt: skip
    assert len(rag.searches.list(scope=Scope(tenant="broken", manager=True))) == 7
    assert [one.question for one in rag.searches.list(scope=Scope(tenant="broken", owner="7"))] == ['"7"']
    assert rag.searches.list(scope=Scope(tenant="broken")) == []


def test_what_is_not_seen_and_what_is_not_there_look_alike(rag: Rag) -> None:
    mine = Scope(tenant="acme", owner="8")
    [of_another] = [
        one.search_id for one in rag.searches.list(scope=Scope(tenant="globex", manager=True)) if one.asked_by == "7"
    ]
    [of_a_colleague] = [
        one.search_id
        for one in rag.searches.list(scope=Scope(tenant="acme", manager=True), limit=1000)
        if (one.asked_as, one.asked_role, one.asked_by) == (("7",), "principal", None)
    ]
    told = set()
    for number in (of_another, of_a_colleague, 10**15):
        for call in (
            lambda number: rag.searches.show(number, scope=mine),
            lambda number: rag.searches.replay(number, scope=mine),
            lambda number: rag.feedback(number, good=True, scope=mine),
        ):
            with pytest.raises(InputError) as refused:
                call(number)
            told.add(str(refused.value).replace(str(number), "N"))
    assert told == {"There is no logged search N of the tenant 'acme' that this scope sees."}
