"""The demo web in clusters, and invented labels."""

from pathlib import Path

import pytest

from pagekin.clusters import Tree, read_trees
from pagekin.hypertext import Corpus


@pytest.fixture(scope="session")
def demo(demo_kin: Path) -> Corpus:
    return Corpus.open(demo_kin)


@pytest.fixture(scope="session")
def demo_tree(demo: Corpus) -> Tree:
    return next(tree for tree in read_trees(demo.kin) if tree.name == "clusters")
