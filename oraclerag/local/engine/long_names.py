"""Names of more than 63 bytes, which PostgreSQL would cut: inside it a digest stands for each of them.

Everything that is written for PostgreSQL writes the digest, everything that comes from it is given back under the name.
The digest is a function of the name alone, so that what is once known of one is true in every transaction and every
database: a table of the catalog keeps the names that DDL made, and nothing of it is ever taken back. The catalog's own
tables hold names as Oracle knows them; ``ora.name_of`` is the way back in SQL.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from hashlib import sha256

POSTGRES_BYTES = 63
"""What PostgreSQL keeps of a name."""

_MOST_BYTES_OF_A_CHARACTER = 4
_DIGEST = re.compile("~[0-9a-f]{32}~")
_KEPT = 100_000
_seen: dict[str, str] = {}  # names by digest: what this process wrote or read lately, of all databases
_lock = threading.Lock()


def digest_of(name: str) -> str:
    """Give what stands for a name that has no place in PostgreSQL: 34 ASCII characters."""
    digest = f"~{sha256(name.encode()).hexdigest()[:32]}~"
    if digest not in _seen:
        _remember(digest, name)
    return digest


def stored(name: str) -> str:
    """Give a name as PostgreSQL has it."""
    if len(name) > POSTGRES_BYTES // _MOST_BYTES_OF_A_CHARACTER and len(name.encode()) > POSTGRES_BYTES:
        return digest_of(name)
    return name


def derived(prefix: str, name: str, suffix: str) -> str:
    """Give the name of something of the engine's own that belongs to an object: what is put around stays readable."""
    whole = f"{prefix}{name}{suffix}"
    return whole if stored(whole) == whole else f"{prefix}{digest_of(name)}{suffix}"


def _remember(digest: str, name: str) -> None:
    with _lock:
        _seen[digest] = name
        if len(_seen) > _KEPT:
            del _seen[next(iter(_seen))]


class LongNames:
    """The way back from digests to names, in one database; ``find`` asks its catalog for names by digest."""

    def __init__(self, find: Callable[[str], str | None]) -> None:
        self._find = find

    def name(self, text: str) -> str:
        """Give a name as Oracle knows it; a text that is no digest is given back."""
        return self._known(text) if text[:1] == "~" and _DIGEST.fullmatch(text) else text

    def text(self, text: str) -> str:
        """Give a text, such as the message of an error, with the names that its digests stand for."""
        return _DIGEST.sub(lambda found: self._known(found[0]), text) if "~" in text else text

    def _known(self, digest: str) -> str:
        name = _seen.get(digest)
        if name is None:
            name = self._find(digest)
            if name is None:
                return digest
            _remember(digest, name)
        return name


def written(statements: Iterable[str]) -> dict[str, str]:
    """Give the names behind the digests of PostgreSQL statements, by digest."""
    digests = {digest for statement in statements if "~" in statement for digest in _DIGEST.findall(statement)}
    return {digest: _seen[digest] for digest in digests if digest in _seen}
