"""Oracle's JSON path expressions, checked and rewritten as PostgreSQL's."""

from __future__ import annotations

import re
from dataclasses import dataclass

from oraclerag.local.engine.long_names import stored
from oraclerag.local.interface import OraError

_NAME = re.compile(r"[^\W\d][\w$]*|\d+\w*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SUBSCRIPT = re.compile(
    r"(?:\*|(?:\d+|last(?:\s*-\s*\d+)?)(?:\s+to\s+(?:\d+|last(?:\s*-\s*\d+)?))?(?:\s*,\s*\d+(?:\s+to\s+\d+)?)*)$"
)
_METHOD = r"(?:\.\w+\(\))?)"
_OPERAND = r"(?:[@$][\w$]*(?:\.(?:\w+(?!\w*\()|\"(?:[^\"\\]|\\.)*\")|\[[^\]]*\])*" + _METHOD
_IN = re.compile(rf"({_OPERAND})\s+in\s*\(([^()]*)\)")
_SUBSTRING = re.compile(rf'({_OPERAND})\s+has\s+substring\s+("(?:[^"\\]|\\.)*")')
_TEXT_OF_VARIABLE = re.compile(rf"\s*({_OPERAND})\s+(has\s+substring|like|like_regex|eq_regex)\s+\$(\w+)\s*")
_LIKE = re.compile(rf'({_OPERAND})\s+like\s+"((?:[^"\\]|\\.)*)"')
_REGEX_OF_VARIABLE = re.compile(r"\b(?:like|like_regex|eq_regex|has\s+substring)\s+\$")
_EQ_REGEX = re.compile(r'\beq_regex\s+"((?:[^"\\]|\\.)*)"')
# A text as variable is a number where it is compared with one. What is no number makes PostgreSQL's condition unknown,
# which is as good as false except behind a negation.
_COMPARISON = re.compile(rf"({_OPERAND}\s*(?:==|!=|<>|<=|>=|<|>)\s*\$\w+)\b(?![.\[])")
_ONLY = re.compile(
    rf"({_OPERAND.removesuffix(_METHOD)}))\.(string|number|boolean)Only\(\)\s*(==|!=|<>|<=|>=|<|>)\s*"
    r"(\$\w+|\"(?:[^\"\\]|\\.)*\"|[\w.+-]+)"
)
_NEGATION = re.compile(r"!(?!=)")
_SEVERAL = re.compile(r"&&|!(?!=)")
_ONLY_METHODS = {f"{kind}Only()": kind for kind in ("string", "number", "boolean")}
_OF_WHOLE = re.compile(r"@\.(?:type|size)\(\)")
_METHODS = frozenset({"number", "string", "boolean", "double", "size", "type", "abs", "ceiling", "floor"})


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path for PostgreSQL.

    ``comparison`` is set when the path ended in a filter that compares texts with a variable, which PostgreSQL cannot
    say: ``has substring``, ``like``, ``like_regex`` or ``eq_regex``. Then ``text`` leads to the texts to look at, and
    the one variable has the pattern. ``steps`` are keys and indexes when the path has nothing else, else None.
    ``variables`` are the names PASSING must give.
    """

    text: str
    steps: tuple[str, ...] | None
    comparison: str | None = None
    variables: tuple[str, ...] = ()


_VARIABLE = re.compile(r'"(?:[^"\\]|\\.)*"|\$(\w+)')


def convert(path: str, position: int) -> JsonPath:
    """Check and rewrite a path; ORA-40597 for a wrong one, ORA-03001 for what PostgreSQL's paths cannot say."""
    text = path.strip()
    mode = re.match(r"(strict|lax)\s+", text)
    if mode:
        text = text[mode.end() :]
    if not text.startswith("$"):
        raise _wrong(path, position)
    out = ["$"]
    steps: list[str] | None = []
    at = 1
    while at < len(text):
        mark = text[at]
        if mark.isspace():
            at += 1
        elif mark == ".":
            piece, at = _member(text, at + 1, path, position)
            only = _ONLY_METHODS.get(piece)
            out.append(f".{piece}" if only is None else f' ? (@.type() == "{only}")')
            steps = _extend(steps, piece)
        elif mark == "[":
            end = text.find("]", at)
            inside = text[at + 1 : end].strip()
            if end < 0 or not _SUBSCRIPT.match(inside):
                raise _wrong(path, position)
            out.append(f"[{inside}]")
            steps = [*steps, inside] if steps is not None and inside.isdigit() else None
            at = end + 1
        elif mark == "?":
            condition, at = _filter(text, at + 1, path, position)
            compared = _TEXT_OF_VARIABLE.fullmatch(condition)
            if compared and not text[at:].strip():
                operand, comparison, variable = compared.groups()
                return JsonPath(
                    "".join(out) + _quote_members(operand[1:]), None, " ".join(comparison.split()), (variable,)
                )
            _append_filter(out, condition, position)
            steps = None
        else:
            raise _wrong(path, position)
    variables = tuple(found.group(1) for found in _VARIABLE.finditer(text) if found.group(1))
    made = "".join(out)
    if any(stored(name) != name for name in variables):
        made = _VARIABLE.sub(_stored_variable, made)
    return JsonPath(made, tuple(steps) if steps is not None else None, None, variables)


