"""Addresses as people remember them: which one is meant, if that is clear."""

import pytest

from pagekin.hypertext import Corpus, ReadPlan, guess_url, read_sources, unknown_url_message
from pagekin.sources import canonical_url
from tests.bags.webs import read_records, record

SITE = "https://www.docs.example/"
PAGES = {
    "index.html": "<title>Welcome - Docs</title><a href=library/json.html>json</a> <a href=https://other.example/a/json.html>x</a>",
    "library/json.html": "<title>JSON encoder - Docs</title><p>Encode.",
    "library/pickle.html": "<title>Pickle - Docs</title><p>Pickle. <a href=http://far.example/only-linked.html>far</a>",
    "archive/pickle.html": "<title>Pickle - Docs</title><p>Old.",
    "faq/index.html": "<title>Questions - Docs</title><p>Asked often.",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("docs")
    for name, html in PAGES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(html)
    plan = ReadPlan([str(folder)], folder.with_suffix(".kin"), parser="strict", workers=1, base_url=SITE)
    read_sources(plan)
    return Corpus.open(plan.out)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("http://docs.example/library/json.html", "library/json.html"),  # another scheme, without www
        ("www.docs.example/library/json.html", "library/json.html"),
        ("docs.example/faq", "faq/index.html"),
        ("https://docs.example/faq/", "faq/index.html"),
        ("docs.example", "index.html"),
        ("library/json.html", "library/json.html"),
        ("./library/JSON.html", "library/json.html"),
        ("faq/", "faq/index.html"),
        ("json.html", "library/json.html"),  # the other is only linked to
        ("only-linked.html", "http://far.example/only-linked.html"),
        ("JSON encoder", "library/json.html"),
        ("json encoder - docs", "library/json.html"),
    ],
)
def test_an_address_is_found_by_what_people_remember_of_it(corpus: Corpus, text: str, meant: str) -> None:
    expected = meant if "://" in meant else SITE + meant
    assert corpus.url_number(text) < 0, "it is no address by itself"
    assert guess_url([corpus], text) == canonical_url(expected)


@pytest.mark.parametrize(
    "text",
    [
        "pickle.html",
        "Pickle",
        "nothing.html",
        "encoder",
        "",
        "  ",
        "x",
        "https://",
        "http://docs.example/library/yaml.html",
    ],
)
def test_what_is_ambiguous_or_unknown_means_no_address(corpus: Corpus, text: str) -> None:
    assert guess_url([corpus], text) == ""


def test_what_is_ambiguous_is_said_to_be_so_with_what_it_may_mean() -> None:
    corpus = read_records([record(f"http://a.test/{n}/index.html", "<title>T</title><p>words") for n in range(7)])
    said = unknown_url_message([corpus], "index.html", "a.kin")
    first, *named = said.splitlines()
    assert first == "index.html may be any of 7 addresses in a.kin. Name one of them:"
    assert [line.strip() for line in named] == [*(f"http://a.test/{n}/index.html" for n in range(5)), "... and 2 more"]
    assert "is not in a.kin" in unknown_url_message([corpus], "http://a.test/9/index.html", "a.kin")


@pytest.mark.parametrize("text", ["pikcle.html", "library/jsno.html", "http://www.docs.example/library/picke.html"])
def test_a_misspelt_name_suggests_the_names_that_are_spelt_alike(corpus: Corpus, text: str) -> None:
    said = unknown_url_message([corpus], text, "docs.kin")
    assert "is not in docs.kin. Did you mean\n" in said
    first, *others = said.splitlines()[1:]
    assert first.endswith("json.html" if "js" in text else "pickle.html")
    assert "://" in text or all(line.endswith(first.rpartition("/")[2]) for line in others), "none is much less similar"


def test_a_page_that_another_shard_only_links_to_counts_as_read() -> None:
    pages = [record(f"http://a.test/{path}carbon.html", "<title>C</title><p>carbon") for path in ("", "print/")]
    first = read_records(pages)
    second = read_records([record("http://b.test/", "<p><a href=http://a.test/carbon.html>carbon</a>")])
    assert guess_url([first, second], "carbon.html") == ""
    assert guess_url([first, second], "print/carbon.html") == "http://a.test/print/carbon.html"
