"""Sites for the tests of pages, and a browser that visits them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from pagekin.collection import ReloadingCollection
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.web import web_app
from pagekin.web.collection_view import CollectionView
from tests.bags.webs import record
from tests.conftest import HostLeaf
from tests.routers.webs import build_leaf, get, wait_for

from .browser import Visitor, chromium, command_site, leaf_site, network_below_paths

EVIL = "<script>alert(1)</script>"
HOSTILE_TITLES = (
    EVIL,
    "\"'><img src=x onerror=alert(1)>",
    "\u202egnp.exe \u2067mirrored\u2069 \u200fmarks",
    "w" * 10_000,
    "🌋 emoji 👩‍👩‍👧‍👦 title 🏳️‍🌈",
    "{{ 7 * 7 }} ${7*7} %s %n &lt;b&gt; &amp;amp;",
    "",
    "</title></textarea></script><svg onload=alert(1)>",
)
HOSTILE_ADDRESSES = (
    f"/{EVIL}",
    '/"onmouseover="alert(1)',
    "/?q='><b>&url=javascript:alert(1)//",
    "/%2e%2e/%2e%2e/etc/passwd%00",
    "/" + "long" * 400,
    "/emoji/🌋",
    "/javascript:alert(1)",
    "//evil.example/",
)
NETWORK = {"whole": ("nature", "culture"), "nature": ("elements", "mountains"), "culture": ("composers", "instruments")}


@pytest.fixture(scope="session")
def demo_collection(demo_kin: Path) -> Path:
    """The demo web as a collection; not to be changed."""
    return demo_kin


@pytest.fixture(scope="session")
def demo(demo_collection: Path) -> ReloadingCollection:
    """The demo web as a leaf, not served."""
    return ReloadingCollection("demo", demo_collection)


@pytest.fixture
def client(demo_collection: Path) -> Iterator[TestClient[Any]]:
    """Asks the demo web's pages without a network."""
    app: Any = MountedRouters({Place("testserver.local", 80): ReloadingCollection("demo", demo_collection)}, web_app())
    with TestClient(app) as made:
        yield made


@pytest.fixture(scope="session")
def demo_site(demo_collection: Path) -> Iterator[str]:
    """The address of the demo web, served by the command."""
    with command_site("serve", demo_collection, "--port", "0") as url:
        yield url


def hostile_records() -> list[bytes]:
    """Pages whose titles, words, links and addresses mean harm; all are about the same few things, so that they are alike."""
    found = []
    for number, title in enumerate(HOSTILE_TITLES * 4):
        address = HOSTILE_ADDRESSES[(number * 3 + number // 8) % 8]
        links = "".join(
            f"<p>see the {EVIL.replace('<', '&lt;')} page <a href='http://evil.example/{other}{HOSTILE_ADDRESSES[other % 8]}'>"
            f"{HOSTILE_TITLES[other % 8].replace('<', '&lt;')[:2000]}</a> on volcano script alert onerror"
            for other in ((number + 1) % 32, (number + 5) % 32)
        )
        shown = title.replace("<", "&lt;").replace("&lt;b&gt;", "&amp;lt;b&amp;gt;")
        words = f"volcano script alert onerror javascript eruption lava {'ash ' * (number % 5)} crater{number % 3} own{number}"
        html = (
            f"<html lang='en\"><script>'><title>{shown}</title><meta name=keywords content='&lt;script&gt;, onerror=alert(1)'>"
            f"<h1>{shown}</h1><p>{words} {'x' * 10_000} 🌋🌋 &lt;script&gt;alert(1)&lt;/script&gt; {words}</p>{links}"
            "<a href='javascript:alert(1)'>run me</a><a href='data:text/html,&lt;script&gt;'>data</a>"
        )
        found.append(record(f"http://evil.example/{number}{address}", html))
    return found


@pytest.fixture(scope="session")
def hostile_collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of pages that mean harm."""
    return build_leaf(tmp_path_factory.mktemp("hostile") / "hostile.kin", hostile_records(), clusters=4)


@pytest.fixture(scope="session")
def hostile_site(hostile_collection: Path) -> Iterator[str]:
    """The address of a collection of pages that mean harm, by a name that does."""
    with leaf_site(ReloadingCollection(f"{EVIL}\"'><b>\u202e🌋", hostile_collection)) as url:
        yield url


@pytest.fixture(scope="session")
def network_site(host_leaf: HostLeaf) -> Iterator[str]:
    """The address of the root of a small network, all below paths of one port."""
    leaves = [name for below in NETWORK.values() for name in below if name not in NETWORK]
    with network_below_paths({name: host_leaf(name) for name in leaves}, NETWORK) as url:

        def knows_grandchildren() -> bool:
            """The root knows what is two levels below a moment later than its children."""
            return all(get(url, "search", q=word).json["results"] for word in ("carbon", "violin"))

        wait_for(knows_grandchildren, 60)
        yield url


# Not of a session: playwright keeps an event loop running in this thread, beside which no other can run.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium."""
    with chromium() as made:
        yield made


@pytest.fixture
def visit(browser: Any) -> Iterator[Visitor]:
    """Opens pages; an error on the console, a dialog, a request elsewhere or what the policy stops fails the test."""
    visitor = Visitor(browser)
    yield visitor
    visitor.close()
    assert visitor.problems == []


@pytest.fixture(scope="module")
def collection(leaf: ReloadingCollection) -> CollectionView:
    """The collection of a test file's own `leaf`."""
    return CollectionView.of(leaf.collection)


@pytest.fixture(scope="module")
def asked(leaf: ReloadingCollection) -> Iterator[Any]:
    """A client of that leaf's site."""
    app: Any = MountedRouters({Place("testserver.local", 80): leaf}, web_app())
    with TestClient(app) as made:
        yield made
