"""The fast way to make bags and the slow one agree, whatever the strategy and however the work is divided."""

import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.bags import PRESETS, Origin, Strategy, choose_strategy
from pagekin.bags import build as building
from pagekin.hypertext import Corpus

from .oracle import Made, Oracle
from .webs import MadeBags, hash_of, make, moved, plainly, read_records, read_web, record

generated = settings(derandomize=True, database=None, deadline=None, max_examples=45)
NAMES = [set(Origin(flags).names()) for flags in range(32)]
CLOSE = 3e-7
"""Sums and shares are rounded to float32 once each; one step of it is 1.2e-7 of the value."""


def assert_as_the_oracle_says(made: MadeBags, truth: Made) -> None:
    bags = made.bags
    assert made.urls() == sorted(truth.weights)
    names = {hash_of(term): term for term in truth.df}
    assert len(names) == len(truth.df)
    terms = [names[int(number)] for number in bags.hashes]
    assert dict(zip(terms, bags.df(np.arange(len(terms))).tolist(), strict=True)) == truth.df
    for document, url in enumerate(made.urls()):
        numbers, weights = bags.bag(document)
        held = [terms[int(number)] for number in numbers]
        assert len(set(held)) == len(held), f"{url} holds a term twice"
        expected = truth.weights[url]
        assert set(held) == expected.keys(), url
        assert np.allclose(weights, [expected[term] for term in held], rtol=CLOSE, atol=1e-30), url
        flags = bags.origins(document).tolist()
        assert {term: NAMES[flag] for term, flag in zip(held, flags, strict=True)} == truth.origins[url], url
        said = zip(held, bags.counts[bags.span(document)].tolist(), strict=True)
        own = {term: min(count, 255) for term, count in truth.counts[url].items()}
        assert {term: count for term, count in said if count} == own, url
    inlinks = made.kin["bag.inlinks"].tolist()
    assert dict(zip(made.urls(), inlinks, strict=True)) == truth.citing_pages
    assert made.facts["bags"] == len(truth.weights)
    assert made.facts["bag_entries"] == sum(map(len, truth.weights.values()))
    assert made.facts["bag_outlinks"] == sum(term.startswith(">") for term in truth.df)
    assert made.facts["bag_links"] == sum("/" in term and not term.startswith(">") for term in truth.df)
    assert made.facts["bag_words"] == sum("/" not in term for term in truth.df)
    assert made.facts["window_words"] == pytest.approx({"left": truth.mean_left, "right": truth.mean_right}, abs=0.006)


ALONE = """
    words=all
    words=letters
    stemming=stopstem
    stemming=stem
    content.scale=0
    content.scale=2.5
    content.lead=7
    content.lead=0
    content.furniture=1
    content.furniture=0
    title.scale=0
    title.scale=3
    anchors.scale=0
    anchors.scale=2
    anchors.repeat=every
    anchors.within_site=off
    links.scale=1
    outlinks.scale=0
    outlinks.scale=7
    window.kind=syntactic
    window.kind=topical
    window.size=0
    window.size=3
    window.size=100
    weight.distance=log
    weight.frequency=none
    weight.frequency=log
    weight.frequency=sqrt
    weight.centre=0.5
    weight.level=0.8
    weight.sigma=0.7
    weight.tf=raw
    weight.tf=sqrt
""".split()
TOGETHER = [
    "content.lead=30 outlinks.scale=3 links.scale=1 anchors.within_site=off weight.frequency=log",
    "content.scale=0 title.scale=0 anchors.scale=0 outlinks.scale=1 content.lead=5",
    "anchors.scale=0 content.scale=0 title.scale=1",
    "anchors.scale=0 title.scale=0 content.scale=0 links.scale=2",
    "anchors.scale=0 links.scale=1 anchors.within_site=off weight.frequency=sqrt",
    "content.scale=0 title.scale=0 window.size=0 weight.distance=none anchors.repeat=every weight.frequency=none",
    "content.scale=0 window.kind=syntactic window.size=100 weight.distance=none weight.frequency=log",
    "window.kind=topical window.size=40 weight.distance=none anchors.repeat=every links.scale=0.5 weight.tf=sqrt",
    "window.kind=syntactic anchors.within_site=off words=letters stemming=nostem weight.tf=log weight.mu=2",
    "window.kind=topical window.size=5 anchors.within_site=off anchors.repeat=every stemming=stopstem words=all",
]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_on_the_demo_web(demo: Corpus, demo_oracle: Oracle, name: str) -> None:
    assert_as_the_oracle_says(make(demo, PRESETS[name]), demo_oracle.make(PRESETS[name]))


