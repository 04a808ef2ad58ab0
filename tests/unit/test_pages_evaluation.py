"""The page of an evaluation: the numbers of the tables, every text escaped, its own style alone let in."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import re
import stat
from html.parser import HTMLParser
from pathlib import Path

import pytest

from oraclerag.cli.evaluate_tables import data
from oraclerag.errors import InputError
from oraclerag.evaluate import tables
from oraclerag.evaluate.min_score import SHARES, suggest
from oraclerag.evaluate.report import Distances, Evaluation, Latency, MatchRate
from oraclerag.pages import frame
from oraclerag.pages.evaluation import checked_place, page, write
from tests.unit.evaluation_samples import WRITTEN, comparison, evaluation, rate

HOSTILE = "<script>document.title='hacked'</script>\"'><img src=x onerror=alert(1)>\x1b[31m\u202e\u2066 gpj.exe"
NOTHING = Evaluation("none.jsonl", 10, (), (), 3, Latency(None, None, None, None), failure="Ended after 0 questions.")


class Seen(HTMLParser):
    """What a browser would build: elements, attributes, and the words between."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.rows: list[list[str]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        self.words += data
        if self.lasttag in ("td", "th") and data.strip():
            self.rows[-1][-1] += data


def test_it_says_what_the_terminal_markdown_and_json_say() -> None:
    shown, other, weeks = evaluation(), comparison(), rate()
    rows = Seen(page(shown, weeks, written=WRITTEN)).rows
    for table in (tables.metrics(shown), tables.weeks(weeks), tables.min_scores(suggest(shown.distances))):
        at = rows.index(list(table.columns))
        assert rows[at + 1 : at + 1 + len(table.rows)] == [list(row) for row in table.rows]
    rows = Seen(page(other, written=WRITTEN)).rows
    for table in (tables.differences(other), tables.metrics(other.a), tables.metrics(other.b)):
        assert [row for row in rows if row in [list(one) for one in table.rows]]
    told = data(shown, weeks)
    assert f"{told['min_score']['suggested']:.3f}" in page(shown, written=WRITTEN)
    assert told["match_rate"]["searches"] == weeks.searches
    assert data(other, None)["b"]["min_score"]["choices"]
    assert data(None, weeks)["weeks"]


def test_the_same_gives_the_same_page() -> None:
    assert page(evaluation(), rate(), written=WRITTEN) == page(evaluation(), rate(), written=WRITTEN)


def test_whatever_a_text_holds_it_is_text() -> None:
    shown = dataclasses.replace(
        evaluation(8, text=HOSTILE), name=HOSTILE, notes=(HOSTILE,), failure=HOSTILE, model=HOSTILE,
        options={HOSTILE: HOSTILE},
    )  # fmt: skip
    for text in (page(shown, written=WRITTEN), page(comparison(8, name_b=HOSTILE, text=HOSTILE), written=WRITTEN)):
        seen = Seen(text)
        assert not seen.elements & {"script", "img", "iframe", "link", "object", "form", "a"}
        assert not [name for name in seen.attributes if name.startswith("on") or name in ("style", "src", "href")]
        assert "<script>document.title='hacked'</script>" in seen.words
        assert "␛[31m<U+202E><U+2066> gpj.exe" in seen.words
        assert not set(text) & {"\x1b", "\u202e", "\u2066"}


def test_the_policy_lets_the_style_of_the_page_alone_in() -> None:
    text = page(evaluation(3), rate(), written=WRITTEN)
    assert text.startswith("<!DOCTYPE html>")
    [given] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert html.unescape(given) == (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'"
    )
    assert text.index("Content-Security-Policy") < text.index("<style>")
    rest = text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "http" not in rest
    assert "url(" not in rest
    assert "@import" not in rest


@pytest.mark.parametrize("count", [1, 2, 7])
def test_little_is_shown_too(count: int) -> None:
    text = page(evaluation(count), rate(count), written=WRITTEN)
    assert "nan" not in Seen(text).words.lower()
    assert "No min_score is suggested" in text
    page(comparison(count), written=WRITTEN)


