"""How much of a text a model reads, and how it counts: known without a database, for who only wants to see chunks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from oraclerag.errors import InputError
from oraclerag.model.byte_pairs import CL100K_TOKENS, cl100k
from oraclerag.model.fetch import cached
from oraclerag.model.folder import read_folder
from oraclerag.model.known import KNOWN_MODELS
from oraclerag.model.tokens import Tokens, token_counter

__all__ = ["Reads", "Window", "window"]


class Reads(Protocol):
    """What is asked of a model here; the one in force (:class:`~oraclerag.model.active.ActiveModel`) says it too."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def max_tokens(self) -> int:
        """How many tokens it reads, special ones included."""
        ...

    @property
    def passage_prefix(self) -> str:
        """What is put before a passage."""
        ...

    @property
    def counter(self) -> Tokens:
        """Counts tokens as it does."""
        ...


@dataclass(frozen=True, slots=True)
class Window:
    """What a model reads: ``max_tokens`` with the special ones, behind ``passage_prefix``, counted by ``counter``."""

    name: str
    max_tokens: int
    passage_prefix: str
    counter: Tokens = field(repr=False, compare=False)


def window(counter: str) -> Window:
    """Give the window of a model that was fetched (``minilm-l6``), of a model's folder, or of ``cl100k``.

    Nothing is downloaded here, except by tiktoken for cl100k. Raises InputError for a name that is none of them,
    ModelInvalid for a folder that is none of a model, ModelError.
    """
    if counter == "cl100k":
        return Window("cl100k", CL100K_TOKENS, "", cl100k())
    path, name = Path(counter), None
    if not path.is_dir():
        known = next((m for m in KNOWN_MODELS if counter.lower() == m.key or counter.upper() == m.name), None)
        if known is None:
            names = ", ".join(["cl100k", *(model.key for model in KNOWN_MODELS if model.files)])
            raise InputError(f"{counter!r} counts no tokens: neither one of {names} nor the folder of a model.")
        found = cached(known) if known.files else None
        if found is None:
            raise InputError(
                f"The vocabulary of {known.key} is not in the cache.",
                hint=f"Run `oraclerag model fetch {known.key}`." if known.files else "Name the folder of the model.",
            )
        path, name = found, known.name
    folder = read_folder(path)
    return Window(name or path.resolve().name, folder.limit, folder.passage_prefix, token_counter(folder.tokenizer))
