"""What a bag is merged from (sections 3.1 and 6.1): own words, title, links by other pages, citing pages."""

from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import Bags, choose_strategy, make_bags
from pagekin.store import KinWriter, check_files, open_kin

from .webs import MadeBags, bags_of, make, moved, plainly, read_records, read_web, record, shares

PAGE = "http://www.stones.example/granite"
HOST, SISTER, OTHER = "http://www.stones.example/", "http://shop.stones.example/", "http://rocks.example/"


def link(text: str, target: str = PAGE) -> str:
    return f"<a href={target}>{text}</a>"


# -- the page's own words -------------------------------------------------------------------------------------------


def test_content_is_running_text_and_alternative_texts() -> None:
    html = """<title>basalt</title><meta name=keywords content=slate><p>Granite and <b>mica</b>, granite
        <img alt=quartz> <!-- marble --> <script>var gneiss</script>"""
    made = bags_of({PAGE: html}, plainly("content.scale=1", "anchors.scale=0"))
    assert made.bag(PAGE) == pytest.approx(shares({"granite": 2, "mica": 1, "quartz": 1}))
    assert made.origins(PAGE) == {word: ["content"] for word in ("granite", "mica", "quartz")}


TITLED = {PAGE: "<title>The granite</title><p>mica", OTHER: link("quartz") * 3, SISTER: link("quartz")}


def test_a_title_counts_once_however_many_links_there_are() -> None:
    made = bags_of(TITLED, plainly("title.scale=1", "window.size=0"))
    assert made.bag(PAGE) == pytest.approx(shares({"granite": 1, "quartz": 4}))
    assert made.origins(PAGE) == {"granite": ["title"], "quartz": ["anchors"]}


def test_a_title_stands_at_distance_0() -> None:
    made = bags_of(TITLED, plainly("title.scale=1", "window.size=0", "content.scale=1", "weight.distance=log"))
    assert made.bag(PAGE) == pytest.approx(shares({"granite": 5, "mica": 1, "quartz": 20}))


def test_where_links_are_left_out_there_is_no_distance_and_a_title_word_counts_as_one() -> None:
    made = bags_of(TITLED, plainly("title.scale=1", "content.scale=1", "weight.distance=log", "anchors.scale=0"))
    assert made.bag(PAGE) == pytest.approx(shares({"granite": 1, "mica": 1}))


def test_a_title_is_no_content() -> None:
    made = bags_of(TITLED, plainly("title.scale=0", "content.scale=1", "anchors.scale=0"))
    assert made.bag(PAGE) == {"mica": 1.0}


def test_each_part_has_its_scale() -> None:
    scales = ["content.scale=3", "title.scale=2", "anchors.scale=0.5", "links.scale=7", "weight.distance=log"]
    web = {PAGE: "<title>granite</title>mica", OTHER: f"slate {link('quartz mica')}"}
    made = bags_of(web, plainly(*scales))
    expected = {"granite": 2 * 5, "mica": 3 + 0.5 * 5, "quartz": 0.5 * 5, "slate": 0.5 * 4, OTHER: 7}
    assert made.bag(PAGE) == pytest.approx(shares(expected))
    assert made.origins(PAGE) == {
        "granite": ["title"],
        "mica": ["content", "anchors"],
        "quartz": ["anchors"],
        "slate": ["anchors"],
        OTHER: ["links"],
    }


# -- links that count -----------------------------------------------------------------------------------------------


def test_a_page_that_links_to_itself_gives_itself_nothing() -> None:
    old = f"{HOST}old"
    html = " ".join(link("granite", href) for href in (PAGE, f"{PAGE}#top", "#top", old))
    corpus = read_records([record(PAGE, html), moved(old, PAGE)])
    assert len(corpus.kin["anchor.target"]) == 4
    made = make(corpus, plainly("links.scale=1"))
    assert made.urls() == []
    assert made.facts["without_words"] == 1


