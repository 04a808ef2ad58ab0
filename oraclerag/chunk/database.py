"""Texts that the database has cut by VECTOR_CHUNKS: each piece is found again in its text and held against the model.

A piece that is longer than the model reads is cut further, after sentences and words, so that nothing of it is lost.
The database cuts anywhere: an error code that it parts is known from the whole text, and belongs to both pieces.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence

from oraclerag import error_codes
from oraclerag.chunk import Limits
from oraclerag.chunk.boundaries import longest, sentence_ends, whole_character, word_ends
from oraclerag.cutting import Cutting
from oraclerag.errors import EntityError
from oraclerag.records import Chunk, Piece

__all__ = ["chunks"]


def chunks(text: str, limits: Limits, cutting: Cutting, pieces: Sequence[Piece]) -> Iterator[Chunk]:
    """Make chunks of the pieces of a text, in the order of their places.

    Where the clause normalises, a chunk has the text that the database gave, and its span is what the database says.
    Raises EntityError where a piece is not in the text, or the pieces leave out more of it than blanks.
    """
    number, behind, start = 0, 0, 0
    codes = error_codes.find(text)
    starts, ends = [code.start for code in codes], [code.end for code in codes]
    normalizes = cutting.clause is not None and cutting.clause.normalizes
    for piece in pieces:
        if not piece.text.strip():
            continue
        if normalizes:
            start = min(max(piece.offset - 1, 0), len(text))
            end = min(start + piece.length, len(text))
            within, begin, stop = piece.text, 0, len(piece.text)
        else:
            start = _place(text, piece, start)
            end = start + len(piece.text)
            if text[behind:start].strip():
                raise EntityError(
                    f"VECTOR_CHUNKS left out {start - behind:,} characters before character {start:,} of the text."
                )
            within, begin, stop = text, start, end
        first = number
        for a, b in _parts(within, begin, stop, limits):
            span = (start, end) if normalizes else (a, b)
            named = codes[bisect.bisect_right(ends, span[0]) : bisect.bisect_left(starts, span[1])]
            yield Chunk(
                number,
                within[a:b],
                *span,
                parent=first if number > first else None,
                metadata=error_codes.marked(code.code for code in named),
            )
            number += 1
        behind = max(behind, end)
    if not normalizes and text[behind:].strip():
        raise EntityError(f"VECTOR_CHUNKS left out the last {len(text) - behind:,} characters of the text.")


def _place(text: str, piece: Piece, least: int) -> int:
    """Give where a piece begins: at its offset, in characters or in units of UTF-16, else where its text is next."""
    at = piece.offset - 1
    if at >= 0 and text.startswith(piece.text, at):
        return at
    if not text.isascii() and at >= 0:
        at = len(text.encode("utf-16-le")[: 2 * at].decode("utf-16-le", "ignore"))
        if text.startswith(piece.text, at):
            return at
    at = text.find(piece.text, least)
    if at < 0:
        raise EntityError(
            f"VECTOR_CHUNKS gave a chunk of {len(piece.text):,} characters at {piece.offset:,} that is not in the text."
        )
    return at


def _parts(text: str, begin: int, end: int, limits: Limits) -> Iterator[tuple[int, int]]:
    while begin < end:
        stop = longest(text, begin, "", limits, end)
        if stop < end:
            for ends in (sentence_ends, word_ends):
                found = max(ends(text, begin, stop), default=0)
                if found:
                    stop = found
                    break
            else:
                stop = whole_character(text, begin, stop)
        if text[begin:stop].strip():
            yield begin, stop
        begin = stop
