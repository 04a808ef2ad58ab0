"""Embeddings in SQL: of binds and literals before a statement runs, of columns by announcing, embedding, running again.

``ora.embed`` looks a text up in a cache table. A text that is not there it announces in a notice, and answers with a
place-holder. The session undoes such a run, has the texts embedded in one batch, fills the cache and runs again.
"""

from __future__ import annotations

import hashlib
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

from oraclerag.local.engine import chain_functions
from oraclerag.local.engine import oids as pg
from oraclerag.local.engine.binds import vector_value
from oraclerag.local.engine.commands import BINARY, Statement, Text
from oraclerag.local.engine.dictionary import Dictionary
from oraclerag.local.engine.pipeline import Connection
from oraclerag.local.engine.plan import ChainParameter, EmbedParameter
from oraclerag.local.interface import EmbeddingModels, OraError

_EMBEDDED = b" FROM unnest($2::text[], $3::vector[]) AS embedded (input, embedding)"
_FILL = (
    b"INSERT INTO ora.embed_cache (model, digest, embedding) SELECT $1, md5(input)::uuid, embedding"
    + _EMBEDDED
    + b" ON CONFLICT (model, digest) DO NOTHING"
)
_FILL_OWN = (
    b"INSERT INTO ora.embed_own (session, model, digest, embedding)"
    b" SELECT pg_backend_pid(), $1, md5(input)::uuid, embedding"
    + _EMBEDDED
    + b" ON CONFLICT (session, model, digest) DO UPDATE SET embedding = excluded.embedding"
)
_EMPTY_OWN = b"DELETE FROM ora.embed_own WHERE session = pg_backend_pid()"
_TRIM = (
    b"DELETE FROM ora.embed_cache WHERE number <="
    b" (SELECT number FROM ora.embed_cache ORDER BY number DESC OFFSET %d LIMIT 1)"
)
_KEPT = 20_000  # embeddings that a cache keeps, that in the database beside those of the running statement
_FILL_BATCH = 500
_MAX_PASSES = 1_000


