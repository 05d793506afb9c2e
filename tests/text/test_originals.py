"""Originals are told from mirrors by who links to them."""

from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pagekin.text import Originals, TextIndex, originals

from .collections import searchable


def site(host: str, names: tuple[str, ...]) -> dict[str, str]:
    """Pages that all link to each other."""
    menu = "".join(f"<a href=/{name}>{name}</a>" for name in names)
    return {f"http://{host}/{name}": f"<title>{name}</title>{menu}<p>All about {name}" for name in names}


NAMES = ("harbour", "pilot", "tide")
WEB = {
    **site("a-mirror.test", NAMES),
    **site("original.test", NAMES),
    "http://x.test/1": "<a href=http://original.test/pilot>pilots</a> <a href=http://a-mirror.test/tide>tides</a>",
    "http://y.test/2": "<a href=http://original.test/pilot>pilots</a> <a href=http://x.test/1>x</a>",
}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> TextIndex:
    return searchable(tmp_path_factory.mktemp("mirrored") / "web.kin", WEB)


def both(name: str) -> list[str]:
    return [f"http://a-mirror.test/{name}", f"http://original.test/{name}"]


def test_links_to_the_page_tell_first_then_those_of_others_to_the_site(web: TextIndex) -> None:
    found = Originals([web.corpus])
    assert found.best(both("pilot")) == "http://original.test/pilot"
    assert found.best(both("tide")) == "http://a-mirror.test/tide", "more link to this page"
    assert found.best(both("harbour")) == "http://original.test/harbour", "as many links, but others know the site"
    assert found.best(both("harbour")[::-1]) == "http://original.test/harbour"


def test_where_nothing_tells_them_apart_the_first_remains(web: TextIndex) -> None:
    found = Originals([web.corpus])
    same = ["http://original.test/tide", "http://original.test/harbour"]
    assert found.best(same) == same[0]
    assert found.best(same[::-1]) == same[1]
    assert found.best(["http://nowhere.test/", *both("harbour")]) == "http://original.test/harbour"
    assert found.best(["http://nowhere.test/", "no address"]) == "http://nowhere.test/"


def test_links_of_other_hosts_are_counted_whole_or_by_a_sample(
    demo: TextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = demo.corpus
    counted: Counter[str] = Counter()
    for page in range(len(corpus)):
        own = urlsplit(corpus.page_url(page)).netloc
        for anchor in corpus.anchors_out(page):
            target = corpus.url(int(corpus.kin["anchor.target"][anchor]))
            if corpus.pages_of(corpus.url_number(target)) and urlsplit(target).netloc != own:
                counted[urlsplit(target).netloc] += 1
    hosts = {urlsplit(corpus.page_url(page)).netloc: corpus.page_url(page) for page in range(len(corpus))}
    whole = Originals([corpus])
    assert {host: whole._outside(url) for host, url in hosts.items()} == {host: counted[host] for host in hosts}
    assert counted["mountains.example"] > counted["mirror.example"]
    monkeypatch.setattr(originals, "_MOST", 200)
    sampled = Originals([corpus])
    busy = "http://mountains.example/"
    assert sampled._outside(busy) == pytest.approx(whole._outside(busy), rel=0.5)


def test_captures_of_one_address_count_its_links_once(tmp_path: Path) -> None:
    web = searchable(tmp_path / "one.kin", {"http://a.test/": "<a href=http://b.test/>b</a>", "http://b.test/": "<p>b"})
    assert Originals([web.corpus])._outside("http://b.test/") == 1
