"""See-also lists are read, taken out as if they had never been written, and judge the weights of all signals."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import LinkColumns, Strategy
from pagekin.cli.app import fill_template
from pagekin.evaluation import Gain, Verdict, tune_see_also
from pagekin.evaluation.author_links import SeeAlsoReader
from pagekin.evaluation.halves import Clock
from pagekin.evaluation.hidden import mean_of_divisions, table_of_lists
from pagekin.evaluation.served import SignalScores, shares
from pagekin.evaluation.without_lists import listed_documents, read_lists, take_out_lists
from pagekin.similarity import SIGNALS, RelatedIndex
from pagekin.store import no_progress
from tests.evaluation.test_fit import SITE, WORDS, build
from tests.evaluation.test_tune import SlowClock

PAGES = 90
LISTS = 60


def list_of(pages: list[int], texts: list[str]) -> str:
    items = "".join(f'<li><a href="{SITE}{page}">{text}</a>' for page, text in zip(pages, texts, strict=True))
    return f"<h2>See also</h2><ul>{items}</ul><h2>Notes</h2>"


def web(seed: int, telling: bool, lists: int = LISTS, repeated: int = -1) -> dict[str, str]:
    """Pages of random words with links amid them; lists name pages with the same word in the title, or any.

    With `repeated`, a page that every fourth list names besides.
    """
    rng = random.Random(seed)
    themes = [rng.randrange(15) for _page in range(PAGES)]
    titles = [f"{WORDS[-theme - 1]} {rng.choice(WORDS[:200])}" for theme in themes]
    made = {}
    for page in range(PAGES):
        body = [f"<title>{titles[page]}</title>"]
        for target in rng.sample(range(PAGES), 3):
            body.append(
                f'<p>{" ".join(rng.choices(WORDS[:200], k=30))} <a href="{SITE}{target}">{rng.choice(WORDS)}</a> '
            )
            body.append(f"{' '.join(rng.choices(WORDS[:200], k=30))}</p>")
        like = [other for other in range(PAGES) if other != page and (not telling or themes[other] == themes[page])]
        named = rng.sample(like, min(3, len(like)))
        texts = [titles[other] for other in named]
        if repeated >= 0 and page % 4 == 0:
            named, texts = [*named, repeated], [*texts, WORDS[page]]
        if page < lists:
            body.append(list_of(named, texts))
        made[f"{SITE}{page}"] = "".join(body) + f"<p>{' '.join(rng.choices(WORDS[:200], k=100))}</p>"
    return made


def opened(folder: Path, pages: dict[str, str]) -> RelatedIndex:
    return RelatedIndex.open(build(folder, pages, Strategy()))


@pytest.fixture(scope="module")
def telling(tmp_path_factory: pytest.TempPathFactory) -> RelatedIndex:
    return opened(tmp_path_factory.mktemp("telling"), web(1, telling=True))


@pytest.fixture(scope="module")
def chance(tmp_path_factory: pytest.TempPathFactory) -> RelatedIndex:
    return opened(tmp_path_factory.mktemp("chance"), web(2, telling=False))


# -- reading ------------------------------------------------------------------------------------------------------------


def read(index: RelatedIndex, name: str) -> str:
    corpus = index.corpus
    lists = SeeAlsoReader(corpus).read(corpus.pages_of(corpus.url_number(SITE + name))[0])
    return "" if lists is None else "".join(corpus.url(url)[-1] for url in lists.listed.tolist())


def test_see_also_lists_are_read_under_a_heading_in_a_paragraph_and_in_other_languages(tmp_path: Path) -> None:
    def link(name: str) -> str:
        return f"<a href={name}>page {name}</a>"

    pages = {
        f"{SITE}a": f"<p>We see also {link('b')} here.</p><h2>See also</h2><p>Some:</p><ul><li>{link('c')}<li>{link('d')}</ul>"
        f"<h2>History</h2><p>{link('e')}",
        f"{SITE}b": f"<p>See also: {link('c')}, {link('d')}.</p><p>{link('e')}</p>",
        f"{SITE}c": f"<h3>Siehe auch</h3><ul><li>{link('a')}</ul>",
        f"{SITE}d": f"<p>Words. See also {link('a')}.",
        f"{SITE}f": f"<p>Words.</p><div><p>Related Topics</p><div><p>{link('a')}</p><p>{link('b')}</p></div></div>",
        f"{SITE}e": "no links",
    }
    index = opened(tmp_path, pages)
    assert {name: read(index, name) for name in "abcdef"} == {
        "a": "cd",
        "b": "cd",
        "c": "a",
        "d": "",
        "e": "",
        "f": "ab",
    }
    lists = SeeAlsoReader(index.corpus).read(index.corpus.pages_of(index.corpus.url_number(f"{SITE}a"))[0])
    assert lists is not None
    assert [index.corpus.url(url)[-1] for url in lists.elsewhere.tolist()] == ["b", "e"]
    words = [index.corpus.word(word) for word in lists.words[lists.inside].tolist()]
    assert words == ["see", "also", "some", "page", "c", "page", "d"]


def test_links_on_page_after_page_are_no_part_of_a_list_though_nothing_separates_them(tmp_path: Path) -> None:
    pages = {
        f"{SITE}{page}": f"<title>{WORDS[page]}</title><p>{WORDS[page + 100]}</p><h2>See also</h2><ul><li>"
        f"<a href={(page + 1) % 30}>{WORDS[(page + 1) % 30]}</a></ul><p><a href=home>home</a> <a href=terms>terms</a></p>"
        for page in range(30)
    }
    pages |= {f"{SITE}home": "welcome", f"{SITE}terms": "conditions"}
    index = opened(tmp_path, pages)
    assert {read(index, str(page)) for page in range(9)} == {str(page) for page in range(1, 10)}


# -- taking out ---------------------------------------------------------------------------------------------------------


def signals(index: RelatedIndex, links: LinkColumns) -> np.ndarray:
    """Return the signals between each page with a list and all pages."""
    scores = SignalScores(index, links)
    urls = np.array([index.corpus.url_number(f"{SITE}{page}") for page in range(PAGES)])
    documents = scores.documents(urls)
    return np.stack([scores.measure(int(documents[page]), documents)[0] for page in range(LISTS)])


def test_lists_that_are_taken_out_leave_no_trace(chance: RelatedIndex, tmp_path: Path) -> None:
    never = opened(tmp_path, web(2, telling=False, lists=0))
    lists = read_lists(chance, 1)
    assert len(lists) == LISTS
    links = LinkColumns.of(chance.corpus.kin)
    served = signals(chance, links)
    without = signals(*take_out_lists(chance, links, lists))
    expected = signals(never, LinkColumns.of(never.corpus.kin))
    listed = np.zeros((LISTS, PAGES), np.bool_)
    for document, each in lists.items():
        numbers = [int(chance.corpus.url(url).removeprefix(SITE)) for url in each.listed.tolist()]
        listed[int(chance.urls[document].removeprefix(SITE)), numbers] = True
    for place, name in enumerate(SIGNALS):
        lifts = [one[listed, place].mean() - one[~listed, place].mean() for one in (served, without, expected)]
        assert abs(lifts[1] - lifts[2]) < 0.5 * (lifts[0] - lifts[2]), name
        if name in ("links", "cocitation", "coupling"):
            assert np.allclose(without[..., place], expected[..., place], atol=1e-5)
    assert np.array_equal(signals(chance, links), served), "the collection is as it was"


def test_a_listed_page_that_the_text_links_to_as_well_stays_linked(tmp_path: Path) -> None:
    pages = web(1, telling=True)
    pages[f"{SITE}0"] = (
        f'<p>words <a href="{SITE}50">about it</a> amid them</p><h2>See also</h2><a href="{SITE}50">it</a> '
        f'<a href="{SITE}51">other</a>'
    )
    index = opened(tmp_path, pages)
    links = LinkColumns.of(index.corpus.kin)
    _without, fewer = take_out_lists(index, links, read_lists(index, 1))
    zero, kept, gone = (index.bags.document(index.corpus.url_number(f"{SITE}{page}")) for page in (0, 50, 51))
    out = fewer.out[fewer.out_offsets[zero] : fewer.out_offsets[zero + 1]]
    assert kept in out and gone not in out
    named, _common = listed_documents(index, read_lists(index, 1))
    assert sorted(named[zero].tolist()) == sorted([kept, gone])


def test_a_page_that_every_fourth_list_names_is_of_a_template_and_is_not_asked_for(tmp_path: Path) -> None:
    index = opened(tmp_path, web(1, telling=True, lists=24, repeated=80))
    named, common = listed_documents(index, read_lists(index, 1))
    assert [index.urls[document] for document in common.tolist()] == [f"{SITE}80"]
    assert not any(np.isin(common, targets).any() for targets in named.values())


# -- fitting ------------------------------------------------------------------------------------------------------------


def test_weights_are_fitted_to_lists_that_follow_titles(telling: RelatedIndex) -> None:
    done = tune_see_also(telling)
    assert done.judged_by == "see-also lists"
    assert done.judged[1] > LISTS - 10
    assert done.improved
    assert done.chosen.title > 1.5 * done.before.title
    assert [one.measure for one in done.verdict.gains] == ["nDCG@10", "recall@10", "MAP", "Γ", "Somers' D"]
    assert done.goal_is_strict and done.least_low == 0.0
    assert done.by_half is not None and done.by_half.gains[0].before == done.by_fit.gains[0].before
    assert done.verdict.gains[0].low > 0 and done.verdict.gains[1].difference > 0
    assert done.as_toml("see-also lists").startswith("# Signals for see-also")
    again = tune_see_also(telling)
    assert again.chosen == done.chosen and again.verdict == done.verdict


def test_it_is_said_where_right_pages_stand_higher_but_are_fewer(telling: RelatedIndex) -> None:
    verdict = Verdict((Gain("nDCG@10", 0.5, 0.55, 0.03, 0.08), Gain("recall@10", 0.6, 0.58, -0.05, 0.01)))
    done = replace(tune_see_also(telling), by_fit=verdict, by_fit_alone=verdict, by_half=verdict)
    assert not done.improved and done.loses_right_pages
    assert "Right pages would stand higher, but fewer of them among the first ten." in fill_template(
        "signals", done=done
    )


def test_some_sources_of_a_table_are_judged_as_among_all(telling: RelatedIndex) -> None:
    table, targets = table_of_lists(telling, Clock(1e6), 1, no_progress)
    assert sorted(table.sources) == sorted(targets)
    places = np.array([5, 2, 30])
    weights = shares(telling.strategy.signals)
    assert table.select(places).ndcg(weights) == pytest.approx(table.ndcg(weights)[places])


def test_lists_of_random_pages_seldom_change_anything(chance: RelatedIndex) -> None:
    tunings = [tune_see_also(chance, seed=seed) for seed in range(1, 13)]
    assert all(done.judged_by == "see-also lists" for done in tunings)
    assert sum(done.improved for done in tunings) <= 1


def test_a_fit_to_lists_keeps_to_its_budget(telling: RelatedIndex) -> None:
    whole, short = (tune_see_also(telling, budget=budget, now=SlowClock()) for budget in (1e6, 400.0))
    assert short.seconds <= 1.2 * 400
    assert short.judged_by == "see-also lists"
    assert short.judged[1] <= whole.judged[1] and short.tries < whole.tries


def test_where_there_are_few_lists_links_in_running_text_judge(tmp_path: Path) -> None:
    pages = web(1, telling=True, lists=0)
    done = tune_see_also(opened(tmp_path, pages))
    assert done.judged_by == "hidden links in running text"
    assert done.least_low > 0 and done.by_half is None


def test_measures_of_several_divisions_are_their_means() -> None:
    one, other = ({"nDCG@10": (value, np.array([value, value + 0.1]))} for value in (0.2, 0.4))
    mean, resampled = mean_of_divisions([one, other])["nDCG@10"]
    assert mean == pytest.approx(0.3)
    assert resampled == pytest.approx([0.3, 0.4])
