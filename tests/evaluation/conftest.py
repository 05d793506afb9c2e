"""The school encyclopaedia and its directory, read once for all tests of evaluation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pagekin.hypertext import Corpus


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