REPEATED = {
    f"{HOST}a": f"<p>mica {link('granite')}<p>marble {link('the granite')}",
    f"{HOST}b": f"<p>quartz {link('granite')}<p>slate {link('granite slabs')}",
    f"{SISTER}c": f"<p>basalt {link('granite')}",
}


def test_every_link_counts() -> None:
    made = bags_of(REPEATED, plainly("window.kind=syntactic"))
    expected = {"granite": 5, "slabs": 1, "mica": 1, "marble": 1, "quartz": 1, "slate": 1, "basalt": 1}
    assert made.bag(PAGE) == pytest.approx(shares(expected))


def test_of_links_with_the_same_kept_words_on_one_host_the_first_counts() -> None:
    made = bags_of(REPEATED, plainly("window.kind=syntactic", "anchors.repeat=once"))
    expected = {"granite": 3, "slabs": 1, "mica": 1, "slate": 1, "basalt": 1}
    assert made.bag(PAGE) == pytest.approx(shares(expected))


def test_the_order_of_the_words_makes_another_link_text() -> None:
    web = {HOST: f"{link('granite slabs')} {link('slabs granite')} {link('slabs granite')}", PAGE: "mica"}
    made = bags_of(web, plainly("window.size=0", "anchors.repeat=once", "content.scale=1"))
    assert made.bag(PAGE) == pytest.approx(shares({"granite": 2, "slabs": 2, "mica": 1}))


def test_the_same_link_text_to_another_page_counts_for_that_page() -> None:
    web = {HOST: f"{link('granite')} {link('granite', OTHER)} {link('granite')}"}
    made = bags_of(web, plainly("window.size=0", "anchors.repeat=once"))
    assert made.bag(PAGE) == made.bag(OTHER) == {"granite": 1.0}


def test_ports_make_hosts_of_their_own() -> None:
    web = {f"http://rocks.example{port}/": link("granite") for port in ("", ":81", ":82")}
    made = bags_of({**web, PAGE: "mica"}, plainly("window.size=0", "anchors.repeat=once", "content.scale=1"))
    assert made.bag(PAGE) == pytest.approx(shares({"granite": 3, "mica": 1}))


def test_links_within_a_site_can_be_left_out() -> None:
    web = {HOST: link("mica"), SISTER: link("quartz"), OTHER: link("slate")}
    every = bags_of(web, plainly("window.size=0", "links.scale=1"))
    assert every.bag(PAGE) == pytest.approx(shares(["mica", "quartz", "slate", HOST, SISTER, OTHER]))
    others = bags_of(web, plainly("window.size=0", "links.scale=1", "anchors.within_site=no"))
    assert others.bag(PAGE) == pytest.approx(shares(["slate", OTHER]))


def test_a_site_is_a_registrable_domain() -> None:
    page, stranger = "http://stones.co.uk/", "http://rocks.co.uk/"
    web = {stranger: link("slate", page), "http://www.stones.co.uk/": link("mica", page)}
    made = bags_of(web, plainly("window.size=0", "anchors.within_site=no"))
    assert made.bag(page) == {"slate": 1.0}


def test_link_texts_that_differ_are_told_apart_whatever_the_numbers_of_their_words() -> None:
    """All texts of up to two words that the collection has, on its first host: word 1 and no word at all were one text."""
    words = ["granite", "mica", "quartz"]
    texts = ["", *words, *(f"{first} {second}" for first in words for second in words)]
    web = {HOST: " ".join(f"<p>mica {link(text, OTHER)} mica" for text in texts)}
    once, every = (
        bags_of(web, plainly("window.kind=syntactic", f"anchors.repeat={repeat}")).bag(OTHER)
        for repeat in ("once", "every")
    )
    assert once == every == pytest.approx(shares({"granite": 7, "mica": 7 + 2 * len(texts), "quartz": 7}))


