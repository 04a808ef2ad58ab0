"""The text format of Prometheus, version 0.0.4."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["CONTENT_TYPE", "Family", "Sample", "label_name", "metric_name", "written"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SUFFIXES = {"s": "_seconds"}


@dataclass(frozen=True, slots=True)
class Sample:
    """One line: a value with its labels; ``suffix`` stands behind the name of its family."""

    value: float
    labels: Mapping[str, str]
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """The samples of one metric, by its whole name, and what they are."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    about: str
    samples: tuple[Sample, ...]


def metric_name(name: str, kind: Literal["counter", "histogram"], unit: str) -> str:
    """Give the name that an instrument of OpenTelemetry has in Prometheus, by the rules of both."""
    return name.replace(".", "_") + _SUFFIXES.get(unit, "") + ("_total" if kind == "counter" else "")


def label_name(name: str) -> str:
    """Give the name that an attribute has as a label."""
    return name.replace(".", "_")


def written(families: Iterable[Family]) -> str:
    """Write families as a page."""
    lines = []
    for family in families:
        lines.append(f"# HELP {family.name} {_help(family.about)}")
        lines.append(f"# TYPE {family.name} {family.kind}")
        lines += [f"{family.name}{one.suffix}{_labels(one.labels)} {_number(one.value)}" for one in family.samples]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_value(text)}"' for name, text in labels.items()) + "}"


def _help(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n")


def _value(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
