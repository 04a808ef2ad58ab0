"""Which files are meant and what they are called, and how a file becomes a text: no database needed."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.errors import ConfigurationError, InputError
from oraclerag.ingest import pdf
from oraclerag.ingest.find import Found, Listing, find
from oraclerag.ingest.report import FileKind
from oraclerag.ingest.run import DEFAULT_MAX_BYTES, Options
from oraclerag.ingest.text import FileText, Refused, known_encoding, read


def listed(*paths: str | Path, kind: FileKind = "docs", root: Path | None = None, name: str | None = None) -> Listing:
    return find(paths, kind, root=root, name=name)


def names(listing: Listing) -> list[str]:
    return [found.name for found in listing.files]


def refused(listing: Listing) -> dict[str, tuple[str, bool]]:
    return {refusal.name: (refusal.reason, refusal.failed) for refusal in listing.refused}


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    kb = tmp_path / "kb"
    for name in ("b.md", "a.md", "backup/rman.txt", "backup/.draft.md", ".git/config.md", "style.css", "README"):
        path = kb / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    return kb


# -- names ------------------------------------------------------------------------------------------------------------


def test_a_folder_is_all_below_it_in_order_without_what_is_hidden(kb: Path) -> None:
    found = listed(kb)
    assert names(found) == ["kb/README", "kb/a.md", "kb/b.md", "kb/backup/rman.txt"]
    assert found.folders == ["kb/"]
    assert refused(found) == {"kb/style.css": (".css is not the ending of a document; name the file to take it", False)}
    assert "kb/style.css" in names(listed(kb, kind="diagnostics")), "a report may be called anything"
    assert names(listed(kb / "style.css")) == ["kb/style.css"], "what is named is taken"


def test_names_do_not_depend_on_the_working_directory(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = names(listed(kb))
    for folder, path in ((kb.parent, "kb"), (kb, "."), (kb / "backup", ".."), (kb.parent, "./kb/../kb/")):
        monkeypatch.chdir(folder)
        assert names(listed(path)) == wanted
    monkeypatch.chdir(kb)
    assert names(listed("a.md")) == ["kb/a.md"], "a file of the folder has the name that it has in it"


def test_root_and_name_say_where_names_begin_and_how(kb: Path) -> None:
    inner = listed(kb / "backup", root=kb)
    assert (names(inner), inner.folders) == (["kb/backup/rman.txt"], ["kb/backup/"])
    assert names(listed(kb / "backup")) == ["backup/rman.txt"]
    assert names(listed(kb / "backup", name="night/rman")) == ["night/rman/rman.txt"]
    assert names(listed(kb / "a.md", root=kb.parent, name="all")) == ["all/kb/a.md"]
    with pytest.raises(InputError, match="does not lie in the folder"):
        listed(kb, root=kb / "backup")
    with pytest.raises(InputError, match="no folder"):
        listed(kb, root=kb / "nowhere")


@pytest.mark.parametrize("name", ["", "/", "/a", "a/", "a//b", "../a", "a/./b", "x" * 1001, "\ud800"])
def test_names_that_are_none(kb: Path, name: str) -> None:
    with pytest.raises(InputError, match="is no name for what is ingested"):
        listed(kb, name=name)


def test_patterns(kb: Path) -> None:
    assert names(listed(f"{kb}/*.md")) == ["kb/a.md", "kb/b.md"]
    assert names(listed(f"{kb}/**/*.[mt]*")) == ["kb/a.md", "kb/b.md", "kb/backup/rman.txt"]
    assert names(listed(f"{kb}/ba*/rman.txt")) == ["kb/backup/rman.txt"]
    assert listed(f"{kb}/*.md").folders == [], "a pattern says nothing of what is not there"
    with pytest.raises(InputError, match="No file matches"):
        listed(f"{kb}/*.docx")
    odd = kb / "[x].md"
    odd.write_text("text")
    assert names(listed(odd)) == ["kb/[x].md"], "what exists is no pattern"
    with pytest.raises(InputError, match="no file or folder"):
        listed(kb / "nothing.md")


def test_what_is_given_twice_is_one_file(kb: Path) -> None:
    once = names(listed(kb))
    for more in (kb, kb / "backup", kb / "a.md", f"{kb}/**/*.md", kb / "backup" / "rman.txt"):
        assert names(listed(kb, more)) == once
        assert names(listed(more, kb)) == once
    assert names(listed(kb, kb / ".git")) == [*once, ".git/config.md"], "hidden, and named"
    (kb / "link").symlink_to(kb / "backup")
    assert names(listed(kb, kb / "link")) == [*once, "link/rman.txt"], "a walk does not follow it"


def test_two_files_of_one_name_are_refused(kb: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "kb"
    other.mkdir(parents=True)
    with pytest.raises(InputError, match="Two folders would have the name 'kb'"):
        listed(kb, other)
    (other / "a.md").write_text("another")
    with pytest.raises(InputError, match=r"Two files would have the name 'kb/a\.md'"):
        listed(kb / "a.md", other / "a.md")
    assert len(names(listed(kb, other, root=tmp_path))) == 5


def test_standard_input_needs_a_name() -> None:
    assert listed("-", name="night/alert.log").files == [Found("night/alert.log", None)]
    with pytest.raises(InputError, match="has no name"):
        listed("-")
    with pytest.raises(InputError, match="No file or folder is named"):
        listed()


def test_links_are_followed_to_files_of_the_folder_alone(kb: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("of another folder")
    (kb / "out.md").symlink_to(tmp_path / "secret.md")
    (kb / "loop").symlink_to(kb)
    (kb / "same.md").symlink_to(kb / ".git" / "config.md")
    (kb / "broken.md").symlink_to(kb / "nowhere.md")
    os.mkfifo(kb / "pipe.md")
    found = listed(kb)
    assert names(found) == ["kb/README", "kb/a.md", "kb/b.md", "kb/backup/rman.txt", "kb/same.md"]
    why = refused(found)
    assert why["kb/out.md"] == why["kb/loop"] == ("a link to a folder, or out of this one", False)
    assert why["kb/pipe.md"] == ("not a regular file", False)
    assert why["kb/broken.md"][1], "it should have been there"
    assert names(listed(kb / "out.md")) == ["kb/out.md"], "named, it is meant"
    (tmp_path / "link").symlink_to(kb)
    assert names(listed(tmp_path / "link"))[0] == "link/README"


def test_odd_names_are_texts_that_a_column_holds(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    for raw in (b"a\xff.md", b"e\xcc\x81.md", b"line\nbreak\x1b[31m.md", "ü.md".encode()):
        (folder / os.fsdecode(raw)).write_text("text")
    assert sorted(names(listed(folder))) == sorted(
        ["odd/a\\xff.md", "odd/é.md", "odd/line\nbreak\x1b[31m.md", "odd/ü.md"]
    )
    deep = folder
    for _ in range(6):
        deep = deep / ("d" * 200)
    deep.mkdir(parents=True)
    (deep / "long.md").write_text("text")
    [(name, (reason, failed))] = refused(listed(folder)).items()
    assert name.endswith("long.md")
    assert failed
    assert "1000 bytes" in reason


def test_a_folder_that_cannot_be_listed_is_known_to_be_unseen(kb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = os.scandir

    def refuse(path: Any) -> Any:
        if str(path).endswith("backup"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = listed(kb)
    assert found.unseen == ["kb/backup/"]
    assert refused(found)["kb/backup/"] == ("cannot be listed (Permission denied)", True)


# -- texts ------------------------------------------------------------------------------------------------------------


def text(data: bytes, name: str = "a.md", encoding: str | None = None, max_bytes: int = 1_000_000) -> FileText:
    return read(Found(name, None), io.BytesIO(data), max_bytes=max_bytes, encoding=encoding)


@pytest.mark.parametrize(
    ("data", "body", "replaced"),
    [
        ("Grüße, 東京".encode(), "Grüße, 東京", 0),
        ("Grüße".encode("utf-8-sig"), "Grüße", 0),
        (b"\xff\xfe" + "Grüße 東".encode("utf-16-le"), "Grüße 東", 0),
        (b"\xfe\xff" + "Grüße 東".encode("utf-16-be"), "Grüße 東", 0),
        (b"\xff\xfe\0\0" + "Grüße".encode("utf-32-le"), "Grüße", 0),
        (b"\xff\xfeA\0B", "A\ufffd", 1),
        (b"a long line of text and gr\xfc\xdfe\n", "a long line of text and gr\ufffd\ufffde\n", 2),
        (b"a NUL \0 in a long line of text\n", "a NUL \ufffd in a long line of text\n", 1),
        ("what says \ufffd itself".encode(), "what says \ufffd itself", 0),
        (b"line\r\nline\rline\n", "line\r\nline\rline\n", 0),
    ],
)  # fmt: skip
def test_decoding(data: bytes, body: str, replaced: int) -> None:
    found = text(data)
    assert (found.body, found.replaced) == (body, replaced)
    assert text(gzip.compress(data), "a.md.gz") == found


def test_an_encoding_can_be_given_and_a_byte_order_mark_knows_better() -> None:
    russian = "Ошибка при резервном копировании"
    with pytest.raises(Refused, match="--encoding"):
        text(russian.encode("cp1251"))
    assert text(russian.encode("cp1251"), encoding="cp1251").body == russian
    assert text(russian.encode("utf-8-sig"), encoding="cp1251").body == russian
    assert known_encoding("Latin1") == "iso8859-1"
    for name in ("klingon", "rot13", "base64"):
        with pytest.raises(ConfigurationError, match="There is no encoding"):
            known_encoding(name)


@given(st.binary(max_size=300), st.sampled_from([None, "cp1252", "utf-16-le"]))
def test_any_bytes_are_a_text_that_a_column_holds_or_refused(data: bytes, encoding: str | None) -> None:
    with contextlib.suppress(Refused):
        found = text(data, encoding=encoding)
        assert found.body.encode()
        assert found.title.encode()
        assert "\0" not in found.body
        assert found.replaced >= 0


@pytest.mark.parametrize(
    ("data", "reason", "failed"),
    [
        (b"", "empty", False),
        (b" \r\n\t\n", "empty", False),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 3, "binary", False),
        (bytes(1000), "binary", False),
        (b"x" * 1001, "larger than 0.001 MB; --max-size allows more", True),
        (gzip.compress(b"x" * 1001, mtime=0), "unpacked larger than 0.001 MB", True),
        (gzip.compress(b"a text that is cut off" * 20, mtime=0)[:-9], "not a whole gzip file", True),
        (b"\x1f\x8b\x08 is no gzip", "not a whole gzip file", True),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, reason: str, failed: bool) -> None:
    with pytest.raises(Refused) as caught:
        text(data, max_bytes=1000)
    assert caught.value.reason.startswith(reason)
    assert caught.value.failed is failed


def test_a_name_that_ends_in_gz_must_be_gzip() -> None:
    with pytest.raises(Refused, match="not a whole gzip file"):
        text(b"just text", "alert.log.gz")
    assert text(gzip.compress(b"just text"), "alert.log.gz").title == "alert.log"


def test_files_that_change_under_our_hands(tmp_path: Path) -> None:
    def at(path: Path) -> FileText:
        return read(Found("a", path), None, max_bytes=10, encoding=None)

    with pytest.raises(Refused, match="vanished") as caught:
        at(tmp_path / "gone.md")
    assert caught.value.failed
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refused, match="not a regular file"):
        at(tmp_path / "pipe")
    with pytest.raises(Refused, match=r"cannot be read|not a regular file"):
        at(tmp_path)
    (tmp_path / "grown").write_text("x" * 11)
    with pytest.raises(Refused, match="larger than"):
        at(tmp_path / "grown")
    with pytest.raises(Refused, match="standard input is not open"):
        read(Found("a", None), None, max_bytes=10, encoding=None)


@pytest.mark.parametrize(
    ("name", "data", "title"),
    [
        ("kb/a.md", "intro\n\n## The  title ##\n# no", "The  title"),
        ("kb/a.md", "```sql\n# not a heading\n```\n# Heading\r\ntext", "Heading"),
        ("kb/a.md", "~~~\n``` \n# no\n~~~~\n#hash\n####### seven", "a.md"),
        ("kb/a.md", "# `Undo` and **[redo](x.md)** ![](logo.png) { #undo .big }", "Undo and redo"),
        ("kb/a.md", "# {{ name }} [1] {x}", "{{ name }} [1] {x}"),
        ("kb/a.md", "# ``", "``"),
        ("kb/a.md", "# C#", "C#"),
        ("kb/a.md", "# #\n#\t##\n## Second ###  \r\n", "Second"),
        ("kb/a.md", f"# {' #' * 1900}{' ' * 100_000}x\n# Heading", f"{'# ' * 1900}".strip()[:1000]),
        ("kb/a.md", f"# {'[](' * 300}{'{' * 300}", f"{'[](' * 300}{'{' * 100}"),
        ("kb/alert_PROD.log", "Thread 1 advanced", "alert_PROD.log"),
        ("kb/a.html", "<html><head><title>AWR &amp;\n more</title><body><h1>Other</h1>x", "AWR & more"),
        ("kb/report.txt", "<!DOCTYPE html><html><h2>Top SQL</h2><p>x", "Top SQL"),
        ("kb/a.md", "# " + "ü" * 1000, "ü" * 500),
    ],
)  # fmt: skip
def test_titles(name: str, data: str, title: str) -> None:
    assert text(data.encode(), name).title == title


def test_html_is_made_readable_by_its_name_or_its_beginning() -> None:
    page = b"<html><body><h1>Errors</h1><script>x()</script><p>ORA-01555 &amp; more</p></body></html>"
    for name in ("a.html", "a.htm.gz", "report"):
        body = text(gzip.compress(page) if name.endswith("gz") else page, name).body
        assert "ORA-01555 & more" in body
        assert "<p>" not in body
        assert "x()" not in body
    assert "<p>" in text(b"# About tags\n\nA <p> is a paragraph.", "a.md").body


# -- PDF --------------------------------------------------------------------------------------------------------------


def pdf_of(*pages: str, title: str | None = None, password: str | None = None) -> bytes:
    """Make a PDF whose pages show a line each, by hand for pypdf writes no text."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    font = DictionaryObject(
        {NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"), NameObject("/BaseFont"): NameObject("/Helvetica")}
    )  # fmt: skip
    for line in pages:
        page = writer.add_blank_page(width=300, height=300)
        content = DecodedStreamObject()
        content.set_data(f"BT /F1 12 Tf 20 200 Td ({line}) Tj ET".encode() if line else b"")
        page[NameObject("/Contents")] = writer._add_object(content)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
    if title is not None:
        writer.add_metadata({"/Title": title})
    if password is not None:
        writer.encrypt(password, algorithm="RC4-128")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def test_the_text_of_a_pdf() -> None:
    found = text(pdf_of("Backup with RMAN", "Second page", title="The  guide"), "guide.pdf")
    assert (found.body, found.title) == ("Backup with RMAN\n\nSecond page", "The guide")
    assert text(pdf_of("Only text"), "kb/guide.pdf").title == "guide.pdf"


