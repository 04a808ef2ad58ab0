"""A question before it is asked: what is refused, and what the model would not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oraclerag.errors import InputError

if TYPE_CHECKING:
    from oraclerag.model.active import ActiveModel

__all__ = ["MAX_K", "checked_k", "checked_question", "cut"]

MAX_K = 10_000
"""The most hits that any setting allows."""

_MAX_BYTES = 4000  # of a VARCHAR2 where MAX_STRING_SIZE is STANDARD


def checked_question(question: object) -> str:
    """Give the question, or say why it cannot be asked."""
    if not isinstance(question, str):
        raise InputError(f"The question must be a text, not {type(question).__name__}.")
    if not question.strip():
        raise InputError("The question is empty.")
    if "\0" in question or any("\ud800" <= char <= "\udfff" for char in question):
        raise InputError("The question holds a NUL character or half of a surrogate pair, which no database text can.")
    return question


def checked_k(k: object, most: int = MAX_K) -> int:
    """Give the number of hits wanted, at most ``most`` (the setting ``max_k``), or say why it cannot be."""
    if isinstance(k, bool) or not isinstance(k, int):
        raise InputError(f"k must be a whole number, not {type(k).__name__}.")
    if not 1 <= k <= most:
        hint = "The setting max_k (search.max_k, ORACLERAG_MAX_K) allows more." if 1 <= k <= MAX_K else None
        raise InputError(f"k is {k}, but must be between 1 and {most:,}.", hint=hint)
    return k


def cut(prefix: str, question: str, model: ActiveModel) -> tuple[str, bool]:
    """Give prefix and question as long as the model reads, and whether something was, or may have been, left out.

    Where the vocabulary of a model in the database is not known, its tokens are only bounded: then the model itself
    cuts. A provider may refuse what is too long.
    """
    text = prefix + question
    too_long = model.counter.count(text) > model.max_tokens
    if too_long and (model.counter.exact or model.provider is not None):
        low, high = len(prefix), len(text)
        while high - low > 1:  # the longest beginning that fits
            middle = (low + high) // 2
            if model.counter.count(text[:middle]) <= model.max_tokens:
                low = middle
            else:
                high = middle
        text = text[:low]
    if len(text.encode()) > _MAX_BYTES:
        text = text.encode()[:_MAX_BYTES].decode("utf-8", "ignore")
        too_long = True
    return text, too_long
