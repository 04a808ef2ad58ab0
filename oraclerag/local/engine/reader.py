"""Reads a statement word by word: the tokens of DDL and PL/SQL with a position, and the errors of a missing word."""

from __future__ import annotations

from collections.abc import Collection
from typing import NoReturn

from oraclerag.local.engine.lexer import Token, tokenize
from oraclerag.local.engine.words import RESERVED, check_length, quote
from oraclerag.local.interface import OraError


def qualified(schema: str, name: str) -> str:
    """Give ``schema.name`` as quoted PostgreSQL identifiers."""
    return f"{quote(schema)}.{quote(name)}"


def literal(value: str) -> str:
    """Give a text as a PostgreSQL literal that does not depend on ``standard_conforming_strings``."""
    escaped = value.replace("'", "''")
    return "E'" + escaped.replace("\\", "\\\\") + "'" if "\\" in escaped else f"'{escaped}'"


def unsupported(what: str, position: int = 0) -> OraError:
    """Give the error for Oracle's own features that the local database does not have."""
    return OraError(3001, f"unimplemented feature: the local database does not support {what}", position)


class Reader:
    """A position in the tokens of one statement.

    Words are compared in upper case and only when they are not quoted.
    """

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.tokens: list[Token] = tokenize(sql)
        self.index = 0

    def peek(self, ahead: int = 0) -> Token:
        """Give a token without taking it; behind the end, the end again."""
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)]

    @property
    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.peek().kind == "end"

    @property
    def position(self) -> int:
        """Offset of the next token in the statement."""
        return self.peek().position

    def advance(self) -> Token:
        """Take the next token."""
        token = self.peek()
        self.index = min(self.index + 1, len(self.tokens) - 1)
        return token

    def sees(self, *words: str) -> bool:
        """Whether these words or symbols come next."""
        return all(self.peek(k).upper == word for k, word in enumerate(words))

    def word(self) -> str:
        """Give the next unquoted word or symbol in upper case, '' when something else comes."""
        return self.peek().upper

    def accept(self, *words: str) -> bool:
        """Take these words if they come next."""
        if self.sees(*words):
            self.index += len(words)
            return True
        return False

    def accept_one(self, words: Collection[str]) -> str | None:
        """Take the next word if it is one of these, and give it."""
        word = self.word()
        if word in words:
            self.advance()
            return word
        return None

    def expect(self, *words: str, number: int = 0, message: str = "") -> None:
        """Take these words or raise: 906 and 907 for brackets, the given number, else 2000 with the missing word."""
        for word in words:
            if self.accept(word):
                continue
            if number:
                raise OraError(number, message, self.position)
            if word == "(":
                raise OraError(906, "missing left parenthesis", self.position)
            if word == ")":
                raise OraError(907, "missing right parenthesis", self.position)
            raise OraError(2000, f"missing {word} keyword", self.position)

    def expect_end(self, number: int = 922, message: str = "missing or invalid option") -> None:
        """Raise unless the statement ends here."""
        if self.sees(";"):
            raise OraError(3048, "SQL reserved word ';' is not syntactically valid here", self.position)
        if not self.at_end:
            raise OraError(number, message, self.position)

    def expect_nothing(self) -> None:
        """Raise unless the statement ends here: ORA-03048 for a reserved word, ORA-03049 for another one."""
        word = self.word()
        if word in RESERVED:
            self.fail(3048, f"SQL reserved word '{word}' is not syntactically valid here")
        self.expect_end(3049, f"SQL keyword '{word}' is not syntactically valid here")

    def identifier(self, number: int = 903, message: str = "invalid table name") -> str:
        """Take a name: upper case unless quoted; reserved words and non-names raise the given error."""
        token = self.peek()
        if token.kind == "quoted":
            self.advance()
            return check_length(token.value, token.position)
        if token.kind == "word" and token.value not in RESERVED:
            self.advance()
            return check_length(token.value, token.position)
        if token.kind == "invalid":
            raise OraError(911, f"'{token.text}': invalid character", token.position)
        raise OraError(number, message, token.position)

    def column(self) -> str:
        """Take the name of a column: a reserved word is ORA-03050."""
        token = self.peek()
        if token.kind == "word" and token.value in RESERVED:
            raise OraError(3050, f"invalid identifier: '{token.value}' is a reserved word", token.position)
        return self.identifier(904, f"{token.text or 'end of statement'}: invalid identifier")

    def name(self, number: int = 903, message: str = "invalid table name") -> tuple[str | None, str]:
        """Take ``[schema.]name``."""
        first = self.identifier(number, message)
        if self.accept("."):
            return first, self.identifier(number, message)
        return None, first

    def columns(self) -> tuple[str, ...]:
        """Take ``(column, …)``."""
        self.expect("(")
        names = [self.column()]
        while self.accept(","):
            names.append(self.column())
        self.expect(")")
        return tuple(names)

    def integer(self, number: int = 922, message: str = "missing or invalid option") -> int:
        """Take an unsigned integer literal."""
        token = self.peek()
        if token.kind != "number" or not token.text.isdigit():
            raise OraError(number, message, token.position)
        self.advance()
        return int(token.text)

    def signed(self) -> int:
        """Take an integer literal with an optional sign."""
        sign = -1 if self.accept("-") else 1
        self.accept("+")
        return sign * self.integer()

    def string(self, number: int = 1780, message: str = "string literal required") -> str:
        """Take a string literal and give its value ('' stays '')."""
        token = self.peek()
        if token.kind != "string":
            raise OraError(number, message, token.position)
        self.advance()
        return token.value

    def parenthesised(self) -> tuple[int, int]:
        """Take ``( … )`` with everything inside and give the token span between the brackets."""
        self.expect("(")
        first, depth = self.index, 1
        while True:
            if self.at_end:
                raise OraError(907, "missing right parenthesis", self.position)
            token = self.advance()
            depth += (token.upper == "(") - (token.upper == ")")
            if depth == 0:
                return first, self.index - 1

    def span(self, stops: Collection[str]) -> tuple[int, int]:
        """Take tokens up to a comma, a closing bracket or a stop word outside brackets; give their span."""
        first, depth = self.index, 0
        while not self.at_end:
            token = self.peek()
            symbol = token.upper
            if depth == 0 and (symbol in {",", ")"} or (symbol in stops and self.index > first)):
                break
            depth += (symbol == "(") - (symbol == ")")
            self.advance()
        return first, self.index

    def text(self, span: tuple[int, int]) -> str:
        """Give the source text of a token span."""
        first, last = span
        if first >= last:
            return ""
        return self.sql[self.tokens[first].position : self.tokens[last - 1].end]

    def fail(self, number: int, message: str) -> NoReturn:
        """Raise an error at the next token."""
        raise OraError(number, message, self.position)
