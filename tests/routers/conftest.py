"""One network over a dozen leaves of the demo web, built once and served while the tests run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pagekin.labels import ContentLabel, join_parts, label_parts, read_label_parts, without_filters
from pagekin.store import open_kin
from tests.bags.webs import record
from tests.conftest import HostLeaf

from .bad_children import QUERY, Parts
from .webs import Web, build_leaf, served, urls_of

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
def collections(host_leaf: HostLeaf, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Collections by the names of their leaves; not to be changed."""
    various_leaf = build_leaf(tmp_path_factory.mktemp("leaves") / "various.kin", various())
    return {name: host_leaf(name) for name in HOSTS} | {"various": various_leaf}


@pytest.fixture(scope="session")
def web(collections: dict[str, Path]) -> Iterator[Web]:
    """13 leaves and 4 routers in 3 levels, on four hosts of their own."""
    with served(collections, TREE, tuple(f"127.0.0.{number}" for number in range(2, 6))) as found:
        yield found


@pytest.fixture(scope="session")
def label(collections: dict[str, Path]) -> ContentLabel:
    """A label that says of nothing that it is not there, so that its owner is always asked."""
    parts = read_label_parts(open_kin(collections["planets"]))
    assert parts
    return without_filters(join_parts(parts))


@pytest.fixture(scope="session")
def parts(label: ContentLabel) -> Parts:
    return label_parts(label)


@pytest.fixture(scope="session")
def living(web: Web) -> set[str]:
    """What the two good children hold."""
    found = urls_of(web.search("birds", QUERY)) | urls_of(web.search("elements", QUERY))
    assert len(found) > 20
    return found
