"""Around a hit: its neighbours, its section, or the whole text of its entity, within the same scope.

All hits together are one statement, and it asks for the scope again: a hit is no right to what stands beside it, and
between two statements it may have become another's. Texts are joined by their spans, so that what chunks share is not
said twice, and heads are not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from oraclerag.database import in_list
from oraclerag.errors import InputError
from oraclerag.records import Hit, Passage, SourceKey, StoredChunk
from oraclerag.search.compose import Statement
from oraclerag.statements import quoted

if TYPE_CHECKING:
    from oraclerag.scope import Scope

__all__ = ["MAX_BYTES", "Around", "Expansion", "Row", "around", "documents", "joined", "passages", "rows"]

Around = Literal["neighbours", "section", "parent"]

MAX_BYTES = 16_000
"""How long a passage may be where nothing else is said."""

_LEAST_BYTES, _MOST_BYTES = 4000, 1_000_000  # every chunk fits
_MOST_NEIGHBOURS = 100
_MOST_OF_SECTION = 500  # chunks on each side of a hit that are read
_MOST_HITS = 1000

_COLUMNS = (
    "ENTITY_ID", "CHUNK_ID", "CHUNK_NO", "PARENT_NO", "SECTION", "TEXT_START", "TEXT_END", "HEAD_LENGTH", "CONTENT",
    "SOURCE_TYPE", "SOURCE_ID", "TENANT_ID",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expansion:
    """What is to be expanded, and how; ``reach`` is in chunks before and after."""

    hits: tuple[Hit | StoredChunk, ...] = field(repr=False)
    how: Around
    reach: tuple[int, int]
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Row:
    """A chunk that stands around a hit."""

    entity_id: int
    chunk_id: int
    number: int
    parent: int | None
    section: str | None
    start: int | None
    end: int | None
    head_length: int | None
    content: str = field(repr=False)
    source: SourceKey
    title: str | None = field(default=None, repr=False)
    url: str | None = None

    @property
    def head(self) -> str:
        """What is repeated before the text."""
        return self.content[: self._head_length]

    @property
    def text(self) -> str:
        """What stands in the entity's text."""
        return self.content[self._head_length :]

    @property
    def _head_length(self) -> int:
        if self.head_length is not None:
            return self.head_length
        # not written by a worker of this version: what is longer than its span has a head
        span = len(self.content) if self.start is None or self.end is None else self.end - self.start
        return max(0, len(self.content) - span)


def around(
    hits: Iterable[Hit | StoredChunk], how: Around, *, before: int = 1, after: int = 1, max_bytes: int = MAX_BYTES
) -> Expansion:
    """Check what is to be expanded. Raises InputError."""
    given = tuple(hits) if isinstance(hits, Iterable) else (hits,)
    if isinstance(hits, (Hit, StoredChunk)) or not all(isinstance(hit, (Hit, StoredChunk)) for hit in given):
        raise InputError("hits must be a list of hits of a search, or of chunks that were fetched.")
    if len(given) > _MOST_HITS:
        raise InputError(f"hits are {len(given):,}; {_MOST_HITS:,} are the most.")
    if how not in ("neighbours", "section", "parent"):
        raise InputError(f"how must be 'neighbours', 'section' or 'parent', not {how!r}.")
    _whole(max_bytes, "max_bytes", _LEAST_BYTES, _MOST_BYTES)
    for value, name in ((before, "before"), (after, "after")):
        _whole(value, name, 0, _MOST_NEIGHBOURS)
    reach = (before, after) if how == "neighbours" else (_MOST_OF_SECTION, _MOST_OF_SECTION)
    return Expansion(given, how, reach, max_bytes)


