"""The table of a SentencePiece model that says which letters replace which before the text is cut into pieces.

It is read here, not by the tokenizers' own ``Precompiled``: that takes a letter and all its marks at once and may drop
or keep some of them, so texts such as "½" with an accent would have another count than in the database.
"""

from __future__ import annotations

import re
import struct

__all__ = ["CharacterMap"]

_ASCII = 0x80


class CharacterMap:
    """Replaces the longest sequence of letters that the table has, from left to right, as SentencePiece does.

    ``table`` is the ``precompiled_charsmap``: the length of a double array (Darts) in bytes, its 32-bit units, and the
    replacements, each ended by a zero byte. An empty one replaces nothing. Raises ValueError or struct.error where it
    is no such table.
    """

    def __init__(self, table: bytes) -> None:
        length = struct.unpack_from("<I", table)[0] if table else 0
        if length % 4 or length > len(table) or (table and not length):
            raise ValueError("the table of letters is cut off")
        self._units: tuple[int, ...] = struct.unpack_from(f"<{length // 4}I", table, 4) if table else ()
        self._replacements = table[4 + length :]
        # Most of a text is letters that the table has only together with marks; they are passed over at once.
        plain = "".join(re.escape(chr(code)) for code in range(1, _ASCII) if self._plain(code))
        self._passed = re.compile(f"[{plain}]+(?![^\\x00-\\x7f])" if plain else "(?!)")

    def replaced(self, text: str) -> str:
        """Give the text with its letters replaced."""
        if not self._units:
            return text
        found: list[str] = []
        at = 0
        while at < len(text):
            passed = self._passed.match(text, at)
            if passed:
                found.append(passed.group())
                at = passed.end()
                continue
            used, new = self._longest(text, at)
            found.append(new)
            at += used
        return "".join(found)

    def _longest(self, text: str, start: int) -> tuple[int, str]:
        """Give how many letters from ``start`` are replaced, and by what; one letter is kept where none are."""
        used, new = 1, text[start]
        node: int | None = 0
        for at in range(start, len(text)):
            for byte in text[at].encode():
                node = None if node is None else self._child(node, byte)
            if node is None:
                break
            if self._ends(node):
                value = self._units[self._base(node)] & 0x7FFFFFFF
                end = self._replacements.index(b"\0", value)
                used, new = at + 1 - start, self._replacements[value:end].decode()
        return used, new

    def _base(self, node: int) -> int:
        """Give what the places of a node's children are counted from: each is that, XOR its byte."""
        unit = self._units[node]
        return node ^ (unit >> 10) << ((unit & 0x200) >> 6)

    def _child(self, node: int, byte: int) -> int | None:
        child = self._base(node) ^ byte
        return child if child < len(self._units) and self._units[child] & 0x800000FF == byte else None

    def _ends(self, node: int) -> bool:
        """Tell whether a sequence of the table ends in a node: its child 0 then has the place of the replacement."""
        return bool(self._units[node] & 0x100)

    def _plain(self, code: int) -> bool:
        if not self._units:
            return False
        node = self._child(0, code)
        return node is None or (
            not self._ends(node) and all(self._child(node, byte) is None for byte in range(1, _ASCII))
        )
