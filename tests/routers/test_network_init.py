"""`pagekin network init` and `show`: from archives to leaves and a file, also after a kill."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pagekin.cli.app import BAD_INPUT, USAGE, app, load_verbs
from pagekin.cli.network_init import NetworkPlan, init_network
from pagekin.engines import division
from pagekin.hypertext import Corpus, check_corpus
from pagekin.labels import check_stored_label, read_label
from pagekin.routers import Network, NetworkError
from pagekin.similarity import check_index
from pagekin.store import check_files, open_kin
from pagekin.text import TextIndex, check_text, parse_query
from tests.bags.webs import moved, read_records, record
from tests.demo_web import demo_pages

load_verbs()
ROCKS = "granite basalt quartz feldspar mica and other rocks of the old mountains".split()
BIRDS = "finch heron plover warbler swift and other birds of the wide rivers".split()


def text(words: list[str], number: int) -> str:
    return (
        f"<title>{words[number % 5]} {number}</title><p>{' '.join(words[number % 3 :])} <a href=/{number + 1}>next</a>"
    )


def pages() -> dict[str, str | bytes]:
    found: dict[str, str | bytes] = {}
    for host, words, count in (
        ("www.rocks.edu", ROCKS, 6), ("lab.rocks.edu", ROCKS, 4), ("rocks.edu", ROCKS, 3), ("www.birds.edu", BIRDS, 5),
        ("old.birds.edu", BIRDS, 1), ("new.birds.edu", BIRDS, 2), ("www.birds.com:8080", BIRDS, 3),
        ("xn--bcher-kva.example", BIRDS, 1), ("192.0.2.7", ROCKS, 3),
    ):  # fmt: skip
        found |= {f"http://{host}/{number}": text(words, number) for number in range(count)}
    return found


PAGES = pages()
SITES = {
    "www.rocks.edu": 6, "lab.rocks.edu": 4, "host rocks.edu": 3, "www.birds.edu": 5, "other hosts of birds.edu": 3,
    "www.birds.com:8080": 3, "other hosts": 1, "192.0.2.7": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("archive") / "web.warc"
    # Records of hosts in turn, so that no host's come together.
    urls = sorted(PAGES, key=lambda url: url[::-1])
    records = [record(url, PAGES[url]) for url in urls]
    records += [moved("http://gone.example/", "http://www.birds.edu/3"), moved("http://www.rocks.edu/old", "/4")]
    records += [
        record("ftp://ftp.rocks.edu/", "<p>no page"),
        record("http://www.rocks.edu/0", PAGES["http://www.rocks.edu/0"]),
    ]
    file.write_bytes(b"".join(records))
    return file


@pytest.fixture(scope="module")
def made(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "net"
    report = init_network([str(archive)], out, NetworkPlan(by=("dns", "clusters")))
    assert report.pages == SITES
    assert (report.kept, report.left_out) == (0, {})
    assert report.skipped["not http"] == 1
    return out


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["network", *map(str, arguments)])
    return result.exit_code, result.output


def corpora(net: Path) -> dict[str, Corpus]:
    made = Network.load(net)
    return {node.name: Corpus.open(str(made.collection_of(node))) for node in made.nodes if node.leaf}


def contents(corpus: Corpus) -> Iterator[tuple[str, tuple[str, list[str]]]]:
    """(address, (title, words)) of all pages."""
    for page in range(len(corpus)):
        words = [corpus.word(int(word)) for word in corpus.stream(page).words]
        yield corpus.page_url(page), (corpus.titles.text(page), words)


def test_every_page_is_in_the_leaf_of_its_host_as_one_collection_would_have_it(made: Path, archive: Path) -> None:
    leaves = corpora(made)
    found = dict(one for corpus in leaves.values() for one in contents(corpus))
    assert found == dict(contents(read_records([archive.read_bytes()])))
    assert {name: len(corpus) for name, corpus in leaves.items()} == SITES
    assert {corpus.page_url(page) for corpus in [leaves["other hosts of birds.edu"]] for page in range(3)} == {
        "http://old.birds.edu/0", "http://new.birds.edu/0", "http://new.birds.edu/1",
    }  # fmt: skip


def test_what_leads_to_a_page_is_known_where_the_page_is(made: Path) -> None:
    leaves = corpora(made)
    for name, old, new in (
        ("www.birds.edu", "http://gone.example/", "http://www.birds.edu/3"),
        ("www.rocks.edu", "http://www.rocks.edu/old", "http://www.rocks.edu/4"),
    ):
        corpus = leaves[name]
        assert corpus.pages_of(corpus.url_number(old)) == corpus.pages_of(corpus.url_number(new)) != []


def test_every_leaf_is_whole_and_can_be_searched(made: Path) -> None:
    for name, corpus in corpora(made).items():
        kin = corpus.kin
        checks = (check_corpus, check_index, check_stored_label, check_text)
        assert [*check_files(kin.path), *(one for check in checks for one in check(kin))] == []
        label = read_label(kin)
        assert label is not None
        assert label.num_docs == SITES[name]
        assert 1 <= len(label.clusters) <= max(1, SITES[name] // 3)
        assert TextIndex.open(corpus).search(parse_query("other"), 9).total == SITES[name]


def test_two_hierarchies_stand_above_the_same_leaves(made: Path) -> None:
    net = Network.load(made)
    assert net.warnings == ()
    assert {node.hierarchy for node in net.nodes if not node.leaf} == {"clusters", "dns"}
    assert {node.name for node in net.roots()} == {"root", "clusters"}
    assert net.leaves_below("root") == net.leaves_below("clusters")
    assert {node.name for node in net.children_of("edu")} == {"birds.edu", "rocks.edu"}
    homes = {node.name: node.parents[1] for node in net.nodes if node.leaf}
    assert homes["www.rocks.edu"] == homes["lab.rocks.edu"] != homes["www.birds.edu"]
    assert not (made / "work").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from pagekin.cli.network_init import NetworkPlan, init_network

def stop(stage, share):
    if stage == sys.argv[3] and share >= float(sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    init_network([sys.argv[1]], Path(sys.argv[2]), NetworkPlan(by=("dns", "clusters"), processes=int(sys.argv[5])), stop)
"""


