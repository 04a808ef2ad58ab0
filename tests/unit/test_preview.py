"""What `oraclerag chunk` shows: who counts, what it guesses, and the page."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.chunk import storable
from oraclerag.cli.chunk_page import page
from oraclerag.console import visible
from oraclerag.cutting import Cutting
from oraclerag.errors import ConfigurationError, InputError, ModelError
from oraclerag.model.byte_pairs import BytePairCounter
from oraclerag.model.window import Window, window
from oraclerag.preview import Measured, Preview, guessed, preview
from oraclerag.records import Chunk
from tests.unit.model.folders import write_folder

# every byte is a token, "ab" is one, and so is a special token that nobody may write
TINY = tiktoken.Encoding(
    "tiny",
    pat_str=r"\w+|\W",
    mergeable_ranks={bytes([n]): n for n in range(256)} | {b"ab": 256},
    special_tokens={"<|end|>": 257},
)


def test_byte_pairs_are_counted_and_special_tokens_are_text() -> None:
    counter = BytePairCounter(TINY)
    assert counter.exact
    assert [counter.count(text) for text in ("", "ab", "abc ab", "é", "<|end|>")] == [0, 1, 4, 2, 7]
    assert counter.count("\ud800") == counter.count("\ufffd")


def test_a_missing_library_or_vocabulary_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(name: str) -> tiktoken.Encoding:
        raise ConnectionError(name)

    with monkeypatch.context() as patch:
        patch.setattr(tiktoken, "get_encoding", unreachable)
        with pytest.raises(ModelError, match="cl100k_base is not in tiktoken's cache") as error:
            window("cl100k")
        assert "TIKTOKEN_CACHE_DIR" in str(error.value.hint)
        patch.setattr(tiktoken, "get_encoding", lambda name: TINY)
        assert window("cl100k") == Window("cl100k", 8191, "", BytePairCounter(TINY))
        patch.setitem(sys.modules, "tiktoken", None)
        with pytest.raises(InputError, match="tiktoken, which is not installed") as missing:
            window("cl100k")
        assert missing.value.hint == "Install it: pip install 'oraclerag[openai]'."


def test_a_folder_counts_as_its_model_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_folder(tmp_path / "encoder")
    found = window(str(folder))
    assert (found.name, found.counter.exact, found.counter.count("")) == ("encoder", True, 2)
    monkeypatch.setenv("ORACLERAG_CACHE_DIR", str(tmp_path / "empty"))
    with pytest.raises(InputError, match=r"minilm-l6 is not in the cache") as error:
        window("MiniLM-L6")
    assert error.value.hint == "Run `oraclerag model fetch minilm-l6`."
    with pytest.raises(InputError, match=r"minilm-l12 is not in the cache"):
        window("ALL_MINILM_L12_V2")
    with pytest.raises(InputError, match=r"'gpt' counts no tokens: neither one of cl100k, minilm-l6 nor the folder"):
        window("gpt")


def test_a_preview_measures_what_is_embedded() -> None:
    model = Window("tiny", 40, "passage: ", BytePairCounter(TINY))
    shown = preview("first line\n" + "word " * 20, model, Cutting("whole"))
    assert len(shown.chunks) > 2
    for measured in shown.chunks:
        assert measured.tokens == len("passage: " + measured.chunk.content) == measured.size
        assert measured.tokens <= 40
    assert (shown.model, shown.max_tokens, shown.exact, shown.family) == ("tiny", 40, True, None)
    with pytest.raises(ConfigurationError, match="is 41, but the model reads 40"):
        preview("text", model, Cutting("whole", size=41))
    assert guessed("# A title\n\nSome prose.\n") == "passages"
    report = preview("some report\nORA-00942: table or view does not exist\n", model, Cutting("diagnostics"))
    assert (report.family, report.experimental) == ("generic", False)


class _Read(HTMLParser):
    """The page as a browser takes it: which elements, which attributes, which text in the <pre> of the text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, str] = {}
        self.marks: list[tuple[str | None, str | None]] = []
        self._open: list[str] = []
        self.body = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag != "meta":
            self._open.append(tag)
        if tag == "mark":
            given = dict(attrs)
            self.marks.append((given.get("class"), given.get("title")))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        name = self._open[-1] if self._open else ""
        if "pre" in self._open and "a" not in self._open and "li" not in self._open:
            self.body += data
        self.texts[name] = self.texts.get(name, "") + data


