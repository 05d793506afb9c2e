"""The demo web in clusters, and invented labels."""

from pathlib import Path

import pytest

from pagekin.clusters import ClusterSettings, Tree, read_trees
from pagekin.engines import cluster_collection
from pagekin.hypertext import Corpus, ReadPlan, read_sources


@pytest.fixture(scope="session")
def demo_kin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """968 pages on 17 hosts, in clusters."""
    plan = ReadPlan(["demo"], tmp_path_factory.mktemp("labelled") / "demo.kin")
    read_sources(plan)
    cluster_collection(plan.out, ClusterSettings())
    return plan.out


@pytest.fixture(scope="session")
def demo(demo_kin: Path) -> Corpus:
    return Corpus.open(demo_kin)


@pytest.fixture(scope="session")
def demo_tree(demo: Corpus) -> Tree:
    return next(tree for tree in read_trees(demo.kin) if tree.name == "clusters")
