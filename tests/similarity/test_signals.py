"""Signals are what their definitions say, whoever computes them, and a score is made of nothing else."""

import math
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import LinkColumns, Origin, Signals, choose_strategy
from pagekin.collection import Collection, DescribeRequest
from pagekin.similarity import RankingOptions, RelatedIndex, signals
from pagekin.similarity.links import DocumentLinks
from pagekin.similarity.signals import SIGNALS, LinkedDocuments, QuerySignals, SignalReader
from pagekin.store import Array

from .webs import index_web, plainly

EVERY = Signals(*[1.0] * len(SIGNALS))
OWN = Origin.CONTENT | Origin.TITLE


class PlainSignals:
    """The definitions, one pair of pages at a time."""

    def __init__(self, index: RelatedIndex) -> None:
        self.bags = index.bags
        links = LinkColumns.of(index.corpus.kin)
        self.out: dict[int, set[int]] = defaultdict(set)
        self.into: dict[int, set[int]] = defaultdict(set)
        for source in range(len(index)):
            for target in links.out[int(links.out_offsets[source]) : int(links.out_offsets[source + 1])].tolist():
                self.out[source].add(target)
                self.into[target].add(source)
        self.own = {document: self.entries(document) for document in range(len(index))}
        self.pages = [document for document, own in self.own.items() if any(count for _w, count, _f in own.values())]
        self.df: dict[int, int] = defaultdict(int)
        for document in self.pages:
            for term, (_weight, count, _flags) in self.own[document].items():
                self.df[term] += count > 0
        counted = sum(count for own in self.own.values() for _weight, count, _flags in own.values())
        self.mean_length = counted / index.bags.own_pages

    def entries(self, document: int) -> dict[int, tuple[float, int, int]]:
        """(weight, count, origins) of each term of a document."""
        part = self.bags.span(document)
        columns = (self.bags.terms, self.bags.weights, self.bags.counts, self.bags.flags)
        return {
            term: (weight, count, flags)
            for term, weight, count, flags in zip(*(column[part].tolist() for column in columns), strict=True)
        }

    def idf(self, term: int) -> float:
        return 1 + math.log((1 + self.bags.own_pages) / (1 + self.df[term]))

    @cache  # noqa: B019  # lives as long as the test
    def tfidf(self, document: int) -> dict[int, float]:
        return {t: (1 + math.log(c)) * self.idf(t) for t, (_w, c, _f) in self.own[document].items() if c}

    def cosine(self, a: int, b: int) -> float:
        one, two = self.tfidf(a), self.tfidf(b)
        norm = math.sqrt(sum(v * v for v in one.values()) * sum(v * v for v in two.values()))
        return sum(value * two.get(term, 0) for term, value in one.items()) / norm if norm else 0.0

    def bm25(self, a: int, b: int) -> float:
        length = sum(count for _w, count, _f in self.own[b].values())
        saturation = 1.2 * (0.25 + 0.75 * length / self.mean_length)
        return sum(
            self.idf(term) ** 2 * (1 + math.log(asked)) * held / (held + saturation)
            for term, (_w, asked, _f) in self.own[a].items()
            if asked and (held := self.own[b].get(term, (0, 0, 0))[1])
        )

    def title_in(self, a: int, b: int) -> float:
        """How heavy the words of a's title are among b's."""
        words = [term for term, (_w, _c, flags) in self.own[a].items() if flags & Origin.TITLE]
        heaviest = max(weight for weight, _c, _f in self.own[b].values())
        weights = [self.own[b].get(term, (0.0, 0, 0))[0] / heaviest for term in words]
        total = sum(self.idf(term) for term in words)
        return sum(self.idf(t) * w for t, w in zip(words, weights, strict=True)) / total if words else 0.0

    def of_links(self, a: int, b: int) -> tuple[float, float, float]:
        def weight(document: int, links: dict[int, set[int]]) -> float:
            return 1 / math.log2(2 + len(links[document]))

        def tie(source: int, target: int) -> float:
            return (target in self.out[source]) / math.sqrt(max(len(self.out[source]) * len(self.into[target]), 1))

        shares = []
        for mine, theirs, back in ((self.into[a], self.into[b], self.out), (self.out[a], self.out[b], self.into)):
            both = sum(1 / len(back[one]) for one in mine & theirs)
            each = [sum(weight(one, back) for one in some) + 0.25 for some in (mine, theirs)]
            shares.append(both / math.sqrt(each[0] * each[1]))
        return (tie(a, b) + tie(b, a)) / 2, shares[0], shares[1]

    def of(self, a: int, b: int) -> dict[str, float]:
        """All but the bag's, which has tests of its own."""
        direct, cocitation, coupling = self.of_links(a, b)
        own = self.bm25(a, a)
        return {
            "tfidf": self.cosine(a, b),
            "containment": min(self.bm25(a, b) / own, 1.0) if own else 0.0,
            "title": (self.title_in(a, b) + self.title_in(b, a)) / 2,
            "links": direct,
            "cocitation": cocitation,
            "coupling": coupling,
        }


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("block", [signals._BLOCK, 300])
def test_every_signal_of_the_demo_web_is_as_defined(
    demo: RelatedIndex, compiled: bool, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "_BLOCK", block)
    plain = PlainSignals(demo)
    reader = SignalReader([demo.bags], demo.documents.links(), compiled)
    chance = np.random.default_rng(5)
    seen = np.zeros(len(SIGNALS), np.bool_)
    for document in chance.choice(len(demo), 25, replace=False).tolist():
        asked = QuerySignals(reader, demo.query_of_documents((document,)), EVERY)
        linked = asked.candidates()
        others = np.union1d(linked[linked != document], chance.choice(len(demo), 40, replace=False))
        values = asked.values(others)
        seen |= (values > 0).any(axis=0)
        for other, row in zip(others.tolist(), values, strict=True):
            expected = plain.of(document, other)
            assert dict(zip(SIGNALS[1:], row[1:].tolist(), strict=True)) == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert seen.all()


