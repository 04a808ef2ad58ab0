"""Units become chunks: whole, within the limits, with their heads, overlaps and codes; nothing is lost."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag.chunk import Limits
from oraclerag.chunk.diagnostics import pack
from oraclerag.chunk.diagnostics.pack import shortened
from oraclerag.chunk.diagnostics.unit import Unit
from oraclerag.cutting import Cutting
from oraclerag.errors import ConfigurationError
from oraclerag.model.tokens import TokenBound
from oraclerag.records import Chunk

REPORTS = Cutting("diagnostics")
BOUND = TokenBound().count


def words(text: str) -> int:
    """A tokenizer that takes pieces of words and every punctuation mark for tokens, and adds two."""
    return 2 + len(re.findall(r"\w{1,6}|[^\w\s]", text))


def quarters(text: str) -> int:
    """A count that is not that of the parts added up."""
    return 1 + len(text) // 4


LINE = st.one_of(
    st.text(alphabet="ab ,.#'<-漢\u0301\r\f\u2028", max_size=30),
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(
        ["ORA-00942: table or view does not exist", "ORA-06512: at line 1", "-" * 90, " " * 40, "x" * 300, ""]
    ),
)
UNITS = st.lists(
    st.tuples(
        st.lists(LINE, min_size=1, max_size=4),
        st.sampled_from([(), ("A",), ("A", "x"), ("A", "y"), ("B",), ("B", "a very long name of a section " * 4)]),
        st.sampled_from(["", "head", "sqlid=abc select * from a_table where a_column = :b1 and another in (1, 2, 3)"]),
        st.booleans(),
    ),
    max_size=25,
)
LIMITS = [
    Limits(40, words),
    Limits(500, words, size=300),
    Limits(64, BOUND, prefix="passage: ", size=300),
    Limits(30, quarters),
]


def made(drawn: list[tuple[list[str], tuple[str, ...], str, bool]]) -> tuple[str, list[Unit]]:
    """Make consecutive units; the last line of the last one may end without a line end."""
    body, units = "", []
    for lines, section, head, codes in drawn:
        text = "".join(f"{line}\n" for line in lines)
        units.append(Unit(len(body), text, section, head, {"sql_id": head[:3] or None}, codes))
        body += text
    return body, units


def proved(found: list[Chunk], body: str, limits: Limits) -> None:
    """Whatever a report is, this holds of its chunks."""
    assert [chunk.number for chunk in found] == list(range(len(found)))
    at = begun = 0
    for chunk in found:
        assert limits.fits(chunk.content)
        assert chunk.text.strip()
        assert chunk.text == shortened(body[chunk.start : chunk.end])
        assert body[at : chunk.start].strip() == ""
        assert chunk.end > at
        assert chunk.start >= begun
        assert chunk.parent is None or chunk.parent < chunk.number
        assert chunk.head == "" or chunk.head.endswith("\n")
        at, begun = chunk.end, chunk.start
    assert body[at:].strip() == ""


@given(drawn=UNITS, limits=st.sampled_from(LIMITS), overlap=st.sampled_from([None, 0, 12, 29]))
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost_and_every_chunk_is_within_both_limits(
    drawn: list[tuple[list[str], tuple[str, ...], str, bool]], limits: Limits, overlap: int | None
) -> None:
    body, units = made(drawn)
    cutting = Cutting("diagnostics", overlap=overlap)
    found = list(pack.chunks(iter(units), limits, cutting))
    proved(found, body, limits)
    assert found == list(pack.chunks(iter(units), limits, cutting))
    # a unit that fits stands in one chunk as a whole
    for unit in units:
        if unit.text.strip() and limits.fits("x" * 60 + "\n" + shortened(unit.text)) and limits.tokens > 60:
            assert any(chunk.start <= unit.start and unit.end <= chunk.end for chunk in found)


def cut(units: list[Unit], tokens: int = 60, overlap: int | None = None) -> list[Chunk]:
    return list(pack.chunks(iter(units), Limits(tokens, words), Cutting("diagnostics", overlap=overlap)))


def consecutive(*parts: tuple[str, tuple[str, ...]], head: str = "", codes: bool = True) -> list[Unit]:
    at, units = 0, []
    for text, section in parts:
        units.append(Unit(at, text, section, head, {}, codes))
        at += len(text)
    return units


def test_rules_and_padding_take_three_characters_and_nothing_else_is_changed() -> None:
    rule = f"{'-' * 80}\r\n"
    assert shortened(f"a\n{rule}b{' ' * 30}\n  {'=' * 30} {'=' * 30}\n") == "a\n---\r\nb   \n===\n"
    for text in ("-" * 19, f"{'-' * 80}>", f"a{' ' * 40}b", "", "\n\n", f"| {'-' * 80} |"):
        assert shortened(text) == text
    assert shortened(" " * 500) == "   "


def test_a_stack_is_not_parted_and_codes_are_those_of_errors() -> None:
    stack = "ORA-06512: at line 1\nORA-00942: table or view does not exist\n  more of it\n"
    units = consecutive(*[("word " * 9 + "\n", ("A",))] * 4, (stack, ("A",)), *[("word " * 9 + "\n", ("A",))] * 4)
    found = cut(units)
    [holding] = [chunk for chunk in found if "ORA-" in chunk.text]
    assert stack in holding.text
    assert dict(holding.metadata) == {
        "oracle_error_code": ["ORA-06512", "ORA-00942"],
        "oracle_error_primary": "ORA-06512",
        "oracle_error_cause": "ORA-00942",
    }
    assert all(
        not chunk.metadata for chunk in cut(consecutive(("select 'ORA-00942' from dual\n", ("A",)), codes=False))
    )


def test_half_a_stack_is_not_repeated() -> None:
    more = "  more of what it says\n" * 4
    stack, plain = (
        f"ORA-00942: table or view does not exist\n{more}",
        f"no error here, only words, eight of them\n{more}",
    )
    following = [("word " * 30 + "\n", ("A",))]
    assert cut(consecutive((plain, ("A",)), *following), 60, overlap=20)[1].text.startswith("  more"), (
        "what has no code"
    )
    assert cut(consecutive((stack, ("A",)), *following), 60, overlap=20)[1].text == following[0][0]


def test_a_chunk_is_within_the_limits_where_the_whole_counts_more_than_its_parts() -> None:
    units = consecutive(*[("abcdef\n", ("A",))] * 60)
    found = list(pack.chunks(iter(units), Limits(30, quarters), Cutting("diagnostics", size=30, overlap=0)))
    assert all(quarters(chunk.content) <= 30 for chunk in found)
    assert "".join(chunk.text for chunk in found) == "abcdef\n" * 60


def test_what_is_said_of_the_report_is_said_of_every_chunk_whatever_its_units_say() -> None:
    units = [Unit(0, "a line\n", metadata={"sql_id": "of the unit", "instance": "one"})]
    [chunk] = pack.chunks(iter(units), Limits(60, words), REPORTS, metadata={"sql_id": "of the report"})
    assert dict(chunk.metadata) == {"sql_id": "of the report", "instance": "one"}


def test_the_next_chunk_of_a_section_repeats_whole_lines_of_the_last_and_another_section_none() -> None:
    lines = [f"line {number} of the first section\n" for number in range(20)]
    found = cut(consecutive(*[(line, ("A",)) for line in lines], *[(line, ("B", "b")) for line in lines]), overlap=14)
    for before, after in itertools.pairwise(found):
        if before.section == after.section:
            repeated = before.end - after.start
            assert before.text.endswith(after.text[:repeated])
            assert after.text[:repeated] in {lines[at] + lines[at + 1] for at in range(19)}
        else:
            assert after.start == before.end
    firsts = {chunk.section: chunk.number for chunk in reversed(found)}
    assert [chunk.parent for chunk in found] == [
        None if firsts[chunk.section] == chunk.number else firsts[chunk.section] for chunk in found
    ]


def test_a_head_says_what_the_text_does_not_and_takes_a_third_at_most() -> None:
    head = "sqlid=abcdefghijklm select " + "something, " * 30
    units = consecutive(("PARSING IN CURSOR\n" * 8, ("SQL",)), *[("WAIT nam=x ela=1\n", ("SQL",))] * 30, head=head)
    found = cut(units)
    assert len(found) > 3
    for chunk in found:
        assert chunk.head.startswith("SQL\nsqlid=abcdefghijklm")
        assert words(chunk.head) <= 2 + 20
    assert cut(consecutive(("SQL\ntext\n", ("SQL",))))[0].head == ""


def test_small_sections_of_one_parent_share_a_chunk_and_large_ones_do_not() -> None:
    small = [(f"entry {number}\n", ("log", f"entry {number}")) for number in range(4)]
    found = cut(consecutive(*small, ("word " * 30 + "\n", ("log", "large")), *small, ("x\n", ("other", "x"))))
    assert [chunk.section for chunk in found] == [
        "log > entry 0 … entry 3",
        "log > large",
        "log > entry 0 … entry 3",
        "other > x",
    ]
    assert [chunk.parent for chunk in found] == [None] * 4


def test_a_section_that_comes_back_has_its_first_chunk_for_parent() -> None:
    first, other = ("one " * 30 + "\n", ("cursor 1",)), ("two " * 30 + "\n", ("cursor 2",))
    assert [chunk.parent for chunk in cut(consecutive(first, other, first))] == [None, None, 0]


def test_sections_that_come_back_often_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack, "_SECTIONS", 2)
    one, two, three = (("word " * 30 + "\n", (f"cursor {number}",)) for number in range(3))
    assert [chunk.parent for chunk in cut(consecutive(one, two, one, three, one, two))] == [
        None,
        None,
        0,
        None,
        0,
        None,
    ]


def test_the_end_of_a_large_section_is_not_put_to_the_small_ones_behind_it() -> None:
    large = [("word " * 9 + "\n", ("log", "large"))] * 7
    found = cut(consecutive(*large, ("end\n", ("log", "large")), ("entry\n", ("log", "entry"))), overlap=0)
    assert found[-1].section == "log > entry"
    assert found[-2].text.endswith("end\n")


def test_a_unit_that_is_larger_than_the_window_is_cut_at_lines_and_says_so() -> None:
    found = cut(consecutive(("a few words in a line\n" * 40, ("A",)), ("the next\n", ("A",))))
    assert all(chunk.metadata["continued"] for chunk in found[:-1])
    assert all(chunk.text.endswith("\n") for chunk in found)
    assert all(after.start < before.end for before, after in itertools.pairwise(found))


@pytest.mark.parametrize(
    ("line", "cut_behind"),
    [
        ("column_one, column_two, column_three, " * 20, ", "),
        ("word " * 200, " "),
        ("(ADDRESS=(HOST=a)(PORT=1521))" * 20, ")"),
        ("ksedsts()+244<-kjzdssdmp()+321<-" * 20, "1"),
    ],
)
def test_a_line_that_is_larger_than_the_window_is_cut_at_a_field(line: str, cut_behind: str) -> None:
    found = cut(consecutive((line, ("A",))), 40)
    assert len(found) > 2
    for chunk in found[:-1]:
        assert re.search(rf"(?:{re.escape(cut_behind)}|\d)$", chunk.text)
        assert chunk.metadata["continued"]
    assert "".join(chunk.text for chunk in found) == line


def test_metadata_is_what_the_units_say_and_bounded() -> None:
    units = [
        Unit(2 * number, f"{number % 10}\n", (), "", {"sql_id": f"{number:>013}", "instance": "orcl1"})
        for number in range(40)
    ]
    units.append(Unit(80, "APP-SQLAP-10771: x\n", (), "", {"oracle_error_code": ["ORA-00060"]}))
    [chunk] = cut(units, 200)
    assert chunk.metadata["instance"] == "orcl1"
    assert chunk.metadata["sql_id"] == [f"{number:>013}" for number in range(16)]
    assert chunk.metadata["erp_module"] == "AP"
    assert chunk.metadata["oracle_error_code"] == ["ORA-00060", "APP-SQLAP-10771"]


def test_five_hundred_tokens_where_no_size_is_asked_for_and_an_overlap_below_the_size() -> None:
    units = consecutive(*[("word " * 9 + "\n", ())] * 200)
    found = list(pack.chunks(iter(units), Limits(8000, words), REPORTS))
    assert max(words(chunk.content) for chunk in found) in range(450, 501)
    with pytest.raises(ConfigurationError, match="80 and a chunk has 60"):
        cut(units, 60, overlap=80)
    with pytest.raises(ConfigurationError, match="60 and a chunk has 60"):
        cut(units, 60, overlap=60)


def test_tokens_are_counted_a_fixed_number_of_times_and_units_are_read_as_they_are_needed() -> None:
    """Linear: what is counted for twice the report is twice as much; nothing is held but what one chunk needs."""
    counted, read = 0, 0

    def counting(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return words(text)

    def units(number: int) -> Iterator[Unit]:
        nonlocal read
        at = 0
        for each in range(number):
            text = f"WAIT #{each % 7}: nam='db file sequential read' ela= {each}\n" * (1 + each % 3)
            read += 1
            yield Unit(at, text, ("trace", f"cursor {each // 40}"), f"sqlid={each // 40} select")
            at += len(text)

    costs = []
    for number in (500, 1000, 2000):
        counted = 0
        for _ in pack.chunks(units(number), Limits(128, counting), REPORTS):
            pass
        costs.append(counted)
    assert costs[1] < 2.2 * costs[0]
    assert costs[2] < 2.2 * costs[1]
    read = 0
    chunk = next(pack.chunks(units(2000), Limits(128, words), REPORTS))
    assert read < 12
    assert chunk.number == 0


@pytest.mark.parametrize(
    "line", ["x" * 80_000, "word, " * 10_000, "漢" * 30_000, "-" * 80_000 + "x", "\u0301" * 20_000]
)
def test_a_line_without_end_is_cut_in_linear_time(line: str) -> None:
    counted = 0

    def counting(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return words(text)

    limits = Limits(128, counting)
    found = list(pack.chunks([Unit(0, line)], limits, REPORTS))
    proved(found, line, Limits(128, words))
    assert counted < 60 * len(line)
