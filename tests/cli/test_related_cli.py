"""Related pages by the command: answers, mistakes, and pages that mean harm."""

import json
import os
import random
import sys
from pathlib import Path

import pytest

from pagekin.sources import Limits
from tests.bags.webs import record
from tests.command import pagekin

from .answers import CARBON, HOSTILE, MAUNA_KEA, PAGE, answer, hosts, made, refused, urls, without_privileges

# -- asking --------------------------------------------------------------------------------------------------------------


def test_related_shows_titles_and_addresses_the_best_first(demo: Path) -> None:
    lines = made(pagekin("related", demo, CARBON)).stdout.splitlines()
    assert lines[:3] == ["Carbon", CARBON, ""]
    similarities = [float(line[:5]) for line in lines[3:] if not line.startswith(" ")]
    assert len(similarities) == 10
    assert similarities == sorted(similarities, reverse=True)
    assert "       http://elements.example/print/carbon.html" in lines


def test_an_answer_for_programs_has_the_query_and_results(demo: Path) -> None:
    told = answer(demo, CARBON, "-k", "4")
    assert told["query"]["urls"] == [CARBON]
    assert told["query"]["titles"] == ["Carbon"]
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
        refused(pagekin(verb, demo, "http://qqqq.test/"), 3, "holds no address like it")
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
    refused(pagekin("related", demo, "--html", "-", "--other-sites", input=PAGE.decode()), 3, "its address by --url")


def test_a_page_from_outside_whose_address_is_told_has_a_site(demo: Path) -> None:
    question = (demo, "--html", "-", "--url", "http://elements.example/new.html")
    same, other = (answer(*question, way, input=PAGE.decode()) for way in ("--same-site", "--other-sites"))
    assert hosts(same) == {"elements.example"}
    assert hosts(other)
    assert "elements.example" not in hosts(other)


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
