"""The demo web, searchable, and the slow way to search it."""

from pathlib import Path

import pytest

from pagekin.hypertext import ReadPlan, read_sources
from pagekin.text import TextIndex, add_text_index

from .oracle import Oracle


@pytest.fixture(scope="session")
def demo_kin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """968 pages on 17 hosts; not to be changed."""
    plan = ReadPlan(["demo"], tmp_path_factory.mktemp("searched") / "demo.kin")
    read_sources(plan)
    add_text_index(plan.out)
    return plan.out


@pytest.fixture(scope="session")
def demo(demo_kin: Path) -> TextIndex:
    return TextIndex.at(demo_kin)


@pytest.fixture(scope="session")
def demo_oracle(demo: TextIndex) -> Oracle:
    return Oracle(demo.corpus)
