"""One network over a dozen leaves of the demo web, built once and served while the tests run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bags.webs import record

from .webs import Web, build_leaf, host_records, served

HOSTS = (
    "birds", "composers", "dinosaurs", "elements", "instruments", "languages", "links", "mirror", "mountains",
    "people", "planets", "trees",
)  # fmt: skip
TREE = {
    "root": ("nature", "culture", "links"),
    "nature": ("life", "elements", "planets", "mountains"),
    "life": ("birds", "dinosaurs", "trees"),
    # Birds stand below two routers, so their pages come by two ways.
    "culture": ("composers", "instruments", "languages", "mirror", "people", "various", "birds"),
}
ENGLISH = "the weather of the island was calm and the harbour was full of boats that came in from the sea with herring"
GERMAN = "das Wetter auf der Insel war ruhig und der Hafen war voll mit Booten die aus der See mit Heringen kamen und"


def various() -> list[bytes]:
    """Pages in two languages, of four years, on two hosts, one of them a copy of another."""
    found = []
    for number in range(8):
        words, code = ((ENGLISH, "en"), (GERMAN, "de"))[number % 2]
        host = "one.various.example" if number < 4 else "two.various.example"
        own = " ".join(f"own{number}word{place}" for place in range(12))
        html = f"<html lang={code}><title>harbour {number}</title><p>{words} {own} tidewrack"
        found.append(record(f"http://{host}/{number}", html, date=f"20{10 + number:02}-06-01T00:00:00Z"))
    return found


@pytest.fixture(scope="session")
def collections(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Collections by the names of their leaves; not to be changed."""
    folder = tmp_path_factory.mktemp("leaves")
    records = host_records()
    built = {name: build_leaf(folder / f"{name}.kin", records[name]) for name in HOSTS}
    return built | {"various": build_leaf(folder / "various.kin", various())}


@pytest.fixture(scope="session")
def web(collections: dict[str, Path]) -> Iterator[Web]:
    """13 leaves and 4 routers in 3 levels, on four hosts of their own."""
    with served(collections, TREE, tuple(f"127.0.0.{number}" for number in range(2, 6))) as found:
        yield found
