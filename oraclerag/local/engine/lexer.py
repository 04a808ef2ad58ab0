"""Tokens of Oracle SQL and PL/SQL."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from oraclerag.local.engine.words import check_length
from oraclerag.local.interface import OraError

Kind = Literal["word", "quoted", "string", "number", "bind", "symbol", "invalid", "hint", "end"]


class Token(NamedTuple):
    """One token.

    ``text`` is what the source says. ``upper`` is the word in upper case or the symbol, so that one comparison finds
    a keyword; it is empty for every other kind. ``position`` is the 0-based offset in the source. ``value`` is the
    content: a string literal without its quotes, a name as the dictionary holds it, a bind's name (upper case unless
    quoted). ``invalid`` is a character that Oracle SQL does not know (PL/SQL uses ``%``).
    """

    kind: Kind
    text: str
    upper: str
    position: int
    value: str

    @property
    def end(self) -> int:
        """The offset behind the token."""
        return self.position + len(self.text)


_TOKEN = re.compile(
    r"""
    \s*(?:
      (?P<word>[^\W\d_][\w$\#]*+(?!'))
    | (?P<comment>--[^\n]*|/\*.*?\*/)
    | (?P<qstring>[nN]?[qQ]'(?:\[.*?\]'|\{.*?\}'|\(.*?\)'|<.*?>'|(?P<mark>[^\s\[{(<]).*?(?P=mark)'))
    | (?P<string>[nN]?'(?:[^']|'')*')
    | (?P<ustring>[uU]'(?:[^']|'')*')
    | (?P<quoted>"[^"]*")
    | (?P<number>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)
    | (?P<word_before_text>[^\W\d_][\w$\#]*)
    | (?P<bind>:\s*(?:"[^"]+"|[^\W_][\w$\#]*))
    | (?P<symbol><=>|<->|<\#>|:=|=>|\.\.|\*\*|\|\||<=|>=|<>|!=|\^=|<<|>>|[-+*/=<>(),.;:@\[\]{}])
    | (?P<invalid>.)
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_UNICODE_ESCAPE = re.compile(r"\\([0-9a-fA-F]{4})|\\\\")
_SEMANTIC_HINT = re.compile(r"\bIGNORE_ROW_ON_DUPKEY_INDEX\b|\bCHANGE_DUPKEY_ERROR_INDEX\b", re.IGNORECASE)
_UNCLOSED = {"'": (1756, "quoted string not properly terminated"), '"': (1740, "missing double quote in identifier")}


def tokenize(sql: str) -> list[Token]:
    """Split a statement into tokens; the last one is of kind ``end``.

    Comments are dropped, hints too, save the one right behind INSERT that changes what the statement does (kind
    ``hint``). What is not closed is ORA-01756, ORA-01740 or ORA-01742; names that cannot be are ORA-01741, ORA-25716,
    ORA-00972.
    """
    tokens: list[Token] = []
    append = tokens.append
    position = 0
    match = _TOKEN.match
    while True:
        found = match(sql, position)
        kind = found.lastgroup if found is not None else None
        if found is None or kind is None:  # cannot be: some alternative takes any character, and the end
            raise OraError(911, "invalid character", position)
        text = found[kind]
        position = found.end() - len(text)
        if kind in ("word", "word_before_text"):
            upper = text.upper()
            append(Token("word", text, upper, position, upper))
        elif kind == "symbol":
            if text == "/" and sql.startswith("/*", position):
                raise OraError(1742, "comment not terminated properly", position)
            append(Token("symbol", text, text, position, text))
        elif kind == "comment":
            hint = text[2:3] == "+" and bool(tokens) and tokens[-1].upper == "INSERT"
            if hint and _SEMANTIC_HINT.search(text):
                append(Token("hint", text, "", position, text[3:].removesuffix("*/")))
        elif kind == "bind":
            if tokens and tokens[-1].kind == "string":  # JSON_OBJECT('key' : value): clients read it so, too
                text = ":"
                append(Token("symbol", text, text, position, text))
            else:
                name = text[1:].strip()
                append(Token("bind", text, "", position, name[1:-1] if name[0] == '"' else name.upper()))
        elif kind == "number":
            append(Token("number", text, "", position, text))
        elif kind == "quoted":
            append(_quoted(sql, text, position))
        elif kind == "end":
            append(Token("end", "", "", len(sql), ""))
            return tokens
        elif kind == "invalid":
            if text in _UNCLOSED:
                raise OraError(*_UNCLOSED[text], position)
            append(Token("invalid", text, text, position, text))
        else:
            append(Token("string", text, "", position, _content(kind, text)))
        position += len(text)


def _content(kind: str, text: str) -> str:
    """Give what a text literal holds."""
    if kind == "string":
        return text[text.index("'") + 1 : -1].replace("''", "'")
    if kind == "ustring":
        return _UNICODE_ESCAPE.sub(_unescape, text[2:-1].replace("''", "'"))
    return text[text.index("'") + 2 : -2]


def _quoted(sql: str, text: str, position: int) -> Token:
    name = text[1:-1]
    if not name:
        raise OraError(1741, "illegal zero-length identifier", position)
    if sql.startswith('"', position + len(text)):
        raise OraError(25716, 'The identifier contains a double quotation mark (") character.', position)
    return Token("quoted", text, "", position, check_length(name, position))


def _unescape(found: re.Match[str]) -> str:
    digits = found.group(1)
    return chr(int(digits, 16)) if digits else "\\"
