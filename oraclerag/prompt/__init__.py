"""Question and hits become a prompt under a budget: sources with anchors, filled by rank, never half a chunk.

Nothing in a source can close its frame, name another source, or begin a line: see ``harmless``. ``template`` is what
the prompt says around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

from oraclerag import anchors as anchoring
from oraclerag.anchors import Style
from oraclerag.errors import InputError
from oraclerag.prompt import harmless
from oraclerag.prompt.template import Template, compiled
from oraclerag.records import Hit, Prompt, PromptSource

__all__ = ["build"]

MAX_CHUNKS = 8
MAX_BYTES = 24_000
MAX_TOKENS = 6_000

_LINE = 200
"""Characters of a title in a prompt: a line of it; what it says stands in the text too."""


def build(
    question: str,
    hits: Iterable[Hit],
    *,
    count: Callable[[str], int],
    max_chunks: int = MAX_CHUNKS,
    max_bytes: int = MAX_BYTES,
    max_tokens: int = MAX_TOKENS,
    anchors: Style = "hash",
    template: str | None = None,
) -> Prompt:
    """Build the prompt of a question from hits, best first.

    ``count`` gives the tokens of a text as the language model counts them. ``max_chunks`` bounds the sources,
    ``max_bytes`` (UTF-8) and ``max_tokens`` all that is sent, instructions and question included. Hits are taken in the
    order given, each chunk once and whole; one that has no room is left out, and a shorter one behind it may still find
    some. ``anchors``: "hash" is ``##2272##`` with the chunk's id, "bracket" ``[1]`` with its place in the prompt.
    ``template`` is Jinja2 text in place of ours, see :mod:`oraclerag.prompt.template`.

    Raises InputError where even the question alone has no room, and TemplateError.
    """
    _check(question, max_chunks, max_bytes, max_tokens, anchors)
    first: dict[int, Hit] = {}
    for hit in hits:
        first.setdefault(hit.chunk_id, hit)
    distinct = list(first.values())
    draft = _Draft(question, anchors, compiled(template), count)
    size, tokens = draft.measure(draft.rendered([]))
    if size > max_bytes or tokens > max_tokens:
        raise InputError(
            f"The question and the instructions take {size:,} bytes and {tokens:,} tokens, more than the "
            f"{max_bytes:,} bytes and {max_tokens:,} tokens of a prompt.",
            hint="Ask shorter, or raise max_bytes and max_tokens.",
        )
    chosen = distinct[:max_chunks]
    parts = draft.rendered(chosen)
    if not draft.fits(parts, max_bytes, max_tokens):  # most often all have room, and are rendered once
        chosen = draft.chosen(distinct, max_chunks, max_bytes, max_tokens)
        parts = draft.rendered(chosen)
    # Tokens of parts need not add up to those of the whole, and a template may write more for many sources.
    while chosen and not draft.fits(parts, max_bytes, max_tokens):
        chosen.pop()
        parts = draft.rendered(chosen)
    size, tokens = draft.measure(parts)
    instructions, text = parts
    sources = tuple(PromptSource(draft.anchor(hit, number), hit) for number, hit in enumerate(chosen, 1))
    return Prompt(instructions, question, sources, len(distinct) - len(sources), tokens, size, text)


def _check(question: str, max_chunks: int, max_bytes: int, max_tokens: int, anchors: str) -> None:
    if not isinstance(question, str) or not question.strip():
        raise InputError("The question must be a text that is not blank.")
    for name, value in (("max_chunks", max_chunks), ("max_bytes", max_bytes), ("max_tokens", max_tokens)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"{name} must be a whole number from 1 on, not {value!r}.")
    if anchors not in get_args(Style):
        raise InputError(f"anchors must be 'hash' or 'bracket', not {anchors!r}.")


class _Draft:
    """What a prompt would be with so many of the hits."""

    def __init__(self, question: str, style: Style, template: Template, count: Callable[[str], int]) -> None:
        self._question = harmless.text(question.strip(), style)
        self._style: Style = style
        self._template = template
        self._count = count
        self._harmless: dict[int, Mapping[str, str]] = {}

    def anchor(self, hit: Hit, number: int) -> str:
        return anchoring.written(self._style, hit.chunk_id, number)

    def rendered(self, hits: Sequence[Hit]) -> tuple[str, str]:
        examples = [anchoring.written(self._style, id_, number) for id_, number in ((2272, 1), (2357, 2))]
        return self._template.render(
            {
                "question": self._question,
                "sources": [self._source(hit, number) for number, hit in enumerate(hits, 1)],
                "anchors": self._style,
                "example": examples[0],
                "together": " ".join(examples),
            }
        )

    def _source(self, hit: Hit, number: int) -> Mapping[str, str]:
        known = self._harmless.get(hit.chunk_id)
        if known is None:
            known = self._harmless[hit.chunk_id] = self._made_harmless(hit)
        return {"anchor": self.anchor(hit, number), **known}

    def _made_harmless(self, hit: Hit) -> Mapping[str, str]:
        def line(value: str | None) -> str:
            return harmless.line(value or "", self._style, _LINE)

        return {
            "title": line(hit.title),
            "section": line(hit.section),
            "date": hit.occurred_at.date().isoformat() if hit.occurred_at else "",
            "type": line(hit.source.type),
            "id": line(hit.source.id),
            "text": harmless.marked(hit.content, self._style),
        }

    def measure(self, parts: Sequence[str]) -> tuple[int, int]:
        """Give bytes and tokens of instructions and text."""
        return _size(parts), sum(map(self._count, parts))

    def fits(self, parts: Sequence[str], max_bytes: int, max_tokens: int) -> bool:
        """Whether instructions and text have room; tokens are counted where bytes have."""
        return _size(parts) <= max_bytes and sum(map(self._count, parts)) <= max_tokens

    def chosen(self, hits: Sequence[Hit], most: int, max_bytes: int, max_tokens: int) -> list[Hit]:
        """Give the hits that have room beside each other, each of them measured once and by itself."""
        size, tokens = self.measure(self.rendered([]))
        room, room_tokens = max_bytes - size, max_tokens - tokens
        found: list[Hit] = []
        for hit in hits:
            if len(found) == most or room <= 0 or room_tokens <= 0:
                break
            parts = self.rendered([hit])
            needed = _size(parts) - size
            if needed > room:
                continue
            needed_tokens = sum(map(self._count, parts)) - tokens
            if needed_tokens > room_tokens:
                continue
            found.append(hit)
            room -= needed
            room_tokens -= needed_tokens
        return found


def _size(parts: Iterable[str]) -> int:
    return sum(len(part.encode()) for part in parts)
