"""Docstrings as Markdown: roles and literal blocks of reStructuredText are written as what they mean."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|meth|func|mod|attr|exc|data):`~?([\w.]+)`")
_BLOCK_ALONE = re.compile(r"^::\n", re.MULTILINE)
_BLOCK = re.compile(r"::$", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites every docstring before it is rendered."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:  # noqa: ARG002 - the interface of griffe
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            text = _ROLE.sub(lambda found: f"`{found[1].removeprefix('oraclerag.')}`", obj.docstring.value)
            obj.docstring.value = _BLOCK.sub(":", _BLOCK_ALONE.sub("", text))
