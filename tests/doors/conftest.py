"""The webs that are asked: the demo web and a collection full of copies, both also in shards, and a small network.

All are served in one thread.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pagekin.collection import Service
from pagekin.routers import Place, Router, open_collection
from pagekin.routers.warm import warm
from pagekin.web import web_app
from tests.bags.webs import record
from tests.conftest import HostLeaf
from tests.cutting import shard_collection
from tests.routers.webs import Running, Web, ask, build_leaf, eager, free_ports, host_records

from .doors import Door, doors_to
from .questions import SHARDED, SUBJECTS

COPIES, OTHERS = 60, 25
NETWORK: dict[str, tuple[str, ...]] = {"root": ("nature", "harbours"), "nature": ("planets", "mountains")}
ENGLISH = "the weather of the island was calm and the harbour was full of boats that came in from the sea with herring"
GERMAN = "das Wetter auf der Insel war ruhig und der harbour war voll mit Booten die aus der See mit Heringen kamen"


def copied_pages() -> list[bytes]:
    """Return one page at 60 addresses, which matches *harbour* best."""
    html = f"<html lang=en><title>harbour</title><p>harbour, the harbour wall, the harbour light. {ENGLISH}"
    return [record(f"http://copy.example/{number}", html) for number in range(COPIES)]


def harbour_pages(count: int, sites: tuple[str, str] = ("one", "two")) -> list[bytes]:
    """Return pages on two sites, in two languages and of five years, that all hold *harbour* and link to each other.

    Some of them link to a page that was not read, and one is like what they say of it.
    """
    keeper = "the keeper of the lighthouse and her lantern, lamp oil and log book"
    near = f"<html lang=en><title>the lighthouse</title><p>{keeper}. {ENGLISH}"
    pages = [record(f"http://{sites[0]}.example/near", near, date="2013-06-01T00:00:00Z")]
    for number in range(count - 1):
        site = sites[number % 3 == 0]
        words, language = ((ENGLISH, "en"), (GERMAN, "de"))[number % 2]
        own = " ".join(f"own{number}word{place}" for place in range(40 + number))
        topic = ("herring boats and nets", "the harbour wall and its light", "weather and tide")[number % 3]
        links = (
            f"<a href='http://{sites[0]}.example/{(number + 1) % count}'>{topic} next</a>"
            + f"<a href='http://far.example/'>{keeper}</a>" * (number % 5 == 1)
        )
        title = f"harbour {number}" if number % 4 == 0 else f"{topic} {number}"
        html = f"<html lang={language}><title>{title}</title><p>{words} {topic} {own} {links}"
        pages.append(record(f"http://{site}.example/{number}", html, date=f"{2010 + number % 5}-06-01T00:00:00Z"))
    return pages


@pytest.fixture(scope="session")
def kins(demo_kin: Path, host_leaf: HostLeaf, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return all collections by name."""
    folder = tmp_path_factory.mktemp("doors")
    copies = build_leaf(folder / "copies.kin", [*copied_pages(), *harbour_pages(OTHERS)])
    shards = {name: folder / f"{name}.kin" for name in SHARDED.values()}
    shard_collection(demo_kin, 5, shards["demo in shards"])
    shard_collection(copies, 3, shards["copies in shards"])
    return {
        "demo": demo_kin,
        "copies": copies,
        **shards,
        "harbours": build_leaf(folder / "harbours.kin", [*copied_pages(), *harbour_pages(40)]),
        # Copies of pages of the other leaf that the network folds.
        "planets": build_leaf(
            folder / "planets.kin", [*host_records()["planets"], *harbour_pages(12, ("three", "four"))]
        ),
        "mountains": host_leaf("mountains"),
    }


@pytest.fixture(scope="session")
def doors(kins: dict[str, Path]) -> Iterator[dict[str, list[Door]]]:
    """Return the doors to each web."""
    names = [*NETWORK, *kins]
    places = {name: Place("127.0.0.1", port) for name, port in zip(names, free_ports(len(names)), strict=True)}
    urls = {name: f"http://{place.host}:{place.port}/" for name, place in places.items()}
    routers = [Router(name, {child: urls[child] for child in below}, eager()) for name, below in NETWORK.items()]
    services: list[Service] = [*routers, *(open_collection(name, path, urls[name]) for name, path in kins.items())]
    warm(services)  # what is compiled for the first question may take longer than anybody waits
    with Running([(service, places[service.name]) for service in services], web_app):
        Web(urls, NETWORK).await_labels()
        for name in kins:
            ask(urls[name], "related", url=ask(urls[name], "search", query="the")["results"][0]["url"], deadline=120)
        doors = {name: doors_to(kins.get(name), urls[name if name in kins else "root"]) for name in SUBJECTS}
        yield doors
        for some in doors.values():
            for door in some:
                door.close()