def test_a_citing_page_is_held_once() -> None:
    web = {HOST: link("mica") * 3 + link("quartz", OTHER), OTHER: link("slate")}
    made = bags_of(web, plainly("anchors.scale=0", "links.scale=1"))
    assert made.bag(PAGE) == pytest.approx(shares([HOST, OTHER]))
    assert made.bag(OTHER) == {HOST: 1.0}
    assert made.origins(OTHER) == {HOST: ["links"]}
    assert made.facts["bag_links"] == 2
    assert made.facts["bag_words"] == 0


def test_inlinks_are_counted_by_page_and_without_the_page_itself() -> None:
    web = {PAGE: link("mica"), HOST: link("mica") * 3, SISTER: link("mica"), OTHER: f"slate {link('slate', HOST)}"}
    made = bags_of(web, plainly("content.scale=1"))
    inlinks = dict(zip(made.urls(), made.kin["bag.inlinks"].tolist(), strict=True))
    assert inlinks == {PAGE: 2, HOST: 1, SISTER: 0, OTHER: 0}


def test_pages_that_do_not_cite_keep_their_own_bags() -> None:
    web = {HOST: f"mica {link('granite')}", OTHER: link("slate")}
    strategy = plainly("links.scale=1", "content.scale=1", "window.size=0")
    made = bags_of(web, strategy, not_citing=[HOST])
    assert made.bag(PAGE) == pytest.approx(shares(["slate", OTHER]))
    assert made.bag(HOST) == pytest.approx(shares(["mica", "granite"]))
    assert made.facts["not_citing"] == 1
    only_there = bags_of({HOST: link("granite")}, plainly(), not_citing=[HOST])
    assert only_there.urls() == []


def test_links_to_an_alias_are_links_to_the_page() -> None:
    old = f"{HOST}old"
    corpus = read_records([record(PAGE, "mica"), moved(old, PAGE), record(OTHER, link("granite", old))])
    made = make(corpus, plainly())
    assert made.urls() == [PAGE]
    assert made.bag(PAGE) == {"granite": 1.0}


def test_of_several_captures_the_newest_alone_speaks() -> None:
    records = [
        record(HOST, f"quartz {link('gneiss')}", "2019-01-01T00:00:00Z"),
        record(HOST, f"mica {link('granite')}", "2021-01-01T00:00:00Z"),
        record(HOST, f"basalt {link('marble')}", "2018-01-01T00:00:00Z"),
    ]
    corpus = read_records(records, all_captures=True)
    assert len(corpus) == 3
    made = make(corpus, plainly("content.scale=1", "links.scale=1"))
    assert made.bag(HOST) == pytest.approx(shares(["mica", "granite"]))
    assert made.bag(PAGE) == pytest.approx(shares(["mica", "granite", HOST]))
    assert made.facts["without_words"] == 0


# -- which URLs have bags, and how many hold a term ------------------------------------------------------------------


def test_addresses_known_by_links_alone_have_bags() -> None:
    made = bags_of({HOST: f"{link('granite')} {link('the', OTHER)} {link('mica', HOST)}"}, plainly("window.size=0"))
    assert made.urls() == [PAGE]
    assert made.bags.document(made.corpus.urls.find(OTHER.encode())) == -1
    assert made.bags.document(10**6) == -1


def test_pages_without_a_word_that_counts_have_no_bag() -> None:
    web = {HOST: "<title>granite</title>", SISTER: "<p>the of and", OTHER: "<p>1848"}
    made = bags_of(web, choose_strategy(settings=["words=mixed"]))
    assert made.urls() == [HOST]
    assert made.facts["without_words"] == 2


def test_a_web_without_words_has_no_bags_at_all() -> None:
    made = bags_of({HOST: "<p>the", OTHER: f"<p>{link('of')}"}, choose_strategy(settings=["outlinks.scale=0"]))
    assert made.facts["bags"] == made.facts["bag_entries"] == len(made.bags) == 0
    assert made.bags.offsets.tolist() == [0]
    assert made.bags.find(np.array([1, 2], dtype=np.uint64)).tolist() == [-1, -1]


