"""Sites: registrable domains of hosts, one by one and for all URLs of a collection."""

import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.hypertext import canonical_url, host_of, site_of, site_of_address, sites, sites_of_urls
from pagekin.store import RaggedBytes, pack_strings
from pagekin.store import ragged as ragged_strings


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("cs.cornell.edu", "cornell.edu"),
        ("cornell.edu", "cornell.edu"),
        ("www.bbc.co.uk", "bbc.co.uk"),
        ("elements.example", "elements.example"),
        ("a.b.example", "b.example"),
        ("WWW.Example.ORG", "example.org"),
        ("www.city.kawasaki.jp", "city.kawasaki.jp"),
        ("a.b.c.kawasaki.jp", "b.c.kawasaki.jp"),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
    ],
)
def test_a_site_is_a_public_suffix_and_one_label(host: str, site: str) -> None:
    assert site_of(host) == site


@pytest.mark.parametrize(
    ("host", "site"), [("alice.github.io", "alice.github.io"), ("x.bob.github.io", "bob.github.io")]
)
def test_customers_of_one_hoster_are_sites_of_their_own(host: str, site: str) -> None:
    assert site_of(host) == site


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "[::1]", "[2001:db8::2]", "edu", "co.uk", "github.io", "", ".", "["]
)
def test_a_host_without_registrable_domain_is_its_own_site(host: str) -> None:
    assert site_of(host) == host


@pytest.mark.parametrize("name", ["www.example.org", "localhost", "127.0.0.1", "[::1]", "co.uk"])
def test_the_port_does_not_matter(name: str) -> None:
    assert site_of(f"{name}:8080") == site_of(name)


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("www.example.org.", "example.org"),
        ("www.example.org.:81", "example.org"),
        ("localhost.", "localhost"),
        ("co.uk.", "co.uk"),
        (".math.example.edu", "example.edu"),
        ("www..example.org", "example.org"),
    ],
)
def test_stray_dots_do_not_matter(host: str, site: str) -> None:
    assert site_of(host) == site


def ragged(urls: list[str]) -> RaggedBytes:
    return RaggedBytes(*pack_strings([url.encode() for url in urls]))


def test_sites_are_numbered_in_the_order_of_their_names() -> None:
    urls = [
        "http://a.zoo.example/",
        "http://b.zoo.example/x",
        "http://user@b.zoo.example:81/y@z",
        "http://www.ant.example/",
        "https://ant.example/http://zoo.example/",
        "https://n/",
    ]
    numbers, names = sites_of_urls(ragged(urls))
    assert names == ["ant.example", "n", "zoo.example"]
    assert numbers.tolist() == [2, 2, 2, 0, 0, 1]
    assert [site_of_address(url.encode()) for url in urls] == [names[number] for number in numbers.tolist()]
    assert numbers.dtype == np.uint32


def test_it_does_not_matter_how_many_are_looked_at_together_nor_in_which_order(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    urls = [f"http://{chance.choice('abc')}{chance.randrange(12)}.example/{number}" for number in range(200)]
    for some in (urls, sorted(urls)):
        for at_once in (1, 3, 64, 200, 1000):
            monkeypatch.setattr(sites, "_AT_ONCE", at_once)
            numbers, names = sites_of_urls(ragged(some))
            assert [names[number] for number in numbers.tolist()] == [site_of_address(url.encode()) for url in some]


def test_no_urls_have_no_sites() -> None:
    numbers, names = sites_of_urls(ragged([]))
    assert (len(numbers), names) == (0, [])


labels = st.sampled_from(["www", "a", "b-c", "co", "uk", "com", "edu", "github", "io", "example", "bücher", "7", ""])
hosts = st.lists(labels, min_size=1, max_size=5).map(".".join) | st.sampled_from(["127.0.0.1", "[2001:db8::1]", "h"])
addresses = st.builds(
    "{}://{}{}{}/{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "user@", "user:p/w@", "a@b@"]),
    hosts,
    st.sampled_from(["", ":80", ":8080"]),
    st.sampled_from(["", "x", "a/b@c:1/", "?q=http://other.example/", "é"]),
)


@given(st.lists(addresses, max_size=30), st.integers(1, 7))
def test_a_collection_gets_the_sites_of_its_hosts(made: list[str], at_once: int) -> None:
    urls = sorted({url for url in map(canonical_url, made) if url})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ragged_strings, "_AT_ONCE", at_once)
        numbers, names = sites_of_urls(ragged(urls))
    wanted = [site_of(host_of(url)) for url in urls]
    assert [names[number] for number in numbers] == wanted
    assert names == sorted(set(wanted))


def test_the_suffix_list_is_loaded_only_when_asked() -> None:
    ask = "import sys, pagekin.hypertext as h; h.site_of('localhost'); sys.exit('publicsuffixlist' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", ask], check=False).returncode == 0