def test_after_a_kill_the_same_command_goes_on_with_any_number_of_processes(
    made: Path, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "net"
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    arguments = [sys.executable, str(script), str(archive), str(out), "building", "0.4", "2"]
    assert subprocess.run(arguments, check=False).returncode == -signal.SIGKILL
    assert not (out / "network.toml").exists()
    monkeypatch.setattr(division, "read_unit", lambda _unit, _limits: pytest.fail("what was divided is read again"))
    report = init_network([str(archive)], out, NetworkPlan(by=("dns", "clusters")))
    assert 2 <= report.kept < 8
    assert report.pages == SITES
    assert (out / "network.toml").read_bytes() == (made / "network.toml").read_bytes()
    for one, two in zip(sorted(made.glob("leaves/*.kin")), sorted(out.glob("leaves/*.kin")), strict=True):
        assert open_kin(one).manifest["files"] == open_kin(two).manifest["files"]


class StoppedError(Exception):
    pass


@pytest.mark.parametrize(("stage", "kept"), [("counting", 8), ("dividing", 7), ("routers", 8)])
def test_whatever_is_stopped_goes_on(
    made: Path, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, kept: int
) -> None:
    monkeypatch.setattr(division, "BUFFER", 500)
    out = tmp_path / "net"
    shutil.copytree(made, out)
    (out / "network.toml").unlink()
    if kept < 8:
        shutil.rmtree(out / "leaves" / "www.rocks.edu.kin")

    def stop(name: str, share: float) -> None:
        if name == stage:
            raise StoppedError

    with pytest.raises(StoppedError):
        init_network([str(archive)], out, NetworkPlan(by=("dns", "clusters")), stop)
    assert not (out / "network.toml").exists()
    report = init_network([str(archive)], out, NetworkPlan(by=("dns", "clusters")))
    assert (report.kept, report.pages) == (kept, SITES)
    assert (out / "network.toml").read_bytes() == (made / "network.toml").read_bytes()
    for one, two in zip(sorted(made.glob("leaves/*.kin")), sorted(out.glob("leaves/*.kin")), strict=True):
        assert open_kin(one).manifest["files"] == open_kin(two).manifest["files"]


def test_only_leaves_that_changed_are_built_again(made: Path, archive: Path, tmp_path: Path) -> None:
    out = tmp_path / "net"
    shutil.copytree(made, out)
    again = init_network([str(archive)], out, NetworkPlan(by=("dns", "clusters"), replace=True))
    assert (again.kept, again.pages) == (8, SITES)
    fewer = init_network([str(archive)], out, NetworkPlan(min_pages=4, replace=True))
    assert fewer.kept == 3, "the leaves with four pages and more"
    assert sum(fewer.pages.values()) == len(PAGES)
    assert fewer.unused == ["192.0.2.7.kin", "other@birds.edu.kin", "rocks.edu.kin", "www.birds.com@8080.kin"]
    (out / "leaves" / "www.rocks.edu.kin" / "manifest.json").write_text("{")
    with pytest.raises(Exception, match="manifest"):
        init_network([str(archive)], out, NetworkPlan(min_pages=4, replace=True))
    shutil.rmtree(out / "leaves" / "www.rocks.edu.kin")
    mended = init_network([str(archive)], out, NetworkPlan(min_pages=4, replace=True))
    assert mended.kept == len(mended.pages) - 1
    os.utime(archive, (1, archive.stat().st_mtime + 1))
    other = init_network([str(archive)], out, NetworkPlan(min_pages=4, replace=True))
    assert other.kept == 0, "the archive may be another"


def test_a_leaf_without_a_word_is_left_out_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "web.warc").write_bytes(
        b"".join(
            [record(f"http://blank.example/{n}", "<title></title><p>") for n in range(3)]
            + [record(f"http://words.example/{n}", text(ROCKS, n)) for n in range(3)]
        )
    )
    out = tmp_path / "net"
    code, said = run("init", "--from-archive", tmp_path / "web.warc", "--out", out, "--processes", "1")
    assert code == 0, said
    assert "left out: blank.example: there is nothing to index" in said
    net = Network.load(out)
    assert [node.name for node in net.nodes] == ["root", "words.example"]
    assert not list(out.glob("leaves/blank*"))


