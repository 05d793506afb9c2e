"""Exports: every page has its file, told as the index tells it, inside the folder."""

import json
import re
import signal
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from turbohtml import parse

from pagekin.hypertext import canonical_url
from pagekin.similarity import RelatedIndex
from pagekin.web import ExportError, ExportPlan, export_site
from pagekin.web.export import MARKER, name_of, names_of
from pagekin.web.rendering import short
from tests.bags.webs import moved, record
from tests.command import pagekin
from tests.routers.webs import build_leaf, host_records

from .browser import Visitor, barriers, static_site

DOCUMENTATION = Path(__file__).parents[2] / "docs/web.md"
SAFE = re.compile(r"[a-z0-9_~-][a-z0-9_.~-]*")
ADDRESSES = (
    "http://a.example/", "http://a.example/index", "http://a.example/Index", "http://a.example/INDEX",
    "http://a.example/a", "http://a.example/a/", "http://a.example/a/b", "http://a.example/a.json/b",
    "http://a.example/a.html/b", "http://a.example/a//b", "http://a.example/.a", "http://a.example/a/.b/c",
    "http://a.example/a?b", "http://a.example/a?B", "http://a.example/a?b/c", "http://a.example/a~3fb",
    "http://a.example/a%3Fb", "http://a.example:8080/a", "http://[::1]/a", "http://a.example/%2e%2e%2f%2e%2e%2fetc",
    "http://a.example/..%5c..%5cwindows", "http://a.example/~", "http://a.example/~~0011", "http://a.example/con",
    "http://a.example/%00", "http://a.example/%F0%9F%8C%8B", "http://a.example/?", "http://a.example/a.",
    f"http://a.example/{'x' * 300}", f"http://a.example/{'x' * 301}", f"http://a.example/{'y/' * 300}",
    f"http://{'h' * 60}.{'h' * 60}.{'h' * 60}.example/", "http://a.example/aux.html", "http://a.example/a;b=c,d@e!f$g'(h)*i+j",
)  # fmt: skip


@pytest.fixture(scope="module")
def demo_index(demo_collection: Path) -> RelatedIndex:
    return RelatedIndex.open(demo_collection)