@pytest.mark.parametrize("together", TOGETHER[-2:])
def test_other_strategies_on_the_demo_web(demo: Corpus, demo_oracle: Oracle, together: str) -> None:
    strategy = choose_strategy(settings=together.split())
    assert_as_the_oracle_says(make(demo, strategy), demo_oracle.make(strategy))


@pytest.mark.parametrize("together", [*ALONE, *TOGETHER])
def test_settings_alone_and_together_on_some_pages(some_pages: Corpus, some_oracle: Oracle, together: str) -> None:
    strategy = choose_strategy(settings=together.split())
    assert strategy != choose_strategy()
    assert_as_the_oracle_says(make(some_pages, strategy), some_oracle.make(strategy))


URLS = (
    "http://www.a.example/",
    "http://www.a.example/x",
    "http://b.a.example/",
    "http://a.co.uk/",
    "http://b.co.uk:81/y?z",
    "https://c.example/",
)
WORDS = "carbon diamond diamonds running the here of mp3 1848 2b naïve Ⅷ 炭素 graphite.".split()
TAGS = "<p> </p> <br> <h2> </h2> <ul> <li> </ul> <table> <td> </table> <hr> <b> </b> </a> . ! <title> </title>".split()
words = some.lists(some.sampled_from(WORDS), max_size=3).map(" ".join)
texts = some.one_of(words, words.map("<img alt='{}'>".format))
targets = some.sampled_from([*URLS, "http://unknown.example/", "#here", "", "x#top", "http://old.example/"])
links = some.builds("<a href='{}'>{}</a>".format, targets, texts)
pieces = some.one_of(words, some.sampled_from(TAGS), links, texts)
bodies = some.lists(pieces, max_size=25).map(" ".join)
pages = some.builds("<title>{}</title><meta name=keywords content='{}'>{}".format, words, words, bodies)
webs = some.dictionaries(some.sampled_from(URLS), pages, min_size=1, max_size=len(URLS))
scales = some.sampled_from([0.0, 0.5, 1.0, 3.0])
strategies = some.fixed_dictionaries(
    {
        "words": some.sampled_from(["mixed", "all", "letters"]),
        "stemming": some.sampled_from(["stem", "stopstem", "nostem"]),
        "content.scale": scales,
        "title.scale": scales,
        "anchors.scale": scales,
        "anchors.repeat": some.sampled_from(["once", "every"]),
        "anchors.within_site": some.booleans(),
        "links.scale": scales,
        "outlinks.scale": scales,
        "content.furniture": some.sampled_from([0.0, 0.3, 1.0]),
        "content.lead": some.sampled_from([0.0, 1.0, 20.0]),
        "window.kind": some.sampled_from(["basic", "syntactic", "topical"]),
        "window.size": some.sampled_from([0, 1, 2, 5, 32, 50]),
        "weight.distance": some.sampled_from(["log", "none"]),
        "weight.frequency": some.sampled_from(["nmdf", "none", "log", "sqrt"]),
        "weight.tf": some.sampled_from(["raw", "log", "sqrt"]),
    }
).filter(lambda chosen: any(chosen[f"{name}.scale"] for name in ("content", "title", "anchors", "links", "outlinks")))