def test_document_frequency_counts_merged_bags_after_stemming() -> None:
    web = {
        PAGE: "<title>Stones</title><p>stone stones",
        HOST: f"<p>stoned {link('stone')}",
        OTHER: f"<p>basalt {link('basalt', SISTER)}",
    }
    made = bags_of(web, choose_strategy(settings=["stemming=stem", "window.size=0", "outlinks.scale=0"]))
    df = {
        made.bags.term_text(made.corpus, term): int(made.bags.df(np.array([term]))[0])
        for term in range(len(made.bags.hashes))
    }
    assert df == {"stone": 2, "basalt": 2}


def test_a_stem_is_shown_as_its_most_common_word() -> None:
    web = {PAGE: "<p>connected connecting connecting connection", HOST: "<p>connection connecting"}
    made = bags_of(web, choose_strategy(settings=["stemming=stem"]))
    assert made.terms(PAGE) == made.terms(HOST) == ["connecting"]


def test_frequency_weights_by_hand() -> None:
    web = {PAGE: "granite mica", HOST: "granite mica", SISTER: "granite quartz", OTHER: "granite slate slate"}
    for frequency, weights in (
        ("log", {"granite": 1 / 3, "slate": 2.0}),
        ("sqrt", {"granite": 1 / 2, "slate": 2.0}),
        ("none", {"granite": 1.0, "slate": 2.0}),
    ):
        made = bags_of(web, plainly("content.scale=1", f"weight.frequency={frequency}"))
        assert made.bag(OTHER) == pytest.approx(shares(weights)), frequency
    made = bags_of(web, plainly("content.scale=1", "weight.frequency=nmdf", "weight.mu=0", "weight.sigma=1"))
    assert made.bag(OTHER) == pytest.approx(shares({"granite": np.exp(-0.5 * np.log(4) ** 2), "slate": 2.0}))
    assert made.facts["nmdf"] == {"mu": 0.0, "sigma": 1.0}


def test_the_centre_of_nmdf_goes_with_the_number_of_bags_and_is_noted() -> None:
    web = {f"{HOST}{i}": f"granite word{'abcdefghij'[i]}" for i in range(10)}
    made = bags_of(web, plainly("content.scale=1", "weight.frequency=nmdf", "weight.centre=0.5", "weight.sigma=2"))
    assert made.facts["nmdf"] == pytest.approx({"mu": np.log(5), "sigma": 2})
    paper = bags_of(web, choose_strategy("haveliwala2002"))
    assert paper.facts["nmdf"]["mu"] == pytest.approx(np.log(100) + np.log(10 / 51_469))


def test_bags_are_stored_as_they_were_made(tmp_path: Path) -> None:
    corpus = read_web(TITLED)
    expected = make(corpus, choose_strategy())
    with KinWriter(tmp_path / "bags.kin", "test") as writer:
        writer.commit({"index": make_bags(corpus, choose_strategy(), writer)})
    assert list(check_files(tmp_path / "bags.kin")) == []
    kin = open_kin(tmp_path / "bags.kin")
    assert MadeBags(corpus, kin, Bags(kin), kin.facts["index"]).arrays() == expected.arrays()
    assert kin.facts["index"] == expected.facts
    bags = Bags(kin)
    assert [bags.document(int(url)) for url in bags.urls] == list(range(len(bags)))


def test_terms_are_found_by_their_hashes_and_nothing_else_is(demo_kin: Path) -> None:
    bags = Bags(open_kin(demo_kin))
    hashes = bags.hashes[:: max(1, len(bags.hashes) // 200)]
    number = {value: place for place, value in enumerate(bags.hashes.tolist())}
    edges = np.array([0, 1, bags.hashes.min(), bags.hashes.max(), 2**64 - 1], np.uint64)
    asked = np.concatenate([hashes, hashes + np.uint64(1), edges])
    assert bags.find(asked).tolist() == [number.get(value, -1) for value in asked.tolist()]
    assert bags.find(asked[:0]).tolist() == []
