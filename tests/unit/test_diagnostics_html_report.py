"""HTML made readable: pages written here, from what reports and documents look like."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag.chunk.diagnostics.html_report import cells, readable, readable_parts
from tests.real_files import REPORTS, needs

SAMPLE = REPORTS / "awr_12.2.0.1_linux.html"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("plain  text\nof two lines", "plain text of two lines\n"),
        ("<title>A report</title><H1 CLASS='x'>\nA\nreport</H1>", "A report\n\n# A report\n"),
        ("<h2>Waits<a href='#waits'>¶</a></h2><p>x<br>y", "## Waits\n\nx\ny\n"),
        ("<h2><a href='#waits'>Waits</a></h2>", "## Waits\n"),
        ("<ul><li>one<li>two<ul><li>deep</ul></ul>end", "- one\n- two\n\n  - deep\n\nend\n"),
        ("a &lt; b &amp;&amp; c&nbsp;&gt; d &quot;e&quot; &#65; &bogus;", 'a < b && c > d "e" A &bogus;\n'),
        ("if a < b then a<b", "if a < b then a<b\n"),
        ("<p># no heading<p>| no row", "\\# no heading\n\n\\| no row\n"),
        ("a<script>var x = '<p>no</p>';</SCRIPT>b<style>p {}</style>c<!-- <p>no --> d", "abc d\n"),
        ("<!-- $Header: 1366133.1 sqlhc.sql 12.1 $ --><p>x", "$Header: 1366133.1 sqlhc.sql 12.1 $\n\nx\n"),
        ('<a title="a > b" href=x>link</a>, <b>bold</b>!', "link, bold!\n"),
        ("<pre>\n a  b\n  <b>c</b>\n</pre>after", "````\n a  b\n  c\n````\n\nafter\n"),
        ("<pre>open", "````\nopen\n````\n"),
        ("<div><a href='#top'>Back to Top</a></div><p>x", "x\n"),
        ("<p>See <a href='#top'>the top</a>.", "See the top.\n"),
        ("<p><a href='#top'>The top</a> says it.", "The top says it.\n"),
        ("<p><a href='other.html'>Another page</a>", "Another page\n"),
    ],
)
def test_text_keeps_the_structure_of_its_page(html: str, text: str) -> None:
    assert readable(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            """<table summary="This table displays
            waits"><tr><th>Event</th><th>Waits</th></tr>
            <tr><td>log file sync</td><td align=right>  12</td></tr></table>after""",
            "Table: This table displays waits\n\n| Event | Waits |\n|-|-|\n| log file sync | 12 |\n\nafter\n",
        ),
        ("<table><tr><td>a<td><td>b<tr><td>c</table>", "| a | | b |\n| c |\n"),
        ("<table><tr><th>only</th></tr></table>", "| only |\n|-|\n"),
        ("<table><tr><th>title<tr><th>a<th>b<tr><td>1<td>2", "| title |\n| a | b |\n|-|-|\n| 1 | 2 |\n"),
        (
            '<table><tr><td>&nbsp;<th colspan="2">of<tr><th>a<th>b<th>c<tr><td>1<td>2<td>3</table>',
            "| | of | |\n| a | b | c |\n|-|-|-|\n| 1 | 2 | 3 |\n",
        ),
        ("<table><tr><th>a<th>b<tr><th>row<td>1</table>", "| a | b |\n|-|-|\n| row | 1 |\n"),
        ("<table><tr><td><td>b<tr><td>1</table>", "| | b |\n| 1 |\n"),
        ('<table><tr><th colspan=" 2">a</th><th>b</th></tr></table>', "| a | | b |\n|-|-|-|\n"),
        ("<table><tr><td>a || b<td>c | d</table>", "| a || b | c \\| d |\n"),
        ("<table><tr><td><p>one<p>two<ul><li>three</ul></table>", "| one two three |\n"),
        ("<table><tr><td><a href='#0a'>0a</a></table>", "| 0a |\n"),
        ("<table><tr><td><h1>A</h1>b</table>", "# A\n\nb\n"),
        (
            "<table><tr><td>menu<td><h2>Title</h2>text<table><tr><td>in</table></table>",
            "| menu |\n\n## Title\n\ntext\n\n| in |\n",
        ),
        (f"<table><tr><td>{'x' * 995}snap_\nid in\nit</table>", f"| {'x' * 995}snap_id in it |\n"),
    ],
)
def test_a_table_is_rows_of_cells(html: str, text: str) -> None:
    assert readable(html) == text


def test_cells_come_back_from_a_row() -> None:
    row = readable("<table><tr><td>a || b<td><td>c | d<td>e</table>")
    assert cells(row) == ["a || b", "", "c | d", "e"]
    assert cells("no row") == []


_MARKUP = st.sampled_from(
    [
        *[
            "<table>",
            "</table>",
            "<tr>",
            "<td>",
            "</td>",
            "<th>",
            "<h1>",
            "</h2>",
            "<p>",
            "<li>",
            "<ul>",
            "</ul>",
            "<pre>",
            "</pre>",
            "<br/>",
            "<script>",
            "</script>",
        ],
        *[
            "</a>",
            "<!--",
            "-->",
            "<",
            ">",
            '"',
            "'",
            "&",
            "&lt;",
            "&#10;",
            "|",
            "||",
            "\\",
            "````",
            "#",
            "word",
            "<!x>",
        ],
        *["<a href='#x'>", '<a href="', "\r\n", "\r", "\n", " ", "\x0b", "\x85", "\u2028", "\x00"],
    ]
)


@given(st.lists(st.one_of(_MARKUP, st.text(max_size=4)), max_size=40), st.integers(1, 9))
def test_any_text_is_read_and_the_parts_it_comes_in_do_not_matter(marks: list[str], size: int) -> None:
    html = "".join(marks)
    text = readable(html)
    assert "".join(readable_parts(html[at : at + size] for at in range(0, len(html), size))) == text
    assert text == "" or text.endswith("\n")


@settings(max_examples=10)
@given(st.lists(st.one_of(_MARKUP, st.text("ab<>&|\"'-!\r\n ", max_size=6)), min_size=1, max_size=10))
def test_blocks_do_not_matter_in_a_long_page(marks: list[str]) -> None:
    html = "".join(marks) * (70_000 // max(1, sum(map(len, marks))) + 1)
    assert "".join(readable_parts([html[:7], html[7:66_000], html[66_000:]])) == readable(html)


@needs(SAMPLE)
def test_a_real_report() -> None:
    text = readable(SAMPLE.read_text(encoding="utf-8", errors="replace"))
    lines = text.split("\n")
    assert sum(line.startswith("## ") for line in lines) == 20
    assert sum(line.startswith("### ") for line in lines) == 129
    assert sum(line.startswith("Table: This table displays") for line in lines) == 100
    assert not [mark for mark in ("<td", "Back to", "&#160;") if mark in text]
    assert "NAME) FROM DBA_PROCEDURES P WHERE P.OBJECT_ID" in text  # broken after WH
    assert sum(len(cells(line)) > 1 for line in lines) > 2000
