"""How reports, hits and errors look: data on stdout, messages on stderr, ``--json`` beside the tables.

Text that came from data goes through :func:`visible` and is printed without markup, so that neither a terminal's
control sequences nor Rich's tags in a document take effect.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import decimal
import io
import json
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from oraclerag.errors import OracleRagError
from oraclerag.records import Hit

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from oraclerag.records import Problem, SearchResult

__all__ = ["Output", "one_line", "record", "to_json", "visible"]

WIDTH = 100
# Cc and Cf hold what a terminal obeys (escape, C1, direction marks), Cs and Cn what it cannot show; Zl and Zp break
# lines
_UNSEEN = ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
_SEEN_FORMAT = ("\u00ad", "\u200d")  # the soft hyphen and the joiner of emoji do no harm


def visible(text: str, *, lines: bool = False) -> str:
    """Make control characters visible: ``␛`` for ESC and the like, ``<U+202E>`` for the rest.

    With ``lines`` a newline stays (and CR LF becomes one); else every character ends up on one line.
    """
    if lines:
        text = text.replace("\r\n", "\n")
    return "".join(_shown(char, lines=lines) for char in text)


def _shown(char: str, *, lines: bool) -> str:
    if char == "\n" and lines:
        return char
    if char in _SEEN_FORMAT or unicodedata.category(char) not in _UNSEEN:
        return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"<U+{code:04X}>"


def one_line(text: str | None, limit: int = 200) -> str:
    """Give the first line of a text that is not blank, cut at ``limit`` characters, safe to print."""
    if not text:
        return ""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    first = " ".join(first.split())
    return visible(first if len(first) <= limit else first[: limit - 1] + "…")


def plain(value: Any) -> Text:
    """Make a table cell of a value from data: no markup, control characters visible."""
    from rich.text import Text

    return Text("" if value is None else visible(str(value)))


def record(value: Any) -> Any:
    """Turn records of the library into what JSON knows; times in ISO 8601, mappings and lists kept."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {item.name: record(getattr(value, item.name)) for item in dataclasses.fields(value)}
        return fields | ({"score": value.score, "key": value.key} if isinstance(value, Hit) else {})
    if isinstance(value, Mapping):
        return {str(key): record(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [record(item) for item in value]
    if isinstance(value, (dt.datetime, dt.date)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """Give a value as JSON text; letters stay readable, what a terminal would obey is escaped."""
    text = json.dumps(record(value), ensure_ascii=False, indent=indent)
    return "".join(_escaped(char) for char in text)


def _escaped(char: str) -> str:
    if char == "\n" or char in _SEEN_FORMAT or ord(char) < 0x7F or unicodedata.category(char) not in _UNSEEN:
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


class Output:
    """Where a command writes: tables or JSON on stdout, words on stderr.

    ``json`` makes :meth:`data` print JSON and keeps tables away; messages stay on stderr.
    """

    def __init__(self, *, json: bool = False) -> None:
        self.json = json
        self._stdout = _console(sys.stdout)
        self._stderr = _console(sys.stderr)

    def say(self, text: str = "") -> None:
        """Print a message on stderr."""
        self._stderr.print(plain_lines(text), soft_wrap=not self._stderr.is_terminal)

    def problems(self, found: Iterable[Problem]) -> None:
        """Print what is wrong, each with its remedy, on stderr."""
        for one in found:
            self.say(f"Problem: {one.message}" + (f"\n  remedy: {one.hint}" if one.hint else ""))

    def write(self, text: str) -> None:
        """Print data on stdout as it is, control characters visible, lines unbroken."""
        self._stdout.print(plain_lines(text), soft_wrap=True)

    def data(self, value: Any, *, indent: int | None = 2) -> None:
        """Print a value as JSON on stdout."""
        print(to_json(value, indent=indent), flush=True)  # noqa: T201 - this is the place that prints

    @contextlib.contextmanager
    def pages(self) -> Iterator[Callable[[Callable[[], None]], None]]:
        """Show one page in the place of the one before it; gives a function that takes what prints a page.

        That is on a terminal, where the last page stays at the end. Elsewhere, and with JSON, pages follow each other;
        an empty line stands between two of tables.
        """
        if not self._stdout.is_terminal or self.json:
            yield _one_by_one(lambda: None if self.json else self.write(""))
            return
        from rich.live import Live
        from rich.text import Text

        terminal, words = self._stdout, self._stderr
        with Live(console=terminal, auto_refresh=False) as live:

            def show(page: Callable[[], None]) -> None:
                self._stdout = self._stderr = paper = _paper(terminal)
                try:
                    page()
                finally:
                    self._stdout, self._stderr = terminal, words
                live.update(Text.from_ansi(paper.export_text(styles=True).rstrip("\n")), refresh=True)

            yield show

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, right: Sequence[str] = ()) -> None:
        """Print rows on stdout; the last column takes what is left of the width."""
        from rich import box
        from rich.cells import cell_len
        from rich.table import Table

        cells = [[plain(cell) for cell in row] for row in rows]
        widths = [max(map(cell_len, (name, *(row[at].plain for row in cells)))) for at, name in enumerate(columns)]
        too_wide = sum(widths) + 3 * (len(columns) - 1) > self._stdout.width
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", expand=too_wide)
        for name in columns:
            table.add_column(
                plain(name),
                justify="right" if name in right else "left",
                no_wrap=True,
                overflow="ellipsis",
                ratio=1 if too_wide and name == columns[-1] else None,
            )
        for cells_of_row in cells:
            table.add_row(*cells_of_row)
        self._stdout.print(table)

    def facts(self, facts: Mapping[str, Any]) -> None:
        """Print names and values on stdout, one a line."""
        width = max((len(name) for name in facts), default=0)
        for name, value in facts.items():
            self._stdout.print(plain(f"{name.ljust(width)}  {'-' if value is None else value}"), soft_wrap=True)

    def hits(self, result: SearchResult) -> None:
        """Print hits as a table: rank, source, score, title, first line."""
        self.table(
            ("#", "source", "score", "title", "text"),
            (
                (
                    hit.rank,
                    hit.source,
                    f"{hit.score:.3f}",
                    one_line(hit.title, 36),
                    _second_line(hit.content, hit.title),
                )
                for hit in result.hits
            ),
            right=("#", "score"),
        )

    def error(self, error: OracleRagError) -> None:
        """Print an error: one sentence, the cause, the remedy."""
        sentence, cause = error.message, _cause(error)
        if cause:
            sentence = sentence.replace(f" ({cause})", "")
        self._stderr.print(plain_lines(f"Error: {sentence}"), soft_wrap=True)
        if cause:
            self._stderr.print(plain_lines(f"  cause:  {cause}"), soft_wrap=True)
        if error.hint:
            self._stderr.print(plain_lines(f"  remedy: {error.hint}"), soft_wrap=True)

    @contextlib.contextmanager
    def progress(self, label: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Show how far long work is: a bar on a terminal, a line every few seconds elsewhere.

        Gives a function that takes how many more are done.
        """
        if self._stderr.is_terminal:
            with _bar(self._stderr, label, total) as update:
                yield update
            return
        started = last = time.monotonic()
        seen = 0

        def line(more: int) -> None:
            nonlocal last, seen
            seen += more
            now = time.monotonic()
            if now - last >= 5.0:
                last = now
                self.say(f"{label}: {seen:,}{f' of {total:,}' if total is not None else ''}")

        yield line
        self.say(f"{label}: {seen:,} in {time.monotonic() - started:.1f} s")


@contextlib.contextmanager
def _bar(console: Console, label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(visible(label), total=total)
        yield lambda more: bar.advance(task, more)


def plain_lines(text: str) -> Text:
    """Make a printable of a text of several lines: no markup, control characters visible."""
    from rich.text import Text

    return Text(visible(text, lines=True))


def _console(stream: Any) -> Console:
    from rich.console import Console

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    return console


def _one_by_one(part: Callable[[], None]) -> Callable[[Callable[[], None]], None]:
    """Give a function that prints a page; ``part`` is called before every one but the first."""
    pages = 0

    def show(page: Callable[[], None]) -> None:
        nonlocal pages
        if pages:
            part()
        pages += 1
        page()

    return show


def _paper(terminal: Console) -> Console:
    """Give something as wide and as colourful as a terminal to print a page on."""
    from rich.console import Console

    return Console(
        file=io.StringIO(), force_terminal=True, color_system=terminal.color_system or "auto",  # type: ignore[arg-type]
        width=terminal.width, record=True, highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip


def _cause(error: BaseException) -> str | None:
    """Give the first line of the exception behind an error, where that is not one of ours."""
    cause = error.__cause__
    if cause is None or isinstance(cause, OracleRagError):
        return None
    from oracledb import Error

    from oraclerag.database import words

    text = words(cause) if isinstance(cause, Error) else str(cause).strip()
    return text.splitlines()[0] if text else type(cause).__name__


def _second_line(text: str, title: str | None) -> str:
    """Give the line of a chunk that tells most beside its title: the first that does not repeat it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and title and title in lines[0]:
        return one_line(lines[1])
    return one_line(text)
