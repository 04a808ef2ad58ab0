"""Reading tokens one after the other, and which ORA number each missing or unexpected token raises."""

from __future__ import annotations

from typing import NoReturn

from oraclerag.local.engine.lexer import Token
from oraclerag.local.engine.plan import Names
from oraclerag.local.engine.scope import Scope
from oraclerag.local.engine.words import RESERVED, check_length
from oraclerag.local.interface import OraError

MISSING: dict[str, tuple[int, str]] = {
    "(": (906, "missing left parenthesis"),
    ")": (907, "missing right parenthesis"),
    "=": (927, "missing equal sign"),
    ",": (917, "missing comma"),
    "FROM": (923, "FROM keyword not found where expected"),
    "BY": (924, "missing BY keyword"),
    "INTO": (925, "missing INTO keyword"),
    "VALUES": (926, "missing VALUES keyword"),
    "SELECT": (928, "missing SELECT keyword"),
    "ON": (969, "missing ON keyword"),
    "SET": (971, "missing SET keyword"),
    "NULL": (908, "missing NULL keyword"),
    "THEN": (905, "missing keyword"),
    "END": (905, "missing keyword"),
    "AND": (905, "missing keyword"),
}
"""The number for each token that must come next; a keyword that is not here is ORA-02000."""


class TokenCursor:
    """The tokens of a statement and where reading stands.

    ``position`` is the index of the next token; whoever embeds a parser sets it and reads it back. ``source`` is the
    statement's text.
    """

    def __init__(self, tokens: list[Token], names: Names, source: str = "") -> None:
        self.tokens = [token for token in tokens if token.kind != "hint"]
        self.names = names
        self.source = source
        self.position = 0
        self.scope: Scope | None = None

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.position]

    def peek(self, ahead: int = 1) -> Token:
        """A token further on; the last one is given for everything behind it."""
        at = self.position + ahead
        return self.tokens[at] if at < len(self.tokens) else self.tokens[-1]

    def at(self, word: str, *more: str) -> bool:
        """Whether these keywords or symbols come next."""
        if self.tokens[self.position].upper != word:
            return False
        return not more or all(self.peek(ahead + 1).upper == following for ahead, following in enumerate(more))

    def accept(self, word: str, *more: str) -> bool:
        """Step over these keywords or symbols if they come next."""
        if self.tokens[self.position].upper != word or (more and not self.at(word, *more)):
            return False
        self.position += 1 + len(more)
        return True

    def need(self, word: str) -> None:
        """Step over a keyword or symbol that must come next; what is raised says :data:`MISSING`."""
        if self.tokens[self.position].upper == word:
            self.position += 1
            return
        self.missing(word)

    def missing(self, word: str) -> NoReturn:
        """Raise the error for a token that must come next and does not."""
        number, message = MISSING.get(word, (2000, f"missing {word} keyword"))
        raise OraError(number, message, self.token.position)

    def unexpected(self) -> NoReturn:
        """Raise the error for a next token that cannot stand there."""
        token = self.token
        before = self.source[max(0, token.position - 40) : token.position].rstrip() if self.source else ""
        behind = f"is not syntactically valid following '...{before}'"
        if token.kind == "end":
            raise OraError(936, "missing expression", token.position)
        if token.kind == "invalid":
            raise OraError(911, f"'{token.text}': invalid character after '{before}'", token.position)
        if token.kind == "number":
            raise OraError(3047, f"SQL number '{token.text}' {behind}", token.position)
        if token.kind == "string":
            raise OraError(3046, f"SQL string {behind}", token.position)
        if token.kind == "word" and token.upper not in RESERVED:
            raise OraError(3049, f"SQL keyword '{token.upper}' {behind}", token.position)
        raise OraError(3048, f"SQL reserved word '{token.text.upper()}' {behind}", token.position)

    def unsupported(self, what: str) -> NoReturn:
        """Raise ORA-03001 naming what the local database does not know."""
        raise OraError(3001, f"unimplemented feature: {what}", self.token.position)

    def identifier(self) -> str:
        """Read a name as the dictionary holds it; a reserved word is ORA-03050."""
        token = self.tokens[self.position]
        if token.kind == "word":
            if token.upper in RESERVED:
                raise OraError(3050, f'invalid identifier: "{token.upper}" is a reserved word', token.position)
        elif token.kind != "quoted":
            self.unexpected()
        self.position += 1
        return check_length(token.value, token.position)

    def table_name(self) -> list[str]:
        """Read the name of a table, with a schema or without; what cannot be one is ORA-00903."""
        parts = []
        while True:
            token = self.tokens[self.position]
            if token.kind != "quoted" and (token.kind != "word" or token.upper in RESERVED):
                if token.kind == "invalid":
                    self.unexpected()
                raise OraError(903, "invalid table name", token.position)
            parts.append(check_length(token.value, token.position))
            self.position += 1
            if not self.accept("."):
                break
        if self.at("@"):
            self.unsupported("database link")
        if len(parts) > 2:
            raise OraError(903, "invalid table name", self.token.position)
        return parts

    def string(self) -> str | None:
        """Read a string literal if one comes next."""
        token = self.tokens[self.position]
        if token.kind != "string":
            return None
        self.position += 1
        return token.value

    def integer(self) -> int:
        """Read a literal whole number without sign; another number is ORA-03001, anything else is unexpected."""
        token = self.tokens[self.position]
        if token.kind != "number":
            self.unexpected()
        if not token.text.isdigit():
            self.unsupported(f"{token.text} where a whole number is expected")
        self.position += 1
        return int(token.text)
