"""The local databases of the acceptance tests in this process begin as copies; those of commands share one."""

from collections.abc import Iterator

import pytest

from oraclerag.local import LocalDatabase
from tests.cluster_template import copied_clusters

__all__ = ["copied_clusters"]


@pytest.fixture(scope="session")
def database() -> Iterator[LocalDatabase]:
    """One for all modules; each has users of its own."""
    with LocalDatabase(in_process=True) as opened:
        yield opened
