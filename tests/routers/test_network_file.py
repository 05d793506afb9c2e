"""The network file: what it means, what is refused and on which line, and that writing it loses nothing."""

import re
import tempfile
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.labels import LabelBudget
from pagekin.routers import Network, NetworkError
from pagekin.routers.lines import key_lines, line_of
from pagekin.routers.network import Node, Settings
from pagekin.routers.network_file import KEYS
from pagekin.routers.place import Place

GOOD = """\
[network]
name = "webs"
timeout = 4
allow = ["loopback"]

[[router]]
name = "root"
url = "http://127.0.0.1:8700/"
hierarchy = "dns"

[[router]]
name = "edu"
url = "http://127.0.0.1:8701"
parents = ["root"]

[[router]]
name = "topics"
url = "http://h.example:8700/topics/"
hierarchy = "topics"
runs = "elsewhere"

[[site]]
name = "www.a.edu"
url = "http://127.0.0.1:8740/"
collection = "leaves/a.kin"
parents = ["edu", "topics"]
allow = ["private"]
runs = "here"

[[site]]
name = "theirs"
url = "https://search.example.org/kin/"
parents = ["root"]
runs = "elsewhere"

[[router]]
name = "poems"
url = "https://search.example.org/poems/"
runs = "elsewhere"
timeout = 0.5
max_clusters = 7
added = ["literature", "title:poems"]
"""


