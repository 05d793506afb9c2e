"""From hosts, listings and labels to leaves and routers."""

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pagekin.hypertext import host_of_url
from pagekin.labels import LABEL_VERSION, ContentLabel
from pagekin.labels.model import Term, pack_terms
from pagekin.routers import (
    Hierarchy,
    Network,
    NetworkError,
    cluster_tree,
    directory_tree,
    dns_tree,
    group_hosts,
    make_network,
    move_to_port,
)
from pagekin.routers.topology import allowed_for, domains_of, shown_host


@pytest.mark.parametrize(
    ("host", "domains"),
    [
        ("www.cs.cornell.edu", ("edu", "cornell.edu", "cs.cornell.edu")),
        ("www.cs.cornell.edu:8080", ("edu", "cornell.edu", "cs.cornell.edu")),
        ("cornell.edu", ("edu",)),
        ("intranet", ()),
        ("intranet:8000", ()),
        ("128.84.1.2", ("IP addresses",)),
        ("128.84.1.2:81", ("IP addresses",)),
        ("[2001:db8::1]", ("IP addresses",)),
        ("[2001:db8::1]:81", ("IP addresses",)),
        ("a..b.example", ("example", "b.example")),
        ("..", ()),
    ],
)
def test_the_domains_of_a_host(host: str, domains: tuple[str, ...]) -> None:
    assert domains_of(host) == domains


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://WWW.Example.org:80/a", "www.example.org"),
        ("https://www.example.org./", "www.example.org"),
        ("http://www.example.org.:81/", "www.example.org:81"),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://[::1]:81/", "[::1]:81"),
        ("ftp://example.org/", ""),
        ("no address", ""),
    ],
)
def test_the_host_of_a_page(url: str, host: str) -> None:
    assert host_of_url(url) == host


def test_foreign_letters_are_shown_if_that_can_be_undone() -> None:
    assert shown_host("xn--bcher-kva.example:81") == "bücher.example:81"
    assert shown_host("xn--a.example") == "xn--a.example"
    assert shown_host("plain.example") == "plain.example"


def shape(tree: Hierarchy) -> dict[str, list[str]]:
    """Router -> what stands below it."""
    found: dict[str, list[str]] = {router: [] for router in tree.parents}
    for child, parent in [*tree.parents.items(), *tree.homes.items()]:
        if parent:
            found[parent].append(child)
    return {router: sorted(children) for router, children in found.items()}


def test_hosts_become_leaves_and_domains_become_routers() -> None:
    hosts = {
        "www.cs.cornell.edu": 700, "cs.cornell.edu": 9, "simon.cs.cornell.edu": 14, "ftp.ee.cornell.edu": 2,
        "www.ee.cornell.edu": 1, "a.bio.cornell.edu": 2, "www.mit.edu": 8, "web.mit.edu": 5, "old.mit.edu": 1,
        "www.example.com": 4, "tiny.example.net": 1, "128.84.1.2": 5, "intranet": 7, "empty.example.org": 0,
    }  # fmt: skip
    groups = group_hosts(hosts, 3)
    assert {group.file: (group.hosts, group.pages) for group in groups if not group.host} == {
        "other@ee.cornell.edu": (("ftp.ee.cornell.edu", "www.ee.cornell.edu"), 3),
        # Neither bio.cornell.edu nor cornell.edu nor edu has enough for the two pages that are left; all together have.
        "other@edu": (("a.bio.cornell.edu", "old.mit.edu"), 3),
        "other@all": (("tiny.example.net",), 1),
    }
    assert shape(dns_tree(groups)) == {
        "root": ["128.84.1.2", "edu", "intranet", "other@all", "www.example.com"],
        "edu": ["cornell.edu", "mit.edu", "other@edu"],
        "cornell.edu": ["cs.cornell.edu", "other@ee.cornell.edu"],
        "cs.cornell.edu": ["cs.cornell.edu", "simon.cs.cornell.edu", "www.cs.cornell.edu"],
        "mit.edu": ["web.mit.edu", "www.mit.edu"],
    }
    net = make_network("some", groups, [dns_tree(groups)])
    assert [node.name for node in net.children_of("cs.cornell.edu")] == [
        "host cs.cornell.edu", "simon.cs.cornell.edu", "www.cs.cornell.edu",
    ]  # fmt: skip
    assert net.by_name["other hosts of ee.cornell.edu"].collection == Path("leaves/other@ee.cornell.edu.kin")
    assert [net.level_of(name) for name in ("root", "edu", "cornell.edu", "cs.cornell.edu")] == [4, 3, 2, 1]
    assert [node.url for node in net.nodes[:2]] == ["http://127.0.0.1:8700/", "http://127.0.0.1:8700/nodes/edu/"]
    ports = make_network("some", groups, [dns_tree(groups)], one_port=False)
    assert [node.url for node in ports.nodes[:2]] == ["http://127.0.0.1:8700/", "http://127.0.0.1:8701/"]


