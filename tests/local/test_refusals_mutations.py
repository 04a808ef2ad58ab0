"""Statements that Oracle runs, changed in one place: refused with a number of Oracle's, or of a form that Oracle takes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import oracledb
import pytest

from tests.local.conftest import Account
from tests.local.mutations import BASES, FOREIGN, mutate
from tests.local.refusals import FIXTURE

pytestmark = pytest.mark.one_size("standard")

INTERNAL = {600, 603, 604, 3113, 7445}
# Words of PostgreSQL's messages and names of what stands behind the translation; what a message quotes is the client's.
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|'\.\.\..*|following .*", re.DOTALL)
_FOREIGN_WORDS = re.compile(
    r"postgres|\bpg_|::|relation |operator does not exist|at or near|jsonb|int[248]\b|float[48]\b|odate"
    r"|\bora\.|SQLSTATE|tuple|bpchar|invalid input|invalid reference|must be type|FROM-clause|character varying|could not",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
# Forms that no mutation makes right: not one of them may be taken.
NEVER = re.compile(
    r"(\b(FROM|JOIN)\s+\w+\s+AS\s+(?!OF)\w)|\bLIMIT\s+[\d:]|::|\bON CONFLICT\b|\bRETURNING\s+\*|[%?`~&]|\bFOR SHARE\b|=\s*=|\(\s*,"
    r"|,\s*,|,\s*FROM\b|,\s*\)|\bWHERE\s*(GROUP|ORDER|HAVING|$)|\b(AND|OR)\s+(AND|OR)\b|\b(WHERE|SET|VALUES|BY|AND|OR|LIKE|IN)\s*$",
    re.IGNORECASE,
)
# What reads as a name, or as an alias, is one in Oracle too: it has no such keywords, or they are not reserved.
NAMES = {fragment for fragment in FOREIGN if re.fullmatch(r"\w+|s\.nextval", fragment)} | {"AS q", "AT LOCAL"}


@pytest.fixture(scope="module")
def connection(module_account: Account) -> Iterator[oracledb.Connection]:
    with module_account.connect() as opened:
        cursor = opened.cursor()
        for statement in FIXTURE:
            cursor.execute(statement)
        opened.commit()
        opened.call_timeout = 30_000  # a statement that hangs is a failure too
        yield opened


def check(connection: oracledb.Connection, pick: random.Random, count: int) -> tuple[int, list[tuple[str, str]]]:
    """Run this many changed statements; give how many were taken, and what was wrong with which."""
    cursor = connection.cursor()
    taken = 0
    wrong: list[tuple[str, str]] = []
    bases = [(sql, binds) for sql, binds in BASES if "q'" not in sql.lower()]  # a change inside a text is none
    for _ in range(count):
        base, given = pick.choice(bases)
        sql = mutate(pick, base)
        bare = _LITERAL.sub("''", sql)
        names = {name.lower() for name in re.findall(r"(?<![\w:]):([A-Za-z]\w*)", bare)}
        binds = {name: given.get(name, 1) for name in names} if isinstance(given, dict) else given
        try:
            if cursor.execute(sql, binds or None) is not None:
                cursor.fetchall()
        except oracledb.Error as error:
            info = error.args[0]
            message = _QUOTED.sub("", info.message.partition("\nHelp")[0])
            if not info.full_code.startswith(
                ("ORA", "DPY-4008", "DPY-4010", "DPY-2041", "DPY-2042", "DPY-2066", "DPY-4009")
            ):
                wrong.append((sql, info.full_code))
            elif info.code in INTERNAL or set(_FOREIGN_WORDS.findall(message.lower())) - set(
                _FOREIGN_WORDS.findall(sql.lower())
            ):
                wrong.append((sql, info.message))
        else:
            taken += 1
            fragments = [one for one in FOREIGN if one not in NAMES and one in bare and one not in base]
            if NEVER.search(bare) or fragments:
                wrong.append((sql, f"is taken {fragments}"))
        finally:
            connection.rollback()
    return taken, wrong


@pytest.mark.parametrize("seed", range(3))
def test_a_changed_statement_is_refused_as_oracle_refuses(connection: oracledb.Connection, seed: int) -> None:
    taken, wrong = check(connection, random.Random(seed), 350)
    assert wrong == []
    assert taken < 60  # most changes break a statement


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(100, 110))
def test_many_changed_statements(connection: oracledb.Connection, seed: int) -> None:
    assert check(connection, random.Random(seed), 10_000)[1] == []
