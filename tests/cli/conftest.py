"""Collections that tests of the command ask."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.bags.webs import moved, record
from tests.command import pagekin
from tests.conftest import MakeOnce

from .answers import HOSTILE, made


@pytest.fixture(scope="session")
def building(made_once: MakeOnce) -> tuple[Path, dict[str, Any]]:
    """The demo web, indexed, and what the command told about it."""

    def build(folder: Path) -> None:
        told = made(pagekin("build", "demo", "--out", folder / "demo.kin", "--json")).stdout
        (folder / "told.json").write_text(told)

    folder = made_once("demo-by-the-command", build)
    return folder / "demo.kin", json.loads((folder / "told.json").read_text())


@pytest.fixture(scope="session")
def demo(building: tuple[Path, dict[str, Any]]) -> Path:
    return building[0]


@pytest.fixture
def mine(demo: Path, tmp_path: Path) -> Path:
    """The demo web, for one test to change."""
    return Path(shutil.copytree(demo, tmp_path / "mine.kin"))


@pytest.fixture(scope="session")
def sea(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few pages about the sea: a redirect, a page nobody captured, one without words, one that means harm."""
    folder = tmp_path_factory.mktemp("sea")
    whales = "<p>Whales sing. Humpback whales breach near Iceland, and blue whales dive for krill below the ice."
    web = [
        record("http://sea.example/whales", f"<title>Whales</title>{whales} <a href=seals>Seals</a> hunt there too."),
        record("http://mirror.example/whales", f"<title>Whales</title>{whales} <a href=seals>Seals</a> hunt there too."),
        record("http://sea.example/seals", "<title>Seals</title><p>Seals dive for fish below the ice. The big-toothed "
               "<a href=/walrus>walrus of Iceland</a> digs clams. <a href=/old>Whales</a> eat krill."),
        record("http://sea.example/silent", "<p>... 1 2 3 ..."),
        record("http://evil.example/", f"<title>{HOSTILE}</title><p>{HOSTILE} krill <a href=/x>{HOSTILE}</a>"),
        record("http://endless.example/", f"<title>{'Endless fish ' * 3_000}</title><p>Seals eat fish."),
        moved("http://sea.example/old", "http://sea.example/whales"),
    ]  # fmt: skip
    (folder / "sea.warc").write_bytes(b"".join(web))
    made(pagekin("build", folder / "sea.warc", "--out", folder / "sea.kin", "--workers", "1", "--parser", "strict"))
    return folder / "sea.kin"