class Embedder:
    """Embeds with the models stored in the database."""

    def __init__(self, models: EmbeddingModels, dictionary: Dictionary) -> None:
        self._models = models
        self._dictionary = dictionary
        self._guard = threading.Lock()
        self._lately: dict[tuple[str, bytes], bytes] = {}  # by model, and digest of the text

    def dimensions(self, owner: str, name: str) -> int | None:
        """Give the dimension of a model, or None when there is none."""
        model = self._dictionary.model(owner, name)
        return None if model is None else model.dimensions

    def input(self, owner: str, name: str) -> str:
        """Give the name of a model's input in VECTOR_EMBEDDING."""
        model = self._dictionary.model(owner, name)
        return "DATA" if model is None else model.input

    def embed(self, qualified: str, texts: Sequence[str]) -> list[bytes]:
        """Embed texts with the model OWNER.NAME and give pgvectors; ORA-40284 when there is no such model."""
        owner, _, name = qualified.partition(".")
        model = self._dictionary.model(owner, name)
        if model is None:
            raise OraError(40284, "model does not exist")

        def load() -> bytes:
            try:
                return self._dictionary.model_data(owner, name, model.digest)
            except LookupError:
                raise OraError(40284, "model does not exist") from None

        return [vector_value(vector) for vector in self._models.embed(model.digest, load, texts)]

    def remembered(self, qualified: str, texts: Sequence[str]) -> dict[str, bytes]:
        """Embed the distinct texts that have not been embedded lately, and give the vectors of all."""
        owner, _, name = qualified.partition(".")
        model = self._dictionary.model(owner, name)
        known = f"{qualified} {model.digest}" if model is not None else ""
        keys = {text: (known, hashlib.blake2b(text.encode(), digest_size=16).digest()) for text in texts}
        found = {text: vector for text, key in keys.items() if (vector := self._lately.get(key)) is not None}
        unknown = [text for text in keys if text not in found]
        if unknown or model is None:
            found |= zip(unknown, self.embed(qualified, unknown), strict=True)
            with self._guard:
                for text in unknown:
                    self._lately[keys[text]] = found[text]
                while len(self._lately) > _KEPT:
                    del self._lately[next(iter(self._lately))]
        return found

    def computed(
        self, parameter: EmbedParameter | ChainParameter, places: dict[str, int], rows: Sequence[Sequence[Any]]
    ) -> list[bytes | None]:
        """Compute a parameter for each row of binds, every distinct text once."""
        if isinstance(parameter, EmbedParameter):
            return self._column(parameter, places, rows)
        values = chain_functions.compute(parameter, places, rows, self.embed)
        return [_array(pg.TEXT, value) if isinstance(value, list) else value for value in values]

    def _column(
        self, parameter: EmbedParameter, places: dict[str, int], rows: Sequence[Sequence[Any]]
    ) -> list[bytes | None]:
        if parameter.bind is None:
            texts: list[Any] = [parameter.literal] * len(rows)
        elif parameter.bind not in places:
            raise OraError(1008, f"not all variables bound: :{parameter.bind}")
        else:
            texts = [row[places[parameter.bind]] for row in rows]
        wanted = list(dict.fromkeys(str(text) for text in texts if text is not None and text != ""))
        vectors = dict(zip(wanted, self.embed(parameter.model, wanted), strict=True)) if wanted else {}
        return [vectors[str(text)] if text is not None and text != "" else None for text in texts]

    def fill(self, announced: Sequence[tuple[str, str]], own_transaction: Connection | None) -> None:
        """Embed announced texts and put them into the cache.

        They go in through another connection, so that no lock on the cache is held until a user's transaction ends;
        with ``own_transaction`` into rows of its own, for a transaction whose snapshot would not see the others.
        """
        by_model: dict[str, dict[str, None]] = {}
        for model, text in announced:
            by_model.setdefault(model, {})[text] = None
        for model, distinct in by_model.items():
            texts = list(distinct)
            vectors = self.embed(model, texts)
            for start in range(0, len(texts), _FILL_BATCH):
                part = slice(start, start + _FILL_BATCH)
                if own_transaction is not None:
                    own_transaction.guarded([self._insert(_FILL_OWN, model, texts[part], vectors[part])])
                else:
                    self._dictionary.send([self._insert(_FILL, model, texts[part], vectors[part])])
            if own_transaction is None:
                self._dictionary.send([Text(_TRIM % (_KEPT + 2 * len(texts)))])

    def _insert(self, statement: bytes, model: str, texts: Sequence[str], vectors: Sequence[bytes]) -> Statement:
        arrays = (_array(pg.TEXT, [text.encode() for text in texts]), _array(self._dictionary.own.vector, vectors))
        # 0: the casts of the statement say which arrays they are
        return Statement(statement, (model.encode(), *arrays), (pg.TEXT, 0, 0), (BINARY, BINARY, BINARY))

    def until_known(
        self, run: Callable[[], None], undo: Callable[[], None], connection: Connection, *, inside: bool
    ) -> None:
        """Run a statement until it announces nothing: ``undo`` takes a run back, ``inside``: fill in its transaction.

        Every pass must announce something new: ORA-00604 otherwise, instead of turning for ever.
        """
        seen: set[tuple[str, str]] = set()
        for _ in range(_MAX_PASSES):
            connection.announced.clear()
            run()
            announced = [*connection.announced]
            connection.announced.clear()
            if not announced:
                if inside and seen:
                    connection.pipeline([Text(_EMPTY_OWN)])
                return
            undo()
            if seen.issuperset(announced):
                raise OraError(604, "error occurred at recursive SQL level 1: an embedding does not stay in the cache")
            seen.update(announced)
            self.fill(announced, connection if inside else None)
        raise OraError(604, "error occurred at recursive SQL level 1: embedding does not come to an end")


def _array(element: int, items: Sequence[bytes]) -> bytes:
    """Give PostgreSQL's binary form of an array of one dimension without NULLs."""
    head = struct.pack(">iiIii", 1, 0, element, len(items), 1)
    return head + b"".join(struct.pack(">i", len(item)) + item for item in items)
