"""Fixtures of the engines' tests: an object store, and a Spark cluster that knows it."""

from collections.abc import Iterator

import pytest

from .spark_cluster import SparkCluster, object_store, require_java


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The address of a bucket in an object store of this machine."""
    with object_store() as address:
        yield address


@pytest.fixture(scope="module")
def cluster(bucket: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    """A master, two workers, and a session that builds use."""
    require_java()
    with SparkCluster(tmp_path_factory.mktemp("spark")) as running:
        yield running
