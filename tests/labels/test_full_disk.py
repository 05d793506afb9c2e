"""A disk that fills up while a label is made: the collection's in a build, and the temporary one elsewhere."""

import errno
import tempfile
from pathlib import Path
from typing import Any

import pytest

from pagekin.clusters import read_trees
from pagekin.engines import label_collection
from pagekin.hypertext import Corpus
from pagekin.labels import build, leaf_label
from pagekin.store import DiskFullError


@pytest.fixture
def _full(monkeypatch: pytest.MonkeyPatch) -> None:
    def fill_up(*_given: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(build._TermFile, "of", fill_up)


@pytest.mark.usefixtures("_full")
def test_the_disk_of_a_collection_that_gets_a_label_is_named(demo_kin: Path) -> None:
    before = (demo_kin / "manifest.json").read_bytes()
    with pytest.raises(DiskFullError, match=f"^{demo_kin} could not be written: the disk at {demo_kin} is full"):
        label_collection(demo_kin, [])
    assert (demo_kin / "manifest.json").read_bytes() == before


@pytest.mark.usefixtures("_full")
def test_the_temporary_disk_is_named_if_a_label_is_only_made(demo_kin: Path) -> None:
    corpus = Corpus.open(demo_kin)
    clusters = next(tree for tree in read_trees(corpus.kin) if tree.name == "clusters")
    with pytest.raises(DiskFullError, match=f"^the disk at {tempfile.gettempdir()} is full"):
        leaf_label(corpus, clusters)


def test_a_build_makes_a_label_without_the_temporary_disk(
    demo_kin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no folder").touch()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no folder"))
    label_collection(demo_kin, [])
