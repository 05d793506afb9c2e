"""The demo web, read once for all tests of bags."""

import pytest

from pagekin.hypertext import Corpus
from pagekin.hypertext.read import ReadPlan, read_sources

from .oracle import Oracle


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """968 pages on 17 hosts that link to each other."""
    plan = ReadPlan(["demo"], tmp_path_factory.mktemp("demo") / "demo.kin")
    read_sources(plan)
    return Corpus.open(plan.out)


@pytest.fixture(scope="session")
def demo_oracle(demo: Corpus) -> Oracle:
    """The slow way to make the demo web's bags."""
    return Oracle(demo)