def load(folder: Path, text: str | bytes) -> Network:
    (folder / "leaves" / "a.kin").mkdir(parents=True, exist_ok=True)
    (folder / "network.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return Network.load(folder)


def refused(folder: Path, text: str | bytes) -> list[str]:
    with pytest.raises(NetworkError) as caught:
        load(folder, text)
    return str(caught.value).splitlines()


def test_a_file_becomes_nodes_levels_and_hierarchies(tmp_path: Path) -> None:
    net = load(tmp_path, GOOD)
    assert [node.name for node in net.nodes] == ["root", "poems", "topics", "edu", "theirs", "www.a.edu"]
    assert {node.name: net.level_of(node.name) for node in net.nodes} == {
        "poems": 1, "root": 2, "topics": 1, "edu": 1, "theirs": 0, "www.a.edu": 0,
    }  # fmt: skip
    assert [node.name for node in net.roots()] == ["root", "poems", "topics"]
    assert [node.name for node in net.children_of("root")] == ["edu", "theirs"]
    assert net.children_of("theirs") == ()
    assert [node.name for node in net.leaves_below("root")] == ["theirs", "www.a.edu"]
    assert [node.name for node in net.leaves_below("topics")] == ["www.a.edu"]
    assert {node.hierarchy for node in net.nodes if not node.leaf} == {"dns", "main", "topics"}
    assert net.by_name["edu"].hierarchy == "dns", "that of the parent"
    assert net.by_name["edu"].url == "http://127.0.0.1:8701/", "a slash at the end"
    assert net.warnings == ()


def test_what_holds_for_a_node_is_its_own_or_the_networks(tmp_path: Path) -> None:
    net = load(tmp_path, GOOD)
    site, theirs, edu, topics, poems = (net.by_name[name] for name in ("www.a.edu", "theirs", "edu", "topics", "poems"))
    assert (site.here, theirs.here, edu.here, topics.here) == (True, False, True, False)
    assert net.collection_of(site) == tmp_path / "leaves" / "a.kin"
    assert net.collection_of(theirs) is None
    assert net.budget_of(poems) == LabelBudget(clusters=7)
    assert net.budget_of(edu) == LabelBudget(clusters=50)
    assert (net.settings_of(edu).timeout, net.settings_of(poems).timeout) == (4.0, 0.5)
    assert (net.settings_of(edu).allow, net.settings_of(site).allow) == (("loopback",), ("private",))
    assert poems.added == ("literature", "title:poems")


def test_a_node_above_another_twice_counts_its_leaves_once(tmp_path: Path) -> None:
    more = GOOD + '[[router]]\nname="other"\nurl="http://o/"\nparents=["root"]\n'
    net = load(tmp_path, more.replace('parents = ["edu", "topics"]', 'parents = ["edu", "other", "root"]'))
    assert [node.name for node in net.leaves_below("root")] == ["theirs", "www.a.edu"]


@pytest.mark.parametrize(
    ("before", "after", "line", "said"),
    [
        ('parents = ["root"]', 'parents = ["rooot"]', 14, "router 'edu' names the parent 'rooot', which does not exist; "
         "did you mean 'root'?"),
        ('parents = ["edu", "topics"]', 'parents = ["edu",\n  "theirs"]', 26, "'theirs', which is a site"),
        ('parents = ["edu", "topics"]', 'parents = ["edu", "edu"]', 26, "names a parent twice"),
        ('name = "root"', 'name = "root"\nparents = ["edu"]', 15, "'edu' is above itself: edu > root > edu"),
        ('name = "root"', 'name = "root"\nparents = ["root"]', 8, "'root' is above itself: root > root"),
        ('name = "topics"', 'name = "edu"', 17, "router 'edu' has the name of line 11"),
        ('name = "theirs"', 'name = "edu"', 31, "site 'edu' has the name of line 11"),
        ('url = "http://127.0.0.1:8740/"', 'url = "http://127.0.0.1:8701"', 24, "has the url of router 'edu'"),
        ('url = "http://127.0.0.1:8740/"', 'url = "HTTP://127.1:8701/a/.."', 24, "has the url of router 'edu'"),
        ('url = "http://127.0.0.1:8740/"', 'url = "ftp://127.0.0.1/"', 24, "only http and https"),
        ('url = "http://127.0.0.1:8740/"', 'url = "127.0.0.1:8740"', 24, "this is not an address"),
        ('url = "http://127.0.0.1:8740/"', 'url = "http://h:99999/"', 24, "this is not an address"),
        ('url = "http://127.0.0.1:8740/"', 'url = "http://h:0/"', 24, "0 is not a port"),
        ('url = "http://127.0.0.1:8740/"', 'url = "http://me:secret@h/"', 24, "password"),
        ('url = "http://127.0.0.1:8740/"', 'url = "http://h/?q"', 24, "neither a '?'"),
        ('url = "http://127.0.0.1:8740/"', 'url = "https://h.example/"', 24, 'such as listen = "http://127.0.0.1:8700/"'),
        ('url = "http://127.0.0.1:8700/"', 'url = "https://h.example/"', 8, "runs here, and Pagekin itself speaks no TLS"),
        ('allow = ["private"]', 'listen = "https://127.0.0.1:8000/"', 27, "TLS is the proxy's"),
        ('allow = ["private"]', 'listen = "127.0.0.1:8000"', 27, "this is not an address"),
        ('allow = ["private"]', "listen = 8000", 27, "needs an http address of this machine as listen, not 8000"),
        ('allow = ["private"]', 'listen = "http://127.0.0.1:8701/"', 27, "listens where router 'edu' does"),
        ('runs = "elsewhere"', 'runs = "elsewhere"\nlisten = "http://127.0.0.1:8000/"', 21, "so it does not listen here"),
        ('url = "http://127.0.0.1:8740/"', "url = 8740", 24, "needs an address as url, not 8740"),
        ('url = "http://127.0.0.1:8740/"', "", 22, "site 'www.a.edu' has no url"),
        ('name = "www.a.edu"', "", 22, "this site has no name"),
        ('name = "www.a.edu"', 'name = ""', 23, "an empty name"),
        ('name = "www.a.edu"', 'name = "a/b"', 23, "a '/' in its name"),
        ('name = "www.a.edu"', 'name = "a\\u001bb"', 23, "a control character"),
        ('name = "www.a.edu"', 'name = "a\\u202eb"', 23, "a control character"),
        ('name = "www.a.edu"', 'name = ".."', 23, "a step in a path"),
        ('name = "www.a.edu"', f'name = "{"a" * 201}"', 23, "more than 200 characters"),
        ("max_clusters = 7", "max_clusters = 0", 41, "needs a number from 1 to"),
        ("max_clusters = 7", "max_clusters = true", 41, "needs a number from 1 to 2^40 as max_clusters, not True"),
        ("max_clusters = 7", "max_cluster = 7", 41, "[router] has no key 'max_cluster'; did you mean 'max_clusters'?"),
        ('allow = ["private"]', 'hierarchy = "dns"', 27, "[site] has no key 'hierarchy'"),
        ('allow = ["private"]', 'added = ["literature"]', 27, "a site has none: it is a router's. Its label is made with its "
         "collection: pagekin label SITE.kin --add WORD --save"),
        ('allow = ["private"]', "max_clusters = 7", 27, "pagekin cluster SITE.kin --max-clusters N"),
        ('allow = ["private"]', "max_terms = 7", 27, "[site] has no key 'max_terms'; a site has none"),
        ('allow = ["private"]', "max_bytes = 7", 27, "[site] has no key 'max_bytes'; a site has none"),
        ('allow = ["private"]', "timeout = 7", 27, "[site] has no key 'timeout'; a site has none"),
        ('runs = "here"', 'runs = "there"', 28, "needs one of here, elsewhere as runs, not 'there'"),
        ('collection = "leaves/a.kin"', "", 28, "cannot run here without a collection"),
        ('collection = "leaves/a.kin"', 'collection = ""', 25, "an empty path"),
        ('added = ["literature", "title:poems"]', 'added = ["two words"]', 42, "adds a term that is none"),
        ('added = ["literature", "title:poems"]', 'added = "literature"', 42, "needs a list of texts as added"),
        ('added = ["literature", "title:poems"]', "added = [1]", 42, "needs a list of texts as added"),
        ("timeout = 0.5", "timeout = 0", 40, "more than 0"),
        ("timeout = 0.5", "timeout = nan", 40, "more than 0"),
        ("timeout = 4", "timeout = -1", 3, "network needs more than 0"),
        ('allow = ["loopback"]', 'allow = ["10.0.0.1/8"]', 4, "bits are set beyond"),
        ('allow = ["loopback"]', 'allow = ["169.254.169.254"]', 4, "never allowed"),
        ("[network]", "[netwrok]", 1, "there is no table or key 'netwrok'; did you mean 'network'?"),
        ('name = "webs"', "name = 7", 2, "network needs a text as name, not 7"),
        ('name = "webs"', 'name = "webs', 2, "this is not TOML"),
        ("[[site]]", "[site]", 30, "this is not TOML"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, before: str, after: str, line: int, said: str) -> None:
    assert before in GOOD
    told = refused(tmp_path, GOOD.replace(before, after, 1))
    assert any(one.startswith(f"network.toml:{line}: ") and said in one for one in told), told


def test_all_that_is_wrong_is_told_at_once_in_the_order_of_lines(tmp_path: Path) -> None:
    text = GOOD.replace('["root"]', '["rot"]').replace('"http://127.0.0.1:8740/"', '"gopher://x"').replace("= 4", "= 0")
    told = refused(tmp_path, text)
    assert [one.split(":")[1] for one in told] == ["3", "14", "24", "33"]
    many = "".join(f'[[site]]\nname = "{n}"\nurl = "http://h/{n}"\nparents = ["x"]\n' for n in range(2_000))
    told = refused(tmp_path, many)
    assert told[-1] == "... and 1,980 more"
    assert len(told) == 21


def test_what_is_odd_is_a_warning_with_its_line(tmp_path: Path) -> None:
    text = GOOD.replace("leaves/a.kin", "leaves/none.kin").replace('parents = ["edu", "topics"]', "")
    text += '\n[[site]]\nname = "twin"\nurl = "http://t/"\ncollection = "leaves/none.kin"\nparents = ["root"]\n'
    assert load(tmp_path, text).warnings == (
        "network.toml:11: router 'edu' has no children: no node names it as a parent",
        "network.toml:22: site 'www.a.edu' has no parents: no router asks it",
        "network.toml:25: site 'www.a.edu': the collection leaves/none.kin does not exist, so the site will be left out",
        "network.toml:47: site 'twin' has the same collection as site 'www.a.edu': its pages count twice above both",
        "network.toml:47: site 'twin': the collection leaves/none.kin does not exist, so the site will be left out",
    )


@pytest.mark.parametrize(
    "text",
    [
        "", "# nothing\n", "[network]\nname = 'x'\n", "[[router]]\n", "router = 3", "site = [1, 2]", "network = []",
        "[router]\nname = 'x'\n", "a = " + "[" * 5_000 + "]" * 5_000, "a = " + "9" * 10_000, "x = 1\nx = 2",
        b"\xff\xfe[\0", b"name = \"\xe9\"\n", "[[site]]\nname = 1979-05-27\nurl = {a = 1}\nparents = 'x'\n", "\r", "\0",
    ],
)  # fmt: skip
def test_hostile_files_are_refused_with_a_line(tmp_path: Path, text: str | bytes) -> None:
    assert all(one.startswith("network.toml:") for one in refused(tmp_path, text))


def test_a_file_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="pagekin network init"):
        Network.load(tmp_path)


def test_a_very_deep_network_and_a_very_long_cycle_do_not_exhaust_the_stack(tmp_path: Path) -> None:
    def chain(first: str) -> str:
        blocks = [f'[[router]]\nname = "0"\nurl = "http://h/0/"\n{first}\n']
        blocks += [f'[[router]]\nname = "{n}"\nurl = "http://h/{n}/"\nparents = ["{n - 1}"]\n' for n in range(1, 3_000)]
        return "".join(blocks)

    net = load(tmp_path, chain(""))
    assert net.level_of("0") == 3_000
    assert net.by_name["2999"].hierarchy == "main"
    told = refused(tmp_path, chain('parents = ["2999"]'))
    assert len(told) == 1
    assert "is above itself: 0 > 1 > 2" in told[0]
    assert told[0].endswith("> ...")


def test_two_cycles_are_told_apart_and_what_hangs_below_them_is_not_blamed(tmp_path: Path) -> None:
    edges = {"a": "b", "b": "a", "c": "d", "d": "c", "below": "a", "above": ""}
    text = "".join(
        f'[[router]]\nname = "{name}"\nurl = "http://h/{name}/"\nparents = [{f"{chr(34)}{up}{chr(34)}" if up else ""}]\n'
        for name, up in edges.items()
    ).replace(
        'name = "a"\nurl = "http://h/a/"\nparents = ["b"]', 'name = "a"\nurl = "http://h/a/"\nparents = ["b", "above"]'
    )
    told = refused(tmp_path, text)
    assert [one.partition(": ")[2] for one in told] == [
        "router 'a' is above itself: a > b > a", "router 'c' is above itself: c > d > c",
    ]  # fmt: skip


# -- lines --------------------------------------------------------------------------------------------------------------

TRICKY = '''\
# [[site]] in a comment
title = "[[site]]"   # and = here
"quoted key" = 1
long = """
[[site]]
name = "not me"
""\\"""" # five quotes end it
literal = \'\'\'
[[site]] \'\' \'\'\'
list = [
  "[[site]]", # [
  ["a"], { b = "]" },
]

[network]
name = 'x'
[[site]]   # the first
name = "a"

[[ "site" ]]
  "name" = "b"
  parents = [
     "x", # ]
  ]
  url = "u"
[site.deep]
more = 1
[[site]]
network.name = 1
'''


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines_are_found_whatever_the_strings_and_comments_hold(newline: str) -> None:
    text = TRICKY.replace("\n", newline)
    tomllib.loads(text)
    lines = key_lines(text)
    found = {place: line for place, line in lines.items() if place[0] in ("site", "network")}
    assert found == {
        ("network",): 15, ("network", "name"): 16, ("site", 0): 17, ("site", 0, "name"): 18, ("site", 1): 20,
        ("site", 1, "name"): 21, ("site", 1, "parents"): 22, ("site", 1, "url"): 25, ("site", 1, "deep"): 26,
        ("site", 1, "deep", "more"): 27, ("site", 2): 28, ("site", 2, "network"): 29, ("site", 2, "network", "name"): 29,
    }  # fmt: skip
    assert lines["quoted key",] == 3
    assert lines["list",] == 10
    assert line_of(lines, ("site", 1, "nothing")) == 20
    assert line_of(lines, ("nowhere",)) == 1


def test_tables_inside_lists_have_lines_too(tmp_path: Path) -> None:
    text = 'site = [\n  { name = "a", url = "http://h/a" },\n  { name = "b", url = "ftp://h/b" }\n]\n'
    assert refused(tmp_path, text) == [
        "network.toml:3: site 'b' has the url 'ftp://h/b': only http and https are spoken"
    ]


def test_windows_line_ends_and_a_mark_of_byte_order_change_nothing(tmp_path: Path) -> None:
    assert load(tmp_path, b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()) == load(tmp_path, GOOD)
    wrong = GOOD.replace('["root"]', '["rot"]', 1).replace("\n", "\r\n")
    assert refused(tmp_path, wrong)[0].startswith("network.toml:14: ")


# -- writing ------------------------------------------------------------------------------------------------------------

names = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"], exclude_characters="/"), min_size=1,
    max_size=12,
).filter(lambda text: text == text.strip() and text not in (".", ".."))  # fmt: skip
added_terms = st.lists(st.sampled_from(["literature", "title:poems"]), max_size=2, unique=True)
allowed = st.none() | st.just(()) | st.just(("loopback", "10.0.0.0/8"))
some_settings = st.builds(
    Settings,
    max_terms=st.none() | st.integers(0, 10**6),
    max_clusters=st.none() | st.integers(1, 500),
    max_bytes=st.none() | st.integers(1, 2**40),
    child_bytes=st.none() | st.integers(1, 2**40),
    timeout=st.none() | st.floats(0.001, 3600),
    allow=allowed,
)


@st.composite
def networks(draw: Any) -> Network:
    chosen = draw(st.lists(names, min_size=1, max_size=12, unique=True))
    routers = chosen[: draw(st.integers(0, len(chosen)))]
    nodes = []
    for place, name in enumerate(chosen):
        leaf = name not in routers
        above = routers if leaf else routers[:place]
        parents = tuple(draw(st.lists(st.sampled_from(above), max_size=3, unique=True))) if above else ()
        collection = draw(st.none() | st.just(Path(f"leaves/{place} ä\"'.kin"))) if leaf else None
        nodes.append(
            Node(
                name, f"http://h.example:{8000 + place}/", leaf, collection, parents,
                "" if leaf else draw(st.sampled_from(["dns", "ä b"])),
                collection is not None if leaf else draw(st.booleans()),
                () if leaf else tuple(draw(added_terms)),
                Settings(allow=draw(allowed)) if leaf else draw(some_settings),
            )
        )  # fmt: skip
        if nodes[-1].here and draw(st.booleans()):
            nodes[-1] = replace(
                nodes[-1], url=f"https://h.example/{8000 + place}/", listen=f"http://127.0.0.1:{8000 + place}/"
            )
    return Network.of(draw(st.text(st.characters(codec="utf-8"))), draw(st.permutations(nodes)), draw(some_settings))


@given(networks())
@settings(deadline=None, max_examples=150)
def test_what_is_written_is_read_again(net: Network) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "network.toml"
        file.write_text(net.to_toml(), encoding="utf-8", newline="")
        again = Network.load(file)
    assert again == net
    assert again.to_toml() == net.to_toml()


@given(networks())
@settings(deadline=None, max_examples=100)
def test_levels_are_those_of_the_longest_way_down(net: Network) -> None:
    def height(name: str) -> int:
        children = net.children_of(name)
        return 1 + max((height(child.name) for child in children), default=0) if not net.by_name[name].leaf else 0

    assert all(net.level_of(node.name) == height(node.name) for node in net.nodes)
    order = [(node.leaf, bool(node.parents), node.hierarchy, -height(node.name), node.name) for node in net.nodes]
    assert order == sorted(order)


def test_a_leaf_with_a_collection_may_still_run_elsewhere(tmp_path: Path) -> None:
    net = load(tmp_path, GOOD)
    moved = replace(net, nodes=tuple(replace(n, here=False) if n.name == "www.a.edu" else n for n in net.nodes))
    assert load(tmp_path, moved.to_toml()) == moved


@given(networks())
@settings(deadline=None, max_examples=50)
def test_the_line_of_every_name_is_the_one_it_stands_on(net: Network) -> None:
    text = net.to_toml()
    lines, rows = key_lines(text), text.split("\n")
    content = tomllib.loads(text)
    for block in ("router", "site"):
        for place, node in enumerate(content.get(block, [])):
            assert tomllib.loads(rows[line_of(lines, (block, place, "name")) - 1]) == {"name": node["name"]}
            assert rows[lines[block, place] - 1] == f"[[{block}]]"


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_a_file_with_anything_put_into_it_is_read_or_refused_with_lines(data: st.DataObject) -> None:
    text = GOOD
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 30)))
        piece = data.draw(
            st.sampled_from(
                ["[[site]]", '"', "'", '"""', "'''", "[", "]", "{", "}", "=", "\n", "#", "a = 1\n", ".", "\\", "\r"]
            )
            | st.text(max_size=4)
        )
        text = text[:start] + piece + text[end:]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "network.toml"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            net = Network.load(file)
        except NetworkError as error:
            last = text.count("\n") + 1
            for line in str(error).split("\nnetwork.toml:"):
                number = line.removeprefix("network.toml:").partition(":")[0]
                assert 1 <= int(number) <= last
        else:
            file.write_text(net.to_toml(), encoding="utf-8", newline="")
            assert Network.load(file) == net


# -- the documentation --------------------------------------------------------------------------------------------------

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "network.md").read_text(encoding="utf-8")


def test_every_key_is_documented_where_it_belongs_and_the_examples_hold(tmp_path: Path) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|", DOCUMENT, re.MULTILINE))
    for block, keys in KEYS.items():
        for key in keys:
            assert block in rows[key] or rows[key] == "all", f"{key} of {block}"
    whole, *blocks = re.findall(r"^```toml\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    net = load(tmp_path, "\n".join([whole, *blocks]))
    assert {node.name: node.here for node in net.nodes} == {
        "root": True, "edu": True, "find": True, "intranet": True, "library": False, "partner": False,
        "www.example.edu": True,
    }  # fmt: skip
    assert (net.by_name["find"].url, net.by_name["find"].place) == (
        "https://find.example.org/",
        Place("127.0.0.1", 8800),
    )
