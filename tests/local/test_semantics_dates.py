"""Dates, timestamps, intervals and time zones are Oracle's: arithmetic, formats, the numbers of bad formats."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal

import oracledb
import pytest

from tests.local.conftest import Account
from tests.local.semantics import Case, Refuses, at, unlike

pytestmark = pytest.mark.one_size("standard")

D = Decimal

ISO = "'YYYY-MM-DD HH24:MI:SS'"


def shown(expression: str, form: str = ISO) -> str:
    return f"TO_CHAR({expression}, {form})"


DAY = "DATE '2024-02-29'"
NOON = "TO_DATE('2024-05-17 12:34:56', 'YYYY-MM-DD HH24:MI:SS')"
MOMENT = "TIMESTAMP '2024-05-17 12:34:56.789'"

CASES: dict[str, list[Case]] = {
    "arithmetic": [
        (f"{DAY}", at(2024, 2, 29)),
        (shown(f"{DAY} + 1"), "2024-03-01 00:00:00"),
        (shown(f"{DAY} + 1.5"), "2024-03-01 12:00:00"),
        (shown(f"{DAY} + 1 / 24"), "2024-02-29 01:00:00"),
        (shown(f"{DAY} + 5 / 1440"), "2024-02-29 00:05:00"),
        (shown(f"{DAY} + 1 / 86400"), "2024-02-29 00:00:01"),
        (shown(f"1 + {DAY}"), "2024-03-01 00:00:00"),
        (shown(f"{DAY} - 60"), "2023-12-31 00:00:00"),
        (f"DATE '2024-03-01' - {DAY}", 1),
        ("TO_DATE('18:00', 'HH24:MI') - TO_DATE('06:00', 'HH24:MI')", 0.5),
        (f"{NOON} - TRUNC({NOON}) > 0.5", True),
        ("SYSDATE + SYSDATE", Refuses(975)),
        (f"{DAY} * 2", Refuses(932)),
        (shown(f"{MOMENT} + 1"), "2024-05-18 12:34:56"),
        (f"EXTRACT(SECOND FROM {MOMENT} + INTERVAL '0.5' SECOND)", D("57.289")),
        (shown(f"{MOMENT} + INTERVAL '1 02:03:04' DAY TO SECOND"), "2024-05-18 14:38:00"),
        (shown(f"{DAY} + INTERVAL '1' MONTH"), "2024-03-29 00:00:00"),
        (shown(f"{DAY} + INTERVAL '1' YEAR"), Refuses(1839)),
        (shown("DATE '2024-01-31' + INTERVAL '1' MONTH"), Refuses(1839)),
        (shown("DATE '2024-03-31' - INTERVAL '1' MONTH"), Refuses(1839)),
        (shown(f"{DAY} + INTERVAL '90' MINUTE"), "2024-02-29 01:30:00"),
        (shown(f"{DAY} + NUMTODSINTERVAL(36, 'HOUR')"), "2024-03-01 12:00:00"),
        (f"{MOMENT} - TIMESTAMP '2024-05-16 12:34:56'", dt.timedelta(days=1, milliseconds=789)),
        (f"EXTRACT(DAY FROM {MOMENT} - TIMESTAMP '2024-05-15 12:34:56')", 2),
        (f"EXTRACT(HOUR FROM {MOMENT} - TIMESTAMP '2024-05-15 10:34:56')", 2),
        (f"CAST({MOMENT} AS DATE)", at(2024, 5, 17, 12, 34, 56)),
        (f"CAST({DAY} AS TIMESTAMP)", at(2024, 2, 29)),
        ("CAST('17-MAY-24' AS DATE)", at(2024, 5, 17)),
        (f"CASE WHEN {DAY} = TIMESTAMP '2024-02-29 00:00:00' THEN 1 ELSE 0 END", 1),
        (f"GREATEST({DAY}, DATE '2024-03-01')", at(2024, 3, 1)),
    ],
    "functions": [
        (shown(f"TRUNC({NOON})"), "2024-05-17 00:00:00"),
        (shown(f"TRUNC({NOON}, 'YYYY')"), "2024-01-01 00:00:00"),
        (shown(f"TRUNC({NOON}, 'Q')"), "2024-04-01 00:00:00"),
        (shown(f"TRUNC({NOON}, 'MM')"), "2024-05-01 00:00:00"),
        (shown(f"TRUNC({NOON}, 'IW')"), "2024-05-13 00:00:00"),
        (shown(f"TRUNC({NOON}, 'DAY')"), "2024-05-12 00:00:00"),
        (shown(f"TRUNC({NOON}, 'HH24')"), "2024-05-17 12:00:00"),
        (shown(f"TRUNC({NOON}, 'MI')"), "2024-05-17 12:34:00"),
        (shown(f"TRUNC({MOMENT})"), "2024-05-17 00:00:00"),
        (shown(f"TRUNC({NOON}, 'IYYY')"), "2024-01-01 00:00:00"),
        (shown(f"TRUNC({NOON}, 'WW')"), "2024-05-13 00:00:00"),
        (shown(f"TRUNC({NOON}, 'W')"), "2024-05-15 00:00:00"),
        (shown(f"ROUND({NOON})"), "2024-05-18 00:00:00"),
        (shown(f"ROUND({NOON}, 'MM')"), "2024-06-01 00:00:00"),
        (shown(f"ROUND({NOON}, 'YYYY')"), "2024-01-01 00:00:00"),
        (shown("ROUND(DATE '2024-07-01', 'YYYY')"), "2025-01-01 00:00:00"),
        (shown("ROUND(DATE '2024-05-16', 'Q')"), "2024-07-01 00:00:00"),
        (shown("ROUND(DATE '2024-05-15', 'Q')"), "2024-04-01 00:00:00"),
        (shown(f"ROUND({NOON}, 'HH24')"), "2024-05-17 13:00:00"),
        (shown(f"ROUND({NOON}, 'MI')"), "2024-05-17 12:35:00"),
        (shown("ADD_MONTHS(DATE '2024-01-31', 1)"), "2024-02-29 00:00:00"),
        (shown("ADD_MONTHS(DATE '2024-02-29', 1)"), "2024-03-31 00:00:00"),
        (shown("ADD_MONTHS(DATE '2024-02-29', 12)"), "2025-02-28 00:00:00"),
        (shown("ADD_MONTHS(DATE '2024-03-30', -1)"), "2024-02-29 00:00:00"),
        (shown(f"ADD_MONTHS({NOON}, 1.9)"), "2024-06-17 12:34:56"),
        ("MONTHS_BETWEEN(DATE '2024-03-01', DATE '2024-02-01')", 1),
        ("MONTHS_BETWEEN(DATE '2024-03-31', DATE '2024-02-29')", 1),
        ("ROUND(MONTHS_BETWEEN(DATE '1995-02-02', DATE '1995-01-01'), 8)", D("1.03225806")),
        ("MONTHS_BETWEEN(DATE '2024-02-01', DATE '2024-03-01')", -1),
        (shown("LAST_DAY(DATE '2023-02-10')"), "2023-02-28 00:00:00"),
        (shown(f"LAST_DAY({NOON})"), "2024-05-31 12:34:56"),
        (shown("NEXT_DAY(DATE '2024-05-17', 'FRIDAY')"), "2024-05-24 00:00:00"),
        (shown("NEXT_DAY(DATE '2024-05-17', 'sat')"), "2024-05-18 00:00:00"),
        ("NEXT_DAY(DATE '2024-05-17', 'x')", Refuses(1846)),
        (f"EXTRACT(YEAR FROM {DAY})", 2024),
        (f"EXTRACT(MINUTE FROM {MOMENT})", 34),
        (f"EXTRACT(SECOND FROM {MOMENT})", D("56.789")),
        (f"EXTRACT(HOUR FROM {NOON})", Refuses(30076)),
    ],
    "dates as text": [
        (shown(NOON), "2024-05-17 12:34:56"),
        (f"TO_CHAR({NOON})", "17-MAY-24"),
        (f"TO_CHAR({MOMENT})", "17-MAY-24 12.34.56.789000 PM"),
        (shown(NOON, "'DD.MM.YY'"), "17.05.24"),
        (shown(NOON, "'Day'"), "Friday   "),
        (shown(NOON, "'FMDay, DD Month YYYY'"), "Friday, 17 May 2024"),
        (shown(NOON, "'DY MON'"), "FRI MAY"),
        (shown(NOON, "'Mon month MONTH'"), "May may       MAY      "),
        (shown(NOON, "'HH:MI AM'"), "12:34 PM"),
        (shown(DAY, "'HH:MI AM'"), "12:00 AM"),
        (shown(NOON, "'HH24MISS'"), "123456"),
        (shown(NOON, "'SSSSS'"), "45296"),
        (shown(NOON, "'J'"), "2460448"),
        (shown(NOON, "'DDD D Q WW IW W'"), "138 6 2 20 20 3"),
        (shown("DATE '2024-12-30'", "'IYYY-IW'"), "2025-01"),
        (shown(NOON, "'CC'"), "21"),
        (shown(NOON, "'FMDDth'"), "17TH"),
        (shown(NOON, "'RM'"), "V   "),
        (shown(NOON, "'YYYY\"T\"MM'"), "2024T05"),
        (shown(NOON, "'yyyy-mm-dd'"), "2024-05-17"),
        (shown(MOMENT, "'SS.FF'"), "56.789000"),
        (shown(MOMENT, "'SS.FF3'"), "56.789"),
        (shown(MOMENT, "'SS.FF1'"), "56.7"),
        (shown(MOMENT, "'SSXFF2'"), "56.78"),
        (shown(NOON, "'FF'"), Refuses(1821)),
        (shown(NOON, "'ABC'"), Refuses(1821)),
        (shown(NOON, "'Y,YYY'"), "2,024"),
        (shown(NOON, "'FMMM/DD'"), "5/17"),
        ("TO_CHAR(INTERVAL '1 02:03:04' DAY TO SECOND)", "+01 02:03:04.000000"),
    ],
    "text as dates": [
        (shown("TO_DATE('2024-05-17', 'YYYY-MM-DD')"), "2024-05-17 00:00:00"),
        (shown("TO_DATE('17-MAY-24')"), "2024-05-17 00:00:00"),
        (shown("TO_DATE('17-MAY-99')"), "1999-05-17 00:00:00"),
        (shown("TO_DATE('2024/5/7', 'YYYY-MM-DD')"), "2024-05-07 00:00:00"),
        (shown("TO_DATE('20240517', 'YYYY-MM-DD')"), "2024-05-17 00:00:00"),
        (shown("TO_DATE('17 may 2024', 'DD MON YYYY')"), "2024-05-17 00:00:00"),
        (shown("TO_DATE('May 17, 2024', 'Month DD, YYYY')"), "2024-05-17 00:00:00"),
        (shown("TO_DATE('01:30 PM', 'HH:MI AM')", "'HH24:MI'"), "13:30"),
        (shown("TO_DATE('12:30 AM', 'HH:MI AM')", "'HH24:MI'"), "00:30"),
        (shown("TO_DATE('24', 'YY')", "'YYYY'"), "2024"),
        (shown("TO_DATE('99', 'YY')", "'YYYY'"), "2099"),
        (shown("TO_DATE('99', 'RR')", "'YYYY'"), "1999"),
        (shown("TO_DATE('49', 'RR')", "'YYYY'"), "2049"),
        (shown("TO_DATE('138 2024', 'DDD YYYY')"), "2024-05-17 00:00:00"),
        (shown("TO_DATE('2024-05-17T12:34:56', 'YYYY-MM-DD\"T\"HH24:MI:SS')"), "2024-05-17 12:34:56"),
        (shown("TO_TIMESTAMP('2024-05-17 12:34:56.789', 'YYYY-MM-DD HH24:MI:SS.FF')", "'SS.FF3'"), "56.789"),
        (shown("TO_TIMESTAMP_TZ('2024-05-17 12:00 +02:00', 'YYYY-MM-DD HH24:MI TZH:TZM') AT TIME ZONE 'UTC'", "'HH24:MI'"), "10:00"),
        (shown("TO_TIMESTAMP_TZ('2024-05-17 12:00 -05:30', 'YYYY-MM-DD HH24:MI TZH:TZM') AT TIME ZONE 'UTC'", "'HH24:MI'"), "17:30"),
        ("TO_DATE('2024-02-30' DEFAULT NULL ON CONVERSION ERROR, 'YYYY-MM-DD')", None),
        (shown("TO_DATE('n/a' DEFAULT '2024-01-02' ON CONVERSION ERROR, 'YYYY-MM-DD')"), "2024-01-02 00:00:00"),
        (shown("TO_TIMESTAMP('2024-05-17' DEFAULT NULL ON CONVERSION ERROR, 'YYYY-MM-DD')"), "2024-05-17 00:00:00"),
        ("TO_TIMESTAMP_TZ('2024-05-17 25' DEFAULT NULL ON CONVERSION ERROR, 'YYYY-MM-DD HH24')", None),
        ("TO_TIMESTAMP_TZ(NULL DEFAULT '2024' ON CONVERSION ERROR, 'YYYY')", None),
        ("TO_DATE('x' DEFAULT 'y' ON CONVERSION ERROR, 'YYYY')", Refuses(1841)),
        ("TO_DATE('1' DEFAULT NULL ON CONVERSION ERROR, 'Q')", Refuses(1820)),
        ("TO_DATE('1' DEFAULT NULL ON CONVERSION ERROR, 'YYYY-Z')", Refuses(1821)),
        ("TO_DATE('2024-13-01', 'YYYY-MM-DD')", Refuses(1843)),
        ("TO_DATE('2024-02-30', 'YYYY-MM-DD')", Refuses(1839)),
        ("TO_DATE('2023-02-29', 'YYYY-MM-DD')", Refuses(1839)),
        ("TO_DATE('2024-04-31', 'YYYY-MM-DD')", Refuses(1839)),
        ("TO_DATE('2024-04-32', 'YYYY-MM-DD')", Refuses(1847)),
        ("TO_DATE('2024-00-01', 'YYYY-MM-DD')", Refuses(1843)),
        ("TO_DATE('2024-01-00', 'YYYY-MM-DD')", Refuses(1847)),
        ("TO_DATE('0000-01-01', 'YYYY-MM-DD')", Refuses(1841)),
        ("TO_DATE('2024-01-01 24', 'YYYY-MM-DD HH24')", Refuses(1850)),
        ("TO_DATE('13', 'HH')", Refuses(1849)),
        ("TO_DATE('13 PM', 'HH24 PM')", Refuses(1818)),
        ("TO_DATE('1:60', 'HH24:MI')", Refuses(1851)),
        ("TO_DATE('1:00:60', 'HH24:MI:SS')", Refuses(1852)),
        ("TO_DATE('1:00 XM', 'HH:MI AM')", Refuses(1855)),
        ("TO_DATE('xx', 'MON')", Refuses(1843)),
        ("TO_DATE('2024-xx-01', 'YYYY-MM-DD')", Refuses(1858)),
        ("TO_DATE('2024', 'YYYY-MM')", Refuses(1840)),
        ("TO_DATE('2024-05-17 x', 'YYYY-MM-DD')", Refuses(1830)),
        ("TO_DATE('1', 'Q')", Refuses(1820)),
        ("TO_DATE('Mon 17-05-2024', 'DY DD-MM-YYYY')", Refuses(1835)),
        ("TO_DATE('Xxx 17-05-2024', 'DY DD-MM-YYYY')", Refuses(1846)),
        ("TO_DATE('17-05-24', 'DD-DD-YY')", Refuses(1810)),
        ("TO_DATE('2024-05-17')", Refuses(1861)),
        ("TO_DATE('367 2024', 'DDD YYYY')", Refuses(1848)),
        ("TO_TIMESTAMP('2024-05-17')", Refuses(1843)),
        ("DATE '2024-13-01'", Refuses(1843)),
        ("DATE '2024-02-30'", Refuses(1839)),
        ("TIMESTAMP '2024-01-01 25:00:00'", Refuses(1850)),
    ],
    "intervals": [
        ("INTERVAL '1' DAY", dt.timedelta(days=1)),
        ("INTERVAL '1 12:30:15.5' DAY TO SECOND", dt.timedelta(days=1, hours=12, minutes=30, seconds=15.5)),
        ("INTERVAL '90' MINUTE", dt.timedelta(minutes=90)),
        ("INTERVAL '-5' HOUR", dt.timedelta(hours=-5)),
        ("-INTERVAL '5' HOUR", dt.timedelta(hours=-5)),
        ("INTERVAL '1' DAY * 2.5", dt.timedelta(days=2, hours=12)),
        ("INTERVAL '1' DAY / 2", dt.timedelta(hours=12)),
        ("INTERVAL '1' DAY + INTERVAL '1' HOUR", dt.timedelta(hours=25)),
        ("CASE WHEN INTERVAL '25' HOUR > INTERVAL '1' DAY THEN 1 ELSE 0 END", 1),
        ("CASE WHEN INTERVAL '24' HOUR = INTERVAL '1' DAY THEN 1 ELSE 0 END", 1),
        ("NUMTODSINTERVAL(1.5, 'DAY')", dt.timedelta(days=1.5)),
        ("NUMTODSINTERVAL(-90, 'SECOND')", dt.timedelta(seconds=-90)),
        ("TO_DSINTERVAL('2 03:04:05')", dt.timedelta(days=2, hours=3, minutes=4, seconds=5)),
        ("EXTRACT(HOUR FROM INTERVAL '1 12:30:15' DAY TO SECOND)", 12),
        ("EXTRACT(MINUTE FROM NUMTODSINTERVAL(3700, 'SECOND'))", 1),
        ("INTERVAL '25' HOUR", dt.timedelta(hours=25)),
        ("INTERVAL '100' DAY", Refuses(1873)),
        ("INTERVAL '100' DAY(3)", dt.timedelta(days=100)),
        ("INTERVAL '1' FORTNIGHT", Refuses(30089)),
        ("(SELECT SUM(i) FROM (SELECT INTERVAL '1' DAY i FROM dual UNION ALL SELECT INTERVAL '2' DAY FROM dual))", dt.timedelta(days=3)),
    ],
    "time zones": [
        ("EXTRACT(HOUR FROM SYS_EXTRACT_UTC(TIMESTAMP '2024-05-17 12:00:00 +02:00'))", 10),
        ("CASE WHEN TIMESTAMP '2024-05-17 12:00:00 +02:00' = TIMESTAMP '2024-05-17 10:00:00 +00:00' THEN 1 ELSE 0 END", 1),
        ("TIMESTAMP '2024-05-17 12:00:00 +02:00' - TIMESTAMP '2024-05-17 12:00:00 +00:00'", dt.timedelta(hours=-2)),
        ("TO_CHAR(FROM_TZ(TIMESTAMP '2024-05-17 12:00:00', '+02:00') AT TIME ZONE 'UTC', 'HH24:MI')", "10:00"),
        ("TO_CHAR(SYS_EXTRACT_UTC(FROM_TZ(TIMESTAMP '2024-05-17 12:00:00', 'Europe/Berlin')), 'HH24:MI')", "10:00"),
        ("FROM_TZ(TIMESTAMP '2024-05-17 12:00:00', 'No/Where')", Refuses(1882)),
        ("CASE WHEN SYSTIMESTAMP - CURRENT_TIMESTAMP < INTERVAL '1' SECOND THEN 1 ELSE 0 END", 1),
        ("DBTIMEZONE", "+00:00"),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def connection(module_account: Account) -> Iterator[oracledb.Connection]:
    with module_account.connect() as opened:
        yield opened


@pytest.mark.parametrize("subject", CASES)
def test_expressions(connection: oracledb.Connection, subject: str) -> None:
    assert unlike(connection.cursor(), CASES[subject]) == []
