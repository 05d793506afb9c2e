"""The page of the network: who is there, how they are, and where a query goes."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from litestar.testing import TestClient

from pagekin.collection import Answer, ReloadingCollection, Service, SkippedNode, TreeNode
from pagekin.routers import Place, Router
from pagekin.text import parse_query
from pagekin.web.pages.network import MOST_NAMED, NAMED, NetworkView, NodeView, group_passed_over, may_hold, room_for
from pagekin.web.rendering import HEAVIEST, templates
from tests.conftest import HostLeaf
from tests.routers.webs import build_leaf, eager, free_ports, host_records, wait_for

from .browser import NARROW, WIDE, Pages, Visitor, overflow
from .conftest import EVIL, NETWORK
from .parsed import Parsed, harm, unguarded

SITES = {name for below in NETWORK.values() for name in below if name not in NETWORK}


def fetched(address: str, accept: str = "application/json") -> Any:
    with urlopen(Request(address, headers={"Accept": accept}), timeout=20) as answer:
        body = answer.read()
    return json.loads(body) if accept == "application/json" else body.decode()


def view_of(site: str, query: str = "") -> Any:
    return fetched(f"{site}network.json" + (f"?{urlencode({'q': query})}" if query else ""))


def _is_settled(view: Any) -> bool:
    """Whether the root knows of all documents below it."""
    documents = sum(node["documents"] for node in view["nodes"] if node["leaf"])
    return bool(view["nodes"][0]["documents"] == documents > 0)


@pytest.mark.parametrize("suffix", ["network", "network.json"])
def test_everyone_below_the_root_stands_in_the_tree_where_the_network_has_it(network_site: str, suffix: str) -> None:
    wait_for(lambda: _is_settled(view_of(network_site)), 60)
    view = fetched(f"{network_site}{suffix}")
    paths = {tuple(node["path"]) for node in view["nodes"]}
    assert paths == {
        ("whole",),
        *(("whole", router) for router in NETWORK["whole"]),
        *(("whole", router, site) for router in NETWORK["whole"] for site in NETWORK[router]),
    }
    assert view["total"] == len(paths) and view["sites"] == len(SITES) and view["down"] == 0 and view["levels"] == 3
    assert view["sites"] + view["routers"] + view["down"] + view["left_out"] == view["total"]
    assert _is_settled(view)
    assert all(node["label_bytes"] > 0 and node["up"] for node in view["nodes"])


def test_a_query_is_seen_to_go_where_its_words_are_and_nowhere_else(network_site: str) -> None:
    view = view_of(network_site, "volcano summit")
    went = {node["path"][-1]: node["went"] for node in view["nodes"]}
    assert went["whole"] == went["nature"] == went["mountains"] == "asked"
    found = fetched(f"{network_site}search?{urlencode({'q': 'volcano summit'})}")
    asked = {tuple(one["path"]) for one in found["asked"]}
    skipped = {tuple(one["path"]) for one in found["skipped"]}
    assert skipped, "someone has none of these words"
    for node in view["nodes"][1:]:
        path = tuple(node["path"])
        expected = "asked" if path in asked else "skipped" if path in skipped else "not reached"
        assert node["went"] == expected, path
    assert view["found"] == found["total"] > 0 and view["asked"] == len(asked)


def test_the_page_draws_and_lists_them_with_links_to_their_own_sites(network_site: str) -> None:
    html = fetched(f"{network_site}network?{urlencode({'q': 'volcano'})}", "text/html")
    page, view = Parsed(html), view_of(network_site, "volcano")
    assert harm(html) == []
    classes = [one["class"] for one in page.all("rect") if one["class"].startswith("node ")]
    assert len(classes) == len(view["nodes"])
    assert sum("asked" in one for one in classes) == sum(node["went"] == "asked" for node in view["nodes"])
    asked = [node for node in view["nodes"][1:] if node["went"] == "asked"]
    assert asked and all(node["url"] in page.links for node in asked)
    assert len(html) < 100_000


def test_a_query_that_cannot_be_read_is_refused_with_the_reason(network_site: str) -> None:
    with pytest.raises(Exception, match="400"):
        view_of(network_site, '"never closed')


def test_a_site_alone_is_its_own_network(client: TestClient[Any]) -> None:
    view = client.get("/network.json").json()
    assert [node["path"] for node in view["nodes"]] == [["demo"]] and view["sites"] == 1
    page = client.get("/network", headers={"Accept": "text/html"})
    assert "network init" in page.text and harm(page.text) == []


# -- who is passed over --------------------------------------------------------------------------------------------------------


def rows_of(html: str, table: str) -> list[str]:
    """The rows of a table's body, as text."""
    body = html.partition(f'<table class="{table}">')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    return [Parsed(f"<table><tr{row}</table>").text for row in body.split("<tr")[1:]]


