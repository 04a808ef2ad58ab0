"""A page that shows how a text would be cut: the chunks coloured over the text, and a list of what is stored of each.

One file without a script and without anything from elsewhere; a content security policy forbids both, whatever the text
holds. Where chunks overlap the text is striped in the colours of both; its title says which chunks have it.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator

from oraclerag.console import to_json
from oraclerag.pages import frame
from oraclerag.pages.frame import safe as _safe
from oraclerag.preview import Measured, Preview

__all__ = ["page"]

_COLOURS = (("#cfe3ff", "#1d3f72"), ("#ffe1b8", "#6b4310"), ("#d3f0cd", "#22512a"), ("#f6d2e6", "#6a2350"))

_RULES = """
main { display: grid; gap: 1.5rem; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
pre { font: .85rem/1.6 ui-monospace, monospace; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.text { border: 1px solid var(--line); padding: .75rem; }
mark { color: inherit; }
mark:hover { outline: 2px solid; }
.number { font: bold .7rem/1 system-ui, sans-serif; padding: 0 .3em; border: 1px solid; border-radius: .5em;
  color: inherit; text-decoration: none; scroll-margin: 2rem; user-select: none; }
ol { list-style: none; margin: 0; padding: 0; }
li { border: 1px solid var(--line); border-left-width: .5rem; margin-bottom: .75rem; padding: .5rem .75rem; }
li:target, .number:target { outline: 3px solid; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 .75rem; margin: .25rem 0;
  font-size: .85rem; }
dt { opacity: .75; }
dd { margin: 0; overflow-wrap: anywhere; }
.head { background: var(--faint); padding: .25rem .5rem; }
.many { text-decoration: underline dotted; background: repeating-linear-gradient(45deg, #8884 0 4px, #8882 4px 8px); }
@media (min-width: 50rem) { .chunks { max-height: 95vh; overflow: auto; position: sticky; top: .5rem; } }
@media (max-width: 50rem) { main { display: block; } .text { margin-bottom: 1rem; } }
@media print {
  * { print-color-adjust: exact; }
  main { display: block; }
  .chunks { max-height: none; overflow: visible; position: static; }
  li { break-inside: avoid; }
}
"""


def _style() -> str:
    count = len(_COLOURS)
    rules = []
    for shade in (0, 1):
        lines = []
        for n in range(count):
            mine, next_ = _COLOURS[n][shade], _COLOURS[(n + 1) % count][shade]
            lines.append(f".c{n} {{ background: {mine}; }} li.l{n} {{ border-left-color: {mine}; }}")
            lines.append(
                f".o{n} {{ background: repeating-linear-gradient(135deg, {mine} 0 5px, {next_} 5px 10px);"
                f" text-decoration: underline dotted; }}"
            )
        rules.append("\n".join(lines))
    return f"{frame.BASE}{_RULES}{rules[0]}\n@media (prefers-color-scheme: dark) {{\n{rules[1]}\n}}\n"


_STYLE = _style()


def page(shown: Preview, name: str) -> Iterator[str]:
    """Give the page in pieces; ``name`` is what the text is called."""
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{frame.policy(_STYLE)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_safe(name)}: chunks</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{_safe(name)}</h1>\n<p>{_safe(_summary(shown))}</p>\n<main>\n"
        '<section class="text" aria-label="Text">\n<pre>'
    )
    yield from _coloured(shown)
    yield '</pre>\n</section>\n<section class="chunks" aria-label="Chunks">\n<ol>\n'
    for measured in shown.chunks:
        yield _entry(measured)
    yield "</ol>\n</section>\n</main>\n</body>\n</html>\n"


def _summary(shown: Preview) -> str:
    count = len(shown.chunks)
    words = [f"{count} {'chunk' if count == 1 else 'chunks'}", f"chunker {shown.cutting.chunker}"]
    if shown.family is not None:
        words.append(f"family {shown.family}{' (experimental)' if shown.experimental else ''}")
    counted = "tokens counted" if shown.exact else "tokens estimated from above"
    words.append(f"{counted} for {shown.model}, which reads {shown.max_tokens:,}")
    return " · ".join(words)


def _coloured(shown: Preview) -> Iterator[str]:
    """Give the text, cut wherever a chunk begins or ends; every piece has the colours of the chunks that have it."""
    chunks = [measured.chunk for measured in shown.chunks]
    starts = [chunk.start for chunk in chunks]  # they rise, and so do the ends
    ends = [chunk.end for chunk in chunks]
    places = sorted({0, len(shown.text), *starts, *ends})
    for begin, end in itertools.pairwise(places):
        first, last = bisect.bisect_right(ends, begin), bisect.bisect_right(starts, begin) - 1
        for chunk in chunks[bisect.bisect_left(starts, begin) : last + 1]:
            at = chunk.number
            yield f'<a class="number" id="text-{at}" href="#chunk-{at}">{at}</a>'
        text = _safe(shown.text[begin:end], lines=True)
        if last < first:
            yield text
            continue
        kind = f"c{first % len(_COLOURS)}" if first == last else f"o{first % len(_COLOURS)}"
        if last - first > 1:
            kind = "many"
        yield f'<mark class="{kind}" title="{_safe(_title(shown.chunks[first : last + 1]))}">{text}</mark>'


def _title(covering: tuple[Measured, ...]) -> str:
    names = [
        f"chunk {measured.chunk.number}, {measured.tokens:,} tokens"
        + (f", {measured.chunk.section}" if measured.chunk.section else "")
        for measured in covering[:3]
    ]
    return "; ".join(names) + ("; …" if len(covering) > 3 else "")


def _entry(measured: Measured) -> str:
    chunk = measured.chunk
    facts = {
        "span": f"{chunk.start:,}–{chunk.end:,}",
        "tokens": f"{measured.tokens:,}",
        "bytes": f"{measured.size:,}",
        "section": chunk.section,
        "continues": None if chunk.parent is None else f"chunk {chunk.parent}",
        **{name: value if isinstance(value, str) else to_json(value, indent=None)
           for name, value in chunk.metadata.items()},
    }  # fmt: skip
    rows = "".join(f"<dt>{_safe(name)}</dt><dd>{_safe(value)}</dd>" for name, value in facts.items() if value)
    head = f'<pre class="head">{_safe(chunk.head, lines=True)}</pre>' if chunk.head else ""
    number = chunk.number
    return (
        f'<li class="l{number % len(_COLOURS)}" id="chunk-{number}">'
        f'<h2><a href="#text-{number}">Chunk {number}</a></h2>'
        f"<dl>{rows}</dl>{head}</li>\n"
    )
