"""Text of sources made harmless: nothing in it can pass for an anchor, for the frame around it or for a role.

What a text *says* cannot be made harmless; the instructions tell the model that it is data.
"""

from __future__ import annotations

import re
import unicodedata

from oraclerag import anchors
from oraclerag.anchors import Style

__all__ = ["line", "marked", "text"]

# Line ends of every kind, so that each line gets its mark.
_LINE_ENDS = re.compile(r"\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Words of Persian and pictures of several parts need them.
_JOINERS = "\u200c\u200d"

# Without any of these there is nothing to be done: frames, tokens and anchors of either style are made of them.
_SUSPECT = re.compile(r"[^\n\t\x20-\x7e]|[<>|\[#]")
_FRAME = re.compile(
    r"<(?=[\s/\\]*(?:sources?|questions?|instructions?|system|assistant|user|human|developer|tools?|documents?"
    r"|s|bos|eos|pad|unk|sys|<|start_of_turn|end_of_turn|think(?:ing)?)\b|[\s/]*[|｜<])",
    re.IGNORECASE,
)
_TOKEN_END = re.compile(r"(?<=[|｜])>")
_BRACKET_TOKEN = re.compile(r"\[(\s*/?\s*(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_\w{1,20}))\s*\]", re.IGNORECASE)


def text(value: str, style: Style) -> str:
    """Give a text without what is invisible, with anchors, tags of the frame and tokens of chat formats broken.

    Characters are replaced by ones that look alike, never removed, save those that nobody sees: directions, tags that
    hide whole sentences, controls. Halves of surrogate pairs become U+FFFD.
    """
    if not _SUSPECT.search(value):
        return value
    value = _LINE_ENDS.sub("\n", value)
    if not value.isascii() or not value.isprintable():
        value = "".join(map(_seen, value))
    value = _FRAME.sub("‹", value)
    value = _TOKEN_END.sub("›", value)
    value = _BRACKET_TOKEN.sub(r"‹\1›", value)
    return anchors.neutral(value, style)


def _seen(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Cs":
        return "\ufffd"
    if category in ("Cc", "Cf") and char not in "\n\t" and char not in _JOINERS:
        return ""
    return char


def line(value: str, style: Style, limit: int) -> str:
    """Give a text as a part of one line that stands in double quotes, cut at ``limit`` characters."""
    value = " ".join(text(value, style).split()).replace('"', "'").replace("<", "‹").replace(">", "›")
    return value if len(value) <= limit else value[: limit - 1] + "…"


def marked(value: str, style: Style) -> str:
    """Give a text with ``>`` before each of its lines: none of them can be a line of ours."""
    return "\n".join(f"> {row}" if row else ">" for row in text(value, style).rstrip().split("\n"))
