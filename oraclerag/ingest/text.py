"""A file becomes a text: unpacked, decoded, made readable where it is HTML or PDF, with a title.

What cannot become one is refused with the reason, never stored as if it were.
"""

from __future__ import annotations

import codecs
import gzip
import html
import io
import os
import re
import stat
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from oraclerag.chunk import storable
from oraclerag.chunk.diagnostics.html_report import readable
from oraclerag.errors import ConfigurationError, OracleRagError
from oraclerag.ingest.find import Found
from oraclerag.ingest.report import Refusal

__all__ = ["FileText", "Refused", "known_encoding", "read"]

_TITLE_BYTES = 1000
_BOMS = (  # the longer ones first: that of UTF-32 begins as that of UTF-16 does
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_GZIP, _PDF = b"\x1f\x8b\x08", b"%PDF-"

# Of the beginning of a file so much may be no text before the file is none.
_SAMPLE, _NO_TEXT = 65_536, 0.1
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b"))

_HTML = re.compile(
    r"\s{0,1000}(?:<\?xml[^>]{0,200}>\s{0,100})?(?:<!--.{0,2000}?-->\s{0,100})?"
    r"<(?:!doctype\s{1,100}html|html|head|meta|title)\b",  # mail programs put a <meta> before <html>
    re.IGNORECASE | re.DOTALL,
)
_HTML_TITLE = re.compile(r"<title\b[^<>]{0,1000}>([^<]{1,4000})</title", re.IGNORECASE)
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+")
# What a heading holds that is no word of it: places, and the marks of code and emphasis.
_INLINE_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_MARKS = re.compile(r"`+|\*\*+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINES_TO_TITLE = 200


class Refused(Exception):
    """A file is not ingested."""

    def __init__(self, reason: str, *, failed: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.failed = failed

    def of(self, name: str) -> Refusal:
        """Give what a report says of it."""
        return Refusal(name, self.reason, failed=self.failed)


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file with its title; ``replaced`` counts characters in place of bytes that mean none."""

    body: str = field(repr=False)
    title: str = field(repr=False)
    replaced: int = 0


def known_encoding(name: str) -> str:
    """Give an encoding by the name that Python knows it by. Raises ConfigurationError."""
    try:
        known = codecs.lookup(name)
        "".encode(known.name)  # some are no encodings of text
    except (LookupError, ValueError):
        raise ConfigurationError(f"There is no encoding {name!r}, such as utf-8, cp1252 or iso-8859-15.") from None
    return known.name


def read(found: Found, stdin: BinaryIO | None, *, max_bytes: int, encoding: str | None) -> FileText:
    """Read a file as text; at most ``max_bytes`` as it lies there, and unpacked.

    A byte order mark decides how it is decoded, else ``encoding``, else it is UTF-8. Raises Refused.
    """
    data = _bytes(found.path, stdin, max_bytes)
    if data.startswith(_GZIP) or found.name.lower().endswith(".gz"):
        data = _unpacked(data, max_bytes)
    own_name = _without_gz(found.name.rpartition("/")[2])
    if data.startswith(_PDF):
        body, title, replaced = *_pdf(data), 0
    else:
        body, replaced = _decoded(data, encoding)
        del data
        title = None
        if own_name.lower().endswith((".html", ".htm", ".xhtml")) or _HTML.match(body):
            title = _html_title(body)
            body = readable(body)
        title = title or _heading(body)
    if not body.strip():
        raise Refused("empty: there is no text in it")
    return FileText(body, _shortened(title or own_name), replaced)


def _bytes(path: Path | None, stdin: BinaryIO | None, max_bytes: int) -> bytes:
    try:
        if path is None:
            if stdin is None:
                raise Refused("standard input is not open", failed=True)
            data = stdin.read(max_bytes + 1)
        else:
            with open(path, "rb", opener=_opener) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise Refused("not a regular file", failed=True)
                if status.st_size > max_bytes:
                    raise Refused(_too_large(max_bytes), failed=True)
                data = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise Refused("vanished while the others were read", failed=True) from None
    except OSError as error:
        raise Refused(f"cannot be read ({error.strerror})", failed=True) from None
    if len(data) > max_bytes:
        raise Refused(_too_large(max_bytes), failed=True)
    return data


def _opener(path: str, flags: int) -> int:
    """Open without waiting: a pipe that has taken the place of a file would never end."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _too_large(max_bytes: int) -> str:
    return f"larger than {max_bytes / 1e6:,.6g} MB; --max-size allows more"


def _unpacked(data: bytes, max_bytes: int) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            unpacked = file.read(max_bytes + 1)
    except (OSError, EOFError, zlib.error):
        raise Refused("not a whole gzip file", failed=True) from None
    if len(unpacked) > max_bytes:
        raise Refused(f"unpacked {_too_large(max_bytes)}", failed=True)
    return unpacked


def _without_gz(name: str) -> str:
    return name[:-3] if name.lower().endswith(".gz") and len(name) > len(".gz") else name


def _decoded(data: bytes, encoding: str | None) -> tuple[str, int]:
    """Give the text, and how many characters stand in place of what was none."""
    for mark, codec in _BOMS:
        if data.startswith(mark):
            return _counted(data[len(mark) :].decode(codec, "replace"), data, codec)
    sample = data[:_SAMPLE]
    strange = len(sample) - len(sample.translate(None, _CONTROLS))
    if strange > _NO_TEXT * len(sample):
        raise Refused("binary")
    if encoding is None:
        strange += sample.decode("utf-8", "replace").count("\ufffd") - sample.count(b"\xef\xbf\xbd")
        if strange > _NO_TEXT * len(sample) + 1:  # the sample may end within a character
            raise Refused("binary, or a text that is not in UTF-8; --encoding says in which it is")
    codec = encoding or "utf-8"
    try:
        text = data.decode(codec, "replace")
    except UnicodeError:  # some encodings replace nothing
        raise Refused(f"not in {codec}", failed=True) from None
    return _counted(text, data, codec)


def _counted(text: str, data: bytes, codec: str) -> tuple[str, int]:
    """Make a text storable, and count what replaced bytes that are no text; what the file itself says is none."""
    text = storable(text)
    found = text.count("\ufffd")
    mark = "\ufffd".encode(codec, "ignore") if found else b""
    return text, max(0, found - data.count(mark)) if mark else found


def _pdf(data: bytes) -> tuple[str, str | None]:
    from oraclerag.ingest import pdf

    try:
        found = pdf.extract(data)
    except OracleRagError as error:
        raise Refused(f"{error.message} {error.hint}" if error.hint else error.message, failed=True) from error
    if not found.text.strip():
        raise Refused("a PDF without text: its pages are images; recognise their text first (OCR)")
    return storable(found.text), found.title and storable(found.title)


def _html_title(text: str) -> str | None:
    found = _HTML_TITLE.search(text, 0, 200_000)
    return None if found is None else " ".join(html.unescape(found[1]).split())


def _heading(text: str) -> str | None:
    """Give the first heading of a text in Markdown, if it has one near its beginning."""
    fence: str | None = None
    begin = 0
    for _ in range(_LINES_TO_TITLE):
        end = text.find("\n", begin)
        line = text[begin : end if end >= 0 else len(text)][:4000].rstrip("\r")
        mark = _FENCE.match(line)
        if mark is not None and (fence is None or mark[1].startswith(fence)):
            fence = mark[1] if fence is None else None
        elif fence is None and (heading := _HEADING.match(line)) and (found := _plain(line[heading.end() :])):
            return found
        if end < 0:
            return None
        begin = end + 1
    return None


def _plain(heading: str) -> str:
    """Give a heading without its markup; one that is nothing but markup stays."""
    text = heading.strip()
    words = text.rstrip("#")
    if not words or words[-1] in " \t":  # the hashes that close it
        text = words.rstrip()
    name = text.rfind("{")
    if text.endswith("}") and text[name + 1 :].lstrip()[:1] in ("#", ".", ":"):  # for generators of pages
        text = text[:name].rstrip()
    return _MARKS.sub("", _INLINE_LINK.sub(r"\1", text)).strip() or text


def _shortened(title: str) -> str:
    return storable(title).encode()[:_TITLE_BYTES].decode("utf-8", "ignore")
