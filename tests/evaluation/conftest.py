"""The school encyclopaedia and its directory, read once for all tests of evaluation."""

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pagekin.hypertext import Corpus, ReadPlan, read_sources


@pytest.fixture(autouse=True, scope="session")
def _nothing_is_kept() -> Iterator[None]:
    """Judgements of tests are not kept in the user's cache, and none is taken from it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pagekin.evaluation.evaluate.cache_folder", lambda: None)
        yield


@pytest.fixture(scope="session")
def school(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Corpus, Path]:
    """(4,653 articles of one host, the table of its subject index)."""
    folder = tmp_path_factory.mktemp("school")
    with tarfile.open(data / "schoolwiki2007.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    (site,) = folder.rglob("site")
    out = folder / "school.kin"
    read_sources(ReadPlan([str(site)], out, base_url="http://schools.example/"))
    return Corpus.open(out), site.parent / "directory.tsv"