def _stored_variable(found: re.Match[str]) -> str:
    name = found.group(1)
    return found[0] if name is None or stored(name) == name else f'$"{stored(name)}"'


def _append_filter(out: list[str], condition: str, position: int) -> None:
    """Add a filter to the steps so far.

    Oracle asks a filter of an array as a whole, and each comparison in it of any of the elements; PostgreSQL asks the
    filter of each element. It makes a difference where there are several comparisons: then the filter is asked of
    the object that has the array. So is one about the array's own type or size.
    """
    of_whole = _SEVERAL.search(_STRING.sub("", condition)) or _OF_WHOLE.search(condition)
    if not (of_whole and out[-1].startswith('."')):
        out.append(f" ? ({_condition(condition, position)})")
        return
    member = out.pop()
    pieces = re.split(r'("(?:[^"\\]|\\.)*")', condition)
    asked = "".join(piece if place % 2 else piece.replace("@", f"@{member}") for place, piece in enumerate(pieces))
    out += [f" ? ({_condition(asked, position)})", member]


def _wrong(path: str, position: int) -> OraError:
    return OraError(40597, f"JSON path expression syntax error ('{path[:60]}')", position)


def _extend(steps: list[str] | None, piece: str) -> list[str] | None:
    if steps is None or not piece.startswith('"'):
        return None
    return [*steps, re.sub(r"\\(.)", r"\1", piece[1:-1])]


def _member(text: str, at: int, path: str, position: int) -> tuple[str, int]:
    while at < len(text) and text[at].isspace():
        at += 1
    if text.startswith("*", at):
        return "*", at + 1
    if text.startswith(".", at):
        raise OraError(3001, "unimplemented feature: descendant step (..) in a JSON path", position)
    quoted = _STRING.match(text, at)
    if quoted:
        return quoted.group(), quoted.end()
    name = _NAME.match(text, at)
    if name is None:
        raise _wrong(path, position)
    if text.startswith("()", name.end()):
        if name.group() not in _METHODS and f"{name.group()}()" not in _ONLY_METHODS:
            raise OraError(3001, f"unimplemented feature: item method {name.group()}() in a JSON path", position)
        return f"{name.group()}()", name.end() + 2
    return f'"{name.group()}"', name.end()


def _filter(text: str, at: int, path: str, position: int) -> tuple[str, int]:
    while at < len(text) and text[at].isspace():
        at += 1
    if not text.startswith("(", at):
        raise _wrong(path, position)
    start = at + 1
    depth = 0
    while at < len(text):
        quoted = _STRING.match(text, at)
        if quoted:
            at = quoted.end()
            continue
        depth += (text[at] == "(") - (text[at] == ")")
        at += 1
        if depth == 0:
            return text[start : at - 1], at
    raise _wrong(path, position)


def _quote_members(text: str) -> str:
    return re.sub(r"\.(\w+)(?!\w|\()", r'."\1"', text)


def _condition(text: str, position: int) -> str:
    text = _IN.sub(lambda m: "(" + " || ".join(f"{m[1]} == {value.strip()}" for value in m[2].split(",")) + ")", text)
    text = _SUBSTRING.sub(r'\1 like_regex \2 flag "q"', text)
    text = _LIKE.sub(lambda m: f'{m[1]} like_regex "^{_like(m[2])}$" flag "s"', text)
    if _REGEX_OF_VARIABLE.search(text):
        raise OraError(
            3001,
            "unimplemented feature: like, like_regex, eq_regex or has substring with a variable beside other conditions"
            " of a JSON path",
            position,
        )
    text = _ONLY.sub(r'exists(\1 ? (@.type() == "\2" && @ \3 \4))', text)
    if "Only()" in _STRING.sub("", text):
        raise OraError(3001, "unimplemented feature: stringOnly() and the like without a comparison", position)
    if not _NEGATION.search(_STRING.sub("", text)):
        text = _COMPARISON.sub(r"(\1 || \1.number())", text)
    text = _EQ_REGEX.sub(r'like_regex "^(?:\1)$"', text)
    pieces = re.split(r'("(?:[^"\\]|\\.)*")', text)
    return "".join(piece if number % 2 else _quote_members(piece) for number, piece in enumerate(pieces))


def _like(pattern: str) -> str:
    return re.sub(r"([.^$*+?()\[\]{}|])", r"\\\\\1", pattern).replace("%", ".*").replace("_", ".")