@pytest.mark.parametrize(
    "query", ["volcano summit", "carbon OR opera", "violin NOT metal", '"mauna kea"', "zzzunknown"]
)
def test_all_that_were_passed_over_are_told_with_the_reason(network_site: str, query: str) -> None:
    answer = fetched(f"{network_site}search?{urlencode({'q': query})}")
    view = view_of(network_site, query)
    expected: dict[str, set[str]] = {}
    for one in answer["skipped"]:
        expected.setdefault(one["reason"], set()).add(" › ".join(one["path"][1:]))
    assert {one["reason"]: set(one["names"]) for one in view["passed"]} == expected
    assert all(one["count"] == len(one["names"]) for one in view["passed"])
    assert view["skipped"] == len(answer["skipped"])
    # Everybody was asked, or passed over, or is below someone who was.
    assert view["asked"] + view["skipped"] + sum(one["below"] for one in view["passed"]) == view["total"] - 1
    html = fetched(f"{network_site}network?{urlencode({'q': query})}", "text/html")
    told = rows_of(html, "passed")
    assert len(told) == len(expected)
    for row, one in zip(told, view["passed"], strict=True):
        assert row.startswith(f"{one['reason']} {one['count']}") and all(name in row for name in one["names"])


def test_it_is_told_why_somebody_was_asked(network_site: str) -> None:
    nodes = {node["path"][-1]: node for node in view_of(network_site, "volcano summit")["nodes"]}
    assert nodes["whole"]["why"] == "the query begins here"
    assert nodes["nature"]["why"] == "its summary says it may hold “volcano” and “summit” together"
    assert nodes["mountains"]["why"] == nodes["nature"]["why"]
    html = fetched(f"{network_site}network?{urlencode({'q': 'volcano summit'})}", "text/html")
    asked = rows_of(html, "nodes")
    assert asked[0].startswith("whole the query begins here")
    assert any(row.startswith("mountains its summary says it may hold “volcano”") for row in asked)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("lava", "its summary says it may hold “lava”"),
        ("title:lava", "its summary says it may hold “title:lava”"),
        ('"red hot"', "its summary says it may hold “red” and “hot” together"),
        ("a1 b1 c1 d1 e1 f1", "its summary says it may hold a match"),
        ("lava OR ash", "its summary says it may hold a match"),
        ("lava NOT ash", "its summary says it may hold a match"),
    ],
)
def test_why_is_said_in_words(query: str, said: str) -> None:
    assert may_hold(parse_query(query)) == said


def answer_with(skipped: Sequence[tuple[str, str]]) -> Answer:
    return Answer(
        router="top", skipped=tuple(SkippedNode(path=("top", name), reason=reason) for name, reason in skipped)
    )


