"""A guess, with the reason that is shown beside it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Guess"]


@dataclass(frozen=True, slots=True)
class Guess:
    """A setting that was guessed, and why. ``taken`` is False for another value that is only named."""

    setting: str
    value: str
    reason: str
    taken: bool = True
