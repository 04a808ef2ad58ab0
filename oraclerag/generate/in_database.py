"""Answers that the database asks for: UTL_TO_GENERATE_TEXT sends a prompt to a provider, with a credential.

The call holds a connection of the pool while it waits, one that nobody else uses; the transaction of a caller has no
part in it. What the provider says comes back as an Oracle error, which one table maps.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Generator as Pieces
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import oracledb

from oraclerag import http_client
from oraclerag.database import code_of
from oraclerag.errors import (
    ConfigurationError,
    ProviderAnswerInvalid,
    ProviderError,
    ProviderLoginFailed,
    ProviderRefused,
    ProviderUnavailable,
)
from oraclerag.generate.completion import joined
from oraclerag.generate.stream import Stream
from oraclerag.generate.traced import called
from oraclerag.http_client import Attempts
from oraclerag.records import Generation, Prompt
from oraclerag.statements import Statements

if TYPE_CHECKING:
    from oraclerag.database import Database

__all__ = ["InDatabase", "parameters"]

Package = Literal["DBMS_VECTOR", "DBMS_VECTOR_CHAIN"]

# Where a provider takes temperature and limit of an answer, and what it calls them. The documentation names those of
# openai, ocigenai, googleai and vertexai, and says that others are the provider's own.
_FLAT = ("", "temperature", "max_tokens")
_GEMINI = ("generation_config", "temperature", "maxOutputTokens")
_NAMES: Mapping[str, tuple[str, str, str] | None] = MappingProxyType(
    {
        "cohere": _FLAT,
        "googleai": _GEMINI,
        "huggingface": None,  # which limit a model takes depends on the model, and 0 is no temperature there
        "ocigenai": ("chatRequest", "temperature", "maxTokens"),
        "ollama": ("options", "temperature", "num_predict"),
        "openai": _FLAT,
        "vertexai": _GEMINI,
    }
)

_ACL = "sql/setup/network_acl.sql lets the database user reach the host of generate.base_url."
_CREDENTIAL = "sql/setup/credential.sql makes the credential that generate.credential names, with the same package."
_WALLET = "The database needs a wallet with the certificate of the endpoint's authority: see docs/generate.md."
_PACKAGE = "The database user needs EXECUTE on the package that generate.package names."
_TIMEOUT = "Raise generate.timeout where answers take long."

# The one table: the innermost code of an error that stands here says what it is. ORA-20002 and ORA-20000, by which the
# two packages word everything, are not among them.
_BY_CODE: Mapping[str, tuple[type[ProviderError], str | None]] = MappingProxyType(
    {
        "ORA-24247": (ProviderRefused, _ACL),
        "ORA-20003": (ProviderLoginFailed, _CREDENTIAL),
        "ORA-27476": (ProviderLoginFailed, _CREDENTIAL),  # no such object of the scheduler: credentials are
        "ORA-29024": (ProviderRefused, _WALLET),
        "ORA-28759": (ProviderRefused, _WALLET),
        "ORA-28860": (ProviderRefused, _WALLET),
        "ORA-00904": (ProviderRefused, _PACKAGE),
        "ORA-06553": (ProviderRefused, _PACKAGE),
        "ORA-03001": (ProviderRefused, None),
        "ORA-40441": (ProviderAnswerInvalid, "Is generate.base_url the whole address of the API?"),
        "ORA-29276": (ProviderUnavailable, _TIMEOUT),
        "ORA-12170": (ProviderUnavailable, _TIMEOUT),
        "ORA-12535": (ProviderUnavailable, _TIMEOUT),
        "ORA-12541": (ProviderUnavailable, None),
        "ORA-12545": (ProviderUnavailable, None),
        "ORA-29259": (ProviderUnavailable, None),
        "ORA-29263": (ProviderUnavailable, None),
        "ORA-29269": (ProviderUnavailable, None),
        "ORA-29270": (ProviderUnavailable, None),  # too many requests are open in the session
        "ORA-29273": (ProviderUnavailable, None),
    }
)
_SAYS_WHAT = frozenset({"ORA-03001"})  # its words are those of the local database, and name what it does not do

# Where a code stands by which an error is worded; what a provider says may hold codes too.
_CODE = re.compile(r"(?:^|(?<=Error Message: )|(?<=ORA-\d{5}: ))((?:ORA|DRG)-\d{5})(?=:)", re.MULTILINE)
_STATUS = (
    re.compile(r"The provider returned an error - Error Code: ([45]\d\d)\b"),
    re.compile(r"^(?:ORA-\d{5}: )*HTTP (?:client|server) error ([45]\d\d)\b", re.MULTILINE),
)
_GONE = re.compile(r"DPY-(?:1001|4011|4024)|ORA-(?:00028|01012|01089|01092|03113|03114|03135)")


def parameters(
    provider: str,
    *,
    credential: str | None,
    url: str,
    model: str,
    temperature: float,
    max_tokens: int,
    timeout: float,
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """Give the JSON by which the database asks; ``more`` is merged into it, and its nulls take away what is there."""
    found: dict[str, Any] = {"provider": provider, "url": url, "model": model}
    if credential is not None:
        found["credential_name"] = credential
    if provider == "ollama":
        found["host"] = "local"
    found["transfer_timeout"] = max(1, math.ceil(timeout))
    names = _NAMES[provider]
    if names is not None:
        group, of_temperature, of_limit = names
        into = found.setdefault(group, {}) if group else found
        into |= {of_temperature: temperature, of_limit: max_tokens}
    return _merged(found, more)


def _merged(tree: dict[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Merge one JSON object into another, as RFC 7396 says."""
    merged = dict(tree)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            inner = merged.get(name)
            merged[name] = _merged(inner if isinstance(inner, dict) else {}, value)
        else:
            merged[name] = value
    return merged


