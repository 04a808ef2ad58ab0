"""The local databases of the acceptance tests in this process begin as copies."""

from tests.cluster_template import copied_clusters

__all__ = ["copied_clusters"]
