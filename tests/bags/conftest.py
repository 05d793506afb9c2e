"""The demo web, read once for all tests of bags."""

from pathlib import Path

import pytest

from pagekin.hypertext import Corpus
from tests.demo_web import demo_pages

from .oracle import Oracle
from .webs import read_records, record


@pytest.fixture(scope="session")
def demo(demo_read: Path) -> Corpus:
    """968 pages on 17 hosts that link to each other."""
    return Corpus.open(demo_read)


@pytest.fixture(scope="session")
def demo_oracle(demo: Corpus) -> Oracle:
    """The slow way to make the demo web's bags."""
    return Oracle(demo)


@pytest.fixture(scope="session")
def some_pages() -> Corpus:
    """Every twelfth page of the demo web: the others are known by links alone."""
    return read_records([record(page.url, page.html) for page in demo_pages()[::12]], parser="fast")


@pytest.fixture(scope="session")
def some_oracle(some_pages: Corpus) -> Oracle:
    """The slow way to make bags of every twelfth page."""
    return Oracle(some_pages)
