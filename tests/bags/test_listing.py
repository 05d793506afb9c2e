"""Links that say nothing of their target: navigation, pages that list a large part of a site, alphabetical indexes."""

import numpy as np
import pytest

from pagekin.bags import LinkColumns, LinkUse, Strategy, choose_strategy, classify_links, link_weights
from pagekin.bags.judging import LEAST_LISTED
from pagekin.hypertext import Corpus

from .oracle import Oracle
from .test_against_oracle import assert_as_the_oracle_says
from .webs import bags_of, make, plainly, read_web

SITE = "http://site.example/"
PAGES = 60


def word(number: int) -> str:
    """A word of its own for each number, in alphabetical order."""
    return "z" + "".join("bcdfghjklm"[int(digit)] for digit in f"{number:03}")


def article(number: int, body: str = "") -> str:
    """A page of its own words that links to the next and the previous one."""
    before, after = (number - 1) % PAGES, (number + 1) % PAGES
    return (
        f"<title>{word(number)}</title><p>{body} About {word(number)} and quartz."
        f"<p><a href=/{before}>previous</a> <a href=/{after}>next</a>"
    )


def site(**more: str) -> dict[str, str]:
    """Sixty articles, and pages that link to them."""
    return {f"{SITE}{number}": article(number) for number in range(PAGES)} | {
        f"{SITE}{name}": html for name, html in more.items()
    }


def links(numbers: range, between: str = "") -> str:
    """Return links to some articles."""
    return f" {between} ".join(f"<a href=/{number}>{word(number)}</a>" for number in numbers)


def uses(corpus: Corpus, page: str, strategy: Strategy | None = None) -> dict[str, LinkUse]:
    """Return the use of each link of a page by its words."""
    found = classify_links(corpus, strategy or choose_strategy())
    (number,) = corpus.pages_of(corpus.url_number(f"{SITE}{page}"))
    return {corpus.anchor_text(anchor): LinkUse(int(found[anchor])) for anchor in corpus.anchors_out(number)}


def test_links_of_the_same_words_to_other_pages_each_time_are_navigation() -> None:
    corpus = read_web(site())
    assert set(uses(corpus, "7").values()) == {LinkUse.FURNITURE}
    bags = make(corpus, plainly("content.scale=1", "links.scale=1", "outlinks.scale=1", "content.furniture=0.2"))
    assert set(bags.terms(f"{SITE}7")) == {word(7), "quartz"}
    assert set(uses(corpus, "7", choose_strategy(settings=["content.furniture=1"])).values()) == {LinkUse.COUNTS}


def test_the_same_words_for_the_same_page_are_no_navigation() -> None:
    partner = "<a href=http://partner.example/>Partner</a>"
    pages = {f"{SITE}{n}": article(n, partner if n % 2 else "") for n in range(PAGES)}
    assert uses(read_web(pages), "7")["partner"] == LinkUse.COUNTS


def test_the_same_words_for_the_same_page_on_most_pages_of_a_folder_are_its_menu() -> None:
    partner = "<a href=http://partner.example/>Partner</a>"
    pages = {f"{SITE}{n}": article(n, partner if n % 5 else "") for n in range(PAGES)}
    assert uses(read_web(pages), "7")["partner"] == LinkUse.FURNITURE


def test_a_page_that_links_to_a_large_share_of_its_site_only_lists() -> None:
    listing, topic = links(range(40), "comes before"), links(range(20), "comes before")
    corpus = read_web(site(contents=listing, topic=topic))
    assert set(uses(corpus, "contents").values()) == {LinkUse.LISTED}
    assert set(uses(corpus, "topic").values()) == {LinkUse.COUNTS}, "a list that gathers by topic keeps its worth"
    assert set(uses(corpus, "contents", choose_strategy(settings=["anchors.listing=1"])).values()) == {LinkUse.COUNTS}


def test_small_sites_have_no_page_that_only_lists() -> None:
    few = {f"{SITE}{n}": f"<p>{word(n)}" for n in range(LEAST_LISTED - 1)} | {f"{SITE}all": links(range(31))}
    assert set(uses(read_web(few), "all").values()) == {LinkUse.COUNTS}
    enough = {**few, f"{SITE}31": f"<p>{word(31)}", f"{SITE}all": links(range(32))}
    assert set(uses(read_web(enough), "all").values()) == {LinkUse.LISTED}


@pytest.mark.parametrize(
    ("entries", "is_index"),
    [
        pytest.param(" ".join(f"<a href=/{n % 21}>{word(n)}</a>" for n in range(63)), True, id="terms in order"),
        pytest.param(" ".join(f"<a href=/{n % 21}>{word(n * 37 % 63)}</a>" for n in range(63)), False, id="no order"),
        pytest.param(" ".join(f"<a href=/{n % 21}>{word(n)}</a> said" for n in range(63)), False, id="text between"),
        pytest.param(links(range(21)), False, id="too few"),
    ],
)
def test_an_alphabetical_index_of_terms_is_known_by_its_order(entries: str, is_index: bool) -> None:
    many = {f"{SITE}more/{n}": f"<p>{word(n)}" for n in range(100)}  # so that 21 pages are no large share
    corpus = read_web(site(index=entries) | many)
    assert set(uses(corpus, "index").values()) == {LinkUse.LISTED if is_index else LinkUse.COUNTS}


