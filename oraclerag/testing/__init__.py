"""For tests of programs that use oraclerag: a model that costs nearly nothing, and fixtures for pytest.

The fixtures are in :mod:`oraclerag.testing.pytest_plugin`. Needs the extra ``oraclerag[local]``; the model alone,
``oraclerag[model]``.
"""

from oraclerag.testing.tiny_model import tiny_model

__all__ = ["tiny_model"]
