"""Secrets are masked in their length; everything else stays as it is."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics.secrets import masked, places


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("SQL> CONNECT scott/tiger@orcl as sysdba", "SQL> CONNECT scott/xxxxx@orcl as sysdba"),
        ('conn "App User"/"se cret"@x', 'conn "App User"/"xxxxxxx"@x'),
        ("rman target sys/Welcome1@x catalog rc/pw@y", "rman target sys/xxxxxxxx@x catalog rc/xx@y"),
        ("target=sys/pw1", "target=sys/xxx"),
        ("userid=system/manager", "userid=system/xxxxxxx"),
        ("userid='sys/pw as sysdba'", "userid='sys/xx as sysdba'"),
        ("sqlplus -s apps_ro/pw@db @x.sql", "sqlplus -s apps_ro/xx@db @x.sql"),
        ("impdp scott/tiger tables=emp", "impdp scott/xxxxx tables=emp"),
        ("sql -s hr/pw@//db:1521/x @y.sql", "sql -s hr/xx@//db:1521/x @y.sql"),
        ("dbca -sysPassword Manager1 -systemPassword 'a b'", "dbca -sysPassword xxxxxxxx -systemPassword 'xxx'"),
        ("FNDLOAD apps/secret1 0 Y DOWNLOAD", "FNDLOAD apps/xxxxxxx 0 Y DOWNLOAD"),
        ("running: apps/secret1@EBSDB", "running: apps/xxxxxxx@EBSDB"),
        ("CREATE USER a IDENTIFIED BY secret;", "CREATE USER a IDENTIFIED BY xxxxxx;"),
        ('ALTER USER a identified by "n w" replace old', 'ALTER USER a identified by "xxx" replace xxx'),
        ("IDENTIFIED BY VALUES 'S:AB;T:CD'", "IDENTIFIED BY VALUES 'xxxxxxxxx'"),
        ("(SECURITY=(PASSWORD=abc))", "(SECURITY=(PASSWORD=xxx))"),
        ("encryption_password=foo logfile=x", "encryption_password=xxx logfile=x"),
        ('{"db_password": "x y"}', '{"db_password": "xxx"}'),
        ("client_secret=abcdefgh12&x=1", "client_secret=xxxxxxxxxx&x=1"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer xxxxxxx"),
        ("https://user:pw@example.com/x", "https://user:xx@example.com/x"),
        ("jdbc:oracle:thin:scott/tiger@//h:1521/s", "jdbc:oracle:thin:scott/xxxxx@//h:1521/s"),
        ('  value="O\'Neil "x" y"\r\n  value=12\n', '  value="xxxxxxxxxxxx"\r\n  value=xx\n'),
        ('  value="two\nlines"\n Bind#1', '  value="xxx\nxxxxx"\n Bind#1'),
        ('  value="never closed\n Bind#1\nEXEC #3:c=0', '  value="xxxxxxxxxxxx\n Bind#1\nEXEC #3:c=0'),
    ],
)
def test_a_secret_is_hidden_behind_as_many_letters(text: str, hidden: str) -> None:
    assert masked(text) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "conn / as sysdba; connect tcp/ip now",
        "sqlplus /nolog @/u01/app/x.sql",
        "PL/SQL and/or SQL insert/update",
        "orapwd -password -force y",
        "Predicate Information (identified by operation id):",
        "is identified by the number of the cursor",
        "/u01/apps/fs1/system/x apps/tech_st/10.1.3",
        "SYSTEM/******** directory=x",
        "PARSE #3:c=0,e=1,p=0,value=3",
        "Password: the user's password",
        "http://example.com:1521/x@y",
        "nothing at all",
        "",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text
    assert places(text) == []


@given(
    st.lists(
        st.one_of(
            st.text(alphabet="ab/@\"' =\nİ😀:-", max_size=10),
            st.sampled_from(["connect ", "identified by ", "password=", '\n  value="', "sqlplus ", "://", "apps/"]),
        ),
        max_size=25,
    ).map("".join)
)
@settings(max_examples=100, deadline=None)
def test_lengths_and_lines_stay_and_nothing_else_is_touched(text: str) -> None:
    hidden = masked(text)
    assert len(hidden) == len(text)
    assert [at for at, char in enumerate(hidden) if char == "\n"] == [
        at for at, char in enumerate(text) if char == "\n"
    ]
    spans = places(text)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    covered = {at for start, end in spans for at in range(start, end)}
    assert all(
        before == after for at, (before, after) in enumerate(zip(text, hidden, strict=True)) if at not in covered
    )


@pytest.mark.parametrize(
    "hostile", ['  value="\n', 'value="', "connect ", "identified by\n", "://a", "password=", "İ/"]
)
def test_what_is_looked_at_again_and_again_takes_linear_time(hostile: str) -> None:
    """A few hundred thousand characters; were it quadratic, the run's own time limit would end it."""
    text = hostile * (300_000 // len(hostile))
    assert len(masked(text)) == len(text)
