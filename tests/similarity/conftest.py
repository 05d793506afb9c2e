"""Two collections for all tests of similarity, built once: the demo web and the school encyclopaedia."""

from pathlib import Path

import pytest

from pagekin.similarity import RelatedIndex


@pytest.fixture(scope="session")
def demo(demo_kin: Path) -> RelatedIndex:
    """The demo web: 968 pages on 17 hosts, with a mirror, print versions and pages that nobody links to."""
    return RelatedIndex.open(demo_kin)


@pytest.fixture(scope="session")
def school(school_folder: Path) -> RelatedIndex:
    """The school encyclopaedia: 4,653 articles of one host."""
    return RelatedIndex.open(school_folder / "school.kin")