def test_what_only_lists_gives_no_windows_and_keeps_its_words() -> None:
    web = site(contents=links(range(40), "basalt"))
    for share, has_windows in (("0.2", False), ("1", True)):
        made = bags_of(web, plainly("content.scale=1", "links.scale=1", f"anchors.listing={share}"))
        assert ("basalt" in made.terms(f"{SITE}7")) is has_windows
        assert (f"{SITE}contents" in made.terms(f"{SITE}7")) is has_windows
        assert {"basalt", word(7)} <= set(made.terms(f"{SITE}contents"))
        document = made.bags.document(made.corpus.url_number(f"{SITE}7"))
        assert int(made.bags.inlinks[document]) == 3, "it still counts as a page that links there"


@pytest.mark.parametrize(
    "chosen", ["", "anchors.listing=0", "anchors.listing=1 links.scale=1", "content.furniture=1 links.scale=1"]
)
def test_a_site_with_a_list_and_an_index_is_as_the_oracle_says(chosen: str) -> None:
    index = " ".join(f"<a href=/{n % 21}>{word(n)}</a>" for n in range(63))
    corpus = read_web(site(contents=links(range(40)), topic=links(range(20), "of"), index=index))
    strategy = choose_strategy(settings=chosen.split())
    assert_as_the_oracle_says(make(corpus, strategy), Oracle(corpus).make(strategy))


def test_the_graph_of_links_holds_what_counts_both_ways() -> None:
    web = site(contents=links(range(40)), topic=links(range(3)), other=f"{links(range(1))} <a href=/topic>topic</a>")
    made = make(read_web(web), choose_strategy())
    columns = LinkColumns.of(made.kin)
    number = {url: place for place, url in enumerate(made.urls())}

    def ends(offsets: np.ndarray, there: np.ndarray, page: str) -> set[str]:
        document = number[f"{SITE}{page}"]
        part = there[int(offsets[document]) : int(offsets[document + 1])]
        return {made.urls()[int(one)].removeprefix(SITE) for one in part}

    assert ends(columns.out_offsets, columns.out, "topic") == {"0", "1", "2"}
    assert ends(columns.in_offsets, columns.into, "0") == {"topic", "other"}
    assert ends(columns.out_offsets, columns.out, "contents") == set()
    weight = link_weights(np.array([3, 2]))
    assert float(columns.in_weight[number[f"{SITE}0"]]) == pytest.approx(weight.sum())
    assert float(columns.out_weight[number[f"{SITE}other"]]) == pytest.approx(link_weights(np.array([2, 1])).sum())


def test_a_short_sheet_of_an_index_is_known_by_the_others() -> None:
    sheets = {
        f"index-{letter}": links(range(first, first + 40))
        for letter, first in zip("ABCD", range(0, 20, 5), strict=True)
    }
    short = {
        "index-J": f"Sheet J {links(range(50, 53))}",
        "index-K": f"{'Prose about quartz. ' * 20}{links(range(53, 56))}",
    }
    corpus = read_web(site(**sheets, **short))
    assert set(uses(corpus, "index-A").values()) == {LinkUse.LISTED}
    assert set(uses(corpus, "index-J").values()) == {LinkUse.LISTED}
    assert set(uses(corpus, "index-K").values()) == {LinkUse.COUNTS}  # most of its words are its own
    alone = read_web(site(**{"index-A": sheets["index-A"], "index-B": sheets["index-B"]}, **short))
    assert set(uses(alone, "index-J").values()) == {LinkUse.COUNTS}


def test_a_sidebar_in_alphabetical_order_is_no_index() -> None:
    listed = {f"member-{number}": f"<p>Member {number}.</p>{links(range(40))}{links(range(40))}" for number in range(6)}
    others = {f"other-{number}": "<p>Another page.</p>" for number in range(200)}
    corpus = read_web(site(**listed, **others))
    assert set(uses(corpus, "member-1").values()) == {LinkUse.COUNTS}
    once = read_web(site(**{"member-1": listed["member-1"]}, **others))
    assert set(uses(once, "member-1").values()) == {LinkUse.LISTED}


def test_a_long_text_that_links_to_much_of_a_site_is_no_list() -> None:
    prose = links(range(LEAST_LISTED + 8), "and then many other words about quartz and granite")
    corpus = read_web(site(manual=prose, contents=links(range(LEAST_LISTED + 8))))
    assert set(uses(corpus, "manual").values()) == {LinkUse.COUNTS}
    assert set(uses(corpus, "contents").values()) == {LinkUse.LISTED}


def test_an_index_is_judged_by_its_own_host_though_other_hosts_copy_it() -> None:
    entries = sorted(
        (f"z{word(number)} {more}", number) for number in range(25) for more in ("basalt", "marble", "slate")
    )
    index = "".join(f"<a href={SITE}{number}>{text}</a> " for text, number in entries)
    copies = {f"http://other.example/{copy}": index for copy in range(8)}
    assert set(uses(read_web(site(index=index)), "index").values()) == {LinkUse.LISTED}
    assert set(uses(read_web(site(index=index) | copies), "index").values()) == {LinkUse.LISTED}