def test_nothing_is_shown_too() -> None:
    nothing = MatchRate(None, 0, 0, None, (), ())
    text = Seen(page(NOTHING, nothing, written=WRITTEN)).words
    assert "Ended after 0 questions." in text
    assert "No question is in the log" in text
    assert "Match rate" in page(None, nothing, written=WRITTEN)


def test_of_many_questions_the_worst_are_shown() -> None:
    shown = evaluation(300)
    rows = Seen(page(shown, written=WRITTEN)).rows
    at = next(place for place, row in enumerate(rows) if row[:2] == ["id", "question"])
    scores = [float(row[2]) for row in rows[at + 1 :]]
    assert len(scores) == 200
    assert scores == sorted(scores)
    assert min(row.scores.get("ndcg@10", 1) for row in shown.questions) == pytest.approx(scores[0], abs=1e-4)


def test_pictures_and_tables_of_a_page_have_names() -> None:
    text = page(comparison(8), rate(), written=WRITTEN)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert {one for found in re.findall(r'aria-labelledby="([^"]+)"', text) for one in found.split()} == set(ids)
    assert text.count("<svg") == text.count("<desc") == text.count('-title">')
    assert text.count("<caption") == text.count("<table") == text.count('role="region"')


def test_every_colour_can_be_read() -> None:
    palettes = [dict(re.findall(r"--(\w+): #(\w{6})", rules)) for rules in re.findall(r":root \{([^}]+)\}", frame.BASE)]
    assert len(palettes) == 3, "light, dark, printed"
    for palette in palettes:
        for colour in ("ink", "muted", "blue", "orange", "grey"):
            for ground in ("paper", "faint"):
                assert contrast(palette[colour], palette[ground]) >= 4.5, (colour, ground, palette)


def contrast(one: str, other: str) -> float:
    """Give the contrast of two colours, as the Web Content Accessibility Guidelines have it."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_a_page_is_written_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text("before")
    write(checked_place(file), "after")
    assert file.read_text() == "after"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    (tmp_path / "other").write_text("")
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)
    with pytest.raises(UnicodeEncodeError):
        write(file, "half \ud800")
    assert file.read_text() == "after"
    assert len(list(tmp_path.iterdir())) == 2


def test_where_it_cannot_be_written_is_said_before(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        checked_place(tmp_path)
    with pytest.raises(InputError, match=r"There is no folder '.*none' for the page\."):
        checked_place(tmp_path / "none" / "report.html")
    with pytest.raises(InputError, match="cannot be written: No such file"):
        write(tmp_path / "none" / "report.html", "")


# -- min_score --------------------------------------------------------------------------------------------------------


def test_a_min_score_keeps_what_it_promises() -> None:
    relevant = tuple(0.1005 + at / 1000 for at in range(100))  # scores 0.8005 … 0.8995
    found = suggest(Distances(relevant, (0.15, 0.5), (0.6, 0.7)))
    assert [one.keeps_at_least for one in found.choices] == list(SHARES)
    assert [one.score for one in found.choices] == [0.8, 0.801, 0.805, 0.81]
    assert [one.relevant for one in found.choices] == [1, 0.99, 0.95, 0.9]
    assert {one.others for one in found.choices} == {0.25}
    assert found.suggested == 0.805
    assert tables.suggested(found) == (
        "Suggested min_score: 0.805 keeps 95.0% of the relevant hits and 25.0% of the others."
    )


@pytest.mark.parametrize(
    ("distances", "reason"),
    [
        (Distances((), (0.1,), ()), "no hit is known to be relevant"),
        (Distances((0.1,) * 19, (0.5,), ()), "fewer than 20 hits are known to be relevant"),
        (Distances((0.1,) * 20, (), ()), "every hit is relevant"),
        (Distances((0.4,) * 20, (0.1,), (0.2,)), "what would keep 95 % of the relevant hits would drop none"),
    ],
)
def test_no_min_score_is_suggested_without_grounds(distances: Distances, reason: str) -> None:
    found = suggest(distances)
    assert found.suggested is None
    assert reason in tables.suggested(found)
    assert len(found.choices) == (len(SHARES) if distances.relevant else 0)


def test_opposite_directions_have_a_score_that_can_be_set() -> None:
    assert [one.score for one in suggest(Distances((2.0,), (), ())).choices] == [-1] * 4
