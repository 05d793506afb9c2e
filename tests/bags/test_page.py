"""The bag of a page that is not in the collection is the one that it would have there, if nobody linked to it."""

from collections.abc import Sequence

import numpy as np
import pytest

from pagekin.bags import PRESETS, Strategy, choose_strategy, page_bag, word_hash
from pagekin.hypertext import Corpus, read_strictly
from pagekin.sources import Limits

from .webs import MadeBags, bags_of, make, plainly

PAGE = """<title>The granite stones</title><meta name=keywords content=slate><body><h1>Granite 1848</h1>
<p>Granite stones hold mica <img alt="and quartz stones"> naïve mp3. <a href=http://b.example/>basalt</a></p>"""
WEB = {
    "http://a.example/granite": PAGE,
    "http://b.example/": "<title>Basalt</title><p>Basalt and quartz, mica <a href=/stone>stones</a>",
    "http://c.example/": "<p>quartz mica quartz stones <a href=http://b.example/>basalt</a>",
}
STRATEGIES = [
    *PRESETS.values(),
    choose_strategy(
        settings="words=letters stemming=nostem anchors.scale=0 weight.frequency=log weight.tf=log".split()
    ),
    choose_strategy(settings="words=all content.scale=0.3 title.scale=2 weight.frequency=sqrt weight.tf=sqrt".split()),
    choose_strategy(settings="stemming=stopstem weight.distance=none weight.frequency=none title.scale=0".split()),
    choose_strategy(settings="content.scale=0 links.scale=2".split()),
    choose_strategy(settings="content.lead=3 outlinks.scale=2 words=all".split()),
    choose_strategy(settings="content.scale=0 title.scale=0 outlinks.scale=1".split()),
]


def assert_same_bag(
    made: MadeBags,
    strategy: Strategy,
    document: int,
    words: list[str],
    attributes: list[int],
    links: Sequence[tuple[str, int]] = (),
) -> None:
    terms, weights = made.bags.bag(document)
    stored = dict(zip(made.bags.hashes[terms].tolist(), weights.tolist(), strict=True))
    origins = dict(zip(made.bags.hashes[terms].tolist(), made.bags.origins(document).tolist(), strict=True))
    hashes, shares, flags, counts = page_bag(words, attributes, strategy, made.bags.df_of, len(made.bags), links)
    assert dict(zip(hashes.tolist(), shares.tolist(), strict=True)) == pytest.approx(stored, rel=3e-7)
    assert dict(zip(hashes.tolist(), flags.tolist(), strict=True)) == origins
    said = made.bags.counts[made.bags.span(document)].tolist()
    assert dict(zip(hashes.tolist(), counts.tolist(), strict=True)) == dict(zip(stored, said, strict=True))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=range(len(STRATEGIES)))
def test_a_page_without_inlinks_has_the_bag_of_its_html(strategy: Strategy) -> None:
    made = bags_of(WEB, strategy)
    page = read_strictly(PAGE, Limits())
    document = made.bags.document(made.corpus.url_number("http://a.example/granite"))
    links = [("http://b.example/", anchor.start) for anchor in page.anchors]
    assert len(links) == 1
    assert_same_bag(made, strategy, document, page.words, page.attributes, links)


@pytest.mark.parametrize("together", ["", "words=letters weight.frequency=log"])
def test_without_links_every_page_of_the_demo_web_has_the_bag_of_its_words(demo: Corpus, together: str) -> None:
    strategy = choose_strategy(
        settings=["anchors.scale=0", "outlinks.scale=0", "content.furniture=1", *together.split()]
    )
    made = make(demo, strategy)
    assert len(made.bags) == len(demo)
    for page in range(0, len(demo), 7):
        stream = demo.stream(page)
        words = [demo.word(int(word)) for word in stream.words]
        document = made.bags.document(int(demo.kin["page.url"][page]))
        assert_same_bag(made, strategy, document, words, stream.attributes.tolist())


def test_words_that_the_collection_does_not_know_count_as_held_by_one_bag() -> None:
    strategy = plainly("content.scale=1", "weight.frequency=sqrt", "window.size=0")
    made = bags_of(WEB, strategy)
    df = {word: int(made.bags.df(made.bags.find(np.array([word_hash(word)], np.uint64)))[0]) for word in ("mica",)}
    assert df == {"mica": 3}
    page = read_strictly("mica gneiss gneiss", Limits())
    hashes, weights, _flags, _counts = page_bag(page.words, page.attributes, strategy, made.bags.df_of, len(made.bags))
    known, unknown = 1 / 3**0.5, 2.0
    expected = {word_hash("mica"): known / (known + unknown), word_hash("gneiss"): unknown / (known + unknown)}
    assert dict(zip(hashes.tolist(), weights.tolist(), strict=True)) == pytest.approx(expected)


@pytest.mark.parametrize("html", ["", "<p>the of and", "<p>1848", "<meta name=keywords content=granite>"])
def test_a_page_without_a_word_that_counts_has_an_empty_bag(html: str) -> None:
    strategy = choose_strategy()
    page = read_strictly(html, Limits())
    bags = bags_of(WEB, strategy).bags
    bag = page_bag(page.words, page.attributes, strategy, bags.df_of, len(bags))
    assert [len(column) for column in bag] == [0] * 4


def test_a_strategy_of_links_alone_leaves_a_page_outside_nothing() -> None:
    strategy = choose_strategy(settings="content.scale=0 title.scale=0 anchors.scale=0 links.scale=1".split())
    page = read_strictly(PAGE, Limits())
    bags = bags_of(WEB, strategy).bags
    hashes, _weights, _flags, _counts = page_bag(page.words, page.attributes, strategy, bags.df_of, len(bags))
    assert len(hashes) == 0


def test_a_page_can_have_a_bag_where_the_collection_has_none() -> None:
    strategy = choose_strategy(settings=["stemming=stem", "content.lead=0", "weight.frequency=none", "weight.tf=raw"])
    page = read_strictly("<p>granite mica granite", Limits())
    made = bags_of({"http://a.example/": "<p>the"}, strategy)
    hashes, weights, flags, counts = page_bag(page.words, page.attributes, strategy, made.bags.df_of, len(made.bags))
    assert dict(zip(hashes.tolist(), weights.tolist(), strict=True)) == pytest.approx(
        {word_hash("granit"): 2 / 3, word_hash("mica"): 1 / 3}
    )
    assert flags.tolist() == [1, 1]
    assert counts.tolist() == [2, 1]
