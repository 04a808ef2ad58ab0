"""Token counts of models behind an API that split texts by byte pairs: OpenAI's cl100k_base and its like.

The library (tiktoken) comes with an extra of the toolkit. Its vocabulary does not: the library fetches it when it is
first needed, and keeps it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oraclerag.errors import InputError, ModelError

if TYPE_CHECKING:
    import tiktoken

__all__ = ["CL100K_TOKENS", "BytePairCounter", "cl100k"]

CL100K_TOKENS = 8191
"""What the embedding models that use cl100k_base read."""


class BytePairCounter:
    """The exact count of an encoding of tiktoken. No token is added to a text; special ones written out are text."""

    exact = True

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding

    def count(self, text: str) -> int:
        """Give the number of tokens; half of a surrogate pair counts as U+FFFD."""
        return len(self._encoding.encode_ordinary(text))


def cl100k() -> BytePairCounter:
    """Give the counter of cl100k_base.

    Raises InputError where the library is not installed, ModelError where its vocabulary is not at hand.
    """
    try:
        import tiktoken
    except ImportError as error:
        raise InputError(
            "Tokens of cl100k_base are counted by the library tiktoken, which is not installed.",
            hint="Install it: pip install 'oraclerag[openai]'.",
        ) from error
    try:
        return BytePairCounter(tiktoken.get_encoding("cl100k_base"))
    except (OSError, ValueError) as error:  # its download fails with an OSError, a wrong hash is a ValueError
        raise ModelError(
            "The vocabulary of cl100k_base is not in tiktoken's cache and cannot be fetched.",
            hint="Let it be fetched once where there is a network, and set TIKTOKEN_CACHE_DIR to the folder it was put "
            "into.",
        ) from error
