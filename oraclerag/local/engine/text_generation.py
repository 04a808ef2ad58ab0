"""UTL_TO_GENERATE_TEXT of DBMS_VECTOR and DBMS_VECTOR_CHAIN: a prompt, answered by an endpoint on this machine.

The prompt goes to what ``url`` names as the provider wants it: ``openai``, and what is compatible, by chat completions,
``ollama`` by its own API. Everything else in the parameters is handed on as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from oraclerag.local.engine import credentials, loopback
from oraclerag.local.engine.plan import GenerateParameter
from oraclerag.local.engine.tree import Bind, Embedding, Node
from oraclerag.local.interface import OraError

if TYPE_CHECKING:
    from oraclerag.local.engine.expressions import ExpressionParser
    from oraclerag.local.engine.host import Host

__all__ = ["CALLS", "compute", "generated", "run"]

CHAIN = "DBMS_VECTOR_CHAIN"
_TIMEOUT = 60.0  # seconds, the documented default of transfer_timeout
_LONGEST_TIMEOUT = 3600.0
_OURS = frozenset({"provider", "credential_name", "url", "host", "model", "transfer_timeout", "max_count"})
_PROVIDERS = ("openai", "ollama")

Credential = Callable[[str], Mapping[str, Any] | None]
"""Gives what a credential holds, by the name in the parameters; None where there is none."""


# -- in SQL -----------------------------------------------------------------------------------------------------------


def call(parser: ExpressionParser, name: str) -> Node:
    """Read a call, by position or by the names of the arguments."""
    package = name.partition(".")[0]
    arguments = _arguments(parser, name)
    data, given = arguments["DATA"], arguments.get("PARAMS")
    if isinstance(data, Bind):
        prompt: tuple[str | None, str | None] = (data.value, None)
    elif data.kind in ("string", "null"):
        prompt = (None, data.value if data.kind == "string" else None)
    else:
        parser.unsupported(f"{name} of anything but a bind or a literal")
    if given is None or given.kind == "null":
        return Embedding(GenerateParameter(package, *prompt), "clob")
    if isinstance(given, Bind):
        return Embedding(GenerateParameter(package, *prompt, settings_bind=given.value), "clob")
    if given.kind != "string":
        parser.unsupported(f"{name} with parameters that are neither a bind nor a literal")
    return Embedding(GenerateParameter(package, *prompt, settings=given.value), "clob")


def _arguments(parser: ExpressionParser, name: str) -> dict[str, Node]:
    found: dict[str, Node] = {}
    opening = parser.token.position
    parser.need("(")
    while not parser.at(")"):
        word = parser.token.upper
        if parser.peek().upper == "=>":
            parser.position += 2
        else:
            word = ("DATA", "PARAMS")[len(found)] if len(found) < 2 else ""
        if word in ("", "TEXT_DATA", "MEDIA_DATA", "MEDIA_TYPE"):
            parser.unsupported(f"{name} of an image")
        if word not in ("DATA", "PARAMS") or word in found:
            _wrong_arguments(name, opening)
        found[word] = _argument(parser, word)
        if not parser.accept(","):
            break
    parser.need(")")
    if "DATA" not in found:
        _wrong_arguments(name, opening)
    return found


def _argument(parser: ExpressionParser, word: str) -> Node:
    if word == "PARAMS" and parser.at("JSON", "("):
        parser.position += 2
        value = parser.expression()
        parser.need(")")
        return value
    return parser.expression()


def _wrong_arguments(name: str, position: int) -> NoReturn:
    short = name.rpartition(".")[2]
    raise OraError(6553, f"PLS-306: wrong number or types of arguments in call to '{short}'", position)


CALLS: dict[str, Callable[[ExpressionParser, str], Node]] = {
    "DBMS_VECTOR.UTL_TO_GENERATE_TEXT": call,
    "DBMS_VECTOR_CHAIN.UTL_TO_GENERATE_TEXT": call,
}


def compute(
    parameter: GenerateParameter,
    places: Mapping[str, int],
    rows: Sequence[Sequence[Any]],
    credential: Credential,
    heed: Callable[[], None],
) -> list[bytes | None]:
    """Give the text for each bind row."""
    for name in filter(None, (parameter.bind, parameter.settings_bind)):
        if name not in places:
            raise OraError(1008, f"not all variables bound: :{name}")
    texts = []
    for row in rows:
        data = parameter.literal if parameter.bind is None else row[places[parameter.bind]]
        given = parameter.settings if parameter.settings_bind is None else row[places[parameter.settings_bind]]
        texts.append(generated(data, given, parameter.package, credential, heed))
    return [None if text is None else text.encode() for text in texts]


# -- in PL/SQL --------------------------------------------------------------------------------------------------------


def run(package: str) -> Callable[[Host, Mapping[str, Any]], Mapping[str, Any]]:
    """Give the function of a package for PL/SQL."""

    def routine(host: Host, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        def credential(name: str) -> Mapping[str, Any] | None:
            return credentials.found(name, host.user, lambda owner, short: credentials.stored(host, owner, short))

        return {"": generated(arguments["DATA"], arguments.get("PARAMS"), package, credential, host.heed_client)}

    return routine


# -- what both do -----------------------------------------------------------------------------------------------------


def generated(data: Any, given: Any, package: str, credential: Credential, heed: Callable[[], None]) -> str | None:
    """Give the text that the endpoint of ``given`` writes for a prompt; NULL for one that writes none.

    Raises OraError: 3001 for what the local database does not do, else as the package words what its provider says.
    """
    if data is None or data == "":
        raise OraError(3001, "unimplemented feature: UTL_TO_GENERATE_TEXT of NULL")
    if not isinstance(data, str):
        raise OraError(3001, "unimplemented feature: UTL_TO_GENERATE_TEXT of an image")
    settings = _settings(given)
    provider = str(settings.get("provider", "database")).lower()
    if provider not in _PROVIDERS:
        raise OraError(3001, f"unimplemented feature: text by the provider {_word(provider)}")
    url, model = (settings.get(name) for name in ("url", "model"))
    if not isinstance(url, str) or not isinstance(model, str):
        raise OraError(3001, "unimplemented feature: UTL_TO_GENERATE_TEXT without url and model")
    seconds = _seconds(settings.get("transfer_timeout", _TIMEOUT))
    more = {name: value for name, value in settings.items() if name not in _OURS}
    token = _token(settings.get("credential_name"), credential, package) if provider == "openai" else None
    if provider == "openai":
        asked = {"model": model, "messages": [{"role": "user", "content": data}], **more}
    else:
        asked = {"model": model, "prompt": data, **more, "stream": False}
    try:
        answer = loopback.post(url, asked, token=token, seconds=seconds, heed=heed)
    except OraError as error:
        if error.number == 3001:
            raise
        raise _failed(package, -20000, f"ORA-20000: ORA-{error.number:05d}: {error.message}") from error
    if answer.status != 200:
        raise _failed(package, answer.status, f"HTTP status {answer.status}")
    if len(answer.body) > loopback.MAX_ANSWER:
        raise OraError(3001, f"unimplemented feature: answers of more than {loopback.MAX_ANSWER:,} bytes")
    return _text(answer.body, provider, package)


def _settings(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise OraError(40441, "JSON syntax error") from None
    if not isinstance(given, dict):
        raise OraError(3001, "unimplemented feature: UTL_TO_GENERATE_TEXT without parameters")
    return given


def _word(text: str) -> str:
    return text[:30] if text.isascii() and text.isprintable() else "that is named here"


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = -1.0
    if not 0 < seconds <= _LONGEST_TIMEOUT:
        raise OraError(3001, f"unimplemented feature: transfer_timeout outside 0 to {_LONGEST_TIMEOUT:.0f} seconds")
    return seconds


def _token(name: Any, credential: Credential, package: str) -> str:
    held = credential(name) if isinstance(name, str) and name else None
    token = held.get("access_token") if held is not None else None
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise _failed(package, -20003, "ORA-20003: error retrieving credential")
    return token


def _text(body: bytes, provider: str, package: str) -> str | None:
    """Read what was written out of an answer; null is NULL."""
    try:
        tree = json.loads(body)
        text = tree["response"] if provider == "ollama" else tree["choices"][0]["message"].get("content")
    except (ValueError, RecursionError, TypeError, KeyError, IndexError, AttributeError):
        raise _failed(package, -20000, "ORA-20000: ORA-40441: JSON syntax error") from None
    if text is None or text == "":
        return None
    if not isinstance(text, str):
        raise _failed(package, -20000, "ORA-20000: ORA-40441: JSON syntax error")
    if "\0" in text:
        raise OraError(3001, "unimplemented feature: the character CHR(0) in text")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _failed(package: str, code: int, message: str) -> OraError:
    """Word an error as the package does; never with what the endpoint said, which may repeat the prompt."""
    said = f"The provider returned an error - Error Code: {code}, Error Message: {message}"
    if package == CHAIN:
        where = "DRG-50857: oracle error in dbms_vector_chain.utl_to_generate_text(clob)"
        return OraError(20000, f"Oracle Text error:\n{where}\nORA-20002: {said}")
    return OraError(20002, said)