@dataclass(frozen=True, slots=True, kw_only=True)
class InDatabase:
    """Writes answers with a language model that the database asks.

    ``provider`` is one that UTL_TO_GENERATE_TEXT knows, ``credential`` ([OWNER.]NAME) holds the key, ``base_url`` is
    passed on as it is. ``timeout`` is in seconds, for the whole call: what takes longer is given up with its
    connection. ``more`` is merged into the parameters. What failed is tried again as ``attempts`` says.
    """

    database: Database = field(repr=False)
    provider: str
    credential: str | None
    base_url: str
    model: str
    package: Package = "DBMS_VECTOR"
    temperature: float = 0.0
    max_tokens: int = 1024
    timeout: float = 60.0
    more: Mapping[str, Any] = field(default_factory=dict, repr=False)
    attempts: Attempts = field(default_factory=Attempts, repr=False)

    @property
    def name(self) -> str:
        """What it is called."""
        return "database"

    @property
    def local(self) -> bool:
        """Whether no text leaves: the database sends the prompt on, to wherever its url leads from there."""
        return False

    def generate(self, prompt: Prompt) -> Generation:
        """Give the answer when it is complete; why it ended is not told. Raises ProviderError, DatabaseError."""
        return called(self.provider, self.model, lambda: self._answered(prompt))

    def stream(self, prompt: Prompt) -> Stream:
        """Give the answer in one piece, when it is complete: the database passes nothing on before."""
        return Stream(self._pieces(prompt))

    def _pieces(self, prompt: Prompt) -> Pieces[str, None, Generation]:
        generation = self.generate(prompt)
        if generation.text:
            yield generation.text
        return generation

    def _answered(self, prompt: Prompt) -> Generation:
        text = self.attempts.call(lambda: self._once(prompt))
        return Generation(text=joined(text or ""), model=self.model, finish=None)

    def _once(self, prompt: Prompt) -> str | None:
        """Ask on a connection of the pool's own. The database takes one text: instructions, a blank line, the rest."""
        if not self.database.has_own:
            raise ConfigurationError(
                'generate.provider = "database" needs a connection of its own: a pool, an Engine, or ORACLE_DSN.',
                hint="A connection that a caller has lent is in the middle of his transaction, and is left alone.",
            )
        data = "\n\n".join(joined(message["content"]) for message in prompt.messages)
        params = parameters(
            self.provider,
            credential=self.credential,
            url=self.base_url,
            model=self.model,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            timeout=self.timeout,
            more=self.more,
        )
        statement = Statements("generate", "SYS").with_names("generate", package=self.package)
        with self.database.connect() as connection, self._bounded(connection):
            try:
                # A long text that is bound as it is would be a LONG, which no function takes (ORA-01461).
                lob = connection.createlob(oracledb.DB_TYPE_CLOB, data)
                with connection.cursor() as cursor:
                    cursor.execute(statement, {"data": lob, "params": json.dumps(params)}, fetch_lobs=False)
                    row = cursor.fetchone()
            except oracledb.Error as error:
                if _GONE.match(code_of(error) or ""):
                    self.database.discard(connection)
                raise failure(error) from error
        return None if row is None else row[0]

    @contextlib.contextmanager
    def _bounded(self, connection: oracledb.Connection) -> Iterator[None]:
        """Give the call its own time, whatever the connection's is."""
        before = connection.call_timeout
        connection.call_timeout = max(1, round(self.timeout * 1000))
        try:
            yield
        finally:
            # On a connection that it has dropped, the driver (26.1) ends the process instead of raising an error.
            if connection.is_healthy():
                with contextlib.suppress(oracledb.Error):  # closed meanwhile
                    connection.call_timeout = before


def failure(error: oracledb.Error) -> ProviderError:
    """Give the error that an Oracle error means; its words, which may repeat the prompt, are left to the cause."""
    own = code_of(error) or ""
    text = str(error.args[0]) if error.args else ""
    codes = _codes(own, text)
    if own == "DPY-4024":
        return ProviderUnavailable("The database did not have the answer written in time (DPY-4024).", hint=_TIMEOUT)
    if _GONE.match(own):
        return ProviderUnavailable(f"The connection to the database was lost before the answer came ({own}).", hint="")
    for pattern in _STATUS:
        if match := pattern.search(text):
            return _of_status(int(match[1]), codes)
    told = ", ".join(codes)
    if own in _SAYS_WHAT:
        told += f": {text.partition(': ')[2].partition(chr(10))[0]}"
    for code in reversed(codes):
        if code in _BY_CODE:
            cls, hint = _BY_CODE[code]
            return cls(f"The database could not have the answer written ({told}).", hint=hint)
    return ProviderRefused(
        f"The database could not have the answer written ({told}).",
        hint="Its own words are the cause of this error; the parameters it was given are in docs/generate.md.",
    )


def _of_status(status: int, codes: Sequence[str]) -> ProviderError:
    cls = http_client.class_of(status)
    hint = _CREDENTIAL if issubclass(cls, ProviderLoginFailed) else None
    return cls(f"The provider answered the database {status} ({', '.join(codes)}).", status=status, hint=hint)


def _codes(own: str, text: str) -> list[str]:
    """Give the codes of an error, its own first and the innermost last; each once, and not where it was raised."""
    return [code for code in dict.fromkeys([own, *_CODE.findall(text)]) if code not in ("", "ORA-06512")]
