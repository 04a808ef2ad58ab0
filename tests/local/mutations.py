"""Statements that Oracle runs, changed in one place: what a strict reading must refuse, or run because Oracle does."""

from __future__ import annotations

import random
import re

from tests.local.refusals import WORKS

TOKEN = re.compile(
    r"\s+|'(?:[^']|'')*'|\"[^\"]*\"|:\w+|\d+(?:\.\d+)?\w?|\w[\w$#]*|<=>|<->|<#>|\|\||<=|>=|<>|!=|\^=|--[^\n]*|/\*.*?\*/|.",
    re.DOTALL,
)
KEYWORDS = """
    SELECT FROM WHERE GROUP BY ORDER HAVING UNION ALL DISTINCT AS ON JOIN LEFT OUTER CROSS USING AND OR NOT IN IS NULL LIKE
    BETWEEN CASE WHEN THEN ELSE END FETCH FIRST ROWS ONLY OFFSET FOR UPDATE SKIP LOCKED INSERT INTO VALUES SET DELETE MERGE
    MATCHED WITH OVER PARTITION EXISTS DESC NULLS RETURNING MINUS ROWNUM SYSDATE DEFAULT
    """.split()  # noqa: SIM905
FOREIGN = (
    "::text", "::int", "LIMIT 1", "LIMIT ALL", "RETURNING *", "ILIKE 'x'", "ON CONFLICT DO NOTHING", "AS q", "$$x$$", "USING u",
    "ARRAY[1]", "E'x'", "~ 'x'", "!~ 'x'", "IS DISTINCT FROM 1", "FILTER (WHERE 1 = 1)", "TABLESAMPLE SYSTEM (1)", "FOR SHARE",
    "FOR NO KEY UPDATE", "SIMILAR TO 'x'", "->> 'a'", "@> '{}'", "RECURSIVE", "DISTINCT ON (1)", "now()", "current_user", "ctid",
    "pg_sleep(0)", "INTERVAL '1 day'", "generate_series(1, 2)", "B'1'", "X'ff'", "?", "$1", "% 2", "# 1", "& 1", "`a`", "[1]",
    'COLLATE "C"', "ONLY", "LATERAL", "WITH ORDINALITY", "WINDOW w AS ()", "NATURAL", "TABLE t", "ROW(1)", "ISNULL", "NOTNULL",
    "AT LOCAL", "version()", "current_database()", "to_regclass('t')", "xmin", "pg_catalog.pg_class", "OVERLAPS", "IF EXISTS", ";",
    "string_agg(b, ',')", "coalesce(1)", "nextval('s')", "s.nextval", "random()", "||/ 8", "@ 1", "1_000", "0x1F", "=> 1", ":= 1",
)  # fmt: skip

BASES = [
    (row.sql, row.binds)
    for row in WORKS
    if row.gives is None
    and not row.setup
    and re.match(r"(SELECT|WITH|INSERT|UPDATE|DELETE|MERGE)\b", row.sql)
    and len(row.sql) < 400
]


def mutate(pick: random.Random, sql: str) -> str:
    """Change a statement in one place."""
    pieces = TOKEN.findall(sql)
    solid = [place for place, piece in enumerate(pieces) if not piece.isspace()]
    place = pick.choice(solid)
    way = pick.randrange(7)
    if way == 0:
        pieces[place] = ""
    elif way == 1:
        pieces[place] += f" {pieces[place]}"
    elif way == 2:
        other = solid[(solid.index(place) + 1) % len(solid)]
        pieces[place], pieces[other] = pieces[other], pieces[place]
    elif way == 3:
        words = [at for at in solid if pieces[at].upper() in KEYWORDS] or solid
        pieces[pick.choice(words)] = pick.choice(KEYWORDS)
    elif way == 4:
        pieces.insert(place, f"{pick.choice(KEYWORDS)} ")
    else:
        pieces.insert(pick.choice([*solid, len(pieces)]), f" {pick.choice(FOREIGN)} ")
    return "".join(pieces).strip()
