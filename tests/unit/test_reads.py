"""What a SELECT reads, found by its words: tables, columns, and what is not understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.source.reads import bind_spans, columns_read, is_query, reads

TABLES = [
    ("select * from task t left join sprint s on s.id = t.sprint_id", ["TASK", "SPRINT"]),
    ("select * from app.task, sprint where 'from x' = 'y' -- from nowhere", ["APP.TASK", "SPRINT"]),
    ("select (select max(id) from comment_) m from (select id from task) q", ["TASK", "COMMENT_"]),
    ("select a from t group by a, b order by a, c", ["T"]),
    ('select 1 from "Mixed" m, other o, "Own er"."Tab.le"', ["Mixed", "OTHER", "Own er.Tab.le"]),
    ("select extract(year from due), trim(both 'x' from y) from task", ["TASK"]),
    ("select q'[from a, b]' x, 'it''s from c' from d /* from e */", ["D"]),
    ("select 1 from dual", []),
    ("select t.a from t t, lateral (select b from u where u.x = t.x) v", ["T", "U"]),
    ("select * from t cross apply (select 1 from u) cross join v", ["T", "U", "V"]),
    ("select * from (t join u on t.a = u.a) join v using (b), w", ["T", "U", "V", "W"]),
    ("select * from ((select a from t) union (select b from u)) x join v on x.a = v.a", ["T", "U", "V"]),
    ("select a from t union all select b from u minus (select c from v) order by 1", ["T", "U", "V"]),
    ("(select a from t)", ["T"]),
    ("with a as (select x from t), b (y) as (select x from a) select * from a, b join u on 1 = 1", ["T", "U"]),
    ("with r (n) as (select id from t union all select u.id from r join u on u.up = r.n) select n from r", ["T", "U"]),
    ("with t as (select 1 from u) select * from t where exists (select 1 from t)", ["U"]),
    ("select case when exists (select 1 from u where u.a = t.a) then 1 end from t", ["T", "U"]),
    ("select a from t where b in (select b from u) and (c, d) in ((1, 2)) having max(e) > (select f from v)", ["T", "U", "V"]),
    ("select a from t partition (p1) x left outer join u sample (5) on x.a = u.a", ["T", "U"]),
    ("select * from t pivot (sum(a) for b in (1, 2)) p join u on p.x = u.x", ["T", "U"]),
    ("select j.a from t, json_table(t.doc, '$[*]' columns (a number path '$.a')) j", ["T"]),
    ("select distinct a from t natural join u fetch first 3 rows only", ["T", "U"]),
    ("select a from t full join u on t.a = u.a right join v on v.a = u.a for update of t.a", ["T", "U", "V"]),
    ('select a from t where b = :from and c = :"x"', ["T"]),
    ("select from_ from t", ["T"]),
    ("SELECT /*+ FULL(t) */ t.A FROM Task T WHERE t.A = N'x'", ["TASK"]),
]  # fmt: skip


@pytest.mark.parametrize(("select", "tables"), TABLES)
def test_the_tables_that_a_select_reads(select: str, tables: list[str]) -> None:
    found = reads(select)
    assert found.unclear == []
    assert [str(name) for name in found.tables] == tables


@pytest.mark.parametrize(
    ("select", "words"),
    [
        ("select a from t@there", "T@THERE, in another database"),
        ("select a from table(items(1))", "the function TABLE in FROM"),
        ("select a from items(1) i", "the function ITEMS in FROM"),
        ("select a from t as of timestamp sysdate - 1", "a flashback query"),
        ("with function f return number is begin return 1; end; select f from t", "a function in WITH"),
        ("update t set a = 1", "near 'UPDATE T SET A'"),
        ("select a from", "the end of the text"),
        ("select a from 'x'", "the end of the text"),
        ("", "the end of the text"),
    ],
)
def test_what_is_not_understood_is_said(select: str, words: str) -> None:
    assert any(words in text for text in reads(select).unclear), reads(select).unclear


def used(select: str, table: str, *columns: str) -> dict[str, set[str]] | None:
    found = columns_read(reads(select), lambda name: name.name == table, columns)
    return None if found is None else {name: set(feeds) for name, feeds in found.items()}


def test_the_columns_of_a_table_and_what_they_feed() -> None:
    select = (
        "select t.id as source_id, upper(t.title) as title, t.note || s.note as note, s.name sprint, p.tenant_id,"
        " (select max(e.boss) from employee e where e.id = t.assignee_id) as owner, t.doc.kind.word, status"
        " from task t left join sprint s on s.id = t.sprint_id and s.live = 1 join project p on p.id = t.project_id"
        " where p.secret = 0 and t.gone is null"
    )
    names = ("ID", "TITLE", "NOTE", "NAME", "SPRINT_ID", "PROJECT_ID", "ASSIGNEE_ID", "GONE", "DOC", "STATUS", "UNUSED")
    assert used(select, "TASK", *names) == {
        "ID": {"SOURCE_ID"},
        "TITLE": {"TITLE"},
        "NOTE": {"NOTE"},
        "ASSIGNEE_ID": {"OWNER"},
        "DOC": {"WORD"},
        "STATUS": {"STATUS"},
        "SPRINT_ID": {"+"},
        "PROJECT_ID": {"*"},
        "GONE": {"*"},
    }
    assert used(select, "SPRINT", "ID", "NAME", "NOTE", "LIVE", "GOAL") == {
        "ID": {"+"},
        "LIVE": {"+"},
        "NAME": {"SPRINT"},
        "NOTE": {"NOTE"},
    }
    assert used(select, "PROJECT", "ID", "TENANT_ID", "SECRET", "NAME") == {
        "ID": {"*"},
        "TENANT_ID": {"TENANT_ID"},
        "SECRET": {"*"},
    }
    assert used(select, "EMPLOYEE", "ID", "BOSS", "NAME") == {"BOSS": {"OWNER"}, "ID": {"OWNER"}}
    assert used(select, "OTHER", "ID") is None


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("select * from t", {"A": {"A"}, "B": {"B"}}),
        ("select t.*, 1 as one from t join u on t.x = u.x", {"A": {"A"}, "B": {"B"}}),
        ("select u.* from t join u on t.x = u.x", {}),
        ("select a from (select * from t) q", {"A": {"*"}, "B": {"*"}}),
        ("select x from t natural join u", {"A": {"*"}, "B": {"*"}}),
        ("select a as b from t", {"A": {"B"}}),
        ("select x as key from t union all select b from t", {"B": {"KEY"}}),
        ("select u.a from t join u on t.b = u.b", {"B": {"*"}}),
        ("select s.t.a from s.t", {"A": {"A"}}),
        ("select v.a from t where x in (select v.b from v)", {"A": {"A"}}),  # of an alias that nobody knows
        ("select x from t where exists (select 1 from u where u.c = a)", {"A": {"*"}}),
        ("with q as (select a from t) select b from q", {"A": {"*"}}),
        ("select not a from t", {"A": {"A"}}),
        ("select t.a heading from t", {"A": {"HEADING"}}),
        ("select count(*) n from t", {}),
        ("select 1 from f(x), t", None),
    ],
)
def test_columns_in_every_place(select: str, expected: dict[str, set[str]] | None) -> None:
    assert used(select, "T", "A", "B") == expected


def test_binds_are_found_outside_of_texts_and_comments() -> None:
    text = "select ':a' from t -- :b\n where x = :c and \"y:d\" = : e and z = :\"F g\" /* :h */ and q'(:i)' = 1"
    assert [(text[start:end], name) for start, end, name in bind_spans(text)] == [
        (":c", "C"),
        (": e", "E"),
        (':"F g"', "F g"),
    ]


def test_a_query_is_told_from_a_list_of_columns() -> None:
    assert all(map(is_query, ("select 1", " ( SELECT 1)", "with a as (x) select 1", "-- a\n/* b */select 1")))
    assert not any(map(is_query, ("id", "selected", "id, with_it", '"select"')))


WORDS = st.sampled_from(
    [
        "select",
        "from",
        "where",
        "(",
        ")",
        ",",
        ".",
        "*",
        "join",
        "left",
        "on",
        "t",
        "u",
        "a",
        "b",
        "with",
        "as",
        "union",
        "'x'",
        '"q"',
        ":b",
        "1",
        "@",
        "in",
        "exists",
        "order",
        "by",
        "pivot",
    ]
)


@given(st.lists(WORDS, max_size=30))
def test_no_text_is_too_odd(words: list[str]) -> None:
    """Whatever is written, the answer is tables or what was not understood, never an exception or a loop."""
    found = reads(" ".join(words))
    for mention in found.mentions:
        assert mention.block < len(found.blocks)
    columns_read(found, lambda name: name.name == "T", ["A", "B"])