def test_who_came_nearest_to_being_asked_is_told_of_first_and_nobody_is_forgotten() -> None:
    skipped = [(f"far{n}", "no page holds a, b, c") for n in range(200)] + [
        (f"near{n}", "no page holds b") for n in range(3)
    ]
    skipped += [("small", "no page holds c"), ("close", "no group of its pages holds all words")]
    sizes = {"far7": 50, "near2": 9, "small": 1}
    listed: list[tuple[tuple[str, ...], TreeNode]] = [((), TreeNode(name="top"))]
    listed += [(("top",), TreeNode(name=name, documents=sizes.get(name, 0))) for name, _reason in skipped]
    listed += [(("top", "far7"), TreeNode(name="below")), (("top", "far7", "below"), TreeNode(name="deeper"))]
    made = group_passed_over(answer_with(skipped), listed)
    assert [(one.reason, one.count, one.documents, one.below) for one in made] == [
        ("no group of its pages holds all words", 1, 0, 0),
        ("no page holds b", 3, 9, 0),
        ("no page holds c", 1, 1, 0),
        ("no page holds a, b, c", 200, 50, 2),
    ]
    assert made[1].names[0] == "near2" and made[3].names[0] == "far7"
    assert len(made[3].names) == NAMED + MOST_NAMED


# -- nodes that cannot be reached ------------------------------------------------------------------------------------------------


def _have_told(router: str) -> int:
    """How many children a router has labels of."""
    health = fetched(f"{router}health")
    return sum(child["label_bytes"] > 0 for child in health["children"]) if health["ready"] else 0


@pytest.fixture(scope="module")
def broken_site(host_leaf: HostLeaf) -> Iterator[str]:
    """The root of a network of six, of whom two are not there, and many that have never been."""
    ports = free_ports(5)
    top, middle, elements, mountains, nowhere = (f"http://127.0.0.1:{port}/" for port in ports)
    leaves = {name: ReloadingCollection(name, host_leaf(name)) for name in ("elements", "mountains")}
    leaves["elements"].above = (("top", top),)
    services: list[tuple[Service, Place]] = [
        (Router("top", {"middle": middle, "elements": elements, "gone": nowhere}, eager(settle=0.3), 2), Place.of(top)),
        (Router("middle", {"mountains": mountains, "lost": nowhere}, eager(settle=0.3)), Place.of(middle)),
        (leaves["elements"], Place.of(elements)),
        (leaves["mountains"], Place.of(mountains)),
    ]
    with Pages(services):
        wait_for(lambda: _have_told(middle) == 1 and _have_told(top) == 2, 60)
        yield top


def test_those_that_cannot_be_reached_are_taken_for_nothing_else(broken_site: str) -> None:
    view = view_of(broken_site)
    assert (view["sites"], view["routers"], view["down"], view["total"]) == (2, 2, 2, 6)
    assert {node["path"][-1] for node in view["nodes"] if not node["up"]} == {"gone", "lost"}
    html = fetched(f"{broken_site}network", "text/html")
    text = Parsed(html).text
    assert "2 sites and 2 routers on 3 levels answer; 2 cannot be reached , nor can what may be below them" in text
    gone = next(row for row in rows_of(html, "nodes") if row.startswith("gone"))
    assert gone.startswith("gone cannot be reached") and "Connect call" not in gone and " – none never" in gone


@pytest.mark.parametrize("query", ["carbon", "volcano", "zzzunknown"])
def test_all_pages_agree_on_how_many_were_asked_and_gave_no_answer(broken_site: str, query: str) -> None:
    view = view_of(broken_site, query)
    found = fetched(f"{broken_site}find.json?{urlencode({'q': query})}")
    assert view["asked"] == found["routers_total"] and view["skipped"] == found["skipped_total"]
    nodes = {node["path"][-1]: node for node in view["nodes"]}
    failed = {name for name in nodes if nodes[name]["went"] == "failed"}
    # One below it has told nothing yet, so it can rule nothing out.
    assert failed == {"gone", "lost"} and nodes["middle"]["went"] == "asked"
    assert nodes["middle"]["why"] == "its summary does not list all its words, so it may hold a match"
    assert nodes["elements"]["went"] == ("asked" if query == "carbon" else "skipped")
    assert view["failed"] == len(failed) == found["missing"]
    html = fetched(f"{broken_site}network?{urlencode({'q': query})}", "text/html")
    text = Parsed(html).text
    assert f"{len(failed)} place{'s' if len(failed) > 1 else ''} could not answer" in text
    drawn = [one for one in Parsed(html).all("rect") if one["class"] == "node failed"]
    assert len(drawn) == len(failed)


