"""An embedding model that costs nearly nothing, and still puts texts that share words near each other."""

from __future__ import annotations

from functools import cache
from itertools import product
from string import ascii_lowercase, digits, punctuation
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["tiny_model", "tiny_parts"]

_STOP_WORDS = [
    "a",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "but",
    "by",
    "for",
    "from",
    "has",
    "have",
    "he",
    "her",
    "his",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "my",
    "no",
    "not",
    "of",
    "on",
    "or",
    "our",
    "she",
    "so",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "to",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "will",
    "with",
    "you",
    "your",
    "al",
    "como",
    "con",
    "de",
    "del",
    "el",
    "en",
    "es",
    "esta",
    "este",
    "la",
    "las",
    "le",
    "les",
    "lo",
    "los",
    "mas",
    "no",
    "o",
    "para",
    "pero",
    "por",
    "que",
    "se",
    "si",
    "sin",
    "su",
    "sus",
    "un",
    "una",
    "unas",
    "uno",
    "unos",
    "y",
    "ya",
]


@cache
def tiny_model(dimensions: int = 384, *, max_tokens: int = 256, seed: int = 0) -> bytes:
    """Give an ONNX model of the form that ``oraclerag model build`` writes, without an encoder layer.

    Words are cut into pairs of letters, every pair has a random direction, and a text is the mean of its pairs: texts
    that share words are near each other, texts that do not are not; order does not count, stop words hardly do.
    ``dimensions`` (2 to 4096) is the length of its vectors, ``max_tokens`` where it cuts texts; equal arguments give
    equal bytes. About 2 MB at 384 dimensions.
    """
    import numpy as np

    from oraclerag.model.assemble import assemble
    from oraclerag.model.weights import BertShape
    from oraclerag.model.wordpiece import WordPiece

    tokens, table = tiny_parts(dimensions, seed)
    shape = BertShape(
        vocabulary=len(tokens),
        hidden=dimensions,
        layers=0,
        heads=1,
        intermediate=dimensions,
        positions=max_tokens,
        types=1,
        epsilon=1.0,  # so large that a short row stays short: quiet tokens weigh little
    )
    weights = {
        "embeddings.word_embeddings.weight": table,
        "embeddings.position_embeddings.weight": np.zeros((max_tokens, dimensions), dtype=np.float32),
        "embeddings.token_type_embeddings.weight": np.zeros((1, dimensions), dtype=np.float32),
        "embeddings.LayerNorm.weight": np.ones(dimensions, dtype=np.float32),
        "embeddings.LayerNorm.bias": np.zeros(dimensions, dtype=np.float32),
    }
    return assemble(WordPiece(tokens), shape, weights, max_tokens=max_tokens)


def tiny_parts(dimensions: int, seed: int) -> tuple[tuple[str, ...], npt.NDArray[np.float32]]:
    """Give the vocabulary and the direction of each of its tokens; quiet tokens have short ones."""
    import numpy as np

    from oraclerag.model.wordpiece import SPECIAL_TOKENS

    letters = ascii_lowercase + digits
    pairs = ["".join(pair) for pair in product(ascii_lowercase, repeat=2)]
    words = [word for word in dict.fromkeys(_STOP_WORDS) if word not in letters and word not in pairs]
    quiet = [*SPECIAL_TOKENS, *words]
    pieces = [*letters, *pairs]
    tokens = (*quiet, *punctuation, *pieces, *(f"##{piece}" for piece in pieces))
    random = np.random.default_rng(seed)
    table = random.standard_normal((len(tokens), dimensions), dtype=np.float32)
    table[: len(tokens) - 2 * len(pieces)] *= 0.1  # never zero: a text of stop words has a direction too
    return tokens, table
