"""Who may see an entity now, by its source: for who cannot wait for the queue when a right is revoked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext

import oracledb

from oraclerag.database import Database, parts
from oraclerag.errors import EntityError, OracleRagError, SourceError
from oraclerag.records import SourceKey
from oraclerag.scope import Scope
from oraclerag.source import FunctionSource, Source

__all__ = ["Recheck"]


class Recheck:
    """Looks entities up in the sources that are declared with ``recheck``; ``sources`` may grow."""

    def __init__(self, database: Database, sources: Mapping[str, Source]) -> None:
        self._database = database
        self._sources = sources

    def needed(self, sources: Sequence[str]) -> bool:
        """Whether any of these sources (empty: of all) is to be asked."""
        return any(source.settings.recheck for name, source in self._sources.items() if not sources or name in sources)

    def visible(
        self, connection: oracledb.Connection, keys: Iterable[SourceKey], scope: Scope, *, borrowed: bool
    ) -> set[SourceKey]:
        """Give those of the keys that ``scope`` may see now; those of other sources all, as the index has them.

        An entity that is gone or cannot be read may not be seen. On a ``borrowed`` connection a source that is a
        function is called with another one: it might end the caller's transaction. Raises SourceError.
        """
        found: set[SourceKey] = set()
        asked: dict[str, list[SourceKey]] = defaultdict(list)
        for key in keys:
            source = self._sources.get(key.type)
            if source is None or not source.settings.recheck:
                found.add(key)
            else:
                asked[key.type].append(key)
        for name, wanted in asked.items():
            source = self._sources[name]
            other = borrowed and isinstance(source, FunctionSource)
            with self._database.connect() if other else nullcontext(connection) as reader:
                found |= {key for key in wanted if key.id in _visible(source, reader, wanted, scope)}
        return found


def _visible(source: Source, connection: oracledb.Connection, keys: list[SourceKey], scope: Scope) -> set[str]:
    seen: set[str] = set()
    for part in parts([key.id for key in keys]):
        try:
            read = source.read_each(connection, part)
            for failure in read.failures.values():
                if not isinstance(failure, EntityError):  # it says something of the source
                    raise failure
        except OracleRagError as error:
            raise SourceError(
                f"Hits of source {source.name!r} are to be checked against it, and it cannot be read: {error.message}",
                hint="Who searches needs READ on the tables of a source with recheck, or take recheck off it.",
            ) from error
        seen |= {key for key, document in read.documents.items() if scope.sees(document)}
    return seen