def test_who_has_told_nothing_yet_is_asked_and_that_is_the_reason(tmp_path: Path) -> None:
    # A child that is there and has no label: a router whose only child is not there.
    ports = free_ports(4)
    top, empty, full, nowhere = (f"http://127.0.0.1:{port}/" for port in ports)
    services: list[tuple[Service, Place]] = [
        (Router("top", {"empty": empty, "full": full}, eager(settle=0.3), 2), Place.of(top)),
        (Router("empty", {"gone": nowhere}, eager(settle=0.3)), Place.of(empty)),
        (ReloadingCollection("full", build_leaf(tmp_path / "full.kin", host_records()["trees"])), Place.of(full)),
    ]
    with Pages(services):
        wait_for(lambda: view_of(top)["nodes"][0]["documents"] > 0, 60)
        nodes = {node["path"][-1]: node for node in view_of(top, "oak")["nodes"]}
    assert nodes["full"]["why"] == "its summary says it may hold “oak”"
    told = nodes["empty"]
    assert (told["went"], told["why"]) == ("failed", "its content is not known yet, so it may hold a match")
    assert "no child of empty has sent its label yet" in told["reason"]


def test_links_to_others_tell_them_nothing(broken_site: str) -> None:
    site = fetched(f"{broken_site}network.json")
    leaf = next(node["url"] for node in site["nodes"] if node["path"][-1] == "elements")
    for address in (
        broken_site,
        f"{broken_site}network",
        f"{broken_site}network?q=carbon",
        f"{broken_site}about",
        f"{leaf}about",
        f"{leaf}network",
    ):
        html = fetched(address, "text/html")
        assert any(link.startswith("http") for link in Parsed(html).links), address
        assert unguarded(html) == [], address


def test_a_network_of_many_who_mean_harm_is_still_a_page(tmp_path: Path) -> None:
    top, full, nowhere = (f"http://127.0.0.1:{port}/" for port in free_ports(3))
    names = [f"{EVIL[: n % 25]}{n}{'w' * (n % 150)}'\"><b>🌋" for n in range(330)]
    services: list[tuple[Service, Place]] = [
        (Router("top", {"full": full} | dict.fromkeys(names, nowhere), eager(settle=0.3)), Place.of(top)),
        (ReloadingCollection("full", build_leaf(tmp_path / "full.kin", host_records()["trees"])), Place.of(full)),
    ]
    with Pages(services):
        wait_for(lambda: view_of(top)["nodes"][0]["documents"] > 0, 60)
        for path in ("network", "network?q=oak"):
            html = fetched(f"{top}{path}", "text/html")
            assert harm(html) == [] and len(html.encode()) <= 100_000
            assert "330 cannot be reached" in Parsed(html).text
        # All pages count all of them, also those that they do not name.
        assert "330 places could not answer" in Parsed(html).text
        found = fetched(f"{top}find?q=oak", "text/html")
        assert "330 places could not answer" in Parsed(found).text and "and 280 more" in Parsed(found).text
        assert len(found.encode()) <= 100_000


# -- how it looks -------------------------------------------------------------------------------------------------------------


def test_what_became_of_a_query_is_seen_without_colours(network_site: str) -> None:
    query = {"q": "volcano summit"}
    view = view_of(network_site, query["q"])
    html = fetched(f"{network_site}network?{urlencode(query)}", "text/html")
    heights: dict[str, set[str]] = {}
    for one in Parsed(html).all("rect"):
        if one["class"].startswith("node "):
            heights.setdefault(one["class"].removeprefix("node "), set()).add(one["height"])
    assert set(heights) == {node["went"] for node in view["nodes"]}
    assert all(len(some) == 1 for some in heights.values())
    assert len({height for some in heights.values() for height in some}) == len(heights), "each its own height"
    titles = [text for tag, text in Parsed(html).texts if tag == "title"]
    for node in view["nodes"]:
        said = {"asked": "asked", "skipped": "skipped", "not reached": "not asked"}[node["went"]]
        assert any(title.startswith(f"{node['path'][-1]}: ") and title.endswith(said) for title in titles)