def test_nothing_but_blank_pages_is_an_error_and_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "web.warc").write_bytes(record("http://blank.example/", "<title></title><p>"))
    code, said = run("init", "--from-archive", tmp_path / "web.warc", "--out", tmp_path / "net")
    assert (code, "no leaf could be built. other hosts: there is nothing to index" in said) == (BAD_INPUT, True), said
    assert not (tmp_path / "net" / "network.toml").exists()


def test_a_directory_groups_sites_by_the_class_of_most_of_their_pages(archive: Path, tmp_path: Path) -> None:
    listing = tmp_path / "dir.tsv"
    rows = [(url, "/earth/stones" if "rocks" in url else "/life/birds") for url in PAGES if "192" not in url]
    rows += [("http://www.rocks.edu/nowhere", "/life/birds"), ("http://lab.rocks.edu/nowhere", "/life/birds")]
    listing.write_text("".join(f"{url}\t{path}\n" for url, path in rows))
    out = tmp_path / "net"
    by = ("--by", "directory", "--directory", listing)
    code, said = run("init", "--from-archive", archive, "-o", out, "--processes", "1", *by)
    assert code == 0, said
    assert f"the directory lists {len(PAGES) - 3} of the pages" in said
    net = Network.load(out)
    assert {node.name: node.parents for node in net.nodes if node.leaf}["www.rocks.edu"] == ("earth > stones",)
    assert {node.name for node in net.children_of("directory")} == {"earth > stones", "life > birds", "192.0.2.7"}
    listing.write_text("http://other.example/\t/a/b\n")
    code, said = run(
        "init", "--from-archive", archive, "-o", out, "--by", "directory", "--directory", listing, "--replace"
    )
    assert (code, "lists none of the pages" in said) == (BAD_INPUT, True)
    assert Network.load(out) == net, "the file stays as it was"


def test_a_folder_and_the_demo_web_make_networks_too(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for page in demo_pages()[:40]:
        host, _, path = page.url.removeprefix("http://").partition("/")
        (site / f"{host}-{path.replace('/', '-') or 'index.html'}").write_bytes(page.html)
    (site / "bare.html").write_text("words without a tag, yet a page by its name")
    code, said = run(
        "init", "--from-archive", site, "--base-url", "http://docs.example/", "-o", tmp_path / "net", "--json"
    )
    assert code == 0, said
    summary = json.loads(said)
    whole = sum(1 for _ in site.iterdir())
    assert summary["sites"] == [{"name": "docs.example", "pages": whole}]
    assert summary["hierarchies"] == [{"name": "dns", "root": "root", "url": "http://127.0.0.1:8700/", "levels": 1}]


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--by", "colour"], "--by is one of dns, directory, clusters; not 'colour'", USAGE),
        (["--by", "dns", "--by", "dns"], "names each hierarchy once", USAGE),
        (["--by", "directory"], "--directory FILE go together", USAGE),
        (["--directory", "x.tsv"], "--directory FILE go together", USAGE),
        (["--by", "directory", "--directory", "none.tsv"], "none.tsv cannot be read", BAD_INPUT),
        (["--from-archive", "none.warc"], "none.warc does not exist", BAD_INPUT),
        (["--min-pages", "0"], "0 is not in the range", USAGE),
        (["--port", "65536"], "65536 is not in the range", USAGE),
        (["--port-each", "--port", "65530"], "have no room from port 65530 on", BAD_INPUT),
        (["--host", "a b"], "is not a host", USAGE),
        (["--host", "h/x"], "is not a host", USAGE),
        (["--host", ""], "is not a host", USAGE),
        (["--limit", "nothing=1"], "--set-limit", USAGE),
        (["--out", "FILE"], "is a file; name a folder", BAD_INPUT),
        (["--out", "FOREIGN"], "holds other files, such as letter.txt", BAD_INPUT),
        (["--out", "MADE"], "exists already. Name another folder, or give --replace", BAD_INPUT),
    ],
)
def test_mistakes_are_told(
    made: Path, archive: Path, tmp_path: Path, arguments: list[str], said: str, code: int
) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "letter.txt").write_text("dear friend")
    places = {"FILE": archive, "FOREIGN": tmp_path / "foreign", "MADE": made}
    found, output = run(
        "init", "--from-archive", archive, "--out", tmp_path / "net", "--processes", "1",
        *(places.get(one, one) for one in arguments),
    )  # fmt: skip
    assert (found, said in re.sub(r"\s+", " ", output)) == (code, True), output
    assert (tmp_path / "foreign" / "letter.txt").read_text() == "dear friend"


