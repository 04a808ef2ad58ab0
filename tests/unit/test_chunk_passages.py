"""The chunker of prose and Markdown: whole, within the limits, cut where a person would cut."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oraclerag import chunk as stage
from oraclerag.chunk import Limits, boundaries, storable
from oraclerag.cutting import Cutting
from oraclerag.errors import ConfigurationError
from oraclerag.model.tokens import TokenBound
from oraclerag.records import Chunk
from tests.real_files import PAGES, needs

ROOT = Path(__file__).resolve().parents[2]


def words(text: str) -> int:
    """A tokenizer that takes every word and every punctuation mark for a token, and adds two."""
    return 2 + len(text.split()) + sum(not char.isalnum() and not char.isspace() for char in text)


def cut(text: str, limits: Limits, *, overlap: int | None = 0, title: str | None = None) -> list[Chunk]:
    return list(stage.chunks(text, limits, Cutting("passages", size=limits.tokens, overlap=overlap), title=title))


def characters(size: int) -> Limits:
    return Limits(size, len)


def by_words(size: int) -> Limits:
    return Limits(size, words)


def texts(found: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in found]


def check(text: str, found: list[Chunk], limits: Limits, overlap: int) -> None:
    """Hold chunks against what every chunk must keep."""
    clean = storable(text)
    nothing = limits.count("")
    end = begun = 0
    first: dict[int, str | None] = {}
    for number, chunk in enumerate(found):
        assert chunk.number == number
        assert chunk.text == clean[chunk.start : chunk.end]
        assert chunk.text == chunk.text.rstrip() != ""
        assert limits.fits(chunk.content)
        assert chunk.end > end
        assert clean[end : chunk.start].strip() == ""
        if chunk.start < end:
            assert number > 0
            assert chunk.start > begun
            assert limits.count(clean[chunk.start : end]) - nothing <= overlap
            assert chunk.section == found[number - 1].section
        assert clean[chunk.start - 1 : chunk.start + 1] != "\r\n" or chunk.start == 0
        assert clean[chunk.end - 1 : chunk.end + 1] != "\r\n"
        assert chunk.head == "" or chunk.head.endswith("\n")
        if chunk.parent is None:
            first[number] = chunk.section
        else:
            assert chunk.parent == max(first)
            assert first[chunk.parent] == chunk.section
        end, begun = chunk.end, chunk.start
    assert clean[end:].strip() == ""


PIECES = [
    *["# Setup\n", "## Linux\n", "Title\n=====\n", "### " + "long " * 40 + "\n", "#\n", "- item\n", "  - nested item. Two.\n"],
    *["1. one\n", "> quote\n", "> # no heading\n", "```\n", "~~~~\n", "    code\n", "---\n", "***\n", "<div>\n", "<!--\n", "-->\n"],
    *["| a | b |\n|---|---|\n", "| 1 | 2 |\n", "|" + " cell |" * 30 + "\n", "\n", "\n\n", "\r\n", "\r", "\r\n\r\n", " ", "\t", "\x0b"],
    *["The invoice was paid twice. ", "See e.g. the log. ", "Why? ", "漢字です。", "漢字" * 40, "e\u0301", "😀\u200d😀", "👍🏽", "\u0301" * 50],
    *["שלום עולם. ", "هل؟ ", "word ", "A" * 120, "....... ", ".'.'", "\x00", "\ud83d", "\u2028", "\xa0", "x\n" * 20, "[a]: http://b\n"],
]  # fmt: skip
DOCUMENTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.text(st.characters(exclude_categories=[]), max_size=400),
    st.text("ab \n.-#|>`漢\u0301\u200d\r", max_size=400),
)
LIMITS = [by_words(20), by_words(60), Limits(10_000, words, size=150), characters(40)]
LIMITS += [Limits(64, TokenBound().count, prefix="passage: ", size=300)]


@given(
    text=DOCUMENTS,
    limits=st.sampled_from(LIMITS),
    overlap=st.sampled_from([0, 4, 15]),
    title=st.sampled_from([None, "Setup", "A title of some words", "\ud83d" + "T" * 900]),
)
@settings(max_examples=250, deadline=None)
@example(text="\ufeff---\r\na: b\r\n---\r\n", limits=LIMITS[0], overlap=0, title=None)
def test_whole_within_the_limits_and_always_the_same(
    text: str, limits: Limits, overlap: int, title: str | None
) -> None:
    found = cut(text, limits, overlap=overlap, title=title)
    check(text, found, limits, overlap)
    assert found == cut(text, limits, overlap=overlap, title=title)


@given(text=DOCUMENTS, size=st.integers(20, 80), data=st.data())
@settings(max_examples=80, deadline=None)
def test_any_overlap_below_the_size(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.sampled_from([1, size // 2, size - 1]))
    check(text, cut(text, by_words(size), overlap=overlap), by_words(size), overlap)


SENTENCE = "The supplier was paid twice in March by the bank. "
LONG: dict[str, Callable[[int], str]] = {
    "prose": lambda n: "\n\n".join(SENTENCE * (1 + i % 9) for i in range(n // 250)),
    "one word": lambda n: "A" * n,
    "words": lambda n: "word " * (n // 5),
    "lines of one character": lambda n: "a\n" * (n // 2),
    "paragraphs of one character": lambda n: "a\n\n" * (n // 3),
    "blank": lambda n: "a" + " " * n + "\nb",
    "headings": lambda n: "## Heading\n" * (n // 11),
    "sections": lambda n: "## Heading\n\nA text.\n\n" * (n // 21),
    "lists": lambda n: "- a\n  - b\n    - c\n" * (n // 18),
    "deep": lambda n: "".join("  " * (i % 40) + "- item\n" for i in range(n // 47)),
    "quotes": lambda n: "> > > > quoted text\n" * (n // 20),
    "code": lambda n: "```\n" + "select 1 from dual;\n" * (n // 20) + "```\n",
    "table": lambda n: "| a | b |\n|---|---|\n" + "| 1 | two |\n" * (n // 12),
    "CRLF": lambda n: "- a line\r\n\r\ntext\r\n" * (n // 17),
    "CR": lambda n: "- a line\r\rtext\r" * (n // 15),
    "Chinese": lambda n: "漢字語" * (n // 3),
    "marks": lambda n: "." * n,
    "links": lambda n: "[a]: http://b\n" * (n // 14),
    "Hebrew": lambda n: "שלום עולם. " * (n // 11),
    "NUL": lambda n: "\x00" * n,
}


@pytest.mark.parametrize("kind", LONG)
def test_what_is_counted_grows_with_the_text(kind: str) -> None:
    """Counting is what costs, and it is asked for by every step; so many characters cannot grow faster than the text."""
    counted = 0

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text)
        return words(text)

    seen = []
    for size in (5_000, 20_000):
        counted = 0
        text = LONG[kind](size)
        limits = Limits(64, count)
        found = cut(text, limits, overlap=6)
        seen.append(counted)
        check(text, found, by_words(64), 6)
    assert seen[1] <= 4 * seen[0] + 50_000
    assert seen[1] <= 20_000 * (4 if kind == "prose" else 60)


def test_ten_megabytes_go_through() -> None:
    text = LONG["prose"](10_000_000)
    assert sum(1 for _ in stage.chunks(text, Limits(2000, len), Cutting("passages", size=2000))) > 5000


def test_headings_are_those_of_the_text_only() -> None:
    text = (
        "# Setup\n\nBegin.\n\n~~~\n# not a heading\n~~~\n\n````\n```\n## neither\n```\n````\n\n"
        "    # indented\n\n> # quoted\n\n<!--\n# in a comment\n-->\n\n## Next\n\nEnd.\n"
    )
    found = cut(text, by_words(500))
    assert [chunk.section for chunk in found] == ["Setup", "Setup > Next"]
    assert [chunk.head for chunk in found] == ["", "Setup\n"]
    assert found[1].text.startswith("## Next")


def test_code_that_fits_is_not_torn() -> None:
    fence = "```sql\nselect 1\n\nfrom dual;\n```"
    found = cut(f"{SENTENCE * 3}\n\n{fence}\n\n{SENTENCE * 3}", by_words(40))
    assert sum(fence in chunk.text for chunk in found) == 1


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        pytest.param("Title\n=====\ntext\n\nPart\n----\ntext", ["Title", "Title > Part"], id="underlined"),
        pytest.param("intro\n\n# A\ntext\n# B\ntext", [None, "A", "B"], id="text before the first heading"),
        pytest.param("# A\n## B\n### C\ntext\n## D\ntext", ["A > B > C", "A > D"], id="headings without text"),
        pytest.param("## A\n# B\ntext", ["B"], id="a lower one before a higher one"),
        pytest.param("# A\ntext\n\n## B", ["A"], id="a heading at the end"),
        pytest.param("# A\n\n# B", [None], id="headings only"),
        pytest.param("# `rag` *is* [a link](http://b) { #rag }\nx", ["rag is a link"], id="as it is read"),
        pytest.param("---\ntitle: x\n---\n\ntext", [None], id="front matter is no heading"),
        pytest.param("---\ntitle: x\n---\n# A\ntext", [None, "A"], id="a heading behind front matter"),
        pytest.param("text\n---\nmore", ["text"], id="a rule beneath a line makes it a heading"),
        pytest.param("#hashtag\n\n- # in a list\n", [None], id="no headings"),
    ],
)  # fmt: skip
def test_sections(text: str, sections: list[str | None]) -> None:
    found = cut(text, by_words(500))
    assert [chunk.section for chunk in found] == sections
    check(text, found, by_words(500), 0)


def test_a_chunk_says_where_it_stands() -> None:
    text = "# Manual\n\n## Setup\n\n### Linux\n\n" + SENTENCE * 8
    found = cut(text, by_words(50), title="Manual")
    assert len(found) > 2
    assert [chunk.section for chunk in found] == ["Manual > Setup > Linux"] * len(found)
    assert found[0].head == ""  # it is all there
    assert found[0].text.startswith("# Manual\n\n## Setup\n\n### Linux\n\nThe supplier")
    assert {chunk.head for chunk in found[1:]} == {"Manual > Setup > Linux\n"}
    assert [chunk.parent for chunk in found] == [None, *[0] * (len(found) - 1)]


def test_the_title_leads_the_path() -> None:
    text = "Intro.\n\n# Setup\n\n" + SENTENCE * 8
    found = cut(text, by_words(50), title=" The\nmanual ")
    assert [chunk.head for chunk in found[:3]] == ["The manual\n", "The manual\n", "The manual > Setup\n"]
    assert [chunk.section for chunk in found[:3]] == [None, "Setup", "Setup"]
    assert cut("The manual\n\nIntro.", by_words(50), title="The manual")[0].head == ""


def test_a_path_takes_a_third_at_most() -> None:
    headings = "".join(f"{'#' * level} part {level} of the long manual\n" for level in range(1, 7))
    found = cut(headings + SENTENCE * 12, by_words(60), title="Everything")
    assert found[-1].head == "Everything > … > part 6 of the long manual\n"
    found = cut("# " + "word " * 100 + "\n" + SENTENCE * 12, by_words(60))
    assert found[-1].head == "word " * 17 + "word\n"


def test_text_of_two_sections_is_never_in_one_chunk_nor_repeated() -> None:
    text = "".join(f"## Part {number}\n\nShort text {number}. It ends.\n\n" for number in range(5))
    found = cut(text, by_words(200), overlap=50)
    assert len(found) == 5
    assert all(chunk.text.count("##") == 1 for chunk in found)


@given(
    parts=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5), st.integers(0, 60)), min_size=1, max_size=12),
    size=st.integers(24, 90),
)
@settings(max_examples=100, deadline=None)
def test_a_heading_never_stands_alone(parts: list[tuple[int, int, int]], size: int) -> None:
    text = "Intro.\n\n" + "".join(
        f"{'#' * level} {'Head ' * (title % 4 + 1)}\n\n{('word ' * 9 + '. ') * (length // 10) + 'word ' * (length % 10)}\n\n"
        for level, title, length in parts
    )
    last = re.search(r"(?:^#.*\n\s*)+\Z", text, re.MULTILINE)
    parted = last is not None and not by_words(size).part(3).fits(last[0].strip())  # too long to go with anything
    for chunk in cut(text, by_words(size)):
        if parted and last is not None and chunk.start >= last.start():
            break
        assert re.sub(r"^#.*$", "", chunk.text, flags=re.MULTILINE).strip(), chunk


def test_blanks_behind_a_section_do_not_part_it() -> None:
    section = "# Head \n\nword \n\n## Head \n\n\n\n#### Head Head Head Head"
    assert texts(cut(f"Intro.\n\n{section} \n\n\n\n", by_words(24))) == ["Intro.", section]


def test_blocks_are_put_together_and_stay_whole() -> None:
    paragraphs = [SENTENCE * 2 for _ in range(9)]
    found = cut("\n\n".join(paragraphs), by_words(60))
    assert len(found) == 5
    assert all(chunk.text.count(SENTENCE.strip()) in {2, 4} for chunk in found)


def test_items_stay_whole() -> None:
    items = [f"- Item {number} says that the supplier\n  waits for its money. It is late." for number in range(12)]
    found = cut("\n".join(items), by_words(50))
    assert len(found) > 3
    for item in items:
        assert sum(item in chunk.text for chunk in found) == 1


def test_the_overlap_is_whole_sentences_of_the_chunk_before() -> None:
    text = " ".join(f"Sentence {number} of the long report ends." for number in range(40))
    found = cut(text, by_words(60), overlap=17)
    repeated = [text[after.start : before.end] for before, after in itertools.pairwise(found)]
    assert len(repeated) > 5
    assert all(re.fullmatch(r"(Sentence \d+ of the long report ends\. ?){2}", part) for part in repeated)


def test_a_sentence_longer_than_the_overlap_is_not_repeated() -> None:
    found = cut(SENTENCE * 30, by_words(60), overlap=5)
    assert all(before.end <= after.start for before, after in itertools.pairwise(found))


def test_no_rows_and_no_code_are_repeated() -> None:
    table = "| a | b |\n|---|---|\n" + "".join(f"| {number} | value |\n" for number in range(30))
    code = "```\n" + "".join(f"line {number};\n" for number in range(60)) + "```\n"
    found = cut(f"Before it. And more.\n\n{table}\nBetween.\n\n{code}\nBehind.", by_words(60), overlap=30)
    everything = "\n".join(texts(found))
    assert all(everything.count(f"| {number} | value |") == 1 for number in range(30))
    assert all(everything.count(f"line {number};") == 1 for number in range(60))


def test_a_table_repeats_its_header_and_not_its_caption() -> None:
    rows = [f"| {number} | value {number} |" for number in range(60)]
    text = "\n".join(["Table 1: values", "", "| number | value  |", "|--------|--------|", *rows])
    found = cut(text, by_words(110), title="Values")
    assert 4 <= len(found) <= 8
    assert all("| number | value" in chunk.content for chunk in found)
    assert all(chunk.head == "Values\n| number | value |\n|---|---|\n" for chunk in found[1:])
    everything = "\n".join(texts(found))
    assert everything.count("Table 1: values") == 1
    assert [line for line in everything.split("\n") if line in rows] == rows


def test_a_header_that_is_too_wide_is_not_repeated() -> None:
    names = "|" + " column |" * 40
    text = "\n".join([names, "|" + "---|" * 40, *("|" + f" {number} |" * 4 for number in range(60))])
    found = cut(text, by_words(60))
    check(text, found, by_words(60), 0)
    assert all(chunk.head == "" for chunk in found)


def test_one_word_longer_than_the_limit() -> None:
    found = cut("A" * 2000, characters(500))
    assert [(chunk.start, chunk.end) for chunk in found] == [(0, 500), (500, 1000), (1000, 1500), (1500, 2000)]
    found = cut(f"Before it. {'A' * 2000} Behind it.", characters(500))
    assert [len(chunk.text) for chunk in found] == [10, 500, 500, 500, 500, 10]


def test_no_character_is_lost_in_a_text_without_blanks() -> None:
    text = "".join(chr(0x4E00 + number) for number in range(1000))
    for limits in (by_words(64), Limits(64, TokenBound().count)):
        found = cut(text, limits)
        assert "".join(texts(found)) == text
        check(text, found, limits, 0)


def test_chinese_ends_its_sentences_without_blanks() -> None:
    sentence = "発注書は三月に二度支払われました。"
    found = cut(sentence * 20, characters(60))
    assert {chunk.text for chunk in found} == {sentence * 3, sentence * 2}


@pytest.mark.parametrize("char", ["e\u0301", "👍🏽", "👩\u200d💻", "\U0001f1e9\u0301"])
def test_a_character_is_not_parted(char: str) -> None:
    found = cut(char * 300, Limits(10_000, words, size=100))
    assert len(found) > 5
    assert all(chunk.text == char * (len(chunk.text) // len(char)) for chunk in found)


def test_surrogates_and_nul_can_be_stored() -> None:
    found = cut("ok \ud83d end \x00.", by_words(20))
    assert texts(found) == ["ok \ufffd end \ufffd."]
    "".join(texts(cut("😀" * 100 + "\ud83d", Limits(10_000, words, size=20)))).encode()


@pytest.mark.parametrize("text", ["0x1f " * 512, "漢字" * 300, "a1b2c3d4e5f6 " * 300], ids=["hex", "Chinese", "ids"])
def test_dense_text_is_counted_and_not_estimated(text: str) -> None:
    for limits in (by_words(128), Limits(128, TokenBound().count, prefix="passage: ")):
        found = cut("# A heading\n\n" + text, limits, title="The title")
        check("# A heading\n\n" + text, found, limits, 0)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize(
    "text",
    [
        "A\n\nB\n\nC",
        "# A\n\ntext\n\n- a\n- b\n\n| a | b |\n|--|--|\n| c | d |\n\n```\n# c\n```",
        SENTENCE * 20 + "\n\nend",
    ],
)
def test_line_ends_of_any_kind(text: str, end: str) -> None:
    plain, other = cut(text, by_words(20)), cut(text.replace("\n", end), by_words(20))
    assert [chunk.text.split() for chunk in other] == [chunk.text.split() for chunk in plain]
    assert [chunk.section for chunk in other] == [chunk.section for chunk in plain]
    check(text.replace("\n", end), other, by_words(20), 0)


def test_paragraphs_become_chunks_whatever_ends_their_lines() -> None:
    for text in ("A\n\nB\n\nC", "A\r\n\r\nB\r\n\r\nC", "A\r\rB\r\rC", "A\r\n\nB\n\r\nC"):
        assert texts(cut(text, characters(16))) == [text]


def test_what_the_model_does_not_read_is_in_a_chunk_of_its_own() -> None:
    found = cut("filler " * 300 + "Zwischenfall", Limits(256, words))
    assert found[-1].text.endswith("Zwischenfall")
    assert all(words(chunk.content) <= 256 for chunk in found)
    with pytest.raises(ConfigurationError, match="chunk_size_tokens is 500, but the model reads 256"):
        list(stage.chunks("text", Limits(256, words), Cutting("passages", preset="article")))


@pytest.mark.parametrize("text", ["", " \n\t ", "\u00a0", "\r\n\r\n"])
def test_a_text_of_blanks_has_no_chunks(text: str) -> None:
    assert cut(text, by_words(20), title="Title") == []


def test_a_page_of_many_pieces_is_parsed_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from oraclerag.chunk import markdown_blocks

    text = (
        "# A\n\ntext\n\n- a\n\n  b\n- c\n\n```\n\n# no\n\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1. x\n\n2. y\n" * 30
    )
    whole = list(markdown_blocks.markdown_blocks(text, 0))
    for window in (1, 7, 40, 200):
        monkeypatch.setattr(markdown_blocks, "_WINDOW", window)
        assert list(markdown_blocks.markdown_blocks(text, 0)) == whole


@given(st.lists(st.sampled_from([p for p in PIECES if "\r" not in p]), max_size=40).map("".join), st.integers(1, 80))
@settings(max_examples=60, deadline=None)
def test_pieces_of_any_page_are_parsed_as_one(text: str, window: int) -> None:
    from oraclerag.chunk import markdown_blocks

    whole = list(markdown_blocks.markdown_blocks(text, 0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown_blocks, "_WINDOW", window)
        assert list(markdown_blocks.markdown_blocks(text, 0)) == whole


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four… Five", 5),
        ("He paid, e.g. in March, incl. 3.5 EUR. It was late.", 2),
        ("Dr. Smith of the U.S. bank wrote. Nobody read.", 2),
        ("1. First item. 2.\nThen\n12. Third.", 3),
        ('He said "Stop." Then (he left.) **End.** Now', 4),
        ("Wait...... what", 2),
        ("終わり。次！「はい。」最後", 4),
        ("version 1.2.3 is out", 1),
        ("هل هذا صحيح؟ نعم", 2),
    ],
)
def test_sentences(text: str, sentences: int) -> None:
    assert 1 + len(list(boundaries.sentence_ends(text, 0, len(text)))) == sentences


def test_the_documentation_shows_what_happens() -> None:
    page = (ROOT / "docs" / "chunking.md").read_text("utf-8")
    [(document, shown)] = re.findall(r"^```markdown\n(.*?)^```.*?^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    found = cut(document, by_words(48), overlap=12, title="Payables manual")
    assert (
        shown
        == "\n\n".join(
            f"{chunk.number}: {chunk.section}, {chunk.start} to {chunk.end}\n"
            + (f"{chunk.head}....\n" if chunk.head else "")
            + chunk.text
            for chunk in found
        )
        + "\n"
    )


@needs(PAGES)
@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.long)])
def test_real_pages_go_through(every: int) -> None:
    pages = sorted(PAGES.rglob("*.md"))[::every]
    assert pages
    for page in pages:
        text = page.read_bytes().decode("utf-8", "replace")
        for limits in (by_words(128), characters(1500)):
            found = cut(text, limits, overlap=limits.tokens // 10, title=page.stem)
            check(text, found, limits, limits.tokens // 10)
