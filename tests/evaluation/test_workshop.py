"""The workshop makes the bags that an index has, in any order of asking."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from pagekin.bags import PRESETS, BagWorkshop, Strategy, choose_strategy
from pagekin.bags.workshop import BagSet
from pagekin.hypertext import Corpus
from tests.bags.webs import make, plainly, read_web

SITE = "http://site.example/"
PAGES = {
    f"{SITE}whales": "<title>Blue whales</title><h2>Size</h2><p>The largest whale eats <a href=krill>tiny krill</a> daily."
    "<ul><li>Oceans are <a href=seas>deep seas</a> indeed<li>Ships hunted whales</ul>",
    f"{SITE}krill": "<title>Krill</title><p>Shrimps of cold oceans, eaten by <a href=whales>blue whales</a> and penguins.",
    f"{SITE}seas": "<title>Seas</title><p>Oceans and <a href=krill>krill</a>; <a href=whales>whales</a> swimming, "
    "<a href=whales>whales</a> diving, <a href=http://other.example/ships>ships</a> sailing in 1912.",
    "http://other.example/ships": "<title>Ships</title><p>Sailing <a href=http://site.example/seas>the seas</a> of mp3.",
}
SETTINGS = """
    content.scale=0
    content.scale=2
    title.scale=0
    anchors.scale=0
    anchors.scale=2
    anchors.repeat=every
    anchors.within_site=false
    links.scale=1
    outlinks.scale=0
    outlinks.scale=3
    window.size=0
    window.size=2
    window.kind=syntactic
    window.kind=topical
    weight.distance=none
    weight.frequency=none
    weight.frequency=log
    weight.frequency=sqrt
    weight.centre=0.5
    weight.tf=log
    weight.tf=sqrt
    words=letters
    words=all
    stemming=nostem
    stemming=stopstem
    metric=cosine