def test_a_page_has_all_of_its_own_words(demo: RelatedIndex) -> None:
    document = demo.document(demo.urls[int(np.flatnonzero(demo.are_captured(np.arange(len(demo))))[0])])
    (row,) = QuerySignals(demo._signal_reader, demo.query_of_documents((document,)), EVERY).values(np.array([document]))
    assert row[:3].tolist() == pytest.approx([1, 1, 1], abs=1e-6)


def test_a_page_that_lists_hundreds_says_little_of_any_two_of_them(tmp_path: Path) -> None:
    site = "http://s.example/"
    entries = [f"entry{i}" for i in range(12)]
    pages = {f"{site}{name}": f"<title>{name}</title><p>{name} apple pear" for name in entries}
    anchors = "".join(f"<p>about {name} <a href='{site}{name}'>{name}</a>" for name in entries)
    pages[f"{site}list"] = f"<title>list</title>{anchors}"
    pages[f"{site}essay"] = (
        f"<title>essay</title><p><a href='{site}entry3'>three</a> as <a href='{site}entry7'>seven</a>"
    )
    index = index_web(tmp_path, pages, choose_strategy(settings=["content.furniture=1", "anchors.listing=1"]))
    place = SIGNALS.index("cocitation")
    listed, named = (index.document(f"{site}entry{i}") for i in (5, 7))
    asked = QuerySignals(index._signal_reader, index.query_of([f"{site}entry3"]), EVERY)
    by_list, by_essay = asked.values(np.array([listed, named]))[:, place]
    assert 0 < 4 * by_list < by_essay


def test_a_score_is_the_power_mean_of_the_signals(demo: RelatedIndex) -> None:
    weights = Signals(3.0, 1.0, 0.0, 2.0, 0.5, 0.0, 0.25)
    query = demo.query_of_documents((17,))
    everyone = np.arange(len(demo))
    each = np.array(weights.weights())
    values = QuerySignals(demo._signal_reader, query, EVERY).values(everyone)
    lists = LinkColumns.of(demo.corpus.kin).lists
    assert lists.any()
    expected = (np.sqrt(values) @ each / each.sum()) ** 2 * np.where(lists > 0, 0.5, 1.0)
    np.testing.assert_allclose(QuerySignals(demo._signal_reader, query, weights).scores(everyone), expected, atol=1e-6)


def test_reasons_are_the_signals_that_make_up_the_score(demo: RelatedIndex) -> None:
    results = demo.related(demo.urls[17], 5, explain=True)
    assert len(results) == 5
    for result in results:
        assert sum(signal.contribution for signal in result.signals) == pytest.approx(result.similarity, abs=1e-5)
        shares = [signal.contribution for signal in result.signals]
        assert shares == sorted(shares, reverse=True)
        assert all(0 < signal.value <= 1 for signal in result.signals)
    assert not demo.related(demo.urls[17], 1)[0].signals


def test_an_overview_that_holds_all_of_a_short_page_is_found_by_containment(tmp_path: Path) -> None:
    subject = " ".join(f"mineral{i}" for i in range(12))
    others = " ".join(f"fossil{i}" for i in range(60))
    web = {
        "http://s.example/asked": f"<p>{subject}",
        "http://s.example/overview": f"<p>{subject} {others}",
        "http://s.example/sibling": "<p>mineral0 mineral1 mineral2 mineral3 mineral4 jade opal amber pearl coral",
        "http://s.example/elsewhere": f"<p>{others} feathers wings",
    }
    order = {}
    for setting in ("signals.containment=0", "signals.containment=20"):
        folder = tmp_path / setting
        folder.mkdir()
        order[setting] = [r.url for r in index_web(folder, web, plainly(setting)).related("http://s.example/asked", 5)]
    assert order["signals.containment=0"][:2] == ["http://s.example/sibling", "http://s.example/overview"]
    assert order["signals.containment=20"][:2] == ["http://s.example/overview", "http://s.example/sibling"]