def test_one_host_has_a_root_above_it_and_one_domain_is_its_own_root() -> None:
    assert shape(dns_tree(group_hosts({"www.example.org": 5}, 3))) == {"root": ["www.example.org"]}
    tree = dns_tree(group_hosts({"a.x.edu": 5, "b.x.edu": 5}, 3))
    assert shape(tree) == {"x.edu": ["a.x.edu", "b.x.edu"]}
    assert tree.parents == {"x.edu": ""}


ODD_HOSTS = [
    "edu", "intranet", "10.0.0.1", "[::1]:80", "xn--bcher-kva.example", "IP addresses", "root", "q.root", "..", ".",
    "a..edu", "w" * 300 + ".edu", "w" * 301 + ".edu", "b." + "w" * 300 + ".edu", "'\"`{}~$.edu", "host edu", "other hosts",
]  # fmt: skip
labels_of_hosts = st.sampled_from(["a", "b", "www", "cs", "x1"])
some_hosts = st.dictionaries(
    st.one_of(
        st.lists(labels_of_hosts, min_size=1, max_size=4).map(lambda parts: ".".join([*parts, "edu"])),
        st.lists(labels_of_hosts, min_size=1, max_size=4).map(lambda parts: ".".join([*parts, "edu:8080"])),
        st.sampled_from(ODD_HOSTS),
    ),
    st.integers(0, 9),
    max_size=25,
)  # fmt: skip


@given(some_hosts, st.integers(1, 12), st.randoms(use_true_random=False))
@example({"a.edu": 1, "edu": 1}, 3, random.Random(1))
@settings(deadline=None, max_examples=300)
def test_any_hosts_give_a_sound_network(hosts: dict[str, int], least: int, chance: random.Random) -> None:
    groups = group_hosts(hosts, least)
    assert Counter(host for group in groups for host in group.hosts) == Counter(h for h, n in hosts.items() if n)
    assert all(group.pages == sum(hosts[host] for host in group.hosts) for group in groups)
    assert all(group.pages >= least for group in groups if group.host or group.domains)
    assert len({group.file.casefold() for group in groups}) == len(groups)
    if not groups:
        return
    tree = dns_tree(groups)
    below = Counter([*tree.parents.values(), *tree.homes.values()])
    assert below.pop("") == 1, "one root"
    assert set(tree.homes) == {group.file for group in groups}
    assert min(below.values()) >= 2 or len(groups) == 1, "no router with one child"
    net = make_network("x", groups, [tree], one_port=chance.random() < 0.5)
    again = list(hosts.items())
    chance.shuffle(again)
    assert make_network(
        "x", group_hosts(dict(again), least), [dns_tree(group_hosts(dict(again), least))]
    ) == make_network("x", groups, [tree])
    assert len(net.by_name) == len(net.nodes) == len({node.url for node in net.nodes})
    assert {node.collection for node in net.leaves_below(net.roots()[0].name)} == {
        Path("leaves") / f"{group.file}.kin" for group in groups
    }


@given(some_hosts.filter(any), st.booleans())
@settings(deadline=None, max_examples=60)
def test_what_was_made_passes_as_a_file(
    tmp_path_factory: pytest.TempPathFactory, hosts: dict[str, int], one: bool
) -> None:
    groups = group_hosts(hosts, 2)
    if groups:
        file = tmp_path_factory.mktemp("net") / "network.toml"
        made = make_network("x", groups, [dns_tree(groups)], one_port=one)
        file.write_text(made.to_toml(), encoding="utf-8")
        assert Network.load(file) == made


def test_the_real_hosts_of_four_universities_give_a_network_as_large_as_the_papers(data: Path) -> None:
    rows = (line.split("\t") for line in (data / "webkb" / "hosts.tsv").read_text().splitlines())
    hosts = {host_of_url(f"http://{host}/"): int(pages) for host, pages in rows}
    groups = group_hosts(hosts, 3)
    net = make_network("webkb", groups, [dns_tree(groups)])
    assert sum(node.leaf for node in net.nodes) >= 100
    assert sum(not node.leaf for node in net.nodes) >= 42
    assert net.level_of(net.roots()[0].name) >= 4
    assert sum(group.pages for group in groups) == sum(hosts.values())