""".split()
STRATEGIES = [*PRESETS.values(), *(choose_strategy(settings=[one]) for one in SETTINGS)]


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_web(PAGES)


@pytest.fixture(scope="module")
def expected(corpus: Corpus) -> dict[str, dict[str, np.ndarray]]:
    """The arrays of an index by each strategy."""
    return {s.digest(): dict(make(corpus, s).kin.arrays) for s in STRATEGIES}


def assert_the_same(made: BagSet, arrays: dict[str, np.ndarray]) -> None:
    """An index numbers only the terms in use, in the order in which bags hold them."""
    number = np.full(len(made.df), -1)
    number[made.terms] = arrays["bag.terms"]
    assert np.array_equal(made.urls, arrays["bag.url"])
    assert np.array_equal(made.offsets, arrays["bag.offsets"])
    assert np.array_equal(number[made.terms], arrays["bag.terms"])
    assert np.array_equal(made.weights, arrays["bag.weights"])
    assert np.array_equal(made.inlinks, arrays["bag.inlinks"])
    assert sorted(number[number >= 0].tolist()) == list(range(made.terms_in_use))
    assert np.array_equal(made.df[np.argsort(number)][len(number) - made.terms_in_use :], arrays["bagterm.df"])
    assert made.terms_in_use == len(arrays["bagterm.df"])


@given(asked=some.lists(some.sampled_from(STRATEGIES), min_size=1, max_size=10))
@settings(
    derandomize=True, database=None, deadline=None, max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
def test_bags_are_those_of_an_index_in_any_order_of_asking(
    corpus: Corpus,
    expected: dict[str, dict[str, np.ndarray]],
    tmp_path_factory: pytest.TempPathFactory,
    asked: list[Strategy],
) -> None:
    workshop = BagWorkshop(corpus, tmp_path_factory.mktemp("workshop"), threads=2)
    for strategy in asked:
        assert_the_same(workshop.bags(strategy), expected[strategy.digest()])


def test_every_strategy_of_the_settings_is_made_by_one_workshop(
    corpus: Corpus, expected: dict[str, dict[str, np.ndarray]], tmp_path: Path
) -> None:
    workshop = BagWorkshop(corpus, tmp_path)
    for strategy in [*STRATEGIES, *reversed(STRATEGIES)]:
        assert_the_same(workshop.bags(strategy), expected[strategy.digest()])


def test_words_of_wider_bags_are_the_bags_of_words(corpus: Corpus, tmp_path: Path) -> None:
    settings = (["links.scale=1"], [], ["outlinks.scale=0"], ["links.scale=1", "outlinks.scale=0"])
    workshop = BagWorkshop(corpus, tmp_path / "shared")
    for chosen in settings:  # the first holds terms for all addresses, from which the others are taken
        strategy = choose_strategy(settings=chosen)
        shared, alone = workshop.bags(strategy), BagWorkshop(corpus, tmp_path / str(chosen)).bags(strategy)
        for name in ("urls", "offsets", "terms", "weights", "df", "inlinks"):
            assert np.array_equal(getattr(shared, name), getattr(alone, name)), (chosen, name)


@pytest.mark.parametrize("strategy", STRATEGIES[:4], ids=lambda strategy: strategy.name)
def test_a_matrix_of_some_addresses_has_their_bags(corpus: Corpus, tmp_path: Path, strategy: Strategy) -> None:
    workshop = BagWorkshop(corpus, tmp_path)
    asked = np.array([3, 0, 2, len(corpus.urls) + 5])
    expected, made = workshop.bags(strategy).matrix(asked), workshop.matrix(strategy, asked)
    words, limit = workshop.matrix(strategy, asked, words_alone=True), workshop.words(strategy)
    for row in range(len(asked)):
        a, b, c = (slice(*one.offsets[row : row + 2].tolist()) for one in (expected, made, words))
        assert expected.terms[a].tolist() == made.terms[b].tolist()
        assert expected.weights[a].tolist() == made.weights[b].tolist()
        held = expected.terms[a] < limit
        assert expected.terms[a][held].tolist() == words.terms[c].tolist()
        assert expected.weights[a][held].tolist() == words.weights[c].tolist()


def test_bags_stay_as_they_are_while_others_are_made(corpus: Corpus, tmp_path: Path) -> None:
    workshop = BagWorkshop(corpus, tmp_path)
    first = workshop.bags(Strategy())
    before = (first.terms.copy(), first.weights.copy())
    for strategy in STRATEGIES:
        workshop.bags(strategy)
    assert np.array_equal(first.terms, before[0])
    assert np.array_equal(first.weights, before[1])


def test_links_of_pages_that_do_not_count_are_left_out(corpus: Corpus, tmp_path: Path) -> None:
    strategy = plainly()
    (page,) = corpus.pages_of(corpus.url_number(f"{SITE}seas"))
    made = BagWorkshop(corpus, tmp_path, not_citing=np.array([page])).bags(strategy)
    assert_the_same(made, dict(make(corpus, strategy, not_citing=[f"{SITE}seas"]).kin.arrays))


def test_urls_without_a_bag_have_empty_rows(corpus: Corpus, tmp_path: Path) -> None:
    made = BagWorkshop(corpus, tmp_path).bags(choose_strategy(settings=["content.scale=0", "title.scale=0"]))
    asked = np.arange(len(corpus.urls) + 3)
    matrix = made.matrix(asked)
    assert np.count_nonzero(np.diff(matrix.offsets) == 0) == len(asked) - len(made.urls)
    for row, url in enumerate(asked.tolist()):
        part = slice(int(matrix.offsets[row]), int(matrix.offsets[row + 1]))
        place = np.flatnonzero(made.urls == url)
        if not len(place):
            assert part.start == part.stop
            continue
        bag = slice(int(made.offsets[place[0]]), int(made.offsets[place[0] + 1]))
        assert np.array_equal(matrix.terms[part], made.terms[bag])
        assert np.array_equal(matrix.weights[part], made.weights[bag])


# -- breadcrumbs as the tree --------------------------------------------------------------------------------------------


def crumbed(crumb: str, body: str) -> str:
    """A page with breadcrumbs of two links."""
    return (
        f"<title>page</title><nav class=breadcrumb><a href=/top>zenith</a> <a href=/{crumb}>{crumb}</a></nav><p>{body}"
    )


def words_of(workshop: BagWorkshop, strategy: Strategy, url: str) -> set[str]:
    """The words and citing pages in a URL's bag."""
    made = workshop.bags(strategy)
    corpus = workshop.corpus
    place = int(np.flatnonzero(made.urls == corpus.url_number(url))[0])
    words = workshop.vocabulary(strategy)
    stems = len(words.shown)
    page_url = np.asarray(corpus.kin["page.url"])
    return {
        corpus.word(int(words.shown[t])) if t < stems else corpus.url(int(page_url[t - stems]))
        for t in made.terms[int(made.offsets[place]) : int(made.offsets[place + 1])].tolist()
    }


def test_breadcrumbs_feed_no_bag_that_is_judged_by_them(tmp_path: Path) -> None:
    corpus = read_web(
        {
            f"{SITE}oak": crumbed("trees", "An oak bears <a href=/acorn>acorns</a>."),
            f"{SITE}owl": crumbed("birds", "An owl sees the oak."),
            f"{SITE}trees": "<title>Trees</title><p>Timber.",
        }
    )
    strategy = plainly("content.scale=1", "links.scale=1", "window.size=0")
    with_them, without = (
        BagWorkshop(corpus, tmp_path / str(left_out), without_crumbs=left_out) for left_out in (False, True)
    )
    assert {"zenith", "trees"} <= words_of(with_them, strategy, f"{SITE}oak")
    own_words = words_of(without, strategy, f"{SITE}oak")
    assert "oak" in own_words
    assert not {"zenith", "trees"} & own_words
    assert words_of(with_them, strategy, f"{SITE}trees") == {"trees", "timber", f"{SITE}oak"}
    assert words_of(without, strategy, f"{SITE}trees") == {"timber"}
    assert words_of(without, strategy, f"{SITE}acorn") == {"acorns", f"{SITE}oak"}
