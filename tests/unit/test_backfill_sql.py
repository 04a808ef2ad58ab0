"""The statements of backfill and audit, composed of a source's own query, against golden files.

``python -m tests.unit.test_backfill_sql`` writes the golden files anew; read the difference before you keep it.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any, cast

import oracledb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.audit.run import _Audit
from oraclerag.backfill.selection import Query, Selection
from oraclerag.errors import InputError
from oraclerag.model.active import ActiveModel
from oraclerag.model.tokens import TokenBound
from oraclerag.source import FunctionSource, Source
from oraclerag.source.ranges import KeyRange, ends_of
from oraclerag.statements import Statements

GOLDEN = Path(__file__).parent / "golden"
SQL = Statements("backfill", "RAG")
NOWHERE = cast("oracledb.Connection", None)  # nothing is sent
MODEL = ActiveModel(
    name="TINY", physical_name="TINY_0A1B2C3D", schema="RAG", column="EMBEDDING", dimensions=4, max_tokens=256,
    query_prefix="", passage_prefix="", counter=TokenBound(),
)  # fmt: skip
MIDDLE = KeyRange("199999", "249999")


class Enumerated(FunctionSource):
    """A source whose query is known without a database."""

    def enumeration(self, connection: oracledb.Connection) -> str:
        tenant = 'TO_CHAR(q."TENANT_ID")' if self.maps_tenant else "NULL"
        return f'SELECT q."SOURCE_ID" AS SOURCE_ID, {tenant} AS TENANT_ID FROM (\nselect * from task\n) q'


def source(*, tenants: bool = False) -> Source:
    return Enumerated("task", lambda *_: {}, visibility="shared", ids="-", tenants=tenants)


def selection(*, tenants: bool = False, tenant: str | None = None) -> Selection:
    return Selection(NOWHERE, SQL, source(tenants=tenants), tenant=tenant, fingerprint="f", column="EMBEDDING")


def enqueue(query: Query) -> Query:
    return SQL.with_names("enqueue", wanted=f"\n{query[0]}\n"), query[1] | {"action": "UPSERT"}


def audit_of(*, tenant: str | None = None) -> _Audit:
    of = source(tenants=tenant is not None)
    return _Audit(NOWHERE, "RAG", of, MODEL, tenant=tenant, examples=5, repair=False)


def cases() -> dict[str, Query]:
    plain, mapped, acme = selection(), selection(tenants=True), selection(tenants=True, tenant="acme")
    missing = plain.new(plain.wanted(MIDDLE, everything=False), given_up=True)
    seldom = mapped.new(mapped.wanted(KeyRange(None, "49999"), everything=False), given_up=False)
    everything = acme.new(acme.wanted(KeyRange("949999", None), everything=True), given_up=True)
    damaged, binds = plain.damaged(MIDDLE, thoroughly=True)
    incomplete, its = acme.damaged(KeyRange(), thoroughly=False)
    whole = audit_of()._there(KeyRange())
    return {
        "backfill_missing": enqueue(missing),
        "backfill_missing_not_given_up": enqueue(seldom),
        "backfill_everything_of_a_tenant": enqueue(everything),
        "backfill_gone": enqueue(plain.new(plain.gone(MIDDLE), given_up=True)),
        "backfill_gone_of_tenants": enqueue(mapped.new(mapped.gone(KeyRange()), given_up=True)),
        "backfill_gone_of_a_tenant": enqueue(acme.new(acme.gone(MIDDLE), given_up=True)),
        "backfill_forget": (SQL.with_names("forget", damaged=f"\n{damaged}\n"), binds),
        "backfill_forget_of_a_tenant": (SQL.with_names("forget", damaged=f"\n{incomplete}\n"), its),
        "backfill_rehash": (SQL.with_names("rehash", damaged=f"\n{damaged}\n"), binds),
        "backfill_ranges": (ends_of(whole[0]), whole[1] | {"most_bytes": 400, "range_rows": 50_000}),
        "audit_ids": audit_of()._there(MIDDLE),
        "audit_gone_of_a_tenant": audit_of(tenant="acme")._gone(MIDDLE),
        "audit_drawn": (
            Statements("audit", "RAG").with_names("drawn", enumeration=f"\n{whole[0]}\n"),
            whole[1] | {"seed": 1, "how_many": 100},
        ),
    }


CASES = cases()


@pytest.mark.parametrize("case", CASES)
def test_statements_are_the_golden_ones(case: str) -> None:
    text, binds = CASES[case]
    assert text + "\n" == (GOLDEN / f"{case}.sql").read_text("utf-8")
    assert set(re.findall(r":([a-z_]+)", text)) == set(binds), "binds and names agree"
    assert text.count("(") == text.count(")")


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True, max_size=20),
    st.text(min_size=1),
)
def test_ranges_between_any_ends_hold_every_id_once(ends: list[str], key: str) -> None:
    bounds: list[Any] = [None, *sorted(ends), None]
    ranges = [KeyRange(*pair) for pair in itertools.pairwise(bounds)]
    holding = [
        one for one in ranges if (one.after is None or key > one.after) and (one.upto is None or key <= one.upto)
    ]
    assert len(holding) == 1


def test_a_range_without_ends_leaves_a_query_as_it_is() -> None:
    assert KeyRange().of("SELECT 1 FROM dual") == ("SELECT 1 FROM dual", {})
    assert KeyRange(None, "b").of("Q")[1] == {"range_upto": "b"}


@pytest.mark.parametrize(("tenants", "tenant"), [(True, "-"), (False, "-"), (False, "acme")])
def test_tenants_that_a_source_cannot_have_are_refused(tenants: bool, tenant: str) -> None:
    with pytest.raises(InputError):
        source(tenants=tenants).narrowed(tenant)


def test_a_source_is_narrowed_where_it_maps_tenants() -> None:
    assert source(tenants=True).narrowed("acme") == "acme"
    assert source().narrowed("main") is None
    assert source().narrowed(None) is None


if __name__ == "__main__":
    for name, (statement, _) in CASES.items():
        (GOLDEN / f"{name}.sql").write_text(statement + "\n", "utf-8")
