"""Another embedding model, without a gap: a second vector column is filled while the first one answers.

``state`` is what RAG_SETTING says of a switch, ``fill`` embeds every chunk once more inside the database, ``provided``
by a provider, ``compare`` asks both columns the same questions, ``run`` is the flow: begin, fill, index, compare,
switch; and back, or to the end.
"""

from __future__ import annotations

from oraclerag.reembed.compare import ModelComparison
from oraclerag.reembed.run import Reembedding
from oraclerag.reembed.state import ModelSwitch

__all__ = ["ModelComparison", "ModelSwitch", "Reembedding"]
