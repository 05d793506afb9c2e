"""A temporary disk that fills up while a label is made is named, and not the collection's."""

import errno
import tempfile
from pathlib import Path
from typing import Any

import pytest

from pagekin.engines import label_collection
from pagekin.labels import build
from pagekin.store import DiskFullError


def test_the_temporary_disk_is_named(demo_kin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill_up(*_given: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(build._TermFile, "of", fill_up)
    before = (demo_kin / "manifest.json").read_bytes()
    with pytest.raises(DiskFullError, match=f"^the disk at {tempfile.gettempdir()} is full"):
        label_collection(demo_kin, [])
    assert (demo_kin / "manifest.json").read_bytes() == before
