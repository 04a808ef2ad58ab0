"""The table of letters of a SentencePiece model: read as the graph reads it, so that the counts agree."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.errors import ModelInvalid
from oraclerag.model.character_map import CharacterMap
from oraclerag.model.sentencepiece import PieceCounter, SentencePiece
from tests.unit.model.test_sentencepiece import graph, sentencepiece

RULES = {
    **dict.fromkeys("\t\n\r\u00a0\u3000\u2028\ufeff", " "),
    **dict.fromkeys("\x01\u00ad", ""),
    "½": "1/2",
    "ﬁ": "fi",
    "…": "...",
    "㍿": "株式会社",
    "Å": "å",
    "ﾞ": "゛",
    "日本": "nihon",
    "e\u0301": "é",
    "n\u0303": "ñ",
    "a\u0302": "â",
    "a\u0302\u0301": "ấ",
    "ab": "b",
    "¨": " \u0308",
}


def table(rules: dict[str, str]) -> bytes:
    """Write the double array and the replacements."""
    words: dict[int, Any] = {}
    replacements = b""
    for sequence, new in rules.items():
        node = words
        for byte in sequence.encode():
            node = node.setdefault(byte, {})
        node[0] = len(replacements)
        replacements += new.encode() + b"\0"
    units, bases, left = {0: 0}, {0}, [(0, words)]
    while left:
        place, node = left.pop()
        base = next(at for at in range(1 << 20) if at not in bases and not any(at ^ byte in units for byte in node))
        bases.add(base)
        units[place] |= (place ^ base) << 10 | (0 in node) << 8
        units |= {base ^ byte: byte or node[0] | 1 << 31 for byte in node}
        left += [(base ^ byte, child) for byte, child in node.items() if byte]
    size = (max(units) // 256 + 1) * 256
    return struct.pack(f"<{size + 1}I", size * 4, *(units.get(at, 0) for at in range(size))) + replacements


TOKENIZER = SentencePiece(sentencepiece(table=table(RULES)))
IDS, COUNTER, LETTERS = graph(TOKENIZER), PieceCounter(TOKENIZER), CharacterMap(table(RULES))


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("el pago", "el pago"),
        ("½\u0301", "1/2\u0301"),
        ("cafe\u0301s", "cafés"),
        ("e\u0303", "e\u0303"),
        ("a\u0302\u0301a\u0302e", "ấâe"),
        ("aab", "ab"),
        ("\r\n\u00a0\u0301", "   \u0301"),
        ("日日本", "日nihon"),
        ("\x01\u00ad", ""),
        ("", ""),
    ],
)
def test_the_longest_sequence_is_replaced(text: str, replaced: str) -> None:
    assert LETTERS.replaced(text) == replaced
    assert CharacterMap(b"").replaced(text) == text
    assert COUNTER.count(text) == len(IDS(text))


@given(st.text(st.sampled_from(sorted({*"".join(RULES), *" ▁elo0\u0327\u200d\ufe0f☕"})), max_size=20))
def test_the_count_is_that_of_the_graph(text: str) -> None:
    assert COUNTER.count(text) == len(IDS(text))


@pytest.mark.parametrize("cut", [b"\x08", b"\0\0\0\0", table(RULES)[:100], b"\x03\0\0\0abc"])
def test_half_a_table_is_refused(cut: bytes) -> None:
    with pytest.raises(ModelInvalid, match="cannot be read"):
        SentencePiece(sentencepiece(table=cut))