def test_pdfs_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pdf_of("Backup with RMAN")
    for data, reason, failed in (
        (pdf_of("", ""), "a PDF without text", False),
        (pdf_of("secret", password="x"), "encrypted", True),
        (whole[: len(whole) // 3], "cannot be read", True),
        (b"%PDF-1.7\n garbage", "cannot be read", True),
    ):
        with pytest.raises(Refused, match=reason) as caught:
            text(data, "guide.pdf")
        assert caught.value.failed is failed
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(ConfigurationError) as missing:
        pdf.extract(whole)
    assert missing.value.hint == "pip install 'oraclerag[pdf]'"
    with pytest.raises(Refused, match=r"pip install 'oraclerag\[pdf\]'"):
        text(whole, "guide.pdf")


# -- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"kind": "films"}, "kind must be"),
        ({"visibility": "everybody"}, "visibility must be"),
        ({"visibility": "owner"}, "an owner must be named"),
        ({"collection": ""}, "collection must be a text of 1 to 128 bytes"),
        ({"owner": "ü" * 65}, "owner must be a text of 1 to 128 bytes"),
        ({"max_bytes": 0}, "must be 1 at least"),
        ({"metadata": {"x": object()}}, "metadata must be a mapping that has a JSON form"),
        ({"metadata": {"x": float("nan")}}, "metadata must be a mapping that has a JSON form"),
    ],
)
def test_options_that_cannot_be(given: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        Options(**({"kind": "docs"} | given))
    assert Options("docs").max_bytes == DEFAULT_MAX_BYTES