def test_a_page_that_only_links_reach_is_found_all_the_same(tmp_path: Path) -> None:
    web = {
        "http://s.example/asked": "<p>granite <a href=/linked>over there</a>",
        "http://s.example/linked": "<p>basalt lava",
        "http://s.example/other": "<p>feathers wings",
    }
    index = index_web(tmp_path, web, choose_strategy(settings=["anchors.scale=0"]))
    assert [result.url for result in index.related("http://s.example/asked")] == ["http://s.example/linked"]
    bag_alone = plainly("signals.links=0")
    (tmp_path / "other").mkdir()
    assert not index_web(tmp_path / "other", web, bag_alone).related("http://s.example/asked")


def test_a_wish_changes_the_weights_but_a_strategy_of_bags_alone_stays_so(demo: RelatedIndex) -> None:
    default, paper = choose_strategy(), choose_strategy("haveliwala2002")
    assert len({default.signals_for(wish) for wish in ("", "kin", "see-also")}) == 3
    assert default.signals_for("both") == default.signals_for("")
    assert {paper.signals_for(wish) for wish in ("", "both", "kin", "see-also")} == {paper.signals}
    tuned = choose_strategy(settings=["wish=kin", "signals.bag=9"])
    assert tuned.signals_for("kin") == tuned.signals_for("") == tuned.signals
    assert tuned.signals_for("see-also") == default.signals_for("see-also")
    assert tuned.digest() == default.digest(), "no index depends on the weights of signals"
    lists = {
        wish: [
            result.url for result in demo.answer(demo.query_of_documents((3,)), RankingOptions(k=30, wish=wish)).results
        ]
        for wish in ("kin", "see-also")
    }
    assert lists["kin"] != lists["see-also"]


def test_a_page_that_only_lists_is_said_to_and_counts_half(demo: RelatedIndex) -> None:
    listing = [url for url in demo.urls if demo.only_lists(url)]
    assert listing
    assert len(listing) == demo.corpus.facts["index"]["listing_pages"]
    flags = Collection("demo", demo.corpus.kin.path).describe(DescribeRequest(url=listing[0])).page["flags"]
    assert "only lists" in flags


def test_links_that_are_read_are_bounded_and_those_of_pages_with_few_links_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = " ".join(f"<a href=/{i}>stone{i}</a>" for i in range(30))
    web = {f"http://s.example/{i}": f"<p>stone{i}" for i in range(30)}
    web |= {"http://s.example/few": "<a href=/0>stone0</a> <a href=/1>stone1</a>", "http://s.example/many": crowd}
    index = index_web(tmp_path, web, choose_strategy())
    links = index.documents.links()
    asked = index.document("http://s.example/0")

    def cited_together() -> int:
        linked = LinkedDocuments(links, (asked,), np.zeros(0, np.int64))
        return int(np.count_nonzero(linked.values(np.arange(len(index)))[:, 1]))

    assert cited_together() == 30
    monkeypatch.setattr(signals, "LINK_ENTRIES", 10)
    assert cited_together() == 2


def cut_links(whole: LinkColumns, first: int, last: int) -> LinkColumns:
    """The links of some documents, as a shard holds them."""

    def cut(offsets: Array, entries: Array) -> tuple[Array, Array]:
        own = offsets[first : last + 1].astype(np.int64)
        return own - own[0], entries[own[0] : own[-1]]

    rows = (column[first:last] for column in (whole.out_weight, whole.in_weight, whole.lists))
    return LinkColumns(*cut(whole.out_offsets, whole.out), *cut(whole.in_offsets, whole.into), *rows)


def test_links_of_many_documents_are_those_of_each_in_one_piece_in_shards_and_in_a_shard_alone(
    demo: RelatedIndex,
) -> None:
    whole, third = LinkColumns.of(demo.corpus.kin), len(demo) // 3
    parts = [cut_links(whole, *bounds) for bounds in ((0, third), (third, 2 * third), (2 * third, len(demo)))]
    alone = DocumentLinks([parts[1]], third, len(demo))
    chance = np.random.default_rng(3)
    for links, many in (DocumentLinks([whole]), len(demo)), (DocumentLinks(parts), len(demo)), (alone, third):
        some = chance.permutation(many)[:200]
        for all_of, of_one in (links.all_out, links.out), (links.all_into, links.into):
            reached, sizes = all_of(some)
            expected = [of_one(document) for document in some.tolist()]
            assert sizes.tolist() == [len(one) for one in expected]
            assert reached.tolist() == np.concatenate(expected).tolist()
            assert len(reached) > 0
            assert [len(one) for one in all_of(some[:0])] == [0, 0]
