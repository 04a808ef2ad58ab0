"""Logs of any length are read as they come: units are there long before the end, and none grows without bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import pytest

from oraclerag.chunk.diagnostics import families
from tests import reports
from tests.unit.diagnostics import covered

ENDLESS = 10**9


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("alert_log", reports.alert_log),
        ("data_pump", reports.data_pump_log),
        ("ebs_log", reports.request_log),
        ("listener", reports.listener_log),
        ("rman", reports.rman_output),
        ("spool", reports.spool),
        ("sql_loader", reports.sql_loader_log),
    ],
)
def test_a_log_without_end_is_read_as_it_comes(name: str, report: Callable[[int], Iterator[str]]) -> None:
    family, lines = families.recognised(report(ENDLESS))
    assert family.name == name
    found = list(islice(family.units(lines), 800))
    assert max(len(unit.text) for unit in found) < 100_000
    assert found[-1].start < 2_000_000


LOGS = """adop adr_xml alert_log data_pump ebs_log ebs_manager listener rman spool sql_loader sqlnet sqlnet_trace"""


@pytest.mark.parametrize("name", LOGS.split())
def test_one_line_again_and_again_makes_units_of_bounded_size(name: str) -> None:
    for line in ("", "x", " x", "ORA-00942: x", "SQL> x", "*" * 80, "2031-04-05T06:07:08.1+02:00", "<msg time='"):
        text = f"{line}\n" * 600
        found = covered(families.by_name(name).units, text)
        assert max(unit.text.count("\n") for unit in found) <= 500