def test_a_name_is_whole_or_without_what_all_share_or_not_there() -> None:
    made = {
        width: NodeView(
            path=("example", "countries.example"), url="", leaf=True, level=0, up=True, width=width, height=34.0
        ).legible
        for width in (
            1000.0,
            room_for("countries.example"),
            room_for("countries.example") - 1,
            room_for("countries"),
            60.0,
        )
    }
    assert list(made.values()) == ["countries.example", "countries.example", "countries", "countries", ""]
    assert room_for("水" * 9) > room_for("countries") < room_for("COUNTRIES")


def test_reasons_stand_whole_on_the_page_of_a_network_of_hundreds() -> None:
    def node(number: int, name: str, documents: int, width: float) -> NodeView:
        return NodeView(
            path=("root", name) if number else ("root",), url=f"http://{name}/", leaf=bool(number), level=int(not number),
            up=True, went="asked", why=may_hold(parse_query("operating systems")), documents=documents,
            x=number * 3.0, y=34.0 * bool(number), width=width, height=34.0,
        )  # fmt: skip

    nodes = [node(0, "root", 8_000, 1_100.0)]
    nodes += [node(n, f"www.department-{n}.university.edu", 20, 1.5 if n % 3 else 12.0) for n in range(1, 351)]
    view = NetworkView(
        query="operating systems", nodes=tuple(nodes), total=351, sites=350, routers=1, down=0, left_out=0, levels=2,
        width=1_100.0, height=68.0, asked=351,
    )  # fmt: skip
    context = {"name": "root", "leaf": False, "above": [], "path": "/network", "as_json": "", "asked": view.query}
    page = templates().get_template("network.html").render({"view": view, **context})
    assert len(page.encode()) <= HEAVIEST
    assert page.count("it may hold “operating” and “systems” together") == 60
    drawn = re.findall(r'<path class="node asked" d="([^"]*)"', page)
    assert [path.count("M") for path in drawn] == [sum(node.width < 2 for node in nodes)], "narrow bars are one path"


@pytest.mark.parametrize("path", ["network", "network?q=volcano+summit"])
def test_names_stand_within_their_bars(visit: Visitor, network_site: str, path: str) -> None:
    page = visit(network_site, path, width=WIDE)
    shown = page.evaluate("""() => [...document.querySelectorAll("figure a")].filter((a) => a.querySelector("text")).map((a) => {
        const name = a.querySelector("text"), text = name.getBoundingClientRect();
        const bar = a.querySelector("rect").getBoundingClientRect();
        return [name.textContent, text.left >= bar.left && text.right <= bar.right && text.bottom <= bar.bottom + 2];
    })""")
    assert len(shown) >= 3 and [text for text, within in shown if not within] == []
    assert not any("…" in text for text, _within in shown), "a name is whole, or not there"
    assert {name.removeprefix("✓ ") for name, _within in shown} >= {"whole", "nature", "mountains"}


@pytest.mark.parametrize("path", ["network", "network?q=volcano+summit"])
def test_on_a_phone_the_tree_is_a_list_that_can_be_read(visit: Visitor, network_site: str, path: str) -> None:
    page = visit(network_site, path, width=NARROW)
    view = view_of(network_site, "volcano summit" if "?" in path else "")
    assert not page.is_visible("svg[data-zoom]") and overflow(page) == []
    rows = page.eval_on_selector_all(
        ".outline li",
        "all => all.map((e) => [e.querySelector('bdi').innerText, e.innerText, e.querySelector('a').offsetHeight])",
    )
    told = [node for node in view["nodes"] if node["went"] != "not reached"]
    assert [name for name, _text, _height in rows] == [node["path"][-1] for node in told]
    assert all(height >= 24 for _name, _text, height in rows)
    for node, (_name, text, _height) in zip(told, rows, strict=True):
        assert {"asked": ", asked", "skipped": ", skipped", "": str(node["documents"])}[node["went"]] in text
    page.set_viewport_size({"width": WIDE, "height": 900})
    assert page.is_visible("svg[data-zoom]") and not page.is_visible(".outline")
