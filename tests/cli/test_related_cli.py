"""From sources to related pages by the command alone: answers, files, mistakes, and pages that mean harm."""

import ctypes
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest

from pagekin.bags import PRESETS
from pagekin.similarity import INDEX_ARRAYS
from pagekin.sources import Limits
from pagekin.store import open_kin
from tests.bags.webs import moved, record
from tests.command import pagekin

CARBON = "http://elements.example/carbon.html"
MAUNA_KEA = "http://mountains.example/mauna-kea.html"
PAGE = b"<title>Carbon</title><p>Carbon atoms make diamond, graphite and the charcoal of every fire."
HOSTILE = "\x1b[31mRed\x1b[0m \x1b]0;owned\x07 \x9b5m\x08 \u202edeb \x7f whale"


def made(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert done.returncode == 0, done.stderr
    return done


def answer(*arguments: str | Path, **options: object) -> dict[str, Any]:
    """What `pagekin related ... --json` prints."""
    told: dict[str, Any] = json.loads(made(pagekin("related", *arguments, "--json", **options)).stdout)
    return told


def urls(told: dict[str, Any]) -> list[str]:
    return [result["url"] for result in told["results"]]


def hosts(told: dict[str, Any]) -> set[str | None]:
    return {urlsplit(url).hostname for url in urls(told)}


def refused(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    """Check that the command said on one occasion what is wrong, and nothing else."""
    said = " ".join(done.stderr.split())
    assert done.returncode == code, said
    assert [word for word in words if word not in said] == [], said
    assert "Traceback" not in said
    assert "internal error" not in said
    assert done.stdout == ""


def without_privileges() -> None:
    """Take from the command what lets root read and write everywhere; other users never had it."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def files_of_at_most(size: int) -> Callable[[], None]:
    """Let no file of the command grow further: a disk that is full, as far as the command can tell."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.fixture(scope="session")
def building(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The demo web, indexed, and what the command told about it."""
    out = tmp_path_factory.mktemp("demo") / "demo.kin"
    return out, json.loads(made(pagekin("build", "demo", "--out", out, "--json")).stdout)


@pytest.fixture(scope="session")
def demo(building: tuple[Path, dict[str, Any]]) -> Path:
    return building[0]


@pytest.fixture
def mine(demo: Path, tmp_path: Path) -> Path:
    """The demo web, for one test to change."""
    return Path(shutil.copytree(demo, tmp_path / "mine.kin"))


@pytest.fixture(scope="session")
def sea(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few pages about the sea: a redirect, a page nobody captured, one without words, one that means harm."""
    folder = tmp_path_factory.mktemp("sea")
    whales = "<p>Whales sing. Humpback whales breach near Iceland, and blue whales dive for krill below the ice."
    web = [
        record("http://sea.example/whales", f"<title>Whales</title>{whales} <a href=seals>Seals</a> hunt there too."),
        record("http://mirror.example/whales", f"<title>Whales</title>{whales} <a href=seals>Seals</a> hunt there too."),
        record("http://sea.example/seals", "<title>Seals</title><p>Seals dive for fish below the ice. The big-toothed "
               "<a href=/walrus>walrus of Iceland</a> digs clams. <a href=/old>Whales</a> eat krill."),
        record("http://sea.example/silent", "<p>... 1 2 3 ..."),
        record("http://evil.example/", f"<title>{HOSTILE}</title><p>{HOSTILE} krill <a href=/x>{HOSTILE}</a>"),
        record("http://endless.example/", f"<title>{'Endless fish ' * 3_000}</title><p>Seals eat fish."),
        moved("http://sea.example/old", "http://sea.example/whales"),
    ]  # fmt: skip
    (folder / "sea.warc").write_bytes(b"".join(web))
    made(pagekin("build", folder / "sea.warc", "--out", folder / "sea.kin", "--workers", "1", "--parser", "strict"))
    return folder / "sea.kin"


# -- building and indexing -----------------------------------------------------------------------------------------------


def test_build_tells_programs_what_it_read_and_indexed(building: tuple[Path, dict[str, Any]]) -> None:
    out, told = building
    assert told["pages"] == told["index"]["bags"] == 968
    assert told["index"]["strategy"]["name"] == "default"
    assert {"reading", "windows", "signing", "saving"} <= set(told["seconds"])
    assert told["index"] == open_kin(out).facts["index"]
    about = json.loads(pagekin("info", out, "--json").stdout)
    assert about["index"] == told["index"]
    arrays = {name: size for name, size in open_kin(out).bytes_on_disk.items() if name.startswith(INDEX_ARRAYS)}
    assert about["bytes"]["index"] == sum(arrays.values())


def test_a_shown_strategy_is_one_that_build_accepts(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<title>Whales</title><p>Whales sing. <a href=ice.html>Ice</a> melts.")
    (site / "ice.html").write_text("<title>Ice</title><p>Whales dive below the ice.")
    settings = ["--set", "window.size=8", "--set", "anchors.within_site=no", "--set", "name=mine"]
    shown = made(pagekin("index", "nowhere.kin", "--preset", "haveliwala2002", *settings, "--show")).stdout
    strategy = tomllib.loads(shown)
    assert strategy["window"]["size"] == 8
    assert strategy["signature"]["maker"] == "paper"
    (tmp_path / "mine.toml").write_text(shown)
    done = made(pagekin("build", site, "--out", tmp_path / "s.kin", "--strategy", tmp_path / "mine.toml",
                        "--set", "signature.m=16", "--parser", "strict"))  # fmt: skip
    assert "indexed 2 addresses by 'mine'" in done.stdout
    assert "16 values per signature (paper)" in done.stdout
    strategy["signature"]["m"] = 16
    assert open_kin(tmp_path / "s.kin").facts["index"]["strategy"] == strategy


def test_a_read_collection_is_indexed_without_its_sources_and_anew_by_another_strategy(tmp_path: Path) -> None:
    archive, kin = tmp_path / "a.warc", tmp_path / "a.kin"
    archive.write_bytes(
        record("http://a.example/whales", "<title>Whales</title>Whales eat krill. <a href=seals>Seals</a> eat fish.")
        + record("http://a.example/seals", "<title>Seals</title>Seals fear whales.")
    )
    made(pagekin("read", archive, "--out", kin, "--parser", "strict"))
    archive.unlink()
    refused(pagekin("related", kin, "http://a.example/whales"), 3, "not indexed", f"pagekin index {kin}")
    assert f"pagekin index {kin}" in made(pagekin("info", kin)).stdout
    told = json.loads(made(pagekin("index", kin, "--set", "links.scale=1", "--json")).stdout)
    assert told["bags"] == 2
    assert told["strategy"]["links"]["scale"] == 1
    assert urls(answer(kin, "http://a.example/whales")) == ["http://a.example/seals"]
    again = made(pagekin("index", kin, "--preset", "haveliwala2002")).stdout
    assert "indexed 2 addresses by 'haveliwala2002'" in again
    assert "replaces an index with other settings, 'default'" in again
    assert answer(kin, "http://a.example/whales")["query"]["strategy"] == "haveliwala2002"
    assert "'haveliwala2002'" in made(pagekin("info", kin)).stdout


def test_links_of_pages_that_do_not_cite_are_left_out(mine: Path) -> None:
    bag = json.loads(made(pagekin("bag", mine, CARBON, "--json")).stdout)
    done = made(pagekin("index", mine, "--not-citing", "http://links.example/", "--not-citing", "http://elements.ex"))
    assert re.search(r"^pages whose links were left out: \d\d+$", done.stdout, re.MULTILINE)
    assert "replaces an index with other settings" in done.stdout
    fewer = json.loads(made(pagekin("bag", mine, CARBON, "--json")).stdout)
    assert 0 < fewer["inlinks"] < bag["inlinks"]
    before = open_kin(mine).manifest
    refused(pagekin("index", mine, "--not-citing", "http://nobody.example/"), 3, "begins with http://nobody.example/")
    refused(pagekin("index", mine, "--not-citing", ""), 2, "--not-citing")
    assert open_kin(mine).manifest == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--preset", "nonsense"], ["no preset 'nonsense'", *PRESETS]),
        (["--set", "window.width=3"], ["no setting 'window.width'", "window.size", "signature.min_inlinks"]),
        (["--set", "window.kind=round"], ["window.kind", "basic, syntactic, topical", "'round'"]),
        (["--set", "window.size=1e99"], ["window.size", "0 to 1,000"]),
        (["--set", "signature.m=nan"], ["signature.m", "8 to 4,096"]),
        (["--set", "anchors.within_site=perhaps"], ["true, false"]),
        (["--set", "window.size"], ["NAME=VALUE"]),
        (["--set", "metric=cosine"], ["metric = 'jaccard'", "cosine"]),
        (["--preset", "default", "--strategy", "good.toml"], ["a preset or a strategy file, not both"]),
        (["--strategy", "broken.toml"], ["broken.toml is no TOML file", "line 2"]),
        (["--strategy", "binary.toml"], ["binary.toml is no TOML file"]),
        (["--strategy", "missing.toml"], ["missing.toml cannot be read"]),
        (["--strategy", "."], [". cannot be read"]),
        (
            "--set content.scale=0 --set title.scale=0 --set anchors.scale=0 --set outlinks.scale=0".split(),
            ["leaves everything out"],
        ),
        (["--workers", "-1"], ["--workers"]),
    ],
)
def test_a_wrong_strategy_is_wrong_usage_and_says_what_is_right(
    arguments: list[str], words: list[str], tmp_path: Path
) -> None:
    (tmp_path / "good.toml").write_text("[window]\nsize = 3\n")
    (tmp_path / "broken.toml").write_text("name = 'x'\n[window\n")
    (tmp_path / "binary.toml").write_bytes(random.Random(1).randbytes(2_000))
    refused(pagekin("index", "a.kin", *arguments, cwd=tmp_path), 2, *words)


def test_a_wrong_strategy_is_found_before_anything_is_read(tmp_path: Path) -> None:
    done = pagekin("build", "missing.warc", "--out", "a.kin", "--set", "window.kind=round", cwd=tmp_path)
    refused(done, 2, "basic, syntactic, topical")
    assert not (tmp_path / "a.kin").exists()


def test_a_collection_without_pages_has_nothing_to_index(mine: Path, tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(moved("http://a.example/", "http://b.example/"))
    done = pagekin("build", tmp_path / "a.warc", "--out", mine, "--replace", "--parser", "strict")
    refused(done, 3, "nothing to index", "1 redirect", "as it was")
    assert answer(mine, CARBON)["results"]
    made(pagekin("read", tmp_path / "a.warc", "--out", tmp_path / "a.kin", "--parser", "strict"))
    refused(pagekin("index", tmp_path / "a.kin"), 3, "nothing to index", "1 redirect")


# -- asking --------------------------------------------------------------------------------------------------------------


def test_related_shows_titles_and_addresses_the_best_first(demo: Path) -> None:
    lines = made(pagekin("related", demo, CARBON)).stdout.splitlines()
    assert lines[:3] == ["Carbon - The Element Book", CARBON, ""]
    similarities = [float(line[:5]) for line in lines[3:] if not line.startswith(" ")]
    assert len(similarities) == 10
    assert similarities == sorted(similarities, reverse=True)
    assert "       http://elements.example/print/carbon.html" in lines


def test_an_answer_for_programs_has_the_query_and_results(demo: Path) -> None:
    told = answer(demo, CARBON, "-k", "4")
    assert told["query"]["urls"] == [CARBON]
    assert told["query"]["titles"] == ["Carbon - The Element Book"]
    assert told["query"]["method"] == "re-ranked"
    assert len(told["results"]) == 4
    for result in told["results"]:
        assert set(result) == {"url", "title", "similarity", "error", "captured", "copies"}
        assert 0 < result["similarity"] < 1
        assert result["error"] == 0
        assert result["url"] != CARBON


def test_reasons_are_terms_with_their_share_and_citations(demo: Path) -> None:
    told = answer(demo, CARBON, "--explain", "-k", "3")
    for result in told["results"]:
        assert result["terms"]
        assert {"content", "anchors", "title", "outlinks"} >= {
            place for term in result["terms"] for place in term["from"]
        }
        shares = [term["share"] for term in result["terms"]]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1.00001
        assert sum(term["contribution"] for term in result["terms"]) <= result["similarity"] + 1e-4
    assert "carbon" in {term["term"] for term in told["results"][0]["terms"]}
    cited = [citation for result in told["results"] for citation in result["citations"]]
    assert {"source", "text", "left", "right", "cites_both"} == set(cited[0])
    assert any(citation["cites_both"] for citation in cited)
    shown = made(pagekin("related", demo, CARBON, "--explain", "-k", "3")).stdout
    assert "shares: carbon " in shown
    assert f"cited by {cited[0]['source']}" in shown


def test_several_pages_are_asked_about_together(demo: Path) -> None:
    pages = [CARBON, "http://elements.example/silicon.html"]
    told = answer(demo, *pages, "-k", "30")
    assert told["query"]["urls"] == pages
    assert not set(pages) & set(urls(told))
    alone = [set(urls(answer(demo, page, "-k", "30"))) for page in pages]
    assert set(urls(told)) & alone[0]
    assert set(urls(told)) & alone[1]
    assert answer(demo, CARBON, CARBON)["results"] == answer(demo, CARBON)["results"]


def test_any_spelling_of_an_address_is_understood(demo: Path) -> None:
    assert answer(demo, "HTTP://Elements.Example:80/x/../carbon.html#top") == answer(demo, CARBON)


def test_html_from_a_file_or_standard_input_is_asked_about(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(PAGE)
    told = answer(demo, "--html", tmp_path / "page.html", "--explain")
    assert told["query"]["urls"] == []
    assert told["query"]["html"] == str(tmp_path / "page.html")
    assert {CARBON, "http://elements.example/print/carbon.html"} & set(urls(told))
    assert {place for result in told["results"] for term in result["terms"] for place in term["query_from"]} == {
        "content",
        "title",
    }
    piped = answer(demo, "--html", "-", "--explain", input=PAGE.decode())
    assert piped["results"] == told["results"]
    assert str(tmp_path / "page.html") in made(pagekin("related", demo, "--html", tmp_path / "page.html")).stdout


def test_the_relative_links_of_html_count_where_its_address_is_told(tmp_path: Path) -> None:
    krill = "http://sea.example/krill"
    web = {
        "http://sea.example/whales": "Whales dive and eat <a href=krill>them</a>",
        "http://ice.example/": f"Penguins swim and eat <a href={krill}>them</a>",
        "http://sea.example/boats": "Boats float, whales seldom",
    }
    (tmp_path / "web.warc").write_bytes(b"".join(record(url, f"<p>{html}") for url, html in web.items()))
    kin = tmp_path / "web.kin"
    made(pagekin("build", tmp_path / "web.warc", "--out", kin, "--parser", "strict", "--set", "outlinks.scale=100"))
    page = tmp_path / "page.html"

    def asked(html: str, *more: str) -> dict[str, list[str]]:
        """The terms that the page of this HTML shares by its links with each related page."""
        page.write_text(f"<p>Boats and {html}")
        told = answer(kin, "--html", page, "--explain", *more)
        return {
            result["url"]: [term["term"] for term in result["terms"] if "outlinks" in term["query_from"]]
            for result in told["results"]
        }

    both = {
        "http://sea.example/whales": [krill],
        "http://ice.example/": [krill],
        "http://sea.example/boats": [],
        krill: [],
    }
    alone = {"http://sea.example/boats": []}
    relative = "<a href=../krill>them</a>"
    assert asked(relative) == alone
    assert asked(relative, "--url", "http://sea.example/north/seals") == both
    assert asked(relative, "--url", "http://elsewhere.example/north/seals") == alone
    assert asked(f"<a href={krill}>them</a>") == both
    assert asked(f"<base href=http://sea.example/far/away>{relative}") == both
    assert asked("<a href=#top>them</a>", "--url", krill) == alone, "a page's link to itself counts for nothing"


def test_fewer_or_only_more_similar_pages_can_be_asked_for(demo: Path) -> None:
    many = answer(demo, CARBON, "-k", "40")["results"]
    assert len(many) == 40
    assert answer(demo, CARBON, "-k", "1")["results"] == many[:1]
    assert many[5]["similarity"] > many[6]["similarity"]
    least = (many[5]["similarity"] + many[6]["similarity"]) / 2  # not one of them: they are rounded
    above = answer(demo, CARBON, "-k", "40", "--min-similarity", str(least))["results"]
    assert above == many[:6]


def test_a_threshold_that_shortens_an_answer_is_named_with_what_it_left_out(demo: Path, tmp_path: Path) -> None:
    told = answer(demo, CARBON, "--min-similarity", "1")
    assert told["results"] == []
    assert told["query"]["alpha"] == 1
    assert told["below_threshold"] > 100
    nothing = made(pagekin("related", demo, CARBON, "--min-similarity", "1")).stdout
    assert f"The threshold α = 1 leaves out {told['below_threshold']:,} pages: no page is more similar" in nothing
    assert "--min-similarity 0" in nothing
    some = answer(demo, CARBON, "-k", "400", "--min-similarity", "0.1")
    assert some["below_threshold"] > 0 < len(some["results"])
    enough = answer(demo, CARBON, "-k", "2", "--min-similarity", "0.1")
    assert (enough["below_threshold"], len(enough["results"])) == (0, 2)
    written = made(pagekin("neighbours", demo, "--out", tmp_path / "x.jsonl", "--min-similarity", "1")).stdout
    assert "968 pages have no related page above the threshold α = 1" in written


def test_exact_and_estimated_answers_say_how_they_were_found(demo: Path) -> None:
    usual, exact, estimated = (answer(demo, CARBON, *how) for how in ([], ["--exact"], ["--estimate"]))
    assert [told["query"]["method"] for told in (usual, exact, estimated)] == ["re-ranked", "exact", "estimate"]
    assert usual["results"][:3] == exact["results"][:3]
    assert {result["error"] for result in exact["results"]} == {0}
    # Signatures estimate the similarity of bags, one of the signals that the exact score is made of.
    truth = {
        result["url"]: signal["value"]
        for result in answer(demo, CARBON, "--exact", "--explain", "-k", "968")["results"]
        for signal in result["signals"]
        if signal["name"] == "bag"
    }
    inside = [
        abs(result["similarity"] - truth[result["url"]]) <= result["error"]
        for result in estimated["results"]
        if result["url"] in truth
    ]
    assert len(inside) > 5
    assert sum(inside) > len(inside) / 2
    assert all(0 < result["error"] < 0.2 for result in estimated["results"])
    assert " ±0.0" in made(pagekin("related", demo, CARBON, "--estimate")).stdout


def test_other_sites_and_the_same_site_divide_the_answers(demo: Path) -> None:
    assert "elements.example" not in hosts(answer(demo, CARBON, "--other-sites"))
    assert hosts(answer(demo, CARBON, "--same-site")) == {"elements.example"}
    both = hosts(answer(demo, CARBON, MAUNA_KEA, "--other-sites"))
    assert both
    assert not both & {"elements.example", "mountains.example"}


def test_near_copies_are_folded_unless_they_are_asked_for(demo: Path) -> None:
    folded = answer(demo, MAUNA_KEA)
    copy = "http://mirror.example/mauna-kea.html"
    assert folded["query"]["copies"] == [copy]
    assert copy not in urls(folded)
    assert f"near copies: {copy}" in made(pagekin("related", demo, MAUNA_KEA)).stdout
    unfolded = answer(demo, MAUNA_KEA, "--unfold")
    assert urls(unfolded)[0] == copy
    assert unfolded["query"]["copies"] == []
    assert all(result["copies"] == [] for result in unfolded["results"])


def test_pages_known_by_links_alone_are_answers_and_questions(sea: Path) -> None:
    walrus = "http://sea.example/walrus"
    (found,) = [result for result in answer(sea, "http://sea.example/seals")["results"] if result["url"] == walrus]
    assert found["captured"] is False
    assert found["title"] == "walrus of iceland"
    assert "known only by links to it" in made(pagekin("related", sea, "http://sea.example/seals")).stdout
    assert walrus not in urls(answer(sea, "http://sea.example/seals", "--captured"))
    assert "http://sea.example/seals" in urls(answer(sea, walrus))
    assert "walrus" in made(pagekin("bag", sea, walrus)).stdout


def test_another_name_of_a_page_is_as_good_as_its_own(sea: Path) -> None:
    told = answer(sea, "http://sea.example/old")
    assert told["query"]["urls"] == ["http://sea.example/whales"]
    assert told == answer(sea, "http://sea.example/whales")
    (whales,) = [r for r in answer(sea, "http://sea.example/seals")["results"] if r["title"] == "Whales"]
    assert {whales["url"], *whales["copies"]} == {
        "http://sea.example/whales", "http://sea.example/old", "http://mirror.example/whales",
    }  # fmt: skip


def test_a_page_without_words_has_no_kin_and_is_told_so(sea: Path) -> None:
    for verb in ("related", "bag"):
        refused(pagekin(verb, sea, "http://sea.example/silent"), 3, "http://sea.example/silent", "cannot be compared")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the pages"),
        ([CARBON, "--html", "page.html"], "or give a file"),
        ([CARBON, "--url", CARBON], "without --html just name the page"),
        (["--url", CARBON], "name the pages"),
        ([CARBON, "--exact", "--estimate"], "give one of them"),
        ([CARBON, "--other-sites", "--same-site"], "give one of them"),
        ([CARBON, "-k", "0"], "-k"),
        ([CARBON, "-k", "10001"], "-k"),
        ([CARBON, "-k", "many"], "-k"),
        ([CARBON, "--min-similarity", "1.5"], "--min-similarity"),
        ([CARBON, "--min-similarity", "nan"], "--min-similarity"),
    ],
)
def test_contradictory_and_impossible_questions_are_wrong_usage(demo: Path, arguments: list[str], words: str) -> None:
    refused(pagekin("related", demo, *arguments), 2, words)


def test_an_unknown_page_is_bad_input_and_suggests_the_nearest(demo: Path) -> None:
    for verb in ("related", "bag"):
        refused(pagekin(verb, demo, "http://elements.example/carbn.html"), 3, "is not in", "Did you mean", CARBON)
    refused(pagekin("related", demo, CARBON, "http://nobody.test/zzz"), 3, "http://nobody.test/zzz is not in")


@pytest.mark.parametrize(
    ("verb", "name", "words"),
    [
        ("related", "none.kin", "does not exist"),
        ("related", "file.kin", "is a file"),
        ("related", "folder.kin", "not a finished"),
        ("bag", "none.kin", "does not exist"),
        ("duplicates", "file.kin", "is a file"),
        ("neighbours", "none.kin", "does not exist"),
        ("index", "none.kin", "does not exist"),
        ("index", "folder.kin", "not a finished"),
    ],
)
def test_what_is_no_collection_is_bad_input(verb: str, name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "file.kin").write_text("no collection")
    (tmp_path / "folder.kin").mkdir()
    more = {"related": [CARBON], "bag": [CARBON], "neighbours": ["--out", "x.jsonl"]}.get(verb, [])
    refused(pagekin(verb, name, *more, cwd=tmp_path), 3, name, words)
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["file.kin", "folder.kin"]


@pytest.mark.parametrize(
    ("html", "words"),
    [
        (b"", "has no word that counts"),
        (b"<p>the 1 2 3 ...", "has no word that counts"),
        (b"<p>qwxzv vzxwq", "shares no word"),
        (b"<" * 300_000, "has no word that counts"),
        (b"\0" * Limits().page_bytes + b" carbon", "has no word that counts"),
    ],
    ids=["empty", "no words", "unknown words", "no tags", "beyond the limit"],
)
def test_html_that_says_nothing_is_told_so(demo: Path, html: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(html)
    refused(pagekin("related", demo, "--html", "page.html", cwd=tmp_path), 3, f"page.html: the page {words}")


def test_a_file_that_is_no_html_gets_a_calm_answer(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(random.Random(3).randbytes(50_000))
    for file in (tmp_path / "noise", Path(sys.executable).resolve()):
        done = pagekin("related", demo, "--html", file, "--explain")
        assert done.returncode in (0, 3)
        assert "internal error" not in done.stderr
        assert "Traceback" not in done.stderr


def test_html_that_cannot_be_read_is_bad_input(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_bytes(PAGE)
    (tmp_path / "secret.html").chmod(0)
    refused(pagekin("related", demo, "--html", "missing.html", cwd=tmp_path), 3, "missing.html cannot be read")
    refused(pagekin("related", demo, "--html", ".", cwd=tmp_path), 3, ". cannot be read: Is a directory")
    secret = pagekin("related", demo, "--html", "secret.html", cwd=tmp_path, preexec_fn=without_privileges)
    refused(secret, 3, "secret.html cannot be read: Permission denied")
    refused(pagekin("related", demo, "--html", "page.html", "--other-sites", cwd=tmp_path), 3, "page.html")


def test_sites_of_a_page_from_outside_are_not_known(demo: Path) -> None:
    refused(pagekin("related", demo, "--html", "-", "--other-sites", input=PAGE.decode()), 3, "outside the collection")


# -- pages that mean harm ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["related", "http://sea.example/whales", "--explain"],
        ["related", "http://evil.example/", "--explain"],
        ["related", f"http://evil.example/{HOSTILE}"],
        ["bag", "http://evil.example/"],
        ["page", "http://evil.example/"],
        ["duplicates", "--common", "0.5"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]).encode("unicode_escape").decode(),
)
def test_no_page_can_drive_the_terminal(sea: Path, arguments: list[str]) -> None:
    done = pagekin(arguments[0], sea, *arguments[1:])
    shown = done.stdout + done.stderr
    assert shown
    assert [char for char in shown if char != "\n" and not char.isprintable()] == []


def test_json_keeps_every_character_but_prints_none_that_drives_a_terminal(sea: Path) -> None:
    done = made(pagekin("bag", sea, "http://evil.example/", "--json"))
    assert [char for char in done.stdout if char != "\n" and not char.isprintable()] == []
    assert json.loads(done.stdout)["title"] == HOSTILE


def test_a_terminal_without_the_characters_gets_their_numbers(sea: Path, demo: Path) -> None:
    plain = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert "\\xb1" in made(pagekin("related", demo, CARBON, "--estimate", env=plain)).stdout
    told = json.loads(made(pagekin("bag", sea, "http://evil.example/", "--json", env=plain)).stdout)
    assert told["title"] == HOSTILE


def test_a_title_without_end_is_cut_on_the_screen_alone(sea: Path) -> None:
    for arguments in (["related", sea, "http://sea.example/seals"], ["bag", sea, "http://endless.example/"]):
        shown = made(pagekin(*arguments)).stdout
        assert "Endless fish Endless" in shown
        assert max(map(len, shown.splitlines())) < 300
    told = json.loads(made(pagekin("bag", sea, "http://endless.example/", "--json")).stdout)
    assert told["title"].split() == ["Endless", "fish"] * 3_000


# -- bags, duplicates, neighbours ----------------------------------------------------------------------------------------


def test_a_bag_shows_its_heaviest_terms_and_where_they_come_from(demo: Path) -> None:
    told = json.loads(made(pagekin("bag", demo, CARBON, "-n", "1000", "--json")).stdout)
    assert told["url"] == CARBON
    assert told["inlinks"] == 21
    assert len(told["terms"]) == told["distinct_terms"]
    weights = [term["weight"] for term in told["terms"]]
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1, abs=1e-3)
    assert told["terms"][0]["term"] == "carbon"
    assert set(told["terms"][0]["from"]) == {"content", "anchors", "title"}
    shown = made(pagekin("bag", demo, CARBON, "-n", "5")).stdout
    assert len(shown.splitlines()) == 3 + 5
    assert re.search(r"^ +\d+\.\d\d%  carbon +content, anchors, title$", shown, re.MULTILINE)


def test_duplicates_are_the_mirror_and_the_print_versions(demo: Path) -> None:
    told = json.loads(made(pagekin("duplicates", demo, "--common", "0.5", "--json")).stdout)
    groups = [{one["url"] for one in group} for group in told["groups"]]
    assert {"http://mirror.example/mauna-kea.html", MAUNA_KEA} in groups
    assert told["pages"] == sum(map(len, groups)) == len(set().union(*groups))
    assert all(0.5 <= one["common"] <= 1 for group in told["groups"] for one in group)
    stricter = json.loads(made(pagekin("duplicates", demo, "--common", "1", "--json")).stdout)
    assert 0 < stricter["pages"] < told["pages"]
    shown = made(pagekin("duplicates", demo, "--common", "0.5", "-n", "2")).stdout
    assert f"{told['pages']} pages in {len(groups)} groups" in shown
    assert f"and {len(groups) - 2} more groups" in shown
    for wrong in ("0.2", "nan"):
        refused(pagekin("duplicates", demo, "--common", wrong), 2, "--common")


def test_neighbours_are_the_same_in_both_kinds_of_file_and_as_asked_one_by_one(demo: Path, tmp_path: Path) -> None:
    made(pagekin("neighbours", demo, "--out", tmp_path / "all.jsonl", "-k", "5"))
    made(pagekin("neighbours", demo, "--out", tmp_path / "all.parquet", "-k", "5", "--quiet"))
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert len(lines) == 968
    rows = pq.read_table(tmp_path / "all.parquet").to_pylist()
    assert [(row["url"], row["rank"], row["related"], row["similarity"], row["copies"]) for row in rows] == [
        (line["url"], rank, one["url"], one["similarity"], one["copies"])
        for line in lines
        for rank, one in enumerate(line["related"], 1)
    ]
    by_url = {line["url"]: line for line in lines}
    for url in (CARBON, MAUNA_KEA):
        told = answer(demo, url, "-k", "5")
        assert [(one["url"], one["similarity"]) for one in by_url[url]["related"]] == [
            (result["url"], pytest.approx(result["similarity"], abs=2e-6)) for result in told["results"]
        ]
        assert by_url[url]["copies"] == len(told["query"]["copies"])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["all.jsonl", "all.parquet"]


def test_neighbours_of_pages_known_by_links_alone_are_given_on_demand(sea: Path, tmp_path: Path) -> None:
    told = []
    for more in ([], ["--all"]):
        made(pagekin("neighbours", sea, "--out", tmp_path / "x.jsonl", *more))
        told.append({json.loads(line)["url"] for line in (tmp_path / "x.jsonl").read_text().splitlines()})
    assert told[1] - told[0] == {"http://sea.example/walrus", "http://mirror.example/seals", "http://evil.example/x"}
    assert "http://sea.example/seals" in told[0]


def test_neighbours_that_cannot_be_written_leave_nothing_behind(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "kept.jsonl").write_text("precious")
    (tmp_path / "folder.parquet").mkdir()
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    for out, code, words, options in (
        ("x.csv", 2, ".parquet", {}),
        ("folder.parquet", 2, "is a folder", {}),
        ("nowhere/x.jsonl", 3, "No such file or directory", {}),
        ("closed/x.parquet", 3, "Permission denied", {"preexec_fn": without_privileges}),
        ("kept.jsonl", 3, "File too large", {"preexec_fn": files_of_at_most(50_000)}),
        ("x.parquet", 3, "File too large", {"preexec_fn": files_of_at_most(5_000)}),
    ):
        refused(pagekin("neighbours", demo, "--out", out, cwd=tmp_path, **options), code, out, words)
    assert (tmp_path / "kept.jsonl").read_text() == "precious"
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["closed", "folder.parquet", "kept.jsonl"]
    refused(pagekin("neighbours", demo, "--out", "x.jsonl", "--min-similarity", "nan", cwd=tmp_path), 2, "nan")


# -- whole or not --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bag.weights", "bagterm.hash", "signature.rows", "list.words", "copy.rows"])
def test_check_finds_a_flipped_byte_in_the_index(mine: Path, name: str) -> None:
    file = next(mine.glob(f"{name}-*.npy"))
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 0x10
    file.write_bytes(raw)
    done = pagekin("check", mine, "--json")
    assert done.returncode == 3
    told = json.loads(done.stdout)
    assert told["whole"] is False
    assert [finding["where"] for finding in told["findings"]] == [file.name]


def test_damage_does_not_reach_compiled_code(mine: Path, tmp_path: Path) -> None:
    def overwrite(name: str) -> None:
        file = next(mine.glob(f"{name}-*.npy"))
        file.write_bytes(file.read_bytes()[:128] + b"\xfe" * (file.stat().st_size - 128))

    overwrite("list.words")
    out = tmp_path / "x.jsonl"
    refused(pagekin("neighbours", mine, "--out", out), 3, "is damaged: list.words", f"pagekin index {mine}")
    assert not out.exists()
    overwrite("stream.words")
    refused(pagekin("index", mine), 3, "is damaged: stream", f"pagekin check {mine}")


def files_in(folder: Path) -> dict[Path, bytes]:
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_an_index_that_cannot_be_written_leaves_the_collection_as_it_was(mine: Path) -> None:
    before = files_in(mine)
    change = ["index", mine, "--set", "window.size=8"]
    refused(pagekin(*change, preexec_fn=files_of_at_most(300_000)), 3, "File too large", "It is as it was before")
    mine.chmod(0o555)
    refused(pagekin(*change, preexec_fn=without_privileges), 3, f"{mine} cannot be written: Permission denied")
    new = pagekin("build", "demo", "--out", mine / "new.kin", preexec_fn=without_privileges)
    refused(new, 3, "new.kin cannot be written: Permission denied")
    mine.chmod(0o755)
    assert files_in(mine) == before


def test_leftovers_of_a_stopped_build_are_named_but_no_damage(mine: Path) -> None:
    (mine / ".work-x").mkdir()
    done = made(pagekin("check", mine))
    assert ".work-x: is named by no manifest" in done.stdout
    assert f"{mine} is undamaged" in done.stdout
    (mine / "letter.txt").write_text("of someone else")
    assert pagekin("check", mine).returncode == 3


# -- the command itself --------------------------------------------------------------------------------------------------


def test_the_demo_gives_reasons_and_commands_that_work(tmp_path: Path) -> None:
    done = made(pagekin("demo", "--no-serve", "--out", "d.kin", cwd=tmp_path))
    assert "shares: carbon " in done.stdout
    assert "cited by http://" in done.stdout
    further = done.stdout.partition("Look further:\n")[2].splitlines()
    assert len(further) > 2
    for line in further:
        command, *arguments = shlex.split(line)
        assert command == "pagekin"
        assert made(pagekin(*arguments, cwd=tmp_path)).stdout


@pytest.mark.parametrize("more", [[CARBON, "--explain"], ["--html", "page.html"]], ids=["page", "html"])
def test_asking_loads_nothing_that_is_slow_to_load(demo: Path, more: list[str], tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(PAGE)
    code = (
        "import sys; sys.argv = ['pagekin', 'related', *sys.argv[1:]]\n"
        "from pagekin.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "slow = ['numba', 'scipy', 'rich', 'pydantic', 'importlib.metadata', 'pyarrow', 'multiprocessing',\n"
        "        'pagekin.cli.build', 'pagekin.engines']\n"
        "assert not set(slow) & set(sys.modules), sorted(set(slow) & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, str(demo), *more]
    made(subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path))
