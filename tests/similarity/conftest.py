"""Two collections for all tests of similarity, built once: the demo web and the school encyclopaedia."""

import tarfile
from pathlib import Path

import pytest

from pagekin.bags import Strategy
from pagekin.engines import build_collection
from pagekin.hypertext import ReadPlan
from pagekin.similarity import RelatedIndex


@pytest.fixture(scope="session")
def demo(demo_kin: Path) -> RelatedIndex:
    """The demo web: 968 pages on 17 hosts, with a mirror, print versions and pages that nobody links to."""
    return RelatedIndex.open(demo_kin)


@pytest.fixture(scope="session")
def school(data: Path, tmp_path_factory: pytest.TempPathFactory) -> RelatedIndex:
    """The school encyclopaedia: 4,653 articles of one host."""
    folder = tmp_path_factory.mktemp("school")
    with tarfile.open(data / "schoolwiki2007.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    (site,) = folder.rglob("site")
    out = folder / "school.kin"
    build_collection(ReadPlan([str(site)], out, base_url="http://schools.example/"), Strategy())
    return RelatedIndex.open(out)