@pytest.fixture(scope="module")
def exported(demo_index: RelatedIndex, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("export") / "out"
    export_site(demo_index, ExportPlan(out))
    return out


@pytest.fixture(scope="module")
def odd_index(tmp_path_factory: pytest.TempPathFactory) -> RelatedIndex:
    """Pages with addresses that are hard to make files of, a page without words, one under two schemes, and an alias."""
    words = "volcano lava crater eruption ash mountain summit"
    records = [
        record(url, f"<title>Page {number} &lt;b&gt;</title><p>{words} own{number % 4}")
        for number, url in enumerate((*ADDRESSES, "https://a.example/a"))
    ]
    records += [
        record("http://a.example/empty", "<p>&nbsp;."),
        moved("http://a.example/old?x=1", "http://a.example/a/b"),
    ]
    return RelatedIndex.open(build_leaf(tmp_path_factory.mktemp("odd") / "odd.kin", records))


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def all_files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def related_on(out: Path, name: str) -> list[tuple[str, str]]:
    """(address, title) of the related pages that the file of a page tells, in their order."""
    tree = parse((out / "related" / f"{name}.html").read_text(encoding="utf-8"))
    return [(link.attrs["href"], link.text) for link in tree.select("main ol > li > a")]


def test_every_page_has_its_file_and_it_tells_what_the_index_tells(exported: Path, demo_index: RelatedIndex) -> None:
    corpus = demo_index.corpus
    names = names_of({corpus.page_url(page) for page in range(len(corpus))})
    for url, name in list(names.items())[::7]:
        answer = demo_index.answer(demo_index.query_of([url]))
        assert related_on(exported, name) == [(one.url, short(one.title, 200)) for one in answer.results]
    assert all_files(exported) == {
        MARKER, "index.html", "index-2.html", "style.css", *(f"related/{name}.html" for name in names.values())
    }  # fmt: skip


@pytest.fixture(scope="module")
def few_hosts(tmp_path_factory: pytest.TempPathFactory) -> RelatedIndex:
    """Some pages of each host of the demo web."""
    records = [one for pages in host_records(6).values() for one in pages]
    return RelatedIndex.open(build_leaf(tmp_path_factory.mktemp("few") / "few.kin", records))


@pytest.mark.parametrize("options", [{"other_sites": True}, {"captured": True, "min_similarity": 0.1}])
def test_what_may_be_an_answer_can_be_chosen(few_hosts: RelatedIndex, tmp_path: Path, options: dict[str, Any]) -> None:
    export_site(few_hosts, ExportPlan(tmp_path / "out", k=3, **options))
    for url in map(few_hosts.corpus.page_url, range(0, len(few_hosts.corpus), 4)):
        told = related_on(tmp_path / "out", name_of(url))
        least = options.get("min_similarity")
        sites = "other" if options.get("other_sites") else "all"
        expected = few_hosts.related(url, 3, sites=sites, captured_only="captured" in options, min_similarity=least)
        assert [address for address, _title in told] == [one.url for one in expected]


def test_names_are_as_documented() -> None:
    assert name_of("http://docs.example/guide/start.html") == "docs.example/guide/start.html"
    assert name_of("https://docs.example/") == "docs.example/~"
    assert name_of("http://docs.example:8080/a.b/C.html?x=1/2") == "docs.example~3a8080/a~2eb/~43.html~3fx~3d1~2f2"
    assert re.fullmatch(r"~~[0-9a-f]{16}", name_of(f"http://docs.example/{'x' * 200}"))
    documented = re.findall(
        r"^\| `(https?://[^`]+)` \| `related/([^`]+)\.html` \|$", DOCUMENTATION.read_text(), re.MULTILINE
    )
    assert len(documented) >= 3
    assert [(url, name_of(url)) for url, _name in documented] == documented


URL = st.builds(
    lambda scheme, host, path: canonical_url(f"{scheme}://{host}/{path}"),
    st.sampled_from(("http", "https")), st.sampled_from(("a.example", "A.example:81", "[::1]", "u:p@a.example")),
    st.text(alphabet=st.characters(codec="utf-8") | st.sampled_from("/.?~%AaBb#\\:"), max_size=60),
)  # fmt: skip


@given(st.lists(URL.filter(bool), max_size=8))
@example(list(ADDRESSES))
@settings(max_examples=200, deadline=None)
def test_no_two_pages_share_a_file_and_none_leaves_the_folder(urls: list[str]) -> None:
    names = names_of(set(urls))
    assert len({name.casefold() for name in names.values()}) == len(set(urls))
    folders = {name.rpartition("/")[0] for name in names.values()}
    for name in names.values():
        assert all(SAFE.fullmatch(part) and len(part) <= 250 for part in name.split("/"))
        assert len(name) < 500
        assert f"{name}.html" not in folders
        assert not any(folder.startswith(f"{name}.html/") for folder in folders)


def test_odd_addresses_stay_inside_and_each_has_its_page(odd_index: RelatedIndex, tmp_path: Path) -> None:
    done = export_site(odd_index, ExportPlan(tmp_path / "here" / "out"))
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["out"]
    corpus = odd_index.corpus
    urls = {corpus.page_url(page) for page in range(len(corpus))}
    names = names_of(urls)
    assert done.pages == len(urls) == len({name.casefold() for name in names.values()})
    out = tmp_path / "here/out"
    for url, name in names.items():
        tree = parse((out / "related" / f"{name}.html").read_text(encoding="utf-8"))
        assert tree.select("main > p > a")[0].attrs["href"] == url
    assert names["https://a.example/a"] == "a.example/a"
    assert names["http://a.example/a"] == "~2/a.example/a"
    assert related_on(out, "a.example/old~3fx~3d1") == related_on(out, "a.example/a/b") != []
    if "http://a.example/empty" in urls:
        assert related_on(out, "a.example/empty") == []


class Links(HTMLParser):
    """What an HTML page links to, and what it must not have."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.bad: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "iframe", "img", "form", "b", "svg"):
            self.bad.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.bad.append(f"{name}={value}")
            if name == "href":
                self.links.append(value or "")


def test_pages_link_to_each_other_and_hold_nothing_that_runs(
    hostile_collection: Path, odd_index: RelatedIndex, tmp_path: Path
) -> None:
    for number, index in enumerate((RelatedIndex.open(hostile_collection), odd_index)):
        out = tmp_path / str(number)
        export_site(index, ExportPlan(out))
        pages = list(out.rglob("*.html"))
        assert len(pages) > 20
        for page in pages:
            text = page.read_text(encoding="utf-8")
            found = Links(text)
            assert found.bad == []
            assert "script-src" not in text
            assert "default-src 'none'" in text
            for link in found.links:
                parts = urlsplit(link)
                assert parts.scheme in ("", "http", "https")
                if not parts.scheme:
                    target = Path(urlsplit(urljoin(f"file://{page}", link)).path)
                    assert target.is_relative_to(out)
                    assert target.is_file()


def test_only_earlier_exports_and_empty_folders_are_replaced(odd_index: RelatedIndex, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    export_site(odd_index, ExportPlan(out))
    before = all_files(out)
    (out / "related/a.example/~.html").write_text("changed")
    export_site(odd_index, ExportPlan(out))
    assert all_files(out) == before
    assert (out / "related/a.example/~.html").read_text() != "changed"

    (out / "notes.txt").write_text("mine")
    with pytest.raises(ExportError, match=r"notes\.txt"):
        export_site(odd_index, ExportPlan(out))
    assert (out / "notes.txt").read_text() == "mine"
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "index.html").write_text("mine")
    (tmp_path / "link").symlink_to(foreign)
    (tmp_path / "file").write_text("mine")
    for place, words in (("foreign", "not from an export"), ("link", "symbolic link"), ("file", "not a folder")):
        with pytest.raises(ExportError, match=words):
            export_site(odd_index, ExportPlan(tmp_path / place))
    assert all_files(foreign) == {"index.html"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "foreign", "link", "out"]


def test_an_export_that_fails_leaves_the_earlier_one(odd_index: RelatedIndex, tmp_path: Path) -> None:
    out = tmp_path / "out"
    export_site(odd_index, ExportPlan(out))
    before = {name: (out / name).read_bytes() for name in all_files(out)}

    def full(_share: float) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        export_site(odd_index, ExportPlan(out, k=1), full)
    assert {name: (out / name).read_bytes() for name in all_files(out)} == before
    assert names_in(tmp_path) == ["out"]


def test_a_killed_export_leaves_nothing_after_the_next(
    demo_collection: Path, odd_index: RelatedIndex, tmp_path: Path
) -> None:
    code = (
        "import sys, time; from pathlib import Path; from pagekin.similarity import RelatedIndex; "
        "from pagekin.web.export import *; plan = ExportPlan(Path(sys.argv[2]), captured=True); "
        "export_site(RelatedIndex.open(sys.argv[1]), plan, lambda share: (print(share, flush=True), time.sleep(9)))"
    )
    command = [sys.executable, "-c", code, str(demo_collection), str(tmp_path / "out")]
    killed = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert killed.stdout is not None
    assert killed.stdout.readline()
    killed.send_signal(signal.SIGKILL)
    killed.wait(20)
    killed.stdout.close()
    (left,) = names_in(tmp_path)
    assert left.startswith(".out.unfinished-")
    export_site(odd_index, ExportPlan(tmp_path / "out"))
    assert names_in(tmp_path) == ["out"]


def test_the_command_says_what_it_wrote_and_what_is_wrong(demo_collection: Path, tmp_path: Path) -> None:
    done = pagekin("export", demo_collection, "--html", "--out", "out", "-k", "2", "--json", cwd=tmp_path)
    told = json.loads(done.stdout)
    assert (told["pages"], told["related"], told["out"]) == (968, 2 * 968, "out")
    files = all_files(tmp_path / "out")
    assert (told["files"], told["bytes"]) == (
        len(files),
        sum((tmp_path / "out" / name).stat().st_size for name in files),
    )
    said = pagekin("export", demo_collection, "--html", "--out", "out", "-k", "1", cwd=tmp_path).stdout
    assert "out/index.html" in said
    for arguments, code, words in (
        ([demo_collection, "--out", "x"], 2, "pagekin site"),
        ([demo_collection, "--html", "--out", "."], 3, "is the current folder"),
        ([tmp_path / "none.kin", "--html", "--out", "x"], 3, "none.kin"),
        ([demo_collection, "--html", "--out", "x", "-k", "0"], 2, "-k"),
        ([demo_collection, "--html", "--out", "out/index.html/x"], 3, "cannot be written"),
    ):
        done = pagekin("export", *arguments, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert words in done.stderr
        assert "Traceback" not in done.stderr
        assert names_in(tmp_path) == ["out"]


def test_other_sites_of_a_single_site_are_refused(tmp_path: Path) -> None:
    records = [record(f"http://one.example/{number}", f"<p>volcano lava ash own{number}") for number in range(9)]
    collection = build_leaf(tmp_path / "one.kin", records)
    done = pagekin("export", collection, "--html", "--other-sites", "--out", tmp_path / "out")
    assert done.returncode == 3
    assert "one host only" in done.stderr
    assert names_in(tmp_path) == ["one.kin", "one.warc"]


# -- in a browser -----------------------------------------------------------------------------------------------------------


def test_pages_are_for_everyone(visit: Visitor, exported: Path) -> None:
    with static_site(exported) as (site, asked):
        page = visit(site, "index.html", dark=True)
        assert barriers(page) == []
        page.click("main li a >> nth=3")
        assert page.inner_text("h2") == "Related pages"
        assert barriers(page) == []
        assert {status for path, status in asked if "favicon" not in path} <= {200, 304}
    visit.problems[:] = [one for one in visit.problems if "404" not in one]
