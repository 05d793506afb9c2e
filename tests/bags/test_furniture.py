"""Site furniture (content.furniture): which links of a host are left out with their words, and what still counts."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.bags import (
    BagWorkshop,
    LinkUse,
    Strategy,
    choose_strategy,
    classify_links,
    furniture,
    judging,
    links,
    menus,
)
from pagekin.bags import build as building
from pagekin.bags.furniture import classify_by_epoch, words_in_furniture
from pagekin.bags.judging import FEWEST
from pagekin.hypertext import Corpus

from .oracle import Oracle
from .test_against_oracle import assert_as_the_oracle_says
from .webs import bags_of, judged_in_shards, make, plainly, read_records, read_web, record

generated = settings(derandomize=True, database=None, deadline=None, max_examples=60)
BIG = "http://big.example/"
SMALL = "http://small.example/"
MINERALS = "granite basalt mica quartz slate gneiss marble topaz opal jade".split()
NAVIGATION = "<a href=/>Entrance</a> <a href=/help>Aid desk</a> <a href=http://out.example/>Partner</a>"


def big_page(number: int) -> str:
    """One of ten pages: navigation, and a paragraph with a link to the next page."""
    own, following = MINERALS[number], (number + 1) % 10
    return f"<title>{own}</title>{NAVIGATION}<p>About {own}, after <a href=/{following}>{MINERALS[following]}</a> comes"


def records() -> list[bytes]:
    """Ten pages with navigation, a home page and a help page; one page in four captures; another host of four pages."""
    pages = {f"{BIG}{number}": big_page(number) for number in range(10)}
    pages[BIG] = f"{NAVIGATION}<p>Welcome to <a href=/3>mica</a> and more"
    pages[f"{BIG}help"] = f"{NAVIGATION}<p>Nobody needs help"
    pages |= {f"{SMALL}{number}": "<a href=/>Portal</a> small talk about stones" for number in range(3)}
    pages[SMALL] = f"<a href=/>Portal</a> elsewhere is <a href={BIG}>the big home</a>"
    found = [record(url, html) for url, html in pages.items()]
    # Were the older captures of /5 counted, four pages would link to /4.
    found += [
        record(f"{BIG}5", f"{NAVIGATION} <a href=/4>older</a> page {year}", f"{year}-01-01T00:00:00Z")
        for year in (2001, 2002, 2003)
    ]
    return found


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_records(records(), all_captures=True)


def left_out(corpus: Corpus, *chosen: str) -> set[tuple[str, str]]:
    """(page, target) of the links that are furniture."""
    found = classify_links(corpus, choose_strategy(settings=chosen))
    return {
        (corpus.page_url(page), corpus.url(int(corpus.kin["anchor.target"][anchor])))
        for page in range(len(corpus))
        for anchor in corpus.anchors_out(page)
        if found[anchor]
    }


@pytest.mark.parametrize(
    "together",
    [
        "",
        "content.furniture=0",
        "content.furniture=0.9",
        "content.furniture=0.95",
        "content.furniture=1",
        "links.scale=1 content.lead=3 window.kind=syntactic",
        "anchors.within_site=off links.scale=1 weight.frequency=log",
        "anchors.repeat=every window.size=2 weight.tf=raw stemming=stem",
    ],
)
def test_a_host_with_navigation_is_as_the_oracle_says(corpus: Corpus, together: str) -> None:
    strategy = choose_strategy(settings=together.split())
    assert_as_the_oracle_says(make(corpus, strategy), Oracle(corpus).make(strategy))


def test_links_on_all_pages_are_furniture_and_no_others(corpus: Corpus) -> None:
    pages = {corpus.page_url(page) for page in range(len(corpus)) if corpus.page_url(page).startswith(BIG)}
    assert len(pages) == 12
    # A page's link to itself is as much in the way as the others; links into the host are no furniture.
    everywhere = (BIG, f"{BIG}help", "http://out.example/")
    assert left_out(corpus) == {(page, target) for page in pages for target in everywhere}
    assert left_out(corpus, "content.furniture=1") == set()


def test_the_share_is_of_the_newest_captures_and_without_a_page_s_link_to_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(menus, "FEWEST_PAGES", 100)  # nothing is repeated often enough
    corpus = read_records(records(), all_captures=True)
    inside = {(page, target) for page, target in left_out(corpus, "content.furniture=0.3") if target.startswith(BIG)}
    # 11 of the 12 pages of the host link to the home page besides itself.
    assert left_out(corpus, f"content.furniture={11 / 12}") == inside
    assert left_out(corpus, f"content.furniture={11 / 12 + 0.001}") == set()


ROOMS = ("cave", "quarry", "mine", "museum", "shop", "river")
NEIGHBOURS = list(pairwise([*MINERALS, MINERALS[0]]))
OTHERS = {f"{BIG}{number}": MINERALS[number % 10] for number in range(130)}
"""So many pages outside of sections that what three sections have is not on a fifth of the host."""


def sections(around: str, names: list[str] = MINERALS) -> dict[str, str]:
    """Pages on minerals in six sections of a host; all repeat `around`, with the name of their section in place of ROOM."""
    return {
        f"{BIG}{room}/{word}": f"{around.replace('ROOM', room)}<p>{word} lies beside <a href={following}>{following}</a>."
        for room in ROOMS
        for word, following in NEIGHBOURS
        if word in names
    }


def menu(of: list[str]) -> str:
    """A list of links to pages of the section."""
    return "".join(f"<li><a href={word}>The ROOM's {word}</a>" for word in of)


def repeated(web: dict[str, str], *chosen: str) -> set[str]:
    """The targets of furniture on the page on mica in the cave."""
    return {target for page, target in left_out(read_web(web), *chosen) if page == f"{BIG}cave/mica"}


def test_the_menu_of_a_section_is_furniture_though_most_of_the_host_lacks_it() -> None:
    sponsor = "<a href=http://out.example/ROOM>Sponsor of the ROOM</a>"
    corpus = read_web(sections(menu(MINERALS[:6]) + sponsor))
    listed = {(page, f"{page.rpartition('/')[0]}/{word}") for page in sections("") for word in MINERALS[:6]}
    listed |= {(page, f"http://out.example/{page.split('/')[3]}") for page in sections("")}
    in_text = {(f"{BIG}{room}/{word}", f"{BIG}{room}/{following}") for room in ROOMS for word, following in NEIGHBOURS}
    assert left_out(corpus) == listed
    assert not in_text <= listed
    bags = make(corpus, plainly("content.scale=1", "content.furniture=0.2"))
    assert not {"cave", "sponsor"} & set(bags.terms(f"{BIG}cave/mica"))
    assert {"mica", "quartz", "lies"} <= set(bags.terms(f"{BIG}cave/mica"))


def test_the_path_to_a_section_and_what_all_its_pages_name_are_no_menu() -> None:
    path = "<a href=/ROOM/>All about the ROOM</a>"
    web = sections(f"{path} of <a href=granite>granite in the ROOM</a>") | {
        f"{BIG}{room}/": "<p>Stones of this place" for room in ROOMS
    }
    assert not left_out(read_web(web))
    # Five links that lead to half of the folder are too few for a menu, and so are six that lead to less than half.
    assert not repeated(sections(menu(MINERALS[:5])))
    more = {
        f"{BIG}{room}/{number}": f"{menu(MINERALS[:6])}{number}".replace("ROOM", room)
        for room in ROOMS
        for number in range(3)
    }
    assert not repeated(sections(menu(MINERALS[:6])) | more)


def test_a_menu_may_lead_to_many_pages_elsewhere() -> None:
    elsewhere = "".join(f"<li><a href=/list/ROOM{number}>List {number} of the ROOM</a>" for number in range(20))
    assert len(repeated(sections(elsewhere))) == 20
    assert not repeated(sections(elsewhere.replace("/ROOM19", "/ROOM18")))


def test_words_that_each_section_uses_for_a_page_of_its_own_are_of_a_template() -> None:
    notes = "<a href=notes>Release notes</a>"
    assert repeated(sections(notes)) == {f"{BIG}cave/notes"}
    three = {page: html for page, html in sections(notes).items() if page.split("/")[3] in ROOMS[:3]}
    assert not repeated(three | OTHERS)


def test_a_link_on_most_pages_of_a_host_is_furniture_wherever_it_leads() -> None:
    partner = "<a href=http://out.example/>Partner</a>"
    web = sections(partner)
    assert left_out(read_web(web)) == {(page, "http://out.example/") for page in web}
    some_rooms = {page: html if page.split("/")[3] in ROOMS[:3] else "stone" for page, html in web.items()}
    assert not repeated(some_rooms)


def test_shards_and_an_epoch_judge_menus_as_the_whole_does() -> None:
    everything = f"{menu(MINERALS[:6])}<a href=http://out.example/>Partner</a><a href=notes>Notes</a>"
    web = sections(everything)
    whole = read_web(web)
    left = left_out(whole)
    assert {target for page, target in left if page == f"{BIG}cave/mica"} > {"http://out.example/", f"{BIG}cave/notes"}
    assert judged_in_shards([read_web(dict(list(web.items())[part::3])) for part in range(3)]) == left
    judged = judging.judge_links(whole, Strategy())
    assert np.array_equal(classify_by_epoch(whole, judged.common, judged.navigation, judged.listing), judged.uses)


def test_what_half_of_a_folder_links_to_is_no_menu() -> None:
    half = sections("") | sections(menu(MINERALS), [word for word in MINERALS if "a" not in word] + ["mica"])
    assert not repeated(half)


def test_a_small_folder_has_no_menu() -> None:
    assert not repeated(sections(menu(MINERALS), MINERALS[:5]) | OTHERS)


@pytest.mark.parametrize(("linking", "is_furniture"), [(FEWEST - 1, False), (FEWEST, True)])
def test_a_small_host_has_furniture_from_the_least_number_of_links_on(linking: int, is_furniture: bool) -> None:
    web = {SMALL: "granite"} | {f"{SMALL}{number}": "<a href=/>Portal</a> mica" for number in range(linking)}
    corpus = read_web(web)
    assert bool(left_out(corpus, "content.furniture=0")) is is_furniture
    bags = make(corpus, plainly("content.scale=1", "content.furniture=0"))
    assert sorted(bags.terms(f"{SMALL}0")) == (["mica"] if is_furniture else ["mica", "portal"])


def test_a_page_that_links_often_counts_once() -> None:
    web = {SMALL: "granite"} | {f"{SMALL}{number}": "<a href=/>Portal</a> " * 5 for number in range(FEWEST - 1)}
    assert left_out(read_web(web), "content.furniture=0") == set()


def test_a_page_that_nobody_read_is_no_furniture() -> None:
    web = {f"{SMALL}{number}": "<a href=/>Portal</a> mica" for number in range(FEWEST + 1)}
    assert left_out(read_web(web), "content.furniture=0") == set()


def test_furniture_leaves_bags_and_windows_but_stays_in_the_number_of_inlinks(corpus: Corpus) -> None:
    everything = "content.scale=1 links.scale=1 outlinks.scale=1".split()
    without, within = (
        make(corpus, plainly(*everything, f"content.furniture={share}", "window.size=3")) for share in (0.2, 1)
    )
    page = f"{BIG}7"
    everywhere = {"entrance", "aid", "desk", "partner", BIG, f"{BIG}help", "http://out.example/"}
    assert everywhere < set(within.terms(page))
    assert not everywhere & set(without.terms(page))
    assert {f"{BIG}8", f"{BIG}6"} < set(without.terms(page))
    # The window of the link after the navigation reaches over the words of furniture as if they were not there.
    assert "partner" in within.terms(f"{BIG}3")
    assert "partner" not in without.terms(f"{BIG}3")
    assert f"{BIG}4" in within.origins(BIG)
    assert {term for term, origins in without.origins(BIG).items() if "links" in origins} == {SMALL}
    for made in (without, within):
        document = made.bags.document(corpus.urls.find(BIG.encode()))
        assert int(made.kin["bag.inlinks"][document]) == 12  # eleven of the host, and one of the other


def test_words_before_a_link_are_counted_without_furniture() -> None:
    web = {f"{BIG}{number}": f"<a href=/>Entrance hall</a> {word} <a href=/x>jade</a>" for number, word in
           enumerate(MINERALS[:FEWEST])}  # fmt: skip
    web[BIG] = "granite"
    made = bags_of(web, plainly("anchors.scale=0", "outlinks.scale=1", "content.lead=1", "content.furniture=0.2"))
    by_words = bags_of(web, plainly("anchors.scale=0", "content.scale=1", "content.lead=1", "content.furniture=0.2"))
    assert made.bag(f"{BIG}0") == {f"{BIG}x": 1.0}
    assert by_words.bag(f"{BIG}0") == pytest.approx({"granite": 0.8, "jade": 0.2})  # 1 and 1/4


def test_the_words_in_furniture_are_those_that_no_bag_has(corpus: Corpus) -> None:
    found = classify_links(corpus, choose_strategy())
    page = corpus.pages_of(corpus.urls.find(f"{BIG}7".encode()))[0]
    words = np.array([corpus.word(int(word)) for word in corpus.stream(page).words])
    assert words[words_in_furniture(corpus, page, found)].tolist() == ["entrance", "aid", "desk", "partner"]


@pytest.mark.parametrize("step", [1, 2, 7, 40])
def test_furniture_does_not_depend_on_batches(corpus: Corpus, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    strategy = choose_strategy(settings=["links.scale=1"])
    expected = make(corpus, strategy)
    found = classify_links(corpus, strategy)
    assert found.any()
    monkeypatch.setattr(links, "_STEP", step)
    monkeypatch.setattr(building, "BATCH_WORDS", 3 * step)
    monkeypatch.setattr(building, "BATCH_WORK", 10 * step)
    assert classify_links(corpus, strategy).tolist() == found.tolist()
    made = make(corpus, strategy, threads=2)
    assert made.arrays() == expected.arrays()
    assert made.facts == expected.facts


def test_a_link_without_words_beside_furniture_is_no_breadcrumb(tmp_path: Path) -> None:
    web = {
        f"{BIG}{number}": f"<a href=/x><img></a><a href=/>Entrance</a> {word}" for number, word in enumerate(MINERALS)
    }
    corpus = read_web(web | {BIG: "granite"})
    plain, crumbless = (
        BagWorkshop(corpus, tmp_path / str(wanted), without_crumbs=wanted).bags(choose_strategy())
        for wanted in (False, True)
    )
    assert plain.terms.tolist() == crumbless.terms.tolist()
    assert plain.inlinks.tolist() == crumbless.inlinks.tolist()


# -- any host -------------------------------------------------------------------------------------------------------

paths = some.sampled_from(["", "a", "b", "c", "d", "e", "f"])
targets = some.one_of(paths.map("/{}".format), some.sampled_from([SMALL, "http://out.example/"]))
texts = some.lists(some.sampled_from(MINERALS[:5]), max_size=2).map(" ".join)
pieces = some.one_of(some.builds("<a href={}>{}</a>".format, targets, texts), texts)
pages = some.lists(pieces, max_size=8).map(" ".join)
captures = some.lists(some.tuples(paths, pages), min_size=5, max_size=14)
shares = some.sampled_from([0.0, 0.4, 0.5, 0.75, 1.0])


@generated
@given(captures, pages, shares, some.integers(1, 30), some.sampled_from(["", "links.scale=1 content.lead=2"]))
def test_any_host_is_as_the_oracle_says(
    made_of: list[tuple[str, str]], other: str, share: float, step: int, together: str
) -> None:
    dates = (f"20{number:02}-01-01T00:00:00Z" for number in range(99))
    web = [record(f"{BIG}{path}", html, date) for (path, html), date in zip(made_of, dates, strict=False)]
    corpus = read_records([*web, record(SMALL, other)], all_captures=True)
    strategy = choose_strategy(settings=[f"content.furniture={share}", *together.split()])
    assert all(first <= second for first, second in pairwise(corpus.kin["page.url"].tolist()))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(links, "_STEP", step)
        made = make(corpus, strategy)
    assert_as_the_oracle_says(made, Oracle(corpus).make(strategy))


def test_links_are_judged_alike_some_hosts_at_a_time(monkeypatch: pytest.MonkeyPatch, demo: Corpus) -> None:
    whole = judging._judge_links(demo, Strategy())
    monkeypatch.setattr(furniture, "_BATCH_LINKS", 500)
    monkeypatch.setattr(furniture, "_BATCH_WORDS", 300)
    reader = furniture.HostLinkReader(demo, np.asarray(demo.pages.host, np.int64))
    groups = [reader.read(*part) for part in reader.ranges]
    assert len(groups) > 3
    assert sorted(np.concatenate([group.anchors for group in groups])) == list(range(len(whole.uses)))
    for threads in (1, 3):
        parts = judging._judge_links(demo, Strategy(), threads=threads)
        assert all(np.array_equal(mine, theirs) for mine, theirs in zip(parts, whole, strict=True))
    assert {LinkUse.COUNTS, LinkUse.FURNITURE, LinkUse.LISTED} == set(parts.uses.tolist())
