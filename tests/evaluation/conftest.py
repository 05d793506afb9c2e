"""The school encyclopaedia and a small web, with their directories, read once for all tests of evaluation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pagekin.clusters import Directory, load_directory
from pagekin.evaluation import Evaluation, evaluate_strategies
from pagekin.hypertext import Corpus
from tests.bags.webs import read_web

from .topics import STRATEGIES, pages, write_table


@pytest.fixture(autouse=True, scope="session")
def _nothing_is_kept() -> Iterator[None]:
    """Judgements of tests are not kept in the user's cache, and none is taken from it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pagekin.evaluation.evaluate.cache_folder", lambda: None)
        yield


@pytest.fixture(scope="session")
def school(school_folder: Path) -> tuple[Corpus, Path]:
    """(4,653 articles of one host, the table of its subject index)."""
    return Corpus.open(school_folder / "school.kin"), school_folder / "directory.tsv"


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """The small web of `topics`."""
    return read_web(pages())


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table of its directory."""
    return write_table(tmp_path_factory.mktemp("table") / "directory.tsv")


@pytest.fixture(scope="session")
def directory(corpus: Corpus, table: Path) -> Directory:
    """Its directory."""
    return load_directory(corpus, str(table))


@pytest.fixture(scope="session")
def evaluation(corpus: Corpus, directory: Directory) -> Evaluation:
    """Its strategies judged, one of them twice."""
    return evaluate_strategies(corpus, directory, {**STRATEGIES, "content again": STRATEGIES["content"]}, threads=2)
