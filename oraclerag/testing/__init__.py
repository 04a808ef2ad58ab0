"""For tests of programs that use oraclerag: models that cost nearly nothing, and fixtures for pytest.

The fixtures are in :mod:`oraclerag.testing.pytest_plugin`. Needs the extra ``oraclerag[local]``; the models alone,
``oraclerag[model]``.
"""

from oraclerag.testing.tiny_model import tiny_model
from oraclerag.testing.tiny_reranker import tiny_reranker

__all__ = ["tiny_model", "tiny_reranker"]