def _whole(value: object, name: str, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(f"{name} must be a whole number between {least:,} and {most:,}, not {value!r}.")


def rows(schema: str, scope: Scope, asked: Expansion) -> Statement:
    """Build the statement that reads the chunks around all hits, in the order of their texts.

    It begins at the hits, by their ids, and goes along the entity's index: it never reads the chunks of a tenant.
    """
    owner = quoted(schema, "schema")
    listed, binds = in_list([hit.chunk_id for hit in asked.hits])
    allowed, scope_binds = scope.predicate("c")
    hit_allowed, _ = scope.predicate("h")
    near = "n.CHUNK_NO BETWEEN h.CHUNK_NO - :reach_before AND h.CHUNK_NO + :reach_after"
    if asked.how == "section":
        near += "\n          AND COALESCE(n.PARENT_NO, n.CHUNK_NO) = COALESCE(h.PARENT_NO, h.CHUNK_NO)"
    return Statement(
        f"""\
SELECT {", ".join(f"c.{name}" for name in _COLUMNS)}, d.TITLE, d.URL
FROM (SELECT DISTINCT n.CHUNK_ID
      FROM {owner}.RAG_CHUNK h
      JOIN {owner}.RAG_CHUNK n
        ON n.ENTITY_ID = h.ENTITY_ID
          AND {near}
      WHERE {hit_allowed} AND (h.CHUNK_ID IN ({listed}))) a
JOIN {owner}.RAG_CHUNK c ON c.CHUNK_ID = a.CHUNK_ID
LEFT JOIN {owner}.RAG_DOCUMENT d ON d.ENTITY_ID = c.ENTITY_ID
WHERE {allowed} AND (c.CHUNK_NO >= 0)
ORDER BY c.ENTITY_ID, c.CHUNK_NO""",
        {**binds, **scope_binds, "reach_before": asked.reach[0], "reach_after": asked.reach[1]},
        (*_COLUMNS, "TITLE", "URL"),
    )


def documents(schema: str, scope: Scope, asked: Expansion) -> Statement:
    """Build the statement that reads the whole texts of the hits' entities, as much of each as may be wanted.

    A character takes at least one byte for each of its units, and there is one unit more than may be wanted: half of a
    surrogate pair at the end is always cut off.
    """
    owner = quoted(schema, "schema")
    listed, binds = in_list([hit.chunk_id for hit in asked.hits])
    allowed, scope_binds = scope.predicate("c")
    return Statement(
        f"""\
SELECT d.ENTITY_ID, v.SOURCE_TYPE, v.SOURCE_ID, v.TENANT_ID, d.TITLE, d.URL, SUBSTR(d.BODY, 1, :body_units) AS BODY
FROM {owner}.RAG_DOCUMENT d
JOIN (SELECT c.ENTITY_ID, c.SOURCE_TYPE, c.SOURCE_ID, c.TENANT_ID
      FROM {owner}.RAG_CHUNK c
      WHERE {allowed} AND (c.CHUNK_ID IN ({listed}))
      GROUP BY c.ENTITY_ID, c.SOURCE_TYPE, c.SOURCE_ID, c.TENANT_ID) v
  ON v.ENTITY_ID = d.ENTITY_ID AND v.TENANT_ID = d.TENANT_ID
ORDER BY d.ENTITY_ID""",
        {**binds, **scope_binds, "body_units": asked.max_bytes + 1},
        ("ENTITY_ID", "SOURCE_TYPE", "SOURCE_ID", "TENANT_ID", "TITLE", "URL", "BODY"),
    )


def passages(fetched: Sequence[tuple[Any, ...]], asked: Expansion) -> list[Passage]:
    """Make the passages of what the statement gave, in the order of the hits; a hit that is not there has none."""
    if asked.how == "parent":
        return list(_parents(fetched, asked))
    found = [_row(row) for row in fetched]
    wanted = {hit.chunk_id: place for place, hit in reversed(list(enumerate(asked.hits)))}
    made = [
        passage
        for run in _runs(found, together=asked.how == "section")
        for passage in _bounded(run, wanted, asked.max_bytes, _ends(run, wanted, asked))
    ]
    return sorted(made, key=lambda passage: wanted[passage.hits[0]])


def _row(values: tuple[Any, ...]) -> Row:
    row = dict(zip((*_COLUMNS, "TITLE", "URL"), values, strict=True))
    return Row(
        row["ENTITY_ID"], row["CHUNK_ID"], row["CHUNK_NO"], row["PARENT_NO"], row["SECTION"], row["TEXT_START"],
        row["TEXT_END"], row["HEAD_LENGTH"], row["CONTENT"],
        SourceKey(row["SOURCE_TYPE"], row["SOURCE_ID"], row["TENANT_ID"]), row["TITLE"], row["URL"],
    )  # fmt: skip


def _parents(fetched: Sequence[tuple[Any, ...]], asked: Expansion) -> Iterator[Passage]:
    of = {SourceKey(row[1], row[2]): row for row in fetched}
    hits: dict[SourceKey, list[int]] = {}
    for hit in asked.hits:
        if hit.source in of and hit.chunk_id not in hits.setdefault(hit.source, []):
            hits[hit.source].append(hit.chunk_id)
    for key, ids in hits.items():
        _, kind, identity, tenant, title, url, body = of[key]
        whole = body or ""
        text = _first_bytes(whole, asked.max_bytes)
        yield Passage(
            SourceKey(kind, identity, tenant), tuple(ids), text, start=0, end=len(text), cut=text != whole,
            title=title, url=url,
        )  # fmt: skip


def _runs(found: Sequence[Row], *, together: bool) -> Iterator[list[Row]]:
    """Part rows where the text is interrupted; with ``together`` where the section ends."""
    run: list[Row] = []
    for row in found:
        follows = run and run[-1].entity_id == row.entity_id and run[-1].number + 1 == row.number
        if follows and together:
            follows = _section(run[-1]) == _section(row)
        if run and not follows:
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def _section(row: Row) -> int:
    return row.number if row.parent is None else row.parent


def _ends(run: Sequence[Row], wanted: dict[int, int], asked: Expansion) -> bool:
    """Whether a run ends where the reading of a section was bounded."""
    numbers = [row.number for row in run if row.chunk_id in wanted]
    if asked.how != "section" or not numbers:
        return False
    return numbers[0] - run[0].number >= _MOST_OF_SECTION or run[-1].number - numbers[-1] >= _MOST_OF_SECTION


def _bounded(run: Sequence[Row], wanted: dict[int, int], most: int, ends: bool) -> Iterator[Passage]:
    """Give a run as one passage where it is short enough, else what stands around its hits, the best hit first."""
    hits = sorted((row for row in run if row.chunk_id in wanted), key=lambda row: wanted[row.chunk_id])
    if not hits:  # what follows a gap in a section
        return
    if _size(run) <= most:
        yield _passage(run, hits, cut=ends)
        return
    taken: set[int] = set()
    for hit in hits:
        place = run.index(hit)
        if place in taken:
            continue
        low, high = _window(run, place, most, lambda at: at in taken)
        taken.update(range(low, high + 1))
        part = run[low : high + 1]
        yield _passage(part, [row for row in hits if row in part], cut=True)


def _window(run: Sequence[Row], place: int, most: int, is_taken: Callable[[int], bool]) -> tuple[int, int]:
    """Grow from one chunk, after it and before it in turn, as long as that is short enough."""
    low = high = place
    grows = [True, True]  # after, before
    while any(grows):
        for side, step in ((0, 1), (1, -1)):
            at = high + 1 if step == 1 else low - 1
            if not grows[side]:
                continue
            span = (low, at) if step == 1 else (at, high)
            if 0 <= at < len(run) and not is_taken(at) and _size(run[span[0] : span[1] + 1]) <= most:
                low, high = span
            else:
                grows[side] = False
    return low, high


def _size(part: Sequence[Row]) -> int:
    """The bytes of a passage at most: what chunks share is counted once for each of them."""
    return len(part[0].head.encode()) + sum(len(row.text.encode()) + 2 for row in part) - 2


def _passage(part: Sequence[Row], hits: Sequence[Row], *, cut: bool) -> Passage:
    first = part[0]
    return Passage(
        first.source,
        tuple(row.chunk_id for row in hits),
        joined(part),
        head=first.head,
        chunks=tuple(row.number for row in part),
        start=first.start,
        end=part[-1].end,
        cut=cut,
        title=first.title,
        url=first.url,
        section=first.section,
    )


def joined(part: Sequence[Row]) -> str:
    """Put the texts of chunks that follow each other together, what they share once.

    Of spans that overlap, the shared text is as long as they say; where rules were shortened it is shorter, and the
    longest text that both have. Between spans that do not meet there were blanks: they become a line's end, or two.
    """
    text, end = part[0].text, part[0].end
    for row in part[1:]:
        shared = 0 if end is None or row.start is None else end - row.start
        if shared < 0:
            text += "\n" if shared == -1 else "\n\n"
        elif end is None or row.start is None:
            text += "\n"
        more = row.text
        length = min(max(shared, 0), len(more), len(text))
        while length and not text.endswith(more[:length]):
            length -= 1
        text, end = text + more[length:], row.end
    return text


def _first_bytes(text: str, most: int) -> str:
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= most else encoded[:most].decode("utf-8", "ignore")