def test_a_leaf_is_where_most_of_its_pages_are_listed() -> None:
    tree = directory_tree({
        "one": {("course", "cornell"): 3, ("staff", "cornell"): 2},
        "two": {("course", "cornell"): 1},
        "three": {("course", "texas"): 1, ("staff", "texas"): 1},
        "four": {("staff", "texas/austin"): 9},
        "five": {},
    })  # fmt: skip
    assert shape(directory_tree({"a": {("..",): 1}, "b": {("..",): 1}, "c": {("\0/",): 1}, "d": {("/",): 1}}))  == {
        "directory": ["(..)", "-"], "(..)": ["a", "b"], "-": ["c", "d"],
    }  # fmt: skip
    assert shape(tree) == {
        "directory": ["course", "five", "four"],
        "course": ["course > cornell", "three"],
        "course > cornell": ["one", "two"],
    }
    net = make_network("x", group_hosts({"one": 1}, 1), [tree])
    assert net.by_name["course > cornell"].parents == ("course",)


def label(words: str, extra: str) -> ContentLabel:
    listed = [Term("text", word, 5, 3) for word in words.split()] + [
        Term("text", extra, 1, 1),
        Term("text", "page", 9, 9),
    ]
    known, packed = pack_terms([listed])
    return ContentLabel(LABEL_VERSION, "x", "", 9, 100, len(listed), True, words=known, terms=packed[0])


def test_similar_sites_get_a_router_with_their_own_words_for_a_name() -> None:
    labels = {f"rock{n}": label("granite basalt quartz", f"stone{n}") for n in range(5)}
    labels |= {f"bird{n}": label("finch heron plover", f"nest{n}") for n in range(4)}
    labels["lone"] = label("compiler parser grammar", "token")
    tree = cluster_tree(labels)
    found = shape(tree)
    rocks = tree.homes["rock0"]
    assert found[rocks] == [f"rock{n}" for n in range(5)]
    assert found[tree.homes["bird0"]] == [f"bird{n}" for n in range(4)]
    assert set(rocks.split()) >= {"granite", "basalt", "quartz"}
    assert "page" not in rocks.split(), "what all have is no name"
    assert found["clusters"] == sorted([rocks, tree.homes["bird0"], "lone"])
    assert cluster_tree(dict(reversed(labels.items()))) == tree


def test_several_hierarchies_share_leaves_and_no_names() -> None:
    groups = group_hosts({"a.edu": 3, "b.edu": 3, "c.com": 3, "d.com": 3}, 1)
    other = Hierarchy("topics", {"root": "", "edu": "root"}, {group.file: "edu" for group in groups})
    net = make_network("x", groups, [dns_tree(groups), other])
    assert {node.name for node in net.roots()} == {"root", "root (topics)"}
    assert net.by_name["a.edu"].parents == ("edu", "edu (topics)")
    assert net.by_name["edu (topics)"].parents == ("root (topics)",)
    assert len(net.leaves_below("root (topics)")) == len(net.leaves_below("root")) == 4


def test_ports_that_do_not_suffice_are_told() -> None:
    groups = group_hosts({f"h{n}.example": 1 for n in range(50)}, 1)
    with pytest.raises(NetworkError, match="51 nodes have no room from port 65500 on"):
        make_network("x", groups, [dns_tree(groups)], port=65500, one_port=False)
    net = make_network("x", groups, [dns_tree(groups)], "search.example", 65500, one_port=True)
    assert net.by_name["h7.example"].url == "http://search.example:65500/nodes/h7.example/"
    assert net.defaults.allow is None


def test_a_network_on_one_port_moves_to_another() -> None:
    groups = group_hosts({"a.edu": 5, "b.edu": 5}, 1)
    moved = move_to_port(make_network("x", groups, [dns_tree(groups)]), 9000)
    assert {node.name: node.url for node in moved.nodes} == {
        "edu": "http://127.0.0.1:9000/",
        "a.edu": "http://127.0.0.1:9000/nodes/a.edu/",
        "b.edu": "http://127.0.0.1:9000/nodes/b.edu/",
    }
    with pytest.raises(NetworkError, match="these have 3"):
        move_to_port(make_network("x", groups, [dns_tree(groups)], one_port=False), 9000)


def test_what_the_guard_has_to_allow_for_a_host() -> None:
    assert allowed_for("127.0.0.1") == allowed_for("::1") == allowed_for("localhost") == ("loopback",)
    assert allowed_for("10.1.2.3") == ("10.1.2.3/32",)
    assert allowed_for("8.8.8.8") == allowed_for("search.example") == ()
