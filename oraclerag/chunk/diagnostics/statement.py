"""A SQL statement in a few words: its operation and what it works on, short enough to stand before every chunk."""

from __future__ import annotations

import re

__all__ = ["in_few_words"]

_SEEN = 4000  # characters of the statement that are looked at
_WORDS = 6
_SHORT = 60  # characters

_COMMENTS = re.compile(r"/\*.*?\*/|--[^\n]*", re.DOTALL)
_OPEN_COMMENT = re.compile(r"/\*.*", re.DOTALL)  # its end is behind what is looked at
_NAME = r"(?P<name>[A-Za-z_\"][\w$#\"]{0,127}(?:\.[A-Za-z_\"][\w$#\"]{0,127}){0,2})"
_OBJECT = {
    "SELECT": re.compile(rf"\bfrom\s+(?:only\s*\(\s*)?{_NAME}", re.IGNORECASE | re.ASCII),
    "WITH": re.compile(rf"with\s+{_NAME}", re.IGNORECASE | re.ASCII),
    "INSERT": re.compile(rf"\binto\s+{_NAME}", re.IGNORECASE | re.ASCII),
    "MERGE": re.compile(rf"\binto\s+{_NAME}", re.IGNORECASE | re.ASCII),
    "DELETE": re.compile(rf"delete\s+(?:from\s+)?{_NAME}", re.IGNORECASE | re.ASCII),
    "UPDATE": re.compile(rf"update\s+(?:only\s*\(\s*)?{_NAME}", re.IGNORECASE | re.ASCII),
}


def in_few_words(sql: str) -> str:
    """Give ``INSERT T_SYN``, ``SELECT USER$``, or the first words of what is neither a query nor DML.

    Comments and hints say nothing; 60 characters at most; nothing where there is no word.
    """
    text = _COMMENTS.sub(" ", sql[:_SEEN])
    text = _OPEN_COMMENT.sub(" ", text).strip().lstrip("(").lstrip()
    words = text.split(None, _WORDS)[:_WORDS]
    if not words:
        return ""
    operation = words[0].upper()
    pattern = _OBJECT.get(operation)
    found = pattern.search(text) if pattern is not None else None
    if found is not None:
        return f"{operation} {found['name'].upper()}"[:_SHORT]
    return " ".join(words)[:_SHORT].rstrip()
