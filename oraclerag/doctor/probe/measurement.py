"""What one measurement gives, and what a probe is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from oraclerag.doctor.finding import State
from oraclerag.doctor.look import Look
from oraclerag.doctor.probe.scratch import Scratch

__all__ = ["Measured", "Measurement", "Probe"]

Figures = Mapping[str, float | int | str]


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured on this database where documentation says nothing.

    ``state`` is "ok" where it is as the toolkit relies on it, "warn" where it is otherwise and costs something, "fail"
    where the toolkit would not work, "unknown" where it cannot be seen here. ``figures`` are what the answer was read
    from; times are in milliseconds.
    """

    name: str
    asks: str
    state: State
    answer: str
    remedy: str | None = None
    figures: Figures = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Measured:
    """The same without name and question."""

    state: State
    answer: str
    remedy: str | None = None
    figures: Figures = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Probe:
    """One measurement: its name, what it asks, how it measures; on a scratch table, if it ``writes``."""

    name: str
    asks: str
    measure: Callable[[Look, Scratch | None], Measured]
    writes: bool = False
