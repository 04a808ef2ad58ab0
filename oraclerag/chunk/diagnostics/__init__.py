"""Oracle's own diagnostic output: traces, reports and logs, cut at their own marks.

The family of a report is chosen by its content. A family is a machine over lines: it gives units, the smallest pieces
that must not be parted, each with its section; chunks are made of them. In the order in which a report meets them:

* :mod:`html_report` (with :mod:`html_tags`) and :mod:`secrets`: before it is stored, HTML is made text, and what is
  secret is masked;
* :mod:`lines`: a text becomes lines, with their places in it;
* :mod:`families`: the list of the families, each with a module of its name here, and which of them a report is of.
  Of a trace file every kind of trace and dump has its own machine (:mod:`traces`);
* :mod:`unit`: what a family gives, gathered by :mod:`gathering`, or by what is alike in several: :mod:`error_stack`,
  :mod:`alert_entries`, :mod:`html_sections`, :mod:`text_table`;
* :mod:`dates`, :mod:`erp`, :mod:`statement`: what is read out of single lines;
* :mod:`pack`: units become chunks within what the model reads, each with its head and its metadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from oraclerag.records import Chunk

if TYPE_CHECKING:
    from oraclerag.chunk import Limits
    from oraclerag.cutting import Cutting

__all__ = ["chunks"]


def chunks(text: str | Iterable[str], limits: Limits, cutting: Cutting, title: str | None = None) -> Iterator[Chunk]:
    """Cut a report, or the parts that it comes in; nothing where it has nothing but blanks.

    A chunk's text is its span of the report with rules, padding and repeated entries shortened
    (:func:`pack.shortened`). Its metadata name the family, ``report_family``, and what its lines say.
    """
    from oraclerag.chunk.diagnostics import families, pack

    family, lines = families.recognised(text)
    yield from pack.chunks(family.units(lines), limits, cutting, title, metadata={"report_family": family.name})