@generated
@given(webs, some.lists(strategies, min_size=1, max_size=3), some.lists(some.sampled_from(URLS), max_size=2))
def test_any_web_by_any_strategy(web: dict[str, str], chosen: list[dict[str, object]], left_out: list[str]) -> None:
    records = [record(url, html) for url, html in web.items()]
    corpus = read_records([*records, moved("http://old.example/", URLS[0])])
    not_citing = [url for url in left_out if url in web]
    oracle = Oracle(corpus, not_citing)
    for choice in chosen:
        strategy = Strategy().with_settings(choice)
        assert_as_the_oracle_says(make(corpus, strategy, not_citing), oracle.make(strategy))


def letters_of(number: int) -> str:
    """A word of consonants, which no stemmer changes."""
    consonants = "bcdfghjklm"
    return "".join(consonants[int(digit)] for digit in f"{number:06}")


def test_words_beyond_the_65535_commonest_and_borders_far_apart() -> None:
    pages = {}
    for page in range(4):
        own = [letters_of(number) for number in range(page * 17_000, (page + 1) * 17_000)]
        target = f"<a href=http://t.example/{page}>{own[-1]} {own[-2]}</a>"
        others = f"{' '.join(own[:40])} <p>{' '.join(own[40:-40])} {target} {' '.join(own[-40:])} <p>{own[0]} {target}"
        pages[f"http://s{page}.example/"] = others
    corpus = read_web(pages, parser="fast")
    assert len(corpus.terms) > 65_535
    assert corpus.kin["page.rare"][-1] > 1_000
    oracle = Oracle(corpus)
    for strategy in (plainly("window.kind=syntactic"), plainly("content.scale=1", "anchors.repeat=once")):
        assert_as_the_oracle_says(make(corpus, strategy), oracle.make(strategy))


DIVIDED = [
    "links.scale=1 outlinks.scale=1 content.lead=9 anchors.repeat=every",
    "window.kind=syntactic anchors.within_site=off weight.frequency=log",
]


@pytest.mark.parametrize("together", DIVIDED)
def test_the_bytes_do_not_depend_on_threads_or_batches(
    demo: Corpus, monkeypatch: pytest.MonkeyPatch, together: str
) -> None:
    strategy = choose_strategy(settings=together.split())
    expected = make(demo, strategy)
    assert {"bag.terms", "bag.weights", "bag.from", "bagterm.df", "bagterm.order"} < expected.arrays().keys()
    for words, work, threads in ((1 << 21, 1 << 22, 2), (3_000, 20_000, 1), (1_000, 5_000, 2), (1, 1, 2)):
        monkeypatch.setattr(building, "BATCH_WORDS", words)
        monkeypatch.setattr(building, "BATCH_WORK", work)
        made = make(demo, strategy, threads=threads)
        assert made.arrays() == expected.arrays(), (words, work, threads)
        assert made.facts == expected.facts


def test_links_of_a_directory_do_not_count(some_pages: Corpus) -> None:
    directory = [some_pages.page_url(page) for page in range(0, len(some_pages), 3)]
    strategy = choose_strategy(settings=["links.scale=1"])
    made = make(some_pages, strategy, directory)
    assert made.facts["not_citing"] == len(directory)
    truth = Oracle(some_pages, directory).make(strategy)
    assert_as_the_oracle_says(made, truth)
    cited_by = {term for bag in truth.weights.values() for term in bag if "/" in term and term[0] != ">"}
    assert cited_by
    assert not cited_by & set(directory)


def test_terms_are_found_by_their_hash_alone(demo: Corpus) -> None:
    bags = make(demo, choose_strategy(settings=["links.scale=1"])).bags
    numbers = np.arange(len(bags.hashes))
    assert bags.find(bags.hashes).tolist() == numbers.tolist()
    missing = np.array([hash_of(word) for word in string.ascii_lowercase], dtype=np.uint64)
    assert bags.find(missing).tolist() == [-1] * 26
