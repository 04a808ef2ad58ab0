"""Error stacks in any text: a code stays with its message, what continues it and what announces it."""

from __future__ import annotations

import re

import pytest

from oraclerag.chunk import Limits, chunks
from oraclerag.chunk.diagnostics.error_stack import announces, groups, is_prompt, is_rule, is_time
from oraclerag.chunk.diagnostics.families import by_name
from oraclerag.chunk.diagnostics.lines import split
from oraclerag.cutting import Cutting


def stacks(text: str) -> list[str]:
    return ["".join(line.raw for line in group.lines) for group in groups(split(text)) if group.stack]


@pytest.mark.parametrize(
    "stack",
    [
        "ORA-00942: table or view does not exist\n",
        "ORA-12012: error on auto execute of job 42\nORA-06512: at line 1\nORA-01438: value too large\n",
        "Errors in file /u01/trace/A_j001_5.trc:\nORA-00060: deadlock\n",
        "ERROR at line 1:\nORA-06550: line 1, column 7:\nPLS-00201: identifier 'T' must be declared\nPL/SQL: Statement ignored\n",
        'Error report -\nORA-01422: exact fetch\n01422. 00000 -  "x"\n'.replace('01422. 00000 -  "x"\n', "*Cause:    x\n*Action:   y\n"),
        "ORA-00600: internal error code, arguments: [a], [b\nc], [], []\n",
        "ORA-27040: file create error\nLinux-x86_64 Error: 2: No such file or directory\nAdditional information: 1\n",
        "ORA-27041: unable to open file\nOSD-04002: unable to open file\nO/S-Error: (OS 2) The system cannot find\n",
        'ORA-19505: failed to identify file "\n/u01/a/b.dbf"\n',
        "ORA-01110: data file\n/u01/oradata/a.dbf\n",
        'ORA-04031: unable to allocate\n  ("shared pool","unknown object")\n',
        "ORA-39083: Object type INDEX failed to create with error:\nORA-00959: tablespace 'A' does not exist\n\nFailing sql is:\nCREATE INDEX a\n  ON b (c)\n",
        "ORA-00942: x\n\n*Cause: y\n*Action: z\n",
        "PDB1(3):ORA-01555: snapshot too old\nPDB1(3):ORA-06512: at line 2\n",
        "W-1 ORA-31693: Table data object failed\nW-1 ORA-02354: error in exporting\n",
        "ORA-959 signalled during: drop tablespace a\nincluding contents\nand datafiles...\n",
        'SQL*Loader-350: Syntax error at line 3.\nExpecting "(", found "x".\n'.replace('Expecting "(", found "x".\n', "  x\n"),
        "java.lang.RuntimeException: x\nCaused by: y\n".replace("java.lang.RuntimeException: x", "ORA-29532: Java call"),
    ],
)  # fmt: skip
def test_a_stack_is_one(stack: str) -> None:
    text = f"before it\n{stack}\nbehind it\n"
    assert stacks(text) == [stack]
    assert "".join(line.raw for group in groups(split(text)) for line in group.lines) == text
    # packed between other lines it is in one chunk
    filler = "\n\n".join(f"some words of line {number}" for number in range(30))
    report = f"{filler}\n\n{stack}\n{filler}\n"
    found = list(chunks(report, Limits(120, words), Cutting("diagnostics")))
    assert sum(stack in chunk.text for chunk in found) >= 1
    codes = {code for chunk in found for code in chunk.metadata.get("oracle_error_code", [])}
    assert codes
    for chunk in found:  # nor is a part of it in another
        if "oracle_error_code" in chunk.metadata:
            assert stack in chunk.text


def words(text: str) -> int:
    return 2 + len(re.findall(r"\w+|[^\w\s]", text))


@pytest.mark.parametrize(
    "end",
    [
        "",
        "2031-04-05T06:07:08.123+02:00",
        "Sat Apr  5 06:07:08 CET 2031",
        "SQL> select 1 from dual;",
        "RMAN> exit",
        "-" * 40,
        "Completed: alter database open",
    ],
)
def test_what_ends_a_stack(end: str) -> None:
    assert stacks(f"ORA-00942: x\n{end}\n  behind it\n") == ["ORA-00942: x\n"]


def test_a_mark_of_a_family_is_in_no_stack() -> None:
    text = "ORA-00942: x\n  mark\n  y\n"
    found = [(len(group.lines), group.stack) for group in groups(split(text), ends=lambda line: line == "  mark")]
    assert found == [(1, True), (1, False), (1, False)]


def test_a_prefix_of_a_family_stands_before_every_line() -> None:
    text = "|x| ORA-00942: x\n|x|   more\n|x| other\n"
    [group, last] = groups(split(text), prefix=re.compile(r"\|x\| ?"))
    assert (len(group.lines), group.stack, len(last.lines)) == (2, True, 1)


def test_what_announces_and_is_followed_by_nothing_is_a_line() -> None:
    assert stacks("Errors in file a.trc:\nERROR at line 1:\nwords\n") == []
    assert stacks("Errors in file a.trc:\nERROR at line 1:\nORA-1: x\n") == ["ERROR at line 1:\nORA-1: x\n"]


def test_stacks_are_bounded() -> None:
    text = "ORA-06512: at line 1\n" * 1000 + "ORA-00600: arguments: [never closed\n" + "words\n" * 50
    found = stacks(text)
    assert max(stack.count("\n") for stack in found) <= 400
    assert found[-1].count("words") <= 8


def test_lines_of_their_own_kind() -> None:
    assert is_time("2031-04-05T06:07:08.123456+02:00 ")
    assert is_time("Sat Apr  5 06:07:08 2031")
    assert not is_time("2031-04-05 is a day")
    assert is_prompt("SQL> x")
    assert is_prompt("APPS@DB> x")
    assert not is_prompt("a > b")
    assert is_rule("=" * 30)
    assert not is_rule(" " * 30)
    assert announces('ORA-39083: Object type TABLE:"A"."B" failed to create with error:')
    assert not announces("no error here")


def test_times_are_noted_and_paragraphs_kept() -> None:
    text = "Sat Apr  5 06:07:08 2031\none\ntwo\n\nthree\n2031-04-06T01:02:03+02:00\nORA-00942: x\n"
    units = list(by_name("generic").units(split(text)))
    assert [unit.text for unit in units] == [
        "Sat Apr  5 06:07:08 2031\none\ntwo\n",
        "\n",
        "three\n",
        "2031-04-06T01:02:03+02:00\n",
        "ORA-00942: x\n",
    ]
    assert [unit.metadata["timestamp"] for unit in units] == [
        *["2031-04-05T06:07:08"] * 3,
        *["2031-04-06T01:02:03+02:00"] * 2,
    ]
