"""The demo web, searchable, and the slow way to search it."""

from pathlib import Path

import pytest

from pagekin.hypertext import Corpus, ReadPlan, read_sources
from pagekin.text import TextIndex

from .collections import add_text_index
from .oracle import Oracle


@pytest.fixture(scope="session")
def demo_kin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """968 pages on 17 hosts; not to be changed."""
    plan = ReadPlan(["demo"], tmp_path_factory.mktemp("searched") / "demo.kin")
    read_sources(plan)
    add_text_index(plan.out)
    return plan.out


@pytest.fixture(scope="session", params=["plain", "compiled"])
def demo(demo_kin: Path, request: pytest.FixtureRequest) -> TextIndex:
    return TextIndex.at(demo_kin, compiled=request.param == "compiled")


@pytest.fixture(scope="session")
def demo_oracle(demo_kin: Path) -> Oracle:
    return Oracle(Corpus.open(demo_kin))