HOSTILE = "</pre><script>alert(1)</script> \" onmouseover='x' \x1b[31m\x00\u202e & <b\n\tend"


def hostile_page() -> str:
    chunks = (
        Chunk(
            0, HOSTILE[:40], 0, 40, section="A > \"><img src=x onerror='1'>", metadata={"</dd><i>": ["<ORA-1>", "&"]}
        ),
        Chunk(1, HOSTILE[30:60], 30, 60, head="<u>head</u>\n", parent=0),
        Chunk(2, HOSTILE[35:], 35, len(HOSTILE)),
    )
    shown = Preview(
        HOSTILE, tuple(Measured(chunk, 1234, 5) for chunk in chunks), Cutting("diagnostics"), "<m>", 128, False,
        family="trace", experimental=True,
    )  # fmt: skip
    return "".join(page(shown, "<title>\"'\x1b\u202e.txt"))


def test_nothing_in_a_text_takes_effect_in_the_page() -> None:
    text = hostile_page()
    read = _Read()
    read.feed(text)
    read.close()
    assert not read.tags & {"script", "img", "i", "u", "b", "iframe", "link", "form"}
    assert not [name for name, _ in read.attributes if name.startswith("on") or name in ("src", "style")]
    assert {value for name, value in read.attributes if name == "href"} == {
        f"#{place}-{n}" for place in ("text", "chunk") for n in range(3)
    }
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    shown = HOSTILE.replace("\x1b", "␛").replace("\x00", "␀").replace("\u202e", "<U+202E>")
    assert read.texts["mark"] == shown
    assert "head" in read.texts["pre"]
    assert '"><img src=x' in read.texts["dd"]
    assert "family trace (experimental)" in read.texts["p"]
    assert "estimated from above for <m>" in read.texts["p"]


def test_overlaps_are_seen() -> None:
    read = _Read()
    read.feed(hostile_page())
    kinds = [kind for kind, _ in read.marks]
    assert kinds == ["c0", "o0", "many", "o1", "c2"]
    assert read.marks[2][1] == (
        "chunk 0, 1,234 tokens, A > \"><img src=x onerror='1'>; chunk 1, 1,234 tokens; chunk 2, 1,234 tokens"
    )


@given(
    st.text(st.characters(exclude_categories=(), exclude_characters="\r"), max_size=80),
    st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=4),
)
def test_any_text_stands_in_the_page_as_it_is_read(text: str, spans: list[tuple[int, int]]) -> None:
    text = storable(text)
    limit = len(text)
    starts = sorted(min(start, limit) for start, _ in spans)
    ends = sorted(min(end, limit) for _, end in spans)
    chunks = [Chunk(n, text[a:b], a, max(a, b)) for n, (a, b) in enumerate(zip(starts, ends, strict=True))]
    shown = Preview(text, tuple(Measured(c, 1, 1) for c in chunks), Cutting(), "m", 128, True)
    read = _Read()
    read.feed("".join(page(shown, text)))
    read.close()
    assert read.body == "\t".join(visible(part, lines=True) for part in text.split("\t"))
    assert read.tags <= {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "p",
        "main",
        "section",
        "pre",
        "mark",
        "a",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
    }


def test_the_policy_lets_the_page_s_own_style_alone_in() -> None:
    text = hostile_page()
    [policy] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{digest}'"
    assert text.index("Content-Security-Policy") < text.index("<style>")
    assert "http" not in text.replace("http-equiv", "")
