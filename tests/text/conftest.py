"""The demo web, searchable, and the slow way to search it."""

import shutil
from pathlib import Path

import pytest

from pagekin.hypertext import Corpus
from pagekin.text import TextIndex
from tests.conftest import MakeOnce

from .collections import add_text_index
from .oracle import Oracle


@pytest.fixture(scope="session")
def demo_kin(demo_read: Path, made_once: MakeOnce) -> Path:
    """968 pages on 17 hosts; not to be changed."""

    def add(folder: Path) -> None:
        add_text_index(Path(shutil.copytree(demo_read, folder / "demo.kin")))

    return made_once("demo-searched", add) / "demo.kin"


@pytest.fixture(scope="session", params=["plain", "compiled"])
def demo(demo_kin: Path, request: pytest.FixtureRequest) -> TextIndex:
    return TextIndex.at(demo_kin, compiled=request.param == "compiled")


@pytest.fixture(scope="session")
def demo_oracle(demo_kin: Path) -> Oracle:
    return Oracle(Corpus.open(demo_kin))
