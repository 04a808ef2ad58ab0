"""The shape of a BERT encoder, as its configuration says; known without its weights, and without numpy."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BertShape"]


@dataclass(frozen=True, slots=True)
class BertShape:
    """The numbers of ``config.json`` that decide the computation.

    ``positions`` is the size of the position table; ``epsilon`` that of the layer norms; ``activation`` one of
    ``gelu``, ``gelu_new``, ``relu``.
    """

    vocabulary: int
    hidden: int
    layers: int
    heads: int
    intermediate: int
    positions: int
    types: int
    epsilon: float
    activation: str = "gelu"