def test_two_at_once_are_one_too_many(archive: Path, tmp_path: Path) -> None:
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(NetworkError, match="is being written by another process"):
            init_network([str(archive)], tmp_path, NetworkPlan())


def test_an_archive_without_pages_says_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "web.warc").write_bytes(record("ftp://x.example/", "<p>words"))
    code, said = run("init", "--from-archive", tmp_path / "web.warc", "--out", tmp_path / "net")
    assert (code, "no page was found" in said, "1 not http" in said) == (BAD_INPUT, True, True), said


# -- show ---------------------------------------------------------------------------------------------------------------


def test_the_tree_is_shown_with_levels_and_pages(made: Path) -> None:
    code, said = run("show", made)
    assert code == 0
    lines = said.splitlines()
    assert lines[0].startswith(
        f"net: 8 sites, {sum(not n.leaf for n in Network.load(made).nodes)} routers, 28 pages here"
    )
    start = lines.index("dns")
    shown = [line.partition("  http")[0] for line in lines[start + 1 :]]
    assert shown == [
        "root  (level 3, 8 sites, 28 pages)",
        "  edu  (level 2, 5 sites, 21 pages)",
        "    birds.edu  (level 1, 2 sites, 8 pages)",
        "      other hosts of birds.edu  (3 pages)",
        "      www.birds.edu  (5 pages)",
        "    rocks.edu  (level 1, 3 sites, 13 pages)",
        "      host rocks.edu  (3 pages)",
        "      lab.rocks.edu  (4 pages)",
        "      www.rocks.edu  (6 pages)",
        "  192.0.2.7  (3 pages)",
        "  other hosts  (1 page)",
        "  www.birds.com:8080  (3 pages)",
    ]
    code, said = run("show", made / "network.toml", "--no-sites")
    assert "www.rocks.edu" not in said
    assert "    rocks.edu" in said


def test_the_tree_for_programs_tells_the_same(made: Path) -> None:
    code, said = run("show", made, "--json")
    assert code == 0
    nodes: dict[str, Any] = {node["name"]: node for node in json.loads(said)["nodes"]}
    assert {name: node["pages"] for name, node in nodes.items() if node["kind"] == "site"} == SITES
    assert (nodes["edu"]["pages"], nodes["edu"]["sites"], nodes["edu"]["level"]) == (21, 5, 2)


def test_a_site_added_by_hand_and_one_that_is_lost_are_shown(made: Path, tmp_path: Path) -> None:
    out = tmp_path / "net"
    shutil.copytree(made, out)
    shutil.rmtree(out / "leaves" / "www.rocks.edu.kin")
    with (out / "network.toml").open("a") as file:
        file.write('\n[[site]]\nname = "theirs"\nurl = "https://kin.example.org/"\nparents = ["edu"]\n')
    code, said = run("show", out)
    assert code == 0
    assert "    theirs  (pages not known, runs elsewhere)  https://kin.example.org/" in said
    assert "the collection leaves/www.rocks.edu.kin does not exist" in said
    with (out / "network.toml").open("a") as file:
        file.write('parent = ["edu"]\n')
    code, said = run("show", out)
    assert code == BAD_INPUT
    assert re.search(r"network.toml:\d+: \[site\] has no key 'parent'; did you mean 'parents'\?", said)
